//! The forecast made before the first trial, against what was measured.

use serde::{Deserialize, Serialize};

use super::comparison::Comparison;
use crate::config::ArmRole;
use crate::predict::ForecastRecord;
use crate::store::{CampaignFolder, StoreError, TrialRecord, read_json};
use crate::units::Percent;

/// Name of the file in a campaign's folder.
pub const FORECAST_FILE: &str = "forecast.json";

/// A forecast and how the measurement agrees with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForecastCheck {
    pub record: ForecastRecord,
    /// Why it does not count as made before the measurement.
    pub doubt: Option<String>,
    /// The raw change measured here, and its interval.
    pub measured: Option<Percent>,
    pub interval: Option<(Percent, Percent)>,
    /// Whether the measured change lies inside the forecast's 90% interval.
    pub inside: Option<bool>,
    /// Absent when one of the two cannot be told from zero.
    pub same_sign: Option<bool>,
    /// Measured over forecast, where the forecast is not near zero.
    pub ratio: Option<f64>,
}

/// Below this a ratio of two changes says nothing.
const NEAR_ZERO: f64 = 0.05;

/// Reads the campaign's forecast, if it has one, and holds the measurement against it.
pub(super) fn check(
    folder: &CampaignFolder,
    records: &[TrialRecord],
    comparisons: &[Comparison],
) -> Result<Option<ForecastCheck>, StoreError> {
    let path = folder.path().join(FORECAST_FILE);
    if !path.is_file() {
        return Ok(None);
    }
    let record: ForecastRecord = read_json(&path, "forecast")?;
    Ok(Some(compare(record, records.iter().map(|r| r.started).min(), comparisons)))
}

fn compare(
    record: ForecastRecord,
    first_trial: Option<jiff::Timestamp>,
    comparisons: &[Comparison],
) -> ForecastCheck {
    let doubt = if !record.is_intact() {
        Some("its text is not the one that its hash was made of".to_owned())
    } else if first_trial.is_some_and(|first| first < record.made) {
        Some("it is younger than the first trial".to_owned())
    } else {
        None
    };
    let mut check = ForecastCheck {
        record,
        doubt,
        measured: None,
        interval: None,
        inside: None,
        same_sign: None,
        ratio: None,
    };
    let Some(here) = check.record.forecasts.here.clone().filter(|_| !check.record.forecasts.same_kernel)
    else {
        return check;
    };
    let wanted = |c: &&Comparison| c.role == ArmRole::Candidate && c.metric.id.as_str() == here.metric;
    let Some(comparison) = comparisons.iter().find(wanted) else { return check };
    let Some(result) = &comparison.result else { return check };
    let measured = comparison.raw_change(result.estimate);
    check.measured = Some(measured);
    check.interval = result.interval.map(|(low, high)| {
        let (a, b) = (comparison.raw_change(low), comparison.raw_change(high));
        if a.0 <= b.0 { (a, b) } else { (b, a) }
    });
    check.inside = Some(here.low <= measured.0 && measured.0 <= here.high);
    let measured_apart = check.interval.is_some_and(|(low, high)| low.0 * high.0 > 0.0);
    let forecast_apart = here.low * here.high > 0.0;
    check.same_sign = (measured_apart && forecast_apart).then_some(measured.0 * here.median > 0.0);
    check.ratio = (here.median.abs() >= NEAR_ZERO).then_some(measured.0 / here.median);
    check
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::Forecasts;

    fn record() -> ForecastRecord {
        let text = include_str!("../../tests/fixtures/forecast/forecasts.json");
        let forecasts: Forecasts = serde_json::from_str(text).expect("a fixture");
        let profile = crate::predict::shipped("epyc-7k62").expect("shipped").expect("valid");
        ForecastRecord::new(forecasts, &profile, "2026-01-01T10:00:00Z".parse().expect("a time"))
    }

    #[test]
    fn a_changed_or_late_forecast_is_doubted() {
        let before = Some("2026-01-01T11:00:00Z".parse().expect("a time"));
        assert_eq!(compare(record(), before, &[]).doubt, None);
        let late = Some("2026-01-01T09:00:00Z".parse().expect("a time"));
        assert!(compare(record(), late, &[]).doubt.expect("late").contains("younger"));
        let mut changed = record();
        changed.forecasts.here.as_mut().expect("a forecast").median += 1.0;
        assert!(compare(changed, before, &[]).doubt.expect("changed").contains("hash"));
    }
}
