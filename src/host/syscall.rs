//! System calls that no safe wrapper offers. The only `unsafe` of the host layer.

#![expect(unsafe_code, reason = "raw system calls; each block says why it is sound")]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::fd::FromRawFd;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use crate::units::Bytes;
use crate::units::Nanos;

/// `SWAP_FLAG_PREFER` of <linux/swap.h>: the low bits hold a priority.
const SWAP_FLAG_PREFER: libc::c_int = 0x8000;
/// `LOOP_GET_STATUS64` of <linux/loop.h>.
const LOOP_GET_STATUS64: libc::c_ulong = 0x4C05;
/// `IPPROTO_SCTP` of <linux/in.h>.
const IPPROTO_SCTP: libc::c_int = 132;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitOutcome {
    Exited(i32),
    Signalled(i32),
}

/// What the kernel charged to a child and those of its descendants that it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResourceUsage {
    pub user: Nanos,
    pub system: Nanos,
    pub max_rss: Bytes,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

/// Reaps the child `pid` and returns what it used. Blocks until it has ended.
pub fn wait4(pid: u32) -> io::Result<(WaitOutcome, ResourceUsage)> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
    let mut status: libc::c_int = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are to live, writable objects of the right type.
        let got = unsafe { libc::wait4(pid, &mut status, 0, usage.as_mut_ptr()) };
        if got == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: zeroed above, and all-zero is a valid `rusage`; wait4 has filled it.
    let usage = unsafe { usage.assume_init() };
    let outcome = if libc::WIFSIGNALED(status) {
        WaitOutcome::Signalled(libc::WTERMSIG(status))
    } else {
        WaitOutcome::Exited(libc::WEXITSTATUS(status))
    };
    Ok((outcome, resource_usage(&usage)))
}

fn resource_usage(usage: &libc::rusage) -> ResourceUsage {
    let time = |t: libc::timeval| {
        let (seconds, micros) = (t.tv_sec.unsigned_abs(), t.tv_usec.unsigned_abs());
        Nanos(seconds * 1_000_000_000 + micros * 1_000)
    };
    ResourceUsage {
        user: time(usage.ru_utime),
        system: time(usage.ru_stime),
        max_rss: Bytes::kib(usage.ru_maxrss.unsigned_abs()),
        minor_faults: usage.ru_minflt.unsigned_abs(),
        major_faults: usage.ru_majflt.unsigned_abs(),
        voluntary_switches: usage.ru_nvcsw.unsigned_abs(),
        involuntary_switches: usage.ru_nivcsw.unsigned_abs(),
    }
}

/// Binds the memory of the calling thread, and of what it executes, to NUMA `nodes`.
pub fn bind_memory_to_nodes(nodes: &[u32]) -> io::Result<()> {
    const BITS: usize = libc::c_ulong::BITS as usize;
    let mut mask = [0 as libc::c_ulong; 1024 / BITS];
    for &node in nodes {
        let word =
            mask.get_mut(node as usize / BITS).ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        *word |= 1 << (node as usize % BITS);
    }
    // SAFETY: the mask lives through the call and holds the stated number of bits.
    let result =
        unsafe { libc::syscall(libc::SYS_set_mempolicy, libc::MPOL_BIND, mask.as_ptr(), mask.len() * BITS) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Moves the calling thread into a network name space of its own, with a
/// loopback device that is down. Needs CAP_SYS_ADMIN.
pub fn unshare_network() -> io::Result<()> {
    // SAFETY: no pointers; a name space is not one of the resources whose
    // unsharing could break a guarantee of this process.
    let result = unsafe { libc::unshare(libc::CLONE_NEWNET) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What backs a [`Mapping`].
#[derive(Debug, Clone, Copy)]
pub enum Backing<'a> {
    Anonymous,
    /// Copy on write.
    PrivateFile(&'a File),
    SharedFile(&'a File),
    /// Read only, and shared with every other reader.
    ReadOnlyFile(&'a File),
}

/// Hints for a range of a [`Mapping`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Give the pages back; private ones are lost.
    DontNeed,
    NoHugePage,
    /// No read-around on a fault.
    Random,
}

/// Memory mapped for a load generator; unmapped when dropped.
///
/// All access is by atomic words, because other processes may see the same
/// memory. Touching a page past the end of a file ends the process (SIGBUS).
#[derive(Debug)]
pub struct Mapping {
    address: NonNull<u8>,
    length: usize,
}

// SAFETY: the memory lives as long as the value and is only accessed atomically.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub fn new(length: Bytes, backing: Backing<'_>) -> io::Result<Self> {
        let length = usize::try_from(length.0).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let write = libc::PROT_READ | libc::PROT_WRITE;
        let (protection, flags, fd) = match backing {
            Backing::Anonymous => (write, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1),
            Backing::PrivateFile(file) => (write, libc::MAP_PRIVATE, file.as_raw_fd()),
            Backing::SharedFile(file) => (write, libc::MAP_SHARED, file.as_raw_fd()),
            Backing::ReadOnlyFile(file) => (libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd()),
        };
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing object.
        let address = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, fd, 0) };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let address = NonNull::new(address.cast()).expect("the kernel maps nothing at address 0 unasked");
        Ok(Mapping { address, length })
    }

    pub fn length(&self) -> usize {
        self.length
    }

    pub fn address(&self) -> usize {
        self.address.addr().get()
    }

    /// The word at `offset`, a multiple of 8. Storing to a read-only mapping ends the process.
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.length, "offset {offset} of {}", self.length);
        // SAFETY: in bounds and aligned as just checked (mappings begin on a page),
        // alive as long as `self`, and never accessed but atomically.
        unsafe { AtomicU64::from_ptr(self.address.as_ptr().add(offset).cast()) }
    }

    pub fn load(&self, offset: usize) -> u64 {
        self.word(offset).load(Ordering::Relaxed)
    }

    pub fn store(&self, offset: usize, value: u64) {
        self.word(offset).store(value, Ordering::Relaxed);
    }

    /// Advises on the `length` bytes at `offset`, both multiples of a page.
    pub fn advise(&self, offset: usize, length: usize, advice: Advice) -> io::Result<()> {
        let end = offset.checked_add(length).filter(|end| *end <= self.length);
        end.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let advice = match advice {
            Advice::DontNeed => libc::MADV_DONTNEED,
            Advice::NoHugePage => libc::MADV_NOHUGEPAGE,
            Advice::Random => libc::MADV_RANDOM,
        };
        // SAFETY: the range lies within this mapping, and every access to it is
        // atomic, so that pages turning to zeros break nobody's assumption.
        let result = unsafe { libc::madvise(self.address.as_ptr().add(offset).cast(), length, advice) };
        // A kernel without huge pages does not know the advice and has no need of it.
        let needless =
            |error: &io::Error| advice == libc::MADV_NOHUGEPAGE && error.raw_os_error() == Some(libc::EINVAL);
        match io::Error::last_os_error() {
            error if result != 0 && !needless(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is this mapping and no reference into it outlives `self`.
        unsafe { libc::munmap(self.address.as_ptr().cast(), self.length) };
    }
}

/// `struct loop_info64` of <linux/loop.h>.
#[repr(C)]
struct LoopInfo64 {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// The file behind a loop device, by device and inode number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopBacking {
    pub device: u64,
    pub inode: u64,
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// swapon(2) with a priority from 0 to 32767.
pub(super) fn swapon(device: &Path, priority: u16) -> io::Result<()> {
    let path = c_path(device)?;
    let flags = SWAP_FLAG_PREFER | libc::c_int::from(priority & 0x7fff);
    // SAFETY: `path` is a NUL-terminated string that outlives the call.
    check(unsafe { libc::swapon(path.as_ptr(), flags) })
}

/// swapoff(2); returns only when every page is back.
pub(super) fn swapoff(device: &Path) -> io::Result<()> {
    let path = c_path(device)?;
    // SAFETY: `path` is a NUL-terminated string that outlives the call.
    check(unsafe { libc::swapoff(path.as_ptr()) })
}

/// The backing file of a loop device; `None` when it has none.
pub(super) fn loop_backing(device: &Path) -> io::Result<Option<LoopBacking>> {
    let file = File::open(device)?;
    // SAFETY: all-zero bytes are a valid value of this plain C structure.
    let mut info: LoopInfo64 = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open and `info` has the layout the call fills in.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), LOOP_GET_STATUS64, &raw mut info) };
    match check(result) {
        Ok(()) => Ok(Some(LoopBacking { device: info.device, inode: info.inode })),
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Asks the kernel for an io_uring of one entry and closes it again.
pub(super) fn io_uring_setup() -> io::Result<()> {
    // `struct io_uring_params` is 120 bytes, all of them inputs that may be zero.
    let mut parameters = [0u64; 15];
    // SAFETY: the buffer has the size of the structure and outlives the call.
    let fd = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()) };
    let fd = i32::try_from(fd).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave this descriptor to us alone.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
    Ok(())
}

/// Opens and closes an SCTP socket.
pub(super) fn sctp_socket() -> io::Result<()> {
    // SAFETY: no pointers are passed.
    let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, IPPROTO_SCTP) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave this descriptor to us alone.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
    Ok(())
}

/// Opens and closes a counter of this thread's task clock.
pub(super) fn perf_event_open() -> io::Result<()> {
    // `struct perf_event_attr`, first published size: type, size, config, then zeros.
    const SOFTWARE: u64 = 1;
    const SIZE: u64 = 64;
    const TASK_CLOCK: u64 = 1;
    let mut attributes = [0u64; 8];
    attributes[0] = SOFTWARE | (SIZE << 32);
    attributes[1] = TASK_CLOCK;
    // SAFETY: the buffer holds the 64 bytes that its size field names.
    let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, attributes.as_mut_ptr(), 0, -1, -1, 0) };
    let fd = i32::try_from(fd).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave this descriptor to us alone.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_holds_words_and_gives_them_back() {
        let mapping = Mapping::new(Bytes(8192), Backing::Anonymous).unwrap();
        mapping.store(4096, 7);
        assert_eq!((mapping.load(0), mapping.load(4096)), (0, 7));
        mapping.advise(4096, 4096, Advice::DontNeed).unwrap();
        assert_eq!(mapping.load(4096), 0);
        assert!(mapping.advise(4096, 8192, Advice::Random).is_err());
    }

    #[test]
    #[should_panic(expected = "offset 8192")]
    fn a_word_past_the_end_is_refused() {
        Mapping::new(Bytes(8192), Backing::Anonymous).unwrap().word(8192);
    }
}
