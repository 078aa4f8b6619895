//! One boot of a guest, from a prepared launch to what it delivered.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::console::{Alarm, AlarmKind};
use super::parcel;
use super::protocol;
use super::protocol::{JobEnd, Stage};
use super::supervise;
use super::supervise::{Cause, GuestEnd, GuestFailure, Limits};
use crate::exec::{Command, ExecError};
use crate::target::cpio::Entry;

/// A guest that is ready to be started.
#[derive(Debug)]
pub struct Launch {
    pub command: Command,
    pub nonce: String,
    pub limits: Limits,
    /// Where the parcel appears on this host.
    pub parcel: PathBuf,
}

/// What a guest handed over.
#[derive(Debug)]
pub struct Delivery {
    pub end: JobEnd,
    pub entries: Vec<Entry>,
}

/// A boot that is over.
#[derive(Debug)]
pub struct Boot {
    pub guest: GuestEnd,
    pub delivery: Result<Delivery, GuestFailure>,
    /// What else is to be told: trouble after the delivery, warnings of the kernel.
    pub remarks: Vec<String>,
}

/// Starts the guest and waits for its end.
pub async fn run(launch: &Launch, cancel: &CancellationToken) -> Result<Boot, ExecError> {
    let guest = supervise::supervise(&launch.command, &launch.nonce, launch.limits, cancel).await?;
    let failure = supervise::diagnose(&guest);
    let mut remarks = Vec::new();
    if let Some(Alarm { kind: AlarmKind::Warning | AlarmKind::OutOfMemory, line }) = &guest.reading.alarm {
        remarks.push(format!("the guest's kernel printed: {line}"));
    }
    let delivery = match failure {
        // Trouble at power-off does not undo what was delivered before it.
        Some(failure) if failure.stage < Stage::Delivered => Err(failure),
        failure => {
            remarks.extend(failure.map(|f| f.to_string()));
            open(launch).map_err(|said| {
                let cause = Cause::Silent { said: Some(said) };
                GuestFailure { stage: Stage::Delivered, cause }
            })
        }
    };
    Ok(Boot { guest, delivery, remarks })
}

fn open(launch: &Launch) -> Result<Delivery, String> {
    let entries = parcel::open(&launch.parcel, &launch.nonce).map_err(|e| e.to_string())?;
    let bytes = parcel::file(&entries, protocol::END).ok_or("the parcel does not say how the job ended")?;
    let end: JobEnd =
        serde_json::from_slice(bytes).map_err(|e| format!("{} is unreadable: {e}", protocol::END))?;
    if end.nonce == launch.nonce {
        Ok(Delivery { end, entries })
    } else {
        Err("the parcel is of another boot".to_owned())
    }
}
