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

use statrs::function::gamma::ln_gamma;

use super::error::{StatsError, check_above_zero, check_share};
use super::quantile::{normal_cdf, t_critical};

/// Nodes over the spread S, and over Z from -8 to 8; both integrands vanish at
/// their ends, where the trapezoidal rule converges fast.
const SPREAD_NODES: usize = 120;
const NORMAL_NODES: usize = 81;

/// Candidates that are held against one baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dunnett {
    candidates: usize,
    df: f64,
}

impl Dunnett {
    /// `df` degrees of freedom of each contrast: blocks less one, at least two.
    pub fn new(candidates: usize, df: f64) -> Result<Self, StatsError> {
        if candidates == 0 {
            return Err(StatsError::TooFew { what: "candidates", have: 0, need: 1 });
        }
        if df < 2.0 {
            return Err(StatsError::TooFew { what: "blocks", have: 2, need: 3 });
        }
        check_above_zero("the degrees of freedom", df)?;
        Ok(Dunnett { candidates, df })
    }

    /// The chance that at least one of the candidates, all equal to the
    /// baseline, shows so large a |t|.
    pub fn p(&self, t: f64) -> f64 {
        (1.0 - self.inside(t.abs())).clamp(0.0, 1.0)
    }

    /// The |t| that the largest of the candidates exceeds with probability `alpha`.
    pub fn critical(&self, alpha: f64) -> Result<f64, StatsError> {
        check_share("alpha", alpha)?;
        // Between no correction and Bonferroni's.
        let (mut low, mut high) =
            (0.99 * t_critical(alpha, self.df), t_critical(alpha / self.candidates as f64, self.df) * 1.01);
        while high - low > 1e-7 * high {
            let middle = 0.5 * (low + high);
            if self.p(middle) > alpha { low = middle } else { high = middle }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::quantile::t_two_sided_p;

    /// Two-sided 5% points with equal runs, as tabulated by Dunnett (1964).
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
            let found = Dunnett::new(candidates, df).expect("sound").critical(0.05).expect("alpha");
            assert!((found - published).abs() < 0.006, "k {candidates}, df {df}: {found} for {published}");
        }
    }

    #[test]
    fn one_candidate_is_student_t() {
        for df in [2.0, 5.0, 17.0, 200.0] {
            let one = Dunnett::new(1, df).expect("sound");
            for t in [0.0, 0.5, 2.0, 4.0] {
                let (found, exact) = (one.p(t), t_two_sided_p(t, df));
                assert!((found - exact).abs() < 3e-5, "df {df}, t {t}: {found} for {exact}");
            }
            let (found, exact) = (one.critical(0.05).expect("alpha"), t_critical(0.05, df));
            assert!((found / exact - 1.0).abs() < 1e-4, "df {df}: {found} for {exact}");
        }
    }

    #[test]
    fn between_no_correction_and_bonferroni() {
        for candidates in 2..8 {
            for t in [1.0, 2.0, 3.0, 5.0] {
                let p = Dunnett::new(candidates, 11.0).expect("sound").p(t);
                let single = t_two_sided_p(t, 11.0);
                assert!(p > single && p < candidates as f64 * single, "k {candidates}, t {t}: {p}, {single}");
                assert_eq!(p, Dunnett::new(candidates, 11.0).expect("sound").p(-t));
            }
        }
    }

    #[test]
    fn nothing_to_compare_is_refused() {
        assert!(Dunnett::new(0, 5.0).is_err());
        assert!(Dunnett::new(2, 0.0).is_err());
        assert!(Dunnett::new(2, 5.0).expect("sound").critical(1.5).is_err());
    }
}
