use proptest::prelude::*;

use super::keys::ClientKeys;
use super::keys::KeyRange;
use super::keys::Operation;
use crate::config::workload::KeyPattern;

const RANGE: KeyRange = KeyRange {
    minimum: 1,
    maximum: 997,
    set: KeyPattern::Random,
    get: KeyPattern::Random,
    zipf_exponent: 1.0,
};

fn both(pattern: KeyPattern) -> KeyRange {
    KeyRange { set: pattern, get: pattern, ..RANGE }
}

fn zipf(exponent: f64) -> KeyRange {
    KeyRange { zipf_exponent: exponent, ..both(KeyPattern::Zipf) }
}

/// The first eight SET keys of client 2 of 4.
fn first(range: KeyRange, seed: u32) -> Vec<u64> {
    let mut keys = ClientKeys::new(range, 2, 4, seed);
    (0..8).map(|_| keys.next(Operation::Set)).collect()
}

/// Recorded from memtier_benchmark by a stub server; `tests/memtier_keys.rs` records again.
#[test]
fn keys_are_those_of_memtier() {
    for (range, seed, expected) in [
        (RANGE, 0, [986, 451, 376, 481, 116, 106, 244, 406]),
        (RANGE, 2, [256, 348, 778, 670, 996, 661, 136, 742]),
        (both(KeyPattern::Parallel), 0, [501, 502, 503, 504, 505, 506, 507, 508]),
        (both(KeyPattern::Gaussian), 0, [424, 599, 557, 711, 456, 120, 688, 258]),
        (both(KeyPattern::Gaussian), 2, [361, 516, 581, 413, 456, 498, 251, 579]),
        (zipf(1.0), 0, [3, 314, 45, 241, 21, 9, 508, 448]),
        (zipf(0.8), 0, [11, 527, 143, 450, 77, 34, 694, 647]),
        (zipf(2.5), 2, [1, 1, 6, 1, 2, 1, 1, 1]),
        (
            KeyRange { maximum: 40_000_000_000, ..RANGE },
            0,
            [
                25676387421,
                1323921331,
                26156997928,
                18737471727,
                19729116172,
                19207194768,
                23798366269,
                22606931403,
            ],
        ),
    ] {
        assert_eq!(first(range, seed), expected, "{range:?} {seed}");
    }
}

#[test]
fn parallel_clients_share_the_range_and_wrap() {
    let range = KeyRange { maximum: 10, ..both(KeyPattern::Parallel) };
    let all: Vec<Vec<u64>> = (0..3)
        .map(|index| {
            let mut keys = ClientKeys::new(range, index, 3, 0);
            (0..5).map(|_| keys.next(Operation::Set)).collect()
        })
        .collect();
    assert_eq!(all, [[1, 2, 3, 4, 1], [5, 6, 7, 8, 5], [9, 10, 9, 10, 9]]);
    // A second run counts on: its client 3 is the first one's twin.
    assert_eq!(ClientKeys::new(range, 3, 3, 0).next(Operation::Set), 1);
}

#[test]
fn sets_and_gets_walk_apart() {
    let mut keys = ClientKeys::new(both(KeyPattern::Sequential), 0, 1, 0);
    let walked = [Operation::Set, Operation::Set, Operation::Get, Operation::Set].map(|o| keys.next(o));
    assert_eq!(walked, [1, 2, 1, 3]);
}

proptest! {
    #[test]
    fn keys_stay_in_the_range(
        minimum in 0u64..1000,
        length in 0u64..1_000_000,
        seed in any::<u32>(),
        exponent in 0.01f64..5.0,
    ) {
        use KeyPattern::{Gaussian, Parallel, Random, Sequential, Zipf};
        for pattern in [Parallel, Sequential, Random, Gaussian, Zipf] {
            let range = KeyRange {
                minimum,
                maximum: minimum + length,
                zipf_exponent: exponent,
                ..both(pattern)
            };
            let mut keys = ClientKeys::new(range, 0, 1, seed);
            for _ in 0..50 {
                let key = keys.next(Operation::Get);
                // memtier's zipf begins at 1 even where the range begins at 0, and its
                // Gaussian may round up to one above the range.
                let top = range.maximum.max(1) + u64::from(pattern == Gaussian);
                prop_assert!((minimum..=top).contains(&key), "{pattern:?} {key}");
            }
        }
    }
}
