//! Decides what the input is and reads every message in it.

use super::headers::Fields;
use super::mbox::{self, Entry};
use super::message::{Carrier, Headers, Message};
use super::{address, decode, flattened, mime, page};
use crate::patch::error::PatchError;
use crate::patch::limits;

/// Heads of compressed data, with the command that opens it.
const COMPRESSED: [(&[u8], &str, &str); 5] = [
    (&[0x1f, 0x8b], "gzip", "gunzip"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd", "unzstd"),
    (&[0xfd, b'7', b'z', b'X', b'Z'], "xz", "unxz"),
    (b"BZh", "bzip2", "bunzip2"),
    (b"PK\x03\x04", "zip", "unzip"),
];

/// Reads every message of an input; at least one when there is no error.
pub fn read_messages(input: &[u8]) -> Result<Vec<Message>, PatchError> {
    let mut messages = read_verbatim(input)?;
    for message in &mut messages {
        message.body = address::drop_addresses(&message.body);
        let mut changed = make_plain(&mut message.body, &['\n', '\t']);
        changed |= make_plain(&mut message.headers.subject, &[]);
        for text in [&mut message.headers.author, &mut message.headers.date].into_iter().flatten() {
            changed |= make_plain(text, &[]);
        }
        for attachment in &mut message.attachments {
            attachment.name = address::drop_addresses(&attachment.name);
            changed |= make_plain(&mut attachment.name, &[]) | make_plain(&mut attachment.media_type, &[]);
        }
        if changed {
            message.notes.push("control characters were replaced by spaces".to_owned());
        }
    }
    Ok(messages)
}

/// Replaces what a terminal would obey: control characters and marks that turn
/// the direction of writing. True when there were any.
fn make_plain(text: &mut String, kept: &[char]) -> bool {
    let obeyed = |c: char| {
        let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
        (c.is_control() && !kept.contains(&c)) || turns
    };
    let found = text.contains(obeyed);
    if found {
        *text = text.replace(obeyed, " ");
    }
    found
}

/// As [`read_messages`], with the body as it was sent: for diffs, which must apply.
pub(crate) fn read_verbatim(input: &[u8]) -> Result<Vec<Message>, PatchError> {
    refuse(input)?;
    let nul = input.contains(&0);
    let cleaned: Vec<u8>;
    let input = if nul {
        cleaned = input.iter().map(|b| if *b == 0 { b' ' } else { *b }).collect();
        &cleaned
    } else {
        input
    };
    let input = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
    let blank = input.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let input = &input[blank..];
    let mut messages = match mbox::split(input, limits::MESSAGES) {
        Some(entries) if entries.len() > limits::MESSAGES => {
            return Err(PatchError::TooManyMessages { limit: limits::MESSAGES });
        }
        Some(entries) => entries.iter().map(from_mailbox).collect(),
        None => vec![single(input)],
    };
    if nul {
        for message in &mut messages {
            message.notes.push("NUL bytes were replaced by spaces".to_owned());
        }
    }
    Ok(messages)
}

fn refuse(input: &[u8]) -> Result<(), PatchError> {
    if input.len() > limits::INPUT_BYTES {
        return Err(PatchError::TooLarge { size: input.len(), limit: limits::INPUT_BYTES });
    }
    if input.iter().all(u8::is_ascii_whitespace) {
        return Err(PatchError::Empty);
    }
    if let Some((_, kind, remedy)) = COMPRESSED.iter().find(|(head, _, _)| input.starts_with(head)) {
        return Err(PatchError::Compressed { kind, remedy });
    }
    let share = input.iter().filter(|b| **b == 0).count() * 100 / input.len();
    if share > 30 { Err(PatchError::Binary { share }) } else { Ok(()) }
}

fn from_mailbox(entry: &Entry<'_>) -> Message {
    let mut message = single(entry.bytes);
    if message.carrier != Carrier::Flattened {
        message.carrier = if entry.format_patch { Carrier::FormatPatch } else { Carrier::Mbox };
    }
    message
}

fn single(input: &[u8]) -> Message {
    if flattened::is_flattened(input) {
        let (fields, body) = flattened::read(input);
        return finish(Carrier::Flattened, fields.keep(), &body, Vec::new());
    }
    match Fields::read(input) {
        Some((fields, at)) if fields.is_mail() => raw(&fields, &input[at..]),
        _ => from_page(input),
    }
}

fn raw(fields: &Fields, body: &[u8]) -> Message {
    let content = mime::read(fields, body);
    let mut message = finish(Carrier::Raw, fields.keep(), &content.text, content.notes);
    message.attachments = content.attachments;
    let inner = page::read(&message.body);
    if inner.notice {
        message.notice = true;
        message.headers.subject = inner.headers.subject;
        message.headers.author = inner.headers.author.or(message.headers.author.take());
        message.body = message.body[inner.body..].to_owned();
    } else {
        in_body_author(&mut message);
    }
    message
}

/// `From: Name` as the first line of the text names the author of a forwarded patch.
fn in_body_author(message: &mut Message) {
    let first = message.body.trim_start().lines().next().unwrap_or("");
    let named = first.strip_prefix("From: ").map(address::drop_addresses);
    if let Some(author) = named.as_deref().and_then(address::display_name) {
        message.headers.author = Some(author);
    }
}

fn from_page(input: &[u8]) -> Message {
    let mut notes = Vec::new();
    let bytes = if mime::looks_quoted_printable(input) {
        notes.push("undeclared quoted-printable text was decoded".to_owned());
        decode::quoted_printable(input, false)
    } else {
        input.to_vec()
    };
    let mut text = decode::lossy(bytes);
    let head = text[..text.floor_char_boundary(2000)].to_ascii_lowercase();
    if head.trim_start().starts_with('<') && head.contains("<html") {
        text = decode::strip_markup(&text);
        notes.push("the markup of a web page was removed".to_owned());
    }
    let page = page::read(&text);
    let carrier = if page.shows_headers || !page.headers.subject.is_empty() {
        Carrier::ArchivePage
    } else {
        Carrier::PlainText
    };
    let mut message = finish(carrier, page.headers, &text[page.body..], notes);
    message.notice = page.notice;
    message
}

fn finish(carrier: Carrier, headers: Headers, body: &str, mut notes: Vec<String>) -> Message {
    let body = body.replace('\r', "");
    if body.contains('\u{fffd}') {
        notes.push("bytes that are not text were replaced".to_owned());
    }
    Message { carrier, headers, body, attachments: Vec::new(), notes, notice: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_no_mail() {
        assert_eq!(read_messages(b" \n"), Err(PatchError::Empty));
        let gzip = read_messages(&[0x1f, 0x8b, 8, 0]).expect_err("compressed");
        assert!(gzip.to_string().contains("gunzip"), "{gzip}");
        assert!(matches!(read_messages(&[0; 64]), Err(PatchError::Binary { .. })));
        let large = vec![b'a'; limits::INPUT_BYTES + 1];
        assert!(matches!(read_messages(&large), Err(PatchError::TooLarge { .. })));
    }

    #[test]
    fn nothing_reaches_a_terminal_as_a_command() {
        let mail = b"From: \x1b[2JAda <a@b.c>\nSubject: =?utf-8?q?=1B=5D0=3Bx=07=0A?= [PATCH] \xe2\x80\xaex\n\nBefore: \x1b[31m1 s\x9b\x7f\n\tAfter: 2 s\x08\n";
        let message = &read_messages(mail).expect("a mail")[0];
        let all = format!(
            "{}{}{:?}",
            message.body.replace(['\n', '\t'], ""),
            message.headers.subject,
            message.headers
        );
        assert!(!all.contains(|c: char| c.is_control() || c == '\u{202e}'), "{all:?}");
        assert!(message.notes.iter().any(|n| n.contains("control")), "{:?}", message.notes);
        assert_eq!(message.headers.author.as_deref(), Some(" [2JAda"));
    }

    #[test]
    fn reads_raw_mail_mailbox_and_bare_text() {
        let raw = b"From: Ada <a@b.c>\nSubject: [PATCH] x\n\nBefore: 1 for <a@b.c>\n";
        let one = &read_messages(raw).expect("a mail")[0];
        assert_eq!((one.carrier, one.headers.subject.as_str()), (Carrier::Raw, "[PATCH] x"));
        assert_eq!(one.body, "Before: 1 for (address)\n");
        let mut mailbox = b"From git@z Thu Jan  1 00:00:00 1970\n".to_vec();
        mailbox.extend_from_slice(raw);
        assert_eq!(read_messages(&mailbox).expect("a mailbox")[0].carrier, Carrier::Mbox);
        let bare = &read_messages(b"just\0 text").expect("text")[0];
        assert_eq!((bare.carrier, bare.notes.len()), (Carrier::PlainText, 1));
    }
}
