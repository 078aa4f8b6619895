//! The experiment as commented TOML: the claim and its source on top, then what
//! was assumed, then the sections without what is default anyway.

use std::fmt::Write as _;

use crate::patch::{Claim, DeviationKind};

use super::audit_text::{delta_text, values_text};

/// The whole file.
pub(super) fn commented(
    experiment: &toml::Table,
    claim: &Claim,
    assumed: &[String],
    unsupported: &[String],
) -> String {
    let mut out = String::new();
    comment(&mut out, "Made from a patch mail by `run-bench patch import`.");
    comment(
        &mut out,
        &format!(
            "Claim {}: {}, {}, {}",
            claim.id,
            claim.metric.name,
            values_text(claim),
            delta_text(&claim.delta)
        ),
    );
    comment(&mut out, &format!("Read from: {}", claim.text));
    if let Some(runs) = &claim.runs {
        comment(&mut out, &format!("Runs: {}", runs.text));
    }
    let within = [&claim.before, &claim.after]
        .into_iter()
        .flatten()
        .any(|s| s.deviation.is_some_and(|d| d.kind == DeviationKind::WithinRun));
    if within {
        comment(&mut out, "Its printed deviation is within one run.");
    }
    if !assumed.is_empty() {
        comment(&mut out, "");
        comment(&mut out, "Assumed, since the mail does not say:");
        assumed.iter().for_each(|text| comment(&mut out, &format!("- {text}")));
    }
    if !unsupported.is_empty() {
        comment(&mut out, "");
        comment(&mut out, "Options of the mail that are not carried over:");
        unsupported.iter().for_each(|text| comment(&mut out, &format!("- {text}")));
    }
    out.push('\n');
    out.push_str(&sections(experiment));
    out
}

/// A comment of one line; nothing of a mail can end it early.
fn comment(out: &mut String, text: &str) {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(600).collect();
    let _ = writeln!(out, "{}", format!("# {plain}").trim_end());
}

/// The sections in the order of the documentation; sections that are all default are left out.
fn sections(whole: &toml::Table) -> String {
    let mut kept = toml::Table::new();
    let default = |name: &str| match name {
        "environment" => toml::Value::try_from(crate::config::EnvironmentSection::default()).ok(),
        "schedule" => toml::Value::try_from(crate::config::ScheduleSection::default()).ok(),
        "sample" => toml::Value::try_from(crate::config::SampleSection::default()).ok(),
        "target" => toml::Value::try_from(crate::config::TargetSection::default()).ok(),
        _ => None,
    };
    let order = [
        "schema",
        "title",
        "claim",
        "claim-source",
        "memcg",
        "swap",
        "workload",
        "arm",
        "schedule",
        "analysis",
    ];
    let rest = whole.keys().filter(|k| !order.contains(&k.as_str())).map(String::as_str);
    let mut out = String::new();
    for name in order.into_iter().chain(rest) {
        let Some(value) = whole.get(name).filter(|value| default(name).as_ref() != Some(*value)) else {
            continue;
        };
        kept.clear();
        kept.insert(name.to_owned(), value.clone());
        let text = toml::to_string(&kept).expect("a part of what was a table");
        if value.is_table() || value.is_array() {
            out.push('\n');
        }
        out.push_str(&text);
    }
    out
}
