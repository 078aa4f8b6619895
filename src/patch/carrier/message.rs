//! One message after its carrier was removed.

use serde::{Deserialize, Serialize};

/// How a message came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Carrier {
    /// A single message with its headers.
    Raw,
    /// One entry of a mailbox.
    Mbox,
    /// A file that `git format-patch` wrote.
    FormatPatch,
    /// Every newline of the mail became a space.
    Flattened,
    /// The text of an archive's web page.
    ArchivePage,
    /// Text without recognisable headers.
    PlainText,
}

/// The headers that are kept. Addresses are not among them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Headers {
    pub subject: String,
    /// The display name of the author.
    pub author: Option<String>,
    /// The date as written.
    pub date: Option<String>,
    /// Seconds since 1970, when the date could be read.
    pub date_seconds: Option<i64>,
    /// The part of the message id that names no person.
    pub key: Option<String>,
    /// The same of the message it answers.
    pub answers: Option<String>,
}

/// A part that is not the text of the mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub name: String,
    pub media_type: String,
    pub bytes: usize,
}

/// One mail: headers, decoded text and what decoding had to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub carrier: Carrier,
    pub headers: Headers,
    /// The decoded text with addresses dropped; spans of claims point into it.
    pub body: String,
    pub attachments: Vec<Attachment>,
    /// What was repaired, cut or not read.
    pub notes: Vec<String>,
    /// The tree's notice that a patch was added; its text is the original mail's.
    pub notice: bool,
}
