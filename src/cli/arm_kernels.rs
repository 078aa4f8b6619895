//! Kernels of arms from the command line: `--arms`, `--kernel-tree`, `--patch`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::arguments::FitArguments;
use crate::config::{ArmRole, ArmSection, Experiment, Problem, TargetKind};
use crate::target::kernel::{KernelName, KernelPlaces};

/// Writes the kernels that the options name into the experiment; returns what was decided.
pub fn name(experiment: &mut Experiment, fit: &FitArguments) -> Result<Vec<String>, Problem> {
    let mut notes = Vec::new();
    name_each(experiment, &fit.arms)?;
    if let Some(tree) = &fit.kernel_tree {
        let tree = std::path::absolute(tree).unwrap_or_else(|_| tree.clone());
        for arm in &mut experiment.arms {
            notes.extend(onto_tree(arm, &tree));
        }
    }
    let base = experiment.arms[0].kernel.clone();
    // A control equals the baseline in everything.
    for arm in experiment.arms.iter_mut().filter(|arm| arm.role == Some(ArmRole::Control)) {
        arm.kernel.clone_from(&base);
    }
    if !fit.patch.is_empty() {
        patch(experiment, &fit.patch)?;
    }
    if experiment.target.kind == TargetKind::Host {
        notes.extend(choose_target(experiment, fit));
    }
    Ok(notes)
}

/// The target that kernels of the options need, where the experiment names none.
fn choose_target(experiment: &mut Experiment, fit: &FitArguments) -> Option<String> {
    let (kind, why) = if fit.kernel_tree.is_some() {
        (TargetKind::Uml, "kernels are built as User-Mode Linux; for QEMU write kind = \"vm\" in [target]")
    } else {
        let places = KernelPlaces::of_host(None).ok()?;
        let named = experiment.arms.iter().filter(|arm| arm.kernel != "running" && arm.patches.is_empty());
        let images: Vec<PathBuf> = named
            .filter_map(|arm| match places.find(&arm.kernel, false) {
                Ok(KernelName::Image(path)) => Some(path),
                _ => None,
            })
            .collect();
        if fit.arms.is_empty() || images.is_empty() {
            return None;
        }
        if images.iter().all(|path| is_program(path)) {
            (TargetKind::Uml, "the kernels are User-Mode Linux programs and run as guests")
        } else {
            (
                TargetKind::Vm,
                "the kernels run as QEMU guests; to reboot this host write kind = \"boot\" in [target]",
            )
        }
    };
    experiment.target.kind = kind;
    Some(why.to_owned())
}

/// Whether the file is an ELF program, as a User-Mode Linux kernel is and a bzImage is not.
fn is_program(path: &Path) -> bool {
    let mut start = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"\x7fELF"
}

/// `a=/boot/vmlinuz-X b=running`: the kernels of arms that the experiment names.
fn name_each(experiment: &mut Experiment, arms: &[String]) -> Result<(), Problem> {
    for text in arms {
        let names: Vec<String> = experiment.arms.iter().map(|arm| arm.name.clone()).collect();
        let wrong = || {
            let message =
                format!("{text:?} names no arm; write NAME=KERNEL with one of {}", names.join(", "));
            Problem::new("--arms", message)
        };
        let (name, kernel) = text.split_once('=').ok_or_else(wrong)?;
        let arm = experiment.arms.iter_mut().find(|arm| arm.name == name).ok_or_else(wrong)?;
        arm.kernel = kernel.to_owned();
    }
    Ok(())
}

/// Takes an arm's kernel from the tree, so that the plan alone says which one it is.
fn onto_tree(arm: &mut ArmSection, tree: &Path) -> Option<String> {
    let has_revisions = tree.join(".git").exists() || tree.join("objects").is_dir();
    let tree = tree.display();
    if arm.kernel == "running" {
        arm.kernel = tree.to_string();
    } else if arm.kernel.contains('/') {
        // A path says itself what it is.
    } else if has_revisions {
        arm.kernel = format!("{tree}@{}", arm.kernel);
    } else {
        let note = format!(
            "arm {:?} asks for {}, and {tree} has no revisions: it is taken as it is",
            arm.name, arm.kernel
        );
        arm.kernel = tree.to_string();
        return Some(note);
    }
    None
}

fn patch(experiment: &mut Experiment, patches: &[PathBuf]) -> Result<(), Problem> {
    let is_candidate = |(i, arm): &(usize, &mut ArmSection)| {
        *i > 0 && arm.role.unwrap_or(ArmRole::Candidate) == ArmRole::Candidate
    };
    let mut candidates: Vec<&mut ArmSection> =
        experiment.arms.iter_mut().enumerate().filter(is_candidate).map(|(_, arm)| arm).collect();
    let [arm] = candidates.as_mut_slice() else {
        let message = format!(
            "patches go to the one candidate arm, and the experiment has {}; write them as patches = […] in its arms",
            candidates.len()
        );
        return Err(Problem::new("--patch", message));
    };
    arm.patches.extend(patches.iter().map(|p| std::path::absolute(p).unwrap_or_else(|_| p.clone())));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    const TEXT: &str = r#"
schema = 1
title = "two kernels"
[workload.file-read]
tasks = 1
size = "1MiB"
duration = "1s"
[[arm]]
name = "before"
kernel = "v9.1"
[[arm]]
name = "after"
[[arm]]
name = "again"
role = "control"
kernel = "v9.1"
[analysis]
primary = "file_read.ops_per_sec"
"#;

    fn experiment() -> Experiment {
        config::parse(Path::new("x.toml"), TEXT).unwrap()
    }

    fn fit(tree: Option<&Path>, patches: &[&str]) -> FitArguments {
        FitArguments {
            scale: None,
            quick: false,
            arms: Vec::new(),
            kernel_tree: tree.map(Path::to_owned),
            patch: patches.iter().map(PathBuf::from).collect(),
        }
    }

    #[test]
    fn a_tree_and_a_patch_make_two_arms() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        let mut changed = experiment();
        let notes = name(&mut changed, &fit(Some(folder.path()), &["/p/1.patch"])).unwrap();
        let tree = folder.path().display().to_string();
        let kernels: Vec<&str> = changed.arms.iter().map(|a| a.kernel.as_str()).collect();
        assert_eq!(kernels, [format!("{tree}@v9.1").as_str(), &tree, &format!("{tree}@v9.1")]);
        assert_eq!(changed.arms[1].patches, [PathBuf::from("/p/1.patch")]);
        assert!(changed.arms[0].patches.is_empty() && changed.arms[2].patches.is_empty());
        assert_eq!(changed.target.kind, TargetKind::Uml);
        assert!(notes[0].contains("User-Mode Linux"), "{notes:?}");
    }

    #[test]
    fn an_archive_has_no_revisions_and_that_is_told() {
        let mut changed = experiment();
        let notes = name(&mut changed, &fit(Some(Path::new("/src/linux.tar.xz")), &[])).unwrap();
        assert_eq!(changed.arms[0].kernel, "/src/linux.tar.xz");
        assert!(notes[0].contains("v9.1"), "{notes:?}");
    }

    #[test]
    fn images_choose_the_target_where_the_experiment_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let (uml, bzimage) = (folder.path().join("linux"), folder.path().join("bzImage"));
        std::fs::write(&uml, b"\x7fELF...").unwrap();
        std::fs::write(&bzimage, b"MZ......").unwrap();
        let kind = |image: &Path, given: TargetKind| {
            let mut changed = experiment();
            changed.target.kind = given;
            let arms = ["before", "after"].map(|arm| format!("{arm}={}", image.display())).to_vec();
            let notes = name(&mut changed, &FitArguments { arms, ..fit(None, &[]) }).unwrap();
            assert_eq!(changed.arms[2].kernel, changed.arms[0].kernel, "the control follows the baseline");
            (changed.target.kind, notes.len())
        };
        assert_eq!(kind(&uml, TargetKind::Host), (TargetKind::Uml, 1));
        assert_eq!(kind(&bzimage, TargetKind::Host), (TargetKind::Vm, 1));
        assert_eq!(kind(&bzimage, TargetKind::Boot), (TargetKind::Boot, 0));
    }

    #[test]
    fn a_patch_needs_one_candidate() {
        let mut two = experiment();
        two.arms[2].role = Some(ArmRole::Candidate);
        let problem = name(&mut two, &fit(None, &["p"])).unwrap_err().to_string();
        assert!(problem.contains("the experiment has 2"), "{problem}");
    }
}
