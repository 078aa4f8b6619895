//! What was armed, what came of it, and what is to happen next. The file lives
//! over reboots; the decision is pure.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::error::BootError;
use crate::store::{KernelIdentity, SCHEMA};
use crate::target::identity;

/// A kernel that did not come up is tried so often.
const ATTEMPTS: u32 = 3;
/// So many boots in a row without a trial end the campaign. Counted, not timed: a
/// clock that jumps cannot hide them.
const FRUITLESS: u32 = 6;

/// A boot that was armed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Armed {
    pub(super) arm: String,
    /// The kernel that has to come up.
    pub(super) kernel: KernelIdentity,
    /// The boot that armed it.
    pub(super) from: Option<String>,
}

/// The boot that trials run in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Present {
    pub(super) boot_id: String,
    pub(super) trials: u32,
}

/// The file's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BootState {
    pub(super) schema: u32,
    /// Folder of the campaign.
    pub(super) campaign: PathBuf,
    /// The release that ran when the campaign began, which the host falls back to.
    pub(super) known_good: String,
    pub(super) armed: Option<Armed>,
    pub(super) present: Option<Present>,
    /// Boots in a row that did not bring up the arm's kernel.
    pub(super) failed: BTreeMap<String, u32>,
    /// Boots since a trial ended.
    pub(super) fruitless: u32,
    /// One line a step, for people.
    pub(super) log: Vec<String>,
}

/// What to do for the next trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    RunHere,
    /// Arm the kernel and restart.
    Reboot,
}

impl BootState {
    pub(super) fn new(campaign: PathBuf, running: &KernelIdentity) -> Self {
        let log = vec![format!("began on {}", running.release)];
        BootState {
            schema: SCHEMA,
            campaign,
            known_good: running.release.clone(),
            armed: None,
            present: None,
            failed: BTreeMap::new(),
            fruitless: 0,
            log,
        }
    }

    /// Takes note of what the last armed boot came to.
    pub(super) fn arrive(&mut self, running: &KernelIdentity) {
        let Some(armed) = self.armed.take() else { return };
        let rebooted = armed.from != running.boot_id;
        let came_up = rebooted && identity::violations(&armed.kernel, running).is_empty();
        if came_up {
            self.failed.remove(&armed.arm);
            self.present = running.boot_id.clone().map(|boot_id| Present { boot_id, trials: 0 });
            self.log.push(format!("{} came up for {}", running.release, armed.arm));
        } else {
            *self.failed.entry(armed.arm.clone()).or_default() += 1;
            let how = if rebooted {
                format!("fell back to {}", running.release)
            } else {
                "the host did not restart".to_owned()
            };
            self.log.push(format!("{} did not come up for {}: {how}", armed.kernel.release, armed.arm));
        }
    }

    /// What the next trial of `arm` needs.
    pub(super) fn next(
        &self,
        arm: &str,
        wanted: &KernelIdentity,
        running: &KernelIdentity,
        trials_per_boot: u32,
    ) -> Result<Next, BootError> {
        let ours = self.present.as_ref().filter(|p| running.boot_id.as_ref() == Some(&p.boot_id));
        if ours.is_some_and(|p| p.trials < trials_per_boot)
            && identity::violations(wanted, running).is_empty()
        {
            return Ok(Next::RunHere);
        }
        let attempts = self.failed.get(arm).copied().unwrap_or_default();
        if attempts >= ATTEMPTS {
            let (arm, release) = (arm.to_owned(), wanted.release.clone());
            return Err(BootError::NeverCameUp { arm, release, attempts });
        }
        if self.fruitless >= FRUITLESS {
            return Err(BootError::CrashLoop { boots: self.fruitless });
        }
        Ok(Next::Reboot)
    }

    /// Notes that the kernel of `arm` is about to be booted.
    pub(super) fn arm(&mut self, arm: &str, wanted: &KernelIdentity, running: &KernelIdentity) {
        self.fruitless += 1;
        self.log.push(format!("booting {} for {arm}", wanted.release));
        let from = running.boot_id.clone();
        self.armed = Some(Armed { arm: arm.to_owned(), kernel: wanted.clone(), from });
    }

    /// Notes that a trial begins: one that takes the kernel with it has used its boot.
    pub(super) fn begin_trial(&mut self) {
        if let Some(present) = &mut self.present {
            present.trials += 1;
        }
    }

    /// Notes that a trial has ended and left its record.
    pub(super) fn end_trial(&mut self, name: &str) {
        self.fruitless = 0;
        self.log.push(format!("ran {name}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(release: &str, boot: u32) -> KernelIdentity {
        KernelIdentity {
            release: release.to_owned(),
            boot_id: Some(format!("boot-{boot}")),
            ..KernelIdentity::default()
        }
    }

    fn wanted(release: &str) -> KernelIdentity {
        KernelIdentity { boot_id: None, ..kernel(release, 0) }
    }

    fn state() -> BootState {
        BootState::new("/c".into(), &kernel("good", 0))
    }

    /// Arms `release` for arm `a` in boot `from`, then wakes up as `running`.
    fn boot(state: &mut BootState, release: &str, from: &KernelIdentity, running: &KernelIdentity) {
        state.arm("a", &wanted(release), from);
        state.arrive(running);
    }

    #[test]
    fn a_trial_runs_only_in_a_boot_made_for_it() {
        let mut state = state();
        // The right kernel, but of a boot that others had before.
        let next = state.next("a", &wanted("good"), &kernel("good", 0), 1).unwrap();
        assert_eq!(next, Next::Reboot);
        let (before, now) = (kernel("good", 0), kernel("a", 1));
        boot(&mut state, "a", &before, &now);
        assert_eq!(state.next("a", &wanted("a"), &now, 1).unwrap(), Next::RunHere);
        state.begin_trial();
        state.end_trial("t0");
        assert_eq!(state.next("a", &wanted("a"), &now, 1).unwrap(), Next::Reboot, "a boot for every trial");
        assert_eq!(state.next("a", &wanted("a"), &now, 2).unwrap(), Next::RunHere);
        assert_eq!(state.next("b", &wanted("b"), &now, 2).unwrap(), Next::Reboot, "another kernel");
    }

    #[test]
    fn a_kernel_that_panics_at_boot_is_given_up() {
        let mut state = state();
        for n in 0..ATTEMPTS {
            let (before, after) = (kernel("good", n), kernel("good", n + 1));
            assert_eq!(state.next("a", &wanted("a"), &before, 1).unwrap(), Next::Reboot);
            boot(&mut state, "a", &before, &after);
        }
        let error = state.next("a", &wanted("a"), &kernel("good", 9), 1).unwrap_err();
        assert!(matches!(error, BootError::NeverCameUp { attempts: ATTEMPTS, .. }), "{error}");
        // The other arm still has its chance.
        assert_eq!(state.next("b", &wanted("b"), &kernel("good", 9), 1).unwrap(), Next::Reboot);
        assert!(
            state.log.iter().any(|l| l == "a did not come up for a: fell back to good"),
            "{:?}",
            state.log
        );
    }

    #[test]
    fn a_kernel_that_dies_in_trials_is_stopped_by_the_guard() {
        let mut state = state();
        let mut boots = 0;
        let error = loop {
            // It comes up, the trial begins, and the host wakes up on the known-good kernel.
            match state.next("a", &wanted("a"), &kernel("good", boots), 1) {
                Ok(_) => boot(&mut state, "a", &kernel("good", boots), &kernel("a", boots + 1)),
                Err(error) => break error,
            }
            state.begin_trial();
            boots += 2;
            assert!(boots < 100, "it never ends");
        };
        assert!(matches!(error, BootError::CrashLoop { boots: FRUITLESS }), "{error}");
    }

    #[test]
    fn a_host_that_did_not_restart_counts_as_a_failed_boot() {
        let mut state = state();
        let here = kernel("good", 0);
        boot(&mut state, "a", &here, &here);
        assert_eq!(state.failed["a"], 1);
        assert!(state.log.iter().any(|l| l.ends_with("the host did not restart")), "{:?}", state.log);
    }

    #[test]
    fn the_wrong_kernel_is_no_arrival() {
        let mut state = state();
        boot(&mut state, "a", &kernel("good", 0), &kernel("b", 1));
        assert_eq!(state.next("a", &wanted("a"), &kernel("b", 1), 1).unwrap(), Next::Reboot);
        assert_eq!(state.failed["a"], 1);
    }
}
