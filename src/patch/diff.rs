//! Unified diffs inside mail text: files, functions and hunks, and which lines
//! are diff and which are text again. Quoted diffs that lost their indentation,
//! quilt diffs and diffs on one line are read as far as they go.

use serde::{Deserialize, Serialize};

use super::lines::Line;

/// One `@@` hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
    /// The function named behind `@@`.
    pub function: Option<String>,
}

/// The changes to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    pub path: String,
    pub hunks: Vec<Hunk>,
    pub added: u32,
    pub removed: u32,
    /// The path leaves the tree (absolute or with `..`); never to be opened.
    pub outside_tree: bool,
}

/// All changes of one message.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Diff {
    pub files: Vec<FileDiff>,
}

impl Diff {
    /// Names of the functions the hunks lie in, in order, each once.
    pub fn functions(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for hunk in self.files.iter().flat_map(|file| &file.hunks) {
            if let Some(name) = hunk.function.as_deref()
                && !names.contains(&name)
                && names.len() < 1000
            {
                names.push(name);
            }
        }
        names
    }
}

/// Removes diff lines from a stream and reads them.
pub(crate) fn separate<'a>(lines: Vec<Line<'a>>) -> (Vec<Line<'a>>, Diff) {
    let mut reader = Reader::default();
    let mut text = Vec::with_capacity(lines.len());
    let mut lines = lines.into_iter().peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().map_or("", |l| l.text);
        if !reader.takes(line.text, next) {
            text.push(line);
        }
    }
    (text, reader.diff)
}

/// The diff lines of a stream, byte for byte.
pub(crate) fn extract(lines: &[Line<'_>]) -> String {
    let mut reader = Reader::default();
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        let next = lines.get(at + 1).map_or("", |l| l.text);
        if reader.takes(line.text, next) {
            out.push_str(line.text);
            out.push('\n');
        }
    }
    out
}

#[derive(Debug, Default)]
struct Reader {
    diff: Diff,
    /// Between a file's head and its end.
    inside: bool,
    old_left: u32,
    new_left: u32,
}

impl Reader {
    /// Whether the line belongs to a diff.
    fn takes(&mut self, line: &str, next: &str) -> bool {
        if let Some(rest) = line.strip_prefix("diff --git ") {
            self.open(path_of_git(rest));
            return true;
        }
        if self.in_hunk() && !line.starts_with("@@ ") {
            self.count(line);
            return true;
        }
        let header = line.strip_prefix("--- ").filter(|_| next.starts_with("+++ "));
        if let Some(old) = header {
            let new = next.strip_prefix("+++ ").unwrap_or("");
            self.name(old, new);
            return true;
        }
        if !self.inside {
            return false;
        }
        if let Some(hunk) = hunk_header(line) {
            (self.old_left, self.new_left) = (hunk.old_lines, hunk.new_lines);
            if let Some(file) = self.diff.files.last_mut()
                && file.hunks.len() < 10_000
            {
                file.hunks.push(hunk);
            }
            return true;
        }
        let marks = [
            "+++ ",
            "index ",
            "new file mode",
            "deleted file mode",
            "old mode",
            "new mode",
            "similarity ",
            "rename ",
            "copy ",
            "\\ No newline",
            "Binary files",
            "GIT binary",
        ];
        let belongs = marks.iter().any(|mark| line.starts_with(mark));
        if !belongs {
            self.inside = false;
        }
        belongs
    }

    fn in_hunk(&self) -> bool {
        self.inside && (self.old_left > 0 || self.new_left > 0)
    }

    fn open(&mut self, path: &str) {
        let path: String = path.chars().filter(|c| !c.is_control()).take(400).collect();
        let outside = path.starts_with('/') || path.split('/').any(|part| part == "..");
        if self.diff.files.len() < 20_000 {
            let file = FileDiff { path, hunks: Vec::new(), added: 0, removed: 0, outside_tree: outside };
            self.diff.files.push(file);
        }
        self.inside = true;
        (self.old_left, self.new_left) = (0, 0);
    }

    /// `--- a/old` and `+++ b/new`; quilt writes `--- a/file~patch`.
    fn name(&mut self, old: &str, new: &str) {
        let old_path = old.split(['\t', '~']).next().unwrap_or(old);
        let new_path = new.split('\t').next().unwrap_or(new);
        let path = strip_side(if new_path.starts_with("/dev/null") { old_path } else { new_path });
        let known =
            self.inside && self.diff.files.last().is_some_and(|f| f.path == path && f.hunks.is_empty());
        if !known {
            self.open(path);
        }
        self.inside = true;
    }

    fn count(&mut self, line: &str) {
        let file = self.diff.files.last_mut();
        match line.as_bytes().first() {
            Some(b'+') => {
                self.new_left = self.new_left.saturating_sub(1);
                if let Some(file) = file {
                    file.added += 1;
                }
            }
            Some(b'-') => {
                self.old_left = self.old_left.saturating_sub(1);
                if let Some(file) = file {
                    file.removed += 1;
                }
            }
            Some(b'\\') => {}
            _ => {
                self.old_left = self.old_left.saturating_sub(1);
                self.new_left = self.new_left.saturating_sub(1);
            }
        }
    }
}

/// The new path of `a/x b/x`; what follows on a line without newlines is left out.
fn path_of_git(rest: &str) -> &str {
    let new = rest.split(' ').nth(1).or_else(|| rest.split(' ').next()).unwrap_or(rest);
    strip_side(new)
}

fn strip_side(path: &str) -> &str {
    let path = path.trim();
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
}

/// `@@ -old,count +new,count @@ function(`.
fn hunk_header(line: &str) -> Option<Hunk> {
    let rest = line.strip_prefix("@@ -")?;
    let (old, rest) = rest.split_once(" +")?;
    let (new, context) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<(u32, u32)> {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let (old_start, old_lines) = range(old)?;
    let (new_start, new_lines) = range(new)?;
    Some(Hunk { old_start, old_lines, new_start, new_lines, function: function_name(context) })
}

/// The name in `static int name(struct …` or `struct name {`.
fn function_name(context: &str) -> Option<String> {
    let context = context.trim();
    let head = context.split('(').next().filter(|h| h.len() < context.len() && h.len() < 120);
    let word = match head {
        Some(head) => head.split(|c: char| c.is_whitespace() || c == '*').next_back(),
        None => {
            let words: Vec<&str> = context.split_whitespace().take(2).collect();
            match words[..] {
                [kind @ ("struct" | "enum" | "union"), name] if !name.is_empty() => {
                    return Some(format!("{kind} {}", name.trim_end_matches('{')));
                }
                _ => None,
            }
        }
    }?;
    let plain = word.chars().all(|c| c.is_alphanumeric() || c == '_') && !word.is_empty();
    plain.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::lines;

    fn read(text: &str) -> (String, Diff) {
        let stream = lines::streams(text).remove(0);
        let (rest, diff) = separate(stream.lines);
        (rest.iter().map(|l| l.text).collect::<Vec<_>>().join("|"), diff)
    }

    #[test]
    fn reads_git_and_quilt_diffs_and_resumes_text() {
        let text = "text\n---\n mm/a.c | 2 +-\ndiff --git a/mm/a.c b/mm/a.c\nindex 1..2 100644\n--- a/mm/a.c\n\
            +++ b/mm/a.c\n@@ -3,2 +3,3 @@ static bool foo(struct bar *b)\n ctx\n-old\n+new 5.0%\n+more\nAfter: 3\n\
            --- a/mm/b.h~name\n+++ a/mm/b.h\n@@ -1 +1 @@ struct per_cpu {\n-x\n+y\n--\n2.43.0";
        let (rest, diff) = read(text);
        assert_eq!(rest, "text|---| mm/a.c | 2 +-|After: 3|--|2.43.0");
        let paths: Vec<&str> = diff.files.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(paths, ["mm/a.c", "mm/b.h"]);
        assert_eq!((diff.files[0].added, diff.files[0].removed), (2, 1));
        assert_eq!(diff.functions(), ["foo", "struct per_cpu"]);
    }

    #[test]
    fn paths_that_leave_the_tree_are_marked() {
        let (_, diff) = read("--- /etc/passwd\n+++ b/../../etc/shadow\n@@ -1 +1 @@\n-a\n+b\n");
        assert!(diff.files[0].outside_tree, "{diff:?}");
    }

    #[test]
    fn agrees_with_another_reader_on_written_diffs() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n";
        let new = "a\nB\nc\nd\ne\nf\ng\nh\ni\nJ\nk\nl\n";
        let written = diffy::create_patch(old, new);
        let (rest, diff) = read(&written.to_string());
        let parsed = diffy::Patch::from_str(&written.to_string()).map(|p| p.hunks().len()).expect("a diff");
        assert_eq!(diff.files[0].hunks.len(), parsed);
        assert_eq!((diff.files[0].added, diff.files[0].removed), (3, 2));
        assert_eq!(rest, "");
    }

    proptest::proptest! {
        #[test]
        fn any_lines_separate(text in "((diff --git|---|\\+\\+\\+|@@ -1,9 \\+1,9 @@|\\+|-| )?\\PC{0,20}\n){0,20}") {
            read(&text);
        }
    }
}
