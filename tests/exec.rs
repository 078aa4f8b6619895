//! Children that misbehave: each must end, with what it said, in bounded time.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use run_bench::exec::Command;
use run_bench::exec::Ended;
use run_bench::exec::ExecError;
use run_bench::exec::Output;
use run_bench::exec::Progress;
use run_bench::units::Bytes;
use tokio_util::sync::CancellationToken;

/// Far longer than any of these should take, and far shorter than their stubs sleep.
const LONG: Duration = Duration::from_secs(30);

fn script(text: &str) -> Command {
    Command::new("/bin/sh").arg("-c").arg(text).deadline(LONG)
}

fn entered(mut command: Command) -> Command {
    command.enter = Some(PathBuf::from(env!("CARGO_BIN_EXE_run-bench")));
    command.die_with_parent = true;
    command
}

async fn run(command: &Command) -> Output {
    let begin = Instant::now();
    let output = run_bench::exec::run(command, &CancellationToken::new()).await.expect("it runs");
    assert!(begin.elapsed() < LONG, "{command:?} took {:?}", begin.elapsed());
    output
}

fn alive(pid: &str) -> bool {
    // A zombie of a foreign parent still has a folder, but no command line.
    std::fs::read(format!("/proc/{}/cmdline", pid.trim())).is_ok_and(|text| !text.is_empty())
}

#[tokio::test]
async fn status_output_and_usage() {
    let output = run(&script("echo out; echo err >&2; exit 3")).await;
    assert_eq!(output.ended, Ended::Exited(3));
    assert_eq!((output.stdout.text().as_str(), output.stderr.text().as_str()), ("out\n", "err\n"));
    assert!(output.max_rss > Bytes::kib(100) && output.minor_faults > 10, "{output:?}");
    assert_eq!(run(&script("kill -SEGV $$")).await.ended, Ended::Signalled(11));
    assert_eq!(run(&script("exit 0")).await.ended, Ended::Exited(0));
}

#[tokio::test]
async fn usage_counts_the_processor_time_of_the_program() {
    let output = run(&script("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")).await;
    assert!(output.user.0 > 1_000_000, "{output:?}");
    assert!(output.wall.0 > 1_000_000, "{output:?}");
}

#[tokio::test]
async fn a_silent_hang_meets_its_deadline() {
    let output = run(&script("sleep 1000").deadline(Duration::from_millis(200))).await;
    assert_eq!(output.ended, Ended::Deadline);
}

#[tokio::test]
async fn a_silent_hang_meets_the_watchdog() {
    let mut command = script("echo working; sleep 1000");
    command.no_progress = Some(Duration::from_millis(300));
    let output = run(&command).await;
    assert_eq!((output.ended, output.stdout.text().as_str()), (Ended::NoProgress, "working\n"));
}

#[tokio::test]
async fn output_without_work_is_no_progress() {
    let mut command =
        script("while :; do printf '\\r[RUN #1 101%%] 16 threads: 5 ops, 0 ops/sec'; sleep 0.02; done");
    command.no_progress = Some(Duration::from_millis(400));
    command.progress = Progress::Number(|line| {
        let (before, _) = line.split_once(" ops,")?;
        before.rsplit(' ').next()?.parse().ok()
    });
    let output = run(&command).await;
    assert_eq!(output.ended, Ended::NoProgress);
    assert!(output.stdout.total() > 100);
}

#[tokio::test]
async fn work_is_progress() {
    let mut command = script("for i in 1 2 3 4 5 6; do echo $i; sleep 0.15; done");
    command.no_progress = Some(Duration::from_secs(5));
    command.progress = Progress::Number(|line| line.parse().ok());
    assert_eq!(run(&command).await.ended, Ended::Exited(0));
}

#[tokio::test]
async fn a_file_that_stops_growing_is_no_progress() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("progress");
    let mut command = script(&format!("echo 1 > {}; while :; do echo x; sleep 0.02; done", file.display()));
    command.no_progress = Some(Duration::from_millis(400));
    command.progress = Progress::File(file);
    assert_eq!(run(&command).await.ended, Ended::NoProgress);
}

#[tokio::test]
async fn sigterm_may_be_ignored() {
    let mut command = script("trap '' TERM; echo ready; while :; do sleep 0.05; done");
    command.deadline = Duration::from_millis(300);
    command.grace = Duration::from_millis(200);
    let output = run(&command).await;
    assert_eq!((output.ended, output.stdout.text().as_str()), (Ended::Deadline, "ready\n"));
}

#[tokio::test]
async fn grandchildren_of_the_group_end_with_the_leader() {
    let output = run(&script("sleep 1000 & echo $!; exit 0")).await;
    assert_eq!(output.ended, Ended::Exited(0));
    let pid = output.stdout.text();
    for _ in 0..200 {
        if !alive(&pid) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("grandchild {pid} lives on");
}

#[tokio::test]
async fn a_grandchild_outside_the_group_cannot_hold_us() {
    let output = run(&script("setsid sleep 60 & echo $!; sleep 0.4; exit 0")).await;
    assert_eq!(output.ended, Ended::Exited(0));
    let pid = output.stdout.text();
    assert!(alive(&pid), "the stub should have left the group in time");
    let _ = std::process::Command::new("kill").arg(pid.trim()).status();
}

#[tokio::test]
async fn huge_output_is_bounded_and_both_ends_are_kept() {
    let mut command = script("echo first; head -c 50000000 /dev/zero; echo; echo last");
    command.output_limit = Bytes::kib(64);
    let output = run(&command).await;
    assert_eq!(output.stdout.total(), 50_000_012);
    let text = output.stdout.text();
    assert!(text.starts_with("first\n") && text.ends_with("\nlast\n"));
    assert!(text.len() < 66_000, "{}", text.len());
}

#[tokio::test]
async fn cancel_ends_the_whole_group() {
    let cancel = CancellationToken::new();
    let command = script("sleep 1000 & echo $!; wait");
    let later = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        later.cancel();
    });
    let output = run_bench::exec::run(&command, &cancel).await.unwrap();
    assert_eq!(output.ended, Ended::Cancelled);
    assert!(!alive(&output.stdout.text()));
}

#[tokio::test]
async fn input_reaches_the_program() {
    let mut command = Command::new("cat").deadline(LONG);
    command.stdin = Some(vec![b'x'; 1 << 20]);
    assert_eq!(run(&command).await.stdout.total(), 1 << 20);
    // Nor does a program that never reads it hang.
    command.argv = vec!["true".into()];
    assert_eq!(run(&command).await.ended, Ended::Exited(0));
}

#[tokio::test]
async fn programs_that_cannot_start_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("not-executable");
    std::fs::write(&plain, b"text").unwrap();
    for program in ["/no/such/program".into(), plain, folder.path().to_path_buf()] {
        let direct = Command::new(&program);
        let error = run_bench::exec::run(&direct, &CancellationToken::new()).await.expect_err("cannot start");
        assert!(matches!(error, ExecError::Start { .. }), "{error}");
        let error =
            run_bench::exec::run(&entered(direct), &CancellationToken::new()).await.expect_err("cannot");
        let absent = !program.exists();
        assert_eq!(error.is_missing_program(), absent, "{error}");
        let remedy = if absent { "that it is installed and in PATH" } else { "check that it is executable" };
        assert!(error.to_string().contains(remedy), "{error}");
    }
    // The C library hands what the kernel cannot execute to a shell; it must not look like success.
    let foreign = folder.path().join("foreign");
    std::fs::write(&foreign, b"\x7fELF\x02\x01\x01junk").unwrap();
    std::fs::set_permissions(&foreign, PermissionsExt::from_mode(0o755)).unwrap();
    for command in [Command::new(&foreign), entered(Command::new(&foreign))] {
        let result = run_bench::exec::run(&command, &CancellationToken::new()).await;
        assert!(!result.is_ok_and(|output| output.ended.success()));
    }
    let mut empty = Command::new("x");
    empty.argv.clear();
    let error = run_bench::exec::run(&empty, &CancellationToken::new()).await.expect_err("no program");
    assert!(matches!(error, ExecError::EmptyArgv));
}

#[tokio::test]
async fn a_cgroup_that_cannot_be_joined_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = entered(script("echo never"));
    command.cgroups = vec![folder.path().join("absent")];
    let error = run_bench::exec::run(&command, &CancellationToken::new()).await.expect_err("no cgroup");
    assert!(error.to_string().contains("absent/cgroup.procs"), "{error}");
}

#[tokio::test]
async fn the_program_runs_inside_the_cgroups_and_on_the_processors() {
    // A plain folder takes the place of a cgroup: the pid is written to its cgroup.procs.
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut command = entered(script("echo $$; grep Cpus_allowed_list /proc/self/status; exit 125"));
    command.cgroups = folders.iter().map(|f| f.path().to_path_buf()).collect();
    command.cpus = Some("0".parse().unwrap());
    let output = run(&command).await;
    // The program's own 125 is not taken for a failed entry.
    assert_eq!(output.ended, Ended::Exited(125));
    let text = output.stdout.text();
    let mut lines = text.lines();
    let pid = lines.next().unwrap();
    for folder in &folders {
        assert_eq!(std::fs::read_to_string(folder.path().join("cgroup.procs")).unwrap(), pid);
    }
    assert_eq!(lines.next().unwrap().split_whitespace().last(), Some("0"));
}

#[tokio::test]
async fn a_server_is_stopped_and_a_dropped_one_killed() {
    let mut server = run_bench::exec::spawn(&entered(script("echo up; exec sleep 1000"))).await.unwrap();
    while server.output_so_far().0.total() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(server.has_ended(), None);
    let pid = server.pid().to_string();
    assert!(alive(&pid));
    let output = server.stop(Duration::from_secs(5)).await.unwrap();
    assert_eq!(output.ended, Ended::Signalled(15));
    assert_eq!(output.stdout.text(), "up\n");
    let dropped = run_bench::exec::spawn(&script("exec sleep 1000")).await.unwrap();
    let pid = dropped.pid().to_string();
    drop(dropped);
    for _ in 0..500 {
        if !Path::new("/proc").join(&pid).exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{pid} lives on after its handle was dropped");
}

#[tokio::test]
async fn a_server_that_died_is_seen() {
    let mut server = run_bench::exec::spawn(&script("exit 7")).await.unwrap();
    assert_eq!(server.ended().await, Ended::Exited(7));
    assert_eq!(server.has_ended(), Some(Ended::Exited(7)));
    assert_eq!(server.stop(Duration::ZERO).await.unwrap().ended, Ended::Exited(7));
}

#[tokio::test]
#[ignore = "needs root: changes the user of a child"]
async fn the_program_runs_as_the_user() {
    let mut command = entered(script("id -u; id -g; id -G"));
    command.user = Some((65534, 65533));
    assert_eq!(run(&command).await.stdout.text(), "65534\n65533\n65533\n");
}
