//! Where each merged block was measured; what analysis needs to know of a fleet.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::layout::FleetFolder;
use super::request::TaskIdentity;
use crate::input;
use crate::store::{CampaignFolder, StoreError};

/// The try that counts for a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockOrigin {
    pub block: u32,
    pub class: String,
    /// Stable name of the machine.
    pub host: String,
    pub task: TaskIdentity,
}

/// All merged blocks of a fleet, and what differs between its hosts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Provenance {
    pub blocks: BTreeMap<u32, BlockOrigin>,
    /// How many there were to be.
    pub planned: u32,
    pub confounders: Vec<String>,
}

impl Provenance {
    /// Nodes with their class, in the order of their first block.
    pub fn hosts(&self) -> Vec<(&str, &str)> {
        let mut hosts: Vec<(&str, &str)> = Vec::new();
        for origin in self.blocks.values() {
            if !hosts.iter().any(|(node, _)| *node == origin.task.node) {
                hosts.push((&origin.task.node, &origin.class));
            }
        }
        hosts
    }
}

/// None for a campaign of one host.
pub fn provenance(campaign: &CampaignFolder) -> Result<Option<Provenance>, StoreError> {
    let folder = FleetFolder::of(campaign);
    if !folder.is_there() {
        return Ok(None);
    }
    let file = folder.file()?;
    let blocks = read_origins(&folder.merged_path())?;
    Ok(Some(Provenance { blocks, planned: file.blocks(), confounders: file.confounders }))
}

/// The first line of a block counts; a last line that a crash tore is none.
pub(super) fn read_origins(path: &Path) -> Result<BTreeMap<u32, BlockOrigin>, StoreError> {
    let bytes = match input::read(path, input::RECORD) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(source) => return Err(StoreError::Io { action: "read", path: path.to_owned(), source }),
    };
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let mut origins = BTreeMap::new();
    for (i, line) in bytes[..whole].split(|b| *b == b'\n').enumerate().filter(|(_, l)| !l.is_empty()) {
        let origin: BlockOrigin = serde_json::from_slice(line).map_err(|source| StoreError::JournalLine {
            path: path.to_owned(),
            line: i + 1,
            source,
        })?;
        origins.entry(origin.block).or_insert(origin);
    }
    Ok(origins)
}
