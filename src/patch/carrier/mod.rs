//! Carriers: how a mail reaches us, and the decoded text without addresses.
//!
//! A mailbox, a single raw message, a `git format-patch` file, what b4 or lore
//! hand out, the text of an archive page, a mail whose newlines became spaces,
//! and a tree's notice all become a [`Message`]. Nothing here knows numbers.

mod address;
mod decode;
mod flattened;
mod headers;
mod mbox;
mod message;
mod mime;
mod page;
mod reader;

pub use message::{Attachment, Carrier, Headers, Message};
pub use reader::read_messages;
pub(crate) use reader::read_verbatim;
