//! The cgroup under the probe: how much it holds, and how it is made to give back.

use std::fs;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use rustix::time::ClockId;
use rustix::time::clock_gettime;
use serde::Deserialize;
use serde::Serialize;

use crate::units::Bytes;
use crate::workload::builtin::DriverFault;

/// How reclaim is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Method {
    /// `memory.reclaim` of v2, since 5.19.
    Reclaim,
    /// Lowering `memory.max` of an older v2.
    StepMax,
    /// Lowering `memory.limit_in_bytes` of v1.
    StepLimit,
}

impl Method {
    pub(super) fn name(self) -> &'static str {
        match self {
            Method::Reclaim => "memory.reclaim",
            Method::StepMax => "memory.max",
            Method::StepLimit => "memory.limit_in_bytes",
        }
    }

    fn usage_file(self) -> &'static str {
        match self {
            Method::Reclaim | Method::StepMax => "memory.current",
            Method::StepLimit => "memory.usage_in_bytes",
        }
    }
}

/// The first of the folders that has a memory controller, and what it offers.
pub(super) fn find(folders: &[PathBuf]) -> Option<(PathBuf, Method)> {
    folders.iter().find_map(|folder| {
        let has = |method: Method| folder.join(method.name()).exists();
        [Method::Reclaim, Method::StepMax, Method::StepLimit]
            .into_iter()
            .find(|method| has(*method))
            .map(|method| (folder.clone(), method))
    })
}

/// One timed reclaim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timed {
    pub(super) elapsed: Duration,
    /// Processor time of this thread, which reclaims by itself: other load on the
    /// processor is not in it, and neither is waiting for a device.
    pub(super) processor: Duration,
    pub(super) usage_before: Bytes,
    pub(super) usage_after: Bytes,
    /// The kernel gave up before it had what was asked.
    pub(super) fell_short: bool,
}

/// The open files of the cgroup; the limit is restored when this is dropped.
#[derive(Debug)]
pub(super) struct Controller {
    folder: PathBuf,
    method: Method,
    control: File,
    /// The limit as it was, for the methods that lower it.
    limit: Option<String>,
}

impl Controller {
    pub(super) fn open(folder: &Path, method: Method) -> Result<Self, DriverFault> {
        let path = folder.join(method.name());
        let limit = match method {
            Method::Reclaim => None,
            Method::StepMax | Method::StepLimit => {
                Some(fs::read_to_string(&path).map_err(DriverFault::file("read", &path))?.trim().to_owned())
            }
        };
        let control = File::options().write(true).open(&path).map_err(DriverFault::file("open", &path))?;
        Ok(Controller { folder: folder.to_owned(), method, control, limit })
    }

    pub(super) fn usage(&self) -> Result<Bytes, DriverFault> {
        let path = self.folder.join(self.method.usage_file());
        let text = fs::read_to_string(&path).map_err(DriverFault::file("read", &path))?;
        let bytes = text.trim().parse().map(Bytes);
        bytes.map_err(|_| DriverFault::Refused(format!("{path:?} holds {text:?}, not a number of bytes")))
    }

    /// Makes the cgroup give back `amount`; only the one write is timed.
    pub(super) fn reclaim(&self, amount: Bytes) -> Result<Timed, DriverFault> {
        let usage_before = self.usage()?;
        let text = match self.method {
            Method::Reclaim => amount.0.to_string(),
            Method::StepMax | Method::StepLimit => usage_before.0.saturating_sub(amount.0).to_string(),
        };
        let (begin, processor) = (Instant::now(), thread_time());
        let written = self.control.write_all_at(text.as_bytes(), 0);
        let (elapsed, processor) = (begin.elapsed(), thread_time().saturating_sub(processor));
        let usage_after = self.usage()?;
        self.restore()?;
        let fell_short = match written {
            Ok(()) => false,
            Err(error) if gave_up(&error) => true,
            Err(error) => {
                return Err(DriverFault::file("write", &self.folder.join(self.method.name()))(error));
            }
        };
        Ok(Timed { elapsed, processor, usage_before, usage_after, fell_short })
    }

    fn restore(&self) -> Result<(), DriverFault> {
        let Some(limit) = &self.limit else { return Ok(()) };
        let path = self.folder.join(self.method.name());
        self.control.write_all_at(limit.as_bytes(), 0).map_err(DriverFault::file("restore", &path))
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        // The trial's own undo journal restores it too, should this fail.
        let _ = self.restore();
    }
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The clock counts up from 0 and its nanoseconds stay below a second.
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

fn gave_up(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EBUSY))
}
