//! Why a chart could not be drawn.

use thiserror::Error;

/// Values without an honest picture, or a failure while drawing.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ChartError {
    #[error(
        "a value of the chart is {value}, not a finite number, so it has no place on an axis; find its trial with `run-bench compare` and mark it invalid"
    )]
    NotFinite { value: f64 },
    #[error("a value of the chart is {value}: a logarithmic axis needs values above zero")]
    NotPositive { value: f64 },
    #[error("there is no value to draw")]
    NoValues,
    #[error("the drawing library failed: {message}")]
    Drawing { message: String },
}
