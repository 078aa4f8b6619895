//! The hidden sub-command `__driver NAME`: built-in load generators as processes
//! of their own, so that they can be confined, pinned and accounted like any tool.

use std::ffi::OsString;
use std::process::ExitCode;

use super::file_read;
use super::memcached::loader;
use super::netperf;
use super::reclaim_probe;
use super::usemem;
use super::will_it_scale;

/// The name of the hidden sub-command.
pub const NAME: &str = "__driver";
/// Exit code for arguments that name no driver, as for any usage error.
const USAGE: u8 = 2;

/// A driver's entry: its arguments, and what the process returns.
type Entry = fn(Vec<OsString>) -> ExitCode;

/// Every built-in driver.
const DRIVERS: &[(&str, Entry)] = &[
    (file_read::DRIVER, file_read::main),
    (loader::DRIVER, loader::main),
    (netperf::DRIVER, netperf::main),
    (netperf::ENTER, netperf::enter),
    (netperf::HOLD, netperf::hold),
    (reclaim_probe::DRIVER, reclaim_probe::main),
    (usemem::DRIVER, usemem::main),
    (will_it_scale::DRIVER, will_it_scale::main),
];

/// Runs the driver that the first argument (after the sub-command's name) names.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let name = arguments.next().unwrap_or_default();
    if let Some((_, entry)) = DRIVERS.iter().find(|(known, _)| name == *known) {
        return entry(arguments.collect());
    }
    let known: Vec<&str> = DRIVERS.iter().map(|(name, _)| *name).collect();
    eprintln!("run-bench {NAME}: {name:?} is no built-in driver; there are: {}", known.join(", "));
    ExitCode::from(USAGE)
}
