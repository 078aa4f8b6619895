//! Experiments: TOML sections, validation, the plan and scaling.
//!
//! ```text
//! text ──load──▶ Experiment (sections as written) ──plan──▶ Plan (checked, defaults filled)
//! ```
//! Every section is one file with its keys, defaults and checks. Unknown keys
//! are refused with the line and the nearest known key.

mod analysis;
pub mod arithmetic;
mod arm;
mod claim;
mod environment;
mod error;
mod experiment;
mod fleet;
mod footprint;
mod load;
mod memcg;
mod plan;
mod sample;
pub mod scale;
mod schedule;
mod swap;
mod target;
pub mod workload;

pub use analysis::{AnalysisSection, StopRule};
pub use arm::{ArmRole, ArmSection};
pub use claim::ClaimSource;
pub use environment::EnvironmentSection;
pub use error::{ConfigError, Problem};
pub use experiment::{Experiment, SCHEMA};
pub use fleet::{FleetClass, FleetEngine, FleetSection};
pub use load::{load, parse};
pub use memcg::{Limit, MemcgOverride, MemcgSection, Role};
pub use plan::{Plan, PlanArm, PlanWorkload};
pub use sample::SampleSection;
pub use schedule::ScheduleSection;
pub use swap::{SwapKind, SwapSection};
pub use target::{TargetKind, TargetSection};
pub use workload::Workload;
