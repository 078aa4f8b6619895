//! A closed queue: tasks that think, then pass through servers one at a time.
//!
//! Exact mean value analysis (Reiser and Lavenberg, 1980) for single servers and
//! a delay, with the two bounds of operational analysis beside it: throughput is
//! at most `N / (Z + sum D)` and at most `1 / max D`. A lock that is contended
//! costs its hand-off as well, in proportion to how busy it is, which is found by
//! iteration. Times are nanoseconds an operation.

/// A server that takes one task at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Server {
    pub name: &'static str,
    /// Time an operation holds it.
    pub demand: f64,
    /// Added to the demand when somebody waits.
    pub handoff: f64,
}

/// What binds the throughput.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// Each task by its own time.
    Tasks,
    /// One server.
    Server(&'static str),
}

impl Bound {
    pub fn text(&self) -> String {
        match self {
            Bound::Tasks => "each task's own time".to_owned(),
            Bound::Server(name) => (*name).to_owned(),
        }
    }
}

/// A solved network.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Operations a nanosecond.
    pub throughput: f64,
    pub bound: Bound,
    /// Of the busiest server.
    pub utilisation: f64,
}

const ROUNDS: usize = 12;

/// Throughput of `tasks` tasks with `think` nanoseconds outside the servers.
pub fn solve(tasks: u32, think: f64, servers: &[Server]) -> Solution {
    let mut busy = vec![0.5; servers.len()];
    let mut throughput = 0.0;
    let mut demands: Vec<f64> = Vec::new();
    for _ in 0..ROUNDS {
        demands = servers.iter().zip(&busy).map(|(s, busy)| s.demand + s.handoff * busy).collect();
        throughput = mean_value_analysis(tasks, think, &demands);
        for (busy, demand) in busy.iter_mut().zip(&demands) {
            // Half a step: a whole one may swing.
            *busy = 0.5 * (*busy + (throughput * demand).min(1.0));
        }
    }
    let total: f64 = demands.iter().sum();
    let longest = demands.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
    let by_tasks = f64::from(tasks) / (think + total).max(f64::MIN_POSITIVE);
    let bound = match longest {
        Some((at, demand)) if demand > 0.0 && 1.0 / demand < by_tasks => Bound::Server(servers[at].name),
        _ => Bound::Tasks,
    };
    let utilisation = longest.map_or(0.0, |(_, demand)| (throughput * demand).min(1.0));
    Solution { throughput, bound, utilisation }
}

fn mean_value_analysis(tasks: u32, think: f64, demands: &[f64]) -> f64 {
    let mut waiting = vec![0.0; demands.len()];
    let mut throughput = 0.0;
    for population in 1..=tasks.max(1) {
        let residence: Vec<f64> = demands.iter().zip(&waiting).map(|(d, q)| d * (1.0 + q)).collect();
        let cycle = think + residence.iter().sum::<f64>();
        throughput = f64::from(population) / cycle.max(f64::MIN_POSITIVE);
        for (queue, residence) in waiting.iter_mut().zip(&residence) {
            *queue = throughput * residence;
        }
    }
    throughput
}

/// The think time at which the network does `throughput`, or `None` if even
/// tasks that never think cannot: the demands contradict what was measured.
pub fn think_for(tasks: u32, throughput: f64, servers: &[Server]) -> Option<f64> {
    if solve(tasks, 0.0, servers).throughput < throughput {
        return None;
    }
    let (mut low, mut high) = (0.0, f64::from(tasks) / throughput);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if solve(tasks, middle, servers).throughput >= throughput {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(demand: f64) -> Server {
        Server { name: "lock", demand, handoff: 0.0 }
    }

    /// Machine repairman: one exponential server, N sources.
    fn repairman(tasks: u32, think: f64, demand: f64) -> f64 {
        let mut weights = vec![1.0];
        for k in 1..=tasks {
            let last = weights[k as usize - 1];
            weights.push(last * f64::from(tasks - k + 1) * demand / think);
        }
        (1.0 - weights[0] / weights.iter().sum::<f64>()) / demand
    }

    #[test]
    fn one_server_is_the_machine_repairman() {
        for (tasks, think, demand) in
            [(1, 100.0, 10.0), (4, 100.0, 30.0), (16, 500.0, 40.0), (104, 50.0, 700.0)]
        {
            let found = solve(tasks, think, &[lock(demand)]).throughput;
            let exact = repairman(tasks, think, demand);
            assert!((found / exact - 1.0).abs() < 1e-9, "{tasks}: {found} {exact}");
        }
    }

    #[test]
    fn bounds_hold_and_the_binding_one_is_named() {
        let servers = [lock(10.0), Server { name: "zone", demand: 40.0, handoff: 5.0 }];
        let few = solve(2, 1000.0, &servers);
        assert_eq!(few.bound, Bound::Tasks);
        let many = solve(64, 1000.0, &servers);
        assert_eq!(many.bound, Bound::Server("zone"));
        assert!(many.throughput <= 1.0 / 40.0 && many.utilisation > 0.9);
    }

    #[test]
    fn think_time_is_found_back() {
        let servers = [lock(20.0)];
        let throughput = solve(16, 700.0, &servers).throughput;
        let think = think_for(16, throughput, &servers).expect("possible");
        assert!((think - 700.0).abs() < 1e-3, "{think}");
        assert_eq!(think_for(16, 1.0 / 19.0, &servers), None);
    }
}
