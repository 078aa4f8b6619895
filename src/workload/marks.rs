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

/// Told at every boundary: the name of the phase that begins, or none.
pub type Observer<'a> = dyn Fn(Option<&str>) + Send + Sync + 'a;

/// The phases of a run, in order; the record reads them. The observer's own
/// time lies between phases, in none of them.
pub struct Marks<'a> {
    origin: Instant,
    phases: Mutex<Vec<Phase>>,
    observer: Option<&'a Observer<'a>>,
}

impl std::fmt::Debug for Marks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Marks").field("phases", &self.phases).finish_non_exhaustive()
    }
}

impl<'a> Marks<'a> {
    /// Marks whose clock starts at `origin`, which the sampler shares.
    pub fn new(origin: Instant) -> Self {
        Marks { origin, phases: Mutex::new(Vec::new()), observer: None }
    }

    /// As [`Marks::new`], with somebody who is told of every boundary.
    pub fn with_observer(origin: Instant, observer: &'a Observer<'a>) -> Self {
        Marks { observer: Some(observer), ..Marks::new(origin) }
    }

    pub fn origin(&self) -> Instant {
        self.origin
    }

    /// Ends the phase that lasts, if any, and begins another.
    pub fn enter(&self, name: &str) {
        self.close();
        self.observe(Some(name));
        let phase = Phase { name: name.to_owned(), start: Nanos::from(self.origin.elapsed()), end: None };
        self.phases.lock().unwrap_or_else(PoisonError::into_inner).push(phase);
    }

    /// Ends the phase that lasts, if any.
    pub fn leave(&self) {
        if self.close() {
            self.observe(None);
        }
    }

    fn observe(&self, phase: Option<&str>) {
        if let Some(observer) = self.observer {
            observer(phase);
        }
    }

    pub fn phases(&self) -> Vec<Phase> {
        self.phases.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the phase that lasts; whether there was one.
    fn close(&self) -> bool {
        let now = Nanos::from(self.origin.elapsed());
        let mut phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
        match phases.last_mut() {
            Some(last) if last.end.is_none() => {
                last.end = Some(now);
                true
            }
            _ => false,
        }
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
        assert!(phases[0].end.is_some_and(|end| end <= phases[1].start));
        assert!(phases[1].end >= Some(phases[1].start));
    }

    #[test]
    fn the_observer_is_told_once_a_boundary() {
        let seen = Mutex::new(Vec::new());
        let observer =
            |phase: Option<&str>| seen.lock().expect("not poisoned").push(phase.map(str::to_owned));
        let marks = Marks::with_observer(Instant::now(), &observer);
        marks.enter("measure");
        marks.leave();
        marks.leave();
        assert_eq!(*seen.lock().expect("not poisoned"), [Some("measure".to_owned()), None]);
    }
}
