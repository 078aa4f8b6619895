//! Exit codes, so that scripts and labs can gate on them.

use std::process::ExitCode;

use crate::analyze::AnalyzeError;
use crate::calibrate::CalibrateError;
use crate::campaign::CampaignError;
use crate::config::ConfigError;
use crate::fleet::FleetError;
use crate::host::HostError;
use crate::input::InputFault;
use crate::model::flag::UnknownFlag;
use crate::model::stream::spec::SpecError;
use crate::model::stream::trace::TraceError;
use crate::predict::PredictError;
use crate::predict::scenario::NotModelled;
use crate::store::StoreError;
use crate::target::TargetError;
use crate::target::kernel::KernelError;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// No regression.
    Good,
    Regression,
    /// Wrong options or a wrong experiment.
    Usage,
    /// The host lacks something, or is not as it should be.
    HostNotReady,
    /// The trials are not valid.
    InvalidRun,
    /// With `--strict` only.
    Unresolved,
    /// With `--gate claim` only.
    ClaimRefuted,
    /// For `git bisect run`: this revision cannot be judged.
    BisectSkip,
    /// For `git bisect run`: none can be, so it must end; it takes any lower code for a bad revision.
    BisectAbort,
    /// The status of a command that a guest ran.
    Command(u8),
    Bug,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Good => 0,
            Exit::Regression => 1,
            Exit::Usage => 2,
            Exit::HostNotReady => 3,
            Exit::InvalidRun => 4,
            Exit::Unresolved => 5,
            Exit::ClaimRefuted => 6,
            Exit::BisectSkip => 125,
            Exit::BisectAbort => 128,
            Exit::Command(status) => status,
            Exit::Bug => 70,
        }
    }

    /// The code that `git bisect run` understands.
    pub fn for_bisect(self) -> Exit {
        match self {
            Exit::Good | Exit::Regression => self,
            Exit::Usage | Exit::Bug | Exit::BisectAbort => Exit::BisectAbort,
            _ => Exit::BisectSkip,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Options that do not go together, said in full.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// A file that no reader takes: the wrong one was named.
fn is_wrong_file(cause: &(dyn std::error::Error + 'static)) -> bool {
    let error = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    error.is_some_and(|inner| inner.is::<InputFault>())
}

/// Errors of what a user asked the model for.
fn is_wrong_request(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.is::<UsageError>()
        || cause.is::<SpecError>()
        || cause.is::<UnknownFlag>()
        || cause.is::<NotModelled>()
        || cause.is::<TraceError>()
}

/// A profile that cannot be read is the user's; a machine that cannot be measured, the host's.
fn of_profile(error: &CalibrateError) -> Exit {
    match error {
        CalibrateError::Invalid { .. } | CalibrateError::Schema { .. } | CalibrateError::Read { .. } => {
            Exit::Usage
        }
        _ => Exit::HostNotReady,
    }
}

/// A name that cannot be one is the user's; a folder that cannot be read, the host's.
fn of_store(error: &StoreError) -> Exit {
    if matches!(error, StoreError::Name { .. }) { Exit::Usage } else { Exit::HostNotReady }
}

/// The exit code of an expected error; what is not known is a bug's.
pub fn of_error(error: &anyhow::Error) -> Exit {
    for cause in error.chain() {
        if cause.is::<ConfigError>() || is_wrong_request(cause) || is_wrong_file(cause) {
            return Exit::Usage;
        }
        match (cause.downcast_ref::<TargetError>(), cause.downcast_ref::<KernelError>()) {
            (Some(error), _) if error.is_usage() => return Exit::Usage,
            (_, Some(error)) if error.is_usage() => return Exit::Usage,
            (None, None) => {}
            _ => return Exit::HostNotReady,
        }
        if cause.is::<HostError>() || cause.is::<FleetError>() {
            return Exit::HostNotReady;
        }
        match cause.downcast_ref::<CampaignError>() {
            Some(CampaignError::OtherExperiment { .. } | CampaignError::OtherHost { .. }) => {
                return Exit::Usage;
            }
            Some(_) => return Exit::HostNotReady,
            None => {}
        }
        match cause.downcast_ref::<AnalyzeError>() {
            Some(AnalyzeError::Store(error)) => return of_store(error),
            Some(_) => return Exit::InvalidRun,
            None => {}
        }
        if cause.is::<crate::target::TargetError>() || cause.is::<crate::trial::TrialError>() {
            return Exit::HostNotReady;
        }
        if cause.is::<crate::import::ImportError>() || cause.is::<crate::patch::PatchError>() {
            return Exit::Usage;
        }
        if cause.is::<PredictError>() {
            return Exit::Usage;
        }
        if let Some(error) = cause.downcast_ref::<CalibrateError>() {
            return of_profile(error);
        }
        if let Some(error) = cause.downcast_ref::<StoreError>() {
            return of_store(error);
        }
        if cause.is::<std::io::Error>() {
            return Exit::HostNotReady;
        }
    }
    Exit::Bug
}
