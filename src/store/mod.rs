//! Results on disk: layout, atomic writes, schemas and their versions.
//!
//! ```text
//! results/<campaign>/
//!   manifest.json     host facts, tools, versions, seed: written once
//!   experiment.toml   the experiment, exactly as given
//!   plan.json         the plan after scaling
//!   journal.jsonl     what was decided and done, one line each, synced
//!   trials/<trial>/   spec.json  record.json  series.jsonl  raw/…
//!   report/           made again from the above at any time
//! ```

mod atomic;
mod error;
mod journal;
mod layout;
mod manifest;
mod ownership;
mod record;
mod series;
mod spec;

pub use atomic::{create_private_folder, parse_json, read_json, write_atomically, write_json};
pub use error::StoreError;
pub use journal::{CampaignJournal, JournalEntry, JournalEvent, StopReason, TrialStatus};
pub use layout::{CampaignFolder, TrialFolder};
pub use manifest::{Manifest, ToolVersion, Version};
pub use ownership::{HandOver, caller, create_file, hand_over, write_file};
pub use record::{
    CounterChange, DriverIdentity, HostEvent, KernelIdentity, PhaseSpan, SamplerCost, SwapFacts,
    TrialOutcome, TrialRecord, Violation,
};
pub use series::{Sample, SeriesReader, SeriesWriter};
pub use spec::{TrialId, TrialSpec};

/// The newest record, manifest and journal schema that this version writes.
pub const SCHEMA: u32 = 1;
