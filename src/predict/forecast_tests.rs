use std::path::Path;

use super::*;
use crate::model::flag::Flag;
use crate::predict::hosts;

fn epyc() -> Profile {
    hosts::shipped("epyc-7k62").expect("a shipped profile").expect("valid")
}

fn small() -> Effort {
    Effort { limit: 2048, messages: 1500, seed: 1 }
}

fn change(name: &str, flags: &[Flag], profile: &Profile) -> Forecast {
    let case = Case::named(name, &profile.machine).expect("a named workload");
    forecast(&case, flags.iter().copied().collect(), profile, small()).expect("a forecast")
}

#[test]
fn half_the_cost_of_a_miss_moves_the_prefetch_forecast() {
    let profile = epyc();
    let text = profile.to_toml();
    let entry = profile.entry(Parameter::Miss);
    let halved = {
        let file = toml::from_str::<toml::Table>(&text).expect("toml");
        let mut file = file;
        let miss = file["parameter"]["c_miss"].as_table_mut().expect("an entry");
        for (key, value) in [("low", entry.low), ("median", entry.median), ("high", entry.high)] {
            miss.insert(key.to_owned(), toml::Value::Float(value / 4.0));
        }
        Profile::parse(Path::new("halved.toml"), &toml::to_string(&file).expect("toml")).expect("valid")
    };
    let whole = change("fio", &[Flag::NextFolioPrefetch], &profile);
    let half = change("fio", &[Flag::NextFolioPrefetch], &halved);
    assert!(whole.median > 0.0, "{whole:?}");
    assert!((whole.median - half.median).abs() > 0.05 * whole.median, "{} {}", whole.median, half.median);
    assert_eq!(whole.reasons[0].cost, "c_miss");
}

#[test]
fn the_same_seed_gives_the_same_forecast() {
    let profile = epyc();
    let one = change("fio", &[Flag::NextFolioPrefetch], &profile);
    assert_eq!(one, change("fio", &[Flag::NextFolioPrefetch], &profile));
}

#[test]
fn a_patch_that_changes_nothing_changes_nothing() {
    let profile = epyc();
    // A swapless page-allocator patch does not touch the reads of a file.
    let none = change("fio", &[Flag::PcpFreeCount], &profile);
    assert_eq!((none.low, none.median, none.high), (0.0, 0.0, 0.0));
    assert!(none.reasons.is_empty() && none.weakest.is_none());
}

#[test]
fn a_write_more_on_the_shared_line_costs_and_the_fix_brings_it_back() {
    let profile = hosts::shipped("skylake-2s-104t").expect("shipped").expect("valid");
    let posted = change("pread2", &[Flag::WorkingsetProtectionPosted], &profile);
    assert!(posted.high < 0.0 && posted.bound_before == "the folio's line", "{posted:?}");
    let fix = change("pread2", &[Flag::TestBeforeSet], &profile);
    assert!(fix.low > 0.0 && fix.base == ["workingset-protection-posted"], "{fix:?}");
    let merged = change("pread2", &[Flag::WorkingsetProtectionMerged], &profile);
    assert_eq!(merged.median, 0.0);
}

#[test]
fn active_anon_falls_as_posted_and_not_as_merged() {
    let profile = hosts::shipped("skylake-2s-104t").expect("shipped").expect("valid");
    let posted = change("active-anon", &[Flag::WorkingsetProtectionPosted], &profile);
    assert!(posted.high < -20.0, "{posted:?}");
    let merged = change("active-anon", &[Flag::WorkingsetProtectionMerged], &profile);
    assert_eq!((merged.low, merged.high), (0.0, 0.0));
}

#[test]
fn a_baseline_beyond_the_locks_is_a_contradiction() {
    let profile = epyc();
    let case = Case::named("fio", &profile.machine).expect("named");
    let case = case.anchored("fio.read_iops", 1e12);
    let flags = Flags::NONE.with(Flag::NextFolioPrefetch);
    let error = forecast(&case, flags, &profile, small()).expect_err("impossible");
    assert!(error.to_string().contains("more than the model's locks allow"), "{error}");
}

#[test]
fn ranks_and_correlations() {
    assert_eq!(ranks(&[3.0, 1.0, 2.0]), [2.0, 0.0, 1.0]);
    assert!((correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]) - 1.0).abs() < 1e-12);
    assert!((correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
}
