//! Several candidates against one baseline: intervals and p-values that hold
//! for all of them together.
//!
//! Dunnett, "A multiple comparison procedure for comparing several treatments
//! with a control" (1955). With as many runs of each arm, contrasts with a
//! shared baseline correlate by one half, so for k candidates
//!
//! ```text
//! P(max |T| <= c) = E_S [ E_Z [ (Phi(Z + sqrt(2) c S) - Phi(Z - sqrt(2) c S))^k ] ]
//! ```
//!
//! with Z standard normal and S^2 chi-squared over its degrees of freedom.
//!
//! There S is common to all contrasts. Ours have each the spread of its own
//! block differences, since arms need not be equally noisy; with few blocks
//! Dunnett's values are then too small (6.1% instead of 5% for three candidates
//! and six blocks), and the distribution of max |T| is simulated instead.

use statrs::function::gamma::ln_gamma;

use super::error::{StatsError, check_share};
use super::one_sample::OneSample;
use super::quantile::{normal_cdf, t_critical, t_two_sided_p};
use super::random::Chance;

/// Nodes over the spread S, and over Z from -8 to 8; both integrands vanish at
/// their ends, where the trapezoidal rule converges fast.
const SPREAD_NODES: usize = 120;
const NORMAL_NODES: usize = 81;

/// From here on the common and the own spread differ by a hundredth.
const MANY_BLOCKS: usize = 48;
const DRAWS: usize = 100_000;
const SEED: u64 = 1955;
/// So many draws beyond a value tell its probability within a fifth.
const ENOUGH_BEYOND: f64 = 100.0;

/// Candidates that are held against one baseline over blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Dunnett {
    candidates: usize,
    df: f64,
    /// Simulated max |T|, ascending; empty where the integral serves.
    maxima: Vec<f64>,
}

impl Dunnett {
    /// Each contrast has `blocks` differences, at least three.
    pub fn new(candidates: usize, blocks: usize) -> Result<Self, StatsError> {
        if candidates == 0 {
            return Err(StatsError::TooFew { what: "candidates", have: 0, need: 1 });
        }
        if blocks < 3 {
            return Err(StatsError::TooFew { what: "blocks", have: blocks, need: 3 });
        }
        let simulated = candidates > 1 && blocks < MANY_BLOCKS;
        let maxima = if simulated { simulate(candidates, blocks)? } else { Vec::new() };
        Ok(Dunnett { candidates, df: (blocks - 1) as f64, maxima })
    }

    /// The chance that at least one of the candidates, all equal to the
    /// baseline, shows so large a |t|.
    pub fn p(&self, t: f64) -> f64 {
        let single = t_two_sided_p(t, self.df);
        let by_count = (single * self.candidates as f64).min(1.0);
        if self.maxima.is_empty() {
            return (1.0 - self.inside(t.abs())).clamp(single, by_count);
        }
        let beyond = self.maxima.len() - self.maxima.partition_point(|m| *m < t.abs());
        // Far out two candidates at once are rare, and the sum is exact enough.
        if (beyond as f64) < ENOUGH_BEYOND {
            return by_count;
        }
        (beyond as f64 / self.maxima.len() as f64).clamp(single, by_count)
    }

    /// The |t| that the largest of the candidates exceeds with probability `alpha`.
    pub fn critical(&self, alpha: f64) -> Result<f64, StatsError> {
        check_share("alpha", alpha)?;
        let uncorrected = t_critical(alpha, self.df);
        let by_count = t_critical(alpha / self.candidates as f64, self.df);
        if !self.maxima.is_empty() {
            let beyond = alpha * self.maxima.len() as f64;
            let place = self.maxima.len().saturating_sub(beyond.floor() as usize + 1);
            let simulated = self.maxima[place].clamp(uncorrected, by_count);
            return Ok(if beyond < ENOUGH_BEYOND { by_count } else { simulated });
        }
        let (mut low, mut high) = (0.99 * uncorrected, 1.01 * by_count);
        while high - low > 1e-7 * high {
            let middle = 0.5 * (low + high);
            if 1.0 - self.inside(middle) > alpha { low = middle } else { high = middle }
        }
        Ok(0.5 * (low + high))
    }

    fn inside(&self, bound: f64) -> f64 {
        let half = 0.5 * self.df;
        let deviations = 12.0 / (2.0 * self.df).sqrt();
        let (from, to) = ((1.0 - deviations).max(0.0), 1.0 + deviations);
        let step = (to - from) / SPREAD_NODES as f64;
        let ln_scale = std::f64::consts::LN_2 + half * half.ln() - ln_gamma(half);
        (0..=SPREAD_NODES)
            .map(|node| {
                let spread = from + step * node as f64;
                if spread == 0.0 {
                    return 0.0;
                }
                let density = (ln_scale + (self.df - 1.0) * spread.ln() - half * spread * spread).exp();
                let end = if node == 0 || node == SPREAD_NODES { 0.5 } else { 1.0 };
                end * step * density * self.inside_at(std::f64::consts::SQRT_2 * bound * spread)
            })
            .sum()
    }

    fn inside_at(&self, reach: f64) -> f64 {
        let step = 16.0 / (NORMAL_NODES - 1) as f64;
        let power = i32::try_from(self.candidates).unwrap_or(i32::MAX);
        (0..NORMAL_NODES)
            .map(|node| {
                let z = -8.0 + step * node as f64;
                let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
                let inside = normal_cdf(z + reach) - normal_cdf(z - reach);
                step * density * inside.powi(power)
            })
            .sum()
    }
}

/// The largest |t| of candidates that all equal the baseline, block by block.
fn simulate(candidates: usize, blocks: usize) -> Result<Vec<f64>, StatsError> {
    let mut chance = Chance::stream(SEED, (candidates * MANY_BLOCKS + blocks) as u64);
    let mut differences = vec![vec![0.0; blocks]; candidates];
    let mut maxima = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        for block in 0..blocks {
            let baseline = chance.normal();
            differences.iter_mut().for_each(|of_one| of_one[block] = chance.normal() - baseline);
        }
        let mut largest = 0.0_f64;
        for of_one in &differences {
            largest = largest.max(OneSample::new(of_one)?.t().unwrap_or_default().abs());
        }
        maxima.push(largest);
    }
    maxima.sort_by(f64::total_cmp);
    Ok(maxima)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two-sided 5% points with equal runs and a common spread, as tabulated by Dunnett (1964).
    #[test]
    fn published_critical_values() {
        let table = [
            (2, 5.0, 3.03),
            (3, 5.0, 3.29),
            (2, 10.0, 2.57),
            (3, 10.0, 2.76),
            (4, 10.0, 2.89),
            (2, 20.0, 2.38),
            (3, 20.0, 2.54),
            (5, 20.0, 2.73),
            (2, 1e5, 2.21),
            (3, 1e5, 2.35),
            (4, 1e5, 2.44),
        ];
        for (candidates, df, published) in table {
            let found = Dunnett { candidates, df, maxima: Vec::new() }.critical(0.05).expect("alpha");
            assert!((found - published).abs() < 0.006, "k {candidates}, df {df}: {found} for {published}");
        }
    }

    #[test]
    fn one_candidate_is_student_t() {
        for blocks in [3, 6, 18, 201] {
            let one = Dunnett::new(1, blocks).expect("sound");
            let df = (blocks - 1) as f64;
            for t in [0.5, 2.0, 4.0] {
                let (found, exact) = (one.p(t), t_two_sided_p(t, df));
                assert!((found - exact).abs() < 1e-9, "{blocks} blocks, t {t}: {found} for {exact}");
            }
            let (found, exact) = (one.critical(0.05).expect("alpha"), t_critical(0.05, df));
            assert!((found / exact - 1.0).abs() < 1e-4, "{blocks} blocks: {found} for {exact}");
        }
    }

    #[test]
    fn own_spreads_need_more_than_a_common_one() {
        for (candidates, blocks) in [(2, 6), (3, 6), (3, 12), (5, 18)] {
            let own = Dunnett::new(candidates, blocks).expect("sound");
            let common = Dunnett { maxima: Vec::new(), ..own.clone() };
            let (own, common) = (own.critical(0.05).expect("alpha"), common.critical(0.05).expect("alpha"));
            let by_count = t_critical(0.05 / candidates as f64, (blocks - 1) as f64);
            assert!(common < own && own < by_count, "{candidates}, {blocks}: {common} {own} {by_count}");
        }
    }

    #[test]
    fn the_simulation_joins_the_integral() {
        let below = Dunnett::new(3, MANY_BLOCKS - 1).expect("sound").critical(0.05).expect("alpha");
        let above = Dunnett::new(3, MANY_BLOCKS).expect("sound").critical(0.05).expect("alpha");
        assert!((below / above - 1.0).abs() < 0.012, "{below} {above}");
    }

    #[test]
    fn between_no_correction_and_bonferroni() {
        for blocks in [12, 60] {
            for candidates in 2..6 {
                let family = Dunnett::new(candidates, blocks).expect("sound");
                for t in [1.0, 2.0, 3.0, 5.0, 9.0] {
                    let single = t_two_sided_p(t, (blocks - 1) as f64);
                    let p = family.p(t);
                    let by_count = (candidates as f64 * single).min(1.0);
                    assert!(p > single && p <= by_count, "k {candidates}, t {t}: {p}, {single}");
                    assert_eq!(p, family.p(-t));
                }
            }
        }
    }

    #[test]
    fn p_and_critical_value_agree() {
        for (candidates, blocks) in [(3, 6), (4, 18), (3, 50)] {
            let family = Dunnett::new(candidates, blocks).expect("sound");
            for alpha in [0.05, 0.01] {
                let p = family.p(family.critical(alpha).expect("alpha"));
                assert!((p / alpha - 1.0).abs() < 0.01, "{candidates}, {blocks}: {p} for {alpha}");
            }
        }
    }

    #[test]
    fn nothing_to_compare_is_refused() {
        assert!(Dunnett::new(0, 6).is_err());
        assert!(Dunnett::new(2, 2).is_err());
        assert!(Dunnett::new(2, 6).expect("sound").critical(1.5).is_err());
    }
}
