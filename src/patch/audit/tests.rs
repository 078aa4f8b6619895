use super::*;
use crate::patch;

fn audited(body: &str) -> Vec<(ArithmeticVerdict, Option<f64>, Vec<NoteKind>)> {
    let mail = format!("From: Ada <a@b.c>\nSubject: [PATCH 2/3] mm: foo\n\n{body}\n");
    let document = patch::read(mail.as_bytes()).expect("a mail");
    let kinds = |a: &ClaimAudit| a.notes.iter().map(|n| n.kind).collect();
    audit(&document).iter().map(|a| (a.arithmetic.verdict, a.arithmetic.recomputed, kinds(a))).collect()
}

fn verdict(before: &str, after: &str) -> ArithmeticVerdict {
    audited(&format!("Before: {before}\nAfter: {after}"))[0].0
}

#[test]
fn printed_changes_against_their_values() {
    use ArithmeticVerdict::{LastDigit, Mismatch, NoDelta, Rounded, SignInverted, Truncated};
    for (before, after, expected) in [
        ("1000.00 Ops/sec", "1021.00 Ops/sec (+2.1%)", Rounded),
        ("1000.00 Ops/sec", "1075.99 Ops/sec (+7.5%)", Truncated),
        ("1000.00 Ops/sec", "1020.00 Ops/sec (+2.1%)", LastDigit),
        ("1000.00 Ops/sec", "1020.00 Ops/sec (+1.8%)", Mismatch),
        ("45017.78 Ops/sec", "45909.10 Ops/sec (+1.8%)", Mismatch),
        ("1000.00 Ops/sec", "1020.00 Ops/sec (-2.0%)", SignInverted),
        ("1000.00 Ops/sec", "1020.00 Ops/sec", NoDelta),
        ("1456.8 s", "1464.2 s (-0.5%)", Rounded),
        ("1456.8 s", "1464.2 s (+0.5%)", Rounded),
        ("100 s", "80 s (+25%)", Rounded),
    ] {
        assert_eq!(verdict(before, after), expected, "{before} to {after}");
    }
}

#[test]
fn conventions_are_told_apart() {
    let convention = |before: &str, after: &str| {
        let mail = format!("Subject: x\nFrom: y\n\nBefore: {before}\nAfter: {after}\n");
        let document = patch::read(mail.as_bytes()).expect("a mail");
        audit(&document)[0].arithmetic.convention
    };
    assert_eq!(convention("1456.8 s", "1464.2 s (-0.5%)"), Some(Convention::PlusIsBetter));
    assert_eq!(convention("100 s", "80 s (+25%)"), Some(Convention::SpeedUp));
    assert_eq!(convention("100 s", "80 s (20%)"), Some(Convention::PlusIsBetter));
    assert_eq!(convention("100 MB/s", "80 MB/s (20%)"), Some(Convention::Unsigned));
    assert_eq!(convention("80 MB/s", "100 MB/s (+20%)"), Some(Convention::OverAfter));
}

#[test]
fn coarse_values_cannot_be_checked() {
    let body = "0.01 ± 50% -66.9% 0.00 ± 82% perf-stat.i.major-faults\n0.00 +0.3 0.35 perf-profile.self.cycles-pp.f\n259.96 +3.2e+05% 821511 ± 11% meminfo.Inactive";
    let found: Vec<ArithmeticVerdict> = audited(body).iter().map(|a| a.0).collect();
    assert_eq!(found, [ArithmeticVerdict::TooCoarse, ArithmeticVerdict::Rounded, ArithmeticVerdict::Rounded]);
}

#[test]
fn means_tell_the_number_of_runs() {
    let mail = "Subject: x\nFrom: y\n\nAverage of 18 test runs:\nBefore: 48959.374118 Ops/sec\nAfter: 47691.3435 Ops/sec\n";
    let document = patch::read(mail.as_bytes()).expect("a mail");
    let means = &audit(&document)[0].means;
    assert_eq!((means[0].fits, means[0].fitting.as_slice()), (false, [17, 34, 51].as_slice()));
    assert!(!means[1].fits && means[1].fitting.contains(&20), "{means:?}");
}

#[test]
fn notes_about_runs_baselines_and_conditions() {
    let body = "memtier_benchmark -S /tmp/s -c 1 -t 2 -x 6 -d 1024\nAverage of 18 test runs:\n\n\
        Before:         1000.00 Ops/sec\nAfter patch 1:  1010.00 Ops/sec (+1.0%)\nAfter patch 2:  1040.30 Ops/sec (+3.0%)\n";
    let found = audited(body);
    assert!(found[0].2.contains(&NoteKind::RepeatsInRuns));
    assert!(found[1].2.contains(&NoteKind::ChainedBaseline), "{found:?}");
    let found = audited("Before (768M): 100.0 s\nAfter (1G): 90.0 s (-10.0%)");
    assert!(found[0].2.contains(&NoteKind::ConditionsDiffer), "{found:?}");
    let found =
        audited("The throughput improves by 12.5%.\n\nBefore: 100.0 MB/s\nAfter: 110.4 MB/s (+10.4%)");
    assert!(found[0].2.contains(&NoteKind::LabelAndProseDiffer), "{found:?}");
}

#[test]
fn summaries_need_deviations_across_runs() {
    let mail = "Subject: x\nFrom: y\n\nAverage of 18 runs\n\nBefore:\nREAD: 2100.0 MiB/s, Stdev: 9.5\nAfter (+5.0%):\nREAD: 2205.0 MiB/s, Stdev: 8.5\n";
    let document = patch::read(mail.as_bytes()).expect("a mail");
    let (before, after) = summaries(&document.claims[0]).expect("summaries");
    assert_eq!((before.mean, before.deviation, after.runs), (2100.0, 9.5, 18));
}
