//! The guest's init: mounts, modules, loopback, the job, the parcel, power off.
//!
//! It is this same program, started as process 1 with the hidden name
//! [`NAME`]. It refuses to do anything as any other process.

use std::ffi::{CString, OsString};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustix::system::RebootCommand;
use rustix::time::ClockId;
use tokio_util::sync::CancellationToken;

use super::loopback;
use super::mounts;
use super::parcel::Packer;
use super::protocol;
use super::protocol::{Carrier, Job, JobEnd, Module, Request, SCHEMA, Stage};
use crate::exec::{self, Command, Ended, ExecError, Output};
use crate::store::write_json;
use crate::units::{Bytes, Nanos};

/// The hidden sub-command.
pub const NAME: &str = "__guest-init";
/// Folder of our own files in the guest.
pub(super) const HOME: &str = "/run/run-bench";

/// What follows [`NAME`] among the arguments of the first process. Words of the
/// kernel command line that the kernel does not know come before it.
pub fn arguments(all: impl Iterator<Item = OsString>) -> Option<impl Iterator<Item = OsString>> {
    let mut rest = all.skip_while(|word| word != NAME);
    rest.next().map(|_| rest)
}

/// Serves the request in the folder that the first argument names, then powers off.
pub fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    if !rustix::process::getpid().is_init() {
        eprintln!("{NAME} is the first process of a guest kernel; it does nothing elsewhere");
        return ExitCode::from(2);
    }
    let folder = arguments.next().map_or_else(|| PathBuf::from("/"), PathBuf::from);
    match catch_unwind(AssertUnwindSafe(|| serve(&folder))) {
        Ok(Ok(())) => {}
        Ok(Err(problem)) => say(&format!("run-bench guest failed: {problem}")),
        Err(_) => say("run-bench guest failed: init panicked"),
    }
    rustix::fs::sync();
    // Returning would make the kernel panic, which is how the host would learn of it.
    let error = rustix::system::reboot(RebootCommand::PowerOff).err();
    say(&format!("run-bench guest cannot power off: {error:?}"));
    ExitCode::FAILURE
}

/// Prints a line on the console; there is nobody to tell when that fails.
fn say(line: &str) {
    let _ = writeln!(io::stdout().lock(), "{line}");
}

fn uptime() -> Nanos {
    let now = rustix::time::clock_gettime(ClockId::Boottime);
    Nanos(now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs())
}

fn serve(folder: &Path) -> Result<(), String> {
    let init_at = uptime();
    let path = folder.join(protocol::REQUEST);
    let text = std::fs::read(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let request: Request =
        serde_json::from_slice(&text).map_err(|e| format!("cannot parse the request: {e}"))?;
    let reached = |stage| say(&protocol::mark(&request.nonce, stage));
    reached(Stage::Init);
    mounts::make()?;
    for module in &request.modules {
        load(module).map_err(|e| format!("cannot load {}: {e}", module.path.display()))?;
    }
    mounts::expect_devices();
    loopback::bring_up().map_err(|e| format!("cannot bring the loopback device up: {e}"))?;
    let out = Path::new(HOME).join(protocol::OUT);
    std::fs::create_dir_all(&out).map_err(|e| format!("cannot create {}: {e}", out.display()))?;
    let carrier = carrier_path(&request.carrier)?;
    reached(Stage::Ready);
    let job_at = uptime();
    reached(Stage::Job);
    let output = run_job(&request, &out);
    reached(Stage::Ended);
    let (exit, problem) = match &output {
        Ok(Output { ended: Ended::Exited(code), .. }) => (Some(*code), None),
        Ok(Output { ended, .. }) => (None, Some(format!("the job was ended: {ended:?}"))),
        Err(problem) => (None, Some(problem.clone())),
    };
    let (schema, nonce, ended_at) = (SCHEMA, request.nonce.clone(), uptime());
    let end = JobEnd { schema, nonce, exit, problem, init_at, job_at, ended_at };
    let parcel =
        pack(&end, output.ok().as_ref(), &out).map_err(|e| format!("cannot pack the results: {e}"))?;
    parcel
        .deliver(&request.nonce, &carrier)
        .map_err(|e| format!("cannot deliver the results to {}: {e}", carrier.display()))?;
    reached(Stage::Delivered);
    Ok(())
}

/// Where the parcel is to be written, made reachable.
fn carrier_path(carrier: &Carrier) -> Result<PathBuf, String> {
    match carrier {
        Carrier::Disk { device } => Ok(device.clone()),
        Carrier::Hostfs { folder } => {
            let share = Path::new(HOME).join("share");
            mounts::share(folder, &share)
                .map_err(|e| format!("cannot mount the shared folder {}: {e}", folder.display()))?;
            Ok(share.join(protocol::PARCEL))
        }
    }
}

fn load(module: &Module) -> io::Result<()> {
    let file = std::fs::File::open(&module.path)?;
    let parameters = CString::new(module.parameters.as_str())?;
    match rustix::system::finit_module(&file, &parameters, 0) {
        Err(rustix::io::Errno::EXIST) => Ok(()),
        other => Ok(other?),
    }
}

fn run_job(request: &Request, out: &Path) -> Result<Output, String> {
    let mut command = match &request.job {
        Job::Trial { spec } => {
            let path = Path::new(HOME).join("spec.json");
            write_json(&path, spec).map_err(|e| e.to_string())?;
            Command::new(mounts::PROGRAM).arg("trial").arg("--spec").arg(path).arg("--out").arg(out)
        }
        Job::Command { argv, working_directory } => {
            let (program, arguments) = argv.split_first().ok_or("the command is empty")?;
            // The guest's own /tmp and /run may hide it: then the command starts at the root.
            let here = Some(working_directory).filter(|folder| folder.is_dir());
            let folder = here.map_or_else(|| PathBuf::from("/"), PathBuf::clone);
            Command { working_directory: Some(folder), ..Command::new(program) }.args(arguments)
        }
    };
    command.deadline = request.deadline.to_duration();
    command.grace = std::time::Duration::from_secs(10);
    command.output_limit = Bytes::mib(1);
    command.clear_environment = true;
    command.environment = request.environment.iter().map(|(k, v)| (k.into(), v.into())).collect();
    command.enter = Some(mounts::PROGRAM.into());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| format!("cannot start: {e}"))?;
    let never = CancellationToken::new();
    runtime.block_on(exec::run(&command, &never)).map_err(|e| describe(&e))
}

/// An error with its cause.
fn describe(error: &ExecError) -> String {
    let source = std::error::Error::source(error).map(|s| format!(": {s}")).unwrap_or_default();
    format!("{error}{source}")
}

fn pack(end: &JobEnd, output: Option<&Output>, out: &Path) -> io::Result<Packer> {
    let mut packer = Packer::default();
    packer.file(protocol::END, serde_json::to_vec_pretty(end).map_err(io::Error::other)?);
    if let Some(output) = output {
        packer.file(protocol::STDOUT, output.stdout.bytes());
        packer.file(protocol::STDERR, output.stderr.bytes());
    }
    packer.folder(protocol::OUT, out)?;
    Ok(packer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_the_kernel_does_not_know_come_before_ours() {
        let given = |words: &[&str]| {
            let all: Vec<OsString> = words.iter().map(OsString::from).collect();
            arguments(all.into_iter()).map(Iterator::collect::<Vec<_>>)
        };
        assert_eq!(given(&["nokaslr", NAME, "/folder"]), Some(vec![OsString::from("/folder")]));
        assert_eq!(given(&[NAME]), Some(Vec::new()));
        assert_eq!(given(&["run", "x.toml"]), None);
    }
}
