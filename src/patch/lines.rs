//! Lines of a body by depth of quotation. Each depth is a stream of its own,
//! so a comment between two rows of a quoted table does not part them.

use std::collections::BTreeMap;

use super::limits;
use super::token::{self, Token};

/// One line without its quote marks.
#[derive(Debug, Clone)]
pub(crate) struct Line<'a> {
    pub text: &'a str,
    /// Offset of `text` in the body.
    pub start: usize,
    pub tokens: Vec<Token>,
}

impl Line<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Fills in the tokens; lines too long for a person to have written get none.
    pub(crate) fn tokenise(&mut self) {
        if self.text.len() <= limits::LINE_BYTES {
            self.tokens = token::tokens(self.text);
        }
    }
}

/// The lines of one depth of quotation, in order.
#[derive(Debug)]
pub(crate) struct Stream<'a> {
    pub depth: u8,
    pub lines: Vec<Line<'a>>,
}

/// The streams of a body, the author's own words first.
pub(crate) fn streams(body: &str) -> Vec<Stream<'_>> {
    let mut streams = verbatim_streams(body);
    for line in streams.iter_mut().flat_map(|s| &mut s.lines) {
        line.text = line.text.trim_end();
    }
    streams
}

/// The same with the white space at line ends, which diffs need.
pub(crate) fn verbatim_streams(body: &str) -> Vec<Stream<'_>> {
    let mut by_depth: BTreeMap<u8, Vec<Line<'_>>> = BTreeMap::new();
    let mut at = 0;
    for line in body.split('\n') {
        let (depth, skip) = quote_marks(line);
        let text = &line[skip..];
        by_depth.entry(depth).or_default().push(Line { text, start: at + skip, tokens: Vec::new() });
        at += line.len() + 1;
    }
    by_depth.into_iter().map(|(depth, lines)| Stream { depth, lines }).collect()
}

/// Levels of `>` and the bytes they take, with one space behind each.
fn quote_marks(line: &str) -> (u8, usize) {
    let bytes = line.as_bytes();
    let (mut depth, mut at) = (0u8, 0);
    loop {
        let blank = usize::from(depth > 0 && bytes.get(at) == Some(&b' '));
        if bytes.get(at + blank) != Some(&b'>') || depth >= limits::QUOTE_DEPTH {
            return (depth, at + blank);
        }
        at += blank + 1;
        depth += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_streams() {
        let body = "own\n> > row 1\n> comment\n>> row 2\n>>> x\n";
        let found = streams(body);
        let depth_two: Vec<&str> = found[2].lines.iter().map(|l| l.text).collect();
        assert_eq!(depth_two, ["row 1", "row 2"]);
        let row = &found[2].lines[1];
        assert_eq!(&body[row.start..row.end()], "row 2");
        assert_eq!(found[3].lines[0].text, "x");
    }

    proptest::proptest! {
        #[test]
        fn every_line_lands_once(body in "(>{0,30} ?\\PC{0,12}\n){0,30}") {
            let found: usize = streams(&body).iter().map(|s| s.lines.len()).sum();
            proptest::prop_assert_eq!(found, body.split('\n').count());
            for line in streams(&body).iter().flat_map(|s| &s.lines) {
                proptest::prop_assert_eq!(&body[line.start..line.end()], line.text);
            }
        }
    }
}
