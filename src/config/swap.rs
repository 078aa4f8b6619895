//! `[swap]`: the swap device a trial makes for itself.

use serde::{Deserialize, Serialize};

use super::error::Problem;
use crate::units::Bytes;

/// The kinds of ramdisk swap. They are different paths through the kernel and
/// are never mixed in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SwapKind {
    /// `brd` where it can be had, else a loop device over a noswap tmpfs.
    Ramdisk,
    Brd,
    /// Compressed: always named explicitly.
    Zram,
    /// A loop device over a fully allocated tmpfs mounted with `noswap`.
    Loop,
}

impl SwapKind {
    pub fn name(self) -> &'static str {
        match self {
            SwapKind::Ramdisk => "ramdisk",
            SwapKind::Brd => "brd",
            SwapKind::Zram => "zram",
            SwapKind::Loop => "loop",
        }
    }
}

/// A swap device of our own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SwapSection {
    pub kind: SwapKind,
    pub size: Bytes,
    /// zram's compression algorithm; the kernel's default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
}

impl SwapSection {
    pub fn validate(&self, problems: &mut Vec<Problem>) {
        if self.size < Bytes::mib(1) {
            problems
                .push(Problem::new("swap.size", format!("{} is no swap; write at least 1MiB", self.size)));
        }
        if let Some(algorithm) = &self.algorithm {
            let word = algorithm.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
            if self.kind != SwapKind::Zram || !word || algorithm.is_empty() {
                problems.push(Problem::new(
                    "swap.algorithm",
                    "goes with kind = \"zram\" and is one word, such as \"lzo-rle\" or \"zstd\"",
                ));
            }
        }
    }
}
