//! Experiments: TOML sections, validation, the plan and scaling.
