//! The noncentral t distribution, which power calculations rest on.
//!
//! With S = sigma-hat / sigma, a scaled chi variable of `df` degrees of freedom,
//!
//! ```text
//! P(T <= t) = integral over s of  Phi(t s - delta) f(s) ds
//! f(s) = 2 (df/2)^(df/2) / Gamma(df/2)  s^(df-1) exp(-df s^2 / 2)
//! ```
//!
//! which Simpson's rule integrates piecewise, with a break where Phi turns.

use statrs::function::gamma::ln_gamma;

use super::quantile::normal_cdf;

/// Simpson intervals in each piece; even.
const STEPS: usize = 120;
/// Standard deviations of S on each side of 1 beyond which its density is below 1e-20.
const REACH: f64 = 10.0;
/// Standard normal deviate beyond which Phi is flat to 1e-15.
const FLAT: f64 = 8.0;

/// The integral of `value(s) f(s)` over all s, split at the given points.
pub(crate) fn mean_over_spread(df: f64, breaks: &[f64], value: impl Fn(f64) -> f64) -> f64 {
    let half = 0.5 * df;
    let ln_scale = std::f64::consts::LN_2 + half * half.ln() - ln_gamma(half);
    let density = |s: f64| {
        if s <= 0.0 {
            // The limit at 0: finite for one degree of freedom, zero for more.
            return if df > 1.0 { 0.0 } else { ln_scale.exp() };
        }
        (ln_scale + (df - 1.0) * s.ln() - half * s * s).exp()
    };
    let spread = REACH / (2.0 * df).sqrt();
    let (low, high) = ((1.0 - spread).max(0.0), 1.0 + spread);
    let mut points = vec![low, 0.5 * (low + 1.0), 1.0, 1.0 + 0.2 * spread, 1.0 + 0.5 * spread, high];
    points.extend(breaks.iter().copied().filter(|b| *b > low && *b < high));
    points.sort_by(f64::total_cmp);
    points.windows(2).map(|piece| simpson(piece[0], piece[1], |s| value(s) * density(s))).sum()
}

fn simpson(low: f64, high: f64, function: impl Fn(f64) -> f64) -> f64 {
    let width = (high - low) / STEPS as f64;
    let weight = |i: usize| if i % 2 == 1 { 4.0 } else { 2.0 };
    let inner: f64 = (1..STEPS).map(|i| weight(i) * function(low + width * i as f64)).sum();
    (function(low) + inner + function(high)) * width / 3.0
}

/// P(T <= t) of the noncentral t with whole or large `df` and noncentrality `delta`.
pub fn noncentral_t_cdf(t: f64, df: f64, delta: f64) -> f64 {
    if t == 0.0 {
        return normal_cdf(-delta);
    }
    let turn = |deviate: f64| (delta + deviate) / t;
    let breaks = [turn(-FLAT), turn(0.0), turn(FLAT)];
    mean_over_spread(df, &breaks, |s| normal_cdf(t * s - delta)).clamp(0.0, 1.0)
}

/// P(|T| > critical): the power of a two-sided t test.
pub fn two_sided_power(critical: f64, df: f64, delta: f64) -> f64 {
    1.0 - noncentral_t_cdf(critical, df, delta) + noncentral_t_cdf(-critical, df, delta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noncentral_t_agrees_with_reference_values() {
        let reference = [
            (2.0, 5.0, 1.0, 0.7780746626162148),
            (2.262, 9.0, 3.0, 0.23879985868711998),
            (-2.262, 9.0, 3.0, 1.3599781994136535e-06),
            (12.706, 1.0, 5.0, 0.6948352593306946),
            (2.03, 34.0, 3.3, 0.10606448835088195),
            (31.8, 1.0, 40.0, 0.20866668660315354),
            (0.5, 2.0, 0.0, 0.6666666666666666),
            (1.96, 600.0, 2.5, 0.29461442075097244),
            (25.45, 1.0, 12.0, 0.6375341910511019),
        ];
        for (t, df, delta, expected) in reference {
            let got = noncentral_t_cdf(t, df, delta);
            assert!((got - expected).abs() < 1e-8, "t {t} df {df} delta {delta}: {got} for {expected}");
        }
    }

    #[test]
    fn density_of_the_spread_integrates_to_one() {
        for df in [1.0, 2.0, 3.0, 10.0, 571.0] {
            let total = mean_over_spread(df, &[], |_| 1.0);
            assert!((total - 1.0).abs() < 1e-9, "df {df}: {total}");
        }
    }

    #[test]
    fn power_at_no_effect_is_the_error_rate() {
        let critical = crate::stats::quantile::t_critical(0.05, 7.0);
        assert!((two_sided_power(critical, 7.0, 0.0) - 0.05).abs() < 1e-9);
    }
}
