//! From a patch mail to an experiment: the audit with its noise, an experiment
//! that reproduces a claim, the patches of a series, and texts of all three.
//!
//! ```text
//! patch::Document ─▶ audit (recomputed, noise, power) ─▶ text | JSON
//!                 ─▶ experiment (commented TOML that `plan` accepts)
//! ```

mod arms;
mod audit;
mod audit_text;
mod error;
mod experiment;
mod metric;
mod noise;
mod patches;
mod render;
mod show_text;
mod workload;

pub use arms::TreeRequest;
pub use audit::{AUDIT_SCHEMA, AuditReport, AuditedClaim, audit_report};
pub use audit_text::{audit_mail_text, audit_table};
pub use error::ImportError;
pub use experiment::{ImportRequest, Imported, import};
pub use metric::{ImportedMetric, imported_metric};
pub use noise::{Noise, NoiseCheck, check_noise};
pub use patches::{PatchFile, patch_files};
pub use show_text::show_text;
