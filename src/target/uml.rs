//! User-Mode Linux guests: the kernel is a program of this host, its root is
//! this host's, read-only, and its console is the program's output.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::error::TargetError;
use super::exchange::Exchange;
use super::guest;
use super::guest::{Carrier, Job, Launch, Limits};
use super::identity;
use super::kernel::KernelImage;
use super::machine;
use super::machine::{CommandEnd, GuestTrial, Prepared};
use super::seal::Stamp;
use crate::config::workload::{ListOrder, Workload};
use crate::config::{SwapKind, TargetSection};
use crate::exec::Command;
use crate::store::{TrialFolder, TrialSpec, TrialStatus};
use crate::units::Bytes;

/// Longest command line that UML takes.
const COMMAND_LINE: usize = 4095;

/// Runs trials in a UML kernel.
#[derive(Debug, Clone)]
pub struct UmlTarget {
    image: KernelImage,
    section: TargetSection,
    /// Additional kernel arguments.
    arguments: Option<String>,
    executable: PathBuf,
    host: String,
}

impl UmlTarget {
    pub fn new(
        image: KernelImage,
        section: TargetSection,
        arguments: Option<String>,
        executable: PathBuf,
        host: String,
    ) -> Self {
        UmlTarget { image, section, arguments, executable, host }
    }

    pub fn image(&self) -> &KernelImage {
        &self.image
    }

    /// Runs one trial in a guest of its own.
    pub async fn run_trial(
        &self,
        spec: &TrialSpec,
        folder: &TrialFolder,
        cancel: &CancellationToken,
    ) -> Result<TrialStatus, TargetError> {
        mappings_suffice(&spec.workload, map_limit())?;
        let expected = identity::expected(&self.image, self.arguments.as_deref());
        // A guest lives for one trial: what lives for a block is laid out in it anew.
        let spec = TrialSpec { kernel: Some(expected.clone()), fixture: None, ..spec.clone() };
        let prepared = self.prepare(
            &Job::Trial { spec: Box::new(spec.clone()) },
            spec.deadline.to_duration() + machine::TEAR_DOWN,
            ramdisk_size(&spec),
        )?;
        let stamp = Stamp { expected: Some(expected), ..Stamp::default() };
        GuestTrial { spec: &spec, folder, host: &self.host, stamp }.run(prepared, cancel).await
    }

    /// Runs a command in a guest.
    pub async fn run_command(
        &self,
        argv: Vec<String>,
        deadline: Duration,
        cancel: &CancellationToken,
    ) -> Result<CommandEnd, TargetError> {
        let working_directory = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let job = Job::Command { argv, working_directory };
        machine::run_command(self.prepare(&job, deadline, None)?, cancel).await
    }

    fn prepare(
        &self,
        job: &Job,
        deadline: Duration,
        ramdisk: Option<Bytes>,
    ) -> Result<Prepared, TargetError> {
        let exchange = Exchange::create()?;
        let folder = exchange.path().to_owned();
        let carrier = Carrier::Hostfs { folder: folder.clone() };
        let request = folder.join(guest::REQUEST);
        let scratch = needs_file_system(job).then_some("/run/run-bench/share/scratch");
        let host_scratch = folder.join("scratch");
        std::fs::create_dir(&host_scratch).map_err(TargetError::io("create", &host_scratch))?;
        std::fs::write(&request, exchange.request(job, deadline, carrier, Vec::new(), scratch))
            .map_err(TargetError::io("write", &request))?;
        // The program's own path may hold characters that a kernel command line cannot.
        let program = folder.join("run-bench");
        std::os::unix::fs::symlink(&self.executable, &program).map_err(TargetError::io("link", &program))?;
        let memory_folder = memory_folder(self.section.memory)?;
        let argv = self.argv(&folder, ramdisk);
        let length: usize = argv.iter().map(|a| a.len() + 1).sum();
        if length > COMMAND_LINE {
            return Err(TargetError::CommandLine { length, longest: COMMAND_LINE });
        }
        let mut command = Command::new(&self.image.path).args(argv);
        command.clear_environment = true;
        command.environment =
            vec![("TMPDIR".into(), memory_folder.into()), ("HOME".into(), folder.clone().into())];
        // A dying guest drops its core here, and with the folder it goes.
        command.working_directory = Some(folder.clone());
        command.cpus.clone_from(&self.section.pin);
        command.die_with_parent = true;
        command.enter = Some(self.executable.clone());
        command.output_limit = machine::CONSOLE_LIMIT;
        let (nonce, parcel) = (exchange.nonce().to_owned(), folder.join(guest::PARCEL));
        let launch = Launch { command, nonce, limits: Limits::for_job(deadline), parcel };
        Ok(Prepared { launch, exchange, machine: self.image.path.clone() })
    }

    /// The guest's command line.
    fn argv(&self, folder: &Path, ramdisk: Option<Bytes>) -> Vec<String> {
        let folder = folder.display();
        let mut argv: Vec<String> = [
            "root=/dev/root",
            "rootfstype=hostfs",
            "rootflags=/",
            "ro",
            "con=null",
            "con0=null,fd:1",
            "panic=-1",
            "umid=guest",
        ]
        .map(str::to_owned)
        .to_vec();
        argv.push(format!("mem={}K", self.section.memory.0 / 1024));
        argv.push(format!("uml_dir={folder}/uml"));
        argv.extend(ramdisk.map(|size| format!("brd.rd_size={}", size.0.div_ceil(1024))));
        argv.extend(self.arguments.iter().flat_map(|a| a.split_whitespace()).map(str::to_owned));
        argv.push(format!("init={folder}/run-bench"));
        argv.push("--".to_owned());
        argv.push(guest::NAME.to_owned());
        argv.push(folder.to_string());
        argv
    }
}

/// The size that the guest's built-in ramdisk must have from the start.
fn ramdisk_size(spec: &TrialSpec) -> Option<Bytes> {
    let swap = spec.swap.as_ref()?;
    matches!(swap.kind, SwapKind::Ramdisk | SwapKind::Brd).then_some(swap.size)
}

/// Whether the job reads files whose pages are to be reclaimed without swap: those
/// of the guest's own tmpfs cannot be.
fn needs_file_system(job: &Job) -> bool {
    let Job::Trial { spec } = job else { return false };
    spec.workload.file_space().is_some() || matches!(spec.workload, Workload::FileRead(_))
}

/// Mappings that programs and libraries of a process need besides.
const OTHER_MAPPINGS: u64 = 1000;

/// The host's limit of mappings for a process, which a process in UML has too.
fn map_limit() -> Option<u64> {
    std::fs::read_to_string("/proc/sys/vm/max_map_count").ok()?.trim().parse().ok()
}

/// UML maps page by page what has no neighbours in memory order: in shuffled order
/// the probe's file, and as much again that keeps the frames apart.
fn mappings_suffice(workload: &Workload, limit: Option<u64>) -> Result<(), TargetError> {
    let Workload::ReclaimProbe(probe) = workload else { return Ok(()) };
    let needed = 2 * probe.size.to_pages().0 + OTHER_MAPPINGS;
    match limit {
        Some(limit) if probe.order == ListOrder::Shuffled && needed > limit => {
            Err(TargetError::Mappings { needed, limit })
        }
        _ => Ok(()),
    }
}

/// Where UML may keep the guest's memory: on a tmpfs with room for it.
fn memory_folder(memory: Bytes) -> Result<PathBuf, TargetError> {
    let mut seen = Vec::new();
    for candidate in ["/dev/shm", "/run/shm", "/tmp", "/run"] {
        let Ok(stat) = rustix::fs::statvfs(candidate) else { continue };
        let free = Bytes(stat.f_bavail * stat.f_frsize);
        let runs_code = !stat.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC);
        if is_tmpfs(candidate) && free >= memory && runs_code {
            return Ok(PathBuf::from(candidate));
        }
        seen.push(format!("{candidate} ({free} free)"));
    }
    Err(TargetError::GuestMemory { memory, seen: seen.join(", ") })
}

fn is_tmpfs(path: &str) -> bool {
    const TMPFS: i64 = 0x0102_1994;
    rustix::fs::statfs(path).is_ok_and(|s| s.f_type == TMPFS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::workload::ReclaimProbeWorkload;
    use crate::target::kernel::KernelKind;

    #[test]
    fn the_command_line_names_all_that_the_guest_needs() {
        let image = KernelImage {
            path: "/k/linux".into(),
            kind: KernelKind::Uml,
            release: "9".to_owned(),
            version: String::new(),
            build_id: None,
            config: None,
        };
        let section = TargetSection { memory: Bytes::mib(512), ..TargetSection::default() };
        let target =
            UmlTarget::new(image, section, Some("a=1  b".to_owned()), "/x y/run-bench".into(), String::new());
        let line = target.argv(Path::new("/tmp/f"), Some(Bytes::mib(64))).join(" ");
        let expected = "mem=524288K uml_dir=/tmp/f/uml brd.rd_size=65536 a=1 b init=/tmp/f/run-bench -- __guest-init /tmp/f";
        assert!(line.ends_with(expected), "{line}");
    }

    #[test]
    fn a_probe_that_needs_more_mappings_than_there_are_is_refused() {
        let text = include_str!("../../configs/reclaim-probe.toml");
        let plan = crate::config::Plan::new(crate::config::parse(Path::new("x"), text).unwrap());
        let Workload::ReclaimProbe(probe) = &plan.workloads[0].workload else { panic!("a probe") };
        let shuffled = |size| Workload::ReclaimProbe(ReclaimProbeWorkload { size, ..probe.clone() });
        let error = mappings_suffice(&shuffled(Bytes::mib(256)), Some(65530)).unwrap_err().to_string();
        assert!(error.contains("132072") && error.contains("vm.max_map_count"), "{error}");
        mappings_suffice(&shuffled(Bytes::mib(64)), Some(65530)).unwrap();
        mappings_suffice(&shuffled(Bytes::gib(64)), None).unwrap();
    }

    #[test]
    fn memory_that_fits_nowhere_is_refused_with_what_there_is() {
        let error = memory_folder(Bytes(u64::MAX)).unwrap_err().to_string();
        assert!(error.contains("/tmp"), "{error}");
    }
}
