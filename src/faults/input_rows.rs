//! Rows 21, 22 and 25: experiments, mails and numbers that make no sense.

use std::path::Path;

use super::seen::{Injected, Seen};
use crate::analyze::{self, Verdict, fixture};
use crate::config;
use crate::import::{AuditReport, audit_report};
use crate::patch;
use crate::stats::selftest::SelfTest;
use crate::stats::{BlockDifferences, PairedAnalysis, block_log_ratio};
use crate::store::CampaignFolder;

const GOOD: &str = r#"
schema = 1
title = "two limits"
[memcg]
limit = "64MiB"
[workload.memcached]
memory = "512MiB"
threads = 2
[workload.memcached.load]
keys = 200000
value = "1KiB"
clients = 2
threads = 2
pipeline = 8
[[arm]]
name = "small"
[[arm]]
name = "large"
[analysis]
primary = "memcached.ops_per_sec"
"#;

pub(super) fn experiments(seen: &mut Seen) -> Injected {
    let parse = |text: &str| config::parse(Path::new("x.toml"), text);
    seen.check("the experiment without a fault is read", parse(GOOD).is_ok());
    for (what, old, new, words) in [
        ("an unknown key", "pipeline", "pipelin", &["line 14", "did you mean `pipeline`?"][..]),
        ("half a unit", "\"64MiB\"", "\"64M\"", &["line 5", "64MiB"]),
        ("a size of another system", "\"64MiB\"", "\"64\"", &["line 5"]),
        ("no unit", "\"64MiB\"", "64", &["line 5"]),
        ("a negative number", "keys = 200000", "keys = -1", &["line 10"]),
        ("an overflow", "keys = 200000", "keys = 99999999999999999999", &["line 10"]),
        ("a duplicate", "threads = 2\n[", "threads = 2\nthreads = 3\n[", &["line 9", "duplicate"]),
        ("a path for a name", "\"small\"", "\"../small\"", &["arm[1].name"]),
        ("one name twice", "\"large\"", "\"small\"", &["small"]),
        ("more clients than keys", "keys = 200000", "keys = 3\npattern = \"P:P\"", &["load.keys"]),
        ("another workload's metric", "memcached.ops_per_sec", "fio.read_iops", &["analysis.primary"]),
    ] {
        let text = GOOD.replacen(old, new, 1);
        if text == GOOD {
            seen.check(format!("{what}: nothing was changed"), false);
        }
        seen.refused(what, parse(&text), words);
    }
    let results = tempfile::tempdir()?;
    for name in ["../c", "/tmp/c", "a/b", "..", "", "a\nb"] {
        let made = CampaignFolder::create(results.path(), name);
        seen.refused(&format!("a campaign called {name:?}"), made, &[]);
    }
    seen.check("nothing was made", std::fs::read_dir(results.path())?.next().is_none());
    Ok(())
}

const MAIL: &str = "From: Ada Invented <ada@example.org>\nSubject: [PATCH] mm: an invented change\n";

fn mail(headers: &str, body: &str) -> String {
    format!("{MAIL}{headers}\n{body}")
}

fn audit(text: &[u8]) -> Result<(usize, AuditReport), patch::PatchError> {
    let document = patch::read(text)?;
    Ok((document.claims.len(), audit_report(&document)))
}

pub(super) fn mails(seen: &mut Seen) -> Injected {
    let plain = "Before: 100.0 MB/s\nAfter: 102.0 MB/s (+2.0%)\n";
    seen.check("the plain mail has one claim", audit(mail("", plain).as_bytes())?.0 == 1);
    let base64 = "QmVmb3JlOiAxMDAuMCBNQi9zCkFmdGVyOiAxMDIuMCBNQi9zICgrMi4wJSkK\n";
    let quoted = "Before: 100.0 MB/s\nAfter: 102.0 =\nMB/s (+2.0=25)\n";
    let flowed = "Before: 100.0 MB/s\nAfter: 102.0 MB/s \n(+2.0%)\n";
    for (what, headers, body) in [
        ("base64", "Content-Transfer-Encoding: base64\n", base64),
        ("quoted-printable", "Content-Transfer-Encoding: quoted-printable\n", quoted),
        ("flowed", "Content-Type: text/plain; format=flowed\n", flowed),
    ] {
        seen.check(format!("{what}: the same claim"), audit(mail(headers, body).as_bytes())?.0 == 1);
    }
    let wrong = mail("", &plain.replace("+2.0%", "+9.0%"));
    let (_, report) = audit(wrong.as_bytes())?;
    let told = format!("{report:?}");
    seen.check("a percentage that does not recompute is told", told.contains("Mismatch"));
    let html = "Content-Type: text/html\n";
    let page = "<html><p>Before: 100.0 MB/s<br>After: 102.0 MB/s (+2.0%)</p></html>\n";
    seen.check("HTML alone is read or refused", audit(mail(html, page).as_bytes()).is_ok());
    let broken = "Content-Type: multipart/mixed; boundary=\"b\"\n";
    let parts = format!("--b\nContent-Type: multipart/mixed; boundary=\"b\"\n\n--b\n\n{plain}");
    seen.check("MIME without an end is read or refused", audit(mail(broken, &parts).as_bytes()).is_ok());
    let quotes: String = (1..60).map(|depth| format!("{} {plain}", ">".repeat(depth))).collect();
    seen.check("sixty levels of quotes", audit(mail("", &quotes).as_bytes()).is_ok());
    let large = mail("", &"a line without any claim in it at all\n".repeat(280_000));
    // Ten megabytes: read within the limits, or refused by name.
    let (many, text) = match audit(large.as_bytes()) {
        Ok((claims, _)) => (claims, String::new()),
        Err(error) => (0, error.to_string()),
    };
    seen.check(format!("ten megabytes: {many} claims {text}"), many == 0);
    Ok(())
}

/// The verdict on invented values.
fn verdict(value: fixture::Value<'_>) -> Result<(Verdict, String), Box<dyn std::error::Error>> {
    let results = tempfile::tempdir()?;
    let folder = fixture::campaign(results.path(), "c", fixture::EXPERIMENT, value);
    let analysis = analyze::analyze(&folder)?;
    serde_json::to_string(&analysis)?;
    let deciding = analysis.deciding().next().ok_or("there is a candidate")?;
    Ok((deciding.verdict, deciding.reason.clone()))
}

pub(super) fn numbers(seen: &mut Seen) -> Injected {
    for values in [&[][..], &[0.01]] {
        let refused = BlockDifferences::new(values.to_vec()).and_then(|d| PairedAnalysis::new(&d, 0.95, 1));
        seen.refused(&format!("{} block(s)", values.len()), refused, &[]);
    }
    let two = BlockDifferences::new(vec![0.01, 0.03]).and_then(|d| PairedAnalysis::new(&d, 0.95, 1))?;
    seen.check("two blocks give a wide interval", two.p > 0.05);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        seen.refused(&format!("a value of {bad}"), block_log_ratio(&[bad, 1.0], &[1.0, 1.0]), &[]);
    }
    let (equal, _) = verdict(&|_, _, _| Some(1000.0))?;
    seen.check(format!("a constant metric: {equal:?}"), !matches!(equal, Verdict::Better | Verdict::Worse));
    let (missing, why) = verdict(&|_, _, arm| (arm == "a").then_some(1000.0))?;
    seen.check(format!("one arm only: {why}"), missing == Verdict::Invalid);
    let (none, _) = verdict(&|_, _, arm| Some(if arm == "b" { 0.0 } else { 1000.0 }))?;
    seen.check(format!("zero has no logarithm: {none:?}"), none == Verdict::Invalid);
    let drift = |block: u32, position: u32, _: &str| {
        Some(fixture::noisy(1000.0, 1.0 + 0.01 * f64::from(block), 0.005, (block, position)))
    };
    let (drift, _) = verdict(&drift)?;
    seen.check(format!("drift is no change: {drift:?}"), !matches!(drift, Verdict::Better | Verdict::Worse));
    let rows = SelfTest { simulations: 400, seed: 1 }.run()?;
    let failed: Vec<&str> = rows.iter().filter(|row| !row.passed).map(|row| row.name.as_str()).collect();
    seen.check(format!("{} promises hold on known truth; broken: {failed:?}", rows.len()), failed.is_empty());
    Ok(())
}
