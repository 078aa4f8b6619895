//! Campaigns of the past: kept samples of older schemas, and a bisection by their verdicts.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::BINARY;
use crate::support::run_bench;
use crate::support::text;

/// A campaign as the first schema wrote it: two arms, six blocks, the second 6% better.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/campaigns/schema-1")
}

/// A copy in which every record has passed through `change`.
fn copy(to: &Path, change: impl Fn(&mut Value)) {
    let copied = Command::new("cp").arg("-r").arg(kept()).arg(to).status().expect("cp runs");
    assert!(copied.success());
    for trial in std::fs::read_dir(to.join("trials")).expect("trials") {
        let path = trial.expect("entry").path().join("record.json");
        let mut record = serde_json::from_slice(&std::fs::read(&path).expect("read")).expect("JSON");
        change(&mut record);
        std::fs::write(&path, record.to_string()).expect("written");
    }
}

/// Multiplies the values of the second arm, by turns of position and block so that noise can be had.
fn scale(record: &mut Value, factor: impl Fn(u64) -> f64) {
    let id = &record["spec"]["id"];
    if id["arm"] != "large" {
        return;
    }
    let factor = factor(id["block"].as_u64().expect("a number"));
    for measurement in record["measurements"].as_array_mut().expect("a list") {
        measurement["value"] = Value::from(measurement["value"].as_f64().expect("a number") * factor);
    }
}

#[test]
fn a_campaign_of_the_first_schema_is_read_as_it_was() {
    let output = run_bench(&["compare", &kept().display().to_string()]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for part in [
        "large against small: file_read.ops_per_sec changes by +6.22%, which is better.",
        "+6.22% [+5.83%, +6.62%], 95% t interval, 6 blocks of 24 trials, p < 0.0001",
        "24 trials: 24 valid",
    ] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
}

#[test]
fn a_newer_schema_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let newer = folder.path().join("newer");
    copy(&newer, |_| {});
    let path = newer.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).expect("read")).expect("JSON");
    manifest["schema"] = Value::from(99);
    std::fs::write(&path, manifest.to_string()).expect("written");
    let output = run_bench(&["compare", &newer.display().to_string()]);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(message.contains("manifest.json") && message.contains("99"), "{message}");
    // Not one of the codes that a bisection takes for a bad revision.
    let newer = newer.display().to_string();
    assert_eq!(run_bench(&["compare", &newer, "--bisect"]).status.code(), Some(125));
    let wrong = folder.path().join("wrong.toml");
    std::fs::write(&wrong, "schema = 1\n").expect("written");
    let wrong = wrong.display().to_string();
    assert_eq!(run_bench(&["run", &wrong, "--bisect"]).status.code(), Some(128));
}

/// A history in which one commit makes a metric worse and others cannot be judged.
fn history(folder: &Path, samples: &[&str]) {
    let git = |arguments: &[&str]| {
        let named = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"];
        let done =
            Command::new("git").current_dir(folder).args(named).args(arguments).output().expect("git runs");
        assert!(done.status.success(), "{}", text(&done.stderr));
    };
    git(&["init", "-q"]);
    for (number, sample) in samples.iter().enumerate() {
        std::fs::write(folder.join("sample"), sample).expect("written");
        std::fs::write(folder.join("number"), number.to_string()).expect("written");
        git(&["add", "."]);
        git(&["commit", "-q", "-m", &format!("commit {number}")]);
    }
}

#[test]
fn a_bisection_finds_the_commit_that_made_it_worse() {
    let folder = tempfile::tempdir().expect("a folder");
    let samples = folder.path().join("samples");
    std::fs::create_dir(&samples).expect("made");
    copy(&samples.join("good"), |_| {});
    copy(&samples.join("bad"), |record| scale(record, |_| 0.8));
    copy(&samples.join("noisy"), |record| {
        scale(record, |block| if block.is_multiple_of(2) { 0.7 } else { 1.3 });
    });
    let tree = folder.path().join("tree");
    std::fs::create_dir(&tree).expect("made");
    let mut commits = vec!["good"; 9];
    commits.extend(["noisy", "bad", "bad", "noisy", "bad", "bad"]);
    commits[4] = "noisy";
    history(&tree, &commits);

    let judge = folder.path().join("judge");
    let script =
        format!("#!/bin/sh\nexec {BINARY} compare \"{}/$(cat sample)\" --bisect\n", samples.display());
    std::fs::write(&judge, script).expect("written");
    let said = |arguments: &[&str]| {
        let output = Command::new("git").current_dir(&tree).args(arguments).output().expect("git runs");
        format!("{}{}", text(&output.stdout), text(&output.stderr))
    };
    said(&["bisect", "start", "HEAD", &format!("HEAD~{}", commits.len() - 1)]);
    let judge = judge.display().to_string();
    let end = said(&["bisect", "run", "sh", &judge]);
    // The commit before the first bad one cannot be judged, so either may be the first.
    assert!(end.contains("only 'skip'ped commits left to test"), "{end}");
    let log = said(&["bisect", "log"]);
    let subject = |line: &str| line.rsplit("] ").next().unwrap_or_default().to_owned();
    let suspects: Vec<String> =
        log.lines().filter(|l| l.starts_with("# possible first bad commit")).map(subject).collect();
    assert_eq!(suspects, ["commit 10", "commit 9"], "{log}");
}
