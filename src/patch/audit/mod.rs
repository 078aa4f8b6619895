//! The audit of claims by their own figures: recomputed changes, means against
//! run counts, baselines and conditions. Wording is neutral: a typing slip or a
//! dropped run is likelier than intent. What needs distributions is left to the
//! layers above, which get [`Summary`].

mod arithmetic;
mod mean;
mod relations;

use serde::{Deserialize, Serialize};

use super::claim::{Claim, DeviationKind, Measured};
use super::document::Document;

pub use arithmetic::{Arithmetic, ArithmeticVerdict, Convention, check as check_arithmetic};
pub use mean::{MeanCheck, check as check_means};

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoteKind {
    RepeatsInRuns,
    SharedBaseline,
    ChainedBaseline,
    BaselineUnstated,
    ConditionsDiffer,
    WithinRunDeviation,
    LabelAndProseDiffer,
    Contradiction,
}

/// Something a reader should know about a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub kind: NoteKind,
    pub text: String,
}

/// The audit of one claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimAudit {
    pub claim: String,
    pub arithmetic: Arithmetic,
    pub means: Vec<MeanCheck>,
    pub notes: Vec<Note>,
}

/// Mean, deviation across runs and runs of one side, as a mail prints them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub mean: f64,
    pub deviation: f64,
    pub runs: u32,
}

/// Audits every claim of a document, in its order.
pub fn audit(document: &Document) -> Vec<ClaimAudit> {
    let arithmetic: Vec<Arithmetic> = document.claims.iter().map(check_arithmetic).collect();
    let notes = relations::notes(document, &arithmetic);
    document
        .claims
        .iter()
        .zip(arithmetic)
        .zip(notes)
        .map(|((claim, arithmetic), notes)| ClaimAudit {
            claim: claim.id.clone(),
            arithmetic,
            means: check_means(claim),
            notes,
        })
        .collect()
}

/// Both sides as summaries, when deviations across runs and a run count are printed.
pub fn summaries(claim: &Claim) -> Option<(Summary, Summary)> {
    let runs = claim.runs.as_ref()?.count;
    let side = |side: &Measured| {
        let deviation = side.deviation.filter(|d| d.kind != DeviationKind::WithinRun)?;
        let mean = side.value.value;
        let amount =
            if deviation.relative { mean * deviation.value.value / 100.0 } else { deviation.value.value };
        let of_the_mean = deviation.kind == DeviationKind::OfTheMean;
        let amount = if of_the_mean { amount * f64::from(runs).sqrt() } else { amount };
        Some(Summary { mean, deviation: amount.abs(), runs })
    };
    Some((side(claim.before.as_ref()?)?, side(claim.after.as_ref()?)?))
}

#[cfg(test)]
mod tests;
