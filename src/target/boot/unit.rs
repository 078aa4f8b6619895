//! The systemd unit that resumes a campaign after a boot, and the watchdog that
//! ends a boot that hangs.

use std::io;
use std::path::{Path, PathBuf};

use crate::host::SysRoot;

const UNIT: &str = "/etc/systemd/system/run-bench-resume.service";
/// What `systemctl enable` would make.
const ENABLED: &str = "/etc/systemd/system/multi-user.target.wants/run-bench-resume.service";
const WATCHDOG: &str = "/etc/systemd/system.conf.d/run-bench-watchdog.conf";

/// A word of `ExecStart=`, quoted as systemd.service(5) says.
fn quoted(word: &Path) -> String {
    let text = word.display().to_string();
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    format!("\"{text}\"")
}

fn unit_text(program: &Path, campaign: &Path, state: &Path) -> String {
    format!(
        "[Unit]\n\
         Description=run-bench: resume a campaign of booted kernels\n\
         ConditionPathExists={}\n\
         After=multi-user.target\n\
         \n\
         [Service]\n\
         Type=exec\n\
         ExecStart={} run {}\n\
         TimeoutStopSec=120\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n",
        state.display().to_string().replace('%', "%%"),
        quoted(program),
        quoted(campaign)
    )
}

/// A host that hangs is reset by its watchdog, where it has one.
const WATCHDOG_TEXT: &str = "[Manager]\nRuntimeWatchdogSec=60\nRebootWatchdogSec=120\n";

fn write(root: &SysRoot, path: &str, text: &str) -> io::Result<()> {
    let path = root.path(path);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}

/// Installs and enables the unit; the next boot reads it.
pub(super) fn install(root: &SysRoot, program: &Path, campaign: &Path, state: &Path) -> io::Result<()> {
    write(root, UNIT, &unit_text(program, campaign, state))?;
    let enabled = root.path(ENABLED);
    if let Some(folder) = enabled.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let _ = std::fs::remove_file(&enabled);
    std::os::unix::fs::symlink(UNIT, &enabled)?;
    if root.exists("/dev/watchdog") {
        write(root, WATCHDOG, WATCHDOG_TEXT)?;
    }
    Ok(())
}

/// Removes what [`install`] made; what is not there is as it should be.
pub(super) fn remove(root: &SysRoot) -> io::Result<()> {
    for path in [ENABLED, UNIT, WATCHDOG].map(PathBuf::from) {
        match std::fs::remove_file(root.path(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_names_program_and_campaign_and_goes_again() {
        let keep = tempfile::tempdir().unwrap();
        let root = SysRoot::at(keep.path());
        std::fs::create_dir(keep.path().join("dev")).unwrap();
        std::fs::write(keep.path().join("dev/watchdog"), "").unwrap();
        let state = Path::new("/var/lib/run-bench/boot.json");
        let campaign = Path::new("/data/100% \"new\"");
        for _ in 0..2 {
            install(&root, Path::new("/usr/bin/run-bench"), campaign, state).unwrap();
        }
        let text = std::fs::read_to_string(root.path(UNIT)).unwrap();
        assert!(
            text.contains("ExecStart=\"/usr/bin/run-bench\" run \"/data/100%% \\\"new\\\"\"\n"),
            "{text}"
        );
        assert!(text.contains("ConditionPathExists=/var/lib/run-bench/boot.json\n"), "{text}");
        assert_eq!(std::fs::read_link(root.path(ENABLED)).unwrap(), Path::new(UNIT));
        assert!(root.path(WATCHDOG).is_file());
        remove(&root).unwrap();
        remove(&root).unwrap();
        assert!(!root.exists(UNIT) && !root.exists(ENABLED) && !root.exists(WATCHDOG));
    }
}
