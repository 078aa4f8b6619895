//! What the statistics cost: the analyses that `compare` repeats for every
//! metric, at usual and at extreme sizes.
//!
//! Prints the median of a few repeats; run with `cargo bench --bench stats`.

use std::hint::black_box;
use std::time::Instant;

use run_bench::stats::mann_whitney::MannWhitney;
use run_bench::stats::permutation::Permutation;
use run_bench::stats::power::PowerTarget;
use run_bench::stats::random::Chance;
use run_bench::stats::sequential::{EProcess, GroupSequential};
use run_bench::stats::{BlockDifferences, PairedAnalysis};

const REPEATS: usize = 15;

fn report<T>(name: &str, mut work: impl FnMut() -> T) {
    let mut micros: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    micros.sort_by(f64::total_cmp);
    println!("{name:<48} {:>12.1} us", micros[REPEATS / 2]);
}

fn noise(values: usize) -> Vec<f64> {
    let mut chance = Chance::new(values as u64);
    (0..values).map(|_| 0.01 + 0.02 * chance.normal()).collect()
}

fn main() {
    for blocks in [6, 18, 20, 21, 100, 2_500] {
        let differences = BlockDifferences::new(noise(blocks)).expect("finite");
        report(&format!("paired analysis, {blocks} blocks"), || PairedAnalysis::new(&differences, 0.95, 1));
    }
    let differences = BlockDifferences::new(noise(60)).expect("finite");
    let process = EProcess::new(0.05).expect("a valid alpha");
    report("e-process path, 60 blocks", || process.path(&differences));
    let plan = GroupSequential::standard();
    report("group-sequential looks, 18 blocks", || plan.evaluate(&differences));
    for runs in [10, 30, 5_000] {
        let (before, after) = (noise(runs), noise(runs + 1));
        report(&format!("permutation, {runs} runs an arm"), || Permutation::new(&before, &after, 1));
        report(&format!("Mann-Whitney, {runs} runs an arm"), || MannWhitney::new(&before, &after));
    }
    report("blocks for an effect", || PowerTarget::default().blocks(0.018, 0.05));
}
