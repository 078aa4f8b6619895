//! Campaigns: schedule, journal, resume, stopping, budget.
//!
//! A campaign is one linear history, kept in its journal. It plans blocks by a
//! seeded coin, has each trial run by a [`TrialRunner`], and asks a [`Judge`]
//! after each block whether to go on. It never touches the host itself.

mod error;
mod judge;
mod progress;
mod run;
mod runner;
mod schedule;
mod spec;
mod state;

pub use error::CampaignError;
pub use judge::{Decision, Judge, RunAll};
pub use progress::{Progress, ProgressEvent};
pub use run::{Campaign, CampaignSummary};
pub use runner::TrialRunner;
pub use schedule::{BlockOrder, block_order, trial_seed};
pub use spec::{block_is_whole, expected_block_time, expected_trial_time};
pub use state::History;
