//! One estimate from several hosts, and whether the hosts agree.
//!
//! DerSimonian and Laird's random effects: each host's estimate is weighed by
//! its own variance plus the variance between hosts. The interval is Hartung
//! and Knapp's on t with hosts - 1 degrees of freedom, never narrower than the
//! unadjusted error gives, since a normal interval over few hosts is too narrow.

use serde::{Deserialize, Serialize};

use super::error::{StatsError, check_above_zero, check_finite, check_share};
use super::interval::Interval;
use super::quantile::{chi_squared_upper, t_critical};

/// One host's estimate of the same effect.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostEstimate {
    pub estimate: f64,
    pub standard_error: f64,
}

/// The effect over hosts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomEffects {
    pub hosts: usize,
    pub mean: f64,
    pub standard_error: f64,
    pub interval: Interval,
    pub level: f64,
    /// Deviation of the true effect between hosts.
    pub between: f64,
    /// Cochran's Q and its p: small where hosts differ by more than their noise.
    pub q: f64,
    pub heterogeneity_p: f64,
    /// Share of the variation that is between hosts.
    pub i_squared: f64,
}

impl RandomEffects {
    pub fn new(hosts: &[HostEstimate], level: f64) -> Result<Self, StatsError> {
        check_share("the level", level)?;
        if hosts.len() < 2 {
            return Err(StatsError::TooFew { what: "hosts", have: hosts.len(), need: 2 });
        }
        for host in hosts {
            check_finite(&[host.estimate])?;
            check_above_zero("a host's standard error", host.standard_error)?;
        }
        let df = (hosts.len() - 1) as f64;
        let fixed = Weighted::new(hosts, 0.0);
        let q = fixed.squares;
        let between_variance = ((q - df) / (fixed.total - fixed.squared_total / fixed.total)).max(0.0);
        let random = Weighted::new(hosts, between_variance);
        let plain = 1.0 / random.total;
        let adjusted = random.squares / (df * random.total);
        let standard_error = plain.max(adjusted).sqrt();
        Ok(RandomEffects {
            hosts: hosts.len(),
            mean: random.mean,
            standard_error,
            interval: Interval::around(random.mean, t_critical(1.0 - level, df) * standard_error),
            level,
            between: between_variance.sqrt(),
            q,
            heterogeneity_p: chi_squared_upper(q, df),
            i_squared: if q > df { (q - df) / q } else { 0.0 },
        })
    }
}

/// Sums under inverse-variance weights.
struct Weighted {
    total: f64,
    squared_total: f64,
    mean: f64,
    /// Weighted squared distances from the mean.
    squares: f64,
}

impl Weighted {
    fn new(hosts: &[HostEstimate], between_variance: f64) -> Self {
        let weights: Vec<f64> =
            hosts.iter().map(|h| 1.0 / (h.standard_error * h.standard_error + between_variance)).collect();
        let total: f64 = weights.iter().sum();
        let mean = hosts.iter().zip(&weights).map(|(h, w)| w * h.estimate).sum::<f64>() / total;
        Weighted {
            total,
            squared_total: weights.iter().map(|w| w * w).sum(),
            mean,
            squares: hosts.iter().zip(&weights).map(|(h, w)| w * (h.estimate - mean).powi(2)).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(estimate: f64, standard_error: f64) -> HostEstimate {
        HostEstimate { estimate, standard_error }
    }

    #[test]
    fn hosts_that_agree_are_averaged_by_precision() {
        let pooled = RandomEffects::new(&[host(0.010, 0.002), host(0.012, 0.004)], 0.95).expect("two hosts");
        // Weights 4 to 1.
        assert!((pooled.mean - 0.0104).abs() < 1e-12);
        assert_eq!((pooled.between, pooled.i_squared), (0.0, 0.0));
        assert!((pooled.standard_error - (1.0_f64 / 312_500.0).sqrt()).abs() < 1e-12);
        assert!(pooled.heterogeneity_p > 0.6);
    }

    #[test]
    fn hosts_that_differ_widen_the_interval() {
        let hosts = [host(0.0, 1.0), host(4.0, 1.0), host(8.0, 1.0)];
        let pooled = RandomEffects::new(&hosts, 0.95).expect("three hosts");
        // Q = 32 on 2: tau^2 = (32 - 2) / (3 - 1) = 15, so every variance is 16.
        assert!((pooled.q - 32.0).abs() < 1e-9 && (pooled.between - 15.0_f64.sqrt()).abs() < 1e-9);
        assert!((pooled.mean - 4.0).abs() < 1e-12);
        assert!((pooled.standard_error - (16.0_f64 / 3.0).sqrt()).abs() < 1e-9);
        assert!((pooled.i_squared - 30.0 / 32.0).abs() < 1e-12);
        assert!((pooled.heterogeneity_p - (-16.0_f64).exp()).abs() < 1e-12);
        assert!(pooled.interval.contains(0.0));
    }

    #[test]
    fn one_host_or_no_error_is_refused() {
        assert!(RandomEffects::new(&[host(0.0, 1.0)], 0.95).is_err());
        assert!(RandomEffects::new(&[host(0.0, 1.0), host(0.0, 0.0)], 0.95).is_err());
    }
}
