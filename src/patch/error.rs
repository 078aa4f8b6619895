//! Why a text could not be read as mail.

use thiserror::Error;

/// A mail that cannot be read at all. Damage inside a mail is a note, not an error.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatchError {
    #[error("the input is empty, so there is nothing to read; save the mail as text and pass that file")]
    Empty,
    #[error(
        "the input has {size} bytes, more than the {limit} that are read; cut the mailbox to one thread, for example with `b4 mbox`"
    )]
    TooLarge { size: usize, limit: usize },
    #[error(
        "the input is {kind} data, which holds no readable mail; decompress it first, for example with `{remedy}`"
    )]
    Compressed { kind: &'static str, remedy: &'static str },
    #[error(
        "{share}% of the input are NUL bytes, so this is no mail text; check that the file was saved as text"
    )]
    Binary { share: usize },
    #[error("the mailbox holds more than {limit} messages; cut it to one thread, for example with `b4 mbox`")]
    TooManyMessages { limit: usize },
}
