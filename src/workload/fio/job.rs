//! The job file: the harness's own statement of what fio is asked to do.

use std::path::Path;

use crate::config::workload::FioWorkload;
use crate::config::workload::TouchDistribution;
use crate::workload::layout::DataFile;

/// fio's name of the job and of the files' stem.
const STEM: &str = "run-bench";

/// The file of each job.
pub(super) fn files(config: &FioWorkload, folder: &Path) -> Vec<DataFile> {
    (0..config.jobs)
        .map(|job| DataFile { path: folder.join(format!("{STEM}.{job}")), size: config.size })
        .collect()
}

/// The text of the job file. One job section, so that one group is reported.
pub(super) fn text(config: &FioWorkload, folder: &Path, seed: u64) -> String {
    let flag = |on: bool| u8::from(on).to_string();
    let random = config.rw.starts_with("rand");
    let mut lines = vec![
        format!("[{STEM}]"),
        format!("directory={}", folder.display()),
        format!("filename_format={STEM}.$jobnum"),
        format!("numjobs={}", config.jobs),
        format!("size={}", config.size.0),
        format!("bs={}", config.block.0),
        format!("ioengine={}", config.engine),
        format!("iodepth={}", config.depth),
        format!("iodepth_batch_submit={}", config.batch_submit),
        format!("iodepth_batch_complete_min={}", config.batch_complete),
        format!("rw={}", config.rw),
        format!("direct={}", flag(config.direct)),
        // Both arms draw the same blocks; the seed is that of the block of trials.
        format!("randseed={seed}"),
        "time_based=1".to_owned(),
        format!("ramp_time={}ms", config.ramp.0 / 1_000_000),
        format!("runtime={}ms", config.runtime.0 / 1_000_000),
        "group_reporting=1".to_owned(),
    ];
    if config.rw == "randrw" {
        lines.push(format!("rwmixread={}", config.read_share.0.round()));
    }
    if random {
        lines.push(format!("norandommap={}", flag(config.norandommap)));
        if config.distribution != TouchDistribution::Random {
            lines.push(format!("random_distribution={}", config.distribution.to_fio()));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}
