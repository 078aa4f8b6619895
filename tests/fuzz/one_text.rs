//! A kernel whose every file holds the same text.

use std::io;
use std::path::Path;
use std::time::Duration;

use run_bench::host::{CommandOutput, Facility, FileIdentity, Kernel, LoopBacking, MountCall, SysRoot};

/// Only reads; everything else is refused.
#[derive(Debug)]
pub struct OneText(pub Vec<u8>);

/// A host whose every file holds `bytes`.
pub fn root(bytes: &[u8]) -> SysRoot {
    SysRoot::with_kernel("/nowhere", std::sync::Arc::new(OneText(bytes.to_vec())))
}

fn refused<T>() -> io::Result<T> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

impl Kernel for OneText {
    fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
        Ok(self.0.clone())
    }

    fn write(&self, _: &Path, _: &str) -> io::Result<()> {
        refused()
    }

    fn create_dir(&self, _: &Path) -> io::Result<()> {
        refused()
    }

    fn remove_dir(&self, _: &Path) -> io::Result<()> {
        refused()
    }

    fn create_file(&self, _: &Path, _: u64) -> io::Result<()> {
        refused()
    }

    fn remove_file(&self, _: &Path) -> io::Result<()> {
        refused()
    }

    fn identity(&self, _: &Path) -> io::Result<FileIdentity> {
        refused()
    }

    fn mount(&self, _: &MountCall) -> io::Result<()> {
        refused()
    }

    fn unmount(&self, _: &Path) -> io::Result<()> {
        refused()
    }

    fn swapon(&self, _: &Path, _: u16) -> io::Result<()> {
        refused()
    }

    fn swapoff(&self, _: &Path) -> io::Result<()> {
        refused()
    }

    fn loop_backing(&self, _: &Path) -> io::Result<Option<LoopBacking>> {
        refused()
    }

    fn zero_start(&self, _: &Path, _: usize) -> io::Result<()> {
        refused()
    }

    fn read_start(&self, _: &Path, _: usize) -> io::Result<Vec<u8>> {
        refused()
    }

    fn command(&self, _: &[String], _: Duration) -> io::Result<CommandOutput> {
        refused()
    }

    fn kill(&self, _: u32, _: &dyn Fn() -> bool) -> io::Result<()> {
        refused()
    }

    fn try_facility(&self, _: Facility) -> io::Result<()> {
        refused()
    }
}
