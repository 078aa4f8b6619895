//! Pages scanned and reclaimed, from `/proc/vmstat`: exact sums over the
//! processors, of all reclaim on the host, on every cgroup version.

use std::path::Path;

use crate::workload::builtin::DriverFault;

const PATH: &str = "/proc/vmstat";

/// Pages so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) scanned: u64,
    pub(super) stolen: u64,
}

impl Counts {
    pub(super) fn read() -> Result<Self, DriverFault> {
        let text = std::fs::read_to_string(PATH).map_err(DriverFault::file("read", Path::new(PATH)))?;
        Counts::parse(&text).map_err(|name| {
            DriverFault::Refused(format!(
                "{PATH} has no {name}, by which reclaimed pages are counted; it needs a kernel of 5.8 or later"
            ))
        })
    }

    /// The name of the line that is missing or damaged, otherwise.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let value = |name: &'static str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|number| number.trim().parse::<u64>().ok()).ok_or(name)
        };
        Ok(Counts {
            scanned: value("pgscan_anon")?.wrapping_add(value("pgscan_file")?),
            stolen: value("pgsteal_anon")?.wrapping_add(value("pgsteal_file")?),
        })
    }

    pub(super) fn since(self, before: Counts) -> Counts {
        Counts {
            scanned: self.scanned.wrapping_sub(before.scanned),
            stolen: self.stolen.wrapping_sub(before.stolen),
        }
    }
}
