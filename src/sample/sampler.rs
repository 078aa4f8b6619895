//! The sampling thread.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::counter_file::CounterFile;
use super::source::Source;
use crate::store::{Sample, SamplerCost, SeriesWriter, StoreError};
use crate::units::Nanos;

/// All counters at the boundary of a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The phase that begins here; `None` where one only ended.
    pub phase: Option<String>,
    pub at: Nanos,
    pub values: BTreeMap<String, u64>,
}

/// What a sampler has brought home.
#[derive(Debug)]
pub struct Sampled {
    pub snapshots: Vec<Snapshot>,
    pub cost: SamplerCost,
}

#[derive(Debug)]
struct State {
    files: Vec<CounterFile>,
    snapshots: Vec<Snapshot>,
    snapshot_cost: Duration,
    stop: bool,
}

#[derive(Debug)]
struct Shared {
    origin: Instant,
    state: Mutex<State>,
    wake: Condvar,
}

/// Reads counters every period on its own thread, and at once on request.
#[derive(Debug)]
pub struct Sampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<SamplerCost, StoreError>>>,
}

fn locked(shared: &Shared) -> MutexGuard<'_, State> {
    shared.state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn read_all(files: &mut [CounterFile]) -> BTreeMap<String, u64> {
    let mut values = BTreeMap::new();
    for file in files {
        // A cgroup that is gone has no counters any more; the others go on.
        let _ = file.read(&mut values);
    }
    values
}

impl Sampler {
    /// Opens the sources. With a writer, samples are taken every `period`.
    pub fn start(origin: Instant, sources: &[Source], series: Option<(SeriesWriter, Nanos)>) -> Self {
        let files = sources.iter().filter_map(CounterFile::open).collect();
        let state = State { files, snapshots: Vec::new(), snapshot_cost: Duration::ZERO, stop: false };
        let shared = Arc::new(Shared { origin, state: Mutex::new(state), wake: Condvar::new() });
        let thread = series.map(|(writer, period)| {
            let shared = shared.clone();
            std::thread::spawn(move || sample_loop(&shared, writer, period.to_duration()))
        });
        Sampler { shared, thread }
    }

    /// Takes a snapshot now; cheap enough for phase boundaries.
    pub fn snapshot(&self, phase: Option<&str>) {
        let mut state = locked(&self.shared);
        let begun = Instant::now();
        let at = Nanos::from(begun.duration_since(self.shared.origin));
        let values = read_all(&mut state.files);
        state.snapshots.push(Snapshot { phase: phase.map(str::to_owned), at, values });
        state.snapshot_cost += begun.elapsed();
    }

    /// Stops the thread and returns everything.
    pub fn finish(mut self) -> Result<Sampled, StoreError> {
        locked(&self.shared).stop = true;
        self.shared.wake.notify_all();
        let mut cost = match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result?,
            // The thread only panics on a bug of ours; its samples are lost, the trial is not.
            Some(Err(_)) | None => SamplerCost { samples: 0, missed: 0, cpu: Nanos(0) },
        };
        let mut state = locked(&self.shared);
        cost.cpu = Nanos(cost.cpu.0 + Nanos::from(state.snapshot_cost).0);
        Ok(Sampled { snapshots: std::mem::take(&mut state.snapshots), cost })
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        locked(&self.shared).stop = true;
        self.shared.wake.notify_all();
    }
}

/// Samples on multiples of the period; a multiple that passed unsampled is missed.
fn sample_loop(
    shared: &Shared,
    mut writer: SeriesWriter,
    period: Duration,
) -> Result<SamplerCost, StoreError> {
    let mut cost = SamplerCost { samples: 0, missed: 0, cpu: Nanos(0) };
    let mut due = Instant::now();
    loop {
        let mut state = locked(shared);
        while !state.stop && Instant::now() < due {
            let wait = due.saturating_duration_since(Instant::now());
            state = shared.wake.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.stop {
            drop(state);
            writer.finish()?;
            cost.cpu = Nanos::from(thread_cpu_time());
            return Ok(cost);
        }
        let at = Nanos::from(shared.origin.elapsed());
        let values = read_all(&mut state.files);
        drop(state);
        writer.write(&Sample { at, values })?;
        cost.samples += 1;
        due += period;
        while due < Instant::now() {
            due += period;
            cost.missed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::SourceFormat;
    use crate::store::SeriesReader;

    #[test]
    fn samples_and_snapshots_are_taken_until_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, series) = (folder.path().join("memory.stat"), folder.path().join("series.jsonl"));
        std::fs::write(&file, "anon 7\n").expect("written");
        let present =
            Source { name: "memory_stat", path: file.clone(), format: SourceFormat::Keyed, keep: &[""] };
        let absent = Source { name: "vmstat", path: folder.path().join("absent"), ..present.clone() };
        let writer = SeriesWriter::create(&series).expect("created");
        let sampler =
            Sampler::start(Instant::now(), &[present, absent], Some((writer, Nanos::from_millis(10))));
        sampler.snapshot(Some("measure"));
        while std::fs::metadata(&series).is_ok_and(|m| m.len() == 0)
            && locked(&sampler.shared).snapshots.len() < 2
        {
            std::thread::sleep(Duration::from_millis(25));
            sampler.snapshot(None);
        }
        let sampled = sampler.finish().expect("written");
        assert_eq!(sampled.snapshots[0].values, BTreeMap::from([("memory_stat.anon".to_owned(), 7)]));
        assert_eq!(sampled.snapshots[0].phase.as_deref(), Some("measure"));
        let samples = SeriesReader::read(&series).expect("readable");
        assert_eq!(samples.len() as u64, sampled.cost.samples);
        assert!(samples.len() >= 2 && sampled.cost.cpu > Nanos(0), "{sampled:?}");
    }
}
