//! The page table: one byte of state for each page id, and one word that holds
//! either the folio or the shadow entry, as a slot of an xarray does.
//!
//! The bits that an access changes lie here, apart from the folio records, so
//! that a hit touches one byte. `folio_mark_accessed`'s flags (referenced,
//! workingset, REFS) are therefore found in this byte, not in the flags word.

/// The page has a folio (mapped, or in the page cache).
pub const RESIDENT: u8 = 1;
/// The PTE is young. On a page that is not resident: the zero page is mapped.
pub const YOUNG: u8 = 2;
/// The PTE or the folio is dirty.
pub const DIRTY: u8 = 4;
/// PG_referenced.
pub const REFERENCED: u8 = 8;
/// PG_workingset.
pub const WORKINGSET: u8 = 16;
/// MGLRU: the REFS field, two bits.
pub const REFS: u8 = 32 | 64;
pub const REFS_ONE: u8 = 32;
const REFS_SHIFT: u32 = 5;
/// Classic LRU: a copy of PG_active, which `folio_mark_accessed` reads.
pub const ACTIVE: u8 = 32;
/// A PTE maps the folio.
pub const MAPPED: u8 = 128;

/// Value of the REFS field.
pub const fn refs_field(state: u8) -> u8 {
    (state & REFS) >> REFS_SHIFT
}

/// The page is not resident and was never, or its content was dropped.
pub const EMPTY_SLOT: u32 = 0;
/// Marks a slot of a page that is not resident as holding a shadow entry.
pub const SHADOW: u32 = 1 << 31;

/// Calls `found` with the index of each state that has all bits of `wanted`: eight
/// states at a time, since few match.
#[inline]
pub fn each_with(states: &[u8], wanted: u8, mut found: impl FnMut(usize)) {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let mask = u64::from_le_bytes([wanted; 8]);
    let mut words = states.chunks_exact(8);
    let mut first = 0;
    for word in &mut words {
        let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
        let missing = !word & mask;
        // The high bit of each byte in which nothing is missing.
        let mut matches = !(((missing & LOW) + LOW) | missing | LOW);
        while matches != 0 {
            found(first + matches.trailing_zeros() as usize / 8);
            matches &= matches - 1;
        }
        first += 8;
    }
    for (i, state) in words.remainder().iter().enumerate() {
        if state & wanted == wanted {
            found(first + i);
        }
    }
}

/// State and slot of each page id.
#[derive(Debug, Clone)]
pub struct PageTable {
    pub state: Vec<u8>,
    /// Resident: the folio. Else a shadow entry, or `EMPTY_SLOT`.
    pub slot: Vec<u32>,
}

impl PageTable {
    pub fn new(pages: u32) -> Self {
        PageTable { state: vec![0; pages as usize], slot: vec![EMPTY_SLOT; pages as usize] }
    }

    pub fn len(&self) -> u32 {
        self.state.len() as u32
    }

    pub fn is_empty(&self) -> bool {
        self.state.is_empty()
    }

    #[inline]
    pub fn state(&self, page: u32) -> u8 {
        self.state[page as usize]
    }

    #[inline]
    pub fn set(&mut self, page: u32, bits: u8) {
        self.state[page as usize] |= bits;
    }

    #[inline]
    pub fn clear(&mut self, page: u32, bits: u8) {
        self.state[page as usize] &= !bits;
    }

    #[inline]
    pub fn is_resident(&self, page: u32) -> bool {
        self.state(page) & RESIDENT != 0
    }

    /// The shadow entry of a page that is not resident.
    #[inline]
    pub fn shadow(&self, page: u32) -> Option<u32> {
        let slot = self.slot[page as usize];
        (!self.is_resident(page) && slot & SHADOW != 0).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn each_with_finds_what_a_plain_loop_finds(
            states in proptest::collection::vec(any::<u8>(), 0..80),
            wanted in proptest::sample::select(vec![RESIDENT | MAPPED | YOUNG, YOUNG, 0xff, MAPPED]),
        ) {
            let mut found = Vec::new();
            each_with(&states, wanted, |i| found.push(i));
            let plain: Vec<usize> = (0..states.len()).filter(|i| states[*i] & wanted == wanted).collect();
            prop_assert_eq!(found, plain);
        }
    }
}
