//! A forecast in words.

use super::forecast::{Forecast, Reason};

/// `+4.5%`.
pub fn percent(value: f64) -> String {
    let digits = if value.abs() < 0.995 { 2 } else { 1 };
    // No sign for what rounds to nothing.
    if value.abs() < 0.005 { "0%".to_owned() } else { format!("{value:+.digits$}%") }
}

/// `+4.5% [+1.2%, +9.8%]`.
pub fn change(forecast: &Forecast) -> String {
    format!("{} [{}, {}]", percent(forecast.median), percent(forecast.low), percent(forecast.high))
}

/// What moved, the strongest first.
pub fn reason(reason: &Reason) -> String {
    format!(
        "{}, {}: {:.1} to {:.1} ns an operation",
        reason.station, reason.cost, reason.before, reason.after
    )
}

/// The whole forecast, a few lines.
pub fn describe(forecast: &Forecast) -> String {
    let mut text = format!(
        "{} on {} ({}): {} forecast, 90% interval\n",
        forecast.metric,
        forecast.machine,
        forecast.workload,
        change(forecast)
    );
    text += &format!("  patches  {}", forecast.patches.join(", "));
    if !forecast.base.is_empty() {
        text += &format!(" on top of {}", forecast.base.join(", "));
    }
    text += &format!("\n  bound    {}", forecast.bound_before);
    if forecast.bound_after != forecast.bound_before {
        text += &format!(", with the patch {}", forecast.bound_after);
    }
    text += &format!("; the busiest lock is in use {:.0}% of the time\n", 100.0 * forecast.utilisation);
    for one in &forecast.reasons {
        text += &format!("  moved    {}\n", reason(one));
    }
    if forecast.reasons.is_empty() {
        text += "  moved    no cost\n";
    }
    if let Some(weakest) = &forecast.weakest {
        text += &format!(
            "  weakest  {} ({:?}): rank correlation {:+.2} with the forecast\n",
            weakest.cost, weakest.basis, weakest.correlation
        )
        .to_lowercase();
    }
    for note in &forecast.notes {
        text += &format!("  note     {note}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_keep_what_can_be_seen() {
        assert_eq!(percent(4.53), "+4.5%");
        assert_eq!(percent(-0.123), "-0.12%");
        assert_eq!(percent(0.001), "0%");
    }
}
