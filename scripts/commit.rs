//! Build script: which commit a binary was made from, marked when the tree had changes.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=RUN_BENCH_COMMIT");
    for path in ["src", "Cargo.toml", "Cargo.lock", "scripts/commit.rs"] {
        println!("cargo::rerun-if-changed={path}");
    }
    let given = std::env::var("RUN_BENCH_COMMIT").ok().filter(|commit| !commit.is_empty());
    if let Some(folder) = git(&["rev-parse", "--git-dir"]) {
        for file in ["HEAD", "index"] {
            let path = Path::new(&folder).join(file);
            if path.exists() {
                println!("cargo::rerun-if-changed={}", path.display());
            }
        }
    }
    // A packaged source has no commit of its own, even inside somebody else's repository.
    let ours = git(&["ls-files", "--error-unmatch", "Cargo.toml"]).is_some();
    let described = ours.then(|| git(&["describe", "--always", "--dirty", "--abbrev=12"])).flatten();
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let version = match given.or(described) {
        Some(commit) => {
            println!("cargo::rustc-env=RUN_BENCH_COMMIT={commit}");
            format!("{version} ({commit})")
        }
        None => version,
    };
    println!("cargo::rustc-env=RUN_BENCH_VERSION={version}");
}

/// The first line of git's answer; none without git, outside a repository, or on failure.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?.lines().next()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}
