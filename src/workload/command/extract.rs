//! Numbers out of any program's output: by JSON pointer or by regular expression.

use regex::Regex;
use serde_json::Value;
use thiserror::Error;

use crate::config::workload::CommandMetric;
use crate::config::workload::Source;

/// Why a value could not be taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExtractError {
    #[error("standard output is not one JSON document, which {id} points into: {reason}")]
    NotJson { id: String, reason: String },
    #[error("the document has nothing at {pointer:?}, where {id} should be")]
    NothingThere { id: String, pointer: String },
    #[error("no part of the output matches the expression of {id}")]
    NoMatch { id: String },
    #[error("the expression of {id} is not one: {reason}")]
    Expression { id: String, reason: String },
    #[error("{seen:?} is not a finite number, so {id} has no value")]
    NotANumber { id: String, seen: String },
}

/// The value of a metric, in its unit.
pub fn extract(metric: &CommandMetric, stdout: &str, stderr: &str) -> Result<f64, ExtractError> {
    let id = || metric.definition.id.as_str().to_owned();
    let printed = match &metric.source {
        Source::Pointer(pointer) => {
            let document: Value = serde_json::from_str(stdout.trim())
                .map_err(|error| ExtractError::NotJson { id: id(), reason: error.to_string() })?;
            match document.pointer(pointer) {
                None => return Err(ExtractError::NothingThere { id: id(), pointer: pointer.clone() }),
                // Some tools quote their numbers.
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
            }
        }
        Source::Regex(text) => {
            let regex = Regex::new(text)
                .map_err(|error| ExtractError::Expression { id: id(), reason: error.to_string() })?;
            let last = |output: &str| {
                regex.captures_iter(output).filter_map(|c| Some(c.name("value")?.as_str().to_owned())).last()
            };
            last(stdout).or_else(|| last(stderr)).ok_or_else(|| ExtractError::NoMatch { id: id() })?
        }
    };
    let value = printed.trim().parse::<f64>().ok().map(|value| value * metric.factor);
    value.filter(|v| v.is_finite()).ok_or_else(|| ExtractError::NotANumber { id: id(), seen: printed })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metric::Direction;
    use crate::metric::Kind;
    use crate::metric::MetricDefinition;
    use crate::metric::MetricId;
    use crate::metric::Unit;

    fn metric(source: Source, factor: f64) -> CommandMetric {
        let definition = MetricDefinition {
            id: MetricId::new("command.rate").unwrap(),
            unit: Unit::PerSecond,
            direction: Direction::HigherIsBetter,
            kind: Kind::Throughput,
            label: "rate".to_owned(),
        };
        CommandMetric { definition, source, factor }
    }

    fn pointer(text: &str) -> CommandMetric {
        metric(Source::Pointer(text.to_owned()), 1000.0)
    }

    fn regex(text: &str) -> CommandMetric {
        metric(Source::Regex(text.to_owned()), 1.0)
    }

    #[test]
    fn pointers_and_expressions_find_numbers() {
        let json = r#"{"runs": [{"rate": 1.5}, {"rate": "2.5"}], "none": null}"#;
        assert_eq!(extract(&pointer("/runs/0/rate"), json, ""), Ok(1500.0));
        assert_eq!(extract(&pointer("/runs/1/rate"), json, ""), Ok(2500.0));
        assert!(matches!(extract(&pointer("/none"), json, ""), Err(ExtractError::NotANumber { .. })));
        assert!(matches!(extract(&pointer("/runs/2"), json, ""), Err(ExtractError::NothingThere { .. })));
        assert!(matches!(extract(&pointer("/runs"), "not json", ""), Err(ExtractError::NotJson { .. })));
        let by_line = regex(r"rate: (?<value>\S+)");
        assert_eq!(extract(&by_line, "rate: 3\nrate: 4\n", "rate: 5"), Ok(4.0), "the last one on stdout");
        assert_eq!(extract(&by_line, "", "rate: 5"), Ok(5.0));
        assert!(matches!(extract(&by_line, "rate 5", ""), Err(ExtractError::NoMatch { .. })));
        assert!(matches!(extract(&by_line, "rate: nan", ""), Err(ExtractError::NotANumber { .. })));
    }

    proptest! {
        #[test]
        fn printed_numbers_read_back(value in -1e12f64..1e12, noise in "[a-z \n]{0,40}") {
            let text = format!("{noise}elapsed={value:?} s\n{noise}");
            prop_assert_eq!(extract(&regex("elapsed=(?<value>[-0-9.e]+)"), &text, ""), Ok(value));
        }
    }
}
