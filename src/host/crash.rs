//! A counter of steps that stops the tool at a chosen one, so that tests can
//! prove that a kill between any two steps leaves a host that can be restored.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::HostError;

/// What happens at the chosen step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashMode {
    /// Every step from the chosen one on is refused, as if the process were gone.
    Refuse,
    /// As `Refuse`, and if the step is a line of the journal, half of it is written.
    Torn,
    /// The process kills itself with SIGKILL.
    Kill,
}

/// Counts changes of the host and of the journal; stops at one of them.
#[derive(Debug)]
pub struct CrashPoint {
    stop_at: Option<(u64, CrashMode)>,
    seen: Mutex<Vec<String>>,
    stopped: AtomicBool,
}

impl CrashPoint {
    /// Neither counts nor stops.
    pub fn never() -> Self {
        CrashPoint { stop_at: None, seen: Mutex::new(Vec::new()), stopped: AtomicBool::new(false) }
    }

    /// Notes the name of each step and never stops.
    pub fn counting() -> Self {
        CrashPoint::at(u64::MAX, CrashMode::Refuse)
    }

    /// Stops before step `step`, counted from 0.
    pub fn at(step: u64, mode: CrashMode) -> Self {
        CrashPoint { stop_at: Some((step, mode)), ..CrashPoint::never() }
    }

    /// The names of the steps passed so far.
    pub fn steps(&self) -> Vec<String> {
        self.seen.lock().expect("no step panics while it holds the list").clone()
    }

    /// Whether the chosen step was reached.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Whether the stop that just happened should leave half a line behind.
    pub(super) fn tears(&self) -> bool {
        matches!(self.stop_at, Some((_, CrashMode::Torn)))
    }

    /// Called before each change.
    pub(super) fn step(&self, at: impl FnOnce() -> String) -> Result<(), HostError> {
        let Some((stop, mode)) = self.stop_at else {
            // A long campaign must not gather names for ever.
            return Ok(());
        };
        let mut seen = self.seen.lock().expect("no step panics while it holds the list");
        let step = seen.len() as u64;
        if self.stopped() || step == stop {
            let at = at();
            if mode == CrashMode::Kill {
                let own = rustix::process::getpid();
                let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
            }
            self.stopped.store(true, Ordering::SeqCst);
            return Err(HostError::CrashPoint { step, at });
        }
        seen.push(at());
        Ok(())
    }
}
