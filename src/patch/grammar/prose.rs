//! Sentences: "improves 5.0%", "decreases from 14.0% to 12.8%", "[6, 8]%
//! increase in IOPS", "is almost identical", and the test robot's headline.

use crate::patch::claim::{Baseline, Delta, Format, Measured, Reading, Wording};
use crate::patch::lines::Line;
use crate::patch::metric_name;
use crate::patch::token::{self, Kind, Token};

use super::finding::Finding;
use super::quantity::{self, Quantity};
use super::{role, words};

/// What a sentence without a noun is about.
const PERFORMANCE: &str = "performance";
/// Bytes of one paragraph that are read.
const PARAGRAPH: usize = 16 << 10;

/// Claims of a paragraph. `lines` are its lines; findings refer to their index.
pub(crate) fn read(lines: &[&Line<'_>]) -> Vec<Finding> {
    let mut text = String::new();
    let mut starts = Vec::new();
    for line in lines {
        if text.len() + line.text.len() > PARAGRAPH {
            break;
        }
        starts.push(text.len());
        text.push_str(line.text.trim());
        text.push(' ');
    }
    let interesting = text.contains(['%', 'x'])
        || text.contains("identical")
        || text.contains("no ")
        || text.contains("noise")
        || text.contains("from ")
        || text.contains("same")
        || text.contains("unchanged");
    if !interesting {
        return Vec::new();
    }
    let tokens = token::tokens(&text);
    let lower = text.to_lowercase();
    let restores = lower.contains("restore") || lower.contains("recover");
    let mut found = Vec::new();
    for (from, to) in sentences(&text, &tokens) {
        let sentence = Sentence::new(&text, &tokens[from..to]);
        for mut finding in sentence.claims() {
            if restores && finding.baseline == Baseline::Unstated {
                finding.baseline = Baseline::BeforeFix;
            }
            let line = |token: usize| {
                let offset = tokens[token.min(tokens.len() - 1)].start;
                starts.partition_point(|start| *start <= offset).saturating_sub(1)
            };
            found.push(finding.at(line(from), line(to.saturating_sub(1))));
        }
    }
    found
}

/// Token ranges of the sentences.
fn sentences(text: &str, tokens: &[Token]) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut from = 0;
    for (at, token) in tokens.iter().enumerate() {
        let stop = matches!(token.kind, Kind::Symbol('.' | '!' | '?' | ';'))
            && text[token.end..].starts_with(char::is_whitespace);
        if stop || at + 1 == tokens.len() || at - from > 400 {
            ranges.push((from, at + 1));
            from = at + 1;
        }
    }
    ranges
}

struct Sentence<'a> {
    text: &'a str,
    tokens: &'a [Token],
    /// Where its clauses end: in front of `, and the …`, `while …`.
    ends: Vec<usize>,
}

impl<'a> Sentence<'a> {
    fn new(text: &'a str, tokens: &'a [Token]) -> Self {
        let joins = ["and", "with", "although", "however"];
        let breaks = ["while", "whereas", "but"];
        let ends = (1..tokens.len()).filter(|at| {
            let word = tokens[*at].text(text).to_lowercase();
            let comma = tokens[at - 1].is_symbol(',');
            breaks.contains(&word.as_str()) || (comma && joins.contains(&word.as_str()))
        });
        Sentence { text, tokens, ends: ends.chain([tokens.len()]).collect() }
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |t| t.text(self.text))
    }

    fn claims(&self) -> Vec<Finding> {
        if let Some(headline) = self.headline() {
            return vec![headline];
        }
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() && found.len() < 16 {
            let read = self.range_of_values(at).or_else(|| self.instead_of(at)).or_else(|| self.change(at));
            if let Some((finding, next)) = read {
                found.push(finding);
                at = next;
            } else {
                at += 1;
            }
        }
        let mut from = 0;
        for to in self.ends.iter().copied() {
            let clause = Sentence { text: self.text, tokens: &self.tokens[from..to], ends: vec![to - from] };
            let silent = (from..to).all(|at| quantity::delta(self.tokens, at).is_none());
            found.extend(clause.unchanged().filter(|_| silent && found.len() < 16));
            from = to;
        }
        found
    }

    /// The clause around a token, as a range.
    fn clause(&self, at: usize) -> (usize, usize) {
        let index = self.ends.partition_point(|end| *end <= at);
        let from = index.checked_sub(1).map_or(0, |i| self.ends[i]);
        (from, self.ends.get(index).copied().unwrap_or(self.tokens.len()))
    }

    /// `noticed a -21.4% regression of M`, `M -11.5% regression`.
    fn headline(&self) -> Option<Finding> {
        let kind = (0..self.tokens.len()).find(|i| matches!(self.word(*i), "regression" | "improvement"))?;
        let change = self.tokens.get(kind.checked_sub(1)?)?.percent()?;
        let noticed = (0..kind).any(|i| self.word(i) == "noticed");
        let metric = if self.word(kind + 1) == "of" && noticed {
            self.raw_word(kind + 2)
        } else {
            self.raw_word(kind.checked_sub(2)?)
        };
        let metric = metric.trim_end_matches(':');
        if !metric.contains('.') || metric.len() > 200 {
            return None;
        }
        let mut finding =
            Finding::new(Format::LkpHeadline, metric_name::metric(metric, None), Delta::Percent { change });
        finding.baseline = Baseline::FirstColumn;
        finding.wording =
            Some(if self.word(kind) == "regression" { Wording::Worse } else { Wording::Better });
        Some(finding)
    }

    /// The whole run of non-space characters a token begins.
    fn raw_word(&self, at: usize) -> &str {
        let Some(token) = self.tokens.get(at) else { return "" };
        let head = self.text[..token.start].split(char::is_whitespace).next_back().map_or(0, str::len);
        self.text[token.start - head..].split_whitespace().next().unwrap_or("")
    }

    /// `from 14.0% to 12.8%`, `from 100 MB/s to 110 MB/s (10%)`.
    fn range_of_values(&self, at: usize) -> Option<(Finding, usize)> {
        if !self.word(at).eq_ignore_ascii_case("from") {
            return None;
        }
        let before = quantity::quantity(self.text, self.tokens, at + 1)?;
        if self.word(before.next) != "to" {
            return None;
        }
        let after = quantity::quantity(self.text, self.tokens, before.next + 1)?;
        let up = at > 0 && self.word(at - 1) == "up";
        let wording = if up { Wording::Up } else { self.nearest_wording(at, at)?.0 };
        let unit = after.unit.as_deref().or(before.unit.as_deref());
        unit?;
        let (_, end) = self.clause(at);
        let (delta, next) = (0..6)
            .find_map(|skip| {
                let (delta, next) = quantity::delta(self.tokens, after.next + skip)?;
                let stops = |t: &Token| t.is_symbol(',') || matches!(t.kind, Kind::Number(_));
                let open = self.tokens[after.next..after.next + skip].iter().all(|t| !stops(t));
                (open && next <= end).then_some((delta, next))
            })
            .unwrap_or((Delta::Missing, after.next));
        let metric = metric_name::metric(&self.metric_near(at), unit.filter(|u| *u != "%"));
        let mut finding =
            Finding::new(Format::Prose, metric, delta).with_values(side("from", &before), side("to", &after));
        if finding.metric.unit.is_none() {
            finding.metric.unit = unit.map(str::to_owned);
        }
        finding.wording = Some(wording);
        Some((finding, next))
    }

    /// `takes 1.9ms instead of 3.4ms`.
    fn instead_of(&self, at: usize) -> Option<(Finding, usize)> {
        let after = quantity::quantity(self.text, self.tokens, at)?;
        if self.word(after.next) != "instead" || self.word(after.next + 1) != "of" {
            return None;
        }
        let before = quantity::quantity(self.text, self.tokens, after.next + 2)?;
        let unit = before.unit.as_deref().or(after.unit.as_deref());
        unit?;
        let near = self.metric_near(at);
        let near = if near == PERFORMANCE { "" } else { &near };
        let metric = metric_name::metric(near, unit);
        let finding = Finding::new(Format::Prose, metric, Delta::Missing)
            .with_values(side("instead of", &before), side("now", &after));
        Some((finding, before.next))
    }

    /// A percentage or interval with a word of change near it.
    fn change(&self, at: usize) -> Option<(Finding, usize)> {
        let (delta, next) = quantity::delta(self.tokens, at).or_else(|| self.factor(at))?;
        // `increases 22.4% (from 4.0GB/s to 4.9GB/s)` is one claim.
        if self.tokens.get(next).is_some_and(|t| t.is_symbol('('))
            && let Some((mut finding, behind)) = self.range_of_values(next + 1)
            && finding.delta == Delta::Missing
        {
            finding.delta = delta;
            return Some((finding, behind));
        }
        if at > 0 && (self.tokens[at - 1].kind == Kind::Spread || self.word(at - 1) == "at") {
            return None;
        }
        if ["confidence", "percentile", "ci", "cpu", "full", "of"]
            .contains(&self.word(next).to_lowercase().as_str())
        {
            let verb = at.checked_sub(1).and_then(|i| words::wording(self.word(i)));
            verb.filter(|_| self.word(next) == "of")?;
        }
        let (wording, _) = self.nearest_wording(at, next)?;
        let metric = metric_name::metric(&self.metric_near(at), None);
        let mut finding = Finding::new(Format::Prose, metric, delta);
        finding.wording = Some(wording);
        finding.readings = self.readings_of_factor(&finding.delta, at);
        finding.scope = role::scope(&self.text[self.tokens[0].start..self.tokens[self.tokens.len() - 1].end]);
        Some((finding, next))
    }

    /// `2.5x` with the letter glued on, or `2.5 times` in front of a comparison.
    fn factor(&self, at: usize) -> Option<(Delta, usize)> {
        let factor = self.tokens.get(at)?.number().filter(|n| n.sign.is_none())?;
        let glued = self.tokens.get(at + 1).is_some_and(|t| t.start == self.tokens[at].end);
        let letter = glued && matches!(self.word(at + 1), "x" | "X");
        let times = self.word(at + 1) == "times" && words::wording(self.word(at + 2)).is_some();
        (letter || times).then_some((Delta::Factor { factor }, at + 2))
    }

    /// "1.4 times more" may be 1.4 times as much or 2.4 times as much.
    fn readings_of_factor(&self, delta: &Delta, at: usize) -> Vec<Reading> {
        let Delta::Factor { factor } = delta else { return Vec::new() };
        if self.word(at + 1) != "times" {
            return Vec::new();
        }
        let reading =
            |meaning: String| Reading { meaning, baseline: Baseline::Unstated, before: None, after: None };
        let more = factor.plus(1.0).show();
        vec![
            reading(format!("{} times the value before", factor.show())),
            reading(format!("{} times added to the value before, {more} times it", factor.show())),
        ]
    }

    /// The closest word of change within reach of tokens `from..to`, in their clause.
    fn nearest_wording(&self, from: usize, to: usize) -> Option<(Wording, usize)> {
        let (first, end) = self.clause(from);
        for distance in 0..9 {
            let behind = (distance < 5).then_some(to + distance).filter(|at| *at < end);
            let before = from.checked_sub(distance + 1).filter(|at| *at >= first);
            for at in [behind, before].into_iter().flatten() {
                if let Some(wording) = words::wording(self.word(at)) {
                    return Some((wording, at));
                }
            }
        }
        None
    }

    /// The noun that was measured: the nearest in the clause, else the last in
    /// front of it. None is "performance", as in "improves by 5%".
    fn metric_near(&self, at: usize) -> String {
        let (from, to) = self.clause(at);
        let nouns = (from..to).filter(|i| words::is_noun(self.word(*i)));
        let distance = |i: &usize| if *i < at { 2 * (at - i) } else { 2 * (i - at) + 1 };
        let earlier = || (0..from).rev().find(|i| words::is_noun(self.word(*i)));
        let Some(noun) = nouns.min_by_key(distance).or_else(earlier) else { return PERFORMANCE.to_owned() };
        let filler = [
            "the", "a", "an", "of", "in", "on", "by", "and", "that", "with", "for", "is", "as", "total",
            "to", "while", "but", "whereas", "although", "so", "then",
        ];
        let mut first = noun;
        while first > 0 && noun - first < 2 {
            let word = self.word(first - 1);
            let plain = self.tokens[first - 1].kind == Kind::Word && words::wording(word).is_none();
            if !plain || filler.contains(&word.to_lowercase().as_str()) {
                break;
            }
            first -= 1;
        }
        let mut last = noun;
        while words::is_noun(self.word(last + 1)) && last - noun < 2 {
            last += 1;
        }
        self.text[self.tokens[first].start..self.tokens[last].end].to_owned()
    }

    /// "No change", "almost identical": a claim of equivalence.
    fn unchanged(&self) -> Option<Finding> {
        let (first, last) = (self.tokens.first()?, self.tokens.last()?);
        let sentence = self.text[first.start..last.end].to_lowercase();
        let phrase = words::null_phrase(&sentence)?;
        let metric = metric_name::metric(&self.metric_near(0), None);
        let measured = [
            "perform",
            "test",
            "result",
            "throughput",
            "latency",
            "bench",
            "time",
            "build",
            "regress",
            "measure",
        ];
        if !measured.iter().any(|word| sentence.contains(word)) {
            return None;
        }
        let mut finding = Finding::new(Format::Prose, metric, Delta::Null { words: phrase.to_owned() });
        finding.wording = Some(Wording::Unchanged);
        Some(finding)
    }
}

fn side(label: &str, read: &Quantity) -> Measured {
    Measured { label: label.to_owned(), value: read.value, deviation: read.deviation }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::lines;

    fn show(text: &str) -> String {
        let mut lines = lines::streams(text).remove(0).lines;
        lines.iter_mut().for_each(Line::tokenise);
        let lines: Vec<&Line<'_>> = lines.iter().collect();
        let one = |f: &Finding| {
            let delta = match &f.delta {
                Delta::Percent { change } => format!("{}%", change.value),
                Delta::Interval { low, high } => format!("{}..{}%", low.value, high.value),
                Delta::Null { words } => words.clone(),
                _ => "-".to_owned(),
            };
            let values = match (&f.before, &f.after) {
                (Some(b), Some(a)) => format!(" {}>{}", b.value.value, a.value.value),
                _ => String::new(),
            };
            format!("{} {:?} {delta}{values}", f.metric.name, f.wording.expect("a wording"))
        };
        read(&lines).iter().map(one).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn sentences_with_and_without_claims() {
        for (text, expected) in [
            ("With the patch, the network bandwidth improves 5.0%.", "network bandwidth Better 5%"),
            ("The CPU usage of foo decreases from 14.0% to 12.8%.", "CPU usage Down - 14>12.8"),
            ("throughput improved from 100 MB/s to 110 MB/s (10%)", "throughput Better 10% 100>110"),
            ("We see a [6, 8]% increase in IOPS.", "IOPS Up 6..8%"),
            ("latency is reduced by up to 95.9%", "latency Down 95.9%"),
            ("The build time is almost identical.", "build time Unchanged almost identical"),
            ("it is 1.42%\nbetter for throughput", "throughput Better 1.42%"),
            ("noticed a -21.4% regression of unixbench.score on:", "unixbench.score Worse -21.4%"),
            (
                "[mm] 1234abcd: vm-scalability.throughput -11.5% regression",
                "vm-scalability.throughput Worse -11.5%",
            ),
            ("x\u{202f}unixbench.score 2.0% regression", "unixbench.score Worse 2%"),
            ("No functional change intended.", ""),
            ("nr_task: 100% mode: process", ""),
            ("Difference at 95.0% confidence", ""),
            ("It used 50% of the memory.", ""),
        ] {
            assert_eq!(show(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_paragraph_reads(text in "(improves |noticed a |regression of |\u{202f}|a\\.b |from |to |of |[0-9]{1,3}%|[0-9.]{1,5} MB/s |no change|\\. |\\PC| ){0,40}") {
            show(&text);
        }
    }
}
