//! `[fleet]`: the same experiment on several hosts, run by a batch system.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::analysis::{AnalysisSection, StopRule};
use super::error::Problem;
use super::target::{TargetKind, TargetSection};
use crate::units::Nanos;

/// Who hands out hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FleetEngine {
    #[default]
    Slurm,
}

/// Hosts of one kind, such as `epyc`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FleetClass {
    /// The word that reports use.
    pub name: String,
    /// The node feature that marks them; the name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    /// How many of them to measure on; every fit one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<u32>,
}

impl FleetClass {
    pub fn feature(&self) -> &str {
        self.feature.as_deref().unwrap_or(&self.name)
    }
}

/// Where the blocks of a fleet run. Every host runs `schedule.blocks` blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FleetSection {
    pub engine: FleetEngine,
    /// The batch system's default when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// Kinds of hosts; without any, all nodes of the partition are one kind.
    #[serde(rename = "class", skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<FleetClass>,
    /// Whole nodes: nobody else's work beside a trial.
    pub exclusive: bool,
    /// How long a node may take to answer the doctor, and a task to wait for its host.
    pub patience: Nanos,
    /// Time for one block; computed from the plan when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Nanos>,
    /// Path of run-bench on every node; a copy in the campaign's folder when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
}

impl Default for FleetSection {
    fn default() -> Self {
        FleetSection {
            engine: FleetEngine::Slurm,
            partition: None,
            classes: Vec::new(),
            exclusive: true,
            patience: Nanos::from_seconds(600),
            time_limit: None,
            program: None,
        }
    }
}

/// Names of the batch system: they become part of its options.
fn is_name(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_' || b == b'.';
    !text.is_empty()
        && text.len() <= 60
        && text.bytes().all(allowed)
        && text.as_bytes()[0].is_ascii_alphanumeric()
}

impl FleetSection {
    pub fn validate(&self, analysis: &AnalysisSection, target: &TargetSection, problems: &mut Vec<Problem>) {
        let name = |key: String, text: &str, problems: &mut Vec<Problem>| {
            if !is_name(text) {
                let message = format!("{text:?} is no name; write 1 to 60 of a-z, A-Z, 0-9, '-', '_', '.'");
                problems.push(Problem::new(key, message));
            }
        };
        if let Some(partition) = &self.partition {
            name("fleet.partition".to_owned(), partition, problems);
        }
        for (i, class) in self.classes.iter().enumerate() {
            let key = format!("fleet.class[{}]", i + 1);
            name(format!("{key}.name"), &class.name, problems);
            name(format!("{key}.feature"), class.feature(), problems);
            if class.hosts == Some(0) {
                problems.push(Problem::new(
                    format!("{key}.hosts"),
                    "write 1 or more, or leave it out for every fit host",
                ));
            }
            if self.classes[..i].iter().any(|c| c.name == class.name || c.feature() == class.feature()) {
                problems.push(Problem::new(format!("{key}.name"), format!("{:?} stands twice", class.name)));
            }
        }
        for (key, time) in [("patience", Some(self.patience)), ("time-limit", self.time_limit)] {
            if time.is_some_and(|t| t < Nanos::from_seconds(1) || t > Nanos::from_seconds(30 * 86_400)) {
                problems.push(Problem::new(format!("fleet.{key}"), "write \"1s\" to \"720h\""));
            }
        }
        if self.program.as_ref().is_some_and(|p| !p.is_absolute()) {
            problems.push(Problem::new(
                "fleet.program",
                "write the absolute path that run-bench has on every node",
            ));
        }
        if analysis.stop != StopRule::Fixed {
            problems.push(Problem::new(
                "analysis.stop",
                "looks at the data are planned for the blocks of one host; a fleet needs stop = \"fixed\"",
            ));
        }
        if target.kind == TargetKind::Boot {
            problems.push(Problem::new(
                "target.kind",
                "a reboot ends a task of the batch system and its hold on the node; on a fleet use \"host\", \"uml\" or \"vm\"",
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{ConfigError, parse};

    fn with(text: &str) -> Result<FleetSection, ConfigError> {
        let whole = format!(
            "schema = 1\ntitle = \"t\"\n[workload.file-read]\ntasks = 1\nsize = \"1MiB\"\nduration = \"1s\"\n\
             [[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n[analysis]\nprimary = \"file_read.ops_per_sec\"\n{text}"
        );
        parse(Path::new("t.toml"), &whole).map(|e| e.fleet.expect("it has a fleet"))
    }

    #[test]
    fn classes_take_their_name_for_feature() {
        let fleet = with(
            "[fleet]\nengine = \"slurm\"\npartition = \"bench\"\n[[fleet.class]]\nname = \"epyc\"\nhosts = 2\n\
             [[fleet.class]]\nname = \"old\"\nfeature = \"xeon-v3\"",
        )
        .expect("valid");
        assert_eq!(fleet.classes[0].feature(), "epyc");
        assert_eq!((fleet.classes[1].feature(), fleet.classes[1].hosts), ("xeon-v3", None));
        assert!(fleet.exclusive && fleet.time_limit.is_none());
    }

    #[test]
    fn what_cannot_run_on_a_fleet_is_refused_with_its_key() {
        for (text, key) in [
            ("stop = \"anytime\"\n[fleet]", "analysis.stop"),
            ("[target]\nkind = \"boot\"\n[fleet]", "target.kind"),
            ("[fleet]\npartition = \"--uid=0\"", "fleet.partition"),
            ("[fleet]\nprogram = \"run-bench\"", "fleet.program"),
            ("[fleet]\npatience = \"1ms\"", "fleet.patience"),
            ("[[fleet.class]]\nname = \"a b\"", "fleet.class[1].name"),
            ("[[fleet.class]]\nname = \"a\"\nhosts = 0", "fleet.class[1].hosts"),
            ("[[fleet.class]]\nname = \"a\"\n[[fleet.class]]\nname = \"a\"", "stands twice"),
            ("[fleet]\nengine = \"pbs\"", "unknown variant"),
            ("[fleet]\npartion = \"x\"", "did you mean `partition`"),
        ] {
            let error = with(text).expect_err(text).to_string();
            assert!(error.contains(key), "{text}: {error}");
        }
    }
}
