//! A machine's profile: every cost as a median and a range, with where it comes
//! from. Written by `calibrate`, or by hand from published figures.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::CalibrateError;
use super::parameter::Parameter;
use super::parameter::Unit;
use crate::input;
use crate::stats::random::Chance;

/// The newest schema of profiles.
pub const PROFILE_SCHEMA: u32 = 1;
/// The range of an entry is read as 5% and 95% of a log-normal on either side.
const Z_95: f64 = 1.6449;

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// On this machine.
    Measured,
    /// From a publication, named in `source`.
    Cited,
    /// A judgement; `source` says from what.
    Assumed,
}

/// One cost: the middle and the ends of a 90% range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Entry {
    pub low: f64,
    pub median: f64,
    pub high: f64,
    pub basis: Basis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// The machine that a profile stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MachineShape {
    pub name: String,
    /// Hardware threads.
    pub cpus: u32,
    pub sockets: u32,
    /// NUMA nodes: each has its lruvecs and zones.
    pub nodes: u32,
    /// One last-level cache, and how many hardware threads share it.
    pub llc_mib: f64,
    pub llc_cpus: u32,
    pub l2_kib: f64,
    /// Memory of a node.
    pub node_memory_gib: f64,
}

impl MachineShape {
    fn sizes(&self) -> [(&'static str, f64); 3] {
        [("llc-mib", self.llc_mib), ("l2-kib", self.l2_kib), ("node-memory-gib", self.node_memory_gib)]
    }

    /// All last-level caches together, in MiB.
    pub fn all_llc_mib(&self) -> f64 {
        self.llc_mib * (f64::from(self.cpus) / f64::from(self.llc_cpus.max(1))).max(1.0)
    }
}

/// How a profile came to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Provenance {
    /// `calibrate`, or who put the figures together.
    pub made_by: String,
    pub date: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtualised: Option<bool>,
    /// What made the measurement less than it should be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The costs of one machine. Every parameter has an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    pub machine: MachineShape,
    pub provenance: Provenance,
    entries: Vec<Entry>,
}

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProfileFile {
    pub schema: u32,
    pub provenance: Provenance,
    pub machine: MachineShape,
    pub parameter: BTreeMap<String, Entry>,
}

/// One value for each parameter: the medians, or a draw.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs(Vec<f64>);

impl Costs {
    pub fn get(&self, parameter: Parameter) -> f64 {
        self.0[parameter as usize]
    }

    /// What a prefetch one node ahead hides of a miss of `miss` nanoseconds behind
    /// `work`, by the measured shares, linear between the works they were measured at.
    pub fn hidden(&self, miss: f64, work: f64) -> f64 {
        let points = [
            (0.0, 0.0),
            (self.get(Parameter::WorkShort), self.get(Parameter::PrefetchShort)),
            (self.get(Parameter::WorkMedium), self.get(Parameter::PrefetchMedium)),
            (self.get(Parameter::WorkLong), self.get(Parameter::PrefetchLong)),
        ];
        let hidden = |(at, share): (f64, f64)| share * miss.min(at);
        let above = points.iter().position(|(at, _)| *at > work);
        let value = match above {
            Some(above) if above > 0 => {
                let (low, high) = (points[above - 1], points[above]);
                let part = (work - low.0) / (high.0 - low.0);
                hidden(low) + part * (hidden(high) - hidden(low))
            }
            _ => points[3].1 * miss.min(work),
        };
        value.clamp(0.0, miss)
    }

    /// The same costs with one changed.
    #[must_use]
    pub fn with(&self, parameter: Parameter, value: f64) -> Self {
        let mut changed = self.clone();
        changed.0[parameter as usize] = value;
        changed
    }
}

impl Entry {
    pub fn measured(low: f64, median: f64, high: f64) -> Self {
        Entry { low, median, high, basis: Basis::Measured, source: None }
    }

    pub fn assumed((low, median, high): (f64, f64, f64), source: &str) -> Self {
        Entry { low, median, high, basis: Basis::Assumed, source: Some(source.to_owned()) }
    }

    /// The value `z` standard deviations from the middle.
    fn at(&self, z: f64, unit: Unit) -> f64 {
        let end = if z < 0.0 { self.low } else { self.high };
        let steps = z.abs().min(2.5) / Z_95;
        match unit {
            Unit::Nanoseconds if self.median > 0.0 && end > 0.0 => {
                self.median * (end / self.median).powf(steps)
            }
            _ => self.median + (end - self.median) * steps,
        }
    }

    /// Relative half-width of the range.
    pub fn spread(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { 0.5 * (self.high - self.low) / self.median.abs() }
    }
}

impl Profile {
    /// A profile of these entries; a parameter without one is an error text.
    pub fn new(
        machine: MachineShape,
        provenance: Provenance,
        mut entries: BTreeMap<Parameter, Entry>,
    ) -> Result<Self, String> {
        let mut ordered = Vec::new();
        for parameter in Parameter::ALL {
            let entry = entries.remove(parameter).ok_or_else(|| {
                format!("{} is missing ({}); add it with its range", parameter.name(), parameter.what())
            })?;
            check(*parameter, &entry)?;
            ordered.push(entry);
        }
        if machine.cpus == 0 || machine.sockets == 0 || machine.nodes == 0 {
            return Err("cpus, sockets and nodes are at least 1".to_owned());
        }
        for (name, size) in machine.sizes() {
            if !(size >= 0.0 && size.is_finite()) {
                return Err(format!("{name} is {size}; write a finite size"));
            }
        }
        if provenance.seconds.is_some_and(|seconds| !seconds.is_finite()) {
            return Err("seconds is no finite number".to_owned());
        }
        Ok(Profile { machine, provenance, entries: ordered })
    }

    pub fn entry(&self, parameter: Parameter) -> &Entry {
        &self.entries[parameter as usize]
    }

    /// The medians.
    pub fn median(&self) -> Costs {
        Costs(self.entries.iter().map(|entry| entry.median).collect())
    }

    /// A seeded draw of every parameter from its range.
    pub fn draw(&self, chance: &mut Chance) -> Costs {
        let values = Parameter::ALL.iter().zip(&self.entries);
        Costs(values.map(|(parameter, entry)| entry.at(chance.normal(), parameter.unit())).collect())
    }

    /// As it is written.
    pub fn to_file(&self) -> ProfileFile {
        let pairs = Parameter::ALL.iter().zip(&self.entries);
        ProfileFile {
            schema: PROFILE_SCHEMA,
            provenance: self.provenance.clone(),
            machine: self.machine.clone(),
            parameter: pairs.map(|(p, entry)| (p.name().to_owned(), entry.clone())).collect(),
        }
    }

    pub fn to_toml(&self) -> String {
        toml::to_string(&self.to_file()).expect("strings, numbers and tables serialize")
    }

    /// Reads a profile; unknown and missing parameters are refused.
    pub fn parse(path: &Path, text: &str) -> Result<Self, CalibrateError> {
        let invalid = |message: String| CalibrateError::Invalid { path: path.to_owned(), message };
        let file: ProfileFile = toml::from_str(text).map_err(|error| invalid(error.to_string()))?;
        if file.schema != PROFILE_SCHEMA {
            let (found, known) = (file.schema, PROFILE_SCHEMA);
            return Err(CalibrateError::Schema { path: path.to_owned(), found, known });
        }
        let mut entries = BTreeMap::new();
        for (name, entry) in file.parameter {
            let parameter = Parameter::named(&name)
                .ok_or_else(|| invalid(format!("{name:?} is no parameter; remove it or correct its name")))?;
            entries.insert(parameter, entry);
        }
        Profile::new(file.machine, file.provenance, entries).map_err(invalid)
    }

    pub fn load(path: &Path) -> Result<Self, CalibrateError> {
        let text = input::read_text(path, input::SECTIONS)
            .map_err(|source| CalibrateError::Read { path: path.to_owned(), source })?;
        Profile::parse(path, &text)
    }
}

fn check(parameter: Parameter, entry: &Entry) -> Result<(), String> {
    let name = parameter.name();
    let ordered = entry.low <= entry.median && entry.median <= entry.high;
    if !ordered || !entry.low.is_finite() || !entry.high.is_finite() {
        return Err(format!("{name}: write low <= median <= high"));
    }
    if entry.median < parameter.least() {
        return Err(format!(
            "{name}: {} is below {}, which no processor undercuts",
            entry.median,
            parameter.least()
        ));
    }
    if entry.basis != Basis::Measured && entry.source.as_ref().is_none_or(|s| s.trim().is_empty()) {
        return Err(format!("{name}: a value that was not measured names its source"));
    }
    Ok(())
}
