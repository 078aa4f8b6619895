//! Reading an experiment: TOML text to checked sections.

use std::path::Path;

use serde::Deserialize;

use super::error::{ConfigError, Problem};
use super::experiment::Experiment;
use crate::input;

/// Reads and checks the experiment at `path`.
pub fn load(path: &Path) -> Result<Experiment, ConfigError> {
    let text = input::read_text(path, input::SECTIONS)
        .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
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
    let mut problems = experiment.validate();
    if let Ok(table) = text.parse::<toml::Table>() {
        control_characters("", &toml::Value::Table(table), &mut problems);
    }
    if problems.is_empty() {
        Ok(experiment)
    } else {
        Err(ConfigError::Invalid { path: path.to_owned(), problems })
    }
}

/// Texts go to terminals, pages and command lines, where some characters are commands.
fn control_characters(key: &str, value: &toml::Value, problems: &mut Vec<Problem>) {
    let invisible = |c: char| {
        (c.is_control() && !"\n\t".contains(c))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    match value {
        toml::Value::String(text) => {
            if let Some(bad) = text.chars().find(|c| invisible(*c)) {
                let message = format!("{bad:?} is a command to a terminal and no part of a text; remove it");
                problems.push(Problem::new(key, message));
            }
        }
        toml::Value::Array(values) => {
            values
                .iter()
                .enumerate()
                .for_each(|(i, v)| control_characters(&format!("{key}[{i}]"), v, problems));
        }
        toml::Value::Table(table) => {
            for (name, value) in table {
                let path = if key.is_empty() {
                    name.escape_debug().to_string()
                } else {
                    format!("{key}.{}", name.escape_debug())
                };
                control_characters(&path, value, problems);
            }
        }
        _ => {}
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
