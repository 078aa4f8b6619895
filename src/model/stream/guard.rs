//! Guard workloads: what a change of policy must not break. A gain on the
//! author's workload that costs one of these is no gain.

use crate::model::access::{Region, RegionKind};
use crate::units::Pages;

use super::synthetic::{Pattern, Phase, SyntheticWorkload};

/// A guard workload by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    pub name: &'static str,
    pub workload: SyntheticWorkload,
}

/// The guards for a memory of this size, each with `rounds` times as many
/// accesses as the memory has pages.
pub fn guards(memory: Pages, rounds: u64, seed: u64) -> Vec<Guard> {
    // Half of the page ids are left for the largest scan.
    let memory = memory.0.clamp(10, u64::from(u32::MAX / 4)) as u32;
    let accesses = u64::from(memory) * rounds;
    let tenths = |n: u64| (u64::from(memory) * n / 10) as u32;
    let single = |name, pages, pattern| Guard {
        name,
        workload: SyntheticWorkload::single(RegionKind::Anon, pages, pattern, accesses, seed),
    };
    vec![
        single("cyclic-0.9", tenths(9), Pattern::Cyclic),
        single("cyclic-1.1", tenths(11), Pattern::Cyclic),
        single("cyclic-2.0", tenths(20), Pattern::Cyclic),
        single("uniform-1.5", tenths(15), Pattern::Uniform),
        single("zipf-0.99", tenths(40), Pattern::Zipf { exponent: 0.99 }),
        Guard { name: "mixed-anon-file", workload: mixed(memory, accesses, seed) },
        Guard {
            name: "moving-set",
            workload: SyntheticWorkload::moving(RegionKind::Anon, tenths(8), 4, accesses / 4, seed),
        },
    ]
}

/// Anon and file of a memory's size each, drawn together, then a pass over the
/// file alone, then together again.
fn mixed(memory: u32, accesses: u64, seed: u64) -> SyntheticWorkload {
    let together = Phase { pattern: Pattern::Uniform, first: 0, pages: memory * 2, accesses: accesses / 2 };
    let pass = Phase {
        pattern: Pattern::Cyclic,
        first: memory,
        pages: memory,
        accesses: u64::from(memory).min(accesses / 4),
    };
    SyntheticWorkload {
        regions: vec![
            Region::new(0, memory, RegionKind::Anon),
            Region::new(memory, memory, RegionKind::File),
        ],
        phases: vec![together, pass, Phase { accesses: accesses / 4, ..together }],
        write_percent: 20,
        seed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::access::Stream;
    use crate::model::curve::Recording;
    use crate::model::stream::SyntheticStream;
    use crate::model::yardstick::Yardstick;

    #[test]
    fn guards_press_on_memory_as_they_say() {
        let guards = guards(Pages(1000), 8, 1);
        let lru = |name: &str| {
            let guard = guards.iter().find(|g| g.name == name).expect("a guard");
            let mut stream = SyntheticStream::new(guard.workload.clone());
            let recording = Recording::of(&mut stream, usize::MAX);
            let last = stream.regions().last().expect("a region").end();
            assert!(recording.accesses.iter().all(|a| a.page < last), "{name}");
            Yardstick::Lru.misses(&recording.accesses, recording.pages(), 1000)
        };
        let counted: Vec<(&str, u64)> = guards.iter().map(|g| (g.name, lru(g.name))).collect();
        // Cycles are exact by hand; the others are kept as they were counted.
        let expected = [
            ("cyclic-0.9", 900),
            ("cyclic-1.1", 8000),
            ("cyclic-2.0", 8000),
            ("uniform-1.5", 3203),
            ("zipf-0.99", 2164),
            ("mixed-anon-file", 3957),
            ("moving-set", 2278),
        ];
        assert_eq!(counted, expected);
    }
}
