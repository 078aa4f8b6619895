//! Normal, Student t, chi-squared and binomial probabilities.
//!
//! The special functions are those of `statrs`; its hypothesis tests are not used.

use statrs::function::beta::beta_reg;
use statrs::function::beta::inv_beta_reg;
use statrs::function::erf::erfc;
use statrs::function::erf::erfc_inv;
use statrs::function::gamma::gamma_ur;
use statrs::function::gamma::ln_gamma;

/// P(Z <= x) of the standard normal.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// The `share` quantile of the standard normal; `share` is between 0 and 1.
pub fn normal_quantile(share: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * share)
}

/// P(|T| >= |t|) of Student's t with `df` degrees of freedom.
pub fn t_two_sided_p(t: f64, df: f64) -> f64 {
    if t == 0.0 {
        return 1.0;
    }
    beta_reg(0.5 * df, 0.5, df / (df + t * t))
}

/// P(T <= t) of Student's t.
pub fn t_cdf(t: f64, df: f64) -> f64 {
    let tail = 0.5 * t_two_sided_p(t, df);
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The value that |T| exceeds with probability `alpha`.
pub fn t_critical(alpha: f64, df: f64) -> f64 {
    let y = inv_beta_reg(0.5 * df, 0.5, alpha);
    (df * (1.0 - y) / y).sqrt()
}

/// P(X >= x) of chi-squared.
pub fn chi_squared_upper(x: f64, df: f64) -> f64 {
    if x <= 0.0 { 1.0 } else { gamma_ur(0.5 * df, 0.5 * x) }
}

/// The value that chi-squared stays below with probability `share`.
pub fn chi_squared_quantile(share: f64, df: f64) -> f64 {
    let (mut low, mut high) = (0.0, df.max(1.0));
    while chi_squared_upper(high, df) > 1.0 - share {
        high *= 2.0;
    }
    while high - low > 1e-12 * high {
        let middle = 0.5 * (low + high);
        if chi_squared_upper(middle, df) > 1.0 - share { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// P(X <= successes) of `trials` independent trials.
pub fn binomial_cdf(successes: usize, trials: usize, share: f64) -> f64 {
    if successes >= trials {
        return 1.0;
    }
    let n = trials as f64;
    let ln_choose = |k: f64| ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
    let term = |k: f64| (ln_choose(k) + k * share.ln() + (n - k) * (-share).ln_1p()).exp();
    (0..=successes).map(|k| term(k as f64)).sum::<f64>().min(1.0)
}

/// `n` choose `k`, as a floating-point number.
pub(crate) fn choose(n: usize, k: usize) -> f64 {
    let k = k.min(n - k);
    (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(got: f64, expected: f64, what: &str) {
        let error = (got - expected).abs() / expected.abs().max(1e-300);
        assert!(error < 1e-9, "{what}: {got} for {expected}");
    }

    #[test]
    fn normal_agrees_with_reference_values() {
        assert_near(normal_quantile(0.975), 1.959963984540054, "97.5%");
        assert_near(normal_quantile(1e-6), -4.753424308822899, "1e-6");
        assert_near(normal_cdf(1.959963984540054), 0.975, "1.96");
        assert_eq!(normal_cdf(0.0), 0.5);
    }

    #[test]
    fn student_agrees_with_reference_values() {
        let critical = [
            (0.05, 1.0, 12.706204736174705),
            (0.05, 5.0, 2.5705818356363155),
            (0.05, 9.0, 2.2621571627982053),
            (0.0005, 5.0, 7.975653419040797),
            (0.0137, 11.0, 2.9296087917723),
            (0.0435, 17.0, 2.181222010015196),
            (0.05, 31.2, 2.038983684737313),
            (1e-6, 3.0, 130.15458955835794),
            (0.9, 4.0, 0.13383036711194346),
            (0.05, 2000.0, 1.9611508260994381),
        ];
        for (alpha, df, expected) in critical {
            assert_near(t_critical(alpha, df), expected, "critical t");
            assert_near(t_two_sided_p(expected, df), alpha, "p of the critical t");
        }
        assert_near(t_two_sided_p(23.0, 3.6), 4.883778985909857e-05, "p, df 3.6");
        assert_near(t_two_sided_p(-40.0, 17.0), 2.932011736867383e-18, "p far out");
        assert_near(t_cdf(-12.706204736174705, 1.0), 0.025, "lower tail");
        assert_near(t_cdf(12.706204736174705, 1.0), 0.975, "upper tail");
    }

    #[test]
    fn chi_squared_and_binomial_agree_with_reference_values() {
        assert_near(chi_squared_upper(3.84, 1.0), 0.05004352124870519, "df 1");
        assert_near(chi_squared_upper(10.0, 5.0), 0.07523524614651217, "df 5");
        assert_eq!(chi_squared_upper(0.0, 3.0), 1.0);
        assert_near(binomial_cdf(3, 20, 0.05), 0.9840984739802364, "3 of 20");
        assert_near(binomial_cdf(10, 100, 0.05), 0.9885275899325153, "10 of 100");
        assert_near(binomial_cdf(0, 6, 0.5), 0.015625, "0 of 6");
        assert_eq!(binomial_cdf(6, 6, 0.5), 1.0);
        assert_eq!(choose(10, 3), 120.0);
        assert_eq!(choose(18, 9), 48620.0);
    }
}
