//! A row of the matrix, and what running it gives.

use std::fmt;

use serde::Serialize;

use super::real::{RealCase, run_case};
use super::seen::{Injected, Seen};

/// What a fault is a fault of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Host,
    Tool,
    Config,
    Kill,
    Reboot,
    Stats,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Host => "host",
            Kind::Tool => "tool",
            Kind::Config => "config",
            Kind::Kill => "kill",
            Kind::Reboot => "reboot",
            Kind::Stats => "stats",
        })
    }
}

/// The form of a row on the real host.
#[derive(Debug, Clone, Copy)]
pub enum Real {
    /// Whole campaigns of this program.
    Campaigns(&'static [RealCase]),
    /// A test of `scripts/test` makes it real; this is its name.
    Test(&'static str),
    /// Nothing in the row is a stand-in.
    AsInjected,
    /// Why it cannot be made real here.
    No(&'static str),
}

/// One kind of fault.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub number: u32,
    pub kind: Kind,
    pub fault: &'static str,
    /// How it is injected without privileges.
    pub injected: &'static str,
    pub(super) inject: fn(&mut Seen) -> Injected,
    pub real: Real,
}

/// What running a row came to.
#[derive(Debug, Clone, Serialize)]
pub struct RowResult {
    pub row: u32,
    pub kind: Kind,
    pub fault: String,
    pub injected: String,
    pub passed: bool,
    /// How many of the row's checks held.
    pub held: usize,
    /// What did not hold.
    pub broken: Vec<String>,
    /// Whether every host that was touched was put back; absent where none is touched.
    pub restored: Option<bool>,
    /// What was done on this host, or why the row was not made real.
    pub real: String,
}

impl Row {
    /// Injects the row's faults; on this host too if `real`.
    pub fn run(&self, real: bool) -> RowResult {
        let mut seen = Seen::default();
        // What an injection makes the tool complain of is not the user's trouble.
        let quiet = tracing::subscriber::NoSubscriber::default();
        if let Err(error) = tracing::subscriber::with_default(quiet, || (self.inject)(&mut seen)) {
            seen.broken.push(format!("the injection itself failed: {error}"));
        }
        seen.check("something was checked", !(seen.held.is_empty() && seen.broken.is_empty()));
        let said = self.run_real(real, &mut seen);
        RowResult {
            row: self.number,
            kind: self.kind,
            fault: self.fault.to_owned(),
            injected: self.injected.to_owned(),
            passed: seen.broken.is_empty(),
            held: seen.held.len() - 1,
            broken: seen.broken,
            restored: seen.restored,
            real: said,
        }
    }

    fn run_real(&self, real: bool, seen: &mut Seen) -> String {
        match self.real {
            Real::AsInjected => "as injected".to_owned(),
            Real::No(why) => format!("not real here: {why}"),
            Real::Test(name) => format!("by the test {name}"),
            Real::Campaigns(cases) if real => {
                for case in cases {
                    let end = run_case(case);
                    seen.restored = Some(seen.restored.unwrap_or(true) && end.restored);
                    seen.check(format!("{}: {}", case.what, end.said), end.passed && end.restored);
                }
                format!("{} campaign(s) run", cases.len())
            }
            Real::Campaigns(cases) => format!("{} campaign(s) with --real, as root", cases.len()),
        }
    }
}
