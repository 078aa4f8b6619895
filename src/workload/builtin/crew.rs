//! Crews: tasks, as processes or as threads, that are prepared, started
//! together, counted over a measured interval, and stopped.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command as StdCommand;
use std::process::Stdio;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use rustix::process::Signal;
use rustix::thread::CpuSet;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::DriverFault;
use super::Task;
use super::board::Board;
use super::board::TaskState;
use crate::workload::driver;

/// How long tasks may take to end after they were told to stop.
const GRACE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(1);

/// What each task does.
pub(crate) trait Work: Serialize + DeserializeOwned + Sync {
    /// The driver's name on the command line.
    const NAME: &'static str;
    /// What a task has made ready.
    type Ready;

    /// Before the common start: open files, map memory.
    fn prepare(&self, task: &Task) -> Result<Self::Ready, DriverFault>;

    /// After the common start, until its own end or `task.stopped()`.
    fn work(&self, ready: Self::Ready, task: &Task) -> Result<(), DriverFault>;
}

/// Whether tasks share an address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shape {
    Processes,
    Threads,
}

/// When the crew is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Timing {
    /// Each task ends by itself.
    UntilDone,
    /// The counters are read at the end of the warm-up and at the end of the interval.
    Interval { warm_up: Duration, measure: Duration },
}

/// A crew to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Crew {
    pub(crate) tasks: u32,
    pub(crate) shape: Shape,
    pub(crate) timing: Timing,
    /// Pin task i to the i-th allowed processor, in turn.
    pub(crate) pin: bool,
}

/// What came of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Slot {
    /// Operations in the measured interval; in all with [`Timing::UntilDone`].
    pub(crate) operations: u64,
    /// The first result words.
    pub(crate) results: Vec<u64>,
}

/// What a task process is told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskOrder<W> {
    board: PathBuf,
    index: u32,
    tasks: u32,
    cpu: Option<u32>,
    parent: u32,
    work: W,
}

/// Result words that are handed on.
const HANDED_ON: usize = 8;

impl Crew {
    /// Runs the crew; the slots stand in the order of the tasks, the time is that of the interval.
    pub(crate) fn run<W: Work>(&self, work: &W) -> Result<(Vec<Slot>, Duration), DriverFault> {
        let (board, file) = Board::create(self.tasks)?;
        let cpus = if self.pin { allowed_cpus()? } else { Vec::new() };
        let cpu = |i: u32| (!cpus.is_empty()).then(|| cpus[i as usize % cpus.len()]);
        match self.shape {
            Shape::Processes => {
                let mut hands = Hands(Vec::new());
                for i in 0..self.tasks {
                    hands.0.push(spawn_task(work, &file, (i, self.tasks), cpu(i))?);
                }
                self.conduct(&board, || hands.check())
            }
            Shape::Threads => thread::scope(|scope| {
                let handles: Vec<_> = (0..self.tasks)
                    .map(|i| {
                        let (task, cpu) = (board.task(i), cpu(i));
                        scope.spawn(move || be_task(work, &task, cpu))
                    })
                    .collect();
                let outcome = self.conduct(&board, || {
                    match handles.iter().enumerate().find(|(i, h)| {
                        h.is_finished() && board.task(*i as u32).state() != TaskState::Finished
                    }) {
                        Some((i, _)) => Err(self.lost(i as u32, "ended by a fault".to_owned())),
                        None => Ok(()),
                    }
                });
                // A conductor that gave up must not wait for tasks that never start.
                board.stop();
                let mut faults = Vec::new();
                for handle in handles {
                    faults.extend(handle.join().expect("tasks do not panic").err());
                }
                faults.into_iter().next().map_or(outcome, Err)
            }),
        }
    }

    fn lost(&self, index: u32, how: String) -> DriverFault {
        DriverFault::Task { index, tasks: self.tasks, how }
    }

    /// Waits for readiness, starts, measures, stops, waits for the end.
    fn conduct(
        &self,
        board: &Board,
        mut check: impl FnMut() -> Result<(), DriverFault>,
    ) -> Result<(Vec<Slot>, Duration), DriverFault> {
        while !board.all(TaskState::Ready) {
            check()?;
            thread::sleep(POLL);
        }
        board.start();
        let (before, elapsed, after) = match self.timing {
            Timing::UntilDone => {
                let begin = Instant::now();
                while !board.all(TaskState::Finished) {
                    check()?;
                    thread::sleep(POLL);
                }
                (vec![0; self.tasks as usize], begin.elapsed(), board.counters())
            }
            Timing::Interval { warm_up, measure } => {
                sleep_checking(warm_up, &mut check)?;
                let (begin, before) = (Instant::now(), board.counters());
                sleep_checking(measure, &mut check)?;
                let (elapsed, after) = (begin.elapsed(), board.counters());
                board.stop();
                let by = Instant::now() + GRACE;
                while !board.all(TaskState::Finished) {
                    check()?;
                    if Instant::now() > by {
                        let stuck = (0..self.tasks).find(|i| board.task(*i).state() != TaskState::Finished);
                        return Err(self.lost(stuck.unwrap_or(0), format!("did not stop within {GRACE:?}")));
                    }
                    thread::sleep(POLL);
                }
                (before, elapsed, after)
            }
        };
        let slots = before.iter().zip(&after).zip(0..).map(|((before, after), i)| Slot {
            operations: after.saturating_sub(*before),
            results: (0..HANDED_ON).map(|word| board.task(i).result(word)).collect(),
        });
        Ok((slots.collect(), elapsed))
    }
}

/// Sleeps in steps, so that a task that ends early is seen soon.
fn sleep_checking(
    time: Duration,
    check: &mut impl FnMut() -> Result<(), DriverFault>,
) -> Result<(), DriverFault> {
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(Duration::from_millis(50)));
        check()?;
    }
}

/// Task processes; killed when dropped.
struct Hands(Vec<Child>);

impl Hands {
    fn check(&mut self) -> Result<(), DriverFault> {
        let tasks = self.0.len() as u32;
        for (index, child) in (0..).zip(&mut self.0) {
            if let Some(status) = child.try_wait().map_err(DriverFault::call("wait for a task"))?
                && !status.success()
            {
                return Err(DriverFault::Task { index, tasks, how: format!("ended early: {status}") });
            }
        }
        Ok(())
    }
}

impl Drop for Hands {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // Has no effect on those that ended by themselves.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn spawn_task<W: Work>(
    work: &W,
    board: &File,
    (index, tasks): (u32, u32),
    cpu: Option<u32>,
) -> Result<Child, DriverFault> {
    let parent = std::process::id();
    let path = PathBuf::from(format!("/proc/{parent}/fd/{}", board.as_raw_fd()));
    let order = TaskOrder { board: path, index, tasks, cpu, parent, work };
    let text = serde_json::to_string(&super::request::Order::<(), _>::Task(order))
        .map_err(|error| DriverFault::Request(error.to_string()))?;
    let executable = std::env::current_exe().map_err(DriverFault::call("find this executable"))?;
    StdCommand::new(executable)
        .args([OsString::from(driver::NAME), W::NAME.into(), text.into()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(DriverFault::call("start a task"))
}

/// The body of a task process.
pub(super) fn obey<W: Work>(order: TaskOrder<W>) -> Result<(), DriverFault> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(DriverFault::call("ask for the parent's death signal"))?;
    let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    if parent != Some(order.parent) {
        return Err(DriverFault::Refused("the driver has ended already".to_owned()));
    }
    let board = Board::open(&order.board, order.tasks)?;
    be_task(&order.work, &board.task(order.index), order.cpu)
}

fn be_task<W: Work>(work: &W, task: &Task, cpu: Option<u32>) -> Result<(), DriverFault> {
    if let Some(cpu) = cpu {
        let mut set = CpuSet::new();
        set.set(cpu as usize);
        rustix::thread::sched_setaffinity(None, &set)
            .map_err(DriverFault::call("pin a task to its processor"))?;
    }
    let ready = work.prepare(task)?;
    task.set_state(TaskState::Ready);
    task.await_start();
    work.work(ready, task)?;
    task.set_state(TaskState::Finished);
    Ok(())
}

/// The processors that this process may run on, ascending.
pub(crate) fn allowed_cpus() -> Result<Vec<u32>, DriverFault> {
    let set =
        rustix::thread::sched_getaffinity(None).map_err(DriverFault::call("read the allowed processors"))?;
    Ok((0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Counting {
        end: u64,
        fail: Option<u32>,
    }

    impl Work for Counting {
        const NAME: &'static str = "counting";
        type Ready = u64;

        fn prepare(&self, task: &Task) -> Result<u64, DriverFault> {
            if self.fail == Some(task.index()) {
                return Err(DriverFault::Refused("this task was told to fail".to_owned()));
            }
            Ok(u64::from(task.index()) + 1)
        }

        fn work(&self, ready: u64, task: &Task) -> Result<(), DriverFault> {
            while task.count() < self.end && !task.stopped() {
                task.add(ready);
                thread::sleep(Duration::from_micros(100));
            }
            task.set_result(1, task.count());
            Ok(())
        }
    }

    fn crew(timing: Timing) -> Crew {
        Crew { tasks: 3, shape: Shape::Threads, timing, pin: true }
    }

    #[test]
    fn threads_count_to_their_end() {
        let (slots, _) = crew(Timing::UntilDone).run(&Counting { end: 6, fail: None }).unwrap();
        assert_eq!(slots.iter().map(|s| s.operations).collect::<Vec<_>>(), [6, 6, 6]);
        assert!(slots.iter().all(|s| s.results[1] == 6 && s.results.len() == HANDED_ON));
    }

    #[test]
    fn an_interval_ends_by_itself_and_counts_only_itself() {
        let millis = Duration::from_millis;
        let timing = Timing::Interval { warm_up: millis(40), measure: millis(60) };
        let (slots, elapsed) = crew(timing).run(&Counting { end: u64::MAX, fail: None }).unwrap();
        assert!(elapsed >= millis(60));
        assert!(slots.iter().all(|s| s.operations > 0 && s.operations < s.results[1]));
    }

    #[test]
    fn a_task_that_fails_fails_the_crew_and_the_others_end() {
        let fault = crew(Timing::UntilDone).run(&Counting { end: u64::MAX, fail: Some(1) }).unwrap_err();
        assert!(fault.to_string().contains("told to fail"), "{fault}");
    }
}
