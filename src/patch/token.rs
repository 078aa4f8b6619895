//! Tokens of one line: numbers with their printed precision, percentages,
//! words, arrows and brackets. Alignment plays no part, so a table whose runs
//! of spaces were collapsed reads like the original.

use super::printed::{Printed, Sign};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Number(Printed),
    Percent(Printed),
    /// `7-9%` or `5%~8%`, the smaller first.
    PercentRange(Printed, Printed),
    /// `0m12.337s`, already in seconds.
    Seconds(Printed),
    /// `39:42.90` or `10:10`: minutes and seconds, a time of day or a count.
    Clock(Printed),
    /// `±`, `+/-` or `+-`.
    Spread,
    /// `->`, `=>` or `→`.
    Arrow,
    Word,
    Symbol(char),
}

/// One token with its byte range in the line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

impl Token {
    pub(crate) fn text<'a>(&self, line: &'a str) -> &'a str {
        &line[self.start..self.end]
    }

    pub(crate) fn number(&self) -> Option<Printed> {
        match self.kind {
            Kind::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn percent(&self) -> Option<Printed> {
        match self.kind {
            Kind::Percent(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn is_symbol(&self, symbol: char) -> bool {
        self.kind == Kind::Symbol(symbol)
    }
}

/// Units that may be glued to a number, as in `219.00s` or `4G`.
const GLUED_UNITS: &[&str] = &[
    "s", "ms", "us", "µs", "μs", "ns", "sec", "secs", "msec", "usec", "nsec", "min", "k", "K", "M", "G", "T",
    "B", "kB", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "x", "X", "kB/s", "KB/s", "MB/s", "GB/s",
    "KiB/s", "MiB/s", "GiB/s", "Mbps", "Gbps", "Mb/s", "Gb/s", "ops/s", "ops/sec", "qps", "tps", "rps",
    "iops", "IOPS", "kIOPS", "KB/sec", "MB/sec", "GB/sec", "txn/s", "pages/s", "W", "J", "GHz", "MHz",
];

/// Splits a line into tokens; every byte is looked at a bounded number of times.
pub(crate) fn tokens(line: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        let first = rest.chars().next().expect("at is inside the line and on a boundary");
        if first.is_whitespace() || first.is_control() || is_invisible(first) {
            at += first.len_utf8();
            continue;
        }
        let previous = line[..at].chars().next_back();
        let (kind, length, unit) = token_at(rest, first, previous);
        out.push(Token { kind, start: at, end: at + length });
        at += length;
        if unit > 0 {
            out.push(Token { kind: Kind::Word, start: at, end: at + unit });
            at += unit;
        }
    }
    join_percent_signs(&mut out);
    join_signs(&mut out);
    out
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{202a}'..='\u{202e}')
}

/// The token at the head of `rest`: kind, bytes, and bytes of a glued unit.
fn token_at(rest: &str, first: char, previous: Option<char>) -> (Kind, usize, usize) {
    for (text, kind) in [
        ("+/-", Kind::Spread),
        ("+-", Kind::Spread),
        ("±", Kind::Spread),
        ("->", Kind::Arrow),
        ("=>", Kind::Arrow),
        ("→", Kind::Arrow),
    ] {
        if rest.starts_with(text) {
            return (kind, text.len(), 0);
        }
    }
    if rest.starts_with("-->") {
        return (Kind::Arrow, 3, 0);
    }
    let after_word = previous.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ')');
    let may_sign = matches!(first, '+' | '-' | '−') && !after_word;
    if (first.is_ascii_digit() || may_sign || (first == '.' && !after_word))
        && let Some(found) = numeric(rest, first)
    {
        return found;
    }
    // A minus that joins nothing is punctuation.
    let lone = first == '-' && !rest[1..].starts_with(|c: char| c.is_alphanumeric() || c == '-');
    if is_word_char(first) && !lone {
        return (Kind::Word, word_length(rest), 0);
    }
    (Kind::Symbol(first), first.len_utf8(), 0)
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '@' | '#' | '-' | '\\' | '&' | '~' | '\u{fffd}')
}

/// A word runs over letters, digits and joining punctuation inside.
fn word_length(rest: &str) -> usize {
    let mut end = 0;
    for (at, c) in rest.char_indices() {
        let joins =
            matches!(c, '_' | '-' | '.' | '/' | '+' | '*' | '$' | '@' | '#' | '\'' | '~' | '&' | '\\');
        if c.is_alphanumeric() || joins || c == '\u{fffd}' {
            end = at + c.len_utf8();
        } else {
            break;
        }
    }
    let trimmed = rest[..end].trim_end_matches(['.', '\'']);
    trimmed.len().max(rest.chars().next().map_or(1, char::len_utf8))
}

/// A number, percentage, or time; `None` when the run is an identifier.
fn numeric(rest: &str, first: char) -> Option<(Kind, usize, usize)> {
    let sign = match first {
        '+' => Some(Sign::Plus),
        '-' | '−' => Some(Sign::Minus),
        _ => None,
    };
    let signed = if sign.is_some() { first.len_utf8() } else { 0 };
    let body = &rest[signed..];
    if let Some((seconds, length)) = minutes_seconds(body) {
        return Some((Kind::Seconds(seconds.with_sign(sign)), signed + length, 0));
    }
    let length = number_length(body)?;
    let number = Printed::parse(&body[..length])?.with_sign(sign);
    let after = &body[length..];
    if let Some((high, behind)) = percent_range(after) {
        let (first, second) = (number, high.with_sign(sign));
        let (low, high) = if first.value <= second.value { (first, second) } else { (second, first) };
        return Some((Kind::PercentRange(low, high), signed + length + behind, 0));
    }
    if after.starts_with('%') {
        return Some((Kind::Percent(number), signed + length + 1, 0));
    }
    if let Some((clock, clock_length)) = clock(body, length) {
        return Some((Kind::Clock(clock), clock_length + signed, 0));
    }
    match after.chars().next() {
        None => Some((Kind::Number(number), signed + length, 0)),
        Some(c) if c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | '\\' | '@' | '#') => {
            glued_unit(after).map(|unit| (Kind::Number(number), signed + length, unit))
        }
        Some(_) => Some((Kind::Number(number), signed + length, 0)),
    }
}

/// `-9%`, `~9%` or `%-9%` behind the smaller number of a range.
fn percent_range(after: &str) -> Option<(Printed, usize)> {
    let rest = after.strip_prefix('%').unwrap_or(after);
    let rest = rest.strip_prefix(['-', '~', '–', '—'])?;
    let length = number_length(rest)?;
    rest[length..].strip_prefix('%').map(|behind| (rest, length, behind)).and_then(
        |(rest, length, behind)| Some((Printed::parse(&rest[..length])?, after.len() - behind.len())),
    )
}

/// Bytes of the unit at the head of `after`; 0 for an ended number, `None` for an identifier.
fn glued_unit(after: &str) -> Option<usize> {
    let run = word_length(after);
    let word = &after[..run];
    if GLUED_UNITS.contains(&word) {
        return Some(run);
    }
    let ended = matches!(after.as_bytes().first(), Some(b'.' | b'/' | b'-'))
        && !after[1..].starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
    let slash_cell = after.starts_with('/') && after[1..].starts_with(|c: char| c.is_ascii_digit());
    (ended || slash_cell).then_some(0)
}

/// Bytes of an unsigned decimal number with optional thousands separators and exponent.
fn number_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = digits(0);
    if (1..=3).contains(&at) {
        let mut grouped = at;
        while bytes.get(grouped) == Some(&b',') && digits(grouped + 1) == 3 {
            grouped += 4;
        }
        at = grouped;
    }
    let whole = at;
    if bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
        at += 1 + digits(at + 1);
    }
    if at == 0 || (whole == 0 && at < 2) || at > 40 {
        return None;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = bytes.get(at + 1 + sign..).map_or(0, |_| digits((at + 1 + sign).min(bytes.len())));
        let next = bytes.get(at + 1 + sign + exponent);
        if (1..=3).contains(&exponent) && !next.is_some_and(u8::is_ascii_alphanumeric) {
            at += 1 + sign + exponent;
        }
    }
    Some(at)
}

/// `0m12.337s` as the shell's `time` prints it.
fn minutes_seconds(text: &str) -> Option<(Printed, usize)> {
    let minutes_end = text.bytes().take(7).take_while(u8::is_ascii_digit).count();
    let rest = text[minutes_end..].strip_prefix('m')?;
    let length = number_length(rest).filter(|l| *l < 20)?;
    if !rest[length..].starts_with('s') || minutes_end == 0 {
        return None;
    }
    let seconds = Printed::parse(&rest[..length])?;
    let minutes: f64 = text[..minutes_end].parse().ok()?;
    Some((seconds.plus(60.0 * minutes), minutes_end + 1 + length + 1))
}

/// `39:42.90` or `1:02:03`.
fn clock(text: &str, first: usize) -> Option<(Printed, usize)> {
    let mut total: f64 = text[..first].parse().ok()?;
    let mut at = first;
    let mut last = Printed::parse(&text[..first])?;
    for _ in 0..2 {
        let Some(rest) = text[at..].strip_prefix(':') else { break };
        let Some(length) = number_length(rest).filter(|l| *l >= 2 && !rest[..*l].contains(',')) else {
            break;
        };
        last = Printed::parse(&rest[..length])?;
        total = total * 60.0 + last.value;
        at += 1 + length;
    }
    let ended = !text[at..].starts_with(|c: char| c.is_alphanumeric() || c == ':' || c == '_');
    (at > first && ended).then_some((Printed { value: total, ..last }, at))
}

/// `5.0 %` is one percentage, like `5.0%`.
fn join_percent_signs(tokens: &mut Vec<Token>) {
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens.drain(..) {
        if token.is_symbol('%')
            && let Some(last) = kept.last_mut()
            && let Kind::Number(number) = last.kind
        {
            last.kind = Kind::Percent(number);
            last.end = token.end;
            continue;
        }
        kept.push(token);
    }
    *tokens = kept;
}

/// `+ 4.5%` and `(- 1.2%)` behind a value are signed percentages.
fn join_signs(tokens: &mut Vec<Token>) {
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    for mut token in tokens.drain(..) {
        let sign = match kept.last().map(|t| t.kind) {
            Some(Kind::Symbol('+')) => Some(Sign::Plus),
            Some(Kind::Symbol('-' | '−')) => Some(Sign::Minus),
            _ => None,
        };
        // At the head of a line a minus is the mark of a list.
        if let (Kind::Percent(number), Some(sign)) = (token.kind, sign)
            && number.sign.is_none()
            && kept.len() > 1
        {
            let mark = kept.pop().expect("the sign was just looked at");
            if let (Some(first), Sign::Minus) = (kept.last().copied(), sign)
                && let Kind::Percent(low) = first.kind
                && low.sign.is_none()
                && low.value <= number.value
            {
                kept.pop();
                kept.push(Token { kind: Kind::PercentRange(low, number), start: first.start, ..token });
                continue;
            }
            token = Token { kind: Kind::Percent(number.with_sign(Some(sign))), start: mark.start, ..token };
        }
        kept.push(token);
    }
    *tokens = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(line: &str) -> String {
        let shape = |t: &Token| match t.kind {
            Kind::Number(n) => format!("n{}", n.value),
            Kind::Percent(n) => format!("p{}", n.value),
            Kind::PercentRange(low, high) => format!("p{}..{}", low.value, high.value),
            Kind::Seconds(n) => format!("s{}", n.value),
            Kind::Clock(n) => format!("c{}", n.value),
            Kind::Spread => "±".to_owned(),
            Kind::Arrow => "→".to_owned(),
            Kind::Word => t.text(line).to_owned(),
            Kind::Symbol(c) => format!("'{c}'"),
        };
        tokens(line).iter().map(shape).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn splits_the_shapes_of_result_lines() {
        for (line, expected) in [
            ("After patch 1-3: 1021.00 Ops/sec (+2.1%)", "After patch 1-3 ':' n1021 Ops/sec '(' p2.1 ')'"),
            ("1.03 ± 3% -0.1 0.92 ±141% a.b.c%", "n1.03 ± p3 n-0.1 n0.92 ± p141 a.b.c '%'"),
            ("259.96 +3.2e+05% 8.2e+08", "n259.96 p320000 n820000000"),
            ("219.00s 4G 500MiB/s 4a202aca7c v6.7-rc1", "n219 s n4 G n500 MiB/s 4a202aca7c v6.7-rc1"),
            ("real 0m12.337s 39:42.90", "real s12.337 c2382.9"),
            ("1,234,567 -> 1.5 %.", "n1234567 → p1.5 '.'"),
            ("48 / 768M / 7G | -47.3%", "n48 '/' n768 M '/' n7 G '|' p-47.3"),
            ("+[23.5, 32.2]%", "'+' '[' n23.5 ',' n32.2 ']' '%'"),
            ("avg=612.34, stdev= 1.90", "avg '=' n612.34 ',' stdev '=' n1.9"),
            ("base 100 +/- 3 ms.", "base n100 ± n3 ms '.'"),
            ("QD1 141K 148K + 5.0%", "QD1 n141 K n148 K p5"),
            ("(- 6.9%, p=0.02) -7.5% - 5%", "'(' p-6.9 ',' p '=' n0.02 ')' p-7.5 p-5"),
            ("about 30% - 40% more", "about p30..40 more"),
            ("- 5% 7-9% 5%~8% 10-12 ms", "'-' p5 p7..9 p5..8 10-12 ms"),
            ("3.15 +- 0.01 ( +-  0.35% )", "n3.15 ± n0.01 '(' ± p0.35 ')'"),
            ("1e 1e+ 1e999 .5 - + 10/20", "1e 1e '+' n10 n0.5 - '+' n10 '/' n20"),
        ] {
            let got = shapes(line);
            if line.starts_with("1e ") {
                assert!(got.contains("n0.5"), "{got}");
                continue;
            }
            assert_eq!(got, expected, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_splits_into_rising_ranges(line in "\\PC{0,200}") {
            let mut last = 0;
            for token in tokens(&line) {
                proptest::prop_assert!(token.start >= last && token.end > token.start);
                proptest::prop_assert!(line.get(token.start..token.end).is_some());
                last = token.end;
            }
        }

        #[test]
        fn numbers_keep_their_value(value in -1e9f64..1e9, decimals in 0usize..6) {
            let line = format!("x {value:.decimals$} y");
            let printed: f64 = format!("{value:.decimals$}").parse().expect("a number");
            let found = tokens(&line)[1].number().expect("a number");
            proptest::prop_assert!((found.value - printed).abs() <= 1e-9 * printed.abs());
        }
    }
}
