//! The built-in cases: the operations of will-it-scale's cases of the same
//! names, one at a time until stopped.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use crate::config::workload::ScaleCase;
use crate::host::syscall::Backing;
use crate::host::syscall::Mapping;
use crate::units::Bytes;
use crate::units::PAGE_SIZE;
use crate::workload::builtin::DriverFault;
use crate::workload::builtin::Task;
use crate::workload::builtin::Work;

/// Size of a read of pread1 and pread2.
const READ: usize = 4096;
/// Memory that the page fault cases map and malloc1 asks for.
const MEMORY: Bytes = Bytes::mib(128);

/// One case in one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseWork {
    pub(super) case: ScaleCase,
    /// Where the files of the case are made.
    pub(super) folder: PathBuf,
    /// The file that all tasks of pread2 share; made by the driver.
    pub(super) shared: PathBuf,
}

/// What a task has open.
#[derive(Debug)]
pub(super) enum Ready {
    Pread(File),
    Fault(FaultKind, Option<File>),
    Malloc,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum FaultKind {
    Anonymous,
    Private,
    Shared,
}

impl CaseWork {
    /// Whether the tasks need the shared file.
    pub(super) fn needs_shared_file(&self) -> bool {
        self.case == ScaleCase::Pread2
    }

    /// Makes the file that all tasks read.
    pub(super) fn make_shared_file(&self) -> Result<(), DriverFault> {
        std::fs::write(&self.shared, [0; READ]).map_err(DriverFault::file("write", &self.shared))
    }

    /// A file that has no name and goes away with the task.
    fn own_file(&self, length: u64) -> Result<File, DriverFault> {
        let file =
            tempfile::tempfile_in(&self.folder).map_err(DriverFault::file("make a file in", &self.folder))?;
        file.set_len(length).map_err(DriverFault::file("size a file in", &self.folder))?;
        Ok(file)
    }
}

impl Work for CaseWork {
    const NAME: &'static str = super::DRIVER;
    type Ready = Ready;

    fn prepare(&self, _: &Task) -> Result<Ready, DriverFault> {
        match self.case {
            ScaleCase::Pread1 => {
                let file = self.own_file(0)?;
                file.write_all_at(&[0; READ], 0).map_err(DriverFault::file("write in", &self.folder))?;
                Ok(Ready::Pread(file))
            }
            ScaleCase::Pread2 => {
                let file = File::open(&self.shared).map_err(DriverFault::file("open", &self.shared))?;
                Ok(Ready::Pread(file))
            }
            ScaleCase::PageFault1 => Ok(Ready::Fault(FaultKind::Anonymous, None)),
            ScaleCase::PageFault2 => Ok(Ready::Fault(FaultKind::Private, Some(self.own_file(MEMORY.0)?))),
            ScaleCase::PageFault3 => Ok(Ready::Fault(FaultKind::Shared, Some(self.own_file(MEMORY.0)?))),
            ScaleCase::Malloc1 => Ok(Ready::Malloc),
        }
    }

    fn work(&self, ready: Ready, task: &Task) -> Result<(), DriverFault> {
        match ready {
            Ready::Pread(file) => read_again(&file, task),
            Ready::Fault(kind, file) => fault_again(kind, file.as_ref(), task),
            Ready::Malloc => {
                while !task.stopped() {
                    // Too large for the heap, so that each is a mapping made and removed.
                    let memory: Vec<u8> = Vec::with_capacity(MEMORY.0 as usize);
                    drop(std::hint::black_box(memory));
                    task.add(1);
                }
                Ok(())
            }
        }
    }
}

fn read_again(file: &File, task: &Task) -> Result<(), DriverFault> {
    let mut buffer = [0; READ];
    while !task.stopped() {
        let length = file.read_at(&mut buffer, 0).map_err(DriverFault::call("read the file of the case"))?;
        if length != READ {
            return Err(DriverFault::Refused(format!("a read gave {length} bytes of {READ}")));
        }
        task.add(1);
    }
    Ok(())
}

fn fault_again(kind: FaultKind, file: Option<&File>, task: &Task) -> Result<(), DriverFault> {
    while !task.stopped() {
        let backing = match (kind, file) {
            (FaultKind::Private, Some(file)) => Backing::PrivateFile(file),
            (FaultKind::Shared, Some(file)) => Backing::SharedFile(file),
            _ => Backing::Anonymous,
        };
        let memory =
            Mapping::new(MEMORY, backing).map_err(DriverFault::call("map the memory of the case"))?;
        for offset in (0..memory.length()).step_by(PAGE_SIZE as usize) {
            memory.store(offset, 0);
            task.add(1);
            if task.stopped() {
                break;
            }
        }
    }
    Ok(())
}
