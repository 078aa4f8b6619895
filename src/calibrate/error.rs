//! What can go wrong while a machine is measured or a profile is read.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// An error of this module.
#[derive(Debug, Error)]
pub enum CalibrateError {
    #[error("cannot map {megabytes} MiB for the benchmarks; free memory or use --quick")]
    Memory {
        megabytes: usize,
        #[source]
        source: io::Error,
    },
    #[error("the {what} benchmark was refused by the kernel; it cannot be measured here")]
    Refused {
        what: &'static str,
        #[source]
        source: io::Error,
    },
    #[error(
        "twice the work of {what} takes {ratio:.2} times as long; the compiler removed the work or the host stood \
         still, so the number would be wrong; build with --release and run again on a quieter host"
    )]
    NotTimed { what: &'static str, ratio: f64 },
    #[error(
        "{parameter} came out as {value:.3} ns, below the {least} ns that any processor needs; the benchmark does \
         not measure what it says; report the processor"
    )]
    Implausible { parameter: &'static str, value: f64, least: f64 },
    #[error("cannot read the profile {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the profile {path} is not valid: {message}")]
    Invalid { path: PathBuf, message: String },
    #[error("this version reads profiles of schema {known}, but {path} has {found}; measure it again")]
    Schema { path: PathBuf, found: u32, known: u32 },
}
