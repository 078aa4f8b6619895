//! System calls that no safe wrapper offers. The only `unsafe` of the host layer.

#![expect(unsafe_code, reason = "raw system calls; each block says why it is sound")]

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use crate::units::Bytes;
use crate::units::Nanos;

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
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is this mapping and no reference into it outlives `self`.
        unsafe { libc::munmap(self.address.as_ptr().cast(), self.length) };
    }
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
