//! Counters under the kernel's names, as in `memory.stat` and `/proc/vmstat`,
//! and their values over time.

macro_rules! counters {
    ($($variant:ident $name:literal,)*) => {
        /// A cumulative counter.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(usize)]
        pub enum Counter { $($variant,)* }

        impl Counter {
            pub const ALL: &'static [Counter] = &[$(Counter::$variant,)*];

            pub const fn name(self) -> &'static str {
                match self { $(Counter::$variant => $name,)* }
            }
        }
    };
}

counters! {
    PgFault "pgfault",
    PgMajFault "pgmajfault",
    PgScanDirect "pgscan_direct",
    PgScanKswapd "pgscan_kswapd",
    PgScanProactive "pgscan_proactive",
    PgStealDirect "pgsteal_direct",
    PgStealKswapd "pgsteal_kswapd",
    PgStealProactive "pgsteal_proactive",
    PgScanAnon "pgscan_anon",
    PgScanFile "pgscan_file",
    PgStealAnon "pgsteal_anon",
    PgStealFile "pgsteal_file",
    PgRefill "pgrefill",
    PgActivate "pgactivate",
    PgDeactivate "pgdeactivate",
    PgRotated "pgrotated",
    PgAlloc "pgalloc_normal",
    PgFree "pgfree",
    WorkingsetRefaultAnon "workingset_refault_anon",
    WorkingsetRefaultFile "workingset_refault_file",
    WorkingsetActivateAnon "workingset_activate_anon",
    WorkingsetActivateFile "workingset_activate_file",
    WorkingsetRestoreAnon "workingset_restore_anon",
    WorkingsetRestoreFile "workingset_restore_file",
    PswpIn "pswpin",
    PswpOut "pswpout",
    SwapRa "swap_ra",
    SwapRaHit "swap_ra_hit",
    NrVmscanWrite "nr_vmscan_write",
    NrVmscanImmediate "nr_vmscan_immediate_reclaim",
    NrDirtied "nr_dirtied",
    NrWritten "nr_written",
    PgPgIn "pgpgin",
    MemcgMax "max",
    MemcgOom "oom",
}

const COUNT: usize = Counter::ALL.len();

/// One set of counters, of a memcg or of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counters([u64; COUNT]);

impl Default for Counters {
    fn default() -> Self {
        Counters([0; COUNT])
    }
}

impl Counters {
    #[inline]
    pub fn add(&mut self, counter: Counter, count: u64) {
        self.0[counter as usize] += count;
    }

    pub fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    pub fn pgscan(&self) -> u64 {
        [Counter::PgScanDirect, Counter::PgScanKswapd, Counter::PgScanProactive]
            .iter()
            .map(|c| self.get(*c))
            .sum()
    }

    pub fn pgsteal(&self) -> u64 {
        [Counter::PgStealDirect, Counter::PgStealKswapd, Counter::PgStealProactive]
            .iter()
            .map(|c| self.get(*c))
            .sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Counter, u64)> {
        Counter::ALL.iter().map(|c| (*c, self.get(*c)))
    }

    #[must_use]
    pub fn since(&self, earlier: &Counters) -> Counters {
        let mut out = Counters::default();
        for (to, (now, before)) in out.0.iter_mut().zip(self.0.iter().zip(earlier.0)) {
            *to = now - before;
        }
        out
    }
}

/// `Anon` or `File` of a counter pair.
#[inline]
pub const fn of_type(kind: usize, anon: Counter, file: Counter) -> Counter {
    if kind == 0 { anon } else { file }
}

/// Pages on the lists, as `memory.stat` groups them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LruSizes {
    /// By type: anon, file.
    pub active: [u64; 2],
    pub inactive: [u64; 2],
    pub unevictable: u64,
}

impl LruSizes {
    pub fn of_type(&self, kind: usize) -> u64 {
        self.active[kind] + self.inactive[kind]
    }

    pub fn evictable(&self) -> u64 {
        self.of_type(0) + self.of_type(1)
    }
}

/// Counter values at several moments, one row a moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Series {
    pub names: Vec<String>,
    /// Accesses done so far, and the values in the order of `names`.
    pub rows: Vec<(u64, Vec<u64>)>,
}

impl Series {
    /// Adds a row; the first fixes the names.
    pub fn push(&mut self, accesses: u64, values: Vec<(String, u64)>) {
        if self.names.is_empty() {
            self.names = values.iter().map(|(name, _)| name.clone()).collect();
        }
        self.rows.push((accesses, values.into_iter().map(|(_, value)| value).collect()));
    }

    /// One counter over time.
    pub fn column(&self, name: &str) -> Option<Vec<(u64, u64)>> {
        let at = self.names.iter().position(|n| n == name)?;
        Some(self.rows.iter().map(|(accesses, values)| (*accesses, values[at])).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_joins_by_name() {
        let mut series = Series::default();
        series.push(10, vec![("pgscan".into(), 1), ("pgsteal".into(), 0)]);
        series.push(20, vec![("pgscan".into(), 4), ("pgsteal".into(), 3)]);
        assert_eq!(series.column("pgsteal"), Some(vec![(10, 0), (20, 3)]));
        assert_eq!(series.column("pgfault"), None);
    }

    #[test]
    fn sums_take_every_class() {
        let mut counters = Counters::default();
        counters.add(Counter::PgScanDirect, 5);
        counters.add(Counter::PgScanProactive, 2);
        assert_eq!(counters.pgscan(), 7);
        assert_eq!(counters.pgsteal(), 0);
    }
}
