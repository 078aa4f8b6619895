//! Copying, zeroing and reading whole pages by where they lie.

use std::hint::black_box;
use std::time::Duration;

use super::chain::map;
use super::error::CalibrateError;
use super::machine::MachineUnderTest;
use super::memory::{beyond_cache, inside_l2, inside_llc};
use super::parameter::Parameter;
use super::primitive::{Mapping, PageSize};
use super::round::Group;
use super::timing::{Budget, per_operation, timed};
use crate::stats::random::Chance;

const PAGE: usize = 4096;

/// Copies by level of source and target.
const COPIES: [[Parameter; 3]; 3] = [
    [Parameter::CopyL2L2, Parameter::CopyL2Llc, Parameter::CopyL2Dram],
    [Parameter::CopyLlcL2, Parameter::CopyLlcLlc, Parameter::CopyLlcDram],
    [Parameter::CopyDramL2, Parameter::CopyDramLlc, Parameter::CopyDramDram],
];
const ZEROS: [Parameter; 3] = [Parameter::ZeroL2, Parameter::ZeroLlc, Parameter::ZeroDram];
const READS: [Parameter; 3] = [Parameter::ReadL2, Parameter::ReadLlc, Parameter::ReadDram];

/// Pages visited in a shuffled order, so that no stride is learnt.
struct Pages {
    mapping: Mapping,
    order: Vec<u32>,
    place: usize,
}

impl Pages {
    fn new(bytes: usize, seed: u64) -> Result<Self, CalibrateError> {
        let mut mapping = map(bytes, PageSize::Huge)?;
        // Touched once: untouched pages would all be the zero page.
        mapping.words_mut().iter_mut().step_by(64).enumerate().for_each(|(i, word)| *word = i as u64);
        let mut order: Vec<u32> = (0..(bytes / PAGE).max(1) as u32).collect();
        Chance::stream(seed, bytes as u64).shuffle(&mut order);
        Ok(Pages { mapping, order, place: 0 })
    }

    fn next(&mut self) -> std::ops::Range<usize> {
        let first = self.order[self.place] as usize * PAGE;
        self.place = (self.place + 1) % self.order.len();
        first..first + PAGE
    }
}

/// Sources and targets at the three levels.
pub struct Copying {
    sources: Vec<Pages>,
    targets: Vec<Pages>,
}

impl Copying {
    pub fn new(machine: &MachineUnderTest, seed: u64) -> Result<Self, CalibrateError> {
        // Source and target together must fit their level.
        let sizes = [inside_l2(machine) / 2, inside_llc(machine), beyond_cache(machine)];
        let pages = |salt: u64| -> Result<Vec<Pages>, CalibrateError> {
            sizes.iter().map(|size| Pages::new(*size, seed ^ salt)).collect()
        };
        Ok(Copying { sources: pages(1)?, targets: pages(2)? })
    }

    fn copy(&mut self, from: usize, to: usize, count: u64) -> Duration {
        let (source, target) = (&mut self.sources[from], &mut self.targets[to]);
        timed(|| {
            for _ in 0..count {
                let (read, write) = (source.next(), target.next());
                target.mapping.bytes_mut()[write].copy_from_slice(&source.mapping.bytes()[read]);
            }
            black_box(target.mapping.bytes());
        })
    }

    fn zero(&mut self, level: usize, count: u64) -> Duration {
        let target = &mut self.targets[level];
        timed(|| {
            for _ in 0..count {
                let write = target.next();
                target.mapping.bytes_mut()[write].fill(0);
            }
            black_box(target.mapping.bytes());
        })
    }

    fn read(&mut self, level: usize, count: u64) -> Duration {
        let source = &mut self.sources[level];
        timed(|| {
            let mut sum = 0u64;
            for _ in 0..count {
                let page = source.next();
                let words = &source.mapping.words_mut()[page.start / 8..page.end / 8];
                sum = sum.wrapping_add(words.iter().fold(0, |sum: u64, word| sum.wrapping_add(*word)));
            }
            black_box(sum);
        })
    }
}

impl Group for Copying {
    fn round(&mut self, budget: Budget) -> Result<Vec<(Parameter, f64)>, CalibrateError> {
        let mut cells = Vec::new();
        for (from, row) in COPIES.iter().enumerate() {
            for (to, parameter) in row.iter().enumerate() {
                let ns = per_operation(parameter.name(), budget, |count| self.copy(from, to, count))?;
                cells.push((*parameter, ns));
            }
        }
        for level in 0..3 {
            let zero = per_operation(ZEROS[level].name(), budget, |count| self.zero(level, count))?;
            let read = per_operation(READS[level].name(), budget, |count| self.read(level, count))?;
            cells.extend([(ZEROS[level], zero), (READS[level], read)]);
        }
        Ok(cells)
    }
}
