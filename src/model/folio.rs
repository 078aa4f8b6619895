//! The folio arena: 12-byte records with a flags word and the place on a list.

use std::hint::black_box;

use super::list::Blocks;

/// Bits of the flags word. Those that an access changes lie in `page.rs`.
pub const GEN_MASK: u32 = 0b111;
/// File type (`folio_is_file_lru`), else anon.
pub const FILE: u32 = 1 << 3;
pub const ACTIVE: u32 = 1 << 4;
pub const SWAPCACHE: u32 = 1 << 5;
pub const WRITEBACK: u32 = 1 << 6;
/// PG_reclaim.
pub const RECLAIM: u32 = 1 << 7;
/// On a list, neither isolated nor in a batch.
pub const LRU: u32 = 1 << 8;
pub const UNEVICTABLE: u32 = 1 << 9;
/// A per-processor batch holds a reference, so it cannot be freed.
pub const BATCHED: u32 = 1 << 10;
/// Looked at once in this eviction pass already.
pub const RETRIED: u32 = 1 << 11;
/// In use by the arena.
pub const LIVE: u32 = 1 << 12;
/// PG_readahead.
pub const READAHEAD: u32 = 1 << 13;
const ZONE_SHIFT: u32 = 14;
const ZONE_MASK: u32 = 0b11 << ZONE_SHIFT;
const REGION_SHIFT: u32 = 16;

/// One folio of order 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Folio {
    /// Where it lies on its list, while it is on one.
    pub position: u32,
    pub page: u32,
    pub flags: u32,
}

impl Folio {
    #[inline]
    pub fn has(&self, bit: u32) -> bool {
        self.flags & bit != 0
    }

    /// Generation slot, if the folio is on a generation's list.
    #[inline]
    pub fn generation(&self) -> Option<usize> {
        (self.flags & GEN_MASK).checked_sub(1).map(|g| g as usize)
    }

    #[inline]
    pub fn set_generation(&mut self, generation: Option<usize>) {
        self.flags = self.flags & !GEN_MASK | generation.map_or(0, |g| g as u32 + 1);
    }

    /// 0 anon, 1 file.
    #[inline]
    pub fn kind(&self) -> usize {
        usize::from(self.has(FILE))
    }

    #[inline]
    pub fn zone(&self) -> usize {
        ((self.flags & ZONE_MASK) >> ZONE_SHIFT) as usize
    }

    #[inline]
    pub fn region(&self) -> usize {
        (self.flags >> REGION_SHIFT) as usize
    }
}

/// All folios, and the blocks of their lists.
#[derive(Debug, Clone, Default)]
pub struct Arena {
    records: Vec<Folio>,
    free: Vec<u32>,
    /// Folios below lie in the low zone, the rest in the next.
    low_zone: Option<u32>,
    blocks: Blocks,
}

impl Arena {
    pub fn new(low_zone: Option<u32>) -> Self {
        Arena { records: Vec::new(), free: Vec::new(), low_zone, blocks: Blocks::default() }
    }

    #[inline]
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    #[inline]
    pub fn blocks_mut(&mut self) -> &mut Blocks {
        &mut self.blocks
    }

    /// Takes the most recently freed folio, or a new one.
    #[inline]
    pub fn allocate(&mut self, page: u32, region: usize, file: bool) -> u32 {
        let flags = LIVE | if file { FILE } else { 0 } | (region as u32) << REGION_SHIFT;
        let index = self.free.pop().unwrap_or_else(|| {
            self.records.push(Folio { position: 0, page, flags: 0 });
            self.records.len() as u32 - 1
        });
        let zone = u32::from(self.low_zone.is_some_and(|low| index >= low));
        let record = &mut self.records[index as usize];
        record.page = page;
        record.flags = flags | zone << ZONE_SHIFT;
        index
    }

    #[inline]
    pub fn release(&mut self, folio: u32) {
        self.records[folio as usize].flags = 0;
        self.free.push(folio);
    }

    #[inline]
    pub fn get(&self, folio: u32) -> &Folio {
        &self.records[folio as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, folio: u32) -> &mut Folio {
        &mut self.records[folio as usize]
    }

    #[inline]
    pub fn set(&mut self, folio: u32, bits: u32) {
        self.get_mut(folio).flags |= bits;
    }

    #[inline]
    pub fn clear(&mut self, folio: u32, bits: u32) {
        self.get_mut(folio).flags &= !bits;
    }

    /// Reads each record and its place on a list, so that the loads overlap.
    #[inline]
    pub fn look_ahead(&self, folios: &[u32]) {
        let mut seen = 0;
        for folio in folios {
            if let Some(record) = self.records.get(*folio as usize) {
                seen ^= self.blocks.place(record.position);
            }
        }
        black_box(seen);
    }

    pub fn live(&self) -> usize {
        self.records.len() - self.free.len()
    }

    /// Highest number of folios that were live at once.
    pub fn capacity(&self) -> usize {
        self.records.len()
    }

    /// Bytes of records, free list and lists at their fullest.
    pub fn bytes(&self) -> usize {
        let free = self.free.capacity() * size_of::<u32>();
        self.records.len() * size_of::<Folio>() + free + self.blocks.bytes()
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &Folio)> {
        self.records.iter().enumerate().filter(|(_, f)| f.has(LIVE)).map(|(i, f)| (i as u32, f))
    }
}
