//! The cost parameters of a machine, their names and units.

macro_rules! parameters {
    ($($variant:ident $name:literal $unit:ident $least:literal $what:literal,)*) => {
        /// One cost.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(usize)]
        pub enum Parameter { $($variant,)* }

        impl Parameter {
            pub const ALL: &'static [Parameter] = &[$(Parameter::$variant,)*];

            /// As written in profiles.
            pub const fn name(self) -> &'static str {
                match self { $(Parameter::$variant => $name,)* }
            }

            pub const fn unit(self) -> Unit {
                match self { $(Parameter::$variant => Unit::$unit,)* }
            }

            /// What no processor undercuts; a smaller measurement is none.
            pub const fn least(self) -> f64 {
                match self { $(Parameter::$variant => $least,)* }
            }

            /// What is measured.
            pub const fn what(self) -> &'static str {
                match self { $(Parameter::$variant => $what,)* }
            }
        }
    };
}

/// In what a parameter is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Nanoseconds,
    /// A share of 1, or a factor.
    Share,
}

parameters! {
    HitL2 "c_hit_l2" Nanoseconds 0.5 "dependent load that hits the second-level cache",
    HitLlc "c_hit_llc" Nanoseconds 1.5 "dependent load that hits the last-level cache, 4 KiB pages",
    HitLlcHuge "c_hit_llc_huge" Nanoseconds 1.5 "the same with 2 MiB pages",
    Miss "c_miss" Nanoseconds 10.0 "dependent load from memory, 2 MiB pages, as the kernel maps struct page",
    MissSmall "c_miss_4k" Nanoseconds 10.0 "the same with 4 KiB pages",
    PrefetchShort "prefetch_short" Share -5.0 "share of min(c_miss, work) hidden by prefetchw one node ahead, little work",
    PrefetchMedium "prefetch_medium" Share -5.0 "the same with more work",
    PrefetchLong "prefetch_long" Share -5.0 "the same with work about as long as a miss",
    WorkShort "work_short" Nanoseconds 1.0 "the work behind prefetch_short, list in cache",
    WorkMedium "work_medium" Nanoseconds 1.0 "the work behind prefetch_medium, list in cache",
    WorkLong "work_long" Nanoseconds 1.0 "the work behind prefetch_long, list in cache",
    PrefetchTwoAhead "prefetch_two_ahead" Share -5.0 "the same two nodes ahead (what-if), little work",
    PrefetchIssue "c_prefetch_issue" Nanoseconds -50.0 "a prefetchw of a line that is there",
    PerCpu "c_percpu" Nanoseconds 0.1 "what five per-processor counters on five hot lines add to a list walk",
    PerCpuCold "c_percpu_cold" Nanoseconds 0.5 "the same, lines in the last-level cache",
    ListMove "c_list_move" Nanoseconds 0.1 "what list_move of each record adds to a list walk, neighbours cached",
    ListSplice "c_list_splice" Nanoseconds 0.3 "list_bulk_move_tail of a run, whatever its length",
    Rmw "c_rmw0" Nanoseconds 0.5 "locked read-modify-write, line owned",
    RmwTwo "c_rmw_2" Nanoseconds 0.5 "the same, two processors on one line, per operation",
    RmwMany "c_rmw_many" Nanoseconds 0.5 "the same, all processors of a socket on one line",
    RmwCross "c_rmw_cross" Nanoseconds 0.5 "the same, processors of two sockets on one line",
    SpinTwo "c_spin_2" Nanoseconds 1.0 "hand-off of a queued lock between two processors",
    SpinMany "c_spin_many" Nanoseconds 1.0 "the same among all processors of a socket",
    SpinCross "c_spin_cross" Nanoseconds 1.0 "the same among processors of two sockets",
    AtomicHierarchy "c_atomic_hier" Nanoseconds 1.0 "three dependent atomic adds, a charge through three levels",
    CopyL2L2 "c_copy4k_l2_l2" Nanoseconds 10.0 "copy of 4 KiB, source and target in the second-level cache",
    CopyL2Llc "c_copy4k_l2_llc" Nanoseconds 10.0 "copy of 4 KiB, second-level to last-level cache",
    CopyL2Dram "c_copy4k_l2_dram" Nanoseconds 10.0 "copy of 4 KiB, second-level cache to memory",
    CopyLlcL2 "c_copy4k_llc_l2" Nanoseconds 10.0 "copy of 4 KiB, last-level to second-level cache",
    CopyLlcLlc "c_copy4k_llc_llc" Nanoseconds 10.0 "copy of 4 KiB within the last-level cache",
    CopyLlcDram "c_copy4k_llc_dram" Nanoseconds 10.0 "copy of 4 KiB, last-level cache to memory",
    CopyDramL2 "c_copy4k_dram_l2" Nanoseconds 10.0 "copy of 4 KiB, memory to second-level cache",
    CopyDramLlc "c_copy4k_dram_llc" Nanoseconds 10.0 "copy of 4 KiB, memory to last-level cache",
    CopyDramDram "c_copy4k_dram_dram" Nanoseconds 10.0 "copy of 4 KiB, memory to memory",
    ZeroL2 "c_zero4k_l2" Nanoseconds 5.0 "zeroing of 4 KiB in the second-level cache",
    ZeroLlc "c_zero4k_llc" Nanoseconds 5.0 "zeroing of 4 KiB in the last-level cache",
    ZeroDram "c_zero4k_dram" Nanoseconds 5.0 "zeroing of 4 KiB in memory",
    ReadL2 "c_read4k_l2" Nanoseconds 5.0 "reading 4 KiB in the second-level cache",
    ReadLlc "c_read4k_llc" Nanoseconds 5.0 "reading 4 KiB in the last-level cache",
    ReadDram "c_read4k_dram" Nanoseconds 5.0 "reading 4 KiB in memory",
    Fault "c_fault" Nanoseconds 20.0 "minor fault round trip, zeroing taken off",
    Syscall "c_syscall" Nanoseconds 10.0 "getppid",
    PreadZero "c_pread0" Nanoseconds 10.0 "pread of no bytes",
    TlbLocal "c_tlb_0" Nanoseconds 20.0 "change of protection and back, no other processor",
    TlbOne "c_tlb_1" Nanoseconds -5000.0 "what one more processor in the address space adds to it",
    TlbMany "c_tlb_many" Nanoseconds -5000.0 "what all processors of a socket add to it",
    Pte "c_pte" Nanoseconds 0.02 "page-table entry in a streaming scan",
}

impl Parameter {
    /// The parameter of this name.
    pub fn named(name: &str) -> Option<Parameter> {
        Parameter::ALL.iter().copied().find(|p| p.name() == name)
    }
}

impl Unit {
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "ns",
            Unit::Share => "share",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        for parameter in Parameter::ALL {
            assert_eq!(Parameter::named(parameter.name()), Some(*parameter));
        }
        assert_eq!(Parameter::named("c_nothing"), None);
    }
}
