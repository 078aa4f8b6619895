//! Forecasts against claims: a table of claims in, how good the forecasts are out,
//! beside a forecaster that says "nothing changes".

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::case::{Case, NAMES};
use super::error::PredictError;
use super::forecast::{Forecast, Level, forecast};
use super::hosts;
use super::simulate::Effort;
use super::text::percent;
use crate::input;
use crate::model::flag::{Flag, Flags};

/// One miss of a 90% interval weighs this much a point (Gneiting and Raftery, 2007).
const PENALTY: f64 = 2.0 / 0.1;

/// A line of the table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimLine {
    /// One flag, or several with `+` between.
    pub patch: String,
    pub workload: String,
    /// A shipped profile or the path of one.
    pub machine: String,
    /// Ends of the claimed change in percent, from its noise.
    pub low: f64,
    pub high: f64,
    /// A stated baseline in the metric's unit, which anchors absolute speed.
    #[serde(default)]
    pub baseline: Option<f64>,
}

/// A claim with its forecast.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoredClaim {
    pub low: f64,
    pub high: f64,
    pub forecast: Forecast,
    /// The spread that the trivial forecaster takes from all other claims.
    pub trivial: f64,
}

/// How good a forecaster is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Marks {
    /// Claims whose interval has one sign, and forecasts of that sign.
    pub resolved: usize,
    pub right_sign: usize,
    /// Claims that meet the forecast's 90% interval by their middle.
    pub covered: usize,
    pub claims: usize,
    pub mean_width: f64,
    /// Mean interval score; smaller is better.
    pub interval_score: f64,
    /// Median of |forecast - claim|.
    pub median_error: f64,
}

/// Both forecasters over one table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    pub claims: Vec<ScoredClaim>,
    pub model: Marks,
    pub trivial: Marks,
    /// Nominal share of central intervals, and the share of claims inside.
    pub calibration: Vec<(f64, f64)>,
}

impl ScoredClaim {
    fn middle(&self) -> f64 {
        0.5 * (self.low + self.high)
    }

    fn sign(&self) -> f64 {
        if self.low > 0.0 {
            1.0
        } else if self.high < 0.0 {
            -1.0
        } else {
            0.0
        }
    }
}

/// Scores the table of a file: columns patch, workload, machine, low, high, and
/// optionally baseline.
pub fn score(path: &Path, effort: Effort) -> Result<Score, PredictError> {
    let text = input::read_text(path, input::SECTIONS)
        .map_err(|source| PredictError::Read { path: path.to_owned(), source })?;
    score_text(path, &text, effort)
}

fn score_text(path: &Path, text: &str, effort: Effort) -> Result<Score, PredictError> {
    let mut claims = Vec::new();
    for row in claim_lines(path, text)? {
        claims.push((row.low, row.high, predicted(&row, effort)?));
    }
    Ok(Score::new(claims))
}

/// The lines of a table of claims, at least one; `path` is for messages only.
pub fn claim_lines(path: &Path, text: &str) -> Result<Vec<ClaimLine>, PredictError> {
    let wrong = |line: u64, message: String| PredictError::Claims { path: path.to_owned(), line, message };
    let mut reader =
        csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(text.as_bytes());
    let mut claims = Vec::new();
    for (i, row) in reader.deserialize::<ClaimLine>().enumerate() {
        let row = row.map_err(|error| wrong(i as u64 + 2, error.to_string()))?;
        if !(row.low.is_finite() && row.high.is_finite() && row.low <= row.high) {
            return Err(wrong(i as u64 + 2, "write low <= high, in percent".to_owned()));
        }
        claims.push(row);
    }
    if claims.is_empty() {
        return Err(wrong(
            1,
            "no claims; write patch,workload,machine,low,high and a line for each".to_owned(),
        ));
    }
    Ok(claims)
}

fn predicted(row: &ClaimLine, effort: Effort) -> Result<Forecast, PredictError> {
    let profile = hosts::load(&row.machine)?;
    let flags: Flags =
        row.patch.split('+').map(|name| name.trim().parse::<Flag>()).collect::<Result<_, _>>()?;
    let case = Case::named(&row.workload, &profile.machine)
        .ok_or_else(|| PredictError::Workload { name: row.workload.clone(), known: NAMES.join(", ") })?;
    let metric = case.metric;
    let case = match row.baseline {
        Some(baseline) => case.anchored(metric, baseline),
        None => case,
    };
    match forecast(&case, flags, &profile, effort) {
        Err(PredictError::Contradiction { .. }) => {
            forecast(&Case { baseline: None, ..case }, flags, &profile, effort)
        }
        other => other,
    }
}

impl Score {
    fn new(claims: Vec<(f64, f64, Forecast)>) -> Self {
        let middles: Vec<f64> = claims.iter().map(|(low, high, _)| 0.5 * (low + high)).collect();
        let claims: Vec<ScoredClaim> = claims
            .into_iter()
            .enumerate()
            .map(|(i, (low, high, forecast))| ScoredClaim {
                low,
                high,
                forecast,
                trivial: spread(&middles, i),
            })
            .collect();
        let model = marks(&claims, |c| (c.forecast.low, c.forecast.median, c.forecast.high));
        let trivial = marks(&claims, |c| (-c.trivial, 0.0, c.trivial));
        let levels: Vec<f64> = claims[0].forecast.levels.iter().map(|level| level.share).collect();
        let inside = |share: f64| {
            let meets = |claim: &&ScoredClaim| {
                let level = claim.forecast.levels.iter().find(|level| level.share == share);
                level.is_some_and(|Level { low, high, .. }| *low <= claim.middle() && claim.middle() <= *high)
            };
            claims.iter().filter(meets).count() as f64 / claims.len() as f64
        };
        let calibration = levels.into_iter().map(|share| (share, inside(share))).collect();
        Score { claims, model, trivial, calibration }
    }

    /// Table, marks of both forecasters, and a chart of nominal against seen shares.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for claim in &self.claims {
            let forecast = &claim.forecast;
            let _ = writeln!(
                text,
                "{:<44} {:<13} {:<28} claimed [{}, {}]  forecast {}",
                forecast.patches.join("+"),
                forecast.workload,
                forecast.machine,
                percent(claim.low),
                percent(claim.high),
                super::text::change(forecast)
            );
        }
        let _ = writeln!(
            text,
            "\n{:<10} {:>11} {:>9} {:>11} {:>15} {:>13}",
            "", "right sign", "covered", "mean width", "interval score", "median error"
        );
        for (name, marks) in [("model", &self.model), ("zero", &self.trivial)] {
            let _ = writeln!(
                text,
                "{name:<10} {:>11} {:>9} {:>11.2} {:>15.2} {:>13.2}",
                format!("{}/{}", marks.right_sign, marks.resolved),
                format!("{}/{}", marks.covered, marks.claims),
                marks.mean_width,
                marks.interval_score,
                marks.median_error
            );
        }
        text.push_str("\ninterval  claims inside\n");
        for (nominal, seen) in &self.calibration {
            let bar = "#".repeat((40.0 * seen).round() as usize);
            let mark = (40.0 * nominal).round() as usize;
            let _ = writeln!(text, "{:>6.0}%   {bar:<mark$}| {:.0}%", 100.0 * nominal, 100.0 * seen);
        }
        text
    }
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { 0.5 * (values[half - 1] + values[half]) }
}

/// The 90% spread of all other claims around zero.
fn spread(middles: &[f64], but: usize) -> f64 {
    let mut others: Vec<f64> =
        middles.iter().enumerate().filter(|(i, _)| *i != but).map(|(_, middle)| middle.abs()).collect();
    others.sort_by(f64::total_cmp);
    let place = (0.9 * others.len() as f64).ceil() as usize;
    others.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
}

fn marks(claims: &[ScoredClaim], forecast: impl Fn(&ScoredClaim) -> (f64, f64, f64)) -> Marks {
    let count = claims.len() as f64;
    let resolved = claims.iter().filter(|claim| claim.sign() != 0.0);
    let right = |claim: &&ScoredClaim| forecast(claim).1 * claim.sign() > 0.0;
    let inside = |claim: &&ScoredClaim| {
        let (low, _, high) = forecast(claim);
        low <= claim.middle() && claim.middle() <= high
    };
    let width = |claim: &ScoredClaim| forecast(claim).2 - forecast(claim).0;
    let score = |claim: &ScoredClaim| {
        let (low, _, high) = forecast(claim);
        let miss = (low - claim.middle()).max(claim.middle() - high).max(0.0);
        width(claim) + PENALTY * miss
    };
    let errors: Vec<f64> = claims.iter().map(|claim| (forecast(claim).1 - claim.middle()).abs()).collect();
    Marks {
        resolved: resolved.clone().count(),
        right_sign: resolved.filter(right).count(),
        covered: claims.iter().filter(inside).count(),
        claims: claims.len(),
        mean_width: claims.iter().map(width).sum::<f64>() / count,
        interval_score: claims.iter().map(score).sum::<f64>() / count,
        median_error: median(&errors),
    }
}

#[cfg(test)]
#[path = "score_tests.rs"]
mod tests;
