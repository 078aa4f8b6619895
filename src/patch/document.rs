//! A whole input read: messages, series, settings and claims.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::carrier::{self, Attachment, Carrier, Headers, Message};
use super::claim::{Baseline, Claim, Delta, Format, Scope};
use super::diff::{self, Diff};
use super::error::PatchError;
use super::lines::{self, Line};
use super::series::{self, Series};
use super::subject::Subject;
use super::tags::{self, Tag};
use super::walk::{self, Harvest};
use super::workload::Setting;
use super::{grammar, limits};

/// One message without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailSummary {
    pub carrier: Carrier,
    pub headers: Headers,
    pub subject: Subject,
    /// A tree's notice that the patch was added.
    pub notice: bool,
    pub tags: Vec<Tag>,
    pub diff: Diff,
    pub attachments: Vec<Attachment>,
    /// Patches the mail lists around its own.
    pub listed: Vec<String>,
    pub notes: Vec<String>,
}

/// Everything read from an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    pub mails: Vec<MailSummary>,
    pub series: Vec<Series>,
    pub settings: Vec<Setting>,
    pub claims: Vec<Claim>,
}

/// What `git format-patch --base` says of the tree a series applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedBase<'a> {
    pub commit: &'a str,
    /// Patches between that commit and the series, which the mails do not carry.
    pub prerequisites: usize,
}

impl Document {
    /// The base commit stated in a message, else in another of its version and total.
    pub fn stated_base(&self, message: usize) -> Option<StatedBase<'_>> {
        let subject = &self.mails.get(message)?.subject;
        let of = |mail: &'_ MailSummary| {
            mail.subject.version == subject.version && mail.subject.total == subject.total
        };
        let mut near = self.mails[message..=message].iter().chain(self.mails.iter().filter(|mail| of(mail)));
        near.find_map(|mail| {
            let named = |name: &'static str| mail.tags.iter().filter(move |tag| tag.name == name);
            let commit = named(tags::BASE_COMMIT).next()?.value.as_str();
            Some(StatedBase { commit, prerequisites: named(tags::PREREQUISITE).count() })
        })
    }
}

/// Reads a mail or mailbox: carriers, series, settings and claims.
///
/// ```
/// let mail = b"Subject: [PATCH] mm: foo\nFrom: Ada <a@b.c>\n\nBefore: 100.0 MB/s\nAfter: 102.0 MB/s (+2.0%)\n";
/// let document = run_bench::patch::read(mail).expect("a mail");
/// assert_eq!(document.claims.len(), 1);
/// ```
pub fn read(input: &[u8]) -> Result<Document, PatchError> {
    let messages = carrier::read_messages(input)?;
    let mut document =
        Document { mails: Vec::new(), series: Vec::new(), settings: Vec::new(), claims: Vec::new() };
    for message in messages {
        add(message, &mut document);
    }
    document.series = series::group(&document.mails);
    merge_repeats(&mut document);
    place_headlines(&mut document.claims);
    for (index, claim) in document.claims.iter_mut().enumerate() {
        claim.id = format!("c{}", index + 1);
    }
    Ok(document)
}

/// The diff of each message's own words, byte for byte and in the order of the
/// messages. Unlike all other text it keeps what looks like an address, since a
/// patch must apply; it is for patch files only.
pub fn extract_diffs(input: &[u8]) -> Result<Vec<String>, PatchError> {
    let messages = carrier::read_verbatim(input)?;
    let own = |message: &Message| {
        let streams = lines::verbatim_streams(&message.body);
        streams.iter().find(|s| s.depth == 0).map_or_else(String::new, |s| diff::extract(&s.lines))
    };
    Ok(messages.iter().map(own).collect())
}

fn add(message: Message, document: &mut Document) {
    let index = document.mails.len();
    let mut harvest = Harvest::default();
    let mut diff = Diff::default();
    let mut listed = Vec::new();
    for mut stream in lines::streams(&message.body) {
        let (text, found) = diff::separate(stream.lines);
        diff.files.extend(found.files);
        stream.lines = text;
        if message.notice || stream.depth == 0 {
            listed.extend(listed_patches(&mut stream.lines));
        }
        stream.lines.iter_mut().for_each(Line::tokenise);
        walk::walk(&stream, message.carrier == Carrier::Flattened, &mut harvest);
    }
    let mut subject = Subject::read(&message.headers.subject);
    if subject.title.is_empty()
        && let Some(tested) = harvest.job.patch_subject()
    {
        subject = Subject { reply: true, ..Subject::read(tested) };
    }
    subject_claims(&message, &mut harvest);
    if subject.is_cover() {
        listed.extend(shortlog(&harvest.titles));
    }
    place_job(&mut harvest);
    let offset = document.settings.len();
    let room = limits::CLAIMS.saturating_sub(document.claims.len());
    for mut claim in harvest.claims.into_iter().take(room) {
        claim.message = index;
        claim.setting = claim.setting.map(|setting| setting + offset);
        claim.scope = walk::default_scope(claim.scope, subject.part, subject.is_patch || message.notice);
        claim.baseline = default_baseline(&claim, &subject);
        document.claims.push(claim);
    }
    document.settings.extend(harvest.settings);
    document.mails.push(MailSummary {
        carrier: message.carrier,
        headers: message.headers,
        subject,
        notice: message.notice,
        tags: harvest.tags,
        diff,
        attachments: message.attachments,
        listed,
        notes: message.notes,
    });
}

/// `[mm] 1234abcd: M -11.5% regression` may stand in the subject only.
fn subject_claims(message: &Message, harvest: &mut Harvest) {
    let mut line = Line { text: &message.headers.subject, start: 0, tokens: Vec::new() };
    line.tokenise();
    let headline = grammar::read_prose(&[&line]).into_iter().find(|f| f.format == Format::LkpHeadline);
    let known = |name: &str| harvest.claims.iter().any(|c| c.metric.name == name);
    if let Some(finding) = headline.filter(|f| !known(&f.metric.name)) {
        harvest.claims.push(Claim { text: message.headers.subject.clone(), ..finding.into_claim() });
    }
}

/// Job parameters hold for every result of the message that has no setting of its own.
fn place_job(harvest: &mut Harvest) {
    let Some(setting) = harvest.job.setting() else { return };
    harvest.settings.push(setting);
    let index = harvest.settings.len() - 1;
    for claim in &mut harvest.claims {
        let bare = claim.setting.is_none_or(|s| {
            let own = &harvest.settings[s];
            own.commands.is_empty() && own.machine.is_none()
        });
        if bare {
            claim.setting = Some(index);
        }
    }
}

/// `Patches currently in -mm which might be from … are`, then file names.
fn listed_patches(lines: &mut Vec<Line<'_>>) -> Vec<String> {
    let Some(at) = lines.iter().position(|l| l.text.starts_with("Patches currently in ")) else {
        return Vec::new();
    };
    let tail = lines.split_off(at);
    let names = tail.iter().skip(1).map(|l| l.text.trim()).filter(|t| t.ends_with(".patch") && t.len() < 200);
    names.take(1000).map(str::to_owned).collect()
}

/// The titles below `Author Name (3):` of a cover letter.
fn shortlog(titles: &[String]) -> Vec<String> {
    let title = |t: &&String| {
        t.contains(": ")
            && !t.ends_with(':')
            && !t.contains(" | ")
            && !t.contains("  ")
            && !t.contains('%')
            && !t.starts_with(['-', '*'])
    };
    titles.iter().filter(title).cloned().collect()
}

fn default_baseline(claim: &Claim, subject: &Subject) -> Baseline {
    if claim.baseline != Baseline::Unstated {
        return claim.baseline;
    }
    match claim.scope {
        Scope::Series | Scope::Patches { first: 1, .. } => Baseline::BaseKernel,
        Scope::ThisPatch if subject.part.is_none_or(|p| p <= 1) && subject.is_patch => Baseline::BaseKernel,
        _ => Baseline::Unstated,
    }
}

/// One claim quoted many times is one claim; the author's own, earliest copy stays.
fn merge_repeats(document: &mut Document) {
    let mut kept: BTreeMap<String, usize> = BTreeMap::new();
    let mut claims: Vec<Claim> = Vec::new();
    for claim in std::mem::take(&mut document.claims) {
        let subject = &document.mails[claim.message].subject;
        let key = repeat_key(&claim, subject);
        match kept.get(&key) {
            Some(at) => {
                let first: &mut Claim = &mut claims[*at];
                let repeats = first.repeats + 1;
                if rank(&claim, document) < rank(first, document) {
                    *first = claim;
                }
                first.repeats = repeats;
            }
            None => {
                kept.insert(key, claims.len());
                claims.push(claim);
            }
        }
    }
    document.claims = claims;
}

/// The robot's headline repeats a row of its table: the row has the values, the
/// headline says whether that is a regression.
fn place_headlines(claims: &mut Vec<Claim>) {
    let change = |claim: &Claim| match &claim.delta {
        Delta::Percent { change } => Some(change.value.abs()),
        _ => None,
    };
    let headlines: Vec<Claim> =
        claims.iter().filter(|c| c.format == Format::LkpHeadline).take(100).cloned().collect();
    for headline in headlines {
        let same = |c: &&mut Claim| {
            c.format == Format::Lkp
                && c.message == headline.message
                && c.metric.name == headline.metric.name
                && change(c) == change(&headline)
        };
        if let Some(row) = claims.iter_mut().find(same) {
            row.wording = headline.wording;
            row.repeats += 1;
            claims.retain(|c| {
                !(c.format == Format::LkpHeadline && c.span == headline.span && c.message == headline.message)
            });
        }
    }
}

/// Replies and quotations rank behind the author's own mail.
fn rank(claim: &Claim, document: &Document) -> (bool, u8, i64) {
    let mail = &document.mails[claim.message];
    (mail.subject.reply, claim.quoted, mail.headers.date_seconds.unwrap_or(i64::MAX))
}

fn repeat_key(claim: &Claim, subject: &Subject) -> String {
    let value = |side: &Option<super::claim::Measured>| {
        side.as_ref().map_or("-".to_owned(), |m| format!("{}", m.value.value))
    };
    let delta = match &claim.delta {
        Delta::Percent { change } | Delta::Difference { change } => format!("{}", change.value),
        Delta::Interval { low, high } => format!("{}..{}", low.value, high.value),
        Delta::Factor { factor } => format!("x{}", factor.value),
        Delta::Null { words } => words.clone(),
        Delta::Missing => "-".to_owned(),
    };
    let (before, after) = (value(&claim.before), value(&claim.after));
    // Without values a sentence repeats only itself.
    let words = if before == "-" {
        claim.text.split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        String::new()
    };
    format!(
        "{}|v{}|{}|{before}|{after}|{delta}|{words}",
        subject.title.to_lowercase(),
        subject.version,
        claim.metric.name
    )
}
