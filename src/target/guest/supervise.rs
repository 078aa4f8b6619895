//! Watches a guest from outside: deadlines of each stage, alarms on its console,
//! and the judgement of how it ended.

use std::fmt;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::console;
use super::console::{Alarm, AlarmKind, Reading};
use super::protocol::Stage;
use crate::exec::{self, Captured, Command, Ended, ExecError, Running};
use crate::units::Nanos;

/// How long each part of a guest's life may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// From the launch to the start of the job.
    pub boot: Duration,
    /// From the start of the job to the parcel.
    pub job: Duration,
    /// From the parcel to the end of the guest.
    pub power_off: Duration,
    /// From a panic or an oops to the end of the guest.
    pub dying: Duration,
}

impl Limits {
    /// For a job that may take `job`; emulated processors boot slowly.
    pub fn for_job(job: Duration) -> Self {
        let rest = Duration::from_secs(20);
        Limits {
            boot: Duration::from_secs(180),
            job: job + Duration::from_secs(60),
            power_off: rest,
            dying: rest / 4,
        }
    }
}

/// Why we ended a guest ourselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Killed {
    /// A stage took longer than its limit.
    Overdue,
    /// It printed that it was dying and did not die.
    Dying,
    Cancelled,
}

/// A guest that has ended.
#[derive(Debug, Clone)]
pub struct GuestEnd {
    pub reading: Reading,
    pub killed: Option<Killed>,
    /// How the virtual machine's program ended.
    pub ended: Ended,
    pub console: Captured,
    pub stderr: Captured,
    pub wall: Nanos,
    /// From the launch until the mark that the job starts was seen.
    pub boot: Option<Nanos>,
}

/// Runs the virtual machine's program to its end, or ends it.
pub async fn supervise(
    command: &Command,
    nonce: &str,
    limits: Limits,
    cancel: &CancellationToken,
) -> Result<GuestEnd, ExecError> {
    let mut running = exec::spawn(command).await?;
    let mut watch = Watch::new(limits);
    let killed = loop {
        let wait = watch.interval();
        let over = tokio::select! {
            biased;
            _ = running.ended() => break None,
            () = cancel.cancelled() => break Some(Killed::Cancelled),
            () = tokio::time::sleep(wait) => watch.look(&running, nonce),
        };
        if over.is_some() {
            break over;
        }
    };
    // A guest has nothing to save: its disks are ours and are thrown away.
    let output = running.stop(Duration::ZERO).await?;
    let mut text = output.stdout.text();
    text.push_str(&output.stderr.text());
    let reading = console::read(&text, nonce);
    let boot = watch.boot.map(Nanos::from);
    let (ended, console, stderr, wall) = (output.ended, output.stdout, output.stderr, output.wall);
    Ok(GuestEnd { reading, killed, ended, console, stderr, wall, boot })
}

#[derive(Debug)]
struct Watch {
    limits: Limits,
    launched: Instant,
    stage: Stage,
    /// When the present part of the guest's life has to be over.
    due: Instant,
    dying: bool,
    boot: Option<Duration>,
}

impl Watch {
    fn new(limits: Limits) -> Self {
        let launched = Instant::now();
        Watch {
            limits,
            launched,
            stage: Stage::Launched,
            due: launched + limits.boot,
            dying: false,
            boot: None,
        }
    }

    /// Looking costs the host's processors something, so rarely while the job runs.
    fn interval(&self) -> Duration {
        let usual = if self.stage == Stage::Job { Duration::from_secs(1) } else { Duration::from_millis(50) };
        usual.min(self.due.saturating_duration_since(Instant::now())).max(Duration::from_millis(5))
    }

    fn look(&mut self, running: &Running, nonce: &str) -> Option<Killed> {
        let (stdout, stderr) = running.output_so_far();
        let mut text = stdout.text();
        text.push_str(&stderr.text());
        let reading = console::read(&text, nonce);
        let now = Instant::now();
        if reading.stage > self.stage {
            if reading.stage >= Stage::Job && self.boot.is_none() {
                self.boot = Some(now - self.launched);
            }
            let limit = match reading.stage {
                Stage::Job | Stage::Ended => Some(self.limits.job),
                Stage::Delivered => Some(self.limits.power_off),
                _ => None,
            };
            // Not again for `Ended`: delivering is part of the job's time.
            if let Some(limit) = limit.filter(|_| reading.stage != Stage::Ended || self.stage < Stage::Job) {
                self.due = now + limit;
            }
            self.stage = reading.stage;
        }
        let fatal = reading.alarm.is_some_and(|alarm| alarm.kind >= AlarmKind::Oops);
        if fatal && !self.dying {
            self.dying = true;
            self.due = self.due.min(now + self.limits.dying);
        }
        let over = if self.dying { Killed::Dying } else { Killed::Overdue };
        (now >= self.due).then_some(over)
    }
}

/// Why a guest is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestFailure {
    pub stage: Stage,
    pub cause: Cause,
}

/// What ended it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The kernel said so itself.
    Alarm(Alarm),
    /// No end within the limit of its stage.
    Hung,
    /// The virtual machine's program failed by itself.
    Machine {
        how: String,
        said: String,
    },
    /// It powered off, or its init failed, before anything was delivered.
    Silent {
        said: Option<String>,
    },
    Cancelled,
}

impl fmt::Display for GuestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = self.stage;
        let during = match stage {
            Stage::Launched => "before its kernel printed anything",
            Stage::Kernel => "while its kernel booted",
            Stage::Init | Stage::Ready => "while its init set things up",
            Stage::Job => "while the trial ran",
            Stage::Ended => "while it delivered the results",
            Stage::Delivered => "at power-off, with the results delivered",
        };
        match &self.cause {
            Cause::Alarm(alarm) => write!(f, "the guest's kernel failed {during}: {}", alarm.line),
            Cause::Hung => write!(f, "the guest hung {during} and was killed at its deadline"),
            Cause::Machine { how, said } => write!(f, "the guest's machine {how} {during}: {said}"),
            Cause::Silent { said: Some(said) } => write!(f, "the guest ended {during}: {said}"),
            Cause::Silent { said: None } => write!(f, "the guest ended {during} and said nothing"),
            Cause::Cancelled => write!(f, "the guest was stopped {during}"),
        }
    }
}

/// The judgement on a guest; none when it did all it should.
pub fn diagnose(end: &GuestEnd) -> Option<GuestFailure> {
    let stage = end.reading.stage;
    let fatal = end.reading.alarm.clone().filter(|alarm| alarm.kind >= AlarmKind::Oops);
    let stalled = end.reading.alarm.clone().filter(|alarm| alarm.kind >= AlarmKind::Stall);
    let cause = match (end.killed, fatal) {
        (Some(Killed::Cancelled), _) => Cause::Cancelled,
        (_, Some(alarm)) => Cause::Alarm(alarm),
        (Some(_), None) => stalled.map_or(Cause::Hung, Cause::Alarm),
        (None, None) if stage == Stage::Delivered => return None,
        (None, None) if stage == Stage::Launched || matches!(end.ended, Ended::Signalled(_)) => {
            Cause::Machine { how: describe(end.ended), said: last_line(end) }
        }
        (None, None) => Cause::Silent { said: own_complaint(end) },
    };
    Some(GuestFailure { stage, cause })
}

fn describe(ended: Ended) -> String {
    match ended {
        Ended::Exited(code) => format!("ended with status {code}"),
        Ended::Signalled(signal) => format!("was killed by signal {signal}"),
        other => format!("was ended ({other:?})"),
    }
}

/// What our init printed when it gave up.
fn own_complaint(end: &GuestEnd) -> Option<String> {
    let text = end.console.text();
    let line = text.lines().rev().find_map(|line| line.split_once("run-bench guest failed: "))?;
    Some(printable(line.1))
}

fn last_line(end: &GuestEnd) -> String {
    let texts = [end.stderr.text(), end.console.text()];
    let line = texts.iter().find_map(|text| text.lines().rev().find(|line| !line.trim().is_empty()));
    line.map_or_else(|| "it printed nothing".to_owned(), printable)
}

fn printable(line: &str) -> String {
    line.trim().chars().filter(|c| !c.is_control()).take(300).collect()
}

#[cfg(test)]
#[path = "supervise_tests.rs"]
mod tests;
