//! A ramdisk file system that outlives trials: kept by a child process for the
//! length of a block.
//!
//! The keeper has an undo journal and a lock of its own, beside those of the
//! trials. It takes the file system down when it is told to end; when it is
//! killed, `run-bench clean` or the next keeper does.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::error::TargetError;
use crate::exec::{self, Command, Running};
use crate::host::journal::default_folder;
use crate::host::ramdisk::{RamdiskChoice, RamdiskFilesystem};
use crate::host::{HostSession, SessionOptions, SysRoot};
use crate::units::Bytes;

/// What the keeper prints before its folder.
const READY: &str = "ready ";
/// Making and filling a large ramdisk takes a while.
const START_DEADLINE: Duration = Duration::from_secs(300);
const STOP_GRACE: Duration = Duration::from_secs(60);
/// The keeper of a killed campaign holds its lock until the files are gone.
const LOCK_PATIENCE: Duration = Duration::from_secs(30);

/// Where keepers have their journal: beside the folder of the trials.
pub fn fixture_folder(trials: &Path) -> PathBuf {
    let mut name = trials.file_name().unwrap_or_default().to_os_string();
    name.push("-fixture");
    trials.with_file_name(name)
}

/// A keeper that runs, and the folder it keeps.
#[derive(Debug)]
pub(super) struct FixtureKeeper {
    running: Running,
    folder: PathBuf,
}

impl FixtureKeeper {
    pub(super) async fn start(
        executable: &Path,
        space: Bytes,
        cancel: &CancellationToken,
    ) -> Result<Self, TargetError> {
        let command = Command { die_with_parent: true, ..Command::new(executable) }
            .arg("keep-fixture")
            .arg("--size")
            .arg(format!("{}B", space.0));
        let mut running = exec::spawn(&command).await?;
        let begun = Instant::now();
        loop {
            let (stdout, _) = running.output_so_far();
            if let Some(folder) = ready_folder(&stdout.text()) {
                return Ok(FixtureKeeper { running, folder });
            }
            if running.has_ended().is_some() {
                return Err(TargetError::Fixture(running.last_words().await.1.text()));
            }
            if cancel.is_cancelled() || begun.elapsed() > START_DEADLINE {
                running.stop(STOP_GRACE).await?;
                return Err(TargetError::Fixture(
                    "it was not ready in time, or the campaign was stopped".to_owned(),
                ));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) async fn stop(self) -> Result<(), TargetError> {
        let output = self.running.stop(STOP_GRACE).await?;
        if output.ended.success() { Ok(()) } else { Err(TargetError::Dirty(output.stderr.text())) }
    }
}

/// The folder in a complete line `ready FOLDER`.
fn ready_folder(printed: &str) -> Option<PathBuf> {
    let (line, _) = printed.split_once('\n')?;
    line.strip_prefix(READY).map(PathBuf::from)
}

/// The keeper itself: makes the file system, says where, waits for its end.
pub fn keep(space: Bytes) -> Result<(), crate::host::HostError> {
    let options = SessionOptions {
        folder: fixture_folder(&default_folder(Path::new("."))),
        purpose: "files of a block".to_owned(),
    };
    let mut session = HostSession::open_patiently(SysRoot::host(), options, LOCK_PATIENCE)?;
    let made = RamdiskFilesystem::create(&mut session, &RamdiskChoice::Plain, space)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let waited = runtime.and_then(|runtime| {
        runtime.block_on(async {
            // Listen first, so that no signal falls between.
            let mut terminate = signal(SignalKind::terminate())?;
            let mut interrupt = signal(SignalKind::interrupt())?;
            let mut hangup = signal(SignalKind::hangup())?;
            let mut out = std::io::stdout();
            writeln!(out, "{READY}{}", made.mount_point().display())?;
            out.flush()?;
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                _ = hangup.recv() => {}
            }
            Ok(())
        })
    });
    let undone = session.undo();
    if let Some(left) = undone.left.first() {
        let left = format!("{} ({})", left.change, left.why);
        return Err(crate::host::HostError::Dirty { left });
    }
    waited.map_err(|source| crate::host::HostError::Syscall {
        call: "wait for a signal in",
        subject: "the keeper of a block's files".to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_line_counts() {
        assert_eq!(ready_folder("ready /run/x"), None);
        assert_eq!(ready_folder("ready /run/x\n"), Some(PathBuf::from("/run/x")));
        assert_eq!(ready_folder("other\nready /run/x\n"), None);
    }

    #[test]
    fn keepers_have_a_folder_beside_the_trials() {
        assert_eq!(fixture_folder(Path::new("/run/run-bench")), Path::new("/run/run-bench-fixture"));
    }
}
