//! Whole campaigns on this host, ended and killed in every way.

use std::time::Duration;

use crate::support::SHORT;
use crate::support::host_state;
use crate::support::run_bench;
use crate::support::start;
use crate::support::text;
use crate::support::trial_processes;
use crate::support::wait_for;
use crate::support::write;

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn a_campaign_runs_resumes_and_leaves_the_host_as_it_was() {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    let experiment = write(folder.path(), "short.toml", SHORT);
    let results = folder.path().join("results").display().to_string();
    let arguments = ["run", &experiment, "--results", &results, "--name", "c"];
    let first = run_bench(&arguments);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    assert_eq!(host_state(), before);
    // Everything is done: a second run only reports, and the same bytes.
    let again = run_bench(&arguments);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    let campaign = format!("{results}/c");
    let compare = |_| run_bench(&["compare", &campaign, "--json"]).stdout;
    assert_eq!(compare(1), compare(2));
    let status = text(&run_bench(&["status", &campaign]).stdout);
    assert!(status.contains("8 trial(s) valid"), "{status}");
}

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn kill_9_of_campaign_and_trial_leaves_nothing_that_clean_does_not_undo() {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    let experiment = write(folder.path(), "long.toml", &SHORT.replace("200ms", "20s"));
    let results = folder.path().join("results").display().to_string();
    let arguments = ["run", &experiment, "--results", &results, "--name", "c"];
    let mut campaign = start(&arguments);
    wait_for("a cgroup of the trial", || host_state().cgroups != before.cgroups);
    campaign.kill().expect("killed");
    campaign.wait().expect("reaped");
    for pid in trial_processes() {
        let pid = rustix::process::Pid::from_raw(pid as i32).expect("a process");
        // It may have ended by itself since it was listed.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    wait_for("the end of the trial", || trial_processes().is_empty());
    // A process that is being killed holds its lock for a moment longer.
    wait_for("a clean host", || run_bench(&["clean"]).status.code() == Some(0));
    assert_eq!(host_state(), before);
    assert!(text(&run_bench(&["clean"]).stdout).contains("nothing to undo"));
}

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn a_trial_whose_campaign_was_killed_restores_the_host_by_itself() {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    let experiment = write(folder.path(), "long.toml", &SHORT.replace("200ms", "60s"));
    let results = folder.path().join("results").display().to_string();
    let mut campaign = start(&["run", &experiment, "--results", &results, "--name", "c"]);
    wait_for("a cgroup of the trial", || host_state().cgroups != before.cgroups);
    campaign.kill().expect("killed");
    campaign.wait().expect("reaped");
    wait_for("a restored host", || host_state() == before);
}

#[test]
#[ignore = "needs root: makes memory cgroups"]
fn ctrl_c_twice_stops_the_campaign_and_restores_the_host() {
    let before = host_state();
    let folder = tempfile::tempdir().expect("a folder");
    let experiment = write(folder.path(), "long.toml", &SHORT.replace("200ms", "20s"));
    let results = folder.path().join("results").display().to_string();
    let mut campaign = start(&["run", &experiment, "--results", &results, "--name", "c"]);
    wait_for("a cgroup of the trial", || host_state().cgroups != before.cgroups);
    let pid = rustix::process::Pid::from_child(&campaign);
    for _ in 0..2 {
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("signalled");
        std::thread::sleep(Duration::from_millis(50));
    }
    let status = campaign.wait().expect("ended");
    assert_eq!(status.code(), Some(4), "no trial was completed");
    assert_eq!(host_state(), before);
}
