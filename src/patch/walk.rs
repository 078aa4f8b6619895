//! One pass over a stream of lines: commands, job parameters, trailers, results
//! and the sentences between them, each result tied to the setting it stands in.

use super::claim::{Claim, Direction, Scope, Span};
use super::grammar::{self, Finding};
use super::lines::{Line, Stream};
use super::tags::{self, Tag};
use super::workload::{self, Found, Job, Setting};
use super::{limits, metric_name};

/// What one message gave.
#[derive(Debug, Default)]
pub(crate) struct Harvest {
    pub claims: Vec<Claim>,
    pub settings: Vec<Setting>,
    pub tags: Vec<Tag>,
    pub job: Job,
    /// Lines of text, which a cover letter lists its patches in.
    pub titles: Vec<String>,
}

/// Reads a stream whose diff lines were taken out. `first` is the index of the
/// message's first setting; `flat` marks a mail that lost its newlines.
pub(crate) fn walk(stream: &Stream<'_>, flat: bool, harvest: &mut Harvest) {
    let mut walker = Walker {
        lines: &stream.lines,
        depth: stream.depth,
        flat,
        paragraph: Vec::new(),
        current: None,
        claimed: false,
        harvest,
    };
    walker.run();
}

/// Settings that are looked through for one a sentence or a load refers to.
const LOOK_BACK: usize = 64;

struct Walker<'a> {
    lines: &'a [Line<'a>],
    depth: u8,
    flat: bool,
    /// Indices of text lines not yet read as sentences.
    paragraph: Vec<usize>,
    /// The setting results belong to.
    current: Option<usize>,
    /// Whether the current setting already has results.
    claimed: bool,
    harvest: &'a mut Harvest,
}

impl Walker<'_> {
    fn run(&mut self) {
        let mut at = 0;
        while at < self.lines.len() {
            let line = &self.lines[at];
            if line.is_blank() || line.text.len() > limits::LINE_BYTES {
                self.flush();
                at += 1;
            } else if let Some((found, taken)) = workload::command(&self.lines[at..], self.flat) {
                self.flush();
                self.command(found, at);
                at += taken.max(1);
            } else if self.harvest.job.take(line) {
                at += 1;
            } else if let Some(tag) = tags::read(line) {
                self.flush();
                if self.harvest.tags.len() < 1000 {
                    self.harvest.tags.push(tag);
                }
                at += 1;
            } else if let Some(found) = grammar::recognise(&self.lines[at..]) {
                self.flush();
                for finding in found.findings {
                    self.claim(finding, |line| at + line);
                }
                at += found.lines;
            } else {
                self.paragraph.push(at);
                self.title(line.text);
                at += 1;
                if self.paragraph.len() >= 200 {
                    self.flush();
                }
            }
        }
        self.flush();
    }

    /// Indented lines of a cover letter may name the patches of the series.
    fn title(&mut self, text: &str) {
        let listed = text.starts_with("  ") && text.len() < 120 && self.depth == 0;
        if listed && self.harvest.titles.len() < 1000 {
            self.harvest.titles.push(text.trim().to_owned());
        }
    }

    /// Reads the waiting text lines as one paragraph.
    fn flush(&mut self) {
        if self.paragraph.is_empty() {
            return;
        }
        let indices = std::mem::take(&mut self.paragraph);
        let lines: Vec<&Line<'_>> = indices.iter().map(|i| &self.lines[*i]).collect();
        let text: String = lines.iter().map(|l| l.text.trim()).collect::<Vec<_>>().join(" ");
        if let Some(mut setting) = workload::sentence(&text) {
            setting.span = Some(Span { start: lines[0].start, end: lines[lines.len() - 1].end() });
            self.surroundings(setting, &text);
        }
        if let Some(runs) = workload::runs(&text) {
            self.runs(runs);
        }
        // A sentence that opens a setting may claim something too; the setting stays open.
        let claimed = self.claimed;
        for finding in grammar::read_prose(&lines) {
            self.claim(finding, |line| indices[line.min(indices.len() - 1)]);
        }
        self.claimed = claimed;
    }

    /// A stated run count belongs to the results below, or to those just above.
    fn runs(&mut self, runs: super::claim::Runs) {
        let index = self.setting_for_more();
        let setting = &mut self.harvest.settings[index];
        if setting.runs.is_none() {
            setting.runs = Some(runs.clone());
            let late =
                self.harvest.claims.iter_mut().filter(|c| c.setting == Some(index) && c.runs.is_none());
            late.for_each(|claim| claim.runs = Some(runs.clone()));
        } else if self.claimed {
            let mut next = self.harvest.settings[index].followed_by(Setting::default(), true);
            next.runs = Some(runs);
            self.open(next);
        } else {
            setting.runs = Some(runs);
        }
    }

    fn surroundings(&mut self, setting: Setting, text: &str) {
        let refers_back = ["above", "same test", "same setup", "same as"].iter().any(|w| text.contains(w));
        let restates = setting.has_surroundings();
        match self.current {
            Some(index) if self.claimed && restates => {
                let index = if refers_back { self.mentioned(text).unwrap_or(index) } else { index };
                let mut next = self.harvest.settings[index].followed_by(setting.clone(), refers_back);
                if refers_back {
                    setting.commands.into_iter().for_each(|c| next.add(c));
                }
                self.open(next);
            }
            Some(index) => {
                let current = &mut self.harvest.settings[index];
                setting.commands.iter().for_each(|c| current.add(c.clone()));
                // What is stated last, before any result, holds.
                let mut merged = setting;
                merged.fill(current);
                current.memcg_limit = merged.memcg_limit;
                current.machine = merged.machine;
                current.swap = merged.swap;
                current.kernel_base = merged.kernel_base;
                if current.text.is_empty() || restates {
                    current.text = merged.text;
                    current.span = merged.span;
                }
            }
            None => self.open(setting),
        }
    }

    /// The last setting with a command the sentence names: "memtier test above".
    fn mentioned(&self, text: &str) -> Option<usize> {
        let lower = text.to_lowercase();
        let named = |setting: &Setting| {
            setting.commands.iter().any(|c| {
                let name = c.workload.name();
                lower.contains(name.split(['_', ' ']).next().unwrap_or(name))
            })
        };
        let from = self.harvest.settings.len().saturating_sub(LOOK_BACK);
        self.harvest.settings[from..].iter().rposition(named).map(|at| from + at)
    }

    fn open(&mut self, setting: Setting) {
        if self.harvest.settings.len() < limits::CLAIMS {
            self.harvest.settings.push(setting);
        }
        self.current = Some(self.harvest.settings.len() - 1);
        self.claimed = false;
    }

    fn setting_for_more(&mut self) -> usize {
        if self.current.is_none() {
            self.open(Setting::default());
        }
        self.current.unwrap_or(0)
    }

    fn command(&mut self, found: Found, at: usize) {
        let span = Span { start: self.lines[at].start, end: self.lines[at].end() };
        match found {
            Found::Other => {}
            Found::Setup(setup) => {
                let index = self.setting_for_more();
                let mut setup = setup;
                setup.fill(&self.harvest.settings[index]);
                let setting = &mut self.harvest.settings[index];
                (setting.memcg_limit, setting.swap) = (setup.memcg_limit, setup.swap);
            }
            Found::Command(command) => {
                if let Some(index) = self.current.filter(|_| self.claimed) {
                    let server = self.harvest.settings[index].followed_by(Setting::default(), true);
                    self.open(server);
                }
                let index = self.setting_for_more();
                let setting = &mut self.harvest.settings[index];
                // `redis-benchmark -n 1000 in a 2G memcg`: words behind the command.
                if let Some(said) = workload::sentence(self.lines[at].text) {
                    setting.fill(&said);
                }
                // A load may use the server above; any other program is a test of its own.
                let load = matches!(command.workload, workload::Workload::Memtier(_));
                if !load {
                    setting.commands.retain(|c| !c.inherited);
                }
                setting.add(command);
                setting.span.get_or_insert(span);
                if load {
                    self.server_for_load(index);
                }
            }
        }
    }

    /// A load without a server uses the one described before.
    fn server_for_load(&mut self, index: usize) {
        let is_server = |c: &&workload::Command| matches!(c.workload, workload::Workload::Memcached(_));
        if self.harvest.settings[index].commands.iter().any(|c| is_server(&c)) {
            return;
        }
        let earlier = self.harvest.settings[..index].iter().rev().take(LOOK_BACK);
        let earlier = earlier.flat_map(|s| &s.commands).find(is_server);
        if let Some(server) = earlier.cloned() {
            self.harvest.settings[index].commands.insert(0, workload::Command { inherited: true, ..server });
        }
    }

    fn claim(&mut self, finding: Finding, line: impl Fn(usize) -> usize) {
        if self.harvest.claims.len() >= limits::CLAIMS {
            return;
        }
        let first = &self.lines[line(finding.first).min(self.lines.len() - 1)];
        let last = &self.lines[line(finding.last).min(self.lines.len() - 1)];
        let text = if first.start == last.start {
            first.text.trim().to_owned()
        } else {
            format!("{} … {}", first.text.trim(), last.text.trim())
        };
        let mut claim = finding.into_claim();
        let setting = self.current.map(|index| &self.harvest.settings[index]);
        let metric = &mut claim.metric;
        if metric.direction == Direction::Unknown
            && metric.unit.is_none()
            && matches!(metric.name.as_str(), "value" | "")
        {
            metric.direction = metric_name::metric(setting.map_or("", |s| s.text.as_str()), None).direction;
        }
        claim.runs = claim.runs.or_else(|| setting.and_then(|s| s.runs.clone()));
        claim.setting = self.current;
        claim.quoted = self.depth;
        claim.span = Span { start: first.start, end: last.end().max(first.end()) };
        claim.text = text.chars().take(400).collect();
        self.claimed = true;
        self.harvest.claims.push(claim);
    }
}

/// What a claim covers when its label does not say: the series for a cover
/// letter, the patch for a patch.
pub(crate) fn default_scope(scope: Scope, part: Option<u32>, is_patch: bool) -> Scope {
    match (scope, part) {
        (Scope::Unstated, Some(0)) => Scope::Series,
        (Scope::Unstated, _) if is_patch => Scope::ThisPatch,
        _ => scope,
    }
}
