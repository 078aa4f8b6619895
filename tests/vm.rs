//! A real QEMU guest runs our init. Needs QEMU, and a bzImage named by
//! `RUN_BENCH_BZIMAGE` (with its modules installed or beside it); without, these
//! say so and pass.

use std::path::PathBuf;
use std::time::Duration;

use run_bench::config::TargetSection;
use run_bench::target::VmTarget;
use run_bench::target::kernel::{KernelImage, KernelKind};
use run_bench::units::Bytes;
use tokio_util::sync::CancellationToken;

async fn target() -> Option<(VmTarget, KernelImage)> {
    let Some(path) = std::env::var_os("RUN_BENCH_BZIMAGE").map(PathBuf::from) else {
        eprintln!("skipped: RUN_BENCH_BZIMAGE names no kernel");
        return None;
    };
    let image = KernelImage::read(&path).await.expect("a bzImage");
    assert_eq!(image.kind, KernelKind::X86);
    let section = TargetSection { memory: Bytes::mib(768), ..TargetSection::default() };
    let program = PathBuf::from(env!("CARGO_BIN_EXE_run-bench"));
    let target = VmTarget::new(image.clone(), section, None, program, "host".to_owned()).await.expect("QEMU");
    Some((target, image))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guest_runs_the_kernel_that_its_image_names() {
    let Some((target, image)) = target().await else { return };
    let script = "read line < /proc/sys/kernel/osrelease; echo $line; read line < /sys/class/net/lo/flags; echo $line; exit 7";
    let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    let end = target.run_command(argv, Duration::from_secs(120), &CancellationToken::new()).await;
    let end = end.expect("the guest delivers");
    eprintln!("{:?}: boot {:?}, whole {:?}, {:?}", target.accelerator(), end.boot, end.wall, end.remarks);
    assert_eq!(String::from_utf8_lossy(&end.stdout), format!("{}\n0x9\n", image.release));
    assert_eq!(end.exit, Some(7));
}
