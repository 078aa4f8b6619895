//! `[[arm]]`: the systems under test.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::environment::validate_knobs;
use super::error::Problem;
use super::memcg::MemcgOverride;

/// What an arm is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArmRole {
    /// The first arm: what others are compared with.
    Baseline,
    /// An arm whose difference from the baseline is the question.
    Candidate,
    /// Equal to the baseline: its difference is the noise floor.
    Control,
    /// The baseline rebuilt with another layout: its difference is layout noise.
    Placebo,
}

/// One arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ArmSection {
    /// Lower-case letters, digits, `-`, `_` and `.`; part of file names.
    pub name: String,
    /// Baseline for the first arm and candidate for the others when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<ArmRole>,
    /// `running` (default), the path of a kernel image, a release, or a git revision of the tree.
    #[serde(default = "running_kernel")]
    pub kernel: String,
    /// Patch files applied to the kernel's tree, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<PathBuf>,
    /// What this arm changes of `[memcg]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memcg: Option<MemcgOverride>,
    /// Knobs that this arm sets besides those of `[environment]`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub knobs: BTreeMap<String, String>,
    /// Additional kernel command line of a booted arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_arguments: Option<String>,
    /// Known patches of the reclaim model that this arm stands for, for forecasts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub model_flags: Vec<String>,
    /// Whether kernel counters are sampled in this arm's trials, where `[sample]`
    /// does so: two arms that differ in this alone measure what sampling costs.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub sampled: bool,
}

fn yes() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}

impl ArmSection {
    /// Whether two arms differ in nothing but name and role.
    pub fn is_set_up_like(&self, other: &ArmSection) -> bool {
        self.kernel == other.kernel
            && self.patches == other.patches
            && self.memcg == other.memcg
            && self.knobs == other.knobs
            && self.kernel_arguments == other.kernel_arguments
            && self.sampled == other.sampled
    }
}

fn running_kernel() -> String {
    "running".to_owned()
}

/// Whether a text can be an arm's name and part of a file name.
fn is_name(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_' || b == b'.';
    !text.is_empty()
        && text.len() <= 40
        && text.bytes().all(allowed)
        && text.as_bytes()[0].is_ascii_alphanumeric()
        && !text.contains("..")
}

/// Checks every arm and how they go together.
pub fn validate_arms(arms: &[ArmSection], has_memcg: bool, problems: &mut Vec<Problem>) {
    if arms.len() < 2 || arms.len() > 12 {
        problems.push(Problem::new(
            "arm",
            format!("{} arm(s): a comparison needs 2 to 12; add [[arm]] tables", arms.len()),
        ));
    }
    for (i, arm) in arms.iter().enumerate() {
        let key = format!("arm[{}]", i + 1);
        if !is_name(&arm.name) {
            problems.push(Problem::new(
                format!("{key}.name"),
                format!(
                    "{:?} becomes part of a file name; write 1 to 40 of a-z, 0-9, '-', '_', '.'",
                    arm.name
                ),
            ));
        }
        if arms[..i].iter().any(|other| other.name == arm.name) {
            problems.push(Problem::new(format!("{key}.name"), format!("{:?} stands twice", arm.name)));
        }
        if (i == 0)
            != (arm.role.unwrap_or(if i == 0 { ArmRole::Baseline } else { ArmRole::Candidate })
                == ArmRole::Baseline)
        {
            problems.push(Problem::new(
                format!("{key}.role"),
                "the first arm is the baseline, and only the first",
            ));
        }
        if arm.memcg.is_some() && !has_memcg {
            problems.push(Problem::new(
                format!("{key}.memcg"),
                "changes a [memcg] section that is not there; add it",
            ));
        }
        if arm.memcg.as_ref().and_then(|m| m.swappiness).is_some_and(|s| s > 200) {
            problems.push(Problem::new(format!("{key}.memcg.swappiness"), "write 0 to 200"));
        }
        if arm.kernel.trim().is_empty() || arm.kernel.contains('\0') {
            problems.push(Problem::new(
                format!("{key}.kernel"),
                "write \"running\", a path, a release or a revision",
            ));
        }
        validate_knobs(&format!("{key}.knobs"), &arm.knobs, problems);
        control_is_equal(arms, i, &key, problems);
    }
}

/// A control arm is only one when it is set up like the baseline.
fn control_is_equal(arms: &[ArmSection], i: usize, key: &str, problems: &mut Vec<Problem>) {
    let (arm, baseline) = (&arms[i], &arms[0]);
    if arm.role == Some(ArmRole::Control) && !arm.is_set_up_like(baseline) {
        problems.push(Problem::new(
            format!("{key}.role"),
            format!(
                "a control differs from the baseline {:?} in nothing but its name; remove the difference",
                baseline.name
            ),
        ));
    }
}
