//! The reclaim model against a running kernel, by name:
//! `RUN_BENCH_UML_KERNEL=linux cargo test --test model_kernel -- --ignored`

use std::process::Command;

const BINARY: &str = env!("CARGO_BIN_EXE_run-bench");

#[test]
#[ignore = "needs a User-Mode Linux kernel, named by RUN_BENCH_UML_KERNEL"]
fn a_cell_counts_what_the_kernel_counts() {
    let kernel = std::env::var("RUN_BENCH_UML_KERNEL").expect("RUN_BENCH_UML_KERNEL");
    let arguments = ["selftest", "model", "--kernel", &kernel, "--cells", "mglru zipf:0.9 mmap"];
    let output = Command::new(BINARY).args(arguments).output().expect("run-bench starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 of 1 cells are within"), "{text}");
}

#[test]
fn a_kernel_that_is_none_and_a_cell_that_is_none_are_told() {
    let refused = |arguments: &[&str]| {
        let all = [&["selftest", "model"], arguments].concat();
        let output = Command::new(BINARY).args(all).output().expect("run-bench starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = refused(&["--kernel", "/nonexistent/linux"]);
    assert!(matches!(code, Some(2 | 3)) && text.contains("/nonexistent/linux"), "{code:?} {text}");
    let (code, text) = refused(&["--kernel", "x", "--cells", "random"]);
    assert!(code == Some(2) && text.contains("mglru cyclic mmap 12288/8192"), "{code:?} {text}");
    let (code, text) = refused(&["--kernel", BINARY]);
    assert!(code != Some(0), "{code:?} {text}");
}
