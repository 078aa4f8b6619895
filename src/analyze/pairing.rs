//! From records to one difference a block.
//!
//! Within a block every arm runs twice, in mirrored order. The block's
//! difference is the mean log of the candidate's runs minus that of the
//! baseline's, signed so that plus is better. A block counts only when both
//! arms have all their runs: with one missing, drift no longer cancels.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::metric::{Direction, MetricDefinition};
use crate::stats::differences::block_log_ratio;
use crate::store::TrialRecord;

/// Runs of an arm in a whole block.
const RUNS_PER_BLOCK: usize = 2;

/// One block's difference, on the log scale, plus is better.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockDifference {
    pub block: u32,
    pub difference: f64,
}

/// The blocks of two arms for one metric.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pairing {
    pub blocks: Vec<BlockDifference>,
    /// Blocks in which a run of either arm is missing.
    pub incomplete: Vec<u32>,
    /// Blocks with a zero or negative value, which has no logarithm.
    pub without_logarithm: Vec<u32>,
}

/// +1 where higher is better, -1 where lower is; counters keep their sign.
pub(super) fn sign(direction: Direction) -> f64 {
    match direction {
        Direction::HigherIsBetter | Direction::Neutral => 1.0,
        Direction::LowerIsBetter => -1.0,
    }
}

/// Pairs two arms over the blocks in which either has a run.
pub fn pair(
    records: &[TrialRecord],
    workload: &str,
    metric: &MetricDefinition,
    baseline: &str,
    candidate: &str,
) -> Pairing {
    let mut blocks: BTreeMap<u32, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for record in records.iter().filter(|r| r.counts() && r.spec.id.workload == workload) {
        let Some(value) = record.value(metric.id.as_str()) else { continue };
        let (base, cand) = blocks.entry(record.spec.id.block).or_default();
        if record.spec.id.arm == baseline {
            base.push(value);
        } else if record.spec.id.arm == candidate {
            cand.push(value);
        }
    }
    let mut pairing = Pairing::default();
    for (block, (base, cand)) in blocks {
        if base.len() < RUNS_PER_BLOCK || cand.len() < RUNS_PER_BLOCK {
            pairing.incomplete.push(block);
            continue;
        }
        match block_log_ratio(&base, &cand) {
            Ok(ratio) => {
                let difference = sign(metric.direction) * ratio;
                pairing.blocks.push(BlockDifference { block, difference });
            }
            Err(_) => pairing.without_logarithm.push(block),
        }
    }
    pairing
}
