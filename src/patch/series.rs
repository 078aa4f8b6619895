//! Series: which messages belong together, their parts, and the patches a
//! notice or a cover letter lists.

use serde::{Deserialize, Serialize};

use super::document::MailSummary;

/// One patch of a series as far as the input shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub number: u32,
    pub title: String,
    /// Index of its message.
    pub message: usize,
}

/// Messages of one series and version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// The cover letter's title, else the first part's.
    pub title: String,
    pub version: u32,
    pub total: Option<u32>,
    pub author: Option<String>,
    pub cover: Option<usize>,
    pub parts: Vec<Part>,
    /// Names or titles the mail lists as the patches around it.
    pub listed: Vec<String>,
}

/// Groups messages: one version, one total and one author or thread is one series.
pub(crate) fn group(mails: &[MailSummary]) -> Vec<Series> {
    let mut found: Vec<(String, Series)> = Vec::new();
    for (index, mail) in mails.iter().enumerate() {
        let subject = &mail.subject;
        if !subject.is_patch && !mail.notice && mail.listed.is_empty() && !subject.reply {
            continue;
        }
        let key = key(mail);
        let position = found.iter().rposition(|(k, _)| *k == key);
        let at = position.unwrap_or_else(|| {
            let series = Series {
                title: subject.title.clone(),
                version: subject.version,
                total: subject.total,
                author: mail.headers.author.clone(),
                cover: None,
                parts: Vec::new(),
                listed: Vec::new(),
            };
            found.push((key, series));
            found.len() - 1
        });
        let series = &mut found[at].1;
        series.listed.extend(mail.listed.iter().cloned());
        if subject.reply {
            continue;
        }
        if subject.is_cover() {
            series.cover = Some(index);
            series.title.clone_from(&subject.title);
        } else if series.parts.len() < 1000 {
            let number = subject.part.unwrap_or(1);
            series.parts.push(Part { number, title: subject.title.clone(), message: index });
        }
    }
    let mut series: Vec<Series> = found.into_iter().map(|(_, series)| series).collect();
    for one in &mut series {
        one.parts.sort_by_key(|part| (part.number, part.message));
    }
    series
}

/// Mails of one series share total, version and thread; without a thread key,
/// a patch alone is its own series.
fn key(mail: &MailSummary) -> String {
    let subject = &mail.subject;
    let thread = mail.headers.key.as_deref().map(|key| {
        // git numbers the mails of a run: 20240111183321.19984-1, -2, …
        key.split('-').next().unwrap_or(key).to_owned()
    });
    match (subject.total, thread) {
        (Some(total), Some(thread)) if !subject.reply => {
            format!("v{} of {total} in {thread}", subject.version)
        }
        (Some(total), _) if !subject.reply => {
            format!("v{} of {total} by {}", subject.version, mail.headers.author.as_deref().unwrap_or(""))
        }
        _ => format!("v{} {}", subject.version, subject.title),
    }
}
