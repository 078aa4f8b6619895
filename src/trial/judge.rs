//! The rules that every trial must keep, whatever its workload.

use super::host_setup::HostSetup;
use crate::host::SysRoot;
use crate::host::cgroup::MemoryEvents;
use crate::host::reader::swaps;
use crate::store::{KernelIdentity, SwapFacts, TrialSpec, Violation};
use crate::units::Bytes;

/// Kills in the cgroup during the trial mean that its numbers are of another workload.
pub(crate) fn out_of_memory(before: &MemoryEvents, after: &MemoryEvents) -> Option<Violation> {
    let kills = after.oom_kill?.saturating_sub(before.oom_kill.unwrap_or(0));
    (kills > 0).then(|| {
        Violation::new(
            "host.oom-kill",
            "the kernel killed a process of the cgroup for want of memory; raise memcg.limit or swap.size",
            format!("oom_kill rose by {kills}"),
        )
    })
}

/// The swap device as it was used, and whether pages went elsewhere.
pub(super) fn swap_use(root: &SysRoot, setup: &HostSetup) -> Option<(SwapFacts, Option<Violation>)> {
    let swap = setup.swap.as_ref()?;
    let after = swaps(root).ok()?;
    let elsewhere = swap.grown_elsewhere(&setup.swaps_before, &after);
    let facts = SwapFacts {
        kind: swap.kind.name().to_owned(),
        device: swap.device.display().to_string(),
        size: swap.size,
        synchronous: swap.synchronous,
        value_bytes: None,
        peak_used: swap.used(root).ok(),
        others_grew: !elsewhere.is_empty(),
    };
    let violation = (!elsewhere.is_empty()).then(|| {
        let seen: Vec<String> = elsewhere.iter().map(|(path, grown)| format!("{} by {grown}", path.display())).collect();
        Violation::new(
            "host.foreign-swap",
            "pages were swapped to a device that is not this trial's; switch the other swap off for the campaign",
            seen.join(", "),
        )
    });
    Some((facts, violation))
}

/// A trial whose purpose is swapping must have swapped to our device.
pub(super) fn swap_was_used(
    spec: &TrialSpec,
    pages_out: Option<u64>,
    used: Option<Bytes>,
) -> Option<Violation> {
    spec.swap.as_ref()?;
    let wrote = pages_out.unwrap_or(0) > 0 || used.is_some_and(|u| u.0 > 0);
    (!wrote).then(|| {
        Violation::new(
            "host.no-swap-used",
            "no page was swapped out, so the trial did not exercise reclaim of anonymous memory; lower memcg.limit or raise the workload's size",
            "pswpout did not change".to_owned(),
        )
    })
}

/// The kernel that runs must be the one that the arm names.
pub(crate) fn wrong_kernel(expected: &KernelIdentity, running: &KernelIdentity) -> Option<Violation> {
    let same =
        |expected: &Option<String>, running: &Option<String>| expected.is_none() || expected == running;
    let matches = (expected.release.is_empty() || expected.release == running.release)
        && (expected.version.is_empty() || expected.version == running.version)
        && same(&expected.build_id, &running.build_id)
        && same(&expected.config_hash, &running.config_hash);
    (!matches).then(|| {
        Violation::new(
            "host.wrong-kernel",
            "another kernel runs than the arm names, so the trial would be counted for the wrong arm",
            format!(
                "expected {} {} {}, running {} {} {}",
                expected.release,
                expected.version,
                expected.build_id.as_deref().unwrap_or("-"),
                running.release,
                running.version,
                running.build_id.as_deref().unwrap_or("-")
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_wrong_when_any_known_part_differs() {
        let running = KernelIdentity {
            release: "6.12.1".to_owned(),
            version: "#1 SMP".to_owned(),
            build_id: Some("aa".to_owned()),
            ..KernelIdentity::default()
        };
        assert_eq!(wrong_kernel(&KernelIdentity::default(), &running), None);
        assert_eq!(wrong_kernel(&running, &running), None);
        let other = KernelIdentity { build_id: Some("bb".to_owned()), ..running.clone() };
        assert!(wrong_kernel(&other, &running).is_some());
        let unknown = KernelIdentity { build_id: None, ..running.clone() };
        assert!(wrong_kernel(&running, &unknown).is_some(), "an expected build id must be seen");
    }

    #[test]
    fn only_new_kills_count() {
        let events = |oom_kill| MemoryEvents { oom_kill, ..MemoryEvents::default() };
        assert_eq!(out_of_memory(&events(Some(2)), &events(Some(2))), None);
        assert_eq!(out_of_memory(&events(None), &events(None)), None);
        assert!(out_of_memory(&events(Some(2)), &events(Some(3))).is_some());
    }
}
