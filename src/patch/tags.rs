//! Trailers of a commit message: `Fixes:`, `Link:`, `Reported-by:` and the like.

use serde::{Deserialize, Serialize};

use super::lines::Line;

/// One trailer. Addresses were dropped on reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    pub name: String,
    pub value: String,
}

const NAMES: &[&str] = &["Fixes", "Link", "Closes", "Cc", "BugLink", "Suggested-by", "Debugged-by"];

/// The trailer on a line, if it is one.
pub(crate) fn read(line: &Line<'_>) -> Option<Tag> {
    let (name, value) = line.text.split_once(": ")?;
    let by = name.ends_with("-by") && name.len() < 40 && !name.contains(' ');
    let known = by || NAMES.contains(&name);
    let capital = name.starts_with(|c: char| c.is_ascii_uppercase());
    (known && capital).then(|| Tag { name: name.to_owned(), value: value.trim().chars().take(400).collect() })
}
