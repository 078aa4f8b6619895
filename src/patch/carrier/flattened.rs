//! Mails whose newlines all became spaces: headers and body on one line,
//! quoted-printable not decoded. Lines are put back where the text itself shows
//! that one began; each newline replaces one space, so offsets stay.

use super::decode;
use super::headers::Fields;
use super::mime::looks_quoted_printable;

/// Header names that a flattened mail may open with, in lower case.
const NAMES: &[&str] = &[
    "received",
    "from",
    "to",
    "cc",
    "bcc",
    "subject",
    "date",
    "message-id",
    "in-reply-to",
    "references",
    "reply-to",
    "sender",
    "precedence",
    "mime-version",
    "content-type",
    "content-transfer-encoding",
    "content-disposition",
    "content-language",
    "return-path",
    "delivered-to",
    "user-agent",
    "mailing-list",
    "authentication-results",
    "dkim-signature",
    "received-spf",
    "errors-to",
    "importance",
    "organization",
];

/// Whether a text is one mail on one line.
pub(crate) fn is_flattened(text: &[u8]) -> bool {
    let head = &text[..text.len().min(64 << 10)];
    let newlines = head.iter().filter(|b| **b == b'\n').count();
    if head.len() < 200 || newlines > head.len() / 2000 + 2 {
        return false;
    }
    let head = String::from_utf8_lossy(head);
    let known = ["From:", "Subject:", "Date:", "Message-ID:", "Message-Id:", "To:", "MIME-Version:"];
    let marks = known.iter().filter(|name| head.starts_with(**name) || head.contains(&format!(" {name} ")));
    marks.count() >= 3
}

/// Splits a flattened mail into its header fields and its body with lines.
pub(crate) fn read(text: &[u8]) -> (Fields, String) {
    let text = String::from_utf8_lossy(text).replace('\n', " ");
    let (fields, start) = header_fields(&text);
    let body = &text[start..];
    let encoded = fields.get("content-transfer-encoding").is_some_and(|e| e.contains("quoted-printable"));
    let decoded = if encoded || looks_quoted_printable(body.as_bytes()) {
        decode::lossy(decode::quoted_printable(body.as_bytes(), true))
    } else {
        body.to_owned()
    };
    (fields, break_lines(&decoded))
}

/// Words with their byte offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let base = text.as_ptr().addr();
    text.split(' ').filter(|w| !w.is_empty()).map(move |w| (w.as_ptr().addr() - base, w))
}

fn header_name(word: &str) -> Option<String> {
    let name = word.strip_suffix(':')?.to_ascii_lowercase();
    let other = ["x-", "arc-", "list-"].iter().any(|start| name.starts_with(start));
    (NAMES.contains(&name.as_str()) || other).then_some(name)
}

fn header_fields(text: &str) -> (Fields, usize) {
    let mut fields = Fields::default();
    let mut open: Option<(String, usize)> = None;
    let mut subject_at = None;
    let mut body = 0;
    for (at, word) in words(text) {
        if subject_at.is_some_and(|s| at > s + 4000) {
            break;
        }
        let Some(name) = header_name(word) else { continue };
        if let Some((last, from)) = open.take() {
            fields.push(&last, text[from..at].trim());
        }
        if name == "from" && subject_at.is_some() {
            body = inner_from(text, at + word.len(), fields.get("from"));
            return (fields, body);
        }
        if name == "subject" {
            subject_at = Some(at);
        }
        body = at + word.len();
        open = Some((name, at + word.len()));
    }
    if let Some((name, from)) = open {
        body = from + value_length(&name, &text[from..]);
        fields.push(&name, text[from..body].trim());
    }
    (fields, body)
}

/// Where the text begins after the repeated `From: Name` of the author.
fn inner_from(text: &str, at: usize, author: Option<&str>) -> usize {
    let skipped = at + text[at..].len() - text[at..].trim_start().len();
    let author = author.unwrap_or("").trim();
    let same = !author.is_empty() && text[skipped..].starts_with(author);
    if same { skipped + author.len() } else { skipped }
}

/// Bytes of the last header's value; only its form tells where it ends.
fn value_length(name: &str, rest: &str) -> usize {
    let several = name == "content-type";
    let mut end = 0;
    for (at, word) in words(rest) {
        end = at + word.len();
        if !(several && word.ends_with(';')) {
            break;
        }
    }
    end
}

/// Puts newlines back.
pub(crate) fn break_lines(text: &str) -> String {
    let found: Vec<(usize, &str)> = words(text).collect();
    let mut out = text.to_owned().into_bytes();
    for index in 1..found.len() {
        let (at, _) = found[index];
        let begins = begins_line(&found, index);
        if begins && out[at - 1] == b' ' {
            out[at - 1] = b'\n';
        }
    }
    String::from_utf8(out).expect("a newline for a space keeps UTF-8")
}

/// Whether the word at `index` began a line.
fn begins_line(words: &[(usize, &str)], index: usize) -> bool {
    let word = words[index].1;
    let previous = words[index - 1].1;
    let next = words.get(index + 1).map_or("", |w| w.1);
    let after_next = words.get(index + 2).map_or("", |w| w.1);
    let capital = word.starts_with(|c: char| c.is_uppercase());
    if previous == "\\" || (previous == "&" && !next.is_empty()) {
        return true;
    }
    let tag = is_tag(previous);
    let pair = previous.contains('=') && previous.ends_with(|c: char| c.is_ascii_digit());
    if capital && pair && !previous.starts_with('-') {
        return true;
    }
    let sentence = capital && !tag && previous.ends_with(['.', ':', ')']) && previous.len() > 2;
    let bracket = sentence && previous.ends_with(')') && !previous.contains('%');
    if sentence && !bracket {
        return true;
    }
    diff_line(previous, word, next)
        || label_line(words, index)
        || tool_line(word, next, after_next)
        || value_line(previous, word, next)
        || table_line(words, index)
}

fn diff_line(previous: &str, word: &str, next: &str) -> bool {
    let hunk = next.starts_with('-') && next[1..].starts_with(|c: char| c.is_ascii_digit());
    match word {
        "---" | "+++" => true,
        "diff" => next == "--git",
        "index" => next.contains(".."),
        "@@" => hunk,
        _ => previous == "---" && word.contains('/') && !word.starts_with("a/") && !word.starts_with("/dev/"),
    }
}

fn is_tag(word: &str) -> bool {
    let tags = ["-by:", "Fixes:", "Link:", "Closes:", "Cc:", "commit:"];
    tags.iter().any(|tag| word.ends_with(tag)) && word.len() < 40
}

/// `Before:`, `After patch 1-3:`, `Signed-off-by:`.
fn label_line(words: &[(usize, &str)], index: usize) -> bool {
    let word = words[index].1;
    let job = [
        "testcase:",
        "parameters:",
        "nr_task:",
        "mode:",
        "test:",
        "cpufreq_governor:",
        "compiler:",
        "config:",
        "base:",
        "url:",
        "kconfig:",
        "rootfs:",
    ];
    let machine = word == "test" && words.get(index + 1).is_some_and(|w| w.1 == "machine:");
    if is_tag(word) || job.contains(&word) || machine {
        return true;
    }
    let starts = [
        "Before",
        "After",
        "Base",
        "Baseline",
        "Patched",
        "Unpatched",
        "Vanilla",
        "With",
        "Without",
        "Average",
        "Averaged",
        "Mean",
        "Median",
        "Original",
        "Mainline",
        "base",
        "patched",
        "before",
        "after",
    ];
    let name = word.trim_end_matches(':');
    if !starts.contains(&name) {
        return false;
    }
    let lower = name.starts_with(|c: char| c.is_lowercase());
    let reach = if lower { 0 } else { 6 };
    words[index..].iter().take(reach + 1).any(|(_, w)| w.ends_with(':'))
}

fn tool_line(word: &str, next: &str, after_next: &str) -> bool {
    let tools = [
        "memcached",
        "memtier_benchmark",
        "fio",
        "netperf",
        "sysbench",
        "usemem",
        "will-it-scale",
        "modprobe",
        "mkswap",
        "swapon",
    ];
    let name = word.rsplit('/').next().unwrap_or(word);
    let option = |w: &str| w.starts_with('-') && w.len() > 1;
    tools.contains(&name) && (option(next) || (option(after_next) && next.len() < 24))
        || (word == "make" && (option(next) || option(after_next)))
        || (word == "echo" && (after_next.starts_with('>') || next.ends_with('>')))
}

fn value_line(previous: &str, word: &str, next: &str) -> bool {
    let number = |w: &str| w.starts_with(|c: char| c.is_ascii_digit());
    match word {
        "bw" => next.starts_with('('),
        "iops" => next.starts_with(':'),
        "READ:" | "WRITE:" | "transactions:" | "queries:" => true,
        "Totals" => number(next),
        "real" | "user" | "sys" => number(next) && !number(previous),
        _ => false,
    }
}

/// A table row of a kernel test robot ends with a dotted metric name.
fn table_line(words: &[(usize, &str)], index: usize) -> bool {
    let word = words[index].1;
    let previous = words[index - 1].1;
    if word == "%stddev" && previous != "%change" {
        return true;
    }
    let starts = word.bytes().next().is_some_and(|b| b.is_ascii_digit());
    let dotted = previous.contains('.')
        && previous.starts_with(|c: char| c.is_ascii_alphabetic())
        && previous.len() > 4
        && !previous.ends_with('.');
    let numeric = |w: &str| w.trim_start_matches(['+', '-', '±']).starts_with(|c: char| c.is_ascii_digit());
    starts && dotted && index >= 2 && numeric(words[index - 2].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &str = "Received: from a by b; Thu, 11 Jan 2024 18:33:44 +0000 X-Spam: score=-2.1 required=5.0 \
        From: Ada Example To: list Subject: [PATCH v2 3/3] mm: try to foo Date: Fri, 12 Jan 2024 02:33:21 +0800 \
        Message-ID: <20240111183321.19984-4-ada> MIME-Version: 1.0 \
        Content-Transfer-Encoding: quoted-printable Content-Type: text/plain; charset=\"utf-8\" \
        From: Ada Example Prefetch it. Tested with: memcached -u nobody -m 16 \\ -t 2 & \
        Average result of 18 test runs: Before: 100.00 Ops/sec After patch 1-3: 102.= 00 Ops/sec (+2.0%) \
        Signed-off-by: Ada --- mm/x.c | 2 +- diff --git a/mm/x.c b/mm/x.c @@ -1,2 +1,2 @@ f a=3Db";

    #[test]
    fn headers_and_lines_come_back() {
        assert!(is_flattened(MAIL.as_bytes()));
        let (fields, body) = read(MAIL.as_bytes());
        assert_eq!(fields.get("subject"), Some("[PATCH v2 3/3] mm: try to foo"));
        assert_eq!(fields.get("from"), Some("Ada Example"));
        let lines: Vec<&str> = body.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "Prefetch it.",
                "Tested with:",
                "memcached -u nobody -m 16 \\",
                "-t 2 &",
                "Average result of 18 test runs:",
                "Before: 100.00 Ops/sec",
                "After patch 1-3: 102.00 Ops/sec (+2.0%)",
                "Signed-off-by: Ada",
                "---",
                "mm/x.c | 2 +-",
                "diff --git a/mm/x.c b/mm/x.c",
                "@@ -1,2 +1,2 @@ f a=b",
            ]
        );
    }

    #[test]
    fn ordinary_text_is_not_flattened() {
        assert!(!is_flattened(b"From: a\nSubject: b\n\nhello"));
        let long = format!("From: a\n{}", "a line of text\n".repeat(100));
        assert!(!is_flattened(long.as_bytes()));
    }

    proptest::proptest! {
        #[test]
        fn any_text_reads(text in "\\PC{0,200}") {
            let (_, body) = read(format!("{MAIL} {text}").as_bytes());
            proptest::prop_assert!(!body.is_empty());
        }

        #[test]
        fn breaking_keeps_every_byte_but_spaces(text in "[a-zA-Z:.() -]{0,200}") {
            let broken = break_lines(&text);
            proptest::prop_assert_eq!(broken.replace('\n', " "), text);
        }
    }
}
