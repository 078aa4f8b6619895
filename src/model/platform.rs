//! The machine that the modelled kernel runs on: what the hardware marks, how
//! batches are drained, zones, and the swap device.

/// Where anonymous pages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SwapKind {
    /// brd or zram: `SWP_SYNCHRONOUS_IO`, written and stolen in one pass.
    Synchronous,
    /// Written in the background: kept, rotated at the end of the write, and
    /// stolen by a second scan.
    Asynchronous,
}

/// Switches that differ between machines, not between kernel versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Platform {
    /// The processor sets young bits itself (`ARCH_HAS_HW_PTE_YOUNG`), so aging
    /// walks page tables. Otherwise a cleared young bit costs a fault.
    pub hw_young: bool,
    /// Whether a load marks a page young again. On User-Mode Linux only a store does.
    pub young_on_read: bool,
    /// Whether the processor sets the dirty bit; otherwise the first store faults.
    pub hw_dirty: bool,
    /// More than one processor: activations are batched, lazy flushes exist.
    pub smp: bool,
    /// Generation slots of statistics (1, or 4 with `LRU_GEN_STATS`).
    pub hist_gens: usize,
    /// Pages of the lowest zone; folios beyond lie in the next one. All when one zone.
    pub low_zone_pages: Option<u32>,
    pub swap: SwapKind,
    /// Accesses between two flushes of memcg statistics (2 s of kernel time), for
    /// the classic LRU, which decides by flushed values; `None` reads exact values.
    pub stats_flush: Option<u64>,
}

impl Platform {
    /// User-Mode Linux, one processor: no hardware young bit, reads invisible.
    pub const UML: Platform = Platform {
        hw_young: false,
        young_on_read: false,
        hw_dirty: false,
        smp: false,
        hist_gens: 4,
        low_zone_pages: None,
        swap: SwapKind::Synchronous,
        stats_flush: None,
    };

    /// x86-64 with several processors.
    pub const X86: Platform = Platform {
        hw_young: true,
        young_on_read: true,
        hw_dirty: true,
        smp: true,
        hist_gens: 4,
        low_zone_pages: None,
        swap: SwapKind::Synchronous,
        stats_flush: None,
    };
}
