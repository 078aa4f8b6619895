//! Trailers of a commit message: `Fixes:`, `Link:`, `Reported-by:` and the like.

use serde::{Deserialize, Serialize};

use super::lines::Line;

/// One trailer. Addresses were dropped on reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    pub name: String,
    pub value: String,
}

/// The commit that `git format-patch --base` names, and patches that lie between.
pub(crate) const BASE_COMMIT: &str = "base-commit";
pub(crate) const PREREQUISITE: &str = "prerequisite-patch-id";

const NAMES: &[&str] = &["Fixes", "Link", "Closes", "Cc", "BugLink", "Suggested-by", "Debugged-by"];

/// The trailer on a line, if it is one.
pub(crate) fn read(line: &Line<'_>) -> Option<Tag> {
    let (name, value) = line.text.split_once(": ")?;
    if matches!(name, BASE_COMMIT | PREREQUISITE) {
        let id = value.trim();
        let hash = (12..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_hexdigit());
        return hash.then(|| Tag { name: name.to_owned(), value: id.to_owned() });
    }
    let by = name.ends_with("-by") && name.len() < 40 && !name.contains(' ');
    let known = by || NAMES.contains(&name);
    let capital = name.starts_with(|c: char| c.is_ascii_uppercase());
    (known && capital).then(|| Tag { name: name.to_owned(), value: value.trim().chars().take(400).collect() })
}
