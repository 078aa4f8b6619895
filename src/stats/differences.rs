//! Block differences: what every paired analysis starts from.

use serde::Serialize;

use super::error::{StatsError, check_finite};
use super::summary::{logarithms, mean};

/// One finite number per block: the mean log of the candidate's runs minus
/// that of the baseline's, signed by the caller so that plus is better.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct BlockDifferences(Vec<f64>);

impl BlockDifferences {
    /// Refuses an empty list and numbers that are not finite.
    pub fn new(values: Vec<f64>) -> Result<Self, StatsError> {
        check_finite(&values)?;
        Ok(BlockDifferences(values))
    }

    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }

    /// How many blocks there are: at least one.
    pub fn blocks(&self) -> usize {
        self.0.len()
    }

    /// The first `blocks` of them, as an earlier look saw them.
    pub fn first(&self, blocks: usize) -> Result<Self, StatsError> {
        BlockDifferences::new(self.0[..blocks.min(self.0.len())].to_vec())
    }

    /// Seen from the other direction: for metrics where lower is better.
    pub fn negated(&self) -> Self {
        BlockDifferences(self.0.iter().map(|d| -d).collect())
    }
}

/// The log ratio of one block: mean log of the candidate's runs minus mean log
/// of the baseline's. Refuses values that have no logarithm.
pub fn block_log_ratio(baseline: &[f64], candidate: &[f64]) -> Result<f64, StatsError> {
    Ok(mean(&logarithms(candidate)?) - mean(&logarithms(baseline)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_ratio_of_a_block() {
        let ratio = block_log_ratio(&[100.0, 100.0], &[200.0, 50.0]).expect("positive values");
        assert!(ratio.abs() < 1e-12);
        let doubled = block_log_ratio(&[100.0], &[200.0]).expect("positive values");
        assert!((doubled - 2.0_f64.ln()).abs() < 1e-12);
        assert!(block_log_ratio(&[100.0], &[0.0]).is_err());
        assert_eq!(block_log_ratio(&[], &[1.0]), Err(StatsError::Empty));
    }

    #[test]
    fn differences_are_finite_and_can_be_cut() {
        assert!(BlockDifferences::new(vec![0.1, f64::NAN]).is_err());
        let all = BlockDifferences::new(vec![0.1, -0.2, 0.3]).expect("finite");
        assert_eq!(all.first(2).expect("two blocks").as_slice(), [0.1, -0.2]);
        assert_eq!(all.first(9).expect("all blocks"), all);
        assert_eq!(all.first(0), Err(StatsError::Empty));
        assert_eq!(all.negated().as_slice(), [-0.1, 0.2, -0.3]);
    }
}
