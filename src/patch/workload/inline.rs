//! Command lines inside a sentence: "tested with `usemem -n 4 1g` on the same
//! machine". They end where words begin that can be no part of them.

use super::argv;
use super::tools;
use super::typed::Command;

/// Commands one paragraph may hold.
const MOST: usize = 4;

/// The commands of a paragraph, each a known program with an option behind it.
pub(super) fn commands(text: &str) -> Vec<Command> {
    let words: Vec<&str> = text.split_whitespace().take(3000).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at + 1 < words.len() && found.len() < MOST {
        let program = plain(words[at]);
        let name = program.rsplit('/').next().unwrap_or(program);
        if !is_option(words[at + 1]) || !tools::is_known(name) {
            at += 1;
            continue;
        }
        let length = 1 + arguments(&words[at + 1..]);
        let line: Vec<&str> = words[at..at + length].iter().map(|w| plain(w)).collect();
        let line = argv::split(&line.join(" "));
        if let Some((program, rest)) = line.split_first()
            && let Some((workload, parsed)) = tools::read(program, rest, false)
        {
            found.push(Command {
                workload,
                unsupported: parsed.unsupported,
                replaced: parsed.replaced,
                inherited: false,
            });
        }
        at += length;
    }
    found
}

/// How many words belong to the command.
fn arguments(words: &[&str]) -> usize {
    let mut taken = 0;
    for (at, word) in words.iter().take(60).enumerate() {
        let value = at > 0 && is_option(words[at - 1]) && !words[at - 1].contains('=');
        let sized = word.starts_with(|c: char| c.is_ascii_digit());
        if !(is_option(word) || value || sized) {
            break;
        }
        taken = at + 1;
        // A quote, a colon or a comma closes it.
        if word.ends_with(['`', '"', '\'', ':', ',', ')', ';', '.']) {
            break;
        }
    }
    taken
}

fn is_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    word.starts_with('-') && name.starts_with(|c: char| c.is_ascii_alphabetic()) && word.len() < 200
}

/// A word without the marks of the sentence around it.
fn plain(word: &str) -> &str {
    word.trim_matches(['`', '"', '\'', '(', ')', ':', ',', ';']).trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::workload::Workload;
    use crate::units::Bytes;

    #[test]
    fn a_command_ends_where_the_sentence_goes_on() {
        let found = commands("On the same host, `usemem -n 4 -r 2 1g` was run 6 times with -O2 kernels:");
        let [Command { workload: Workload::Usemem(run), .. }] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((run.processes, run.repeats, run.size), (Some(4), Some(2), Some(Bytes::gib(1))));
        let found = commands("We used hackbench -g 16 and fio --rw=randread --bs=4k, as before.");
        let names: Vec<&str> = found.iter().map(|c| c.workload.name()).collect();
        assert_eq!(names, ["hackbench", "fio"]);
        assert!(commands("fio is a tool -- it reads. The make -based build.").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_paragraph_reads(text in "(fio |usemem |-n |--x=|`|1g |'|\\\\|\\PC| ){0,60}") {
            commands(&text);
        }
    }
}
