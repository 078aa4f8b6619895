//! `run-bench kernel`: kernels of a tree and patches, kept in a cache, booted as guests.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use comfy_table::Table;
use serde::Serialize;

use super::exit::Exit;
use super::signals::cancel_on_signal;
use crate::config::TargetSection;
use crate::host::SysRoot;
use crate::target::kernel::{
    BuildRequest, BuildStep, BuiltKernel, CachedKernel, KernelCache, KernelError, KernelImage, KernelKind,
    KernelName, KernelPlaces, Layout, build,
};
use crate::target::{CommandEnd, UmlTarget, VmTarget};
use crate::trial::stable_host_name;
use crate::units::{Bytes, Nanos};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

#[derive(Debug, Subcommand)]
pub enum KernelCommand {
    /// Build a tree, with patches, into the cache; prints the kernel's name
    #[command(after_help = BUILD_EXAMPLES)]
    Build(BuildArguments),
    /// Kernels of the cache
    List(ListArguments),
    /// Boot a kernel as a guest, run a command in it, end with the command's status
    #[command(after_help = BOOT_EXAMPLES)]
    Boot(BootArguments),
}

const BUILD_EXAMPLES: &str = "\
Examples:
  run-bench kernel build --tree linux-source-6.12.tar.xz
  run-bench kernel build --tree ~/linux --rev v6.12 --patch 0001-mm.patch 0002-mm.patch
  run-bench kernel build --tree ~/linux --placebo pad=192       # the same code elsewhere
  run-bench kernel build --tree ~/linux --arch x86_64 --config debug.config

The tree is only read: the work happens in a copy in the cache ($RUN_BENCH_CACHE, else
~/.cache/run-bench), which a base and its patched kernels share, so that the second is quick.";

const BOOT_EXAMPLES: &str = "\
Examples:
  run-bench kernel boot 6.12.117-rb631715d2-uml -- cat /sys/kernel/mm/lru_gen/enabled
  run-bench kernel boot /boot/vmlinuz-6.12.0 --memory 1GiB -- sh -c 'cat /proc/version'

A UML kernel sees this host's files, read-only. A bzImage runs in QEMU, on an initramfs with
the command, a shell, and the libraries they need.";

#[derive(Debug, Args)]
pub struct BuildArguments {
    /// A git repository, a folder or a tar archive with a kernel's source
    #[arg(long, value_name = "DIR|TARBALL")]
    tree: PathBuf,
    /// A branch, tag or commit of a git tree; what is checked out, with its changes, when absent
    #[arg(long)]
    rev: Option<String>,
    /// Patches: diffs, mails or mailboxes, applied in this order
    #[arg(long, value_name = "FILE", num_args = 1..)]
    patch: Vec<PathBuf>,
    #[arg(long, value_enum, default_value_t = Architecture::Um)]
    arch: Architecture,
    /// Configuration fragments, after those for reclaim work
    #[arg(long, value_name = "FRAGMENT", num_args = 1..)]
    config: Vec<PathBuf>,
    /// A whole configuration to begin with, instead of the tree's default
    #[arg(long, value_name = "FILE")]
    base_config: Option<PathBuf>,
    /// The same source laid out otherwise: pad=BYTES links anew, align=BYTES builds anew
    #[arg(long, value_name = "LAYOUT")]
    placebo: Option<Layout>,
    /// Words for make, such as LLVM=1
    #[arg(long, value_name = "WORD", num_args = 1..)]
    make: Vec<String>,
    /// Compilers at once; as many as processors when absent
    #[arg(long)]
    jobs: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Architecture {
    /// User-Mode Linux, a program of this host
    Um,
    /// A bzImage for QEMU or metal
    #[value(name = "x86_64")]
    X86,
}

#[derive(Debug, Args)]
pub struct ListArguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct BootArguments {
    /// A kernel of the cache, an installed release, or the path of an image
    name: String,
    /// Memory of the guest
    #[arg(long, default_value = "512MiB")]
    memory: Bytes,
    /// Processors of a QEMU guest
    #[arg(long, default_value_t = 1)]
    cpus: u32,
    /// More words for the kernel's command line
    #[arg(long, value_name = "WORDS")]
    arguments: Option<String>,
    /// End the guest after this much time
    #[arg(long, default_value = "1h")]
    deadline: Nanos,
    /// Print the guest's console on standard error, too
    #[arg(long)]
    console: bool,
    /// The command and its arguments
    #[arg(required = true, last = true)]
    argv: Vec<String>,
}

pub fn main(command: &KernelCommand) -> anyhow::Result<Exit> {
    match command {
        KernelCommand::Build(arguments) => runtime()?.block_on(build_one(arguments)),
        KernelCommand::List(arguments) => list(arguments),
        KernelCommand::Boot(arguments) => runtime()?.block_on(boot(arguments)),
    }
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

async fn build_one(arguments: &BuildArguments) -> anyhow::Result<Exit> {
    let cancel = cancel_on_signal().context("cannot listen to signals")?;
    let cache = KernelCache::from_environment()?;
    let request = BuildRequest {
        tree: arguments.tree.clone(),
        revision: arguments.rev.clone(),
        patches: arguments.patch.clone(),
        kind: match arguments.arch {
            Architecture::Um => KernelKind::Uml,
            Architecture::X86 => KernelKind::X86,
        },
        fragments: arguments.config.clone(),
        base_config: arguments.base_config.clone(),
        layout: arguments.placebo.unwrap_or_default(),
        make_arguments: arguments.make.clone(),
        jobs: arguments.jobs,
        program: None,
    };
    let step = |step: &BuildStep| eprintln!("{step}");
    let kernel = build(&cache, &request, step, &cancel).await?;
    for unmet in &kernel.unmet {
        eprintln!("run-bench: the configuration has {unmet}");
    }
    if arguments.json {
        sayln!("{}", serde_json::to_string_pretty(&Listed::whole(&kernel, &cache))?);
    } else {
        sayln!("{}", kernel.name);
        eprintln!("{}", cache.image(&kernel.name).display());
    }
    Ok(Exit::Good)
}

/// A kernel as `--json` has it.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    image: PathBuf,
    /// Absent where it is damaged.
    kernel: Option<&'a BuiltKernel>,
    problem: Option<String>,
}

impl<'a> Listed<'a> {
    fn whole(kernel: &'a BuiltKernel, cache: &KernelCache) -> Self {
        Listed { image: cache.image(&kernel.name), kernel: Some(kernel), problem: None }
    }

    fn found(cached: &'a CachedKernel, cache: &KernelCache) -> Self {
        let name = cached.folder.file_name().unwrap_or_default().to_string_lossy();
        Listed {
            image: cache.image(&name),
            kernel: cached.kernel.as_ref().ok(),
            problem: cached.kernel.as_ref().err().map(ToString::to_string),
        }
    }
}

#[derive(Debug, Serialize)]
struct Listing<'a> {
    schema: u32,
    kernels: Vec<Listed<'a>>,
}

fn list(arguments: &ListArguments) -> anyhow::Result<Exit> {
    let cache = KernelCache::from_environment()?;
    let kernels = cache.list()?;
    if arguments.json {
        let kernels = kernels.iter().map(|k| Listed::found(k, &cache)).collect();
        sayln!("{}", serde_json::to_string_pretty(&Listing { schema: SCHEMA, kernels })?);
        return Ok(Exit::Good);
    }
    if kernels.is_empty() {
        eprintln!("no kernels yet; build one with `run-bench kernel build --tree …`");
        return Ok(Exit::Good);
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(["kernel", "built", "size", "made of"]);
    for cached in &kernels {
        match &cached.kernel {
            Ok(kernel) => {
                let built = kernel.built.strftime("%Y-%m-%d %H:%M").to_string();
                table.add_row([kernel.name.clone(), built, cached.size.to_string(), made_of(kernel)]);
            }
            Err(error) => eprintln!("run-bench: {error}"),
        }
    }
    sayln!("{table}");
    Ok(Exit::Good)
}

fn made_of(kernel: &BuiltKernel) -> String {
    let mut parts = vec![kernel.tree.display().to_string()];
    parts.extend(kernel.commit.as_ref().map(|commit| format!("commit {commit:.12}")));
    parts.extend(kernel.uncommitted.then(|| "uncommitted changes".to_owned()));
    parts.extend(kernel.patches.iter().cloned());
    parts.join(", ")
}

/// The image that a name means; trees have to be built first.
pub(super) async fn image(name: &str) -> anyhow::Result<KernelImage> {
    let unresolved = |why: &str| KernelError::Unresolved { name: name.to_owned(), why: why.to_owned() };
    let path = match KernelPlaces::of_host(None)?.find(name, false)? {
        KernelName::Image(path) => path,
        KernelName::Running => Err(unresolved("the running kernel is no guest; give the path of its image"))?,
        KernelName::Tree { .. } => {
            Err(unresolved("it is a tree; build it with `run-bench kernel build --tree …` first"))?
        }
    };
    Ok(KernelImage::read(&path).await?)
}

async fn boot(arguments: &BootArguments) -> anyhow::Result<Exit> {
    let cancel = cancel_on_signal().context("cannot listen to signals")?;
    let image = image(&arguments.name).await?;
    let section =
        TargetSection { memory: arguments.memory, cpus: arguments.cpus, ..TargetSection::default() };
    let program = std::env::current_exe().context("cannot find the path of the running program")?;
    let host = stable_host_name(&SysRoot::host());
    let (argv, words) = (arguments.argv.clone(), arguments.arguments.clone());
    let deadline: Duration = arguments.deadline.to_duration();
    let end = match image.kind {
        KernelKind::Uml => {
            let target = UmlTarget::new(image, section, words, program, host);
            target.run_command(argv, deadline, &cancel).await?
        }
        KernelKind::X86 => {
            let target = VmTarget::new(image, section, words, program, host).await?;
            if let Some(why) = target.accelerator().functional_only() {
                eprintln!("run-bench: {why}");
            }
            target.run_command(argv, deadline, &cancel).await?
        }
    };
    tell(&end, arguments.console)
}

/// Prints what the command printed; its status becomes ours.
fn tell(end: &CommandEnd, console: bool) -> anyhow::Result<Exit> {
    if console {
        std::io::stderr().write_all(&end.console)?;
    }
    std::io::stdout().write_all(&end.stdout)?;
    std::io::stderr().write_all(&end.stderr)?;
    for remark in &end.remarks {
        eprintln!("run-bench: {remark}");
    }
    if let Some(problem) = &end.problem {
        eprintln!("run-bench: {problem}");
    }
    Ok(match end.exit {
        Some(code) => Exit::Command(u8::try_from(code).unwrap_or(u8::MAX)),
        None => Exit::InvalidRun,
    })
}
