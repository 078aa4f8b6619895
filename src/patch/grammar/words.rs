//! The words a sentence about results is made of.

use crate::patch::claim::Wording;

const BETTER: &[&str] =
    &["improv", "faster", "better", "gain", "speedup", "speed-up", "speeds", "win", "boost", "benefit"];
const WORSE: &[&str] =
    &["regress", "degrad", "slower", "worse", "slowdown", "slow-down", "slows", "hurt", "loss", "penalty"];
const UP: &[&str] = &["increas", "higher", "rise", "rises", "grow", "grew", "raises", "raised", "more"];
const DOWN: &[&str] = &[
    "decreas", "reduc", "drop", "declin", "lower", "less", "fewer", "cut", "cuts", "shrink", "shrank",
    "saves", "saving", "down",
];
/// Nouns that name what was measured.
const NOUNS: &[&str] = &[
    "throughput",
    "bandwidth",
    "performance",
    "latency",
    "time",
    "iops",
    "qps",
    "tps",
    "rps",
    "ops",
    "ops/sec",
    "ops/s",
    "score",
    "contention",
    "overhead",
    "usage",
    "cost",
    "faults",
    "refaults",
    "swapin",
    "swapout",
    "runtime",
    "duration",
    "requests",
    "transactions",
    "utilization",
    "cycles",
    "footprint",
    "rate",
    "ratio",
    "speed",
    "wait",
    "stall",
    "stalls",
    "misses",
    "percentage",
    "tail",
    "build",
];
/// Phrases that say nothing changed.
const NULL: &[&str] = &[
    "no change",
    "no regression",
    "no difference",
    "any difference",
    "any regression",
    "any change in performance",
    "stays the same",
    "stay the same",
    "stays almost the same",
    "stay almost the same",
    "remains the same",
    "remain the same",
    "almost identical",
    "nearly identical",
    "is identical",
    "are identical",
    "no significant",
    "no measurable",
    "no noticeable",
    "no obvious",
    "no visible",
    "no performance change",
    "no performance difference",
    "no performance regression",
    "within noise",
    "within the noise",
    "unchanged",
    "not significant",
    "same performance",
    "no impact",
    "no degradation",
    "almost the same",
    "basically the same",
    "on par",
];

/// How a word qualifies a change.
pub(crate) fn wording(word: &str) -> Option<Wording> {
    let lower = word.to_lowercase();
    let starts = |list: &[&str]| list.iter().any(|stem| stem_matches(&lower, stem));
    if starts(BETTER) {
        Some(Wording::Better)
    } else if starts(WORSE) {
        Some(Wording::Worse)
    } else if starts(UP) {
        Some(Wording::Up)
    } else if starts(DOWN) {
        Some(Wording::Down)
    } else {
        None
    }
}

/// Long stems match their endings; short words match whole, or with a plural `s`.
fn stem_matches(word: &str, stem: &str) -> bool {
    match word.strip_prefix(stem) {
        Some("" | "s") => true,
        Some(ending) => {
            stem.len() >= 5 && ending.len() <= 5 && ending.bytes().all(|b| b.is_ascii_lowercase())
        }
        None => false,
    }
}

/// Whether a word names what was measured.
pub(crate) fn is_noun(word: &str) -> bool {
    let lower = word.to_lowercase();
    NOUNS.contains(&lower.as_str())
}

/// The phrase of a sentence in lower case that says nothing changed.
pub(crate) fn null_phrase(sentence: &str) -> Option<&'static str> {
    if sentence.contains("functional change") || sentence.contains("no change in v") {
        return None;
    }
    NULL.iter().find(|phrase| sentence.contains(**phrase)).copied()
}
