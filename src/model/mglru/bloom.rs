//! The two Bloom filters of page-table walks (`mm_state.filters`): which page
//! tables held enough young entries to be worth walking.
//!
//! The kernel hashes addresses, which differ between boots; here the key is the
//! index of the page table, mixed.

const SHIFT: u32 = 15;
const WORDS: usize = 1 << (SHIFT - 6);
const KEY_MASK: u64 = (1 << SHIFT) - 1;

/// Filters by the parity of the sequence number; absent ones let everything pass.
#[derive(Debug, Clone, Default)]
pub(super) struct Bloom([Option<Box<[u64; WORDS]>>; 2]);

fn keys(table: u64) -> [u64; 2] {
    let hash = table.wrapping_add(1).wrapping_mul(0x61C8_8646_80B5_83EB) >> (64 - 2 * SHIFT);
    [hash & KEY_MASK, hash >> SHIFT]
}

impl Bloom {
    /// `reset_bloom_filter` for generation `seq`.
    pub(super) fn reset(&mut self, seq: u64) {
        self.0[seq as usize & 1] = Some(Box::new([0; WORDS]));
    }

    /// `update_bloom_filter`.
    pub(super) fn add(&mut self, seq: u64, table: u64) {
        if let Some(filter) = &mut self.0[seq as usize & 1] {
            for key in keys(table) {
                filter[key as usize / 64] |= 1 << (key % 64);
            }
        }
    }

    /// `test_bloom_filter`.
    pub(super) fn test(&self, seq: u64, table: u64) -> bool {
        self.0[seq as usize & 1].as_ref().is_none_or(|filter| {
            keys(table).into_iter().all(|key| filter[key as usize / 64] & 1 << (key % 64) != 0)
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.iter().flatten().count() * WORDS * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_filter_passes_all_and_a_fresh_one_none() {
        let mut bloom = Bloom::default();
        assert!(bloom.test(3, 17));
        bloom.reset(3);
        assert!(!bloom.test(3, 17) && bloom.test(4, 17));
        bloom.add(3, 17);
        assert!(bloom.test(3, 17) && bloom.test(5, 17));
        let false_passes = (1000..11_000).filter(|t| bloom.test(3, *t)).count();
        assert!(false_passes < 10, "{false_passes}");
    }
}
