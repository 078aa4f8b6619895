//! `/proc/zoneinfo`: watermarks and per-CPU page lists of each zone.

use std::collections::BTreeMap;

use super::super::error::HostError;
use super::super::root::SysRoot;
use super::{ParseError, read_with};

/// The per-CPU page lists of one CPU in one zone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageSet {
    pub cpu: u32,
    values: BTreeMap<String, u64>,
}

impl PageSet {
    /// `count`, `high`, `batch`, `high_min`, `high_max`.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.values.get(name).copied()
    }
}

/// One zone of one node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Zone {
    pub node: u32,
    pub name: String,
    values: BTreeMap<String, u64>,
    pub pagesets: Vec<PageSet>,
}

impl Zone {
    /// `free`, `min`, `low`, `high`, `managed`, `nr_free_pages`, …, in pages.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.values.get(name).copied()
    }
}

/// All zones, in the kernel's order.
pub fn zones(root: &SysRoot) -> Result<Vec<Zone>, HostError> {
    read_with(root, "/proc/zoneinfo", parse)
}

pub(super) fn parse(text: &str) -> Result<Vec<Zone>, ParseError> {
    let mut zones: Vec<Zone> = Vec::new();
    let mut per_node = false;
    for (index, line) in text.lines().enumerate() {
        let bad = |what| ParseError::new(index + 1, what, line);
        if let Some(rest) = line.strip_prefix("Node ") {
            zones.push(parse_header(rest).ok_or_else(|| bad("expected `Node N, zone NAME`"))?);
            per_node = false;
            continue;
        }
        let zone = zones.last_mut().ok_or_else(|| bad("expected a zone first"))?;
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            ["per-node", "stats"] => per_node = true,
            ["pages", "free", value] => {
                per_node = false;
                zone.values.insert("free".to_owned(), value.parse().map_err(|_| bad("expected pages"))?);
            }
            ["cpu:", cpu] => {
                let cpu = cpu.parse().map_err(|_| bad("expected a CPU number"))?;
                zone.pagesets.push(PageSet { cpu, values: BTreeMap::new() });
            }
            [name, value] => {
                let Ok(value) = value.parse::<u64>() else { return Err(bad("expected a whole number")) };
                match (name.strip_suffix(':'), zone.pagesets.last_mut()) {
                    // After the page sets come lines of the zone again.
                    (Some("node_unreclaimable" | "start_pfn"), _) | (Some(_), None) => {}
                    (Some(name), Some(set)) => {
                        set.values.insert(name.to_owned(), value);
                    }
                    // Counts of the node stand in its first zone and belong to none.
                    (None, _) if per_node => {}
                    (None, _) => {
                        zone.values.insert((*name).to_owned(), value);
                    }
                }
            }
            // `pagesets`, `protection: (…)`, `vm stats threshold: N`, and what is new.
            _ => {}
        }
    }
    Ok(zones)
}

fn parse_header(rest: &str) -> Option<Zone> {
    let (node, name) = rest.split_once(", zone ")?;
    Some(Zone { node: node.trim().parse().ok()?, name: name.trim().to_owned(), ..Zone::default() })
}
