//! Forecasts: claims and patches to model flags, priced against a profile.
//!
//! ```text
//! mail | experiment | flag ─▶ registry ─▶ flags ─┐
//! workload ─▶ case ──────────────────────────────┤
//!                 simulate twice: same stream, same seed, patch off and on
//!                                                ▼
//!      events ─▶ price (draws from a profile) ─▶ demands ─▶ network ─▶ change
//! ```
//!
//! What a forecast rests on: the model's events, which are the kernel's own
//! algorithms; prices, which are multiples of measured or cited costs and of
//! estimated code lengths; and a think time for everything outside the model,
//! which is assumed or anchored at a stated baseline. The two latter are why a
//! forecast has an interval.
//!
//! An experiment becomes scenarios of the reclaim model here: a configuration
//! for each arm, a stream for each workload.

mod case;
mod error;
mod forecast;
mod hosts;
mod network;
mod price;
mod record;
mod registry;
pub mod scenario;
mod score;
mod simulate;
mod text;

pub use case::{Case, Kind, NAMES, Think};
pub use error::PredictError;
pub use forecast::{FORECAST_SCHEMA, Forecast, Level, Reason, Weakest, forecast};
pub use hosts::{described, load, shipped};
pub use record::{ForecastRecord, Forecasts, of_plan, patches_of};
pub use registry::{KNOWN, KnownPatch, base_of, by_title, nearest};
pub use score::{ClaimLine, Marks, Score, ScoredClaim, claim_lines, score};
pub use simulate::Effort;
pub use text::{change, describe, percent, reason};
