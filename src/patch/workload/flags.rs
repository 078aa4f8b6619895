//! Options of a command against a table of those we know. What is not in the
//! table is kept and shown as unsupported, never dropped.

use crate::units::{Bytes, Nanos};

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Value,
    /// A path, user or address of the author's machine; ours is used instead.
    Ours,
}

/// One known option: its names and what it takes. The first name is canonical.
pub(crate) type Flag = (&'static [&'static str], Takes);

/// Options as found.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Parsed {
    found: Vec<(&'static str, String)>,
    pub unsupported: Vec<String>,
    pub replaced: Vec<String>,
    pub words: Vec<String>,
}

impl Parsed {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.found.iter().rev().find(|(flag, _)| *flag == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|v| v.chars().take(200).collect())
    }

    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// A size with the one-letter suffixes of Linux tools, 1024-based; `unit` scales a bare number.
    pub(crate) fn size(&self, name: &str, unit: u64) -> Option<Bytes> {
        size(self.get(name)?, unit)
    }

    pub(crate) fn seconds(&self, name: &str) -> Option<Nanos> {
        duration(self.get(name)?)
    }
}

/// Reads arguments; a word that is no option ends a line that has lost its newlines
/// (`stop_at_words`), else it is kept as a word.
pub(crate) fn parse(arguments: &[String], known: &[Flag], stop_at_words: bool) -> Parsed {
    let mut parsed = Parsed::default();
    let mut at = 0;
    while at < arguments.len() {
        let argument = &arguments[at];
        at += 1;
        if !argument.starts_with('-') || argument.len() == 1 {
            if stop_at_words {
                break;
            }
            parsed.words.push(argument.clone());
            continue;
        }
        let (name, inline) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (argument.as_str(), None),
        };
        let Some((names, takes)) = find(known, name) else {
            if let Some((flag, value)) = glued(known, argument) {
                parsed.found.push((flag, value));
                continue;
            }
            let value = arguments.get(at).filter(|next| inline.is_none() && is_value(next));
            parsed.unsupported.push(match value {
                Some(value) if !stop_at_words => {
                    at += 1;
                    format!("{argument} {value}")
                }
                _ => argument.clone(),
            });
            continue;
        };
        let value = match takes {
            Takes::Nothing => inline.unwrap_or_default(),
            Takes::Value | Takes::Ours => inline.unwrap_or_else(|| {
                let next = arguments.get(at).cloned().unwrap_or_default();
                at += 1;
                next
            }),
        };
        if takes == Takes::Ours {
            parsed.replaced.push(names[0].to_owned());
        }
        parsed.found.push((names[0], if takes == Takes::Ours { String::new() } else { value }));
    }
    parsed
}

fn find(known: &[Flag], name: &str) -> Option<Flag> {
    known.iter().find(|(names, _)| names.contains(&name)).copied()
}

/// `-t16`, `-j96`: a short option with its value glued on.
fn glued(known: &[Flag], argument: &str) -> Option<(&'static str, String)> {
    let short = argument.get(..2).filter(|s| !s.starts_with("--"))?;
    let (names, takes) = find(known, short)?;
    let value = &argument[2..];
    let digits = value.starts_with(|c: char| c.is_ascii_digit());
    (takes == Takes::Value && digits).then(|| (names[0], value.to_owned()))
}

fn is_value(word: &str) -> bool {
    !word.starts_with('-') && word.starts_with(|c: char| c.is_ascii_digit())
}

/// `4G`, `960m`, `1024`, `16GiB`.
pub(crate) fn size(text: &str, unit: u64) -> Option<Bytes> {
    let digits = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let number: f64 = text[..digits].parse().ok()?;
    let factor = match text[digits..].trim_start().to_ascii_lowercase().as_str() {
        "" => unit,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        "b" => 1,
        _ => return None,
    };
    let bytes = number * factor as f64;
    (bytes.is_finite() && (0.0..9e18).contains(&bytes)).then(|| Bytes(bytes.round() as u64))
}

/// `300`, `5m`, `1h`, `30s`.
pub(crate) fn duration(text: &str) -> Option<Nanos> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text[..digits].parse().ok().filter(|n| *n < 1_000_000_000)?;
    let seconds = match &text[digits..] {
        "" | "s" | "sec" => number,
        "m" | "min" => number.checked_mul(60)?,
        "h" => number.checked_mul(3600)?,
        "d" => number.checked_mul(86_400)?,
        _ => return None,
    };
    (seconds < 18_000_000_000).then(|| Nanos::from_seconds(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Flag] = &[
        (&["--threads", "-t"], Takes::Value),
        (&["--unix", "-s"], Takes::Ours),
        (&["--quiet", "-q"], Takes::Nothing),
    ];

    #[test]
    fn known_unknown_and_ours() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let parsed = parse(&words("-t 4 -s /tmp/x -q --zap=1 -y 3 word"), KNOWN, false);
        assert_eq!(parsed.number::<u32>("--threads"), Some(4));
        assert_eq!(parsed.replaced, ["--unix"]);
        assert_eq!(parsed.unsupported, ["--zap=1", "-y 3"]);
        assert_eq!(parsed.words, ["word"]);
        let flat = parse(&words("-t8 -q Average of -s /x"), KNOWN, true);
        assert_eq!(flat.number::<u32>("--threads"), Some(8));
        assert!(flat.replaced.is_empty());
    }

    #[test]
    fn sizes_and_durations() {
        assert_eq!(size("4G", 1), Some(Bytes::gib(4)));
        assert_eq!(size("16384", 1 << 20), Some(Bytes::gib(16)));
        assert_eq!(size("1.5g", 1), Some(Bytes::mib(1536)));
        assert_eq!(size("x", 1), None);
        assert_eq!(duration("5m"), Some(Nanos::from_seconds(300)));
        assert_eq!(duration("99999999999999999999"), None);
    }
}
