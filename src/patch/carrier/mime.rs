//! The parts of a message: multipart trees within limits, each leaf decoded.

use super::decode;
use super::headers::Fields;
use super::message::Attachment;
use crate::patch::limits;

/// The text of a message and what else it carried.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub text: String,
    pub attachments: Vec<Attachment>,
    pub notes: Vec<String>,
    parts: usize,
}

/// Reads the body of a message with these headers.
pub(crate) fn read(fields: &Fields, body: &[u8]) -> Content {
    let mut content = Content::default();
    content.part(fields, body, 0);
    content
}

impl Content {
    fn part(&mut self, fields: &Fields, body: &[u8], depth: usize) {
        self.parts += 1;
        if self.parts > limits::MIME_PARTS {
            self.note(format!("more than {} MIME parts; the rest is not read", limits::MIME_PARTS));
            return;
        }
        let declared = fields.get("content-type").unwrap_or("text/plain");
        let kind = mailparse::parse_content_type(&declared.chars().take(2000).collect::<String>());
        let media = kind.mimetype.to_ascii_lowercase();
        if let (true, Some(boundary)) = (media.starts_with("multipart/"), kind.params.get("boundary")) {
            if depth >= limits::MIME_DEPTH {
                self.note(format!("MIME parts nested deeper than {}; the inner ones are not read", depth));
                return;
            }
            self.multipart(boundary, body, depth, media == "multipart/alternative");
            return;
        }
        let encoding = fields.get("content-transfer-encoding").unwrap_or("").trim().to_ascii_lowercase();
        let bytes = match encoding.as_str() {
            "quoted-printable" => decode::quoted_printable(body, false),
            "base64" => decode::base64(body),
            _ if encoding.is_empty() && looks_quoted_printable(body) => {
                self.note("undeclared quoted-printable text was decoded".to_owned());
                decode::quoted_printable(body, false)
            }
            _ => body.to_vec(),
        };
        let disposition = fields.get("content-disposition").unwrap_or("");
        let disposition =
            mailparse::parse_content_disposition(&disposition.chars().take(2000).collect::<String>());
        let name = disposition.params.get("filename").or_else(|| kind.params.get("name"));
        let attached = matches!(disposition.disposition, mailparse::DispositionType::Attachment);
        self.leaf(&media, name.map(String::as_str), attached, bytes, &kind);
    }

    fn multipart(&mut self, boundary: &str, body: &[u8], depth: usize, alternative: bool) {
        let before = self.text.len();
        for part in split(boundary, body) {
            let (fields, start) = Fields::read(part).unwrap_or_default();
            let html = fields.get("content-type").is_some_and(|t| t.to_lowercase().starts_with("text/html"));
            if alternative && html && self.text.len() > before {
                continue;
            }
            self.part(&fields, &part[start..], depth + 1);
        }
    }

    fn leaf(
        &mut self,
        media: &str,
        name: Option<&str>,
        attached: bool,
        bytes: Vec<u8>,
        kind: &mailparse::ParsedContentType,
    ) {
        let name = name.unwrap_or("").chars().filter(|c| !c.is_control()).take(200).collect::<String>();
        let patch = [".patch", ".diff"].iter().any(|end| name.ends_with(end))
            || matches!(media, "text/x-patch" | "text/x-diff");
        let inline = patch || (media.starts_with("text/") && !attached);
        if !inline {
            self.attachments.push(Attachment { name, media_type: media.to_owned(), bytes: bytes.len() });
            return;
        }
        let mut text = decode::charset(bytes, &kind.charset);
        if media == "text/html" {
            text = decode::strip_markup(&text);
        }
        let flowed = kind.params.get("format").is_some_and(|f| f.eq_ignore_ascii_case("flowed"));
        if flowed && !patch {
            let delete = kind.params.get("delsp").is_some_and(|d| d.eq_ignore_ascii_case("yes"));
            text = decode::unflow(&text, delete);
        }
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(&text);
        if !name.is_empty() {
            self.attachments.push(Attachment { name, media_type: media.to_owned(), bytes: text.len() });
        }
    }

    fn note(&mut self, text: String) {
        if !self.notes.contains(&text) && self.notes.len() < 20 {
            self.notes.push(text);
        }
    }
}

/// Whether a text without a declared encoding still holds quoted-printable:
/// `=3D` is how every literal `=` is written there.
pub(crate) fn looks_quoted_printable(body: &[u8]) -> bool {
    let coded = body.windows(3).filter(|w| *w == b"=3D").take(2).count();
    coded >= 1 && body.windows(2).any(|w| w == b"=\n" || w == b"= ") || coded >= 2
}

/// The parts between the lines `--boundary`.
fn split<'a>(boundary: &str, body: &'a [u8]) -> Vec<&'a [u8]> {
    let mark = format!("--{boundary}").into_bytes();
    let mut parts = Vec::new();
    let mut start: Option<usize> = None;
    let mut at = 0;
    while at < body.len() {
        let end = body[at..].iter().position(|b| *b == b'\n').map_or(body.len(), |p| at + p + 1);
        if body[at..end].starts_with(&mark) {
            if let Some(start) = start {
                parts.push(&body[start..at]);
            }
            let closing = body[at + mark.len()..end].starts_with(b"--");
            start = if closing { None } else { Some(end) };
            if closing || parts.len() > limits::MIME_PARTS {
                break;
            }
        }
        at = end;
    }
    if let Some(start) = start {
        parts.push(&body[start..]);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(mail: &str) -> Content {
        let (fields, at) = Fields::read(mail.as_bytes()).expect("headers");
        read(&fields, &mail.as_bytes()[at..])
    }

    #[test]
    fn reads_text_patch_and_lists_the_rest() {
        let mail = "Subject: x\nContent-Type: multipart/mixed; boundary=\"b\"\n\npreamble\n--b\n\
            Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nQmVmb3JlOiAxCg==\n--b\n\
            Content-Type: text/x-patch; name=a.patch\nContent-Disposition: attachment; filename=a.patch\n\n\
            --- a/x\n+++ b/x\n--b\nContent-Type: application/gzip; name=job.gz\n\
            Content-Disposition: attachment\nContent-Transfer-Encoding: base64\n\nAAAA\n--b--\nepilogue";
        let content = content(mail);
        assert_eq!(content.text, "Before: 1\n--- a/x\n+++ b/x\n");
        let names: Vec<&str> = content.attachments.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["a.patch", "job.gz"]);
    }

    #[test]
    fn alternative_prefers_plain_and_flowed_joins() {
        let mail = "Subject: x\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\
            Content-Type: text/plain; format=flowed\n\nAfter: \n44 Ops\n--b\nContent-Type: text/html\n\n<p>no</p>\n--b--\n";
        assert_eq!(content(mail).text, "After: 44 Ops\n");
    }

    #[test]
    fn deep_nesting_stops_with_a_note() {
        let mut mail = String::from("Subject: x\n");
        for level in 0..200 {
            mail.push_str(&format!("Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n"));
        }
        let content = content(&mail);
        assert!(content.notes.iter().any(|n| n.contains("nested deeper")), "{:?}", content.notes);
    }
}
