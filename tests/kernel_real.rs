//! A real kernel tree, built twice and booted. Takes minutes, so only by name:
//! `RUN_BENCH_KERNEL_TREE=/usr/src/linux-source-6.12.tar.xz cargo test --test kernel_real -- --ignored`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use run_bench::config::TargetSection;
use run_bench::target::UmlTarget;
use run_bench::target::kernel::{BuildRequest, KernelCache, KernelImage, KernelKind, Layout, build};
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a kernel tree, named by RUN_BENCH_KERNEL_TREE, and minutes"]
async fn a_base_and_its_padded_link_boot_and_are_told_apart() {
    let tree = std::env::var_os("RUN_BENCH_KERNEL_TREE").map(PathBuf::from).expect("RUN_BENCH_KERNEL_TREE");
    let cache = KernelCache::from_environment().expect("RUN_BENCH_CACHE");
    let program = PathBuf::from(env!("CARGO_BIN_EXE_run-bench"));
    let request = BuildRequest {
        tree,
        revision: None,
        patches: Vec::new(),
        kind: KernelKind::Uml,
        fragments: Vec::new(),
        base_config: None,
        layout: Layout::Plain,
        make_arguments: Vec::new(),
        jobs: None,
        program: Some(program.clone()),
    };
    let padded = BuildRequest { layout: Layout::Padding(320), ..request.clone() };
    let mut releases = Vec::new();
    for request in [request, padded] {
        let begun = Instant::now();
        let step = |step: &_| eprintln!("{:>4} s {step:?}", begun.elapsed().as_secs());
        let built = build(&cache, &request, step, &CancellationToken::new()).await.expect("builds");
        eprintln!("{:>4} s {} unmet {:?}", begun.elapsed().as_secs(), built.name, built.unmet);
        let image = KernelImage::read(&cache.image(&built.name)).await.expect("an image");
        assert_eq!(image.config.as_ref().map(|c| c.value("LRU_GEN_STATS").to_owned()), Some("y".to_owned()));
        let target = UmlTarget::new(image, TargetSection::default(), None, program.clone(), String::new());
        let argv = [
            "/bin/sh",
            "-c",
            "uname -r; cat /sys/kernel/mm/lru_gen/enabled; ls -d /sys/kernel/debug/lru_gen",
        ];
        let argv = argv.map(str::to_owned).to_vec();
        let end = target
            .run_command(argv, Duration::from_secs(60), &CancellationToken::new())
            .await
            .expect("boots");
        let out = String::from_utf8_lossy(&end.stdout).into_owned();
        eprintln!("boot {:?} whole {:?}", end.boot, end.wall);
        assert!(out.starts_with(&format!("{}\n0x000", built.release)), "{out}");
        assert!(out.ends_with("/sys/kernel/debug/lru_gen\n"), "{out}");
        releases.push(built.release);
    }
    assert_ne!(releases[0], releases[1]);
}
