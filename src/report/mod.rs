//! Terminal text, mail text, HTML, charts, exports.
//!
//! Everything here is made from an analysis and can be made again at any time;
//! nothing here computes a number that decides.

pub mod chart;
mod error;
mod export;
#[cfg(test)]
mod fixture;
mod history;
mod html;
mod mail;
pub mod number;
mod series;
mod text;
mod words;
mod write;

pub use error::ReportError;
pub use history::{history_text, write_history};
pub use mail::mail;
pub use text::terminal;
pub use write::{ReportPart, places, write_all, write_parts};
