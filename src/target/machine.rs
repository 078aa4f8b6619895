//! What UML and QEMU guests have in common: the way from a boot to a trial's record.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::error::TargetError;
use super::exchange::Exchange;
use super::guest;
use super::guest::{Boot, Cause, GuestEnd, GuestFailure, JobEnd, Launch};
use super::seal;
use super::seal::Stamp;
use crate::exec::Ended;
use crate::store::{TrialFolder, TrialOutcome, TrialSpec, TrialStatus, write_atomically, write_json};
use crate::units::{Bytes, Nanos};

/// Time that a trial gets after its own deadline to restore its kernel.
pub(super) const TEAR_DOWN: Duration = Duration::from_secs(60);
/// How much of a console is kept.
pub(super) const CONSOLE_LIMIT: Bytes = Bytes::mib(1);

/// A guest ready to be started, and the folder it needs while it runs.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) launch: Launch,
    pub(super) exchange: Exchange,
    /// Name of the kernel's program or of the emulator, for messages.
    pub(super) machine: PathBuf,
}

/// What a guest's trial is judged by.
#[derive(Debug)]
pub(super) struct GuestTrial<'a> {
    pub(super) spec: &'a TrialSpec,
    pub(super) folder: &'a TrialFolder,
    /// Stable name of this host, for records that the guest could not write.
    pub(super) host: &'a str,
    pub(super) stamp: Stamp,
}

impl GuestTrial<'_> {
    /// Boots the guest, takes its record over and judges it.
    pub(super) async fn run(
        mut self,
        prepared: Prepared,
        cancel: &CancellationToken,
    ) -> Result<TrialStatus, TargetError> {
        self.folder.write_spec(self.spec)?;
        let Prepared { launch, exchange, .. } = prepared;
        let boot = guest::run(&launch, cancel).await?;
        exchange.remove()?;
        self.keep_console(&boot)?;
        self.stamp.wall = boot.guest.wall;
        self.stamp.remarks.clone_from(&boot.remarks);
        match &boot.delivery {
            Ok(delivery) => {
                guest::unpack(&delivery.entries, guest::OUT, self.folder.path())?;
                let log = guest::parcel_file(&delivery.entries, guest::STDERR).unwrap_or_default();
                write_atomically(&self.folder.path().join("trial.log"), log)?;
                if let Some(status) = seal::seal(self.folder, self.spec, &self.stamp)? {
                    return Ok(status);
                }
                let message = without_record(delivery.end.exit, delivery.end.problem.as_deref());
                self.fail(TrialOutcome::Failed { stage: "guest-job".to_owned(), message })
            }
            Err(GuestFailure { cause: Cause::Cancelled, .. }) => self.fail(TrialOutcome::Interrupted),
            Err(failure) => {
                let stage = format!("guest-{}", failure.stage);
                let message = format!("{failure}; its console is in raw/{CONSOLE}");
                self.fail(TrialOutcome::Failed { stage, message })
            }
        }
    }

    fn fail(&self, outcome: TrialOutcome) -> Result<TrialStatus, TargetError> {
        seal::write_failure(self.folder, self.spec, self.host, outcome, &self.stamp)
    }

    fn keep_console(&mut self, boot: &Boot) -> Result<(), TargetError> {
        let raw = self.folder.raw()?;
        write_atomically(&raw.join(CONSOLE), &boot.guest.console.bytes())?;
        self.stamp.raw.push(CONSOLE.to_owned());
        let times = GuestTimes {
            wall: boot.guest.wall,
            boot: boot.guest.boot,
            end: boot.delivery.as_ref().ok().map(|delivery| delivery.end.clone()),
        };
        write_json(&raw.join(TIMES), &times)?;
        self.stamp.raw.push(TIMES.to_owned());
        if boot.guest.stderr.total() > 0 {
            write_atomically(&raw.join(MACHINE_ERRORS), &boot.guest.stderr.bytes())?;
            self.stamp.raw.push(MACHINE_ERRORS.to_owned());
        }
        Ok(())
    }
}

/// The guest's console, under `raw/`.
pub(super) const CONSOLE: &str = "console.txt";
/// When the guest did what, under `raw/`.
const TIMES: &str = "guest.json";

#[derive(Debug, Serialize)]
struct GuestTimes {
    /// The whole boot, seen from the host.
    wall: Nanos,
    /// From the launch until the host saw the job start.
    boot: Option<Nanos>,
    /// As the guest tells it.
    end: Option<JobEnd>,
}

/// What the virtual machine's program itself complained about.
const MACHINE_ERRORS: &str = "machine.txt";

fn without_record(exit: Option<i32>, problem: Option<&str>) -> String {
    let how = match (exit, problem) {
        (_, Some(problem)) => problem.to_owned(),
        (Some(code), None) => format!("it ended with status {code}"),
        (None, None) => "it was killed".to_owned(),
    };
    format!("the trial in the guest left no record of its own: {how}; see trial.log")
}

/// What a command in a guest did.
#[derive(Debug)]
pub struct CommandEnd {
    /// The command's exit status; none when it was killed or never started.
    pub exit: Option<i32>,
    /// Why it did not end by itself.
    pub problem: Option<String>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub console: Vec<u8>,
    /// From the launch until the command was started.
    pub boot: Option<Nanos>,
    pub wall: Nanos,
    pub remarks: Vec<String>,
}

/// Boots a guest for one command.
pub(super) async fn run_command(
    prepared: Prepared,
    cancel: &CancellationToken,
) -> Result<CommandEnd, TargetError> {
    let Prepared { launch, exchange, machine } = prepared;
    let boot = guest::run(&launch, cancel).await?;
    exchange.remove()?;
    let console = boot.guest.console.bytes();
    let delivery = boot.delivery.map_err(|failure| TargetError::Guest {
        machine,
        failure: failure.to_string(),
        console: telling_lines(&boot.guest, 20),
        status: describe(boot.guest.ended),
    })?;
    let file = |name| guest::parcel_file(&delivery.entries, name).unwrap_or_default().to_vec();
    Ok(CommandEnd {
        exit: delivery.end.exit,
        problem: delivery.end.problem.clone(),
        stdout: file(guest::STDOUT),
        stderr: file(guest::STDERR),
        console,
        boot: boot.guest.boot,
        wall: boot.guest.wall,
        remarks: boot.remarks,
    })
}

fn describe(ended: Ended) -> String {
    match ended {
        Ended::Exited(code) => format!("status {code}"),
        Ended::Signalled(signal) => format!("signal {signal}"),
        other => format!("{other:?}"),
    }
}

/// The lines up to the alarm, or the last ones: what follows an alarm is a trace.
fn telling_lines(guest: &GuestEnd, count: usize) -> String {
    let text = guest.console.text();
    let lines: Vec<&str> = text.lines().collect();
    let alarm = guest.reading.alarm.as_ref();
    let at = alarm.and_then(|alarm| lines.iter().position(|line| line.contains(&alarm.line)));
    let end = at.map_or(lines.len(), |at| at + 1);
    lines[end.saturating_sub(count)..end].join("\n")
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
