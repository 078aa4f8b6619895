use proptest::prelude::*;

use super::*;
use crate::model::yardstick::Yardstick;

const SEED_BLOCKS: u64 = 245_760;

fn seed_zipf() -> Zipf {
    Zipf::new(SEED_BLOCKS, 0.5, ZipfHash::Since2016).expect("a valid law")
}

#[test]
fn constants_of_the_seed_job() {
    let zipf = seed_zipf();
    assert!((zipf.zetan - 990.024_39).abs() < 1e-5, "{}", zipf.zetan);
    assert!((zipf.eta - 0.998_869_637).abs() < 1e-9, "{}", zipf.eta);
}

#[test]
fn golden_draws_ranks_and_blocks() {
    let golden = [
        (0, 1, 0),
        (0x60_0000, 2, 33_771),
        (0x100_0000, 7, 71_554),
        (0x1000_0000, 993, 126_624),
        (0x4000_0000, 15_465, 11_128),
        (0x8000_0000, 61_579, 175_278),
        (0xC000_0000, 138_345, 68_472),
        (u32::MAX, SEED_BLOCKS + 1, 180_224),
    ];
    let zipf = seed_zipf();
    for (draw, rank, block) in golden {
        assert_eq!((zipf.rank(draw), zipf.block(draw)), (rank, block), "draw {draw:#x}");
    }
    let first: Vec<u64> = (1..=6).map(|rank| zipf.block_of_rank(rank)).collect();
    assert_eq!(first, [0, 33_771, 67_542, 35_777, 69_548, 103_319]);
}

#[test]
fn touched_blocks_depend_on_the_file_size() {
    let reachable = |blocks, hash| reachable_share(blocks, 0.5, hash).expect("a valid law");
    let touched = reachable(SEED_BLOCKS, ZipfHash::Since2016) * SEED_BLOCKS as f64;
    assert_eq!(touched.round() as u64, 189_341);
    let old = reachable(SEED_BLOCKS, ZipfHash::Before2016) * SEED_BLOCKS as f64;
    assert_eq!(old.round() as u64, 81_921);
    let small = reachable(320 << 8, ZipfHash::Since2016);
    assert!((small - 0.90).abs() < 0.005, "320 MiB files: {small}");
}

#[test]
fn touched_share_grows_to_the_reachable_share() {
    let share = |operations| touched_share(SEED_BLOCKS, 16, 0.5, operations).expect("a valid law");
    assert_eq!(share(0), 0.0);
    assert!((share(200_000_000) - 0.770).abs() < 0.0005, "{}", share(200_000_000));
    assert!(share(1_000_000) < share(10_000_000));
    assert_eq!(touched_share(10, 1, 1.0, 5), Err(FioError::Theta { theta: 1.0 }));
    assert_eq!(touched_share(1, 1, 0.5, 5), Err(FioError::Blocks { blocks: 1 }));
}

#[test]
fn other_patterns_touch_what_they_must() {
    let uniform = FioPattern::Uniform.touched_share(1000, 2, 2000).expect("no law to refuse");
    assert!((uniform - (1.0 - (-1.0f64).exp())).abs() < 1e-3, "{uniform}");
    assert_eq!(FioPattern::Sequential.touched_share(1000, 2, 1000), Ok(0.5));
    assert_eq!(FioPattern::Sequential.touched_share(1000, 2, 9000), Ok(1.0));
}

/// Rank law and hash solved for a cache of a quarter of 16 GiB: LRU .484, FIFO .456.
#[test]
fn hit_ratios_of_the_seed_job_in_4_gib() {
    let one = FioWorkload {
        files: 1,
        blocks: SEED_BLOCKS as u32,
        operations: 1_200_000,
        ..job(FioPattern::Zipf { theta: 0.5, hash: ZipfHash::default() }, 0)
    };
    let accesses = all(one);
    let warm = accesses.len() / 2;
    let hits = |policy: Yardstick| {
        let misses = |accesses: &[Access]| policy.misses(accesses, SEED_BLOCKS as u32, 65_536);
        1.0 - (misses(&accesses) - misses(&accesses[..warm])) as f64 / (accesses.len() - warm) as f64
    };
    let (lru, fifo) = (hits(Yardstick::Lru), hits(Yardstick::Fifo));
    assert!((lru - 0.484).abs() < 0.004 && (fifo - 0.456).abs() < 0.004, "LRU {lru}, FIFO {fifo}");
}

fn job(pattern: FioPattern, operations: u64) -> FioWorkload {
    FioWorkload {
        files: 4,
        blocks: 2000,
        block_pages: 1,
        pattern,
        engine: FioEngine::Syscall,
        write_percent: 0,
        operations,
        seed: 11,
    }
}

fn all(workload: FioWorkload) -> Vec<Access> {
    let mut stream = FioStream::new(workload).expect("a valid job");
    let mut out = Vec::new();
    while stream.next_batch(&mut out) > 0 {}
    out
}

#[test]
fn a_stream_touches_what_the_formula_expects() {
    let zipf = FioPattern::Zipf { theta: 0.5, hash: ZipfHash::default() };
    let accesses = all(job(zipf, 40_000));
    let mut touched = [false; 8000];
    for access in &accesses {
        assert_eq!(access.page / 2000, u32::from(access.task));
        touched[access.page as usize] = true;
    }
    let share = touched.iter().filter(|&&t| t).count() as f64 / 8000.0;
    let expected = touched_share(2000, 4, 0.5, 40_000).expect("a valid law");
    assert!((share - expected).abs() < 0.01, "{share} against {expected}");
}

#[test]
fn a_block_read_twice_in_a_row_is_marked_once() {
    let one = FioWorkload { files: 1, blocks: 1, ..job(FioPattern::Uniform, 3) };
    let kinds: Vec<AccessKind> = all(one).iter().map(|a| a.kind).collect();
    assert_eq!(kinds, [AccessKind::FileRead, AccessKind::FileReadAgain, AccessKind::FileReadAgain]);
}

#[test]
fn sequential_and_mixed_jobs() {
    let scan = all(FioWorkload { block_pages: 4, ..job(FioPattern::Sequential, 8001) });
    let first_job: Vec<u32> = scan.iter().filter(|a| a.task == 0).map(|a| a.page).collect();
    assert_eq!(first_job[..9], [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!((first_job.len(), first_job[8000]), (8004, 0));
    let mixed =
        all(FioWorkload { write_percent: 30, engine: FioEngine::Mmap, ..job(FioPattern::Uniform, 20_000) });
    let writes = mixed.iter().filter(|a| a.kind == AccessKind::MapWrite).count();
    assert!((5_700..6_300).contains(&writes), "{writes}");
    let huge = FioWorkload { files: 5000, blocks: 1 << 20, ..job(FioPattern::Uniform, 1) };
    assert!(matches!(FioStream::new(huge), Err(FioError::Size { .. })));
}

#[test]
fn two_blocks_have_shares_too() {
    let shares = Zipf::new(2, 0.5, ZipfHash::default()).expect("a valid law").block_shares();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
}

proptest! {
    #[test]
    fn ranks_never_fall_and_shares_sum_to_one(
        blocks in 2u64..5000, theta in 0.1f64..1.9, draws in prop::collection::vec(any::<u32>(), 2..50)
    ) {
        prop_assume!((theta - 1.0).abs() > 0.01);
        let zipf = Zipf::new(blocks, theta, ZipfHash::default()).expect("a valid law");
        let mut draws = draws;
        draws.sort_unstable();
        for pair in draws.windows(2) {
            let (low, high) = (zipf.rank(pair[0]), zipf.rank(pair[1]));
            prop_assert!(low >= 1 && low <= high && high <= blocks + 1, "{low} {high}");
        }
        let sum: f64 = zipf.block_shares().iter().sum();
        prop_assert!((sum - 1.0).abs() < 1e-6, "{sum}");
        for &draw in &draws {
            // The closed form of the law agrees with the generator.
            let (uniform, rank) = (f64::from(draw) / f64::from(u32::MAX), zipf.rank(draw));
            prop_assert!(zipf.below(rank) <= uniform + 1e-9, "rank {rank} at {uniform}");
            prop_assert!(zipf.below(rank + 1) >= uniform - 1e-9, "rank {rank} at {uniform}");
        }
    }
}
