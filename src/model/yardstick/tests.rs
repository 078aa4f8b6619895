use proptest::prelude::*;
use rand::RngExt;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

fn reads(pages: &[u32]) -> Vec<Access> {
    pages.iter().map(|&page| Access::new(page, AccessKind::MapRead)).collect()
}

/// Squares of a uniform draw: few pages often, many seldom; and a scan.
fn small_trace() -> Vec<Access> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut pages = Vec::new();
    for i in 0..20_000u32 {
        let draw: f64 = random.random();
        pages.push(if i % 5 == 0 { 600 + i / 5 % 400 } else { (draw * draw * 600.0) as u32 });
    }
    reads(&pages)
}

/// Paste the printed table back after a deliberate change.
#[test]
fn golden_miss_counts() {
    const SIZES: [u32; 4] = [20, 100, 300, 800];
    const MISSES: [(Yardstick, [u64; 4]); 6] = [
        (Yardstick::Fifo, [19043, 16652, 12915, 5216]),
        (Yardstick::Lru, [18972, 16318, 12115, 6467]),
        (Yardstick::Clock, [18926, 16170, 11724, 5918]),
        (Yardstick::Sieve, [17834, 14762, 9904, 4806]),
        (Yardstick::S3Fifo, [17727, 14501, 9983, 4599]),
        (Yardstick::Belady, [15263, 10676, 6636, 2004]),
    ];
    let trace = small_trace();
    let counted = Yardstick::ALL.map(|policy| (policy, SIZES.map(|size| policy.misses(&trace, 1000, size))));
    let lines: String =
        counted.iter().map(|(policy, m)| format!("(Yardstick::{policy:?}, {m:?}),\n")).collect();
    assert_eq!(counted, MISSES, "counted now:\n{lines}");
}

/// LRU over a plain vector.
fn naive_lru(accesses: &[Access], size: usize) -> u64 {
    let (mut stack, mut misses): (Vec<u32>, u64) = (Vec::new(), 0);
    for access in accesses {
        let found = stack.iter().position(|&page| page == access.page);
        if let Some(at) = found {
            stack.remove(at);
        }
        if access.kind == AccessKind::Free {
            continue;
        }
        misses += u64::from(found.is_none());
        stack.insert(0, access.page);
        stack.truncate(size);
    }
    misses
}

/// The fewest misses by trying every victim.
fn fewest_misses(pages: &[u32], size: usize) -> u64 {
    fn search(pages: &[u32], held: &mut Vec<u32>, size: usize) -> u64 {
        let Some((&page, rest)) = pages.split_first() else { return 0 };
        if held.contains(&page) {
            return search(rest, held, size);
        }
        if held.len() < size {
            held.push(page);
            let misses = 1 + search(rest, held, size);
            held.pop();
            return misses;
        }
        let mut best = u64::MAX;
        for at in 0..held.len() {
            let victim = std::mem::replace(&mut held[at], page);
            best = best.min(1 + search(rest, held, size));
            held[at] = victim;
        }
        best
    }
    search(pages, &mut Vec::new(), size)
}

#[test]
fn a_scan_one_page_too_long_misses_always_except_with_foresight() {
    let pages: Vec<u32> = (0..1100).map(|i| i % 11).collect();
    let trace = reads(&pages);
    for policy in [Yardstick::Fifo, Yardstick::Lru, Yardstick::Clock] {
        assert_eq!(policy.misses(&trace, 11, 10), 1100, "{}", policy.name());
        assert_eq!(policy.misses(&trace, 11, 11), 11, "{}", policy.name());
    }
    // MIN keeps nine of ten: after the first round, one miss in ten accesses.
    assert_eq!(Yardstick::Belady.misses(&trace, 11, 10), 11 + (1100 - 11) / 10);
}

fn any_accesses() -> impl Strategy<Value = Vec<Access>> {
    let one = (0u32..40, 0u32..12).prop_map(|(page, kind)| {
        Access::new(page, if kind == 0 { AccessKind::Free } else { AccessKind::MapRead })
    });
    prop::collection::vec(one, 0..300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn lru_is_the_naive_lru(accesses in any_accesses(), size in 1u32..45) {
        prop_assert_eq!(Yardstick::Lru.misses(&accesses, 40, size), naive_lru(&accesses, size as usize));
    }

    #[test]
    fn stack_distance_gives_lru_misses_of_every_size(accesses in any_accesses(), size in 1u32..45) {
        let mut stack = StackDistance::new(40);
        let mut misses = 0;
        let only_reads: Vec<Access> =
            accesses.into_iter().filter(|a| a.kind != AccessKind::Free).collect();
        // Five rounds, so that times run out and are packed anew.
        let rounds = only_reads.iter().cycle().take(only_reads.len() * 5);
        let rounds: Vec<Access> = rounds.copied().collect();
        for access in &rounds {
            misses += u64::from(match stack.touch(access.page) {
                Distance::Cold => true,
                Distance::Pages(pages) => pages >= size,
            });
        }
        prop_assert_eq!(misses, Yardstick::Lru.misses(&rounds, 40, size));
    }

    #[test]
    fn no_policy_holds_too_much_or_misses_too_little(accesses in any_accesses(), size in 1u32..45) {
        let fewest = Yardstick::Belady.misses(&accesses, 40, size);
        let served = accesses.iter().filter(|a| a.kind != AccessKind::Free).count() as u64;
        for policy in Yardstick::ALL {
            let misses = policy.misses(&accesses, 40, size);
            prop_assert!(misses >= fewest && misses <= served, "{}: {misses}", policy.name());
            if size >= 40 {
                prop_assert_eq!(misses, naive_lru(&accesses, 40), "{}", policy.name());
            }
        }
        let mut caches: [Box<dyn Cache>; 6] = [
            Box::new(Fifo::new(40, size)),
            Box::new(Lru::new(40, size)),
            Box::new(Clock::new(40, size)),
            Box::new(Sieve::new(40, size)),
            Box::new(S3Fifo::new(40, size)),
            Box::new(Belady::new(&accesses, 40, size)),
        ];
        for access in &accesses {
            for cache in &mut caches {
                if access.kind == AccessKind::Free {
                    cache.remove(access.page);
                } else {
                    cache.access(access.page);
                }
                prop_assert!(cache.resident() <= size);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn belady_is_the_least_of_all_choices(pages in prop::collection::vec(0u32..6, 0..14), size in 1u32..4) {
        let fewest = fewest_misses(&pages, size as usize);
        prop_assert_eq!(Yardstick::Belady.misses(&reads(&pages), 6, size), fewest);
    }
}
