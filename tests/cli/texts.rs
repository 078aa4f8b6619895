//! Texts and exit codes, without privileges.

use std::path::PathBuf;

use crate::support::SHORT;
use crate::support::config;
use crate::support::run_bench;
use crate::support::text;
use crate::support::write;

#[test]
fn a_wrong_key_is_told_with_file_line_key_and_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), "wrong.toml", &SHORT.replace("duration", "durattion"));
    for command in ["plan", "run"] {
        let output = run_bench(&[command, &path]);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        for part in ["wrong.toml, line 10", "durattion", "did you mean `duration`?"] {
            assert!(message.contains(part), "{part} is not in {message}");
        }
    }
}

#[test]
fn absent_files_and_wrong_options_have_their_exit_codes() {
    assert_eq!(run_bench(&["plan", "/nonexistent.toml"]).status.code(), Some(2));
    assert_eq!(run_bench(&["frobnicate"]).status.code(), Some(2));
    assert_eq!(run_bench(&["compare", "/nonexistent"]).status.code(), Some(3));
    assert_eq!(run_bench(&["--help"]).status.code(), Some(0));
    assert_eq!(run_bench(&["--version"]).status.code(), Some(0));
}

#[test]
fn every_shipped_experiment_can_be_planned_or_says_why_not() {
    let folder = PathBuf::from(config(""));
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("configs") {
        let path = entry.expect("entry").path();
        if path.extension().is_some_and(|e| e == "toml") {
            let output = run_bench(&["plan", &path.display().to_string()]);
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 3)), "{}: {code:?} {}", path.display(), text(&output.stderr));
            seen += 1;
        }
    }
    assert!(seen >= 2, "found {seen} experiments");
}

#[test]
fn arms_take_kernels_from_the_command_line_by_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), "short.toml", SHORT);
    let good = run_bench(&["plan", &path, "--arms", "b=/boot/vmlinuz-9.9", "--json"]);
    assert!(text(&good.stdout).contains("/boot/vmlinuz-9.9"), "{}", text(&good.stderr));
    let wrong = run_bench(&["plan", &path, "--arms", "c=running"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("one of a, b"), "{}", text(&wrong.stderr));
}

#[test]
fn a_reader_that_leaves_early_is_no_fault() {
    for arguments in [vec!["man"], vec!["completions", "bash"], vec!["doctor"]] {
        let mut running = std::process::Command::new(crate::support::BINARY)
            .args(&arguments)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("run-bench starts");
        drop(running.stdout.take());
        let end = running.wait_with_output().expect("it ends");
        let said = text(&end.stderr);
        assert!(end.status.success() && !said.contains("panicked"), "{arguments:?}: {:?} {said}", end.status);
    }
}

#[test]
fn completions_and_the_manual_name_every_command() {
    let bash = text(&run_bench(&["completions", "bash"]).stdout);
    let manual = text(&run_bench(&["man"]).stdout);
    for command in ["doctor", "plan", "run", "compare", "report", "status", "clean", "patch", "selftest"] {
        assert!(bash.contains(command), "{command} has no completion");
        assert!(manual.contains(command), "{command} is not in the manual");
    }
}

#[test]
fn doctor_gives_a_remedy_for_everything_missing() {
    let output = run_bench(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let lines = report["lines"].as_array().expect("lines");
    assert!(lines.len() > 20, "{} lines", lines.len());
    for line in lines {
        let fine = line["state"] == "ok";
        assert!(fine || line["remedy"].is_string(), "no remedy in {line}");
    }
}

#[test]
fn the_statistics_hold_their_promises_in_short() {
    let output = run_bench(&["selftest", "stats", "--simulations", "400", "--json"]);
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(rows.as_array().is_some_and(|r| r.len() > 50));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
}
