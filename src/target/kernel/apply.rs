//! Applying diffs to files in memory. Nothing is forced: a hunk goes where its
//! old lines stand, or the error says how near they came.

use std::collections::BTreeMap;
use std::fmt;

use super::diff::{FileChange, Hunk, Line};

/// Content by path; none for a file that is not there.
pub type Files = BTreeMap<String, Option<Vec<u8>>>;

/// Where the old lines of a hunk come nearest to standing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// From 1.
    pub line: usize,
    /// Old lines that are the same there.
    pub same: usize,
    pub of: usize,
    /// The first line that differs: as the patch has it, as the file has it.
    pub expected: String,
    pub found: String,
}

/// Why a diff does not apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    Missing {
        file: String,
    },
    Exists {
        file: String,
    },
    Binary {
        file: String,
    },
    /// The path leaves the tree.
    Outside {
        file: String,
    },
    Hunk {
        file: String,
        number: usize,
        of: usize,
        header: String,
        applied: bool,
        nearest: Option<Box<Nearest>>,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Missing { file } => write!(f, "{file}: the tree has no such file"),
            Refusal::Exists { file } => {
                write!(f, "{file}: the patch creates it, and the tree has it already")
            }
            Refusal::Binary { file } => write!(f, "{file}: binary changes cannot be applied"),
            Refusal::Outside { file } => write!(f, "{file}: the path leaves the tree"),
            Refusal::Hunk { file, number, of, header, applied, nearest } => {
                write!(f, "{file}: hunk {number} of {of} ({header}) ")?;
                if *applied {
                    return write!(f, "is in the tree already");
                }
                match nearest {
                    None => write!(f, "resembles nothing in the file"),
                    Some(n) => write!(
                        f,
                        "comes nearest at line {}, where {} of {} lines are the same; the first that differs: \
                         the patch has {:?}, the tree has {:?}",
                        n.line, n.same, n.of, n.expected, n.found
                    ),
                }
            }
        }
    }
}

/// Applies the changes to `files`, which holds every file they name.
pub fn apply(changes: &[FileChange], files: &mut Files) -> Result<(), Refusal> {
    for change in changes {
        let file = change.name().to_owned();
        if change.binary {
            return Err(Refusal::Binary { file });
        }
        if [&change.old, &change.new].into_iter().flatten().any(|path| leaves(path)) {
            return Err(Refusal::Outside { file });
        }
        let old = match &change.old {
            None => Vec::new(),
            Some(path) => {
                files.get(path).cloned().flatten().ok_or(Refusal::Missing { file: path.clone() })?
            }
        };
        let creates = change.new.as_ref().filter(|new| change.old.as_ref() != Some(*new));
        if creates.is_some_and(|new| files.get(new).is_some_and(Option::is_some)) {
            return Err(Refusal::Exists { file });
        }
        let new = apply_hunks(&file, &old, &change.hunks)?;
        if let Some(path) = &change.old {
            files.insert(path.clone(), None);
        }
        if let Some(path) = &change.new {
            files.insert(path.clone(), Some(new));
        }
    }
    Ok(())
}

/// Whether a path leads out of the tree.
pub fn leaves(path: &str) -> bool {
    path.starts_with('/') || path.split('/').any(|part| matches!(part, "" | "." | ".."))
}

fn apply_hunks(file: &str, old: &[u8], hunks: &[Hunk]) -> Result<Vec<u8>, Refusal> {
    let text = String::from_utf8_lossy(old);
    let lossless = text.as_bytes() == old;
    if !lossless && !hunks.is_empty() {
        return Err(Refusal::Binary { file: file.to_owned() });
    }
    let mut bare_end = !text.is_empty() && !text.ends_with('\n');
    let mut lines: Vec<&str> = text.lines().collect();
    let mut shift = 0isize;
    let mut from = 0;
    for (i, hunk) in hunks.iter().enumerate() {
        let before: Vec<&str> = side(hunk, true);
        let after: Vec<&str> = side(hunk, false);
        let wanted = hunk.old_start.saturating_sub(1).saturating_add_signed(shift);
        let at = position(&lines, &before, wanted, from).ok_or_else(|| Refusal::Hunk {
            file: file.to_owned(),
            number: i + 1,
            of: hunks.len(),
            header: hunk.header.clone(),
            applied: !after.is_empty() && position(&lines, &after, wanted, from).is_some(),
            nearest: nearest(&lines, &before).map(Box::new),
        })?;
        let reaches_end = at + before.len() == lines.len();
        lines.splice(at..at + before.len(), after.iter().copied());
        if reaches_end {
            bare_end = hunk.new_ends_bare;
        }
        from = at + after.len();
        shift += at as isize - wanted as isize + after.len() as isize - before.len() as isize;
    }
    let mut new = lines.join("\n");
    if !lines.is_empty() && !bare_end {
        new.push('\n');
    }
    Ok(new.into_bytes())
}

/// The lines of a hunk before (or after) the change.
fn side(hunk: &Hunk, before: bool) -> Vec<&str> {
    hunk.lines
        .iter()
        .filter_map(|line| match line {
            Line::Context(text) => Some(text.as_str()),
            Line::Removed(text) => before.then_some(text.as_str()),
            Line::Added(text) => (!before).then_some(text.as_str()),
        })
        .collect()
}

/// The place at or after `from` that holds `wanted_lines`, nearest to `wanted`.
fn position(lines: &[&str], wanted_lines: &[&str], wanted: usize, from: usize) -> Option<usize> {
    if wanted_lines.is_empty() {
        return Some(wanted.clamp(from, lines.len()));
    }
    let last = lines.len().checked_sub(wanted_lines.len())?;
    let holds = |at: &usize| lines[*at..*at + wanted_lines.len()] == *wanted_lines;
    (from..=last).filter(holds).min_by_key(|at| at.abs_diff(wanted))
}

/// The place with the most equal lines; the earliest of equals.
fn nearest(lines: &[&str], wanted: &[&str]) -> Option<Nearest> {
    let mut best: Option<(usize, usize)> = None;
    for at in 0..lines.len() {
        let same = lines[at..].iter().zip(wanted).filter(|(a, b)| a == b && !a.trim().is_empty()).count();
        if same > best.map_or(0, |(_, most)| most) {
            best = Some((at, same));
        }
    }
    let (at, _) = best?;
    let pairs: Vec<(&str, &str)> =
        wanted.iter().enumerate().map(|(i, w)| (*w, lines.get(at + i).copied().unwrap_or(""))).collect();
    let same = pairs.iter().filter(|(a, b)| a == b).count();
    let (expected, found) = *pairs.iter().find(|(a, b)| a != b)?;
    Some(Nearest {
        line: at + 1,
        same,
        of: wanted.len(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::diff;
    use super::*;

    const OLD: &str = "a\nb\nc\nd\ne\nf\ng\n";
    const PATCH: &str = "--- a/x\n+++ b/x\n@@ -3,3 +3,4 @@\n c\n-d\n+D\n+D2\n e\n";

    fn tree(content: &str) -> Files {
        Files::from([("x".to_owned(), Some(content.as_bytes().to_vec()))])
    }

    fn applied(patch: &str, content: &str) -> Result<String, Refusal> {
        let mut files = tree(content);
        apply(&diff::parse(patch).unwrap(), &mut files)?;
        Ok(String::from_utf8(files["x"].clone().unwrap()).unwrap())
    }

    #[test]
    fn a_hunk_goes_where_its_lines_stand() {
        assert_eq!(applied(PATCH, OLD).unwrap(), "a\nb\nc\nD\nD2\ne\nf\ng\n");
        let moved = format!("new\nlines\n{OLD}");
        assert_eq!(applied(PATCH, &moved).unwrap(), "new\nlines\na\nb\nc\nD\nD2\ne\nf\ng\n");
    }

    #[test]
    fn a_hunk_that_does_not_fit_says_how_near_it_came() {
        let refusal = applied(PATCH, "a\nb\nc\nd\nE\nf\n").unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "x: hunk 1 of 1 (@@ -3,3 +3,4 @@) comes nearest at line 3, where 2 of 3 lines are the same; the first \
             that differs: the patch has \"e\", the tree has \"E\""
        );
        let refusal = applied(PATCH, "a\nb\nc\nD\nD2\ne\nf\n").unwrap_err();
        assert!(refusal.to_string().ends_with("is in the tree already"), "{refusal}");
        assert!(applied(PATCH, "1\n2\n").unwrap_err().to_string().contains("resembles nothing"));
    }

    #[test]
    fn files_come_go_and_move() {
        let patch = "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n\
            diff --git a/y b/y\nnew file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+two\n\\ No newline at end of file\n\
            diff --git a/p b/q\nrename from p\nrename to q\n";
        let mut files = tree("one\n");
        files.insert("p".to_owned(), Some(b"kept\n".to_vec()));
        apply(&diff::parse(patch).unwrap(), &mut files).unwrap();
        assert_eq!(files["x"], None);
        assert_eq!(files["y"].as_deref(), Some(&b"two"[..]));
        assert_eq!((&files["p"], files["q"].as_deref()), (&None, Some(&b"kept\n"[..])));
    }

    #[test]
    fn a_path_out_of_the_tree_is_refused() {
        let patch = PATCH.replace("b/x", "b/../../x");
        assert_eq!(applied(&patch, OLD).unwrap_err(), Refusal::Outside { file: "../../x".to_owned() });
    }

    #[test]
    fn two_hunks_keep_their_order() {
        let patch = "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-z\n+1\n@@ -2,1 +2,1 @@\n-z\n+2\n";
        assert_eq!(applied(patch, "z\nz\nz\n").unwrap(), "1\n2\nz\n");
    }

    proptest! {
        /// Whatever `diffy` finds between two texts, applying gives the second.
        #[test]
        fn differences_apply(old in "([ab]{0,2}\n){0,12}", new in "([ab]{0,2}\n){0,12}") {
            let patch = diffy::create_patch(&old, &new).to_string();
            let patch = patch.replacen("--- original", "--- a/x", 1).replacen("+++ modified", "+++ b/x", 1);
            prop_assert_eq!(applied(&patch, &old).unwrap(), new);
        }
    }
}
