//! How much of a hostile mail is read. Each limit cuts with a note; none panics.

/// Largest input, in bytes.
pub const INPUT_BYTES: usize = 50 << 20;
/// Messages in one mailbox.
pub const MESSAGES: usize = 5_000;
/// Levels of multipart nesting.
pub const MIME_DEPTH: usize = 12;
/// Parts of one message.
pub const MIME_PARTS: usize = 200;
/// Bytes of one header block.
pub const HEADER_BYTES: usize = 256 << 10;
/// Levels of quotation that are told apart.
pub const QUOTE_DEPTH: u8 = 24;
/// Bytes of a line that recognisers look at; longer ones are data.
pub const LINE_BYTES: usize = 8 << 10;
/// Claims of one input.
pub const CLAIMS: usize = 20_000;
/// Words of one command line.
pub const COMMAND_WORDS: usize = 256;
/// Lines one command line may continue over.
pub const COMMAND_LINES: usize = 40;
