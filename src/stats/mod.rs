//! Statistics: summaries, intervals, tests, sequential looks, power. Pure and
//! seeded: no file, no clock, the same seed gives the same bytes.
//!
//! Everything works on log ratios that the caller has signed so that plus is
//! better. The unit is the block ([`BlockDifferences`]); a verdict goes
//!
//! ```text
//! BlockDifferences -> PairedAnalysis | sequential::LookResult | sequential::EProcessPoint
//!                  -> verdict::Evidence -> Verdict, claim::ClaimCheck
//! ```
//!
//! The t test decides. The sign-flip p and the Hodges-Lehmann shift stand
//! beside it, and the tests of unpaired runs are a fallback. Quantiles come from
//! `statrs`; every test is our own and checked against enumeration, published
//! figures or simulation ([`selftest`]).

pub mod boots;
pub mod bootstrap;
pub mod claim;
pub mod differences;
pub mod dunnett;
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
pub mod selftest;
pub mod sequential;
pub mod sign_flip;
pub mod summary;
pub mod variance;
pub mod verdict;
pub mod welch;

pub use differences::{BlockDifferences, block_log_ratio};
pub use error::StatsError;
pub use interval::Interval;
pub use paired::PairedAnalysis;
pub use summary::Summary;
pub use verdict::{Direction, Evidence, UnresolvedReason, Verdict};
