//! The targets of a campaign: one for each arm, with its kernel found or built.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::boot::{BootError, BootPlaces, BootTarget};
use super::error::TargetError;
use super::host::HostTarget;
use super::kernel::{BuildStep, KernelImage, KernelKind, KernelPlaces};
use super::uml::UmlTarget;
use super::vm::VmTarget;
use crate::config::{Plan, PlanArm, TargetKind};
use crate::store::{TrialFolder, TrialSpec, TrialStatus};

/// Where the trials of one arm run.
#[derive(Debug)]
enum ArmTarget {
    Host,
    Uml(Box<UmlTarget>),
    Vm(Box<VmTarget>),
    Boot(Box<BootTarget>),
}

/// What a campaign's targets are made of.
#[derive(Debug)]
pub struct TargetRequest<'a> {
    pub plan: &'a Plan,
    pub places: &'a KernelPlaces,
    /// The run-bench that guests run.
    pub executable: PathBuf,
    /// Stable name of this host.
    pub host: String,
}

/// The targets of all arms.
#[derive(Debug)]
pub struct Targets {
    /// Shared by its arms, as are the files that it keeps for a block.
    host: HostTarget,
    arms: BTreeMap<String, ArmTarget>,
    confounders: Vec<String>,
}

/// Most configuration differences that are told one by one.
const MOST_DIFFERENCES: usize = 12;

impl Targets {
    /// Finds or builds the kernel of every arm.
    pub async fn prepare(
        request: &TargetRequest<'_>,
        step: impl Fn(&str, &BuildStep),
        cancel: &CancellationToken,
    ) -> Result<Self, TargetError> {
        let section = request.plan.target();
        let mut arms = BTreeMap::new();
        let mut images: Vec<(String, KernelImage)> = Vec::new();
        for arm in &request.plan.arms {
            let target = match section.kind {
                TargetKind::Host => {
                    only_running(arm)?;
                    ArmTarget::Host
                }
                TargetKind::Uml => {
                    let image = image_of(request, arm, KernelKind::Uml, &step, cancel).await?;
                    images.push((arm.name.clone(), image.clone()));
                    ArmTarget::Uml(Box::new(UmlTarget::new(
                        image,
                        section.clone(),
                        arm.section.kernel_arguments.clone(),
                        request.executable.clone(),
                        request.host.clone(),
                    )))
                }
                TargetKind::Vm => {
                    let image = image_of(request, arm, KernelKind::X86, &step, cancel).await?;
                    images.push((arm.name.clone(), image.clone()));
                    let vm = VmTarget::new(
                        image,
                        section.clone(),
                        arm.section.kernel_arguments.clone(),
                        request.executable.clone(),
                        request.host.clone(),
                    );
                    ArmTarget::Vm(Box::new(vm.await?))
                }
                TargetKind::Boot => {
                    if request.plan.schedule().discard_first {
                        return Err(BootError::Discarded.into());
                    }
                    let image = image_of(request, arm, KernelKind::X86, &step, cancel).await?;
                    images.push((arm.name.clone(), image.clone()));
                    let places = BootPlaces::of_host(request.executable.clone());
                    let arguments = arm.section.kernel_arguments.clone();
                    ArmTarget::Boot(Box::new(BootTarget::new(image, section, arguments, places)?))
                }
            };
            arms.insert(arm.name.clone(), target);
        }
        let host = HostTarget::with_executable(request.executable.clone());
        Ok(Targets { host, arms, confounders: confounders(&images) })
    }

    /// Differences between the arms' kernels besides what is compared, a sentence each.
    pub fn confounders(&self) -> &[String] {
        &self.confounders
    }

    /// Takes down what was kept for a block.
    pub async fn end_block(&self) -> Result<(), TargetError> {
        self.host.end_fixture().await
    }

    /// Takes back what resumes the campaign after a boot, unless the host is about to restart.
    pub fn end_campaign(&self) -> Result<(), TargetError> {
        match self
            .arms
            .values()
            .find_map(|arm| if let ArmTarget::Boot(boot) = arm { Some(boot) } else { None })
        {
            Some(boot) => boot.places().settle(),
            None => Ok(()),
        }
    }

    /// Runs one trial where its arm's kernel runs.
    pub async fn run_trial(
        &self,
        spec: &TrialSpec,
        folder: &TrialFolder,
        cancel: &CancellationToken,
    ) -> Result<TrialStatus, TargetError> {
        match self.arms.get(&spec.id.arm) {
            Some(ArmTarget::Host) => self.host.run_trial(spec, folder, cancel).await,
            Some(ArmTarget::Uml(target)) => target.run_trial(spec, folder, cancel).await,
            Some(ArmTarget::Vm(target)) => target.run_trial(spec, folder, cancel).await,
            Some(ArmTarget::Boot(target)) => target.run_trial(&self.host, spec, folder, cancel).await,
            None => Err(TargetError::Arm { arm: spec.id.arm.clone() }),
        }
    }
}

fn only_running(arm: &PlanArm) -> Result<(), TargetError> {
    if arm.section.kernel == "running"
        && arm.section.patches.is_empty()
        && arm.section.kernel_arguments.is_none()
    {
        Ok(())
    } else {
        Err(TargetError::OtherKernelOnHost { arm: arm.name.clone(), kernel: arm.section.kernel.clone() })
    }
}

async fn image_of(
    request: &TargetRequest<'_>,
    arm: &PlanArm,
    kind: KernelKind,
    step: &impl Fn(&str, &BuildStep),
    cancel: &CancellationToken,
) -> Result<KernelImage, TargetError> {
    let section = &arm.section;
    let step = |s: &BuildStep| step(&arm.name, s);
    let image = request.places.resolve(&section.kernel, &section.patches, kind, step, cancel).await?;
    image.ok_or_else(|| TargetError::NoImage { arm: arm.name.clone() })
}

/// How the kernels of other arms differ in configuration from that of the first.
fn confounders(images: &[(String, KernelImage)]) -> Vec<String> {
    let Some((first, base)) = images.first() else { return Vec::new() };
    let mut told = Vec::new();
    for (name, image) in &images[1..] {
        let (Some(ours), Some(theirs)) = (&base.config, &image.config) else {
            if image.path != base.path {
                told.push(format!("the configurations of {first} and {name} cannot both be read: whether they differ is not known"));
            }
            continue;
        };
        let differences = ours.differences(theirs);
        if differences.is_empty() {
            continue;
        }
        let shown: Vec<String> = differences
            .iter()
            .take(MOST_DIFFERENCES)
            .map(|d| format!("{}={} against {}", d.symbol, d.first, d.second))
            .collect();
        let more = match differences.len().saturating_sub(MOST_DIFFERENCES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        told.push(format!("{first} and {name} are configured differently: {}{more}", shown.join(", ")));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::kernel_config::KernelConfig;

    fn image(config: Option<&str>) -> KernelImage {
        KernelImage {
            path: format!("/k/{config:?}").into(),
            kind: KernelKind::X86,
            release: String::new(),
            version: String::new(),
            build_id: None,
            config: config.map(KernelConfig::parse),
        }
    }

    #[test]
    fn configurations_that_differ_are_told() {
        let images = [
            ("a".to_owned(), image(Some("CONFIG_HZ=100\n"))),
            ("b".to_owned(), image(Some("CONFIG_HZ=100\n"))),
            ("c".to_owned(), image(Some("CONFIG_HZ=250\nCONFIG_DEBUG_LIST=y\n"))),
            ("d".to_owned(), image(None)),
        ];
        let told = confounders(&images);
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[0], "a and c are configured differently: DEBUG_LIST=n against y, HZ=100 against 250");
        assert!(told[1].contains("a and d cannot both be read"), "{told:?}");
    }
}
