//! Distributions of run-to-run noise, on the log scale.

use crate::stats::random::Chance;

/// Share of runs in the far mode of [`RunNoise::RareMode`].
const RARE: f64 = 0.1;
/// Distance of its modes, in deviations of one.
const FAR: f64 = 10.0;
/// The same for [`RunNoise::TwoModes`].
const MODES: f64 = 6.0;

/// What one run adds to the log of its arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunNoise {
    Normal,
    /// Student's t with three degrees of freedom: rare far values.
    StudentThree,
    /// Skewed to one side: the exponential of a standard normal.
    LogNormal,
    /// Two modes, as likely as each other.
    TwoModes,
    /// Two modes, one of them nine times in ten.
    RareMode,
    /// Normal, rounded to whole deviations: many ties.
    Rounded,
    /// Normal, rounded to three deviations: mostly ties.
    RoundedCoarsely,
}

impl RunNoise {
    pub(super) const NAMES: [(RunNoise, &'static str); 7] = [
        (RunNoise::Normal, "normal"),
        (RunNoise::StudentThree, "t3"),
        (RunNoise::LogNormal, "lognormal"),
        (RunNoise::TwoModes, "bimodal 50/50"),
        (RunNoise::RareMode, "bimodal 90/10"),
        (RunNoise::Rounded, "ties"),
        (RunNoise::RoundedCoarsely, "coarse rounding"),
    ];

    pub(super) fn draw(self, chance: &mut Chance) -> f64 {
        match self {
            RunNoise::Normal => chance.normal(),
            RunNoise::StudentThree => {
                let squares: f64 = (0..3).map(|_| chance.normal().powi(2)).sum();
                chance.normal() / (squares / 3.0).sqrt()
            }
            RunNoise::LogNormal => chance.normal().exp(),
            RunNoise::TwoModes => chance.normal() + if chance.coin() { MODES } else { 0.0 },
            RunNoise::RareMode => chance.normal() + if chance.share() < RARE { FAR } else { 0.0 },
            RunNoise::Rounded => chance.normal().round(),
            RunNoise::RoundedCoarsely => 3.0 * (chance.normal() / 3.0).round(),
        }
    }
}
