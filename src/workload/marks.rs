//! Phase marks: which part of the workload was running when.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Instant;

use serde::Deserialize;
use serde::Serialize;

use crate::units::Nanos;

/// A named part of a run; times count from the origin of its [`Marks`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    pub name: String,
    pub start: Nanos,
    /// None while it lasts.
    pub end: Option<Nanos>,
}

/// The phases of a run, in order; the sampler and the record read them.
#[derive(Debug)]
pub struct Marks {
    origin: Instant,
    phases: Mutex<Vec<Phase>>,
}

impl Marks {
    /// Marks whose clock starts at `origin`, which the sampler shares.
    pub fn new(origin: Instant) -> Self {
        Marks { origin, phases: Mutex::new(Vec::new()) }
    }

    pub fn origin(&self) -> Instant {
        self.origin
    }

    /// Ends the phase that lasts, if any, and begins another.
    pub fn enter(&self, name: &str) {
        let now = self.close();
        let phase = Phase { name: name.to_owned(), start: now, end: None };
        self.phases.lock().unwrap_or_else(PoisonError::into_inner).push(phase);
    }

    /// Ends the phase that lasts, if any.
    pub fn leave(&self) {
        self.close();
    }

    pub fn phases(&self) -> Vec<Phase> {
        self.phases.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn close(&self) -> Nanos {
        let now = Nanos::from(self.origin.elapsed());
        let mut phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = phases.last_mut() {
            last.end.get_or_insert(now);
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_each_other() {
        let marks = Marks::new(Instant::now());
        marks.leave();
        marks.enter("warm-up");
        marks.enter("measure");
        marks.leave();
        marks.leave();
        let phases = marks.phases();
        let names: Vec<&str> = phases.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["warm-up", "measure"]);
        assert_eq!(phases[0].end, Some(phases[1].start));
        assert!(phases[1].end >= Some(phases[1].start));
    }
}
