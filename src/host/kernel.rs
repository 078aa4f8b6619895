//! What the tool asks of the kernel, behind one trait: the real one here, a
//! fake tree in [`super::fake`].

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::process::{Pid, PidfdFlags, Signal};

use super::syscall::{self, LoopBacking};
use crate::input;
use crate::input::InputFault;

/// A mount to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountCall {
    pub source: String,
    pub target: PathBuf,
    pub filesystem: String,
    pub options: String,
}

/// How a helper command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    pub success: bool,
    pub stdout: String,
    pub stderr: String,
}

/// Which file or device node this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity {
    pub device: u64,
    pub inode: u64,
    /// Bytes the file really occupies.
    pub allocated: u64,
    /// Seconds since 1970 at which the inode last changed; for a device node
    /// that the kernel made, when the device appeared.
    pub changed: i64,
}

/// What can be tried without changing the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Facility {
    IoUring,
    SctpSocket,
    PerfEvents,
}

/// Every way in which the tool touches the host.
pub trait Kernel: Send + Sync + fmt::Debug {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// One write(2) of the whole value to an existing file.
    fn write(&self, path: &Path, value: &str) -> io::Result<()>;
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// A new file with all its blocks allocated.
    fn create_file(&self, path: &Path, size: u64) -> io::Result<()>;
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    fn identity(&self, path: &Path) -> io::Result<FileIdentity>;
    fn mount(&self, call: &MountCall) -> io::Result<()>;
    fn unmount(&self, target: &Path) -> io::Result<()>;
    fn swapon(&self, device: &Path, priority: u16) -> io::Result<()>;
    fn swapoff(&self, device: &Path) -> io::Result<()>;
    fn loop_backing(&self, device: &Path) -> io::Result<Option<LoopBacking>>;
    /// Writes `length` zero bytes at the start of a block device.
    fn zero_start(&self, device: &Path, length: usize) -> io::Result<()>;
    /// The first `length` bytes of a block device.
    fn read_start(&self, device: &Path, length: usize) -> io::Result<Vec<u8>>;
    fn command(&self, argv: &[String], deadline: Duration) -> io::Result<CommandOutput>;
    /// SIGKILL to one process, if `proof` still holds once its pid cannot be given again.
    fn kill(&self, pid: u32, proof: &dyn Fn() -> bool) -> io::Result<()>;
    /// Tries a facility and lets go of it at once.
    fn try_facility(&self, facility: Facility) -> io::Result<()>;
    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }
}

/// The running kernel.
#[derive(Debug, Default)]
pub struct RealKernel;

impl Kernel for RealKernel {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        // Not through `input`: a look at the file's kind first would double the cost of each.
        let mut bytes = Vec::new();
        fs::File::open(path)?.take(input::KERNEL_FILE.0 + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > input::KERNEL_FILE.0 {
            return Err(InputFault::TooLarge { limit: input::KERNEL_FILE }.into());
        }
        Ok(bytes)
    }

    fn write(&self, path: &Path, value: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).truncate(true).open(path)?;
        let written = file.write(value.as_bytes())?;
        if written == value.len() { Ok(()) } else { Err(io::Error::from(io::ErrorKind::WriteZero)) }
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().mode(0o700).create(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn create_file(&self, path: &Path, size: u64) -> io::Result<()> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        fallocate(&file, FallocateFlags::empty(), 0, size)?;
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn identity(&self, path: &Path) -> io::Result<FileIdentity> {
        let meta = fs::symlink_metadata(path)?;
        Ok(FileIdentity {
            device: meta.dev(),
            inode: meta.ino(),
            allocated: meta.blocks() * 512,
            changed: meta.ctime(),
        })
    }

    fn mount(&self, call: &MountCall) -> io::Result<()> {
        let options = std::ffi::CString::new(call.options.as_str())
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::RELATIME;
        rustix::mount::mount(&call.source, &call.target, &call.filesystem, flags, options.as_c_str())?;
        Ok(())
    }

    fn unmount(&self, target: &Path) -> io::Result<()> {
        Ok(rustix::mount::unmount(target, UnmountFlags::NOFOLLOW)?)
    }

    fn swapon(&self, device: &Path, priority: u16) -> io::Result<()> {
        syscall::swapon(device, priority)
    }

    fn swapoff(&self, device: &Path) -> io::Result<()> {
        syscall::swapoff(device)
    }

    fn loop_backing(&self, device: &Path) -> io::Result<Option<LoopBacking>> {
        syscall::loop_backing(device)
    }

    fn zero_start(&self, device: &Path, length: usize) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(device)?;
        file.write_all(&vec![0; length])?;
        file.sync_data()
    }

    fn read_start(&self, device: &Path, length: usize) -> io::Result<Vec<u8>> {
        let mut start = Vec::new();
        fs::File::open(device)?.take(length as u64).read_to_end(&mut start)?;
        Ok(start)
    }

    fn command(&self, argv: &[String], deadline: Duration) -> io::Result<CommandOutput> {
        let (program, arguments) =
            argv.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let mut child = Command::new(program)
            .args(arguments)
            .env("LC_ALL", "C")
            .env("PATH", command_path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let stdout = drain(child.stdout.take());
        let stderr = drain(child.stderr.take());
        let success = wait_until(&mut child, deadline)?;
        // A grandchild may hold a pipe open: what it writes later is not waited for.
        let text = |pipe: mpsc::Receiver<String>| pipe.recv_timeout(PIPE_GRACE).unwrap_or_default();
        Ok(CommandOutput { success, stdout: text(stdout), stderr: text(stderr) })
    }

    fn try_facility(&self, facility: Facility) -> io::Result<()> {
        match facility {
            Facility::IoUring => syscall::io_uring_setup(),
            Facility::SctpSocket => syscall::sctp_socket(),
            Facility::PerfEvents => syscall::perf_event_open(),
        }
    }

    fn kill(&self, pid: u32, proof: &dyn Fn() -> bool) -> io::Result<()> {
        let raw = i32::try_from(pid).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let pid = Pid::from_raw(raw).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let process = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
        if proof() { Ok(rustix::process::pidfd_send_signal(&process, Signal::KILL)?) } else { Ok(()) }
    }
}

/// The caller's PATH and the system folders, which a user's PATH may lack.
fn command_path() -> String {
    let own = std::env::var("PATH").unwrap_or_default();
    format!("{own}:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin")
}

const PIPE_GRACE: Duration = Duration::from_secs(2);

fn drain(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    const LONGEST: u64 = 1 << 20;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // What could be read before an error is still worth showing.
            let _ = pipe.take(LONGEST).read_to_end(&mut bytes);
        }
        sender.send(String::from_utf8_lossy(&bytes).into_owned())
    });
    receiver
}

fn wait_until(child: &mut Child, deadline: Duration) -> io::Result<bool> {
    let end = Instant::now() + deadline;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        thread::sleep(Duration::from_millis(2));
    }
}
