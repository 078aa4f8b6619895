//! Orders of a list of folios against their place in memory.

use crate::model::access::Stream;
use crate::model::machine::Machine;
use crate::model::mglru::Mglru;
use crate::model::simulation::{Configuration, Simulation};
use crate::model::stream::fio::ZipfHash;
use crate::model::stream::{FioEngine, FioPattern, FioStream, FioWorkload};
use crate::model::version::PolicyKind;
use crate::stats::random::Chance;

/// How list order relates to memory order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListOrder {
    /// Neighbours on the list are neighbours in memory.
    Memory,
    Shuffled,
    /// What the reclaim model's file list looks like after zipf reads.
    Simulated,
}

impl ListOrder {
    pub const ALL: [ListOrder; 3] = [ListOrder::Memory, ListOrder::Shuffled, ListOrder::Simulated];

    pub const fn name(self) -> &'static str {
        match self {
            ListOrder::Memory => "memory order",
            ListOrder::Shuffled => "shuffled",
            ListOrder::Simulated => "simulated",
        }
    }
}

/// Reads a page of the memcg so many times over before the list is taken.
const TURNS: u64 = 6;
/// fio's blocks a file in the runs that the twin stands for.
const BLOCKS: u32 = 245_760;

/// Places of at most `most` folios, in the order in which a scan meets them.
pub fn order(kind: ListOrder, most: usize, seed: u64) -> Vec<u32> {
    let mut places: Vec<u32> = (0..most as u32).collect();
    match kind {
        ListOrder::Memory => places,
        ListOrder::Shuffled => {
            Chance::stream(seed, 7).shuffle(&mut places);
            places
        }
        ListOrder::Simulated => simulated(most.min(1 << 20), seed).unwrap_or(places),
    }
}

/// The file list of a memcg of `pages` after zipf reads of four times its size.
fn simulated(pages: usize, seed: u64) -> Option<Vec<u32>> {
    let files = (4 * pages as u32).div_ceil(BLOCKS).max(1);
    let blocks = (4 * pages as u32 / files).max(2);
    let mut stream = FioStream::new(FioWorkload {
        files,
        blocks,
        block_pages: 1,
        pattern: FioPattern::Zipf { theta: 0.5, hash: ZipfHash::Since2016 },
        engine: FioEngine::Syscall,
        write_percent: 0,
        operations: TURNS * pages as u64,
        seed,
    })
    .ok()?;
    let simulation = Simulation::new(Configuration::new(PolicyKind::Mglru, pages as u64));
    let mut machine: Machine<Mglru> = Machine::new(simulation.core(stream.regions()));
    let mut accesses = Vec::new();
    while stream.next_batch(&mut accesses) > 0 {
        machine.run(&accesses).ok()?;
        accesses.clear();
    }
    let kernel = &machine.kernel;
    Some(kernel.lruvecs[0].folios(&kernel.core, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_names_each_place_at_most_once() {
        for kind in ListOrder::ALL {
            let mut places = order(kind, 4096, 1);
            assert!(places.len() > 3000 && places.len() <= 4097, "{kind:?}: {}", places.len());
            if kind != ListOrder::Memory {
                assert!(
                    places.windows(2).filter(|w| w[1] != w[0] + 1).count() > 1000,
                    "{kind:?} is in memory order"
                );
            }
            places.sort_unstable();
            places.dedup();
            assert!(places.len() > 3000, "{kind:?}");
        }
    }
}
