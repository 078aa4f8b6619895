//! Memory arithmetic before anything starts: what must fit into what, with the sums.
//!
//! A sum that does not hold is a problem, and its text is the sum.

mod machine;
#[cfg(test)]
mod tests;
mod workloads;

use super::error::Problem;
use super::memcg::Limit;
use super::plan::Plan;
use super::plan::PlanArm;
use super::scale::Machine;
use crate::units::Bytes;

/// The key of problems that a smaller scale or a larger machine solves.
pub const MACHINE_KEY: &str = "this machine";

/// The sums, and those that do not hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arithmetic {
    /// One sum a line, for `plan`.
    pub lines: Vec<String>,
    pub problems: Vec<Problem>,
}

/// Does the arithmetic of a plan on a machine.
pub fn check(plan: &Plan, machine: &Machine) -> Arithmetic {
    let mut sums = Arithmetic::default();
    for workload in &plan.workloads {
        workloads::describe(&workload.workload, &mut sums);
        for (arm, key) in distinct_limits(plan) {
            workloads::fits(&workload.workload, Room::of(arm, plan), &key, &mut sums);
        }
    }
    machine::fits(plan, machine, &mut sums);
    sums
}

/// The arms whose limits differ, and how to name each limit.
fn distinct_limits(plan: &Plan) -> Vec<(&PlanArm, String)> {
    let mut found: Vec<(&PlanArm, String)> = Vec::new();
    for arm in &plan.arms {
        let known = found.iter().any(|(other, _)| other.memcg == arm.memcg);
        if !known {
            let key =
                if found.is_empty() { "memcg".to_owned() } else { format!("memcg of arm {:?}", arm.name) };
            found.push((arm, key));
        }
    }
    found
}

/// What an arm gives a workload; none is no bound.
#[derive(Debug, Clone, Copy)]
struct Room {
    limit: Option<Bytes>,
    /// Swap that the cgroup may use: 0 without a device.
    swap: Bytes,
}

impl Room {
    fn of(arm: &PlanArm, plan: &Plan) -> Self {
        let bytes = |limit: Limit| match limit {
            Limit::Max => None,
            Limit::Bytes(bytes) => Some(bytes),
        };
        let device = plan.swap().map_or(Bytes(0), |swap| swap.size);
        let allowed = arm.memcg.as_ref().and_then(|memcg| bytes(memcg.swap_limit));
        Room {
            limit: arm.memcg.as_ref().and_then(|memcg| bytes(memcg.limit)),
            swap: allowed.map_or(device, |allowed| allowed.min(device)),
        }
    }
}

/// Pushes the sum; a problem too when it does not hold.
fn must_fit(need: Bytes, room: Bytes, key: &str, sum: String, remedy: &str, sums: &mut Arithmetic) {
    if need > room {
        sums.problems.push(Problem::new(key, format!("{sum}: {need} do not fit into {room}; {remedy}")));
    }
    sums.lines.push(sum);
}
