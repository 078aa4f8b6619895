//! Options of `run-bench simulate`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};

use crate::cli::arguments::FitArguments;
use crate::model::access::RegionKind;
use crate::model::flag::Flag;
use crate::model::platform::{Platform, SwapKind};
use crate::model::stream::StreamSpec;
use crate::model::stream::trace::CsvLayout;
use crate::model::version::{PolicyKind, Version};
use crate::units::{Bytes, Pages};

/// What stands below the options in `--help`.
const EXAMPLES: &str = "\
Examples:
  run-bench simulate --stream zipf:0.99 --pages 65536 --limit 64MiB
  run-bench simulate --stream memtier:P:P --pages 4GiB --limit 1GiB --flag bulk-move --events
  run-bench simulate --stream cyclic --kernel 6.1 --kernel 6.12 --kernel 7.2 --policy classic --policy mglru
  run-bench simulate --stream fio-zipf:0.5:16 --pages 240MiB --limit 64MiB --mrc --out curves
  run-bench simulate --trace accesses.txt --backing file --limit 100MiB
  run-bench simulate configs/lru-gen-fio.toml --scale 1/8
  run-bench simulate configs/quick.toml --into results/quick-1   # lines for that campaign's report
  run-bench simulate --flag list

Counts are the kernel's own, by name, and repeat to the last one for the same options and seed.
No clock runs: what a count costs is for `run-bench predict` to say.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SimulateArguments {
    /// An experiment: its workload on each of its arms
    #[arg(conflicts_with_all = ["stream", "trace", "pages", "limit", "backing", "writes", "swap", "platform"])]
    pub experiment: Option<PathBuf>,
    #[command(flatten)]
    pub fit: FitArguments,
    /// The accesses: cyclic, sequential, uniform, zipf:S, mixed:S, moving:N, fio-zipf:T[:JOBS], memtier:P:P|R:R,
    /// usemem[:TASKS], pread2[:TASKS], guard:NAME
    #[arg(long, conflicts_with = "trace")]
    pub stream: Option<StreamSpec>,
    /// Accesses from a file
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// text (an object a line), csv[,object=N][,operation=N][,header], or oracle (oracleGeneral)
    #[arg(long, default_value = "text")]
    pub trace_format: TraceFormat,
    /// What backs the pages; the stream's own when absent
    #[arg(long, value_enum)]
    pub backing: Option<Backing>,
    /// Writes in a hundred accesses
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub writes: u32,
    /// Pages that the stream ranges over, as a number or a size
    #[arg(long, default_value = "65536")]
    pub pages: PageCount,
    /// memory.max, as pages or a size; a quarter of the pages when absent
    #[arg(long)]
    pub limit: Option<PageCount>,
    /// Accesses of the stream, or of a workload that runs by the clock
    #[arg(long)]
    pub accesses: Option<u64>,
    /// Accesses that are counted apart, before the others
    #[arg(long, default_value_t = 0)]
    pub warm_up: u64,
    /// Kernel: 6.1, 6.12, 6.14-posted, 6.14-merged, 7.2; may be repeated [default: 6.12, or the arms' own]
    #[arg(long, value_name = "VERSION")]
    pub kernel: Vec<Version>,
    /// classic or mglru; may be repeated [default: mglru, or the arms' own]
    #[arg(long)]
    pub policy: Vec<PolicyKind>,
    /// vm.swappiness [default: 60, or the arms' own]
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=200))]
    pub swappiness: Option<u32>,
    /// Swap device, as pages or a size; twice the pages when absent
    #[arg(long)]
    pub swap: Option<PageCount>,
    /// A patch to simulate beside the kernel without it; may be repeated; "list" lists them
    #[arg(long, value_name = "NAME")]
    pub flag: Vec<FlagChoice>,
    /// The machine: x86, or uml (no young bit by hardware, reads leave no mark)
    #[arg(long, value_enum, default_value = "x86")]
    pub platform: Machine,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print the events that costs are made of, too
    #[arg(long)]
    pub events: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub curve: CurveArguments,
    #[command(flatten)]
    pub series: SeriesArguments,
    /// Runs at the same time; all processors when absent
    #[arg(long)]
    pub threads: Option<usize>,
}

/// Curves over memory sizes.
#[derive(Debug, Args)]
pub struct CurveArguments {
    /// Miss-ratio and refault curves over memory sizes, as CSV, beside plain FIFO, LRU, CLOCK and Belady
    #[arg(long, conflicts_with_all = ["events", "json", "series", "into"])]
    pub mrc: bool,
    /// Memory sizes of a curve
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(2..=200))]
    pub points: u32,
    /// Folder for the curves' CSV, SVG and PNG files
    #[arg(long, value_name = "FOLDER", requires = "mrc")]
    pub out: Option<PathBuf>,
}

/// Counters over time, as the sampler writes them.
#[derive(Debug, Args)]
pub struct SeriesArguments {
    /// Folder for the counters over time, one file a case, as a trial's series.jsonl
    #[arg(long, value_name = "FOLDER")]
    pub series: Option<PathBuf>,
    /// The campaign whose report shall show the simulated counters, too
    #[arg(long, value_name = "CAMPAIGN", requires = "experiment", conflicts_with = "series")]
    pub into: Option<PathBuf>,
    /// Accesses a second that such a series stands for
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub rate: u64,
    /// Samples of a series
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(2..=100_000))]
    pub samples: u64,
}

impl SeriesArguments {
    pub fn is_wanted(&self) -> bool {
        self.series.is_some() || self.into.is_some()
    }

    /// Where the series of a workload go.
    pub fn folder(&self, workload: &str, several: bool) -> Option<PathBuf> {
        match (&self.series, &self.into) {
            (Some(folder), _) if several => Some(folder.join(workload)),
            (Some(folder), _) => Some(folder.clone()),
            (None, Some(campaign)) => Some(campaign.join("simulated").join(workload)),
            (None, None) => None,
        }
    }
}

/// A number of pages: plain, or as a size with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageCount(pub Pages);

impl FromStr for PageCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let pages = match text.parse::<u64>() {
            Ok(pages) => Pages(pages),
            Err(_) => text.parse::<Bytes>().map_err(|error| error.to_string())?.to_pages(),
        };
        if pages.0 == 0 || pages.0 > u64::from(u32::MAX / 2) {
            return Err(format!("{} pages cannot be simulated; give 1 to {}", pages.0, u32::MAX / 2));
        }
        Ok(PageCount(pages))
    }
}

/// A patch, or the wish to see them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagChoice {
    List,
    Patch(Flag),
}

impl FromStr for FlagChoice {
    type Err = crate::model::flag::UnknownFlag;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "list" { Ok(FlagChoice::List) } else { text.parse().map(FlagChoice::Patch) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backing {
    Anon,
    File,
    MappedFile,
    Shmem,
}

impl From<Backing> for RegionKind {
    fn from(backing: Backing) -> RegionKind {
        match backing {
            Backing::Anon => RegionKind::Anon,
            Backing::File => RegionKind::File,
            Backing::MappedFile => RegionKind::MappedFile,
            Backing::Shmem => RegionKind::Shmem,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Machine {
    X86,
    /// x86 with a swap device that writes in the background
    X86AsyncSwap,
    Uml,
}

impl From<Machine> for Platform {
    fn from(machine: Machine) -> Platform {
        match machine {
            Machine::X86 => Platform::X86,
            Machine::X86AsyncSwap => Platform { swap: SwapKind::Asynchronous, ..Platform::X86 },
            Machine::Uml => Platform::UML,
        }
    }
}

/// How a trace is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFormat {
    Text,
    Csv(CsvLayout),
    Oracle,
}

impl FromStr for TraceFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(',');
        match parts.next() {
            Some("text") if !text.contains(',') => Ok(TraceFormat::Text),
            Some("oracle") if !text.contains(',') => Ok(TraceFormat::Oracle),
            Some("csv") => {
                let mut layout = CsvLayout::default();
                for part in parts {
                    let column = |number: &str| {
                        let number = number.parse::<usize>().ok().filter(|n| *n > 0);
                        number.ok_or(format!("{part:?} names no column; columns count from 1"))
                    };
                    match part.split_once('=') {
                        Some(("object", number)) => layout.object = column(number)?,
                        Some(("operation", number)) => layout.operation = Some(column(number)?),
                        None if part == "header" => layout.header = true,
                        _ => return Err(format!("{part:?} is not object=N, operation=N or header")),
                    }
                }
                Ok(TraceFormat::Csv(layout))
            }
            _ => Err(format!("{text:?} is no trace format; write text, csv or oracle")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_numbers_or_sizes() {
        assert_eq!("4096".parse(), Ok(PageCount(Pages(4096))));
        assert_eq!("64MiB".parse(), Ok(PageCount(Pages(16_384))));
        for wrong in ["0", "many", "9999999999", "16TiB"] {
            assert!(wrong.parse::<PageCount>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn trace_formats_name_their_columns() {
        let layout = CsvLayout { object: 2, operation: Some(4), header: true, ..CsvLayout::default() };
        assert_eq!("csv,object=2,operation=4,header".parse(), Ok(TraceFormat::Csv(layout)));
        assert_eq!("oracle".parse(), Ok(TraceFormat::Oracle));
        for wrong in ["csv,object=0", "csv,size=1", "text,header", "zip"] {
            assert!(wrong.parse::<TraceFormat>().is_err(), "{wrong}");
        }
    }
}
