//! The request to a driver and its answer, both JSON.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::DriverFault;
use super::Work;
use super::crew;
use super::crew::TaskOrder;
use crate::config::Role;
use crate::exec;
use crate::exec::Command;
use crate::exec::Output;
use crate::workload::Context;
use crate::workload::WorkloadError;
use crate::workload::driver;

/// What stands on a driver's command line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Order<Q, W> {
    Run(Q),
    Task(TaskOrder<W>),
}

/// The body of a driver process: runs the request, or one task of a crew.
pub(crate) fn answer<Q, W, R>(
    arguments: Vec<OsString>,
    run: impl FnOnce(Q) -> Result<R, DriverFault>,
) -> ExitCode
where
    Q: DeserializeOwned,
    W: Work,
    R: Serialize,
{
    let outcome = read::<Q, W>(&arguments).and_then(|order| match order {
        Order::Run(request) => print(&run(request)?),
        Order::Task(order) => crew::obey(order),
    });
    exit_code(W::NAME, outcome)
}

/// The body of a driver process that has no tasks.
pub(crate) fn answer_alone<Q, R>(
    name: &str,
    arguments: Vec<OsString>,
    run: impl FnOnce(Q) -> Result<R, DriverFault>,
) -> ExitCode
where
    Q: DeserializeOwned,
    R: Serialize,
{
    let outcome = read::<Q, ()>(&arguments).and_then(|order| match order {
        Order::Run(request) => print(&run(request)?),
        Order::Task(_) => Err(DriverFault::Request("this driver has no tasks".to_owned())),
    });
    exit_code(name, outcome)
}

fn print<R: Serialize>(answer: &R) -> Result<(), DriverFault> {
    let text = serde_json::to_string(answer);
    println!("{}", text.map_err(|error| DriverFault::Request(error.to_string()))?);
    Ok(())
}

fn exit_code(name: &str, outcome: Result<(), DriverFault>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("run-bench {} {name}: {fault}", driver::NAME);
            ExitCode::FAILURE
        }
    }
}

fn read<Q: DeserializeOwned, W: DeserializeOwned>(
    arguments: &[OsString],
) -> Result<Order<Q, W>, DriverFault> {
    let [text] = arguments else {
        return Err(DriverFault::Request(format!("{} arguments, not one", arguments.len())));
    };
    let text = text.to_str().ok_or_else(|| DriverFault::Request("not UTF-8".to_owned()))?;
    serde_json::from_str(text).map_err(|error| DriverFault::Request(error.to_string()))
}

/// A call of a driver, from the workload's side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    /// The driver's name, also for messages.
    pub(crate) driver: &'static str,
    /// Whose place it takes; with none it stays outside the limited cgroups, beside the server.
    pub(crate) role: Option<Role>,
    pub(crate) deadline: Duration,
    /// What the driver is executed by, such as an entry into a name space.
    pub(crate) prefix: &'a [OsString],
}

/// Runs a driver to its end and reads its answer.
pub(crate) async fn call<Q: Serialize, R: DeserializeOwned>(
    ctx: &Context<'_>,
    call: Call<'_>,
    request: &Q,
) -> Result<(R, Output), WorkloadError> {
    let text = serde_json::to_string(&Order::<&Q, ()>::Run(request)).expect("requests are plain data");
    let mut argv = call.prefix.to_vec();
    argv.extend([ctx.own_executable.into(), driver::NAME.into(), call.driver.into(), text.into()]);
    let mut command = Command::new("").deadline(call.deadline);
    command.argv = argv;
    ctx.place(&mut command, call.role.unwrap_or(Role::Server));
    if call.role.is_none() {
        command.cgroups.clone_from(&ctx.unconfined);
    }
    let output = exec::run(&command, ctx.cancel).await?;
    if output.ended == exec::Ended::Cancelled {
        return Err(WorkloadError::Cancelled);
    }
    if !output.ended.success() {
        let evidence = output.stderr.text().trim().to_owned();
        let what = format!("the built-in driver {}", call.driver);
        return Err(WorkloadError::Died { what, ended: output.ended, evidence });
    }
    let printed = output.stdout.text();
    let answer = serde_json::from_str(printed.trim())
        .map_err(|error| WorkloadError::output("built-in driver", error.to_string(), &printed))?;
    Ok((answer, output))
}
