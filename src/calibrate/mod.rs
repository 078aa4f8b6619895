//! Microbenchmarks and native twins that fill a machine profile.
//!
//! ```text
//! groups of benchmarks ─▶ rounds ─▶ median and 90% range ─▶ profile (TOML)
//! list operations of the patches, over a real arena ─▶ twins: measured against forecast
//! ```
//!
//! Every timed piece of work must take longer when there is more of it, or the
//! calibration is refused. Costs that the machine cannot show (many processors,
//! a second socket) are ranges marked as assumed.

mod bookkeeping;
mod chain;
mod contention;
mod copying;
mod crossing;
mod error;
mod machine;
mod memory;
mod order;
mod parameter;
mod primitive;
mod profile;
mod round;
mod run;
mod timing;
mod twin;

pub use error::CalibrateError;
pub use parameter::{Parameter, Unit};
pub use profile::{Basis, Costs, Entry, MachineShape, PROFILE_SCHEMA, Profile, ProfileFile, Provenance};
pub use run::{CalibrationRequest, calibrate, disagreements};
pub use twin::{Twin, TwinRow, twins};
