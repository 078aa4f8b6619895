//! `run-bench patch`: what a mail claims, whether its arithmetic holds, and a
//! ready experiment. The mail is data: nothing in it is executed.

use std::path::Path;

use anyhow::Context;

use super::arguments::{AuditArguments, ImportArguments, MailArguments, PatchCommand};
use super::exit::Exit;
use crate::import::{self, ImportRequest, TreeRequest};
use crate::input;
use crate::patch::{self, Document};
use crate::store::{create_private_folder, write_atomically};
use crate::units::Bytes;

pub const AUDIT_EXAMPLES: &str = "Examples:
  run-bench patch audit series.mbox            # a table, then what is worth saying
  run-bench patch audit series.mbox --reply    # the same to paste into an answer
  run-bench patch audit series.mbox --json | jq '.claims[].audit.arithmetic'";

pub const IMPORT_EXAMPLES: &str = "Examples:
  run-bench patch import series.mbox --out x.toml
  run-bench patch import series.mbox --claim c3 --out x.toml
  run-bench patch import series.mbox --kernel-tree ~/linux --base v6.12 --out x.toml
  run-bench plan x.toml --scale auto && run-bench run x.toml --scale auto";

/// No mail archive of interest is larger.
pub const LARGEST_MAIL: Bytes = Bytes(patch::limits::INPUT_BYTES as u64);

pub fn main(command: &PatchCommand) -> anyhow::Result<Exit> {
    match command {
        PatchCommand::Show(arguments) => show(arguments),
        PatchCommand::Audit(arguments) => audit(arguments),
        PatchCommand::Import(arguments) => import(arguments),
    }
}

fn read(path: &Path) -> anyhow::Result<(Vec<u8>, Document)> {
    let bytes = input::read(path, LARGEST_MAIL)
        .with_context(|| format!("cannot read the mail {}", path.display()))?;
    let document = patch::read(&bytes).with_context(|| format!("cannot make sense of {}", path.display()))?;
    Ok((bytes, document))
}

fn show(arguments: &MailArguments) -> anyhow::Result<Exit> {
    let (_, document) = read(&arguments.mail)?;
    if arguments.json {
        sayln!("{}", serde_json::to_string_pretty(&document)?.trim_end());
    } else {
        sayln!("{}", import::show_text(&document).trim_end());
    }
    Ok(Exit::Good)
}

fn audit(arguments: &AuditArguments) -> anyhow::Result<Exit> {
    let (_, document) = read(&arguments.mail.mail)?;
    let report = import::audit_report(&document);
    let text = if arguments.mail.json {
        serde_json::to_string_pretty(&report)?
    } else if arguments.reply {
        import::audit_mail_text(&report)
    } else {
        import::audit_table(&report)
    };
    sayln!("{}", text.trim_end());
    Ok(Exit::Good)
}

fn import(arguments: &ImportArguments) -> anyhow::Result<Exit> {
    let (bytes, document) = read(&arguments.mail)?;
    let tree = arguments.kernel_tree.as_deref().map(|tree| prepare_tree(tree, arguments, &bytes, &document));
    let request = ImportRequest { claim: arguments.claim.clone(), tree: tree.transpose()? };
    let imported = import::import(&document, &request)?;
    for line in &imported.assumed {
        eprintln!("assumed: {}", line);
    }
    for line in &imported.unsupported {
        eprintln!("unsupported: {}", line);
    }
    match &arguments.out {
        Some(path) => {
            write_atomically(path, imported.text.as_bytes())?;
            sayln!("{}", path.display());
            eprintln!(
                "next: run-bench plan {0} --scale auto, then run-bench run {0} --scale auto",
                path.display()
            );
        }
        None => sayln!("{}", imported.text.trim_end()),
    }
    Ok(Exit::Good)
}

/// Puts the diffs beside the experiment, as files for the arms.
fn prepare_tree(
    tree: &Path,
    arguments: &ImportArguments,
    bytes: &[u8],
    document: &Document,
) -> anyhow::Result<TreeRequest> {
    let absolute =
        |path: &Path| std::path::absolute(path).with_context(|| format!("cannot find {}", path.display()));
    if !tree.exists() {
        anyhow::bail!("the kernel tree {} does not exist; give the folder of a checkout", tree.display());
    }
    let beside = arguments.out.as_deref().and_then(Path::parent).filter(|p| !p.as_os_str().is_empty());
    let folder = absolute(&beside.unwrap_or(Path::new(".")).join("patches"))?;
    create_private_folder(&folder)?;
    let mut patches = Vec::new();
    for file in import::patch_files(bytes, document)? {
        let path = folder.join(&file.name);
        write_atomically(&path, file.text.as_bytes())?;
        patches.push((file.number, path));
    }
    Ok(TreeRequest {
        tree: absolute(tree)?.display().to_string(),
        has_revisions: tree.join(".git").exists() || tree.join("objects").is_dir(),
        base: arguments.base.clone(),
        patches,
    })
}
