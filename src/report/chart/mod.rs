//! Charts: one file a kind, one theme, one way from values to pixels.
//!
//! ```text
//! analysis ─▶ a kind's `draw` ─▶ Picture (shapes) ─▶ SVG, PNG
//!                  │                                   (plotters)
//!             scale: refuses, widens, labels
//! ```
//! Titles say the finding, axes carry units, and n stands on every chart. The
//! same analysis gives the same bytes.

mod claim;
mod counter_lines;
mod counters;
mod curve;
mod distribution;
mod error;
mod forest;
mod frame;
mod gallery;
mod history;
mod hosts;
mod latency;
mod over_time;
mod picture;
mod probe;
mod render;
mod scale;
mod sequential;
mod theme;
mod variance;

pub use curve::curve_charts;
pub use error::ChartError;
pub use gallery::{Chart, Gallery, Source, gallery};
pub use history::history_charts;
pub use picture::{Picture, Shape};
pub use render::{png_file, svg_file, svg_for_page};
pub use theme::{dark_rules, font_faces};
