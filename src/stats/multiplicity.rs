//! Many metrics at once: adjusted p-values, and how many false hits an A/A
//! comparison may show.

use super::error::{StatsError, check_share};
use super::quantile::binomial_cdf;

/// Holm's step-down adjustment: compare with the family-wise error rate. For
/// the primary metrics.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    let order = ascending(p_values)?;
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (place, index) in order.iter().enumerate() {
        let remaining = (p_values.len() - place) as f64;
        largest = largest.max(remaining * p_values[*index]).min(1.0);
        adjusted[*index] = largest;
    }
    Ok(adjusted)
}

/// Benjamini and Hochberg's adjustment: compare with the false discovery rate.
/// For exploratory metrics that are independent or rise together.
pub fn benjamini_hochberg(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    step_up(p_values, 1.0)
}

/// Benjamini and Yekutieli's adjustment, which holds under any dependence.
pub fn benjamini_yekutieli(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    let harmonic = (1..=p_values.len()).map(|i| 1.0 / i as f64).sum();
    step_up(p_values, harmonic)
}

fn step_up(p_values: &[f64], factor: f64) -> Result<Vec<f64>, StatsError> {
    let order = ascending(p_values)?;
    let mut adjusted = vec![1.0; p_values.len()];
    let mut smallest = 1.0_f64;
    for (place, index) in order.iter().enumerate().rev() {
        let rank = (place + 1) as f64;
        smallest = smallest.min(factor * p_values.len() as f64 / rank * p_values[*index]);
        adjusted[*index] = smallest;
    }
    Ok(adjusted)
}

/// Indices from the smallest p to the largest; refuses what is not a probability.
fn ascending(p_values: &[f64]) -> Result<Vec<usize>, StatsError> {
    if let Some(wrong) = p_values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(StatsError::Level { what: "a p-value", value: *wrong });
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    Ok(order)
}

/// The most hits that `comparisons` of an arm with itself may show at error
/// rate `alpha`; more, with a chance below `1 - level`, mean that the error
/// model is wrong.
pub fn null_hits_allowed(comparisons: usize, alpha: f64, level: f64) -> Result<usize, StatsError> {
    check_share("alpha", alpha)?;
    check_share("the level", level)?;
    Ok((0..comparisons).find(|hits| binomial_cdf(*hits, comparisons, alpha) >= level).unwrap_or(comparisons))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rounded(values: Vec<f64>) -> Vec<f64> {
        values.into_iter().map(|v| (v * 1e6).round() / 1e6).collect()
    }

    #[test]
    fn adjustments_of_a_known_family() {
        let p = [0.01, 0.04, 0.03, 0.005];
        assert_eq!(rounded(holm(&p).expect("p")), [0.03, 0.06, 0.06, 0.02]);
        assert_eq!(rounded(benjamini_hochberg(&p).expect("p")), [0.02, 0.04, 0.04, 0.02]);
        // The harmonic sum of four is 25/12.
        assert_eq!(rounded(benjamini_yekutieli(&p).expect("p")), [0.041667, 0.083333, 0.083333, 0.041667]);
    }

    #[test]
    fn the_1995_example_rejects_four_of_fifteen() {
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0,
        ];
        let discoveries = benjamini_hochberg(&p).expect("p").iter().filter(|q| **q <= 0.05).count();
        let family_wise = holm(&p).expect("p").iter().filter(|q| **q <= 0.05).count();
        assert_eq!((discoveries, family_wise), (4, 3));
    }

    #[test]
    fn hits_that_an_arm_against_itself_may_show() {
        let allowed = [20, 50, 100].map(|k| null_hits_allowed(k, 0.05, 0.975).expect("valid"));
        assert_eq!(allowed, [3, 6, 10]);
        assert_eq!(null_hits_allowed(0, 0.05, 0.975), Ok(0));
    }

    #[test]
    fn empty_families_pass_and_wrong_values_do_not() {
        assert_eq!(holm(&[]), Ok(vec![]));
        assert!(holm(&[0.1, 1.1]).is_err() && benjamini_hochberg(&[f64::NAN]).is_err());
    }

    proptest! {
        #[test]
        fn adjustment_keeps_order_and_never_shrinks(p in prop::collection::vec(0.0_f64..=1.0, 1..30)) {
            let (holm, hochberg, any) =
                (holm(&p).unwrap(), benjamini_hochberg(&p).unwrap(), benjamini_yekutieli(&p).unwrap());
            for i in 0..p.len() {
                prop_assert!(p[i] <= hochberg[i] + 1e-15);
                prop_assert!(hochberg[i] <= holm[i] + 1e-12 && hochberg[i] <= any[i] + 1e-15);
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || holm[i] <= holm[j] && hochberg[i] <= hochberg[j]);
                }
            }
        }
    }
}
