//! Times a piece of work per operation: finds a count that takes long enough,
//! checks that more work takes more time, repeats, takes the least disturbed sample.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::error::CalibrateError;

/// Below this a clock reading and an interrupt weigh too much.
const SHORTEST_CHECKED: Duration = Duration::from_micros(150);
/// Twice the work must take at least this many times as long.
const LEAST_GROWTH: f64 = 1.35;
const ATTEMPTS: usize = 8;
/// Pairs for each sample that a plain measurement would take.
const PAIRS: usize = 3;

/// How long each sample may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    pub sample: Duration,
    pub samples: usize,
}

/// Nanoseconds of one operation. `work` does as many as it is told.
pub fn per_operation(
    what: &'static str,
    budget: Budget,
    mut work: impl FnMut(u64) -> Duration,
) -> Result<f64, CalibrateError> {
    let count = enough(what, budget, &mut work)?;
    let samples = (0..budget.samples.max(1)).map(|_| work(count).as_nanos() as f64 / count as f64);
    Ok(samples.fold(f64::INFINITY, f64::min))
}

/// Nanoseconds of one operation before and after a change, and the median of the
/// differences of neighbouring samples: a slow spell falls on both sides of a pair.
pub fn per_pair(
    what: &'static str,
    budget: Budget,
    mut work: impl FnMut(u64, bool) -> Duration,
) -> Result<Pair, CalibrateError> {
    let shorter = Budget { sample: budget.sample / 2, ..budget };
    let count = enough(what, shorter, &mut |count| work(count, false))?;
    let (mut before, mut after, mut saved) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PAIRS * budget.samples.max(1) {
        let one = work(count, false).as_nanos() as f64 / count as f64;
        let two = work(count, true).as_nanos() as f64 / count as f64;
        before.push(one);
        after.push(two);
        saved.push(one - two);
    }
    Ok(Pair { before: median(&mut before), after: median(&mut after), saved: median(&mut saved) })
}

/// What [`per_pair`] found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    pub before: f64,
    pub after: f64,
    pub saved: f64,
}

/// Processor time of a closure on this thread, so that other work on a shared
/// machine weighs in by the caches only. The caller keeps the result alive.
pub fn timed(work: impl FnOnce()) -> Duration {
    let start = processor_time();
    work();
    processor_time().saturating_sub(start)
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// Time on the wall, for threads that wait for one another.
pub fn timed_together(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Doubles the count until a sample takes long enough, and sees that time grows.
fn enough(
    what: &'static str,
    budget: Budget,
    work: &mut impl FnMut(u64) -> Duration,
) -> Result<u64, CalibrateError> {
    let mut count = 16u64;
    let mut took = work(count);
    while took < SHORTEST_CHECKED && count < 1 << 40 {
        count *= 2;
        took = work(count);
    }
    let mut ratio = 0.0;
    for _ in 0..ATTEMPTS {
        let twice = work(2 * count);
        ratio = twice.as_nanos() as f64 / took.as_nanos().max(1) as f64;
        if ratio >= LEAST_GROWTH {
            let scale = budget.sample.as_nanos() as f64 / twice.as_nanos().max(1) as f64;
            return Ok(((2 * count) as f64 * scale).max(16.0) as u64);
        }
        took = work(count);
    }
    Err(CalibrateError::NotTimed { what, ratio })
}

/// The middle value; 0 of none.
pub fn median(values: &mut [f64]) -> f64 {
    quantile(values, 0.5)
}

/// A quantile by linear interpolation; 0 of none.
pub fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return 0.0 };
    let place = share * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    values[below] + (values[above] - values[below]) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget = Budget { sample: Duration::from_millis(1), samples: 3 };

    #[test]
    fn work_that_costs_nothing_more_is_refused() {
        let error = per_operation("nothing", BUDGET, |_| Duration::from_micros(200)).expect_err("no growth");
        assert!(error.to_string().contains("nothing takes 1.00 times as long"), "{error}");
    }

    #[test]
    fn time_in_proportion_to_the_count_gives_its_slope() {
        let seven = per_operation("seven", BUDGET, |count| Duration::from_nanos(7 * count)).expect("timed");
        assert!((seven - 7.0).abs() < 1e-9, "{seven}");
    }

    #[test]
    fn quantiles_interpolate() {
        let mut values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(median(&mut values), 2.5);
        assert_eq!(quantile(&mut values, 0.0), 1.0);
        assert_eq!(quantile(&mut values, 1.0), 4.0);
        assert_eq!(median(&mut []), 0.0);
    }
}
