use super::*;

fn failing(rows: &[SelfTestRow]) -> Vec<&SelfTestRow> {
    rows.iter().filter(|row| !row.passed).collect()
}

/// Each group of rows by itself, so that they run beside each other.
fn check(rows: Result<Vec<SelfTestRow>, StatsError>, at_least: usize) {
    let rows = rows.expect("valid settings");
    assert!(rows.len() >= at_least, "only {} rows", rows.len());
    assert!(failing(&rows).is_empty(), "{:#?}", failing(&rows));
}

/// Tolerances follow from the number of simulations, so that a short run is
/// blunter but no less honest.
const SHORT: SelfTest = SelfTest { simulations: 1_200, seed: 20 };

#[test]
fn published_figures_recompute() {
    check(published::rows(), 15);
}

#[test]
fn permutations_agree_with_enumeration() {
    check(exactness::rows(&SHORT), 3);
}

#[test]
fn intervals_cover() {
    check(coverage::rows(&SHORT), 10);
}

#[test]
fn nulls_are_kept() {
    check(null::rows(&SHORT), 29);
}

#[test]
fn group_sequential_looks_are_paid_for() {
    check(looks::group_sequential(&SHORT), 10);
}

#[test]
fn the_e_process_may_be_watched() {
    check(looks::e_process(&SHORT), 12);
}

#[test]
fn naive_looks_are_seen_to_fail() {
    check(looks::naive(&SHORT), 3);
}

#[test]
fn a_wrong_rate_fails_its_row() {
    let low = SelfTestRow::rate("coverage", 900, 1_000, (0.94, 0.96));
    assert!(!low.passed && low.measured == 0.9);
    assert!(SelfTestRow::rate("coverage", 925, 1_000, (0.94, 0.96)).passed);
    assert!(!SelfTestRow::rate("false alarm", 80, 1_000, (0.0, 0.05)).passed);
    assert!(!SelfTestRow::new("t", f64::NAN, 0.0, 1.0, 0.0).passed);
}

#[test]
fn the_same_seed_gives_the_same_table() {
    let brief = SelfTest { simulations: 40, seed: 3 };
    assert_eq!(brief.run(), brief.run());
    assert_eq!(SelfTest { simulations: 0, seed: 3 }.run(), Err(StatsError::Empty));
}
