//! Records linked into one cycle, in memory order or shuffled.

use std::hint::black_box;
use std::time::Duration;

use super::error::CalibrateError;
use super::primitive::{Mapping, PageSize, Record};
use super::timing::timed;
use crate::stats::random::Chance;

/// Bytes of a record.
pub const LINE: usize = 64;

pub fn map(length: usize, pages: PageSize) -> Result<Mapping, CalibrateError> {
    Mapping::new(length, pages).map_err(|source| CalibrateError::Memory { megabytes: length >> 20, source })
}

/// A cycle through every record of a mapping; `prev` names the one to visit next.
pub struct Chain {
    mapping: Mapping,
    at: u32,
}

impl Chain {
    /// One cycle over `length` bytes, shuffled by a seed.
    pub fn shuffled(length: usize, pages: PageSize, seed: u64) -> Result<Self, CalibrateError> {
        let mut mapping = map(length, pages)?;
        let count = mapping.records().len();
        let mut order: Vec<u32> = (0..count as u32).collect();
        Chance::stream(seed, count as u64).shuffle(&mut order);
        link(mapping.records_mut(), &order);
        Ok(Chain { at: order[0], mapping })
    }

    pub fn records(&self) -> &[Record] {
        self.mapping.records()
    }

    /// Follows `count` links.
    pub fn walk(&mut self, count: u64) -> Duration {
        let records = self.mapping.records();
        let mut at = self.at;
        let took = timed(|| {
            for _ in 0..count {
                at = records[at as usize].prev;
            }
            black_box(at);
        });
        self.at = at;
        took
    }

    /// Follows `count` links and does `work` at each record, told the next one.
    #[inline(always)]
    pub fn visit(&mut self, count: u64, work: impl Fn(&Record, &Record)) -> Duration {
        let records = self.mapping.records();
        let mut at = self.at;
        let took = timed(|| {
            for _ in 0..count {
                let record = &records[at as usize];
                let next = record.prev;
                work(record, &records[next as usize]);
                at = next;
            }
            black_box(at);
        });
        self.at = at;
        took
    }
}

/// Links records into a cycle in this order.
pub fn link(records: &mut [Record], order: &[u32]) {
    for (i, record) in order.iter().enumerate() {
        let following = order[(i + 1) % order.len()];
        records[*record as usize].prev = following;
        records[following as usize].next = *record;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cycle_visits_every_record_once() {
        let mut chain = Chain::shuffled(64 * LINE, PageSize::Small, 3).expect("memory");
        let mut seen = vec![0; 64];
        for _ in 0..64 {
            seen[chain.at as usize] += 1;
            chain.walk(1);
        }
        assert!(seen.iter().all(|count| *count == 1));
        let next = |record: &Record| record.next;
        assert!(
            chain
                .records()
                .iter()
                .enumerate()
                .all(|(i, r)| next(&chain.records()[r.prev as usize]) == i as u32)
        );
    }
}
