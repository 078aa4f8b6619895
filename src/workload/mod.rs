//! Workloads: commands, readiness, parsing and validity rules of each load tool.
