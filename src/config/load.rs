//! Reading an experiment: TOML text to checked sections.

use std::path::Path;

use serde::Deserialize;

use super::error::ConfigError;
use super::experiment::Experiment;

/// An experiment larger than this is not one.
const LARGEST_FILE: u64 = 1 << 20;

/// Reads and checks the experiment at `path`.
pub fn load(path: &Path) -> Result<Experiment, ConfigError> {
    let read_error = |source| ConfigError::Read { path: path.to_owned(), source };
    let size = std::fs::metadata(path).map_err(read_error)?.len();
    if size > LARGEST_FILE {
        let what = format!("{size} bytes is more than an experiment can have ({LARGEST_FILE})");
        return Err(read_error(std::io::Error::new(std::io::ErrorKind::InvalidData, what)));
    }
    let text = std::fs::read_to_string(path).map_err(read_error)?;
    parse(path, &text)
}

/// Parses and checks the text of an experiment; `path` is for messages only.
pub fn parse(path: &Path, text: &str) -> Result<Experiment, ConfigError> {
    let syntax = |error: &toml::de::Error, key: &str| ConfigError::Syntax {
        path: path.to_owned(),
        line: error.span().map_or(1, |span| line_of(text, span.start)),
        key: if key.is_empty() || key == "." { "the file".to_owned() } else { key.to_owned() },
        message: explain(error.message()),
    };
    let deserializer = toml::Deserializer::parse(text).map_err(|e| syntax(&e, ""))?;
    let mut track = serde_path_to_error::Track::new();
    let experiment =
        Experiment::deserialize(serde_path_to_error::Deserializer::new(deserializer, &mut track))
            .map_err(|e| syntax(&e, &track.path().to_string()))?;
    let problems = experiment.validate();
    if problems.is_empty() {
        Ok(experiment)
    } else {
        Err(ConfigError::Invalid { path: path.to_owned(), problems })
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|b| **b == b'\n').count() + 1
}

/// Adds the nearest known key to serde's "unknown field `x`, expected one of `a`, `b`".
fn explain(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (Some(unknown), true) = (quoted.first(), message.starts_with("unknown ")) else {
        return message.to_owned();
    };
    let nearest = quoted[1..].iter().min_by_key(|known| distance(unknown, known));
    match nearest {
        Some(known) if distance(unknown, known) <= unknown.len().max(known.len()) / 2 => {
            format!("{message}; did you mean `{known}`?")
        }
        _ => message.to_owned(),
    }
}

/// Levenshtein distance in bytes.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let next = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
