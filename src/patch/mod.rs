//! Patch mails: carriers, series, diffs, claims and their audit. Pure; a mail is data.
//!
//! ```text
//! bytes ─▶ carrier: messages without addresses ─▶ lines by quote depth ─▶ diff | text
//!                                                      text ─▶ grammar: claims
//!                                                           ─▶ workload: settings
//! ```
//!
//! A mail is hostile data: every limit is in [`limits`], nothing is executed,
//! nothing is opened, and what cannot be read is left out or noted.

mod audit;
mod carrier;
mod claim;
mod diff;
mod document;
mod error;
mod grammar;
pub mod limits;
mod lines;
mod metric_name;
mod printed;
mod series;
mod subject;
mod tags;
mod token;
mod walk;
mod workload;

pub use audit::{
    Arithmetic, ArithmeticVerdict, ClaimAudit, Convention, MeanCheck, Note, NoteKind, Summary, audit,
    check_arithmetic, check_means, summaries,
};
pub use carrier::{Attachment, Carrier, Headers, Message, read_messages};
pub use claim::{
    Baseline, Claim, ClaimMetric, Delta, Deviation, DeviationKind, Direction, Format, Measured, Reading,
    Runs, Scope, Span, Statistic, Wording,
};
pub use diff::{Diff, FileDiff, Hunk};
pub use document::{Document, MailSummary, StatedBase, extract_diffs, read};
pub use error::PatchError;
pub use printed::{Printed, Sign};
pub use series::{Part, Series};
pub use subject::Subject;
pub use tags::Tag;
pub use workload::{
    Command, FioJob, KernelBuild, MemcachedServer, MemtierLoad, NetperfRun, Setting, Swap, SwapKind,
    SysbenchRun, UsememRun, WillItScaleRun, Workload,
};
