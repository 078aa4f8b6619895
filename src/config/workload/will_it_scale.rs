//! `[workload.will-it-scale]`: one small operation in many tasks.

use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::memcached::Driver;
use super::section::check_range;
use crate::config::error::Problem;
use crate::units::Nanos;

/// The cases with a built-in twin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScaleCase {
    Pread1,
    Pread2,
    #[serde(rename = "page_fault1")]
    PageFault1,
    #[serde(rename = "page_fault2")]
    PageFault2,
    #[serde(rename = "page_fault3")]
    PageFault3,
    Malloc1,
}

impl ScaleCase {
    pub fn name(self) -> &'static str {
        match self {
            ScaleCase::Pread1 => "pread1",
            ScaleCase::Pread2 => "pread2",
            ScaleCase::PageFault1 => "page_fault1",
            ScaleCase::PageFault2 => "page_fault2",
            ScaleCase::PageFault3 => "page_fault3",
            ScaleCase::Malloc1 => "malloc1",
        }
    }
}

/// Whether tasks are processes or threads of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScaleMode {
    #[default]
    Process,
    Thread,
}

/// How many tasks. Text form: `"16"`, or a share of the processors, `"100%"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskCount {
    Number(u32),
    SharePercent(u32),
}

impl TaskCount {
    /// Tasks on a machine of `cpus` processors, at least one.
    pub fn on(self, cpus: u32) -> u32 {
        match self {
            TaskCount::Number(n) => n,
            TaskCount::SharePercent(share) => (u64::from(cpus) * u64::from(share) / 100).max(1) as u32,
        }
    }
}

impl FromStr for TaskCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!("{text:?} is not a number of tasks; write \"16\" or a share of the processors, \"100%\"")
        };
        let (number, share) = match text.trim().strip_suffix('%') {
            Some(number) => (number, true),
            None => (text.trim(), false),
        };
        match (number.parse::<u32>().map_err(|_| bad())?, share) {
            (n @ 1..=1000, true) => Ok(TaskCount::SharePercent(n)),
            (n @ 1..=8192, false) => Ok(TaskCount::Number(n)),
            _ => Err(bad()),
        }
    }
}

impl Serialize for TaskCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            TaskCount::Number(n) => serializer.collect_str(n),
            TaskCount::SharePercent(n) => serializer.collect_str(&format_args!("{n}%")),
        }
    }
}

impl<'de> Deserialize<'de> for TaskCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// One case, mode and number of tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WillItScaleWorkload {
    pub case: ScaleCase,
    #[serde(default)]
    pub mode: ScaleMode,
    pub tasks: TaskCount,
    pub duration: Nanos,
    #[serde(default = "warm_up")]
    pub warm_up: Nanos,
    #[serde(default)]
    pub driver: Driver,
    /// Where the built-in cases make their files; a tmpfs takes the read path of the
    /// published runs. The real programs always use `/tmp`.
    #[serde(default = "folder")]
    pub folder: PathBuf,
}

fn folder() -> PathBuf {
    PathBuf::from("/dev/shm")
}

fn warm_up() -> Nanos {
    Nanos::from_seconds(1)
}

impl WillItScaleWorkload {
    pub fn validate(&self, problems: &mut Vec<Problem>) {
        let day = 86_400_000_000_000;
        check_range("workload.will-it-scale.duration", self.duration.0, 100_000_000, day, problems);
        check_range("workload.will-it-scale.warm-up", self.warm_up.0, 0, day, problems);
        if !self.folder.is_absolute() {
            problems.push(Problem::new("workload.will-it-scale.folder", "write an absolute path"));
        }
    }
}
