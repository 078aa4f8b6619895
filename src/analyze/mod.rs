//! Pairing, comparison, verdict, claim check. Pure: records in, numbers out.
//!
//! ```text
//! records ──pairing──▶ block log ratios ──comparison──▶ interval, verdict ──▶ claim check
//! ```
//! Everything can be recomputed from the records of a campaign's folder, and
//! the same records give the same bytes.

mod campaign;
mod claim;
mod comparison;
mod counters;
mod difference;
mod error;
mod family;
pub(crate) mod fixture;
pub(crate) mod fleet;
mod forecast;
mod history;
mod judge;
mod noise;
mod pairing;
mod steadiness;
mod variance;
mod verdict;

pub use campaign::{ArmLine, CampaignAnalysis, InvalidTrial, analyze};
pub use claim::{ClaimCheck, ClaimVerdict};
pub use comparison::{ArmValues, Comparison, ComparisonResult, IntervalKind, TrialValue, detectable};
pub use counters::{COUNTER_RATE, CounterComparison};
pub use difference::ArmDifference;
pub use error::AnalyzeError;
pub use fleet::{FleetAnalysis, FleetComparison, HostVerdict};
pub use forecast::{FORECAST_FILE, ForecastCheck};
pub use history::{HistoryChange, HistoryPoint, MetricHistory, PooledChange, history};
pub use judge::PlannedLooks;
pub use noise::NoiseNote;
pub use pairing::{BlockDifference, Pairing, pair};
pub use variance::{VarianceByLevel, VarianceLevel};
pub use verdict::Verdict;
