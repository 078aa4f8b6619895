//! Runs trials and commands in QEMU guests.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::initramfs::Initramfs;
use super::module;
use super::module::ModuleFolder;
use super::qemu::{Accelerator, GuestFiles, Qemu};
use crate::config::workload::{NetperfTest, Workload};
use crate::config::{SwapKind, TargetSection};
use crate::store::{TrialFolder, TrialSpec, TrialStatus};
use crate::target::error::TargetError;
use crate::target::exchange::Exchange;
use crate::target::guest;
use crate::target::guest::{Carrier, Job, Launch, Limits, Module};
use crate::target::identity;
use crate::target::kernel::KernelImage;
use crate::target::machine;
use crate::target::machine::{CommandEnd, GuestTrial, Prepared};
use crate::target::seal::Stamp;
use crate::units::Bytes;

/// Where the guest's init finds its request.
const REQUEST_FOLDER: &str = "/run-bench";
/// The disk that results are written to; a sparse file.
const DISK: u64 = 1 << 30;
/// Programs that setting a host up may call.
const SET_UP_TOOLS: [&str; 6] = ["mkfs.ext4", "mkswap", "losetup", "mount", "umount", "modprobe"];

/// Runs trials in a virtual machine.
#[derive(Debug, Clone)]
pub struct VmTarget {
    image: KernelImage,
    section: TargetSection,
    /// Additional kernel arguments.
    arguments: Option<String>,
    executable: PathBuf,
    host: String,
    qemu: Qemu,
}

impl VmTarget {
    /// Finds QEMU and what it can do.
    pub async fn new(
        image: KernelImage,
        section: TargetSection,
        arguments: Option<String>,
        executable: PathBuf,
        host: String,
    ) -> Result<Self, TargetError> {
        let qemu = Qemu::find().await?;
        Ok(VmTarget { image, section, arguments, executable, host, qemu })
    }

    pub fn accelerator(&self) -> Accelerator {
        self.qemu.accelerator
    }

    /// Runs one trial in a guest of its own.
    pub async fn run_trial(
        &self,
        spec: &TrialSpec,
        folder: &TrialFolder,
        cancel: &CancellationToken,
    ) -> Result<TrialStatus, TargetError> {
        let expected = identity::expected(&self.image, self.arguments.as_deref());
        // A guest lives for one trial, so it lays its files out itself.
        let spec = TrialSpec { kernel: Some(expected.clone()), fixture: None, ..spec.clone() };
        let deadline = spec.deadline.to_duration() + machine::TEAR_DOWN;
        let prepared = self.prepare(&Job::Trial { spec: Box::new(spec.clone()) }, deadline).await?;
        let functional_only = self.qemu.accelerator.functional_only();
        let stamp = Stamp { expected: Some(expected), functional_only, ..Stamp::default() };
        GuestTrial { spec: &spec, folder, host: &self.host, stamp }.run(prepared, cancel).await
    }

    /// Runs a command of this host in a guest.
    pub async fn run_command(
        &self,
        argv: Vec<String>,
        deadline: Duration,
        cancel: &CancellationToken,
    ) -> Result<CommandEnd, TargetError> {
        let job = Job::Command { argv, working_directory: PathBuf::from("/") };
        machine::run_command(self.prepare(&job, deadline).await?, cancel).await
    }

    async fn prepare(&self, job: &Job, deadline: Duration) -> Result<Prepared, TargetError> {
        let exchange = Exchange::create()?;
        let folder = exchange.path().to_owned();
        let mut initramfs = Initramfs::new();
        let modules = self.add_modules(job, &mut initramfs).await?;
        let carrier = Carrier::Disk { device: "/dev/vda".into() };
        let request = exchange.request(job, deadline, carrier, modules, None);
        initramfs.file(&Path::new(REQUEST_FOLDER).join(guest::REQUEST), 0o644, request);
        initramfs.program(&self.executable, Path::new("/init")).await?;
        initramfs.tools(&SET_UP_TOOLS).await?;
        initramfs.tools(&programs(job)).await?;
        let (archive, disk) = (folder.join("initramfs"), folder.join("disk"));
        std::fs::write(&archive, initramfs.pack()).map_err(TargetError::io("write", &archive))?;
        let file = std::fs::File::create_new(&disk).map_err(TargetError::io("create", &disk))?;
        file.set_len(DISK).map_err(TargetError::io("enlarge", &disk))?;
        let kernel_line = self.kernel_line();
        let files = GuestFiles {
            kernel: &self.image.path,
            initramfs: &archive,
            disk: &disk,
            kernel_line: &kernel_line,
        };
        let mut command = self.qemu.command(&files, &self.section);
        command.working_directory = Some(folder);
        command.cpus.clone_from(&self.section.pin);
        command.die_with_parent = true;
        command.enter = Some(self.executable.clone());
        command.output_limit = machine::CONSOLE_LIMIT;
        let nonce = exchange.nonce().to_owned();
        let launch = Launch { command, nonce, limits: Limits::for_job(deadline), parcel: disk };
        Ok(Prepared { launch, exchange, machine: self.qemu.program.clone() })
    }

    /// Puts the modules of the kernel that the job needs into the guest.
    async fn add_modules(&self, job: &Job, initramfs: &mut Initramfs) -> Result<Vec<Module>, TargetError> {
        let Some(folder) = module::find_folder(&self.image.path, &self.image.release) else {
            return Ok(Vec::new());
        };
        let wanted = wanted_modules(job);
        let names: Vec<&str> = wanted.iter().map(|(name, _)| *name).collect();
        let mut modules = Vec::new();
        for module in ModuleFolder::read(&folder)?.closure(&names).await? {
            let path = Path::new(REQUEST_FOLDER).join("modules").join(format!("{}.ko", module.name));
            initramfs.file(&path, 0o644, module.bytes);
            let parameters = wanted.iter().find(|(name, _)| *name == module.name);
            let parameters = parameters.map(|(_, p)| p.clone()).unwrap_or_default();
            modules.push(Module { path, parameters });
        }
        Ok(modules)
    }

    fn kernel_line(&self) -> String {
        // Address randomisation stays on: boots then sample layouts.
        let own = "console=ttyS0 panic=-1 oops=panic rdinit=/init";
        let arguments = self.arguments.as_deref().unwrap_or_default();
        format!("{own} {arguments} -- {} {REQUEST_FOLDER}", guest::NAME)
    }
}

/// Modules that the job may need, with parameters, if they are not built in.
fn wanted_modules(job: &Job) -> Vec<(&'static str, String)> {
    let mut wanted: Vec<(&str, String)> =
        ["virtio_pci", "virtio_blk"].map(|name| (name, String::new())).to_vec();
    let Job::Trial { spec } = job else { return wanted };
    let mut add = |name, parameters| wanted.push((name, parameters));
    let plain = spec.swap.as_ref().filter(|s| matches!(s.kind, SwapKind::Ramdisk | SwapKind::Brd));
    if let Some(size) = plain.map(|swap| swap.size).or_else(|| spec.workload.file_space()) {
        add("brd", ramdisk_parameters(size));
    }
    if spec.swap.as_ref().is_some_and(|swap| swap.kind == SwapKind::Zram) {
        add("zram", "num_devices=1".to_owned());
    }
    add("loop", String::new());
    let sctp = [NetperfTest::SctpStream, NetperfTest::SctpStreamMany];
    if matches!(&spec.workload, Workload::Netperf(netperf) if sctp.contains(&netperf.test)) {
        add("sctp", String::new());
    }
    wanted
}

fn ramdisk_parameters(size: Bytes) -> String {
    format!("rd_nr=1 rd_size={} max_part=0", size.0.div_ceil(1024))
}

/// Programs that the job may start, where this host has them.
fn programs(job: &Job) -> Vec<&str> {
    let spec = match job {
        Job::Command { argv, .. } => {
            return argv.first().map(String::as_str).into_iter().chain(["sh"]).collect();
        }
        Job::Trial { spec } => spec,
    };
    match &spec.workload {
        Workload::Memcached(_) => vec!["memcached", "memtier_benchmark"],
        Workload::Fio(_) => vec!["fio"],
        Workload::Netperf(_) => vec!["netperf", "netserver"],
        Workload::WillItScale(_) => vec!["pread2_processes", "pread2_threads"],
        Workload::Command(command) => {
            command.argv.first().map(String::as_str).into_iter().chain(["sh"]).collect()
        }
        _ => Vec::new(),
    }
}
