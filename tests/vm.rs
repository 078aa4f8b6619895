//! A real QEMU guest runs our init and trials. Needs QEMU, and a bzImage named by
//! `RUN_BENCH_BZIMAGE` with its modules installed or beside it, as in an unpacked
//! package: `RUN_BENCH_BZIMAGE=…/boot/vmlinuz-… cargo test --test vm -- --ignored`

mod guests;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use run_bench::config::TargetSection;
use run_bench::store::{TrialOutcome, TrialStatus};
use run_bench::target::kernel::{KernelImage, KernelKind};
use run_bench::target::{Accelerator, VmTarget};
use run_bench::units::Bytes;
use tokio_util::sync::CancellationToken;

async fn image() -> KernelImage {
    let path = std::env::var_os("RUN_BENCH_BZIMAGE").map(PathBuf::from).expect("RUN_BENCH_BZIMAGE");
    let image = KernelImage::read(&path).await.expect("a bzImage");
    assert_eq!(image.kind, KernelKind::X86);
    image
}

async fn target(image: KernelImage, arguments: Option<&str>) -> VmTarget {
    let section = TargetSection { memory: Bytes::gib(1), ..TargetSection::default() };
    let program = PathBuf::from(env!("CARGO_BIN_EXE_run-bench"));
    let arguments = arguments.map(str::to_owned);
    VmTarget::new(image, section, arguments, program, "host".to_owned()).await.expect("QEMU")
}

fn never() -> CancellationToken {
    CancellationToken::new()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RUN_BENCH_BZIMAGE and QEMU"]
async fn the_guest_runs_the_kernel_that_its_image_names() {
    let image = image().await;
    // The kernel hands words that it does not know to init.
    let target = target(image.clone(), Some("an_unknown_word")).await;
    let script = "read line < /proc/sys/kernel/osrelease; echo $line; read line < /sys/class/net/lo/flags; echo $line; exit 7";
    let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    let end = target.run_command(argv, Duration::from_secs(120), &never()).await.expect("it delivers");
    eprintln!("{:?}: boot {:?}, whole {:?}, {:?}", target.accelerator(), end.boot, end.wall, end.remarks);
    assert_eq!(String::from_utf8_lossy(&end.stdout), format!("{}\n0x9\n", image.release));
    assert_eq!(end.exit, Some(7));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RUN_BENCH_BZIMAGE, QEMU and memcached"]
async fn a_memcached_trial_is_valid_and_stamped_where_it_was_emulated() {
    let target = target(image().await, None).await;
    let (_keep, folder) = guests::trial_folder();
    let spec = guests::first_trial(guests::MEMCACHED);
    let status = target.run_trial(&spec, &folder, &never()).await.expect("it runs");
    let record = folder.record().expect("a record");
    assert_eq!(status, TrialStatus::Valid, "{:?} {:?}", record.outcome, record.host_events);
    let emulated = target.accelerator() == Accelerator::Tcg;
    assert_eq!(record.functional_only.is_some(), emulated, "{:?}", record.functional_only);
    assert!(record.value("memcached.ops_per_sec").is_some_and(|ops| ops > 0.0));
    let changes = |name: &str| record.counters.get(name).map(|c| (c.before, c.after));
    eprintln!("overhead {:?}; {:?}", record.overhead, changes("memory_stat.pgsteal"));
    assert!(folder.path().join("raw/console.txt").is_file());
    assert_eq!(record.kernel.release, target_release(&spec, &record));
}

/// What had to run is written into the specification, and so into the record.
fn target_release(given: &run_bench::store::TrialSpec, record: &run_bench::store::TrialRecord) -> String {
    assert_eq!(given.kernel, None);
    record.spec.kernel.as_ref().map(|k| k.release.clone()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RUN_BENCH_BZIMAGE, QEMU and memcached"]
async fn another_kernel_than_the_arms_makes_the_trial_invalid() {
    let image = KernelImage { version: "#99 of an invented day".to_owned(), ..image().await };
    let target = target(image, None).await;
    let (_keep, folder) = guests::trial_folder();
    let spec = guests::first_trial(guests::MEMCACHED);
    let status = target.run_trial(&spec, &folder, &never()).await.expect("it runs");
    assert_eq!(status, TrialStatus::Invalid);
    let record = folder.record().expect("a record");
    let TrialOutcome::Invalid { violations } = &record.outcome else { panic!("{:?}", record.outcome) };
    assert!(violations.iter().any(|v| v.rule == "kernel.identity"), "{violations:?}");
}

#[test]
#[ignore = "needs RUN_BENCH_BZIMAGE and QEMU"]
fn no_guest_survives_its_killed_host() {
    let image = std::env::var_os("RUN_BENCH_BZIMAGE").expect("RUN_BENCH_BZIMAGE");
    // The guest's memory is its mark among this host's processes.
    let memory = format!("{}K", 400_000 + std::process::id() % 100_000);
    let mut child = Command::new(env!("CARGO_BIN_EXE_run-bench"))
        .args(["kernel", "boot"])
        .arg(image)
        .args(["--memory", &format!("{memory}iB"), "--", "sleep", "1000"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let guest_runs = || {
        let entries = std::fs::read_dir("/proc").expect("proc").flatten();
        entries.filter_map(|e| std::fs::read(e.path().join("cmdline")).ok()).any(|line| {
            let words: Vec<&[u8]> = line.split(|b| *b == 0).collect();
            words[0].ends_with(b"qemu-system-x86_64") && words.contains(&memory.as_bytes())
        })
    };
    let wait = |wanted: bool| {
        let begun = Instant::now();
        while guest_runs() != wanted {
            assert!(begun.elapsed() < Duration::from_secs(30), "waited for running = {wanted}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    wait(true);
    child.kill().expect("killed");
    child.wait().expect("reaped");
    wait(false);
}
