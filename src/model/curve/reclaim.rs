//! The kernel's own policies as lines of a miss-ratio curve.

use crate::model::access::Access;
use crate::model::access::Region;
use crate::model::access::Stream;
use crate::model::counter::Counter;
use crate::model::event::Event;
use crate::model::simulation::Configuration;
use crate::model::simulation::Phase;
use crate::model::simulation::Simulation;
use crate::units::Pages;

use super::{MissCounter, Misses, Recording};

/// A configuration whose first memcg takes each size in turn. Swap is made
/// large enough for every page of the recording.
#[derive(Debug, Clone, PartialEq)]
pub struct ReclaimPolicy {
    pub name: String,
    pub configuration: Configuration,
}

impl ReclaimPolicy {
    /// A line named by policy and kernel, such as "mglru 6.12".
    pub fn new(configuration: Configuration) -> Self {
        let name = format!("{} {}", configuration.policy, configuration.version);
        ReclaimPolicy { name, configuration }
    }
}

impl MissCounter for ReclaimPolicy {
    fn name(&self) -> &str {
        &self.name
    }

    /// A miss is a page brought in, whether asked for or read ahead; refaults
    /// are those the kernel counts. `None` when the memcg ran out of memory.
    fn count(&self, recording: &Recording, size: Pages) -> Option<Misses> {
        let mut configuration = self.configuration.clone();
        configuration.memcgs.first_mut()?.pages = Some(size.0);
        configuration.swap_pages = configuration.swap_pages.max(u64::from(recording.pages()));
        let mut stream = Replay { recording, next: 0 };
        let outcome = Simulation::new(configuration).run(&mut stream, &[Phase::whole()]);
        if outcome.out_of_memory.is_some() {
            return None;
        }
        let refaults = outcome.phases.iter().flat_map(|phase| &phase.memcgs).map(|counters| {
            counters.get(Counter::WorkingsetRefaultAnon) + counters.get(Counter::WorkingsetRefaultFile)
        });
        Some(Misses { misses: outcome.event(Event::PageAllocate), refaults: Some(refaults.sum()) })
    }
}

/// A recording as a stream, without a copy of it.
struct Replay<'a> {
    recording: &'a Recording,
    next: usize,
}

impl Stream for Replay<'_> {
    fn regions(&self) -> &[Region] {
        &self.recording.regions
    }

    fn next_batch(&mut self, out: &mut Vec<Access>) -> usize {
        const BATCH: usize = 4096;
        let rest = &self.recording.accesses[self.next..];
        let batch = &rest[..rest.len().min(BATCH)];
        out.extend_from_slice(batch);
        self.next += batch.len();
        batch.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::access::RegionKind;
    use crate::model::curve::miss_ratio_curves;
    use crate::model::stream::{Pattern, SyntheticStream, SyntheticWorkload};
    use crate::model::version::PolicyKind;
    use crate::model::yardstick::Yardstick;

    #[test]
    fn kernel_policies_stand_between_the_yardsticks() {
        let pattern = Pattern::Zipf { exponent: 0.9 };
        let workload = SyntheticWorkload::single(RegionKind::Anon, 4000, pattern, 60_000, 2);
        let recording = Recording::of(&mut SyntheticStream::new(workload), usize::MAX);
        let [classic, mglru] = [PolicyKind::Classic, PolicyKind::Mglru]
            .map(|policy| ReclaimPolicy::new(Configuration::new(policy, 1)));
        assert_eq!(mglru.name(), "mglru 6.12");
        let policies: [&dyn MissCounter; 4] = [&Yardstick::Belady, &classic, &mglru, &Yardstick::Fifo];
        let rows = miss_ratio_curves(&recording, &policies, &[Pages(1000), Pages(5000)], 2);
        let [best, classic, mglru, fifo] = [0, 2, 4, 6].map(|at| rows[at].misses);
        assert!(best < classic.min(mglru) && classic.max(mglru) < fifo * 11 / 10, "{rows:?}");
        // With memory for all, pages come in once and never again.
        for row in rows.iter().filter(|row| row.size == Pages(5000)) {
            assert_eq!((row.misses, row.refaults), (recording.first_touches(), 0), "{}", row.policy);
        }
        // Every page not touched first had left a shadow.
        let classic = &rows[2];
        assert_eq!(classic.misses - classic.refaults, recording.first_touches());
    }
}
