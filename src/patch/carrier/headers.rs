//! Header blocks: unfolding, encoded words, the few fields that are kept.

use super::address;
use super::message::Headers;
use crate::patch::limits;

/// Raw header fields in order.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads fields until a blank line; gives them and where the body starts.
    /// `None` when the text does not open with a header block of a mail.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Fields, usize)> {
        let mut fields = Fields::default();
        let mut at = 0;
        while at < bytes.len().min(limits::HEADER_BYTES) {
            let end = bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |p| at + p);
            let line = trim_carriage_return(&bytes[at..end]);
            at = (end + 1).min(bytes.len());
            if line.is_empty() {
                break;
            }
            let text = String::from_utf8_lossy(line);
            let folded = line[0] == b' ' || line[0] == b'\t';
            match (folded, fields.0.last_mut()) {
                (true, Some((_, value))) => {
                    value.push(' ');
                    value.push_str(text.trim());
                }
                _ => match field(&text) {
                    Some((name, value)) => fields.0.push((name, value)),
                    None => return None,
                },
            }
            if end == bytes.len() {
                break;
            }
        }
        Some((fields, at))
    }

    pub(crate) fn push(&mut self, name: &str, value: &str) {
        self.0.push((name.to_ascii_lowercase(), value.to_owned()));
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Whether these are the headers of a mail rather than of a MIME part.
    pub(crate) fn is_mail(&self) -> bool {
        let known = ["subject", "from", "date", "message-id", "received", "return-path"];
        known.iter().filter(|name| self.get(name).is_some()).count() >= 2
    }

    /// The kept headers.
    pub(crate) fn keep(&self) -> Headers {
        let decoded = |name: &str| self.get(name).map(|value| decode_words(name, value));
        let date = decoded("date").map(|d| address::drop_addresses(d.trim()));
        Headers {
            subject: address::drop_addresses(decoded("subject").unwrap_or_default().trim()),
            author: decoded("from").and_then(|from| address::display_name(&from)),
            date_seconds: date.as_deref().and_then(date_seconds),
            date,
            key: self.get("message-id").and_then(address::message_key),
            answers: self.get("in-reply-to").and_then(address::message_key),
        }
    }
}

pub(crate) fn trim_carriage_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// `Name: value`, with a name that could be a header's.
pub(crate) fn field(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    let plain = !name.is_empty() && name.len() <= 60;
    let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    (plain && letters).then(|| (name.to_ascii_lowercase(), value.trim().to_owned()))
}

/// Decodes RFC 2047 words.
fn decode_words(name: &str, value: &str) -> String {
    if !value.contains("=?") || value.len() > 16 << 10 {
        return value.to_owned();
    }
    let line = format!("{name}: {value}\n");
    match mailparse::parse_header(line.as_bytes()) {
        Ok((header, _)) => header.get_value(),
        Err(_) => value.to_owned(),
    }
}

fn date_seconds(text: &str) -> Option<i64> {
    let plain = text.len() <= 80 && text.is_ascii() && text.bytes().any(|b| b.is_ascii_digit());
    if plain { mailparse::dateparse(text).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfolds_decodes_and_drops_addresses() {
        let mail = b"Received: from x\n\tby y\nFrom: =?utf-8?q?K=C3=A1i?= <kai@example.org>\r\n\
            Subject: [PATCH v2\n 1/3] mm: =?utf-8?b?wrU=?=\nDate: Fri, 12 Jan 2024 02:33:21 +0800\n\
            Message-ID: <20240111183321.19984-4-kai@example.org>\n\nBody";
        let (fields, body) = Fields::read(mail).expect("headers");
        assert!(fields.is_mail());
        assert_eq!(&mail[body..], b"Body");
        let kept = fields.keep();
        assert_eq!(kept.subject, "[PATCH v2 1/3] mm: µ");
        assert_eq!(kept.author.as_deref(), Some("Kái"));
        assert_eq!(kept.date_seconds, Some(1_704_998_001));
        assert_eq!(kept.key.as_deref(), Some("20240111183321.19984-4"));
    }

    #[test]
    fn prose_is_no_header_block() {
        assert!(Fields::read(b"hi, Yu,\nSubject: x\n\n").is_none());
        assert!(!Fields::read(b"Note: this\n\n").expect("a field").0.is_mail());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_read_or_refuse(bytes in proptest::collection::vec(0u8.., 0..300)) {
            if let Some((fields, at)) = Fields::read(&bytes) {
                proptest::prop_assert!(at <= bytes.len());
                fields.keep();
            }
        }

        #[test]
        fn any_date_reads_or_refuses(date in "[A-Za-z0-9 ,:+()-]{0,40}") {
            date_seconds(&date);
        }
    }
}
