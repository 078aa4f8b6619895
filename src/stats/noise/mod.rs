//! Signs that trials are not alike: drift, two modes, a special first run,
//! findings that all point one way.
//!
//! These flags change no verdict; they say what to look at.

mod bimodality;
mod drift;
mod first_run;
mod one_sidedness;

pub use bimodality::Bimodality;
pub use drift::{Drift, DriftPoint};
pub use first_run::{FirstRun, FirstRunSample};
pub use one_sidedness::OneSidedness;
