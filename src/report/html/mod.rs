//! One self-contained page: verdict, charts, tables, every trial, the experiment.
//!
//! No network and no second file is needed to read it; links go to raw files of
//! the same campaign folder and work from `file://`.

mod facts;
mod fleet;
mod history;
mod page;
mod table;
mod trials;

pub use history::history_page;
pub use page::page;

#[cfg(test)]
mod browser_tests;
