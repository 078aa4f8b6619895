//! Every shape of result in mails of invented numbers. Beside each `NAME.mail`
//! stands `NAME.claims`, what must be read from it; `RUN_BENCH_BLESS=1` rewrites
//! these after a change that was meant, to be read line by line before a commit.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use run_bench::patch::{self, Claim, Delta, DeviationKind, Document, Measured};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mails")
}

fn mails() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).expect("the fixtures");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "mail"));
    paths.sort();
    assert!(paths.len() > 25, "only {} mails", paths.len());
    paths
}

fn side(measured: &Measured) -> String {
    let deviation = measured.deviation.map_or(String::new(), |d| {
        let kind = match d.kind {
            DeviationKind::WithinRun => "within run",
            DeviationKind::AcrossRuns => "across runs",
            DeviationKind::OfTheMean => "of the mean",
            DeviationKind::Unstated => "unstated",
        };
        format!(" ± {}{} {kind}", d.value.show(), if d.relative { "%" } else { "" })
    });
    format!("{}{deviation}", measured.value.show())
}

fn line(claim: &Claim) -> String {
    let delta = match &claim.delta {
        Delta::Percent { change } => format!("{}%", change.show_signed()),
        Delta::Interval { low, high } => format!("[{}, {}]%", low.show_signed(), high.show_signed()),
        Delta::Difference { change } => format!("{} absolute", change.show_signed()),
        Delta::Factor { factor } => format!("{}x", factor.show()),
        Delta::Null { words } => format!("null ({words})"),
        Delta::Missing => "no delta".to_owned(),
    };
    let values = match (&claim.before, &claim.after) {
        (Some(before), Some(after)) => format!("{} > {}", side(before), side(after)),
        _ => "no values".to_owned(),
    };
    let runs = claim.runs.as_ref().map_or(String::new(), |r| format!(" | n {} {:?}", r.count, r.statistic));
    let wording = claim.wording.map_or(String::new(), |w| format!(" | {w:?}"));
    let quoted = if claim.quoted > 0 { format!(" | quoted {}", claim.quoted) } else { String::new() };
    let repeats = if claim.repeats > 0 { format!(" | repeated {}", claim.repeats) } else { String::new() };
    let readings =
        if claim.is_ambiguous() { format!(" | {} readings", claim.readings.len()) } else { String::new() };
    format!(
        "{:?} | {} | {values} {} | {delta} | {:?} {:?}{runs}{wording}{quoted}{repeats}{readings}",
        claim.format,
        claim.metric.name,
        claim.metric.unit.as_deref().unwrap_or("-"),
        claim.scope,
        claim.baseline
    )
}

fn show(document: &Document) -> String {
    let mut out = String::new();
    for mail in &document.mails {
        let files: Vec<&str> = mail.diff.files.iter().map(|f| f.path.as_str()).collect();
        let functions = mail.diff.functions().join(" ");
        writeln!(
            out,
            "mail {:?} \"{}\" v{} {:?}/{:?} files [{}] functions [{functions}]",
            mail.carrier,
            mail.subject.title,
            mail.subject.version,
            mail.subject.part,
            mail.subject.total,
            files.join(" ")
        )
        .expect("a string");
    }
    for setting in &document.settings {
        let commands: Vec<&str> = setting.commands.iter().map(|c| c.workload.name()).collect();
        let limit = setting.memcg_limit.map_or("-".to_owned(), |b| b.to_string());
        writeln!(
            out,
            "setting memcg {limit} swap {:?} machine {:?} commands {commands:?}",
            setting.swap.as_ref().map(|s| (s.kind, s.size)),
            setting.machine
        )
        .expect("a string");
    }
    for claim in &document.claims {
        writeln!(out, "{}", line(claim)).expect("a string");
    }
    out
}

#[test]
fn every_shape_reads_as_written_down() {
    let bless = std::env::var_os("RUN_BENCH_BLESS").is_some();
    let mut wrong = Vec::new();
    for path in mails() {
        let found = show(&patch::read(&fs::read(&path).expect("a mail")).expect("a readable mail"));
        let expected_path = path.with_extension("claims");
        if bless {
            fs::write(&expected_path, &found).expect("writable fixtures");
            continue;
        }
        let expected = fs::read_to_string(&expected_path).unwrap_or_default();
        if expected != found {
            wrong.push(format!("{}\nexpected:\n{expected}\nfound:\n{found}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_address_survives_reading() {
    for path in mails() {
        let document = patch::read(&fs::read(&path).expect("a mail")).expect("a readable mail");
        let json = serde_json::to_string(&document).expect("serializable");
        for domain in ["@example.org", "@xxxxxxx", "@b.c"] {
            assert!(!json.contains(domain), "{} keeps {domain}", path.display());
        }
    }
}

#[test]
fn reading_is_deterministic_and_serializable() {
    for path in mails() {
        let bytes = fs::read(&path).expect("a mail");
        let first = patch::read(&bytes).expect("a readable mail");
        let json = serde_json::to_string(&first).expect("serializable");
        let back: Document = serde_json::from_str(&json).expect("reads back");
        assert_eq!(first, back, "{}", path.display());
        assert_eq!(first, patch::read(&bytes).expect("a readable mail"));
    }
}

/// What bounds the work is that each line is taken once, so the count of claims
/// tells, not the time.
#[test]
fn large_mails_read_to_their_end() {
    let mut mail = b"From: Ada <a@b.c>\nSubject: [PATCH] mm: foo\n\n".to_vec();
    for index in 0..2000 {
        mail.extend_from_slice(
            format!("Before: 1{index}.00 Ops/sec\nAfter: 2{index}.00 Ops/sec (+1.0%)\n\ntext\n\n").as_bytes(),
        );
    }
    let document = patch::read(&mail).expect("a mail");
    assert_eq!(document.claims.len(), 2000);
    let long = [b"From: a\nSubject: b\n\n".to_vec(), vec![b'('; 10 << 20]].concat();
    assert!(patch::read(&long).expect("a mail").claims.is_empty());
}
