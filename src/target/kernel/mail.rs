//! Patch files as people have them: plain diffs, mails, mailboxes with a series.

use mailparse::MailHeaderMap;

/// The text of a patch file with transfer encodings undone, messages of a
/// mailbox in their order.
pub fn patch_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let encoded = |encoding: &str| {
        let mark = format!("content-transfer-encoding: {encoding}");
        text.to_ascii_lowercase().contains(&mark)
    };
    if !encoded("quoted-printable") && !encoded("base64") {
        return text.replace("\r\n", "\n");
    }
    messages(bytes).map(body).collect::<Vec<_>>().join("\n").replace("\r\n", "\n")
}

/// Cuts a mailbox at its `From ` lines; a file without one is a message.
fn messages(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        if line.starts_with(b"From ") {
            starts.push((at, at + line.len()));
        }
        at += line.len();
    }
    if starts.is_empty() {
        starts.push((0, 0));
    }
    let ends: Vec<usize> = starts.iter().skip(1).map(|(start, _)| *start).chain([bytes.len()]).collect();
    starts.into_iter().zip(ends).map(|((_, from), to)| &bytes[from..to])
}

fn body(message: &[u8]) -> String {
    let plain = || String::from_utf8_lossy(message).into_owned();
    let Ok(mail) = mailparse::parse_mail(message) else { return plain() };
    if mail.get_headers().get_first_value("From").is_none() {
        return plain();
    }
    let mut text = String::new();
    for part in mail.parts() {
        if part.ctype.mimetype.starts_with("text/") {
            text.push_str(&part.get_body().unwrap_or_default());
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a = 1\n+a = 2\n";

    #[test]
    fn plain_diffs_pass_unchanged() {
        assert_eq!(patch_text(DIFF.as_bytes()), DIFF);
        assert_eq!(patch_text(DIFF.replace('\n', "\r\n").as_bytes()), DIFF);
    }

    #[test]
    fn quoted_printable_mails_of_a_mailbox_are_decoded() {
        let quoted = DIFF.replace('=', "=3D");
        let mail = format!(
            "From 0123 Mon Sep 17 00:00:00 2001\nFrom: A <a@invented.example>\nSubject: x\n\
             Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n{quoted}\n"
        );
        let text = patch_text(format!("{mail}{mail}").as_bytes());
        assert_eq!(text.matches("+a = 2").count(), 2, "{text}");
        assert!(!text.contains("=3D"));
    }
}
