//! The loader as a process: read the task, run it, print the report.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use rustix::time::ClockId;
use serde::Deserialize;
use serde::Serialize;

use super::super::result::LoadRun;
use super::connection::Connection;
use super::keys::ClientKeys;
use super::spec::LoaderSpec;
use super::spec::Requests;
use super::tally::Tally;
use super::worker;
use super::worker::Shared;
use crate::input;
use crate::units::Nanos;

/// The name of the driver after `__driver`.
pub const DRIVER: &str = "memcached-load";
/// Time between two lines of progress.
const TICK: Duration = Duration::from_millis(500);

/// What the loader prints on stdout, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoaderReport {
    pub schema: u32,
    pub runs: Vec<LoadRun>,
    /// Processor time of each run, all threads.
    pub cpu: Vec<Nanos>,
    /// Refusals by the server, by its words.
    pub refusals: BTreeMap<String, u64>,
}

/// Runs the driver: `--spec FILE`.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let [option, path] = arguments.as_slice() else {
        eprintln!("{DRIVER}: usage: {DRIVER} --spec FILE");
        return ExitCode::from(2);
    };
    if option != "--spec" {
        eprintln!("{DRIVER}: {option:?} is not an option; usage: {DRIVER} --spec FILE");
        return ExitCode::from(2);
    }
    let text = match input::read_text(Path::new(path), input::RECORD) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{DRIVER}: failed to read {path:?}: {error}");
            return ExitCode::from(2);
        }
    };
    let spec: LoaderSpec = match serde_json::from_str(&text) {
        Ok(spec) => spec,
        Err(error) => {
            eprintln!("{DRIVER}: {path:?} is no task: {error}");
            return ExitCode::from(2);
        }
    };
    match drive(&spec, |run, answers| eprintln!("progress {run} {answers}")) {
        Ok(report) => {
            println!("{}", serde_json::to_string(&report).expect("a report is plain data"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{DRIVER}: error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the task in this process; `progress` is told run and answers at each tick.
pub fn drive(spec: &LoaderSpec, mut progress: impl FnMut(u32, u64)) -> io::Result<LoaderReport> {
    spec.validate().map_err(|text| io::Error::new(io::ErrorKind::InvalidInput, text))?;
    let mut report = LoaderReport { schema: 1, runs: Vec::new(), cpu: Vec::new(), refusals: BTreeMap::new() };
    let mut answers_before = 0;
    for run in 1..=spec.repeat {
        let before = processor_time();
        let tally = one_run(spec, run, |answers| progress(run, answers_before + answers))?;
        report.cpu.push(processor_time().saturating_sub(before));
        let result = tally.result(run);
        answers_before += result.totals.count;
        report.runs.push(result);
        for (text, count) in tally.refusals {
            *report.refusals.entry(text).or_insert(0) += count;
        }
    }
    Ok(report)
}

fn one_run(spec: &LoaderSpec, run: u32, mut progress: impl FnMut(u64)) -> io::Result<Tally> {
    let mut groups = open_connections(spec, run)?;
    let (stop, answers) = (AtomicBool::new(false), AtomicU64::new(0));
    let until = match spec.requests {
        Requests::For(time) => Some(time.0),
        Requests::Each(_) | Requests::AllKeys => None,
    };
    let shared = Shared { origin: Instant::now(), until, stop: &stop, progress: &answers };
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for connections in groups.drain(..) {
            let sender = sender.clone();
            scope.spawn(move || {
                // The receiver waits for every thread.
                let _ = sender.send(worker::drive(connections, shared));
            });
        }
        drop(sender);
        let (mut all, mut failed) = (Tally::new(), None);
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(Ok(tally)) => all.merge(&tally),
                Ok(Err(error)) => {
                    stop.store(true, Ordering::Relaxed);
                    failed.get_or_insert(error);
                }
                Err(RecvTimeoutError::Timeout) => progress(answers.load(Ordering::Relaxed)),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        progress(answers.load(Ordering::Relaxed));
        failed.map_or(Ok(all), Err)
    })
}

/// Opens all connections before any load, thread by thread.
fn open_connections(spec: &LoaderSpec, run: u32) -> io::Result<Vec<Vec<Connection>>> {
    let clients = spec.total_clients();
    let mut index = clients * u64::from(run - 1);
    let mut groups = Vec::new();
    for _ in 0..spec.threads {
        let mut connections = Vec::new();
        for _ in 0..spec.clients {
            let keys = ClientKeys::new(spec.key_range(), index, clients, spec.client_seed(index));
            let opened = Connection::open(spec, keys);
            connections.push(opened.map_err(|error| {
                io::Error::new(error.kind(), format!("failed to connect to {:?}: {error}", spec.endpoint))
            })?);
            index += 1;
        }
        groups.push(connections);
    }
    Ok(groups)
}

fn processor_time() -> Nanos {
    let time = rustix::time::clock_gettime(ClockId::ProcessCPUTime);
    Nanos(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}
