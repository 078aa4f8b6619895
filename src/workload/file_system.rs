//! The file system that a folder lies on, by its magic number.

use std::path::Path;

/// Magic numbers of <linux/magic.h> that load generators meet.
const NAMES: [(i64, &str); 8] = [
    (0xEF53, "ext4"),
    (0x0102_1994, "tmpfs"),
    (0x5846_5342, "xfs"),
    (0x9123_683E, "btrfs"),
    (0x794C_7630, "overlay"),
    (0x00C0_FFEE, "hostfs"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "fuse"),
];

/// The kernel's name, the magic number of an unknown one, or why it cannot be told.
pub(super) fn name(folder: &Path) -> String {
    match rustix::fs::statfs(folder) {
        Ok(found) => {
            let magic = found.f_type & 0xffff_ffff;
            let known = NAMES.iter().find(|(number, _)| *number == magic);
            known.map_or_else(|| format!("{magic:#x}"), |(_, name)| (*name).to_owned())
        }
        Err(error) => format!("unknown: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_or_numbers() {
        assert!(name(Path::new("/nowhere/at/all")).starts_with("unknown: "));
        // procfs is none that loads run on.
        assert_eq!(name(Path::new("/proc")), "0x9fa0");
    }
}
