//! Whether a node's clock agrees with that of the submitting host.

use jiff::Timestamp;

/// A batch system's authentication bears minutes; so much shows no fault yet.
const TOLERANCE_SECONDS: i64 = 5;

/// How far a clock is off at least: what it showed must lie between two moments here.
pub(super) fn skew_seconds(shown: Timestamp, earliest: Timestamp, latest: Timestamp) -> i64 {
    let off = if shown < earliest {
        shown.as_second() - earliest.as_second()
    } else if shown > latest {
        shown.as_second() - latest.as_second()
    } else {
        0
    };
    if off.abs() > TOLERANCE_SECONDS { off } else { 0 }
}

/// The sentence for reports.
pub(super) fn skew_text(node: &str, seconds: i64) -> Option<String> {
    let way = if seconds > 0 { "ahead of" } else { "behind" };
    (seconds != 0).then(|| {
        format!(
            "the clock of {node} is at least {} s {way} that of the submitting host: times of its records do not compare with those of others; set it (chrony)",
            seconds.abs()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_off_only_when_it_must_be() {
        let at = |s: i64| Timestamp::from_second(1_000_000 + s).expect("in range");
        assert_eq!(skew_seconds(at(50), at(0), at(100)), 0);
        assert_eq!(skew_seconds(at(-4), at(0), at(100)), 0);
        assert_eq!(skew_seconds(at(-90), at(0), at(100)), -90);
        assert_eq!(skew_seconds(at(160), at(0), at(100)), 60);
        assert_eq!(skew_text("n", 0), None);
        assert!(skew_text("n", -90).expect("off").contains("90 s behind"));
    }
}
