//! Formulas of balance: when the inactive list is low (`inactive_is_low`), and
//! how scanning is split between anon and file (`get_scan_count`, SCAN_FRACT).

/// Pages in a GiB, as a shift.
const GIB_SHIFT: u32 = 18;

/// Wanted ratio of active to inactive pages.
pub fn inactive_ratio(pages: u64) -> u64 {
    let gib = pages >> GIB_SHIFT;
    if gib > 0 { (10 * gib).isqrt() } else { 1 }
}

/// `inactive_is_low`.
pub fn inactive_is_low(inactive: u64, active: u64) -> bool {
    inactive * inactive_ratio(inactive + active) < active
}

/// Shares of anon and file in a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fractions {
    pub anon: u64,
    pub file: u64,
    pub denominator: u64,
}

/// The shares by swappiness and cost.
pub fn fractions(swappiness: u64, anon_cost: u64, file_cost: u64) -> Fractions {
    let total = anon_cost + file_cost;
    let anon_cost = total + anon_cost;
    let file_cost = total + file_cost;
    let total = anon_cost + file_cost;
    let anon = swappiness * (total + 1) / (anon_cost + 1);
    let file = (200 - swappiness) * (total + 1) / (file_cost + 1);
    Fractions { anon, file, denominator: anon + file }
}

impl Fractions {
    /// Pages to scan of a list of `size` at `priority`; `kind` 0 is anon.
    pub fn scan(&self, size: u64, priority: i32, kind: usize) -> u64 {
        let share = if kind == 0 { self.anon } else { self.file };
        (size >> priority) * share / self.denominator
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_by_hand_values() {
        for (inactive, active, ratio, low) in [
            (100, 101, 1, true),
            (100, 100, 1, false),
            (65536, 196608, 3, false),
            (65536, 196609, 3, true),
            (65536, 458752, 4, true),
            (262144, 2359296, 10, false),
            (200000, 1848576, 8, true),
        ] {
            assert_eq!(inactive_ratio(inactive + active), ratio, "{inactive} {active}");
            assert_eq!(inactive_is_low(inactive, active), low, "{inactive} {active}");
        }
    }

    #[test]
    fn fractions_by_hand_values() {
        for (swappiness, anon_cost, file_cost, anon, file, scan_anon, scan_file) in [
            (60, 0, 0, 60, 140, 76, 179),
            (60, 1000, 1000, 119, 279, 76, 179),
            (60, 3200, 100, 91, 407, 46, 209),
            (100, 100, 3200, 291, 152, 168, 87),
            (1, 0, 5000, 2, 298, 1, 254),
            (200, 7, 9, 408, 0, 256, 0),
        ] {
            let found = fractions(swappiness, anon_cost, file_cost);
            assert_eq!((found.anon, found.file), (anon, file), "{swappiness} {anon_cost} {file_cost}");
            assert_eq!(found.denominator, anon + file);
            assert_eq!(found.scan(1_048_576, 12, 0), scan_anon);
            assert_eq!(found.scan(262_144, 10, 1), scan_file);
        }
    }
}
