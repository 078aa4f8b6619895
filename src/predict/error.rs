//! Why there is no forecast.

use std::path::PathBuf;

use thiserror::Error;

use crate::calibrate::CalibrateError;
use crate::model::flag::UnknownFlag;
use crate::model::pcp::{DriverError, MissingPatch, ZoneError};
use crate::model::stream::FioError;

/// An error of this module.
#[derive(Debug, Error)]
pub enum PredictError {
    #[error(transparent)]
    Flag(#[from] UnknownFlag),
    #[error("the workload cannot be simulated")]
    Fio(#[from] FioError),
    #[error("the page allocator cannot be simulated with these patches")]
    Rules(#[from] MissingPatch),
    #[error("the page allocator cannot be simulated")]
    Zone(#[from] ZoneError),
    #[error("the page allocator's stream cannot be played")]
    Driver(#[from] DriverError),
    #[error(transparent)]
    Profile(#[from] CalibrateError),
    #[error(
        "{name:?} is no workload that forecasts know; write one of {known}; another needs an experiment whose \
         workload the model has a stream for"
    )]
    Workload { name: String, known: String },
    #[error("{name:?} is no shipped profile; write the path of a profile or one of {known}")]
    Host { name: String, known: String },
    #[error(
        "the stated baseline of {stated:.0} operations a second is more than the model's locks allow in every draw \
         of the profile; the profile is not that machine's, or the figure counts something else"
    )]
    Contradiction { stated: f64 },
    #[error("the {workload} stream ran out of memory in the model; its limit is too small for its scale")]
    OutOfMemory { workload: &'static str },
    #[error("cannot read the claims {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{path}, line {line}: {message}")]
    Claims { path: PathBuf, line: u64, message: String },
}
