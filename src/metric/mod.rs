//! What is measured: metric ids with unit, direction and kind, and the
//! kernel's counter names.
//!
//! Every metric says once how it reads; nothing downstream guesses from a
//! string. Records carry the definition beside each value, so a record can be
//! read without the version of the tool that wrote it.

mod counter;
mod definition;
mod registry;

pub use counter::{CounterKind, MEMORY_STAT, counter_kind};
pub use definition::{Direction, Kind, Measurement, MetricDefinition, MetricId, MetricIdError, Unit};
pub use registry::{definition, definitions, measurement};
