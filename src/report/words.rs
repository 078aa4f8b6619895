//! The sentences that all reports share.

use super::number::{p_value, share};
use crate::analyze::{
    CampaignAnalysis, ClaimCheck, Comparison, FleetComparison, ForecastCheck, HostVerdict, IntervalKind,
    Verdict, detectable,
};
use crate::config::ArmRole;
use crate::metric::Direction;
use crate::predict::{self, Forecast};
use crate::units::Percent;

/// A relative change with sign, at a precision that suits its size.
pub fn change(percent: Percent) -> String {
    if percent.0.abs() < 0.005 {
        return "0.00%".to_owned();
    }
    let decimals = decimals(percent.0.abs());
    format!("{percent:.decimals$}")
}

fn decimals(size: f64) -> usize {
    match size {
        size if size >= 100.0 => 0,
        size if size >= 20.0 => 1,
        _ => 2,
    }
}

/// `[-0.31%, +2.40%]`.
pub fn interval((low, high): (Percent, Percent)) -> String {
    // One precision for both ends.
    let decimals = decimals(low.0.abs().max(high.0.abs()));
    format!("[{low:.decimals$}, {high:.decimals$}]")
}

/// The raw change of the metric and its interval, in ascending order.
pub fn raw(comparison: &Comparison) -> Option<(Percent, Option<(Percent, Percent)>)> {
    let result = comparison.result.as_ref()?;
    let interval = result.interval.map(|(low, high)| {
        let (a, b) = (comparison.raw_change(low), comparison.raw_change(high));
        if a.0 <= b.0 { (a, b) } else { (b, a) }
    });
    Some((comparison.raw_change(result.estimate), interval))
}

/// The verdict as a sentence: `operations per second of after: better by 2.1%`.
pub fn headline(comparison: &Comparison) -> String {
    let name = &comparison.metric.id;
    let arms = format!("{} against {}", comparison.candidate.arm, comparison.baseline.arm);
    let Some((raw, _)) = raw(comparison) else {
        return format!("{arms}: no answer on {name}");
    };
    let size = change(raw);
    match comparison.verdict {
        Verdict::Better => format!("{arms}: {name} changes by {size}, which is better"),
        Verdict::Worse => format!("{arms}: {name} changes by {size}, which is worse"),
        Verdict::Equivalent => format!("{arms}: {name} is equivalent ({size})"),
        Verdict::Unresolved => format!("{arms}: {name} is not resolved ({size})"),
        Verdict::Invalid => format!("{arms}: no answer on {name}"),
    }
}

/// The short form for titles: `after is 2.1% better`.
pub fn finding(comparison: &Comparison) -> String {
    let arm = &comparison.candidate.arm;
    let Some((raw, _)) = raw(comparison) else { return format!("{arm}: no answer") };
    let size = change(raw);
    match comparison.verdict {
        Verdict::Better => format!("{arm} is better: {size}"),
        Verdict::Worse => format!("{arm} is worse: {size}"),
        Verdict::Equivalent => format!("{arm} is equivalent: {size}"),
        Verdict::Unresolved => format!("{arm} is not resolved: {size}"),
        Verdict::Invalid => format!("{arm}: no answer"),
    }
}

/// One word for tables.
pub fn verdict(comparison: &Comparison) -> &'static str {
    match (comparison.role, comparison.verdict) {
        (ArmRole::Control, Verdict::Better | Verdict::Worse) => "moved",
        (ArmRole::Control, Verdict::Equivalent) => "quiet",
        (_, Verdict::Better) => "better",
        (_, Verdict::Worse) => "worse",
        (_, Verdict::Equivalent) => "equivalent",
        (_, Verdict::Unresolved) => "unresolved",
        (_, Verdict::Invalid) => "invalid",
    }
}

/// `95% t interval, 12 blocks, p = 0.0021`.
pub fn basis(comparison: &Comparison) -> String {
    let Some(result) = &comparison.result else { return comparison.reason.clone() };
    let kind = result.interval_kind.name();
    let adjusted = comparison.adjusted_p.filter(|p| (p - result.p).abs() > 1e-12);
    let correction = match (comparison.primary, result.interval_kind) {
        (true, IntervalKind::Simultaneous) => "Dunnett",
        (true, _) => "Holm",
        (false, _) => "Benjamini-Hochberg",
    };
    let corrected = adjusted.map_or(String::new(), |p| format!(", {} after {correction}", p_value(p)));
    format!(
        "{:.0}% {kind}, {} of {} trials, p {}{corrected}",
        100.0 * result.level,
        count(result.paired.n, "block"),
        comparison.baseline.values.len() + comparison.candidate.values.len(),
        equals(&p_value(result.p))
    )
}

/// A class of hosts as a row: `epyc, 2 hosts`.
pub fn class_name(class: &HostVerdict) -> String {
    format!("{}, {}", class.name, count(class.hosts, "host"))
}

/// What hosts like these would show, and how far they differ.
pub fn over_hosts(one: &FleetComparison) -> Option<String> {
    let pooled = one.pooled?;
    Some(format!(
        "The estimate over {} is that of random effects with Hartung and Knapp's interval; between hosts: deviation {}, I² {:.0}%, heterogeneity p {}.",
        count(pooled.hosts, "host"),
        share(pooled.between),
        100.0 * pooled.i_squared,
        equals(&p_value(pooled.heterogeneity_p))
    ))
}

/// `= 0.03`, `< 0.0001`.
fn equals(p: &str) -> String {
    p.strip_prefix('<').map_or(format!("= {p}"), |bound| format!("< {bound}"))
}

/// What this campaign could have seen.
pub fn resolution(comparison: &Comparison) -> Option<String> {
    let found = comparison.result.as_ref()?.detectable?;
    Some(format!("could have resolved {} (90% power)", detectable(found)))
}

/// What equal arms differ by, for the metric of a comparison.
pub fn floor(analysis: &CampaignAnalysis, comparison: &Comparison) -> Option<String> {
    let control = analysis.comparisons.iter().find(|c| {
        c.role == ArmRole::Control && c.workload == comparison.workload && c.metric.id == comparison.metric.id
    })?;
    let (raw, interval_of) = raw(control)?;
    Some(format!(
        "{} against {}: {} {}",
        control.candidate.arm,
        control.baseline.arm,
        change(raw),
        interval_of.map_or(String::new(), interval)
    ))
}

/// The metric for an axis: its label, its direction.
pub fn axis(label: &str, direction: Direction) -> String {
    match direction {
        Direction::HigherIsBetter => format!("{label}, higher is better"),
        Direction::LowerIsBetter => format!("{label}, lower is better"),
        Direction::Neutral => label.to_owned(),
    }
}

/// `1 block`, `6 blocks`.
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Coefficient of variation, or a dash for a single value.
pub fn variation(coefficient: Option<f64>) -> String {
    coefficient.map_or("-".to_owned(), share)
}

/// `claimed +1.80%, from the printed means +1.98%, measured +2.10% [...]`.
pub fn claim_row(claim: &ClaimCheck) -> String {
    let mut parts = vec![format!("claimed {}", change(claim.claimed))];
    parts.extend(claim.recomputed.map(|p| format!("from the printed means {}", change(p))));
    parts.push(match (claim.measured, claim.interval) {
        (Some(measured), Some(i)) => format!("measured {} {}", change(measured), interval(i)),
        (Some(measured), None) => format!("measured {} without an interval", change(measured)),
        _ => "not measured".to_owned(),
    });
    parts.join(", ")
}

/// `forecast here +0.30% [+0.10%, +0.80%]; on AMD EPYC 7K62 +4.50% [+1.20%, +9.80%]`.
pub fn forecast_row(check: &ForecastCheck) -> String {
    let forecasts = &check.record.forecasts;
    let one = |f: &Forecast| format!("{} {}", change(Percent(f.median)), interval(forecast_interval(f)));
    let mut parts = Vec::new();
    parts.extend(forecasts.here.as_ref().map(|f| format!("here {}", one(f))));
    parts.extend(forecasts.there.as_ref().map(|f| format!("on {} {}", f.machine, one(f))));
    parts.extend(forecasts.none.clone());
    parts.join("; ")
}

/// The 90% interval of a forecast.
pub fn forecast_interval(forecast: &Forecast) -> (Percent, Percent) {
    (Percent(forecast.low), Percent(forecast.high))
}

/// How forecast and measurement agree, and why the forecast is what it is.
pub fn forecast_lines(check: &ForecastCheck) -> Vec<String> {
    let mut lines = Vec::new();
    if check.record.forecasts.same_kernel {
        lines.push("both arms run the same kernel, so this run does not test the forecast".to_owned());
    }
    if let (Some(measured), Some(inside)) = (check.measured, check.inside) {
        let place = if inside { "inside" } else { "outside" };
        let sign = match check.same_sign {
            Some(true) => ", the same sign",
            Some(false) => ", the other sign",
            None => "",
        };
        let ratio = check.ratio.map_or(String::new(), |r| format!(", {r:.1} times the forecast"));
        lines
            .push(format!("measured {} lies {place} the forecast's interval{sign}{ratio}", change(measured)));
    }
    let told = check.record.forecasts.here.as_ref().or(check.record.forecasts.there.as_ref());
    if let Some(reason) = told.and_then(|f| f.reasons.first()) {
        lines.push(format!("the cost that moves most: {}", predict::reason(reason)));
    }
    lines.push(match &check.doubt {
        Some(doubt) => format!("the forecast does not count as made before: {doubt}"),
        None => format!("made {} with hash {}", check.record.made, &check.record.hash[..12]),
    });
    lines
}

/// `36 trials: 34 valid, 2 invalid; 12 more were discarded to warm up`.
pub fn trials(analysis: &CampaignAnalysis) -> String {
    let all: usize = analysis.trials.values().sum();
    let by_status: Vec<String> = analysis.trials.iter().map(|(status, n)| format!("{n} {status}")).collect();
    let discarded = match analysis.discarded {
        0 => String::new(),
        n => format!("; {n} more warmed up and were discarded"),
    };
    format!("{}: {}{discarded}", count(all, "trial"), by_status.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_keep_the_digits_that_count() {
        let texts = [0.0, 0.034, -1.8, 25.04, -97.8, 478.2].map(|p| change(Percent(p)));
        assert_eq!(texts, ["0.00%", "+0.03%", "-1.80%", "+25.0%", "-97.8%", "+478%"]);
        assert_eq!([0, 1, 6].map(|n| count(n, "block")), ["0 blocks", "1 block", "6 blocks"]);
    }
}
