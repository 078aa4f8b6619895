//! System calls that no safe wrapper offers. The only `unsafe` of the host layer.

#![expect(unsafe_code, reason = "raw system calls; each block says why it is sound")]

use std::io;
use std::mem::MaybeUninit;

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
