//! What a guest's init mounts, and where our program lies afterwards.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::mount::MountFlags;

use super::init::HOME;

/// Our program, whatever hides the place it was started from.
pub const PROGRAM: &str = "/run/run-bench/run-bench";

struct Mount {
    filesystem: &'static str,
    target: &'static str,
    /// Tried in this order: older kernels do not know every option.
    options: &'static [&'static str],
    required: bool,
}

const fn required(filesystem: &'static str, target: &'static str) -> Mount {
    Mount { filesystem, target, options: &[""], required: true }
}

/// Pages of these could otherwise go to the swap device under test.
const NO_SWAP: &[&str] = &["noswap,mode=1777", "mode=1777"];

const MOUNTS: [Mount; 9] = [
    required("proc", "/proc"),
    required("sysfs", "/sys"),
    Mount { required: false, ..required("devtmpfs", "/dev") },
    Mount { options: NO_SWAP, required: false, ..required("tmpfs", "/dev/shm") },
    Mount { required: false, ..required("devpts", "/dev/pts") },
    Mount { required: false, ..required("debugfs", "/sys/kernel/debug") },
    required("cgroup2", "/sys/fs/cgroup"),
    Mount { options: NO_SWAP, ..required("tmpfs", "/run") },
    Mount { options: NO_SWAP, ..required("tmpfs", "/tmp") },
];

/// Mounts all of them, and puts our program where the new mounts do not hide it.
pub(super) fn make() -> Result<(), String> {
    for mount in MOUNTS {
        // On a read-only root it exists already, or the mount says so.
        let _ = std::fs::create_dir_all(mount.target);
        let mounted = mount.options.iter().map(|o| attempt(&mount, o)).reduce(Result::or);
        match mounted {
            Some(Err(error)) if mount.required => {
                return Err(format!("cannot mount {} on {}: {error}", mount.filesystem, mount.target));
            }
            _ => {}
        }
        if mount.target == "/run" {
            keep_program().map_err(|e| format!("cannot bind this program to {PROGRAM}: {e}"))?;
        }
    }
    Ok(())
}

fn attempt(mount: &Mount, options: &str) -> Result<(), Errno> {
    let options = CString::new(options).expect("constants without NUL");
    match rustix::mount::mount(
        mount.filesystem,
        mount.target,
        mount.filesystem,
        MountFlags::empty(),
        options.as_c_str(),
    ) {
        // The kernel mounts devtmpfs by itself on some roots.
        Err(Errno::BUSY) => Ok(()),
        other => other,
    }
}

fn keep_program() -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o755).create(HOME)?;
    std::fs::write(PROGRAM, b"")?;
    rustix::mount::mount_bind("/proc/self/exe", PROGRAM)?;
    Ok(())
}

/// Mounts the host's `folder` on `target`, writable.
pub(super) fn share(folder: &Path, target: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(target)?;
    let folder = CString::new(folder.as_os_str().as_bytes())?;
    rustix::mount::mount("none", target, "hostfs", MountFlags::empty(), folder.as_c_str())?;
    Ok(())
}

/// Gives drivers that were just loaded a moment to make their devices.
pub(super) fn expect_devices() {
    let disk = Path::new("/sys/block/vda");
    let virtio = Path::new("/sys/bus/virtio/devices");
    let expected = std::fs::read_dir(virtio).is_ok_and(|mut devices| devices.next().is_some());
    for _ in 0..50 {
        if !expected || disk.exists() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
}
