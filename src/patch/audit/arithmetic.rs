//! Whether a printed change is the one its printed values give. Both are
//! rounded, so the check compares ranges; several conventions are in use.

use serde::{Deserialize, Serialize};

use crate::patch::claim::{Claim, Delta, Direction, Format, Wording};
use crate::patch::printed::Printed;

/// Differences up to this many points are common in the last digit.
const LAST_DIGIT: f64 = 0.15;
/// A range wider than this many points cannot check a percentage.
const COARSE: f64 = 10.0;

/// How printed and recomputed change relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArithmeticVerdict {
    /// Equal within the rounding of what was printed.
    Rounded,
    /// Cut after the last printed digit instead of rounded.
    Truncated,
    /// Off in the last digit, by at most 0.15 points.
    LastDigit,
    Mismatch,
    /// Equal but for the sign, where the metric's direction does not explain it.
    SignInverted,
    /// The values have too few digits to check it.
    TooCoarse,
    /// No change is printed; the recomputed one stands alone.
    NoDelta,
    NoValues,
}

/// What the printed number is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Convention {
    /// `(after - before) / before`.
    RawChange,
    /// The raw change with its sign turned, so that plus is better.
    PlusIsBetter,
    /// `(after - before) / after`.
    OverAfter,
    /// `before / after - 1`: how much faster.
    SpeedUp,
    /// A difference in the metric's own unit, or in points.
    Difference,
    /// A size without a sign; words give the direction.
    Unsigned,
}

/// The arithmetic of one claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arithmetic {
    pub verdict: ArithmeticVerdict,
    pub convention: Option<Convention>,
    /// The raw change in percent, `(after - before) / before`.
    pub recomputed: Option<f64>,
    /// The recomputed number in the convention used, to set beside the printed one.
    pub comparable: Option<f64>,
    /// The change as claimed, as a raw change in percent, for planning a run.
    pub claimed_raw: Option<f64>,
}

/// Recomputes a claim.
pub fn check(claim: &Claim) -> Arithmetic {
    let values = claim.before.as_ref().zip(claim.after.as_ref());
    let Some((before, after)) = values.map(|(b, a)| (b.value, a.value)) else {
        return Arithmetic {
            verdict: ArithmeticVerdict::NoValues,
            convention: None,
            recomputed: None,
            comparable: None,
            claimed_raw: claimed_without_values(claim),
        };
    };
    let recomputed = (before.value != 0.0).then(|| 100.0 * (after.value / before.value - 1.0));
    let mut result = match &claim.delta {
        Delta::Percent { change } => percent(claim, *change, before, after),
        Delta::Difference { change } => difference(*change, before, after),
        Delta::Interval { low, high } => interval(*low, *high, before, after),
        Delta::Factor { factor } => {
            let ratio = after.value / before.value;
            let fits = (ratio - factor.value).abs() <= 2.0 * factor.half_step;
            let verdict = if fits { ArithmeticVerdict::Rounded } else { ArithmeticVerdict::Mismatch };
            answer(verdict, None, Some(ratio))
        }
        Delta::Null { .. } | Delta::Missing => answer(ArithmeticVerdict::NoDelta, None, None),
    };
    result.recomputed = recomputed.filter(|r| r.is_finite());
    result.comparable = result.comparable.filter(|r| r.is_finite());
    result.claimed_raw = claimed_raw(claim, &result).or(result.recomputed);
    result
}

fn answer(verdict: ArithmeticVerdict, convention: Option<Convention>, comparable: Option<f64>) -> Arithmetic {
    Arithmetic { verdict, convention, recomputed: None, comparable, claimed_raw: None }
}

/// A function of before and after over the ranges their rounding leaves.
fn range(before: Printed, after: Printed, of: impl Fn(f64, f64) -> f64) -> (f64, f64) {
    let mut low = f64::INFINITY;
    let mut high = f64::NEG_INFINITY;
    for b in [before.value - before.half_step, before.value + before.half_step] {
        for a in [after.value - after.half_step, after.value + after.half_step] {
            let value = of(b, a);
            low = low.min(value);
            high = high.max(value);
        }
    }
    (low, high)
}

fn contains(range: (f64, f64), value: f64, slack: f64) -> bool {
    let slack = slack * (1.0 + 1e-9) + 1e-9 * value.abs();
    value >= range.0 - slack && value <= range.1 + slack
}

fn percent(claim: &Claim, change: Printed, before: Printed, after: Printed) -> Arithmetic {
    let raw = |b: f64, a: f64| 100.0 * (a / b - 1.0);
    let raw_range = range(before, after, raw);
    let unclear =
        before.value.abs() <= before.half_step || !raw_range.0.is_finite() || !raw_range.1.is_finite();
    let point = raw(before.value, after.value);
    let relative_step = raw_range.1 - raw_range.0;
    if unclear || relative_step > COARSE.max(point.abs() * 0.25) {
        return answer(ArithmeticVerdict::TooCoarse, Some(Convention::RawChange), Some(point));
    }
    let conventions = conventions(claim, change);
    // The rarer denominators count only when they fit exactly.
    let usual = |c: Convention| !matches!(c, Convention::OverAfter | Convention::SpeedUp);
    for truncated in [false, true] {
        for (convention, of) in &conventions {
            let point = of(before.value, after.value);
            if !truncated && contains(range(before, after, of), change.value, change.half_step) {
                return answer(ArithmeticVerdict::Rounded, Some(*convention), Some(point));
            }
            if truncated && usual(*convention) && is_truncation(point, change) {
                return answer(ArithmeticVerdict::Truncated, Some(*convention), Some(point));
            }
        }
    }
    let tolerance = LAST_DIGIT.max(3.0 * change.half_step);
    for (convention, of) in conventions.iter().filter(|(c, _)| usual(*c)) {
        let point = of(before.value, after.value);
        if (point - change.value).abs() <= tolerance {
            return answer(ArithmeticVerdict::LastDigit, Some(*convention), Some(point));
        }
    }
    if point.abs() > tolerance && (point + change.value).abs() <= tolerance {
        return answer(ArithmeticVerdict::SignInverted, Some(Convention::RawChange), Some(point));
    }
    let (convention, of) = &conventions[0];
    answer(ArithmeticVerdict::Mismatch, Some(*convention), Some(of(before.value, after.value)))
}

/// A convention with its formula of before and after.
type Formula = (Convention, fn(f64, f64) -> f64);

/// The conventions a printed percentage may follow, the likeliest first.
fn conventions(claim: &Claim, change: Printed) -> Vec<Formula> {
    let raw: Formula = (Convention::RawChange, |b, a| 100.0 * (a / b - 1.0));
    let better: Formula = (Convention::PlusIsBetter, |b, a| 100.0 * (1.0 - a / b));
    let over_after: Formula = (Convention::OverAfter, |b, a| 100.0 * (1.0 - b / a));
    let speed_up: Formula = (Convention::SpeedUp, |b, a| 100.0 * (b / a - 1.0));
    let unsigned: Formula = (Convention::Unsigned, |b, a| 100.0 * (a / b - 1.0).abs());
    let lower = claim.metric.direction == Direction::LowerIsBetter;
    let plus_is_better = matches!(claim.format, Format::Mmtests | Format::Improvement);
    let mut found = if lower && plus_is_better {
        vec![better, raw]
    } else if lower {
        vec![raw, better]
    } else {
        vec![raw]
    };
    if change.sign.is_none() {
        found.push(unsigned);
    }
    if lower {
        found.push(speed_up);
    }
    found.push(over_after);
    found
}

fn is_truncation(point: f64, change: Printed) -> bool {
    let scale = 10f64.powi(i32::from(change.decimals));
    let cut = (point * scale).trunc() / scale;
    (cut - change.value).abs() <= 0.02 * change.half_step && change.value.signum() == point.signum()
}

fn difference(change: Printed, before: Printed, after: Printed) -> Arithmetic {
    let point = after.value - before.value;
    let fits = contains(range(before, after, |b, a| a - b), change.value, change.half_step);
    let verdict = if fits {
        ArithmeticVerdict::Rounded
    } else if (point + change.value).abs() <= change.half_step + before.half_step + after.half_step {
        ArithmeticVerdict::SignInverted
    } else {
        ArithmeticVerdict::Mismatch
    };
    answer(verdict, Some(Convention::Difference), Some(point))
}

fn interval(low: Printed, high: Printed, before: Printed, after: Printed) -> Arithmetic {
    let point = 100.0 * (after.value / before.value - 1.0);
    let inside = point >= low.value - low.half_step && point <= high.value + high.half_step;
    let verdict = if inside { ArithmeticVerdict::Rounded } else { ArithmeticVerdict::Mismatch };
    answer(verdict, Some(Convention::RawChange), Some(point))
}

/// The printed change as a raw change in percent.
fn claimed_raw(claim: &Claim, arithmetic: &Arithmetic) -> Option<f64> {
    let Delta::Percent { change } = &claim.delta else { return None };
    match arithmetic.convention? {
        Convention::RawChange => Some(change.value),
        Convention::PlusIsBetter => Some(-change.value),
        _ => None,
    }
}

/// Without values only words and direction give the sign.
fn claimed_without_values(claim: &Claim) -> Option<f64> {
    let size = match &claim.delta {
        Delta::Percent { change } => change.value,
        Delta::Interval { low, high } => (low.value + high.value) / 2.0,
        Delta::Null { .. } => return Some(0.0),
        _ => return None,
    };
    let signed = matches!(&claim.delta, Delta::Percent { change } if change.sign.is_some());
    let lower = claim.metric.direction == Direction::LowerIsBetter;
    let down = match claim.wording? {
        Wording::Better => lower,
        Wording::Worse => !lower,
        Wording::Down => true,
        Wording::Up | Wording::Unchanged => false,
    };
    if signed {
        return Some(size);
    }
    Some(if down { -size.abs() } else { size.abs() })
}
