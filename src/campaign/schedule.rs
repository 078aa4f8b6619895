//! Balanced blocks by a seeded coin.
//!
//! A block is a random permutation of the arms followed by its mirror image.
//! With two arms that is ABBA or BAAB; a linear drift within the block cancels
//! for any number of arms.

use rand::RngExt;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest, Sha256};

/// Indices of arms in the order they run.
pub type BlockOrder = Vec<usize>;

/// 64 bits that depend on every part.
fn derive(seed: u64, purpose: &str, workload: &str, block: u32) -> u64 {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    for part in [purpose, workload] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.update(block.to_le_bytes());
    let digest = hash.finalize();
    u64::from_le_bytes(digest[..8].try_into().expect("a digest has 32 bytes"))
}

/// The order of one block: each arm twice.
pub fn block_order(seed: u64, workload: &str, block: u32, arms: usize) -> BlockOrder {
    let mut coin = Xoshiro256PlusPlus::seed_from_u64(derive(seed, "order", workload, block));
    let mut order: BlockOrder = (0..arms).collect();
    for i in (1..arms).rev() {
        order.swap(i, coin.random_range(0..=i));
    }
    let mirror: Vec<usize> = order.iter().rev().copied().collect();
    order.extend(mirror);
    order
}

/// The seed of a block's trials, the same for every arm.
pub fn trial_seed(seed: u64, workload: &str, block: u32) -> u64 {
    // Tools take seeds of 63 bits without sign trouble.
    derive(seed, "trial", workload, block) >> 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_arms_make_abba_or_baab_about_equally_often() {
        let first: usize = (0..1000)
            .map(|block| {
                let order = block_order(7, "memcached", block, 2);
                assert!(order == [0, 1, 1, 0] || order == [1, 0, 0, 1], "{order:?}");
                order[0]
            })
            .sum();
        assert!((430..=570).contains(&first), "{first} of 1000 begin with the second arm");
    }

    #[test]
    fn a_linear_drift_cancels_for_any_number_of_arms() {
        for arms in 2..8 {
            for block in 0..50 {
                let order = block_order(3, "fio", block, arms);
                let mut places = vec![0; arms];
                for (place, arm) in order.iter().enumerate() {
                    places[*arm] += place;
                }
                assert!(places.iter().all(|p| *p == 2 * arms - 1), "{order:?}");
            }
        }
    }

    #[test]
    fn orders_and_seeds_are_reproducible_and_differ_by_block() {
        assert_eq!(block_order(1, "fio", 5, 3), block_order(1, "fio", 5, 3));
        assert_eq!(trial_seed(1, "fio", 5), trial_seed(1, "fio", 5));
        assert_ne!(trial_seed(1, "fio", 5), trial_seed(1, "fio", 6));
        assert_ne!(trial_seed(1, "fio", 5), trial_seed(2, "fio", 5));
        assert_ne!(trial_seed(1, "fio", 5), trial_seed(1, "memcached", 5));
    }
}
