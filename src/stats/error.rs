//! Why a set of numbers cannot be analysed.

use thiserror::Error;

/// An input that has no honest answer.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StatsError {
    /// Nothing was measured.
    #[error(
        "there is no value at all, so nothing can be estimated; check that at least one trial of this metric is valid"
    )]
    Empty,
    /// A spread needs more than one value.
    #[error(
        "{have} {what} where at least {need} are needed: the spread cannot be estimated from fewer; run more of them"
    )]
    TooFew { what: &'static str, have: usize, need: usize },
    /// Infinite or not a number.
    #[error(
        "value {index} is {value}, not a finite number, and would spoil every result it enters; mark its trial invalid"
    )]
    NotFinite { index: usize, value: f64 },
    /// Logarithms need positive values.
    #[error(
        "value {index} is {value}: a ratio needs values above zero, so this metric has no log scale here; compare plain differences of it, or drop it from the aggregates"
    )]
    NotPositive { index: usize, value: f64 },
    /// A level, an error rate or a probability outside its range.
    #[error("{what} is {value}, which is not between 0 and 1; write it as a share, such as 0.95")]
    Level { what: &'static str, value: f64 },
    /// A spread, margin or effect that must be positive.
    #[error(
        "{what} is {value}; it must be a finite number above zero, for otherwise every effect is resolved"
    )]
    NotAboveZero { what: &'static str, value: f64 },
    /// Two lists that belong together differ in length.
    #[error("{left} values stand beside {right}: both lists must describe the same trials in the same order")]
    UnequalLengths { left: usize, right: usize },
    /// No sample size within reason is enough.
    #[error(
        "more than {limit} {what} would be needed to see this effect in this noise; reduce the noise or aim at a larger effect"
    )]
    OutOfReach { what: &'static str, limit: usize },
}

/// Refuses an empty list and any value that is not finite.
pub(crate) fn check_finite(values: &[f64]) -> Result<(), StatsError> {
    if values.is_empty() {
        return Err(StatsError::Empty);
    }
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(StatsError::NotFinite { index, value: values[index] }),
        None => Ok(()),
    }
}

/// Refuses a share that is not strictly between 0 and 1.
pub(crate) fn check_share(what: &'static str, value: f64) -> Result<(), StatsError> {
    if value > 0.0 && value < 1.0 { Ok(()) } else { Err(StatsError::Level { what, value }) }
}

/// Refuses zero, negative, infinite and undefined quantities.
pub(crate) fn check_above_zero(what: &'static str, value: f64) -> Result<(), StatsError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(StatsError::NotAboveZero { what, value }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_value_and_the_remedy() {
        let infinite = check_finite(&[1.0, f64::INFINITY]).expect_err("an infinite value");
        assert_eq!(infinite, StatsError::NotFinite { index: 1, value: f64::INFINITY });
        assert!(infinite.to_string().contains("mark its trial invalid"));
        assert_eq!(check_finite(&[]), Err(StatsError::Empty));
        assert!(check_finite(&[f64::NAN]).is_err());
        assert!(check_share("the level", 1.0).is_err());
        assert!(check_share("the level", f64::NAN).is_err());
        assert!(check_above_zero("the margin", -0.1).is_err());
        assert!(check_above_zero("the margin", f64::NAN).is_err());
    }
}
