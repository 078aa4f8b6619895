//! The grammar of results: small recognisers over tokens, one file a family.
//!
//! A family looks at the head of a stream of lines and takes some or none.
//! Each looks ahead a bounded number of lines unless it takes them, so the
//! whole is linear. Alignment is never relied on.

mod arrow;
mod client;
mod columns;
mod decoy;
mod finding;
mod fio;
mod hackbench;
mod improved;
mod label;
mod list;
mod lkp;
mod memtier;
mod ministat;
mod mmtests;
mod perf;
mod prose;
mod quantity;
mod role;
mod rows;
mod runs;
mod schbench;
mod slash;
mod stress_ng;
mod sysbench;
mod time;
mod tool;
mod unixbench;
mod values;
mod words;

pub(crate) use finding::{Finding, Match};
pub(crate) use prose::read as read_prose;

use super::lines::Line;
use finding::Recogniser;

/// Families in the order they are asked. Decoys come first.
const FAMILIES: &[Recogniser] = &[
    decoy::recognise,
    lkp::recognise,
    mmtests::recognise,
    improved::recognise,
    ministat::recognise,
    slash::recognise,
    columns::recognise,
    rows::recognise,
    label::recognise,
    list::recognise,
    arrow::recognise,
    columns::recognise_row,
];

/// The first family that takes the head of the lines.
pub(crate) fn recognise(lines: &[Line<'_>]) -> Option<Match> {
    FAMILIES.iter().find_map(|family| family(lines)).filter(|found| found.lines > 0)
}
