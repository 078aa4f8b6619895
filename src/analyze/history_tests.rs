//! Histories of invented campaigns on several hosts.

use super::*;
use crate::analyze::analyze;
use crate::analyze::fixture::{EXPERIMENT, campaign, noisy};

fn campaigns(count: u32, effect: impl Fn(u32) -> f64) -> Vec<CampaignAnalysis> {
    let results = tempfile::tempdir().expect("a folder");
    (0..count)
        .map(|i| {
            let value = |block: u32, position: u32, arm: &str| {
                let factor = if arm == "b" { effect(i) } else { 1.0 };
                Some(noisy(1000.0 + f64::from(i), factor, 0.004, (block + 100 * i, position)))
            };
            let folder = campaign(results.path(), &format!("c{i}"), EXPERIMENT, &value);
            let mut manifest = folder.manifest().expect("read");
            manifest.host = format!("Host {i}");
            manifest.kernel.release = format!("9.{i}.0");
            manifest.created = jiff::Timestamp::from_second(1_700_000_000 - i64::from(i)).expect("in range");
            folder.write_manifest(&manifest).expect("written");
            analyze(&folder).expect("analysed")
        })
        .collect()
}

#[test]
fn hosts_that_agree_are_pooled() {
    let all = history(&campaigns(3, |_| 1.03));
    assert_eq!(all.len(), 1);
    let pooled = &all[0].pooled[0];
    assert_eq!((pooled.hosts, pooled.arm.as_str()), (3, "b"));
    assert!(pooled.interval.0.0 < 3.0 && 3.0 < pooled.interval.1.0, "{pooled:?}");
    assert!(pooled.heterogeneity_p > 0.01);
    let order: Vec<&str> = all[0].changes.iter().map(|c| c.campaign.as_str()).collect();
    assert_eq!(order, ["c2", "c1", "c0"], "in the order of time");
    assert!(
        all[0].differences.iter().any(|d| d.starts_with("host: Host 0; Host 1")),
        "{:?}",
        all[0].differences
    );
}

#[test]
fn hosts_that_disagree_widen_the_interval() {
    let all = history(&campaigns(3, |i| [0.97, 1.0, 1.05][i as usize]));
    let pooled = &all[0].pooled[0];
    assert!(pooled.heterogeneity_p < 1e-4 && pooled.i_squared > 0.9, "{pooled:?}");
    assert!(pooled.interval.0.0 < 0.0 && 0.0 < pooled.interval.1.0, "{pooled:?}");
}

#[test]
fn one_campaign_has_no_history_and_outliers_are_kept() {
    assert!(history(&campaigns(1, |_| 1.0)).is_empty());
    let mut analyses = campaigns(6, |_| 1.0);
    let far = analyses[2].comparisons.iter_mut().find(|c| c.primary).expect("primary");
    if let Some(summary) = &mut far.baseline.summary {
        summary.mean *= 1.5;
    }
    let all = history(&analyses);
    let marked: Vec<&str> = all[0].points.iter().filter(|p| p.outlier).map(|p| p.campaign.as_str()).collect();
    assert_eq!(marked, ["c2"]);
    assert_eq!(all[0].points.len(), 18);
}
