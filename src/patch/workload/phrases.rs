//! Sentences around a result: limits, swap, machine, kernel base, runs, and
//! workloads named in words only.

use crate::patch::claim::{Runs, Statistic};
use crate::patch::token::{self, Kind, Token};
use crate::units::Bytes;

use super::flags;
use super::inline;
use super::setting::{Setting, Swap, SwapKind};
use super::typed::{Command, KernelBuild, NetperfRun, Workload};

/// Words that make a phrase behind "on" a machine.
const VENDORS: &[&str] = &[
    "epyc",
    "xeon",
    "intel",
    "amd",
    "ryzen",
    "skylake",
    "kunpeng",
    "ampere",
    "graviton",
    "neoverse",
    "power9",
    "power10",
    "aarch64",
    "arm64",
    "raspberry",
    "cascade",
    "icelake",
    "sapphire",
    "threadripper",
    "i5",
    "i7",
    "i9",
    "server",
    "laptop",
    "machine",
    "vm",
    "snapdragon",
    "broadwell",
    "haswell",
];
/// Words that end such a phrase.
const MACHINE_ENDS: &[&str] = &[
    "with", "using", "and", "where", "we", "which", "that", "running", "in", "by", "for", "the", "has", "is",
    "here", "with:",
];

/// Facts of one paragraph; `None` when it states none.
pub(crate) fn sentence(text: &str) -> Option<Setting> {
    let words = Words::new(text);
    let setting = Setting {
        memcg_limit: words.memcg_limit(),
        swap: words.swap(),
        machine: words.machine(),
        kernel_base: words.kernel_base(),
        commands: words.workloads(),
        text: text.trim().chars().take(400).collect(),
        ..Setting::default()
    };
    let stated = setting.has_surroundings() || setting.kernel_base.is_some() || !setting.commands.is_empty();
    stated.then_some(setting)
}

/// The stated number of runs in a paragraph.
pub(crate) fn runs(text: &str) -> Option<Runs> {
    Words::new(text).runs()
}

struct Words<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// The tokens in lower case.
    lower: Vec<String>,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
        let tokens = token::tokens(text);
        let lower = tokens.iter().map(|t| t.text(text).to_lowercase()).collect();
        Words { text, tokens, lower }
    }

    fn lower(&self, at: usize) -> &str {
        self.lower.get(at).map_or("", String::as_str)
    }

    fn range(&self, from: usize, to: usize) -> String {
        let last = to.min(self.tokens.len()).saturating_sub(1);
        self.text.get(self.tokens[from].start..self.tokens[last].end).unwrap_or("").to_owned()
    }

    /// A size and the index behind it: `4G`, `4 GiB`, `512M`.
    fn size(&self, at: usize) -> Option<(Bytes, usize)> {
        let number = self.tokens.get(at)?.number()?;
        let unit = self.tokens.get(at + 1).filter(|t| t.kind == Kind::Word)?.text(self.text);
        let bytes = flags::size(&format!("{}{unit}", number.value), 1)?;
        (unit != "s").then_some((bytes, at + 2))
    }

    /// `4G memcg`, `memcg limit of 8G`, `memory.max=4G`.
    fn memcg_limit(&self) -> Option<Bytes> {
        let group = |at: usize| {
            let word = self.lower(at);
            word.starts_with("memcg")
                || word.starts_with("cgroup")
                || word == "memory.max"
                || word == "memory.high"
        };
        for at in 0..self.tokens.len() {
            let Some((bytes, next)) = self.size(at) else { continue };
            let behind = (next..next + 3).any(group);
            let limits = (at.saturating_sub(4)..at).any(|i| matches!(self.lower(i), "limit" | "limited"));
            let before = (at.saturating_sub(6)..at).any(group);
            if behind || (before && (limits || self.tokens[at - 1].is_symbol('='))) {
                return Some(bytes);
            }
        }
        None
    }

    /// `Ramdisk based swap`, `8G ZRAM as swap`, `on top of zswap`.
    fn swap(&self) -> Option<Swap> {
        let kinds = [
            ("ramdisk", SwapKind::Ramdisk),
            ("brd", SwapKind::Ramdisk),
            ("zram", SwapKind::Zram),
            ("zswap", SwapKind::Zswap),
            ("pmem", SwapKind::Pmem),
            ("swapfile", SwapKind::File),
        ];
        let mentions = (0..self.tokens.len()).any(|i| self.lower(i).starts_with("swap"));
        for at in 0..self.tokens.len() {
            let word = self.lower(at);
            let Some((_, kind)) = kinds.iter().find(|(name, _)| word.trim_end_matches('s') == *name) else {
                continue;
            };
            let compressed = matches!(kind, SwapKind::Zram | SwapKind::Zswap);
            let size =
                at.checked_sub(2).and_then(|i| self.size(i)).filter(|(_, next)| *next == at).map(|(b, _)| b);
            if mentions || compressed {
                return Some(Swap { kind: Some(*kind), size });
            }
        }
        None
    }

    /// `on a EPYC 7K62 with`, `On a 2-socket Intel server with 128 logical CPU`.
    fn machine(&self) -> Option<String> {
        let named = |at: usize| {
            let word = self.lower(at);
            VENDORS.iter().any(|v| word == *v || word.starts_with(&format!("{v}-")))
        };
        for at in 0..self.tokens.len() {
            if self.lower(at) != "on" || at + 1 >= self.tokens.len() {
                continue;
            }
            let first = at + 1 + usize::from(matches!(self.lower(at + 1), "a" | "an" | "my" | "our" | "the"));
            let stop = |i: usize| {
                MACHINE_ENDS.contains(&self.lower(i))
                    || matches!(self.tokens[i].kind, Kind::Symbol(':' | ',' | '.' | ';' | ')'))
            };
            let mut end = (first..self.tokens.len().min(first + 14))
                .find(|i| stop(*i))
                .unwrap_or((first + 14).min(self.tokens.len()));
            if end <= first || !(first..end).any(named) {
                continue;
            }
            // `with 128 logical CPU` still describes the machine.
            let size_words = ["cpu", "cpus", "core", "cores", "threads", "memory", "ram"];
            if self.lower(end) == "with"
                && self.tokens.get(end + 1).is_some_and(|t| t.number().is_some())
                && let Some(last) =
                    (end + 1..self.tokens.len().min(end + 5)).find(|i| size_words.contains(&self.lower(*i)))
            {
                end = last + 1;
            }
            return Some(self.range(first, end).chars().take(120).collect());
        }
        None
    }

    /// `based on v6.7-rc5`, `base: v6.13-rc1`.
    fn kernel_base(&self) -> Option<String> {
        for at in 1..self.tokens.len() {
            let word = self.tokens[at].text(self.text);
            let version = word.strip_prefix('v').unwrap_or(word);
            let shaped = version.starts_with(|c: char| ('2'..='9').contains(&c)) && version.contains('.');
            let marked = (at.saturating_sub(4)..at)
                .any(|i| matches!(self.lower(i), "based" | "base" | "kernel" | "upon" | "onto" | "top"));
            let plain = version.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+'));
            let release = word.starts_with('v') || version.contains("-rc");
            if shaped && marked && plain && release && word.len() < 40 {
                return Some(word.to_owned());
            }
        }
        None
    }

    /// Workloads in words: `SCTP_STREAM_MANY test case of netperf … with 64-pair`, `make -j96`.
    fn workloads(&self) -> Vec<Command> {
        let mut found = inline::commands(self.text);
        let tests = [
            "SCTP_STREAM",
            "TCP_STREAM",
            "UDP_STREAM",
            "TCP_RR",
            "UDP_RR",
            "TCP_CRR",
            "SCTP_RR",
            "TCP_MAERTS",
        ];
        let test =
            self.tokens.iter().map(|t| t.text(self.text)).find(|w| tests.iter().any(|t| w.starts_with(t)));
        let named = found.iter().any(|c| matches!(c.workload, Workload::Netperf(_)));
        if let Some(test) = test.filter(|t| t.len() < 40 && !named) {
            found.push(command(Workload::Netperf(NetperfRun {
                test: Some(test.to_owned()),
                duration: None,
                pairs: self.pairs(),
            })));
        }
        let make = (0..self.tokens.len()).find(|i| self.lower(*i) == "make");
        let jobs = make.and_then(|at| self.lower(at + 1).strip_prefix("-j").map(str::to_owned));
        if let Some(jobs) = jobs {
            let jobs = jobs.chars().take_while(char::is_ascii_digit).collect::<String>();
            found.push(command(Workload::KernelBuild(KernelBuild { jobs: jobs.parse().ok(), target: None })));
        }
        found
    }

    /// `64-pair`, `64 pairs`.
    fn pairs(&self) -> Option<u32> {
        (0..self.tokens.len()).find_map(|at| {
            let word = self.lower(at);
            if let Some((count, _)) = word.split_once("-pair") {
                return count.parse().ok();
            }
            let count = self.tokens[at].number().filter(|n| n.decimals == 0 && n.value < 1e6)?;
            self.lower(at + 1).starts_with("pair").then_some(count.value as u32)
        })
    }

    /// `Average result of 18 test runs`, `(18 times)`, `median of 3`.
    fn runs(&self) -> Option<Runs> {
        let nouns = ["run", "runs", "times", "iterations", "rounds", "repeats", "repetitions"];
        let comparing =
            ["faster", "slower", "more", "larger", "smaller", "higher", "lower", "better", "as", "the"];
        for at in 0..self.tokens.len() {
            let Some(count) = self.count(at) else { continue };
            let noun = (at + 1..at + 4).find(|i| nouns.contains(&self.lower(*i)));
            let noun = noun.filter(|i| !comparing.contains(&self.lower(i + 1)));
            let noun = noun.filter(|i| (at + 1..*i).all(|j| self.tokens[j].kind == Kind::Word));
            let statistic_of =
                at >= 2 && self.lower(at - 1) == "of" && statistic(self.lower(at - 2)) != Statistic::Unstated;
            if noun.is_none() && !statistic_of {
                continue;
            }
            let from = at.saturating_sub(6);
            let to = noun.map_or(at + 1, |i| i + 1);
            let found = (from..(to + 4).min(self.tokens.len()))
                .map(|i| statistic(self.lower(i)))
                .find(|s| *s != Statistic::Unstated);
            return Some(Runs {
                count,
                statistic: found.unwrap_or(Statistic::Unstated),
                text: self.range(from, to).chars().take(120).collect(),
            });
        }
        None
    }

    fn count(&self, at: usize) -> Option<u32> {
        let words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
        let word = self.lower(at);
        if let Some(found) = words.iter().position(|w| *w == word) {
            return u32::try_from(found + 1).ok().filter(|n| *n >= 2);
        }
        let number = self.tokens[at].number().filter(|n| n.decimals == 0 && n.sign.is_none())?;
        ((1.0..=100_000.0).contains(&number.value)).then_some(number.value as u32)
    }
}

fn command(workload: Workload) -> Command {
    Command { workload, unsupported: Vec::new(), replaced: Vec::new(), inherited: false }
}

fn statistic(word: &str) -> Statistic {
    match word {
        "average" | "averaged" | "avg" | "mean" | "averages" => Statistic::Mean,
        "median" => Statistic::Median,
        "best" => Statistic::Best,
        _ => Statistic::Unstated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surroundings_of_a_result() {
        let found = sentence("Ramdisk based swap test in a 4G memcg on a EPYC 9X99 with:").expect("facts");
        assert_eq!(found.memcg_limit, Some(Bytes::gib(4)));
        assert_eq!(found.machine.as_deref(), Some("EPYC 9X99"));
        assert_eq!(found.swap.and_then(|s| s.kind), Some(SwapKind::Ramdisk));
        let found = sentence("On a 2-socket Intel server with 96 logical CPU, we tested TCP_STREAM_MANY test case of netperf with 32-pair processes. Based on v6.9-rc3.").expect("facts");
        assert_eq!(found.machine.as_deref(), Some("2-socket Intel server with 96 logical CPU"));
        assert_eq!(found.kernel_base.as_deref(), Some("v6.9-rc3"));
        let Workload::Netperf(run) = &found.commands[0].workload else { panic!("{found:?}") };
        assert_eq!((run.test.as_deref(), run.pairs), (Some("TCP_STREAM_MANY"), Some(32)));
        let found = sentence("16G ZRAM as swap, memcg limit of 512M, make -j32").expect("facts");
        assert_eq!(found.swap.and_then(|s| s.size), Some(Bytes::gib(16)));
        assert_eq!(found.memcg_limit, Some(Bytes::mib(512)));
        assert_eq!(sentence("Nothing here."), None);
    }

    #[test]
    fn run_counts() {
        let show = |text: &str| runs(text).map(|r| (r.count, r.statistic));
        for (text, expected) in [
            ("Average result of 18 test runs:", Some((18, Statistic::Mean))),
            ("(avg of 32 test run)", Some((32, Statistic::Mean))),
            ("median of 3", Some((3, Statistic::Median))),
            ("(18 times)", Some((18, Statistic::Unstated))),
            ("we ran it three times", Some((3, Statistic::Unstated))),
            ("2 times faster than before", None),
            ("128 logical CPU", None),
        ] {
            assert_eq!(show(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_paragraph_reads(text in "(on a |4G |memcg |with |18 |runs|of |Intel |v6\\.7 |\\PC| ){0,40}") {
            sentence(&text);
            runs(&text);
        }
    }
}
