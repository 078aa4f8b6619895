//! What is simulated side by side, and the runs themselves.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::model::access::Stream;
use crate::model::flag::Flags;
use crate::model::simulation::{Configuration, Outcome, Phase, Simulation};
use crate::model::version::{PolicyKind, Validation, Version};

/// One column of the result.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub name: String,
    pub configuration: Configuration,
}

/// A case that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    pub case: Case,
    pub outcome: Outcome,
}

/// Makes the stream and its phases anew for each case.
pub type MakeStream<'a> = dyn Fn() -> anyhow::Result<(Box<dyn Stream>, Vec<Phase>)> + Sync + 'a;

impl Case {
    /// Policy and kernel as the name.
    pub fn of(configuration: Configuration) -> Self {
        Case { name: format!("{} {}", configuration.policy, configuration.version), configuration }
    }

    /// The same with patches.
    pub fn with(&self, flags: Flags) -> Self {
        let all = self.configuration.flags.iter().chain(flags.iter()).collect();
        Case {
            name: format!("{} + flags", self.name),
            configuration: Configuration { flags: all, ..self.configuration.clone() },
        }
    }

    /// Whether this was ever compared with a running kernel.
    pub fn validation(&self) -> String {
        let Configuration { version, policy, flags, platform, .. } = &self.configuration;
        match version.validation(*policy, platform.hw_young) {
            Validation::Checked(with) if *flags == Flags::NONE => format!("checked against {with}"),
            Validation::Checked(_) => "unvalidated with these flags".to_owned(),
            Validation::Unvalidated => "unvalidated".to_owned(),
        }
    }

    /// Names of its patches.
    pub fn flag_names(&self) -> Vec<&'static str> {
        self.configuration.flags.iter().map(|flag| flag.name()).collect()
    }
}

/// Every version with every policy.
pub fn grid(base: &Configuration, versions: &[Version], policies: &[PolicyKind]) -> Vec<Case> {
    let of = |&version: &Version, &policy: &PolicyKind| {
        Case::of(Configuration { version, policy, ..base.clone() })
    };
    policies.iter().flat_map(|policy| versions.iter().map(move |version| of(version, policy))).collect()
}

/// Runs every case over its own copy of the stream, up to `threads` at a time.
/// The result does not depend on their number.
pub fn run_all(
    cases: Vec<Case>,
    threads: usize,
    stream: &MakeStream<'_>,
    samples: Option<u64>,
) -> anyhow::Result<Vec<Simulated>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<anyhow::Result<Outcome>>>> = Mutex::new(cases.iter().map(|_| None).collect());
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(index) else { return };
            let outcome = run(case, stream, samples);
            done.lock().expect("no holder panics while it stores an outcome")[index] = Some(outcome);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.clamp(1, cases.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let outcomes = done.into_inner().expect("no holder panics while it stores an outcome");
    cases
        .into_iter()
        .zip(outcomes)
        .map(|(case, outcome)| Ok(Simulated { case, outcome: outcome.expect("every case ran")? }))
        .collect()
}

fn run(case: &Case, stream: &MakeStream<'_>, samples: Option<u64>) -> anyhow::Result<Outcome> {
    let (mut stream, phases) = stream()?;
    let configuration = Configuration { sample_every: samples, ..case.configuration.clone() };
    Ok(Simulation::new(configuration).run(stream.as_mut(), &phases))
}
