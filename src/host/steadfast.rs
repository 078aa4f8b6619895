//! Staying responsive while the host reclaims: the tool's own pages stay in memory.

use rustix::mm::{MlockAllFlags, mlockall};

/// Locks what the calling process has mapped, page by page as it is touched,
/// where its rights allow; children do not inherit it. What is mapped later is
/// left alone: it may be a workload's memory, made to be reclaimed.
pub fn stay_in_memory() -> bool {
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::ONFAULT).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_may_stay_and_others_are_told() {
        let stays = stay_in_memory();
        let status = std::fs::read_to_string("/proc/self/status").expect("our own");
        let line = status.lines().find(|line| line.starts_with("VmLck:")).expect("always there");
        let locked = line.split_whitespace().nth(1).is_some_and(|kib| kib != "0");
        assert_eq!(stays, locked, "{line}");
        assert!(stays || !rustix::process::geteuid().is_root());
    }
}
