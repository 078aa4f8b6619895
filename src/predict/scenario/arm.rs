//! One arm: kernel, knobs, limits and patches as a configuration of the model.

use crate::config::Limit;
use crate::config::Plan;
use crate::config::PlanArm;
use crate::config::SwapKind;
use crate::config::TargetKind;
use crate::model::flag::Flag;
use crate::model::flag::Flags;
use crate::model::flag::UnknownFlag;
use crate::model::platform::Platform;
use crate::model::platform::SwapKind as ModelSwap;
use crate::model::simulation::Configuration;
use crate::model::simulation::MemcgLimit;
use crate::model::version::PolicyKind;
use crate::model::version::Version;
use crate::units::Bytes;

/// `vm.swappiness` where nothing sets it.
const USUAL_SWAPPINESS: u32 = 60;

/// What the user asks for over what the experiment says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Preference<'a> {
    pub version: Option<Version>,
    pub policy: Option<PolicyKind>,
    pub swappiness: Option<u32>,
    /// The release of the running kernel, for arms that run it.
    pub running: Option<&'a str>,
}

/// An arm of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmScenario {
    pub name: String,
    pub configuration: Configuration,
    /// What was assumed or left out.
    pub notes: Vec<String>,
}

/// The configuration of an arm.
pub fn arm_scenario(
    plan: &Plan,
    arm: &PlanArm,
    preference: &Preference<'_>,
) -> Result<ArmScenario, UnknownFlag> {
    let mut notes = Vec::new();
    let knobs = Knobs::read(arm, &mut notes);
    let version = preference.version.unwrap_or_else(|| version_of_arm(arm, preference.running, &mut notes));
    let policy = preference.policy.or(knobs.policy).unwrap_or(PolicyKind::Mglru);
    let section = arm.memcg.as_ref();
    let pages = |limit: Limit| match limit {
        Limit::Max => None,
        Limit::Bytes(bytes) => Some(bytes.to_pages().0),
    };
    let swappiness = preference
        .swappiness
        .or(section.and_then(|memcg| memcg.swappiness))
        .or(knobs.swappiness)
        .unwrap_or(USUAL_SWAPPINESS);
    let memcg = MemcgLimit {
        pages: section.and_then(|memcg| pages(memcg.limit)),
        swap_pages: section.and_then(|memcg| pages(memcg.swap_limit)),
        swappiness,
    };
    if memcg.pages.is_none() {
        notes.push(format!("{}: no memory limit, so nothing is reclaimed", arm.name));
    }
    let flags: Result<Flags, UnknownFlag> =
        arm.section.model_flags.iter().map(|name| name.parse::<Flag>()).collect();
    let base = match plan.target().kind {
        TargetKind::Uml => Platform::UML,
        _ => Platform::X86,
    };
    let swap = plan.swap().filter(|swap| swap.kind == SwapKind::Loop);
    let swap = swap.map_or(ModelSwap::Synchronous, |_| ModelSwap::Asynchronous);
    let configuration = Configuration {
        version,
        policy,
        flags: flags?,
        platform: Platform { swap, ..base },
        memcgs: vec![memcg],
        swap_pages: plan.swap().map_or(Bytes(0), |swap| swap.size).to_pages().0,
        sample_every: None,
    };
    Ok(ArmScenario { name: arm.name.clone(), configuration, notes })
}

/// What an arm's knobs say about reclaim.
struct Knobs {
    policy: Option<PolicyKind>,
    swappiness: Option<u32>,
}

impl Knobs {
    fn read(arm: &PlanArm, notes: &mut Vec<String>) -> Self {
        let mut knobs = Knobs { policy: None, swappiness: None };
        for (name, value) in &arm.knobs {
            match name.as_str() {
                "lru_gen" | "/sys/kernel/mm/lru_gen/enabled" => {
                    let off = matches!(value.trim(), "n" | "N" | "0" | "0x0000");
                    knobs.policy = Some(if off { PolicyKind::Classic } else { PolicyKind::Mglru });
                }
                "vm.swappiness" | "/proc/sys/vm/swappiness" => knobs.swappiness = value.trim().parse().ok(),
                _ => notes.push(format!("{}: the knob {name} is not modelled", arm.name)),
            }
        }
        knobs
    }
}

/// The version of an arm's kernel, by the first `major.minor` in its text.
fn version_of_arm(arm: &PlanArm, running: Option<&str>, notes: &mut Vec<String>) -> Version {
    let kernel = arm.section.kernel.as_str();
    let release = if kernel == "running" { running.unwrap_or(kernel) } else { kernel };
    let version = version_of_release(release);
    let name = &arm.name;
    notes.push(match version {
        Some(version) => format!("{name}: kernel {release} is modelled as {version}"),
        None => format!("{name}: kernel {release} tells no version and is modelled as 6.12; see --kernel"),
    });
    version.unwrap_or(Version::K612)
}

/// The modelled version that a release, image or tag behaves like.
pub fn version_of_release(text: &str) -> Option<Version> {
    let name = text.rsplit('/').next().unwrap_or(text);
    let mut numbers = name.split(|c: char| !c.is_ascii_digit() && c != '.').filter(|part| part.contains('.'));
    let (major, minor) = numbers.find_map(|part| {
        let mut fields = part.split('.');
        Some((fields.next()?.parse::<u32>().ok()?, fields.next()?.parse::<u32>().ok()?))
    })?;
    Some(match (major, minor) {
        (..=5, _) => return None,
        (6, ..=2) => Version::K61,
        (6, ..=13) => Version::K612,
        (6, ..=18) => Version::K614Merged,
        _ => Version::K72,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config;

    #[test]
    fn releases_map_to_the_version_they_behave_like() {
        for (text, version) in [
            ("6.1.0-30-amd64", Some(Version::K61)),
            ("v6.7", Some(Version::K612)),
            ("/boot/vmlinuz-6.12.48+deb13-cloud-amd64", Some(Version::K612)),
            ("6.18.5", Some(Version::K614Merged)),
            ("7.2.13", Some(Version::K72)),
            ("linux-7.0", Some(Version::K72)),
            ("running", None),
            ("5.15.0", None),
            ("a1b2c3d", None),
        ] {
            assert_eq!(version_of_release(text), version, "{text}");
        }
    }

    #[test]
    fn knobs_limits_and_flags_reach_the_model() {
        let text = r#"
schema = 1
title = "t"
[memcg]
limit = "64MiB"
swappiness = 10
[swap]
kind = "loop"
size = "256MiB"
[environment]
knobs = { "vm.swappiness" = "100", min_ttl_ms = "0" }
[workload.usemem]
processes = 1
size = "80MiB"
[[arm]]
name = "a"
kernel = "v6.1"
knobs = { lru_gen = "n" }
[[arm]]
name = "b"
memcg = { limit = "80MiB" }
model-flags = ["bulk-move"]
[analysis]
primary = "usemem.bytes_per_sec"
"#;
        let plan = Plan::new(config::parse(Path::new("t.toml"), text).expect("an experiment"));
        let preference = Preference { running: Some("7.2.1"), ..Preference::default() };
        let [a, b] = [0, 1].map(|i| arm_scenario(&plan, &plan.arms[i], &preference).expect("flags"));
        assert_eq!((a.configuration.version, a.configuration.policy), (Version::K61, PolicyKind::Classic));
        assert_eq!((b.configuration.version, b.configuration.policy), (Version::K72, PolicyKind::Mglru));
        assert_eq!(a.configuration.memcgs[0].pages, Some(16_384));
        assert_eq!(
            b.configuration.memcgs[0],
            MemcgLimit { pages: Some(20_480), swap_pages: None, swappiness: 10 }
        );
        assert_eq!(a.configuration.platform.swap, ModelSwap::Asynchronous);
        assert_eq!(a.configuration.swap_pages, 65_536);
        assert!(b.configuration.flags.has(Flag::BulkMove) && a.configuration.flags == Flags::NONE);
        assert!(a.notes.iter().any(|note| note.contains("min_ttl_ms")), "{:?}", a.notes);
        let asked = Preference { version: Some(Version::K612), swappiness: Some(1), ..preference };
        let asked = arm_scenario(&plan, &plan.arms[0], &asked).expect("flags").configuration;
        assert_eq!((asked.version, asked.memcgs[0].swappiness), (Version::K612, 1));
    }
}
