//! The diffs of a mail as patch files for the arms. The text of a diff is the
//! kernel's own and is kept byte for byte; everything else is left out.

use crate::patch::{Carrier, Document, extract_diffs};

use super::error::ImportError;

/// One patch file to write beside the experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchFile {
    /// Its place in the series, from 1.
    pub number: u32,
    /// Letters, digits, `-` and `.`, with the number in front.
    pub name: String,
    pub text: String,
}

/// The patches of the newest version in an input, in the order of the series.
/// Quotations and diffs that leave the tree are refused.
pub fn patch_files(input: &[u8], document: &Document) -> Result<Vec<PatchFile>, ImportError> {
    let refuse = |reason: &str| ImportError::NoPatch { reason: reason.to_owned() };
    let diffs = extract_diffs(input).map_err(|error| refuse(&error.to_string()))?;
    let own = |replies: bool| own_files(document, &diffs, replies).map_err(refuse);
    // A fix that a reply carries counts when no patch mail is at hand.
    let mut found = own(false)?;
    if found.is_empty() {
        found = own(true)?;
    }
    if found.is_empty() {
        return Err(refuse("no mail of it carries a diff of its own"));
    }
    found.sort_by_key(|file| file.number);
    Ok(found)
}

/// The diffs of the newest version, of replies or of other mails.
fn own_files(document: &Document, diffs: &[String], replies: bool) -> Result<Vec<PatchFile>, &'static str> {
    let newest = document.mails.iter().map(|m| m.subject.version).max().unwrap_or(1);
    let mut found: Vec<PatchFile> = Vec::new();
    for (mail, text) in document.mails.iter().zip(diffs) {
        if mail.subject.version != newest || mail.subject.reply != replies || text.is_empty() {
            continue;
        }
        if mail.diff.files.iter().any(|file| file.outside_tree) {
            return Err("a path in the diff leaves the kernel tree");
        }
        if mail.carrier == Carrier::Flattened {
            return Err("the mail lost its newlines, and with them the diff");
        }
        let number = mail.subject.part.unwrap_or(1);
        let name = format!("{number:04}-{}.patch", file_word(&mail.subject.title));
        if !found.iter().any(|file| file.number == number) {
            found.push(PatchFile { number, name, text: text.clone() });
        }
    }
    Ok(found)
}

/// A title as one word of a file name.
fn file_word(title: &str) -> String {
    let mut word = String::new();
    for c in title.chars() {
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        } else if !word.ends_with('-') && !word.is_empty() {
            word.push('-');
        }
        if word.len() >= 52 {
            break;
        }
    }
    let word = word.trim_matches('-');
    if word.is_empty() { "patch".to_owned() } else { word.to_owned() }
}
