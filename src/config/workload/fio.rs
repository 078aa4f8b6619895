//! `[workload.fio]`: buffered or direct file I/O by fio.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::section::check_range;
use crate::config::error::Problem;
use crate::units::{Bytes, Nanos, Percent};

/// Which blocks are touched. Text form as in fio: `"random"`, `"zipf:0.5"`, `"pareto:0.2"`, `"normal:20"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TouchDistribution {
    Random,
    Zipf(f64),
    Pareto(f64),
    Normal(f64),
}

impl TouchDistribution {
    /// fio's own spelling.
    pub fn to_fio(self) -> String {
        match self {
            TouchDistribution::Random => "random".to_owned(),
            TouchDistribution::Zipf(theta) => format!("zipf:{theta}"),
            TouchDistribution::Pareto(h) => format!("pareto:{h}"),
            TouchDistribution::Normal(deviation) => format!("normal:{deviation}"),
        }
    }
}

impl FromStr for TouchDistribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "{text:?} is not a distribution; write \"random\", \"zipf:0.5\", \"pareto:0.2\" or \"normal:20\""
            )
        };
        let Some((name, number)) = text.split_once(':') else {
            return if text == "random" { Ok(TouchDistribution::Random) } else { Err(bad()) };
        };
        let value: f64 = number.parse().map_err(|_| bad())?;
        match name {
            "zipf" if value > 0.0 && value < 5.0 && value != 1.0 => Ok(TouchDistribution::Zipf(value)),
            "pareto" if value > 0.0 && value < 1.0 => Ok(TouchDistribution::Pareto(value)),
            "normal" if value > 0.0 && value <= 100.0 => Ok(TouchDistribution::Normal(value)),
            _ => Err(bad()),
        }
    }
}

impl Serialize for TouchDistribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_fio())
    }
}

impl<'de> Deserialize<'de> for TouchDistribution {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// One fio job section, repeated `jobs` times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FioWorkload {
    /// `numjobs`; each job has its own file.
    pub jobs: u32,
    /// Size of each job's file.
    pub size: Bytes,
    #[serde(default = "io_uring")]
    pub engine: String,
    /// `iodepth`.
    #[serde(default = "one")]
    pub depth: u32,
    /// `iodepth_batch_submit`.
    #[serde(default = "one")]
    pub batch_submit: u32,
    /// `iodepth_batch_complete`, which fio reads as `iodepth_batch_complete_min`.
    #[serde(default = "one")]
    pub batch_complete: u32,
    /// `randread`, `read`, `randwrite`, `write` or `randrw`.
    pub rw: String,
    /// Share of reads with `randrw`.
    #[serde(default = "half")]
    pub read_share: Percent,
    #[serde(default = "random")]
    pub distribution: TouchDistribution,
    #[serde(default = "block")]
    pub block: Bytes,
    #[serde(default)]
    pub direct: bool,
    #[serde(default = "yes")]
    pub norandommap: bool,
    /// `ramp_time`.
    #[serde(default)]
    pub ramp: Nanos,
    /// `runtime`, time based.
    pub runtime: Nanos,
    /// File system made on the ramdisk.
    #[serde(default = "ext4")]
    pub file_system: String,
}

fn io_uring() -> String {
    "io_uring".to_owned()
}

fn one() -> u32 {
    1
}

fn half() -> Percent {
    Percent(50.0)
}

fn random() -> TouchDistribution {
    TouchDistribution::Random
}

fn block() -> Bytes {
    Bytes::kib(4)
}

fn yes() -> bool {
    true
}

fn ext4() -> String {
    "ext4".to_owned()
}

impl FioWorkload {
    /// All files together.
    pub fn data_size(&self) -> Bytes {
        Bytes(self.size.0 * u64::from(self.jobs))
    }

    pub fn validate(&self, problems: &mut Vec<Problem>) {
        let key = |name: &str| format!("workload.fio.{name}");
        check_range(&key("jobs"), self.jobs.into(), 1, 4096, problems);
        check_range(&key("depth"), self.depth.into(), 1, 65_536, problems);
        check_range(&key("batch-submit"), self.batch_submit.into(), 1, self.depth.into(), problems);
        check_range(&key("batch-complete"), self.batch_complete.into(), 1, self.depth.into(), problems);
        check_range(&key("block"), self.block.0, 512, 1 << 26, problems);
        check_range(&key("size"), self.size.0, self.block.0.max(1 << 16), 1 << 50, problems);
        check_range(&key("runtime"), self.runtime.0, 100_000_000, 7 * 24 * 3_600_000_000_000, problems);
        let engines = ["io_uring", "libaio", "psync", "sync", "pvsync2", "mmap", "posixaio"];
        if !engines.contains(&self.engine.as_str()) {
            problems.push(Problem::new(
                key("engine"),
                format!("{:?} is not one of {}", self.engine, engines.join(", ")),
            ));
        }
        let kinds = ["randread", "read", "randwrite", "write", "randrw"];
        if !kinds.contains(&self.rw.as_str()) {
            problems
                .push(Problem::new(key("rw"), format!("{:?} is not one of {}", self.rw, kinds.join(", "))));
        }
        if !["ext4", "xfs", "btrfs"].contains(&self.file_system.as_str()) {
            problems.push(Problem::new(key("file-system"), "write \"ext4\", \"xfs\" or \"btrfs\""));
        }
        if !(0.0..=100.0).contains(&self.read_share.0) {
            problems.push(Problem::new(key("read-share"), "write \"0%\" to \"100%\""));
        }
    }
}
