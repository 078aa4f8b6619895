//! Published figures, recomputed from the published means.

use crate::stats::error::StatsError;
use crate::stats::power::{PowerTarget, log_deviation};
use crate::stats::welch::{Side, Welch};

use super::SelfTestRow;

/// A comparison as its author printed it, and what a recomputation must give.
struct Published {
    name: &'static str,
    before: Side,
    after: Side,
    t: (f64, f64),
    df: (f64, f64),
    p: (f64, f64),
}

const fn side(mean: f64, standard_deviation: f64, n: usize) -> Side {
    Side { mean, standard_deviation, n }
}

/// Ranges are the published figures with half a unit of their last digit.
const PUBLISHED: [Published; 4] = [
    Published {
        name: "memtier",
        before: side(50317.98, 2568.97, 18),
        after: side(48959.37, 3488.56, 18),
        t: (-1.335, -1.325),
        df: (31.15, 31.25),
        p: (0.1925, 0.1935),
    },
    Published {
        name: "sysbench",
        before: side(134743.71, 582.0, 12),
        after: side(135099.21, 351.0, 12),
        t: (1.805, 1.815),
        df: (18.05, 18.15),
        p: (0.0865, 0.0875),
    },
    Published {
        name: "kernel build",
        before: side(1456.77, 20.1, 18),
        after: side(1464.18, 18.0, 18),
        t: (1.165, 1.175),
        df: (33.55, 33.65),
        p: (0.2515, 0.2525),
    },
    Published {
        name: "fio hybrid read",
        before: side(6622.0, 22.09, 3),
        after: side(6981.0, 15.56, 3),
        t: (22.95, 23.05),
        df: (3.55, 3.65),
        p: (4.5e-5, 5.5e-5),
    },
];

pub(super) fn rows() -> Result<Vec<SelfTestRow>, StatsError> {
    let mut rows = Vec::new();
    for case in &PUBLISHED {
        let welch = Welch::from_sides(&case.before, &case.after, 0.95)?;
        // Both sides vary, so that there is a t; its absence would fail the row.
        let figures = [
            ("t", welch.t.unwrap_or(f64::NAN), case.t),
            ("df", welch.df, case.df),
            ("p", welch.p.unwrap_or(f64::NAN), case.p),
        ];
        for (figure, measured, (low, high)) in figures {
            let name = format!("published Welch {figure}, {}", case.name);
            rows.push(SelfTestRow::new(name, measured, low, high, 0.0));
        }
    }
    let target = PowerTarget::default();
    for (variation, runs) in [(0.01, 8.0), (0.02, 28.0), (0.05, 166.0)] {
        let measured = target.runs_per_arm(0.018_f64.ln_1p(), log_deviation(variation))? as f64;
        let name = format!("runs per arm for +1.8% at {}% noise", 100.0 * variation);
        rows.push(SelfTestRow::new(name, measured, runs, runs, 0.0));
    }
    Ok(rows)
}
