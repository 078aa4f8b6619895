//! What is run on both sides.

use serde::{Deserialize, Serialize};

use crate::model::access::RegionKind;
use crate::model::stream::StreamRequest;
use crate::model::stream::StreamSpec;
use crate::model::version::PolicyKind;
use crate::units::Pages;

/// Whether a cell was looked at while the model was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Its differences led to changes of the model: no evidence.
    Tuning,
    Test,
}

/// One free-running cell: a process that plays a stream in a limited memcg.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    pub name: String,
    pub role: Role,
    pub policy: PolicyKind,
    pub swappiness: u32,
    /// `memory.max`.
    pub limit: Pages,
    pub load: Load,
}

/// What the process does; the text that the guest gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    pub stream: String,
    /// Memory through page tables, written; else a file, read by `pread`.
    pub mapped: bool,
    pub pages: u32,
    /// Statistics are flushed after each phase.
    pub phases: u32,
    pub accesses_per_phase: u64,
    pub seed: u64,
}

impl Load {
    pub fn accesses(&self) -> u64 {
        u64::from(self.phases) * self.accesses_per_phase
    }

    /// The same stream on both sides. `None` for a text that is no stream.
    pub fn request(&self) -> Option<StreamRequest> {
        let spec: StreamSpec = self.stream.parse().ok()?;
        let kind = if self.mapped { RegionKind::Anon } else { RegionKind::File };
        Some(StreamRequest {
            spec,
            kind: spec.own_kind().unwrap_or(kind),
            pages: self.pages,
            accesses: self.accesses(),
            // Loads leave no mark on User-Mode Linux. A mixed stream stores of itself.
            write_percent: if self.mapped && spec.own_kind().is_none() { 100 } else { 0 },
            seed: self.seed,
            memory: Pages(u64::from(self.pages)),
        })
    }
}

/// Phases of every cell.
const PHASES: u32 = 8;

struct Row {
    role: Role,
    policy: PolicyKind,
    swappiness: u32,
    limit: u64,
    stream: &'static str,
    mapped: bool,
    pages: u32,
    /// Accesses of all phases, in thousands.
    thousands: u64,
}

const fn row(
    (role, policy, swappiness): (Role, PolicyKind, u32),
    limit: u64,
    (stream, mapped): (&'static str, bool),
    pages: u32,
    thousands: u64,
) -> Row {
    Row { role, policy, swappiness, limit, stream, mapped, pages, thousands }
}

const TUNING: Role = Role::Tuning;
const TEST: Role = Role::Test;
const MGLRU: PolicyKind = PolicyKind::Mglru;
const CLASSIC: PolicyKind = PolicyKind::Classic;

/// Every cell reclaims ten times its limit or more.
const ROWS: [Row; 24] = [
    row((TUNING, MGLRU, 60), 8192, ("cyclic", true), 12_288, 120),
    row((TUNING, MGLRU, 60), 8192, ("zipf:0.99", true), 32_768, 480),
    row((TUNING, MGLRU, 60), 8192, ("uniform", false), 12_288, 320),
    row((TUNING, MGLRU, 60), 8192, ("mixed:0.8", true), 24_576, 400),
    row((TUNING, CLASSIC, 60), 8192, ("cyclic", true), 12_288, 120),
    row((TUNING, CLASSIC, 60), 8192, ("zipf:0.99", false), 32_768, 560),
    row((TEST, MGLRU, 60), 6144, ("cyclic", true), 8192, 96),
    row((TEST, MGLRU, 60), 6144, ("cyclic", false), 13_312, 120),
    row((TEST, MGLRU, 100), 10_240, ("uniform", true), 15_360, 400),
    row((TEST, MGLRU, 60), 10_240, ("uniform", false), 20_480, 320),
    row((TEST, MGLRU, 200), 6144, ("zipf:0.9", true), 24_576, 320),
    row((TEST, MGLRU, 60), 6144, ("zipf:0.9", false), 24_576, 320),
    row((TEST, MGLRU, 60), 10_240, ("zipf:1.1", false), 65_536, 960),
    row((TEST, MGLRU, 1), 6144, ("mixed:0.9", true), 24_576, 320),
    row((TEST, MGLRU, 60), 6144, ("mixed:0.9", true), 24_576, 320),
    row((TEST, MGLRU, 100), 6144, ("mixed:0.9", true), 24_576, 320),
    row((TEST, MGLRU, 200), 6144, ("mixed:0.9", true), 24_576, 320),
    row((TEST, CLASSIC, 60), 6144, ("cyclic", false), 13_312, 120),
    row((TEST, CLASSIC, 60), 10_240, ("uniform", true), 15_360, 400),
    row((TEST, CLASSIC, 60), 6144, ("zipf:0.9", true), 24_576, 320),
    row((TEST, CLASSIC, 60), 6144, ("zipf:0.9", false), 24_576, 320),
    row((TEST, CLASSIC, 1), 6144, ("mixed:0.9", true), 24_576, 320),
    row((TEST, CLASSIC, 60), 6144, ("mixed:0.9", true), 24_576, 320),
    row((TEST, CLASSIC, 200), 6144, ("mixed:0.9", true), 24_576, 320),
];

/// Every cell, in the order of the table.
pub fn all() -> Vec<Cell> {
    ROWS.iter().map(of).collect()
}

fn of(row: &Row) -> Cell {
    let how = match (row.stream.starts_with("mixed"), row.mapped) {
        (true, _) => "mmap+pread",
        (false, true) => "mmap",
        (false, false) => "pread",
    };
    Cell {
        name: format!(
            "{} {} {how} {}/{} swappiness {}",
            row.policy, row.stream, row.pages, row.limit, row.swappiness
        ),
        role: row.role,
        policy: row.policy,
        swappiness: row.swappiness,
        limit: Pages(row.limit),
        load: Load {
            stream: row.stream.to_owned(),
            mapped: row.mapped,
            pages: row.pages,
            phases: PHASES,
            accesses_per_phase: row.thousands * 1000 / u64::from(PHASES),
            // Cells of one role share no draws with the other.
            seed: if row.role == TUNING { 11 } else { 37 },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_distinct_and_their_streams_exist() {
        let cells = all();
        let mut names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), cells.len());
        for cell in &cells {
            let request = cell.load.request().expect("a stream");
            let stream = request.build().expect("a stream");
            // A window of the look-around ends where a page table does.
            assert!(stream.regions().iter().all(|region| region.pages % 512 == 0), "{}", cell.name);
        }
    }
}
