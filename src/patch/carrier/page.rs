//! Text of an archive's web page and text saved without its headers: the
//! header lines that the page shows, the tree's notice, or the title line.

use super::address;
use super::headers::{self, Fields};
use super::message::Headers;

/// Header names that archive pages print.
const SHOWN: &[&str] =
    &["subject", "from", "date", "to", "cc", "message-id", "in-reply-to", "references", "lists"];

/// What was found above the text of the mail.
#[derive(Debug)]
pub(crate) struct Page {
    pub headers: Headers,
    /// Where the text begins.
    pub body: usize,
    pub shows_headers: bool,
    pub notice: bool,
}

/// Looks for headers in the first lines of a text.
pub(crate) fn read(text: &str) -> Page {
    if let Some(page) = notice(text) {
        return page;
    }
    let lines = head_lines(text, 0, 120);
    if let Some((fields, body)) = header_lines(&lines) {
        return Page { headers: fields.keep(), body, shows_headers: true, notice: false };
    }
    let subject = title(&lines).unwrap_or_default();
    let author = lines.iter().take(12).find_map(|(_, line)| {
        let bracketed = line.trim().strip_prefix('[').and_then(|l| l.strip_suffix(']'));
        let named = line.strip_prefix("From: ").or(bracketed.filter(|b| !b.contains(['<', '>', '='])))?;
        address::display_name(&address::drop_addresses(named))
    });
    let subject = address::drop_addresses(&subject);
    let headers = Headers { subject, author, ..Headers::default() };
    Page { headers, body: 0, shows_headers: false, notice: false }
}

/// The first lines from an offset, each with its own.
fn head_lines(text: &str, from: usize, most: usize) -> Vec<(usize, &str)> {
    let mut at = from;
    let mut lines = Vec::new();
    for line in text[from..].split('\n').take(most) {
        lines.push((at, line.strip_suffix('\r').unwrap_or(line)));
        at += line.len() + 1;
    }
    lines
}

/// A run of header lines with at least a subject or two others.
fn header_lines(lines: &[(usize, &str)]) -> Option<(Fields, usize)> {
    let shown = |line: &str| headers::field(line).filter(|(name, _)| SHOWN.contains(&name.as_str()));
    let first = lines.iter().position(|(_, line)| shown(line).is_some())?;
    let mut fields = Fields::default();
    let mut count = 0;
    for (at, line) in &lines[first..] {
        if let Some((name, value)) = shown(line) {
            fields.push(&name, &value);
            count += 1;
        } else if line.trim().is_empty() {
            let enough = count >= 2 && (fields.get("subject").is_some() || fields.get("date").is_some());
            return enough.then_some((fields, at + line.len()));
        } else if !line.starts_with([' ', '\t']) {
            return None;
        }
    }
    None
}

/// A title line: `[PATCH 3/3] mm: …`, `Re: …`, or the line a page opens with.
fn title(lines: &[(usize, &str)]) -> Option<String> {
    let patch = |line: &str| {
        let lower = line.to_ascii_lowercase();
        let tagged =
            ["[patch", "[rfc", "[git pull", "[linus:", "[linux-next"].iter().any(|t| lower.contains(t));
        line.len() < 300 && !line.starts_with('>') && (tagged || lower.starts_with("re: "))
    };
    let found = lines.iter().take(6).map(|(_, line)| line.trim()).find(|line| patch(line))?;
    Some(found.strip_prefix("Subject:").unwrap_or(found).trim().to_owned())
}

/// The notice of the -mm tree: the original mail follows a dashed rule.
fn notice(text: &str) -> Option<Page> {
    let head = head_lines(text, 0, 200);
    let added = head.iter().take(150).position(|(_, line)| {
        let line = line.trim();
        (line.starts_with("+ ") || line.starts_with("Subject: + ") || line == "The patch titled")
            && (line.contains(" added to ") || line == "The patch titled")
    })?;
    let rule = head[added..].iter().position(|(_, line)| {
        let line = line.trim();
        line.len() >= 20 && line.bytes().all(|b| b == b'-')
    })?;
    let (at, line) = head[added + rule];
    let start = (at + line.len() + 1).min(text.len());
    let inner = head_lines(text, start, 40);
    let (fields, body) = header_lines(&inner).unwrap_or((Fields::default(), start));
    let mut headers = fields.keep();
    if headers.subject.is_empty() {
        let line = address::drop_addresses(head[added].1);
        headers.subject = line.trim().trim_start_matches("Subject:").trim().to_owned();
    }
    Some(Page { headers, body, shows_headers: true, notice: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_headers_a_page_shows() {
        let text = "list - Re: [PATCH 1/3] mm: foo\n\nexample.net nav / links\n[<prev] [next>]\n\n\
            Message-ID: <x@y>\nDate: Wed, 27 Dec 2023 18:22:46 +0800\nFrom: Ada <ada@...mple>\nCc: a, \n\tb\n\
            Subject: Re: [PATCH 1/3] mm: foo\n\nHello";
        let page = read(text);
        assert_eq!(page.headers.subject, "Re: [PATCH 1/3] mm: foo");
        assert_eq!(page.headers.author.as_deref(), Some("Ada"));
        assert_eq!(text[page.body..].trim(), "Hello");
        assert!(page.shows_headers && !page.notice);
    }

    #[test]
    fn a_title_is_enough() {
        let page = read("[PATCH 3/3] mm: foo\n\n[Ada Example]\n\nFrom: Ada <a@xx>\n\nText");
        assert_eq!(page.headers.subject, "[PATCH 3/3] mm: foo");
        assert_eq!(page.headers.author.as_deref(), Some("Ada Example"));
        assert_eq!(page.body, 0);
    }

    #[test]
    fn a_notice_gives_the_original() {
        let text = "+ mm-foo.patch added to mm-unstable branch\n\nThe patch titled\n     Subject: mm: foo\n\n\
            ------------------------------------------------------\nFrom: Ada <a@xx>\nSubject: mm: foo\n\
            Date: Mon, 16 Oct 2023 13:30:02 +0800\n\nText";
        let page = read(text);
        assert!(page.notice);
        assert_eq!(page.headers.subject, "mm: foo");
        assert_eq!(text[page.body..].trim(), "Text");
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_an_offset_inside(text in "\\PC{0,80}(\n[A-Za-z]{0,8}:? ?\\PC{0,20}){0,20}") {
            let page = read(&text);
            proptest::prop_assert!(text.get(page.body..).is_some());
        }
    }
}
