//! Why io_uring was refused, from fio's error numbers and the kernel's sysctl.

use super::FioOutput;

/// The sysctl that disables io_uring for some (1) or for all (2).
const SYSCTL: &str = "/proc/sys/kernel/io_uring_disabled";

/// The cause, when the run failed because io_uring could not be set up.
pub(super) fn of_io_uring(engine: &str, output: Option<&FioOutput>, said: &str) -> Option<String> {
    if engine != "io_uring" {
        return None;
    }
    let sysctl = std::fs::read_to_string(SYSCTL).ok();
    cause(output, said, sysctl.as_deref().map(str::trim))
}

/// As above. fio says nothing but an error number when the kernel refuses; then no
/// operation was done at all.
pub(super) fn cause(output: Option<&FioOutput>, said: &str, sysctl: Option<&str>) -> Option<String> {
    let built_without = ["not loadable", "failed loading engine", "not available"];
    if let Some(line) = said.lines().find(|line| built_without.iter().any(|words| line.contains(words))) {
        return Some(format!(
            "this fio has no engine io_uring ({line}); install another build, or name one engine for all arms"
        ));
    }
    let output = output.filter(|o| o.read.is_none() && o.write.is_none())?;
    let number = *output.errors.first()?;
    let (name, why) = match (i32::try_from(number).ok()?, sysctl) {
        (libc::EPERM, Some("2")) => {
            ("EPERM", "kernel.io_uring_disabled is 2, which disables it for all: write 0")
        }
        (libc::EPERM, Some("1")) => (
            "EPERM",
            "kernel.io_uring_disabled is 1, which leaves it to the privileged: run as root, or write 0",
        ),
        (libc::EPERM | libc::EACCES, _) => (
            "EPERM",
            "kernel.io_uring_disabled does not forbid it, so a seccomp filter (containers have one) or SELinux does",
        ),
        (libc::ENOSYS, _) => {
            ("ENOSYS", "the kernel was built without CONFIG_IO_URING, or a seccomp filter hides it")
        }
        (libc::ENOMEM, _) => ("ENOMEM", "the limit of locked memory is too low: raise ulimit -l"),
        _ => return None,
    };
    Some(format!("io_uring is refused ({name}): {why}; the engine is never replaced silently"))
}
