//! The diffs of a mail as patch files for the arms. The text of a diff is the
//! kernel's own and is kept byte for byte; everything else is left out.

use crate::patch::{Document, extract_diffs};

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
/// Replies, quotations and diffs that leave the tree are refused.
pub fn patch_files(input: &[u8], document: &Document) -> Result<Vec<PatchFile>, ImportError> {
    let refuse = |reason: &str| ImportError::NoPatch { reason: reason.to_owned() };
    let diffs = extract_diffs(input).map_err(|error| refuse(&error.to_string()))?;
    let newest = document.mails.iter().map(|m| m.subject.version).max().unwrap_or(1);
    let mut found: Vec<PatchFile> = Vec::new();
    for (mail, text) in document.mails.iter().zip(diffs) {
        if mail.subject.version != newest || mail.subject.reply || text.is_empty() {
            continue;
        }
        if mail.diff.files.iter().any(|file| file.outside_tree) {
            return Err(refuse("a path in the diff leaves the kernel tree"));
        }
        if mail.carrier == crate::patch::Carrier::Flattened {
            return Err(refuse("the mail lost its newlines, and with them the diff"));
        }
        let number = mail.subject.part.unwrap_or(1);
        let name = format!("{number:04}-{}.patch", file_word(&mail.subject.title));
        if !found.iter().any(|file| file.number == number) {
            found.push(PatchFile { number, name, text });
        }
    }
    if found.is_empty() {
        return Err(refuse("no mail of it carries a diff of its own"));
    }
    found.sort_by_key(|file| file.number);
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
