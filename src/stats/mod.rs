//! Statistics: summaries, intervals, tests, sequential looks, power. Pure and seeded.

pub mod boots;
pub mod bootstrap;
pub mod claim;
pub mod differences;
pub mod equivalence;
pub mod error;
pub mod hodges_lehmann;
pub mod interval;
pub mod mann_whitney;
pub mod multiplicity;
pub mod noise;
pub mod noncentral;
pub mod one_sample;
pub mod paired;
pub mod permutation;
pub mod pooling;
pub mod power;
pub mod quantile;
pub mod random;
mod rank_distribution;
pub mod sequential;
pub mod sign_flip;
pub mod summary;
pub mod variance;
pub mod verdict;
pub mod welch;
