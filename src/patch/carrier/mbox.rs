//! Mailboxes: where one message ends and the next begins.

/// A message inside a mailbox: its bytes after the `From ` line, and whether
/// that line is the one `git format-patch` writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub bytes: &'a [u8],
    pub format_patch: bool,
}

/// Splits at `From ` lines. An input that does not open with one is no mailbox.
pub(crate) fn split(input: &[u8], most: usize) -> Option<Vec<Entry<'_>>> {
    postmark(input)?;
    let mut entries = Vec::new();
    let mut at = 0;
    let mut open: Option<(usize, bool)> = None;
    while at < input.len() {
        let end = input[at..].iter().position(|b| *b == b'\n').map_or(input.len(), |p| at + p + 1);
        if let Some((length, format_patch)) = postmark(&input[at..end]) {
            if let Some((start, kind)) = open {
                entries.push(Entry { bytes: &input[start..at], format_patch: kind });
            }
            if entries.len() > most {
                return Some(entries);
            }
            open = Some((at + length, format_patch));
        }
        at = end;
    }
    if let Some((start, kind)) = open {
        entries.push(Entry { bytes: &input[start..], format_patch: kind });
    }
    Some(entries)
}

/// The length of a `From sender weekday month day time year` head and whether
/// it is git's fixed date. A flattened mail goes on behind it on the same line.
fn postmark(line: &[u8]) -> Option<(usize, bool)> {
    let head = line.strip_prefix(b"From ")?;
    let ascii = head.iter().take(200).take_while(|b| b.is_ascii() && **b != b'\n').count();
    let text = std::str::from_utf8(&head[..ascii]).unwrap_or("");
    let mut words = text.split(' ').filter(|w| !w.is_empty());
    let _sender = words.next()?;
    let weekday = words.next()?;
    let month = words.next()?;
    let day = words.next()?;
    let time = words.next()?;
    let year = words.next()?.trim_end_matches('\r');
    let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let digits = |w: &str| w.bytes().all(|b| b.is_ascii_digit());
    let shaped = days.contains(&weekday) && month.len() == 3 && digits(day) && time.contains(':');
    if !shaped || year.len() != 4 || !digits(year) {
        return None;
    }
    let length = 5 + (year.as_ptr().addr() - text.as_ptr().addr()) + 4;
    let rest = line.get(length..).unwrap_or_default();
    let blank = rest.iter().take_while(|b| matches!(b, b' ' | b'\r' | b'\n')).take(3).count();
    let format_patch = (day, time, year) == ("17", "00:00:00", "2001");
    Some((length + blank, format_patch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_entries_and_knows_format_patch() {
        let mailbox = b"From 0123abcd Mon Sep 17 00:00:00 2001\nFrom: a\n\nFrom here on text\n\n\
            From git@z Thu Jan  1 00:00:00 1970\nSubject: b\n\nx";
        let entries = split(mailbox, 100).expect("a mailbox");
        assert_eq!(entries.len(), 2);
        assert!(entries[0].format_patch && !entries[1].format_patch);
        assert_eq!(entries[0].bytes, b"From: a\n\nFrom here on text\n\n");
        assert_eq!(entries[1].bytes, b"Subject: b\n\nx");
        assert!(split(b"From here on text", 1).is_none());
    }

    #[test]
    fn a_flattened_entry_keeps_its_line() {
        let line = b"From nobody Thu Dec 25 21:46:24 2025 Received: from x Subject: y";
        let entries = split(line, 1).expect("a mailbox");
        assert!(entries[0].bytes.starts_with(b"Received: from x"));
    }
}
