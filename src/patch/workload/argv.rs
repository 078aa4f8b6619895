//! Command lines from mail text into words. Nothing is expanded, nothing is run:
//! quotes and backslashes are taken off, and the line ends where a shell would
//! start another command.

use crate::patch::limits;

/// Joins lines that end in a backslash; gives the text and the lines it took.
pub(crate) fn join_continued<'a>(lines: impl Iterator<Item = &'a str>) -> (String, usize) {
    let mut text = String::new();
    let mut taken = 0;
    for line in lines.take(limits::COMMAND_LINES) {
        taken += 1;
        let line = line.trim();
        match line.strip_suffix('\\') {
            Some(part) => {
                text.push_str(part);
                text.push(' ');
            }
            None => {
                text.push_str(line);
                break;
            }
        }
    }
    (text, taken)
}

/// Splits a command line into words, up to `;`, `|`, `&` or a redirection.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (Some('"') | None, '\\') => {
                if let Some(next) = chars.next() {
                    word.get_or_insert_default().push(next);
                }
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ';' | '|' | '&' | '<' | '>') => break,
            (None, '#') if word.is_none() => break,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
        if words.len() >= limits::COMMAND_WORDS {
            break;
        }
    }
    words.extend(word.take());
    words
}

/// Words in front of a command that do not change what is measured.
pub(crate) fn skip_wrappers(words: &[String]) -> &[String] {
    let mut rest = words;
    for _ in 0..12 {
        let Some(first) = rest.first() else { return rest };
        let skipped = match first.as_str() {
            "$" | "sudo" | "time" | "nohup" | "exec" | "do" => 1,
            "perf" if rest.get(1).is_some_and(|w| w == "stat") => 2 + options_of_wrapper("perf", &rest[2..]),
            "taskset" | "nice" | "ionice" | "cgexec" | "numactl" | "systemd-run" | "env" | "chrt"
            | "setsid" => 1 + options_of_wrapper(first, &rest[1..]),
            word if is_assignment(word) => 1,
            _ => return rest,
        };
        rest = rest.get(skipped..).unwrap_or(&[]);
    }
    rest
}

fn options_of_wrapper(name: &str, rest: &[String]) -> usize {
    let takes = |option: &str| match name {
        "taskset" => option == "-c" || option == "-p",
        "numactl" => ["-N", "-m", "-C", "-i", "-l"].contains(&option),
        "nice" => option == "-n",
        "perf" => ["-r", "-e", "-o", "-C"].contains(&option),
        "ionice" => option == "-c" || option == "-n",
        "cgexec" => option == "-g",
        "systemd-run" => option == "-p" || option == "--property",
        _ => false,
    };
    let mut at = 0;
    while let Some(word) = rest.get(at).filter(|w| w.starts_with('-')) {
        at += 1 + usize::from(takes(word));
    }
    let mask = name == "taskset" && rest.get(at).is_some_and(|w| w.starts_with("0x"));
    at + usize::from(mask)
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_without_expansion() {
        for (text, expected) in [
            ("memcached -u nobody -m 16 &", vec!["memcached", "-u", "nobody", "-m", "16"]),
            ("fio '--name=a b' --x=\"$(rm -rf /)\" ; reboot", vec!["fio", "--name=a b", "--x=$(rm -rf /)"]),
            ("a\\ b c # note", vec!["a b", "c"]),
            ("", vec![]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
        let (joined, taken) = join_continued(["fio -a \\", "  -b", "next"].into_iter());
        assert_eq!((joined.as_str(), taken), ("fio -a  -b", 2));
        let words = split("sudo taskset -c 0-3 FOO=1 numactl -N 0 memcached -t 4");
        assert_eq!(skip_wrappers(&words)[0], "memcached");
    }

    proptest::proptest! {
        #[test]
        fn any_text_splits(text in "\\PC{0,300}") {
            let words = split(&text);
            skip_wrappers(&words);
        }
    }
}
