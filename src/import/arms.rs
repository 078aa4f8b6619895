//! The two arms of an imported experiment: which kernel, with which patches of
//! the series. "After patch 1-3" needs three of them, and a claim against the
//! previous patch needs all but the last in the arm before.

use std::path::PathBuf;

use crate::config::{ArmSection, TargetKind, TargetSection};
use crate::patch::{Baseline, Claim, Document, Scope, Setting};

use super::experiment::ImportRequest;

/// A kernel tree and what of the series is at hand.
#[derive(Debug, Clone, Default)]
pub struct TreeRequest {
    /// The tree as an arm names it.
    pub tree: String,
    /// Whether the tree has revisions to choose from.
    pub has_revisions: bool,
    /// The revision the patches apply to, when the user names one.
    pub base: Option<String>,
    /// Patch files by their number in the series.
    pub patches: Vec<(u32, PathBuf)>,
}

/// Where the arms run, and both arms.
pub(super) fn arms(
    document: &Document,
    claim: &Claim,
    setting: &Setting,
    request: &ImportRequest,
    assumed: &mut Vec<String>,
) -> (TargetSection, ArmSection, ArmSection) {
    let Some(tree) = &request.tree else {
        let kernel = stated_base(document, claim, setting).unwrap_or_else(|| {
            assumed.push(
                "no base kernel is stated and no patch is at hand: both arms are the running kernel until you name others"
                    .to_owned(),
            );
            "running".to_owned()
        });
        if kernel != "running" {
            assumed.push(
                "no kernel tree is at hand: both arms are the base kernel until you name others (import with --kernel-tree makes the arm \"after\" from the mail's patches)"
                    .to_owned(),
            );
        }
        previous_patch(claim, assumed);
        let arm = |name: &str| arm(name, &kernel, Vec::new());
        return (TargetSection::default(), arm("before"), arm("after"));
    };
    let kernel = kernel_of(tree, stated_base(document, claim, setting), assumed);
    if let Some(base) = document.stated_base(claim.message).filter(|b| b.prerequisites > 0) {
        assumed.push(format!(
            "the mail names {} patch(es) between its base commit and the series, which it does not carry: apply them to the tree first",
            base.prerequisites
        ));
    }
    if document.mails.get(claim.message).is_some_and(|mail| mail.notice) {
        assumed.push(
            "the mail is a tree's notice: the patch applies on top of those that this tree holds before it"
                .to_owned(),
        );
    }
    let (before, after) = patches_of(document, claim, &tree.patches, assumed);
    assumed.push("kernels are built as User-Mode Linux; write kind = \"vm\" in [target] for QEMU".to_owned());
    let target = TargetSection { kind: TargetKind::Uml, ..TargetSection::default() };
    (target, arm("before", &kernel, before), arm("after", &kernel, after))
}

/// The base commit of the series, else the base kernel that a sentence names.
fn stated_base(document: &Document, claim: &Claim, setting: &Setting) -> Option<String> {
    let sentence =
        setting.kernel_base.as_ref().filter(|k| k.bytes().all(|b| b.is_ascii_graphic() && b != b'/'));
    document.stated_base(claim.message).map(|base| base.commit.to_owned()).or(sentence.cloned())
}

/// `TREE@REVISION`, or the tree as it is.
fn kernel_of(tree: &TreeRequest, stated: Option<String>, assumed: &mut Vec<String>) -> String {
    if !tree.has_revisions {
        assumed.push("the kernel tree has no revisions: it is taken as it is for both arms".to_owned());
        return tree.tree.clone();
    }
    let revision = tree.base.clone().or(stated).unwrap_or_else(|| {
        assumed
            .push("the base kernel is not stated; the tree's HEAD is taken (another with --base)".to_owned());
        "HEAD".to_owned()
    });
    format!("{}@{revision}", tree.tree)
}

/// The patches of the arms before and after.
fn patches_of(
    document: &Document,
    claim: &Claim,
    at_hand: &[(u32, PathBuf)],
    assumed: &mut Vec<String>,
) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let subject = document.mails.get(claim.message).map(|mail| &mail.subject);
    let part = subject.and_then(|s| s.part).filter(|part| *part > 0);
    let total = subject.and_then(|s| s.total);
    let all = at_hand.iter().map(|(number, _)| *number).max().unwrap_or(1);
    let (first, last) = match (claim.scope, part) {
        (Scope::Patches { first, last }, _) => (first, last),
        (Scope::ThisPatch, Some(part)) => (part, part),
        _ => (1, total.unwrap_or(all).max(all)),
    };
    let stepwise = claim.baseline == Baseline::PreviousPatch
        || (claim.baseline == Baseline::Unstated && claim.scope == Scope::ThisPatch);
    let base_has = if stepwise { first.saturating_sub(1) } else { 0 };
    if base_has > 0 && claim.baseline == Baseline::Unstated {
        assumed.push(format!(
            "whether before is the base kernel or the series up to patch {base_has} is not stated; the latter is taken"
        ));
    }
    let missing: Vec<String> = (1..=last.min(1000))
        .filter(|number| !at_hand.iter().any(|(found, _)| found == number))
        .map(|number| number.to_string())
        .collect();
    if !missing.is_empty() {
        assumed.push(format!(
            "the input lacks patch {} of the series: the base must hold it already, or import the whole series as one mailbox (b4 am)",
            missing.join(", ")
        ));
    }
    let up_to =
        |most: u32| at_hand.iter().filter(|(n, _)| *n <= most).map(|(_, path)| path.clone()).collect();
    (up_to(base_has), up_to(last))
}

/// Without patches the reader must give the arm "before" its own.
fn previous_patch(claim: &Claim, assumed: &mut Vec<String>) {
    if matches!(claim.baseline, Baseline::Unstated | Baseline::PreviousPatch) {
        assumed.push(
            "before may be the series up to the previous patch: give the arm \"before\" those patches if so"
                .to_owned(),
        );
    }
}

fn arm(name: &str, kernel: &str, patches: Vec<PathBuf>) -> ArmSection {
    ArmSection {
        name: name.to_owned(),
        role: None,
        kernel: kernel.to_owned(),
        patches,
        memcg: None,
        knobs: Default::default(),
        kernel_arguments: None,
        model_flags: Vec::new(),
        sampled: true,
    }
}
