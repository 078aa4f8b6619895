//! fio's random block generator (`lib/zipf.c`, `hash.h`) and jobs built on it.
//!
//! A 32-bit draw gives a rank by the formula of Gray et al. (1994); the rank is
//! hashed, rotated by the job's offset, and reduced modulo the number of
//! blocks. **The hash is not a bijection modulo most sizes**: at 245760 blocks
//! only 77.0% are ever touched, so the memory that a job needs is not its file
//! size. [`touched_share`] computes it.
//!
//! Draws come from this crate's generator, so streams follow fio's law but not
//! its exact sequence.

use rand::Rng;
use rand::RngExt;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use thiserror::Error;

use crate::model::access::{Access, AccessKind, Region, RegionKind, Stream};

use super::BATCH;

/// `ZIPF_MAX_GEN`: terms of the zeta sum at most.
const LONGEST_SUM: u64 = 10_000_000;
/// `__hash_u64` since fio 2.10 (2016).
const GOLDEN_RATIO: u64 = 0x61C8_8646_80B5_83EB;
/// Before that.
const OLD_PRIME: u64 = 0x9e37_ffff_fffc_0001;

/// A job that cannot be generated.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FioError {
    #[error(
        "zipf theta {theta} has no generator: fio's formula divides by 1 - theta; use a positive theta other than 1"
    )]
    Theta { theta: f64 },
    #[error(
        "{blocks} blocks per file cannot be drawn from; a zipf job needs at least 2; make the file larger"
    )]
    Blocks { blocks: u64 },
    #[error("{files} files of {pages} pages each are more pages than 32 bits number; scale the job down")]
    Size { files: u64, pages: u64 },
}

/// Which multiplier scatters the ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ZipfHash {
    #[default]
    Since2016,
    Before2016,
}

/// fio's zipf state for one file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zipf {
    blocks: u64,
    theta: f64,
    zetan: f64,
    eta: f64,
    alpha: f64,
    hash: ZipfHash,
    /// `rand_off`: a rotation, drawn once a job.
    pub offset: u64,
}

impl Zipf {
    pub fn new(blocks: u64, theta: f64, hash: ZipfHash) -> Result<Self, FioError> {
        if !(theta > 0.0 && theta.is_finite() && theta != 1.0) {
            return Err(FioError::Theta { theta });
        }
        if blocks < 2 {
            return Err(FioError::Blocks { blocks });
        }
        let zetan: f64 = (1..=blocks.min(LONGEST_SUM)).map(|rank| (1.0 / rank as f64).powf(theta)).sum();
        let zeta2 = 1.0 + 0.5f64.powf(theta);
        // Of two blocks no draw goes past the second; the quotient would be nought by nought.
        let eta = match blocks {
            2 => 1.0,
            _ => (1.0 - (2.0 / blocks as f64).powf(1.0 - theta)) / (1.0 - zeta2 / zetan),
        };
        let alpha = 1.0 / (1.0 - theta);
        Ok(Zipf { blocks, theta, zetan, eta, alpha, hash, offset: 0 })
    }

    /// The rank of a draw, from 1 (most frequent) to `blocks` + 1.
    pub fn rank(&self, draw: u32) -> u64 {
        let uniform = f64::from(draw) / f64::from(u32::MAX);
        let share = uniform * self.zetan;
        if share < 1.0 {
            return 1;
        }
        if share < 1.0 + 0.5f64.powf(self.theta) {
            return 2;
        }
        let base = self.eta * uniform - self.eta + 1.0;
        // Theta 0.5, the common case, without a call to pow.
        let power = if self.alpha == 2.0 { base * base } else { base.powf(self.alpha) };
        1 + (self.blocks as f64 * power) as u64
    }

    /// Where a rank lies in the file.
    pub fn block_of_rank(&self, rank: u64) -> u64 {
        let multiplier = match self.hash {
            ZipfHash::Since2016 => GOLDEN_RATIO,
            ZipfHash::Before2016 => OLD_PRIME,
        };
        (rank - 1).wrapping_mul(multiplier).wrapping_add(self.offset) % self.blocks
    }

    /// The block of a draw.
    pub fn block(&self, draw: u32) -> u64 {
        self.block_of_rank(self.rank(draw))
    }

    /// The draw share below which a rank is less than `rank`.
    fn below(&self, rank: u64) -> f64 {
        match rank {
            0 | 1 => 0.0,
            2 => 1.0 / self.zetan,
            _ => {
                let two = (1.0 + 0.5f64.powf(self.theta)) / self.zetan;
                let share = ((rank - 1) as f64 / self.blocks as f64).powf(1.0 - self.theta);
                ((share - 1.0 + self.eta) / self.eta).clamp(two, 1.0)
            }
        }
    }

    /// How often each block is drawn; 0 for those that never are.
    pub fn block_shares(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.blocks as usize];
        let mut from = 0.0;
        for rank in 1..=self.blocks {
            let to = self.below(rank + 1);
            shares[self.block_of_rank(rank) as usize] += to - from;
            from = to;
        }
        shares
    }
}

/// The share of blocks that can be touched at all.
pub fn reachable_share(blocks: u64, theta: f64, hash: ZipfHash) -> Result<f64, FioError> {
    let shares = Zipf::new(blocks, theta, hash)?.block_shares();
    Ok(shares.iter().filter(|&&share| share > 0.0).count() as f64 / blocks as f64)
}

/// The expected share of blocks touched by zipf jobs after `operations` over
/// all `files`, each of `blocks` blocks and read by its own job.
pub fn touched_share(blocks: u64, files: u64, theta: f64, operations: u64) -> Result<f64, FioError> {
    FioPattern::Zipf { theta, hash: ZipfHash::default() }.touched_share(blocks, files, operations)
}

/// Where the next block comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FioPattern {
    Zipf { theta: f64, hash: ZipfHash },
    Uniform,
    Sequential,
}

impl FioPattern {
    /// The expected share of blocks touched after `operations` over all
    /// `files` of `blocks` blocks each.
    pub fn touched_share(self, blocks: u64, files: u64, operations: u64) -> Result<f64, FioError> {
        let draws = operations as f64 / files.max(1) as f64;
        match self {
            FioPattern::Zipf { theta, hash } => {
                let shares = Zipf::new(blocks, theta, hash)?.block_shares();
                let touched: f64 = shares.iter().map(|&share| -(draws * (-share).ln_1p()).exp_m1()).sum();
                Ok(touched / blocks as f64)
            }
            FioPattern::Uniform => Ok(-(draws * (-1.0 / blocks.max(1) as f64).ln_1p()).exp_m1()),
            FioPattern::Sequential => Ok((draws / blocks.max(1) as f64).min(1.0)),
        }
    }
}

/// How fio reaches its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FioEngine {
    /// `read(2)`, `write(2)` or io_uring, buffered.
    Syscall,
    /// `ioengine=mmap`.
    Mmap,
}

/// A group of equal jobs, one file each.
#[derive(Debug, Clone, PartialEq)]
pub struct FioWorkload {
    pub files: u32,
    /// Blocks of a file.
    pub blocks: u32,
    /// Pages of a block (`bs` / 4 KiB).
    pub block_pages: u32,
    pub pattern: FioPattern,
    pub engine: FioEngine,
    /// Writes in a hundred operations.
    pub write_percent: u32,
    /// Operations of all jobs together.
    pub operations: u64,
    pub seed: u64,
}

#[derive(Debug, Clone)]
enum Draw {
    Zipf(Zipf),
    Uniform,
    Sequential { next: u32 },
}

#[derive(Debug, Clone)]
struct Job {
    random: Xoshiro256PlusPlus,
    draw: Draw,
    last_page: Option<u32>,
}

/// The jobs in turn, one operation each.
#[derive(Debug, Clone)]
pub struct FioStream {
    workload: FioWorkload,
    regions: Vec<Region>,
    jobs: Vec<Job>,
    turn: usize,
    left: u64,
}

impl FioStream {
    pub fn new(workload: FioWorkload) -> Result<Self, FioError> {
        let pages = u64::from(workload.blocks) * u64::from(workload.block_pages);
        if u64::from(workload.files) * pages >= u64::from(u32::MAX) {
            return Err(FioError::Size { files: u64::from(workload.files), pages });
        }
        if workload.blocks == 0 || workload.files == 0 {
            return Err(FioError::Blocks { blocks: u64::from(workload.blocks) });
        }
        let mut seeds = Xoshiro256PlusPlus::seed_from_u64(workload.seed);
        let draw = match workload.pattern {
            FioPattern::Zipf { theta, hash } => {
                Draw::Zipf(Zipf::new(u64::from(workload.blocks), theta, hash)?)
            }
            FioPattern::Uniform => Draw::Uniform,
            FioPattern::Sequential => Draw::Sequential { next: 0 },
        };
        let job = |_| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seeds.next_u64());
            let mut draw = draw.clone();
            if let Draw::Zipf(zipf) = &mut draw {
                zipf.offset = u64::from(random.next_u32());
            }
            Job { random, draw, last_page: None }
        };
        let jobs = (0..workload.files).map(job).collect();
        let kind = match workload.engine {
            FioEngine::Syscall => RegionKind::File,
            FioEngine::Mmap => RegionKind::MappedFile,
        };
        let regions =
            (0..workload.files).map(|file| Region::new(file * pages as u32, pages as u32, kind)).collect();
        let left = workload.operations;
        Ok(FioStream { workload, regions, jobs, turn: 0, left })
    }

    fn operation(&mut self, out: &mut Vec<Access>) {
        let turn = self.turn;
        self.turn = (turn + 1) % self.jobs.len();
        let job = &mut self.jobs[turn];
        let block = match &mut job.draw {
            Draw::Zipf(zipf) => zipf.block(job.random.next_u32()) as u32,
            Draw::Uniform => job.random.random_range(0..self.workload.blocks),
            Draw::Sequential { next } => std::mem::replace(next, (*next + 1) % self.workload.blocks),
        };
        let writes =
            self.workload.write_percent > 0 && job.random.random_range(0..100) < self.workload.write_percent;
        let first = self.regions[turn].first + block * self.workload.block_pages;
        for page in first..first + self.workload.block_pages {
            let kind = match (self.workload.engine, writes) {
                (FioEngine::Mmap, false) => AccessKind::MapRead,
                (FioEngine::Mmap, true) => AccessKind::MapWrite,
                (FioEngine::Syscall, true) => AccessKind::FileWrite,
                // The kernel remembers where the last read of this file ended.
                (FioEngine::Syscall, false) if job.last_page == Some(page) && page == first => {
                    AccessKind::FileReadAgain
                }
                (FioEngine::Syscall, false) => AccessKind::FileRead,
            };
            out.push(Access::by(page, kind, turn as u16));
        }
        if !writes {
            job.last_page = Some(first + self.workload.block_pages - 1);
        }
    }
}

impl Stream for FioStream {
    fn regions(&self) -> &[Region] {
        &self.regions
    }

    fn next_batch(&mut self, out: &mut Vec<Access>) -> usize {
        let before = out.len();
        let operations = self.left.min(BATCH as u64);
        for _ in 0..operations {
            self.operation(out);
        }
        self.left -= operations;
        out.len() - before
    }
}

#[cfg(test)]
mod tests;
