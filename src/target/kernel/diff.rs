//! Unified diffs as they are applied: files, hunks and their lines, out of plain
//! diffs, mails and mailboxes. What is text around them is passed over.

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    Context(String),
    Removed(String),
    Added(String),
}

/// A hunk, with the place it was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The `@@` line.
    pub header: String,
    /// First old line, from 1; 0 for a new file.
    pub old_start: usize,
    pub lines: Vec<Line>,
    /// The last line of the new file has no newline.
    pub new_ends_bare: bool,
}

/// The changes to one file. Paths are without their `a/` and `b/`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileChange {
    /// None for a new file.
    pub old: Option<String>,
    /// None for a removed file.
    pub new: Option<String>,
    pub hunks: Vec<Hunk>,
    pub binary: bool,
}

impl FileChange {
    /// The file's name, for messages.
    pub fn name(&self) -> &str {
        self.new.as_deref().or(self.old.as_deref()).unwrap_or("?")
    }
}

/// A `@@ -a,b +c,d @@` line: first old line, number of old and of new lines.
fn hunk_header(line: &str) -> Option<(usize, usize, usize)> {
    let rest = line.strip_prefix("@@ -")?;
    let (ranges, _) = rest.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
    };
    let ((old_start, old_count), (_, new_count)) = (range(old)?, range(new)?);
    // A kernel file has fewer lines; more is damage.
    (old_count < 1_000_000 && new_count < 1_000_000).then_some((old_start, old_count, new_count))
}

/// The path of a `---` or `+++` line; none for `/dev/null`.
fn path(text: &str) -> Option<String> {
    let text = text.split('\t').next().unwrap_or(text).trim_end();
    if text == "/dev/null" {
        return None;
    }
    Some(text.split_once('/').map_or(text, |(_, rest)| rest).to_owned())
}

/// All file changes of a text. A hunk that is cut short, or whose counts do not
/// hold, is an error that names its `@@` line.
pub fn parse(text: &str) -> Result<Vec<FileChange>, String> {
    let mut changes: Vec<FileChange> = Vec::new();
    let mut lines = text.lines().peekable();
    let mut in_git_header = false;
    while let Some(line) = lines.next() {
        if line.starts_with("diff --git ") {
            changes.push(FileChange::default());
            in_git_header = true;
        } else if in_git_header && (line.starts_with("GIT binary patch") || line.starts_with("Binary files "))
        {
            if let Some(change) = changes.last_mut() {
                change.binary = true;
            }
        } else if let Some(from) = line.strip_prefix("rename from ").filter(|_| in_git_header) {
            set(&mut changes, |change| change.old = Some(from.to_owned()));
        } else if let Some(to) = line.strip_prefix("rename to ").filter(|_| in_git_header) {
            set(&mut changes, |change| change.new = Some(to.to_owned()));
        } else if let Some(old) = line.strip_prefix("--- ")
            && let Some(new) = lines.next_if(|next| next.starts_with("+++ "))
        {
            let (old, new) = (path(old), path(&new[4..]));
            if !in_git_header {
                changes.push(FileChange::default());
            }
            in_git_header = false;
            set(&mut changes, |change| (change.old, change.new) = (old.clone(), new.clone()));
            while let Some(header) = lines.next_if(|next| hunk_header(next).is_some()) {
                let hunk = read_hunk(header, &mut lines)?;
                set(&mut changes, |change| change.hunks.push(hunk.clone()));
            }
        }
    }
    changes.retain(|change| change.old.is_some() || change.new.is_some() || change.binary);
    Ok(changes)
}

fn set(changes: &mut [FileChange], edit: impl Fn(&mut FileChange)) {
    if let Some(change) = changes.last_mut() {
        edit(change);
    }
}

fn read_hunk<'a>(
    header: &str,
    lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
) -> Result<Hunk, String> {
    let (old_start, mut old_left, mut new_left) = hunk_header(header).expect("the caller has looked");
    let mut hunk = Hunk { header: header.to_owned(), old_start, lines: Vec::new(), new_ends_bare: false };
    while old_left > 0 || new_left > 0 {
        let damaged = || format!("the hunk {header:?} is cut short or its line counts are wrong");
        let line = lines.next().ok_or_else(damaged)?;
        let take = |left: &mut usize| {
            *left = left.checked_sub(1).ok_or_else(damaged)?;
            Ok::<(), String>(())
        };
        let rest = |line: &str| line.get(1..).unwrap_or_default().to_owned();
        match line.as_bytes().first() {
            // Mail programs strip the blank of an empty context line.
            Some(b' ') | None => {
                take(&mut old_left)?;
                take(&mut new_left)?;
                hunk.lines.push(Line::Context(rest(line)));
            }
            Some(b'-') => {
                take(&mut old_left)?;
                hunk.lines.push(Line::Removed(rest(line)));
            }
            Some(b'+') => {
                take(&mut new_left)?;
                hunk.lines.push(Line::Added(rest(line)));
            }
            Some(b'\\') => {}
            Some(_) => return Err(damaged()),
        }
    }
    if lines.next_if(|next| next.starts_with("\\ No newline")).is_some() {
        hunk.new_ends_bare = !matches!(hunk.lines.last(), Some(Line::Removed(_)));
    }
    Ok(hunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &str = "Subject: [PATCH] invented\n\nWords.\n---\n mm/x.c | 2 +-\n\n\
        diff --git a/mm/x.c b/mm/x.c\nindex 1..2 100644\n--- a/mm/x.c\n+++ b/mm/x.c\n\
        @@ -3,3 +3,3 @@ static int f(void)\n one\n-two\n+TWO\n three\n-- \n2.1\n\n\
        diff --git a/old.h b/new.h\nsimilarity index 100%\nrename from old.h\nrename to new.h\n\
        diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
        diff --git a/born b/born\nnew file mode 100644\n--- /dev/null\n+++ b/born\n@@ -0,0 +1 @@\n+y\n\\ No newline at end of file\n";

    #[test]
    fn a_mail_yields_its_changes() {
        let changes = parse(MAIL).unwrap();
        let names: Vec<(Option<&str>, Option<&str>, usize)> =
            changes.iter().map(|c| (c.old.as_deref(), c.new.as_deref(), c.hunks.len())).collect();
        assert_eq!(
            names,
            [
                (Some("mm/x.c"), Some("mm/x.c"), 1),
                (Some("old.h"), Some("new.h"), 0),
                (Some("gone"), None, 1),
                (None, Some("born"), 1),
            ]
        );
        assert_eq!(changes[0].hunks[0].lines.len(), 4, "the signature is not part of the hunk");
        assert!(changes[3].hunks[0].new_ends_bare);
    }

    #[test]
    fn a_plain_diff_without_git_headers_is_read() {
        let changes = parse("--- a/x\t2020-01-01\n+++ b/x\t2020-01-02\n@@ -1,2 +1,1 @@\n-a\n\n").unwrap();
        assert_eq!(changes[0].name(), "x");
        assert_eq!(changes[0].hunks[0].lines[1], Line::Context(String::new()));
    }

    #[test]
    fn a_cut_hunk_is_an_error() {
        for text in ["--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n", "--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n a\n*b\n"]
        {
            assert!(parse(text).unwrap_err().contains("@@ -1,"), "{text}");
        }
    }
}
