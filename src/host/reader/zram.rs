//! zram's `mm_stat`.

use super::super::error::HostError;
use super::super::root::SysRoot;
use super::{ParseError, read_with};

/// What a zram device stores, in bytes and pages as the kernel names them;
/// later kernels have more columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ZramStat {
    pub orig_data_size: Option<u64>,
    pub compr_data_size: Option<u64>,
    pub mem_used_total: Option<u64>,
    pub mem_limit: Option<u64>,
    pub mem_used_max: Option<u64>,
    pub same_pages: Option<u64>,
    pub pages_compacted: Option<u64>,
    pub huge_pages: Option<u64>,
    pub huge_pages_since: Option<u64>,
}

impl ZramStat {
    /// Of the device `zramN`.
    pub fn read(root: &SysRoot, device: &str) -> Result<Self, HostError> {
        read_with(root, format!("/sys/block/{device}/mm_stat"), ZramStat::parse)
    }

    pub(super) fn parse(text: &str) -> Result<Self, ParseError> {
        let bad = || ParseError::new(1, "expected at least three whole numbers", text);
        let columns: Result<Vec<u64>, _> = text.split_ascii_whitespace().map(str::parse).collect();
        let columns = columns.map_err(|_| bad())?;
        if columns.len() < 3 {
            return Err(bad());
        }
        let column = |index: usize| columns.get(index).copied();
        Ok(ZramStat {
            orig_data_size: column(0),
            compr_data_size: column(1),
            mem_used_total: column(2),
            mem_limit: column(3),
            mem_used_max: column(4),
            same_pages: column(5),
            pages_compacted: column(6),
            huge_pages: column(7),
            huge_pages_since: column(8),
        })
    }
}
