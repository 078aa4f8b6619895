//! Options of every command.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use super::kernel::KernelCommand;
use super::simulate::arguments::SimulateArguments;
use crate::report::ReportPart;
use crate::units::{Bytes, Nanos, Percent};

/// Verdicts that hold for kernel memory-management patches.
#[derive(Debug, Parser)]
#[command(name = "run-bench", version = env!("RUN_BENCH_VERSION"), propagate_version = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// What this host can run, what is missing, and how to get it
    Doctor(DoctorArguments),
    /// What will run, for how long, and what it can resolve
    Plan(PlanArguments),
    /// Run or resume a campaign; prints the verdict and the paths
    Run(RunArguments),
    /// Recompute every number from the raw records
    Compare(CompareArguments),
    /// HTML, charts, mail text and exports of a campaign
    Report(ReportArguments),
    /// Where a campaign stands
    Status(StatusArguments),
    /// Undo whatever a killed run left on this host
    Clean(CleanArguments),
    /// Measure this machine's costs: caches, atomics, locks, copies, faults
    Calibrate(CalibrateArguments),
    /// Forecast what a patch changes, with an interval and the reason
    Predict(PredictArguments),
    /// What a patch mail claims, whether its arithmetic holds, a ready experiment
    #[command(subcommand)]
    Patch(PatchCommand),
    /// Kernels as arms: build them from a tree and patches, list them, boot them
    #[command(subcommand)]
    Kernel(KernelCommand),
    /// Run the reclaim model alone: a stream or an experiment, kernels, policies, patches
    Simulate(Box<SimulateArguments>),
    /// The tool against known truth
    #[command(subcommand)]
    Selftest(SelftestCommand),
    /// One trial; what every target runs
    #[command(hide = true)]
    Trial(TrialArguments),
    /// Keep a ramdisk file system until told to end; what the host target runs for a block
    #[command(hide = true)]
    KeepFixture(FixtureArguments),
    /// A block of a fleet's campaign; what Slurm starts on a node
    #[command(hide = true)]
    FleetTask(FleetTaskArguments),
    /// A node's answer before a fleet's campaign; what Slurm starts on a node
    #[command(hide = true)]
    FleetDoctor(FleetDoctorArguments),
    /// Shell completions
    Completions { shell: clap_complete::Shell },
    /// The manual page, as roff
    Man,
}

#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CleanArguments {
    /// As an epilog of Slurm: a host that somebody still measures on is left alone, without an error
    #[arg(long)]
    pub epilog: bool,
}

/// How an experiment is fitted to this host.
#[derive(Debug, Clone, Default, Args)]
pub struct FitArguments {
    /// Shrink memory, keys, files and threads together: "1/64", or "auto" for this host
    #[arg(long)]
    pub scale: Option<String>,
    /// Cap the times for a first look
    #[arg(long)]
    pub quick: bool,
    /// Kernels of the arms: NAME=KERNEL, where KERNEL is "running", an image or a release
    #[arg(long, value_name = "NAME=KERNEL", num_args = 1..)]
    pub arms: Vec<String>,
    /// The tree (git repository, folder or tar archive) that kernels are built from
    #[arg(long, value_name = "DIR|TARBALL")]
    pub kernel_tree: Option<PathBuf>,
    /// Patches that make the candidate's kernel from that tree, in this order
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "kernel_tree")]
    pub patch: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct PlanArguments {
    /// The experiment's TOML file
    pub experiment: PathBuf,
    #[command(flatten)]
    pub fit: FitArguments,
    /// Campaigns whose noise serves as the pilot; one on another workload is held beside this one
    #[arg(long, value_name = "CAMPAIGN", num_args = 1..)]
    pub pilot: Vec<PathBuf>,
    /// Measure the noise now: the baseline against itself, in this many blocks (6 when none are given)
    #[arg(long, value_name = "BLOCKS", num_args = 0..=1, default_missing_value = "6",
        value_parser = clap::value_parser!(u32).range(2..=100))]
    pub measure_pilot: Option<u32>,
    /// Folder of all results, for a pilot that is measured
    #[arg(long, default_value = "results")]
    pub results: PathBuf,
    /// The change to plan for, such as "1.8%"
    #[arg(long)]
    pub effect: Option<Percent>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Examples:
///   run-bench run configs/quick.toml
///   run-bench run results/quick-20260131-101500
///   run-bench run configs/reclaim-probe.toml --fleet slurm
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct RunArguments {
    /// The experiment's TOML file, or a campaign's folder to resume
    pub experiment: PathBuf,
    #[command(flatten)]
    pub fit: FitArguments,
    /// Stop before this much time is over: "30min"
    #[arg(long)]
    pub budget: Option<Nanos>,
    /// Folder of all results
    #[arg(long, default_value = "results")]
    pub results: PathBuf,
    /// Name of the campaign; the experiment's file name and the time when absent
    #[arg(long)]
    pub name: Option<String>,
    /// Hand the blocks out to the hosts of a batch system; "none" stays on this host
    /// although the experiment has a [fleet]
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub fleet: Option<FleetChoice>,
    #[command(flatten)]
    pub gate: GateArguments,
}

/// Where `run` runs blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FleetChoice {
    Slurm,
    None,
}

/// What a task of a fleet is told.
#[derive(Debug, Args)]
pub struct FleetTaskArguments {
    /// The campaign's folder
    #[arg(long)]
    pub campaign: PathBuf,
    /// The submission's number
    #[arg(long)]
    pub submission: u32,
}

#[derive(Debug, Args)]
pub struct FleetDoctorArguments {
    /// The campaign's folder
    #[arg(long)]
    pub campaign: PathBuf,
}

/// What the exit code says.
#[derive(Debug, Clone, Default, Args)]
pub struct GateArguments {
    /// Exit with 5 when the primary comparison is unresolved
    #[arg(long)]
    pub strict: bool,
    /// Exit with 6 when the claim is refuted
    #[arg(long, value_enum)]
    pub gate: Option<Gate>,
    /// Exit codes of `git bisect run`: 0 good, 1 bad, 125 skip, 128 end the bisection
    #[arg(long)]
    pub bisect: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Gate {
    Claim,
}

#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The campaign's folder
    pub campaign: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub gate: GateArguments,
}

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Folders of one or more campaigns
    #[arg(required = true)]
    pub campaigns: Vec<PathBuf>,
    /// What to make; everything when absent
    #[arg(long, value_name = "FORMAT", value_delimiter = ',', value_parser = report_format)]
    pub format: Vec<ReportPart>,
    /// Where the page over several campaigns goes; beside the first campaign when absent
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct StatusArguments {
    /// The campaign's folder
    pub campaign: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Examples:
///   run-bench predict configs/lru-gen-fio.toml --host epyc-7k62
///   run-bench predict --patch next-folio-prefetch --workload fio --host epyc-7k62
///   run-bench predict patch.mbox
///   run-bench predict --score claims.csv
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct PredictArguments {
    /// An experiment's TOML file, or a mail
    #[arg(value_name = "EXPERIMENT|MAIL")]
    pub subject: Option<PathBuf>,
    /// Known patches; `simulate --flag list` lists them
    #[arg(long, value_name = "NAME", num_args = 1.., conflicts_with = "subject")]
    pub patch: Vec<String>,
    /// With --patch: the workload; what shows the patch best when absent
    #[arg(long, value_name = "NAME", requires = "patch")]
    pub workload: Option<String>,
    /// With --patch: a baseline in the metric's unit, which anchors absolute speed
    #[arg(long, value_name = "NUMBER", requires = "patch")]
    pub baseline: Option<f64>,
    /// A shipped profile (epyc-7k62, i7-9700, skylake-2s-104t, intel-2s-128t, amd-2s-768t) or a file; this host when absent
    #[arg(long, value_name = "PROFILE")]
    pub host: Option<String>,
    /// Score forecasts against a table of claims: patch,workload,machine,low,high[,baseline]
    #[arg(long, value_name = "CLAIMS", conflicts_with_all = ["subject", "patch"])]
    pub score: Option<PathBuf>,
    /// Seed of streams and draws
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Examples:
///   run-bench calibrate --out host.toml
///   run-bench calibrate --quick --json
///   run-bench calibrate --twins --profile host.toml
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct CalibrateArguments {
    /// Where to write the profile
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// A few seconds instead of a minute
    #[arg(long)]
    pub quick: bool,
    /// Run the patches' list operations here and hold the profile against them
    #[arg(long)]
    pub twins: bool,
    /// With --twins: the profile to hold against them, instead of a new one
    #[arg(long, value_name = "FILE", requires = "twins")]
    pub profile: Option<PathBuf>,
    /// Seed of all orders
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum PatchCommand {
    /// List the series, its claims and its workloads
    Show(MailArguments),
    /// Recompute every claim from its own numbers
    #[command(after_help = super::patch::AUDIT_EXAMPLES)]
    Audit(AuditArguments),
    /// Write an experiment that reproduces a claim
    #[command(after_help = super::patch::IMPORT_EXAMPLES)]
    Import(ImportArguments),
}

#[derive(Debug, Args)]
pub struct MailArguments {
    /// A mail, an mbox, a format-patch file or the text of an archive page
    pub mail: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AuditArguments {
    #[command(flatten)]
    pub mail: MailArguments,
    /// Print text of at most 72 columns, for a reply
    #[arg(long, conflicts_with = "json")]
    pub reply: bool,
}

#[derive(Debug, Args)]
pub struct ImportArguments {
    /// A mail, an mbox, a format-patch file or the text of an archive page
    pub mail: PathBuf,
    /// Which claim, by the number that `patch show` prints
    #[arg(long)]
    pub claim: Option<String>,
    /// Where to write the experiment; standard output when absent
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// A kernel tree: the arms become its base revision without and with the mail's patches,
    /// which are written to `patches/` beside the experiment
    #[arg(long, value_name = "DIR")]
    pub kernel_tree: Option<PathBuf>,
    /// The base revision in that tree
    #[arg(long, value_name = "REV", requires = "kernel_tree")]
    pub base: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum SelftestCommand {
    /// Coverage, false alarms and published figures of the statistics
    Stats(StatsSelftestArguments),
    /// The fault matrix: every kind of fault injected, and what came of it
    Faults(FaultsSelftestArguments),
    /// As root: campaigns killed at random moments, resumed, and nothing lost
    Soak(SoakArguments),
    /// The reclaim model against a running User-Mode Linux kernel, counter by counter
    Model(ModelSelftestArguments),
}

#[derive(Debug, Args)]
pub struct FaultsSelftestArguments {
    /// Also run campaigns with real faults on this host (as root)
    #[arg(long)]
    pub real: bool,
    /// Only these rows
    #[arg(value_name = "ROW")]
    pub rows: Vec<u32>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct SoakArguments {
    /// Signals to send to running campaigns and trials
    #[arg(long, default_value_t = 30)]
    pub kills: u32,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Stop after this time, such as "2min"
    #[arg(long, value_name = "TIME")]
    pub longest: Option<Nanos>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct StatsSelftestArguments {
    /// Simulated campaigns for each row
    #[arg(long, default_value_t = 100_000)]
    pub simulations: usize,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ModelSelftestArguments {
    /// A User-Mode Linux kernel with brd, ext4 and MGLRU: a name in the cache of
    /// `run-bench kernel build`, or the path of an image
    #[arg(long, value_name = "NAME")]
    pub kernel: String,
    /// Parts of the names of the cells to run; all when absent
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub cells: Vec<String>,
    /// Print the difference of every phase, too
    #[arg(long)]
    pub phases: bool,
    /// Where the table is written, too
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct TrialArguments {
    /// The trial's specification
    #[arg(long)]
    pub spec: PathBuf,
    /// Folder for the record
    #[arg(long)]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct FixtureArguments {
    /// Space on the file system
    #[arg(long)]
    pub size: Bytes,
}

/// The whole command, for completions and the manual page.
pub fn command() -> clap::Command {
    Arguments::command()
}

fn report_format(name: &str) -> Result<ReportPart, String> {
    ReportPart::named(name).ok_or_else(|| {
        let names: Vec<&str> = ReportPart::all().iter().map(ReportPart::name).collect();
        format!("write one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_options_are_consistent() {
        super::command().debug_assert();
    }
}
