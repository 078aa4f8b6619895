//! Subject lines: prefix tags, version, part and total, and the bare title.

use serde::{Deserialize, Serialize};

/// A subject taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Subject {
    /// The title without `Re:` and brackets.
    pub title: String,
    /// 1 unless the bracket says `v2`, `v3`, …
    pub version: u32,
    pub part: Option<u32>,
    pub total: Option<u32>,
    /// Other words of the bracket, such as `RFC` or a tree's name.
    pub tags: Vec<String>,
    pub reply: bool,
    pub is_patch: bool,
}

impl Subject {
    /// Reads a subject line.
    pub fn read(text: &str) -> Subject {
        let mut subject = Subject { version: 1, ..Subject::default() };
        let mut rest: &str = text.trim();
        // An archive may put its list's name in front of the bracket.
        if let (Some(bracket), false) = (rest.find("[PATCH"), rest.starts_with('[')) {
            subject.reply = rest[..bracket].to_ascii_lowercase().contains("re:");
            rest = &rest[bracket..];
        }
        for _ in 0..12 {
            let lower = rest.to_ascii_lowercase();
            if let Some(start) =
                ["re:", "aw:", "回复:", "fwd:", "fw:"].iter().find(|s| lower.starts_with(**s))
            {
                subject.reply = true;
                rest = rest.get(start.len()..).unwrap_or("").trim_start();
            } else if let Some((inner, after)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
                if inner.len() > 100 {
                    break;
                }
                subject.bracket(inner);
                rest = after.trim_start();
            } else {
                break;
            }
        }
        subject.title = rest.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect();
        subject
    }

    fn bracket(&mut self, inner: &str) {
        for word in inner.split_whitespace() {
            let version = word.strip_prefix(['v', 'V']).and_then(|v| v.parse::<u32>().ok());
            let part = word.split_once('/').and_then(|(n, m)| Some((n.parse().ok()?, m.parse().ok()?)));
            if word.eq_ignore_ascii_case("patch") {
                self.is_patch = true;
            } else if let Some(version) = version {
                self.version = version;
            } else if let Some((part, total)) = part {
                self.part = Some(part);
                self.total = Some(total);
            } else if self.tags.len() < 12 {
                self.tags.push(word.chars().take(60).collect());
            }
        }
    }

    /// A cover letter is part 0.
    pub fn is_cover(&self) -> bool {
        self.part == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_subjects_apart() {
        for (text, title, version, part, tags, reply) in [
            ("[PATCH v2 3/3] mm: foo", "mm: foo", 2, Some((3, 3)), "", false),
            ("Re: [PATCH mm-unstable v3 6/6] mm: bar", "mm: bar", 3, Some((6, 6)), "mm-unstable", true),
            ("linux-kernel - Re: [PATCH 1/3] a: b", "a: b", 1, Some((1, 3)), "", true),
            ("[RFC PATCH] x", "x", 1, None, "RFC", false),
            ("[PATCH RESEND v10 00/12] y:  z", "y: z", 10, Some((0, 12)), "RESEND", false),
            ("plain", "plain", 1, None, "", false),
        ] {
            let found = Subject::read(text);
            assert_eq!(found.title, title, "{text}");
            assert_eq!((found.version, found.reply), (version, reply), "{text}");
            assert_eq!(found.part.zip(found.total), part, "{text}");
            assert_eq!(found.tags.join(" "), tags, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_subject_reads(text in "(re:|\\[PATCH |\\[|v[0-9]{1,12}|[0-9]{1,12}/[0-9]|\\]|\\PC){0,20}") {
            Subject::read(&text);
        }
    }
}
