//! A real User-Mode Linux kernel runs our init. Needs Debian's `user-mode-linux`,
//! or a kernel named by `RUN_BENCH_UML`; without either, these say so and pass.

use std::path::PathBuf;
use std::time::Duration;

use run_bench::config::TargetSection;
use run_bench::target::UmlTarget;
use run_bench::target::kernel::{KernelImage, KernelKind};
use run_bench::units::Bytes;
use tokio_util::sync::CancellationToken;

async fn target() -> Option<UmlTarget> {
    let named = std::env::var_os("RUN_BENCH_UML").map(PathBuf::from);
    let Some(path) = named.or_else(|| Some(PathBuf::from("/usr/bin/linux.uml")).filter(|p| p.exists()))
    else {
        eprintln!("skipped: no UML kernel; install user-mode-linux or set RUN_BENCH_UML");
        return None;
    };
    let image = KernelImage::read(&path).await.expect("a UML kernel");
    assert_eq!(image.kind, KernelKind::Uml);
    assert!(image.build_id.as_ref().is_some_and(|id| id.len() == 40), "{:?}", image.build_id);
    let section = TargetSection { memory: Bytes::mib(128), ..TargetSection::default() };
    let program = PathBuf::from(env!("CARGO_BIN_EXE_run-bench"));
    Some(UmlTarget::new(image, section, None, program, "host".to_owned()))
}

async fn run(argv: &[&str]) -> Option<(Option<i32>, String)> {
    let target = target().await?;
    let argv = argv.iter().map(|a| (*a).to_owned()).collect();
    let end = target.run_command(argv, Duration::from_secs(60), &CancellationToken::new()).await;
    let end = end.expect("the guest delivers");
    eprintln!("boot {:?}, whole {:?}, {:?}", end.boot, end.wall, end.remarks);
    Some((end.exit, String::from_utf8_lossy(&end.stdout).into_owned()))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guest_runs_the_kernel_that_its_image_names() {
    let Some((exit, out)) = run(&["uname", "-r"]).await else { return };
    let release = target().await.expect("as before").image().release.clone();
    assert_eq!((exit, out.trim()), (Some(0), release.as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guest_is_set_up_for_trials() {
    let script = "cat /sys/fs/cgroup/cgroup.controllers; cat /sys/class/net/lo/flags; \
                  touch /tmp/x /run/x && touch /etc/x 2>/dev/null || echo read-only; exit 7";
    let Some((exit, out)) = run(&["/bin/sh", "-c", script]).await else { return };
    assert_eq!(exit, Some(7));
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].split(' ').any(|c| c == "memory"), "{out}");
    // IFF_UP is the lowest bit.
    assert!(lines[1].ends_with('9'), "{out}");
    assert_eq!(lines[2], "read-only");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_not_there_is_a_problem_not_a_status() {
    let Some(target) = target().await else { return };
    let argv = vec!["no-such-program".to_owned()];
    let end =
        target.run_command(argv, Duration::from_secs(60), &CancellationToken::new()).await.expect("delivers");
    assert_eq!(end.exit, None);
    assert!(end.problem.as_ref().is_some_and(|p| p.contains("no-such-program")), "{:?}", end.problem);
}
