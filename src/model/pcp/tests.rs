use proptest::prelude::*;

use super::*;
use crate::model::event::Events;
use crate::units::Bytes;
use crate::units::Pages;

use Migratetype::Movable;

/// One CPU with the limits of the hand-computed vectors.
fn zone(rules: PcpRules, keeps_a_batch: bool) -> Zone {
    let managed = Bytes::gib(1).to_pages();
    let marks = Watermarks { min: Pages(0), low: Pages(0), high: Pages(0) };
    let (high_max, high_min) = (if rules.auto_tuning { 2520 } else { 252 }, 252);
    let limits = PcpLimits { batch: 63, high_min, high_max, free_high_batch: keeps_a_batch };
    Zone::new(ZoneConfig { managed, cpus: 1, marks, rules, limits, smp: true, recent_lines: 1024 })
        .expect("a valid zone")
}

/// Blocks that never were on a list, so that the lists start empty.
fn blocks(zone: &mut Zone, order: u32, count: u32) -> Vec<Block> {
    let big: Vec<Block> = (0..(count << order).div_ceil(1024))
        .map(|_| zone.allocate(0, MAX_ORDER, Movable).expect("memory").block)
        .collect();
    let each = 1024 >> order;
    let cut = |b: &Block| {
        let first = b.pfn;
        (0..each).map(move |i| Block { pfn: first + (i << order), order, migratetype: Movable })
    };
    big.iter().flat_map(cut).take(count as usize).collect()
}

/// Frees `count` blocks in a row: each drain as (which free, pages).
fn frees(zone: &mut Zone, order: u32, count: u32) -> Vec<(usize, u32)> {
    let all = blocks(zone, order, count);
    let drains = all.into_iter().enumerate().map(|(i, b)| (i + 1, zone.free(0, b)));
    drains.filter_map(|(i, drain)| Some((i, drain?.pages))).collect()
}

fn sizes(drains: &[(usize, u32)]) -> Vec<u32> {
    drains.iter().map(|d| d.1).collect()
}

#[test]
fn a1_refills_double_while_high_grows() {
    let mut zone = zone(PcpRules::K612, false);
    let mut refills = Vec::new();
    for _ in 0..2000 {
        let got = zone.allocate(0, 0, Movable).expect("memory");
        if got.refilled > 0 {
            refills.push((got.refilled, zone.lists(0).high));
        }
    }
    assert_eq!(refills, [(63, 315), (126, 441), (252, 693), (504, 1197), (1008, 2205), (2016, 2520)]);
    assert_eq!(zone.lists(0).count, 1969);
}

#[test]
fn a2_order_0_frees_raise_high() {
    let mut zone = zone(PcpRules::K612, false);
    assert_eq!(sizes(&frees(&mut zone, 0, 2000)), [189, 252, 504]);
    let lists = zone.lists(0);
    assert_eq!((lists.count, lists.free_count, lists.high), (1055, 2000, 1071));
}

#[test]
fn a3_a4_a5_order_3_frees_drain_early() {
    let drains = frees(&mut zone(PcpRules::K612, false), 3, 64);
    assert_eq!((drains[0], drains[1], drains.len()), ((9, 72), (10, 8), 56));
    assert!(drains[1..].iter().all(|d| d.1 == 8));

    let mut keeping = zone(PcpRules::K612, true);
    let drains = frees(&mut keeping, 3, 64);
    assert_eq!(drains, [(9, 72), (17, 64), (25, 64), (33, 64), (41, 64), (49, 64), (57, 64)]);
    assert_eq!(keeping.lists(0).count, 56);

    let drains = frees(&mut zone(PcpRules::K616, false), 3, 64);
    assert_eq!((drains[0], drains[1], drains.len()), ((25, 200), (26, 8), 40));
}

#[test]
fn a6_a_high_limit_falls_with_each_drain() {
    let mut zone = zone(PcpRules::K612, false);
    zone.set_high(0, 2520);
    let mut highs = Vec::new();
    for (i, block) in blocks(&mut zone, 3, 64).into_iter().enumerate() {
        if zone.free(0, block).is_some() {
            highs.push((i + 1, zone.lists(0).high));
        }
    }
    assert_eq!(highs[..3], [(9, 504), (10, 252), (11, 252)]);
    assert_eq!(highs.len(), 56);
}

#[test]
fn a7_mixed_frees_never_look_like_a_run() {
    let mut zone = zone(PcpRules::K612, false);
    let mut spare = blocks(&mut zone, 3, 80).into_iter();
    let mut drains = Vec::new();
    for _ in 0..40 {
        for _ in 0..2 {
            drains.extend(zone.free(0, spare.next().expect("enough")));
        }
        zone.allocate(0, 3, Movable).expect("on the list");
    }
    assert_eq!(drains, [Drain { pages: 64, reason: DrainReason::High }; 2]);
    assert_eq!((zone.lists(0).count, zone.lists(0).free_count), (192, 15));
}

#[test]
fn a_kept_batch_cuts_drains_by_its_blocks() {
    for (order, plain, kept) in [(1, 3968, 124), (2, 3984, 249), (3, 3992, 499)] {
        for (keeps, expected) in [(false, plain), (true, kept)] {
            let mut zone = zone(PcpRules::K612, keeps);
            frees(&mut zone, order, 4000);
            let free_high = zone.counts().drain(DrainReason::FreeHigh).holds;
            assert_eq!(free_high, expected, "order {order}, keeps a batch: {keeps}");
        }
    }
}

#[test]
fn a8_the_old_detection_waits_for_a_full_list() {
    let baseline = PcpRules::V67_BEFORE_FREE_COUNT;
    let mut tuned = zone(baseline, true);
    tuned.set_high(0, 2520);
    let drains = frees(&mut tuned, 3, 340);
    assert_eq!(drains, [(315, 64), (316, 2016), (317, 456), (325, 64), (333, 64)]);

    let mut counted = zone(PcpRules::K612, true);
    counted.set_high(0, 2520);
    assert_eq!(frees(&mut counted, 3, 30), [(9, 72), (17, 64), (25, 64)]);

    let drains = frees(&mut zone(baseline, false), 3, 40);
    assert_eq!(drains[..4], [(32, 64), (33, 200), (34, 8), (35, 8)]);
    let drains = frees(&mut zone(baseline, true), 3, 50);
    assert_eq!(drains, [(32, 64), (33, 200), (41, 64), (49, 64)]);
}

#[test]
fn a9_order_0_frees_before_the_last_patch_and_in_6_1() {
    let mut baseline = zone(PcpRules::V67_BEFORE_FREE_COUNT, false);
    assert_eq!(sizes(&frees(&mut baseline, 0, 2000)), [63, 126, 189, 252, 252, 504, 504]);
    assert_eq!((baseline.lists(0).count, baseline.lists(0).high), (110, 1071));

    let mut old = zone(PcpRules::K61, false);
    let drains = sizes(&frees(&mut old, 0, 2000));
    assert_eq!((drains[..2].to_vec(), drains[2..].to_vec()), (vec![63, 126], vec![189; 9]));
    assert_eq!(old.lists(0).count, 110);
}

#[test]
fn a10_reclaim_and_low_memory_shrink_high() {
    for below_high in [false, true] {
        let mut zone = zone(PcpRules::K612, false);
        zone.set_high(0, 2520);
        let all = blocks(&mut zone, 0, 2000);
        zone.config.marks.high = Pages(if below_high { u64::MAX } else { 0 });
        zone.set_reclaim_active(!below_high);
        zone.state.below_high = below_high;
        let mut drains = Vec::new();
        for (i, block) in all.into_iter().enumerate() {
            drains.extend(zone.free(0, block).map(|d| (i + 1, d.pages)));
            assert_eq!(zone.lists(0).high == 252, i + 1 >= 36, "high after free {}", i + 1);
        }
        assert_eq!((drains[0].0, sizes(&drains)), (252, vec![189; 10]));
        assert_eq!(zone.lists(0).count, 110);
    }
}

#[test]
fn a11_order_3_refills_are_seven_blocks() {
    let mut zone = zone(PcpRules::K612, false);
    let mut refills = Vec::new();
    for _ in 0..21 {
        let got = zone.allocate(0, 3, Movable).expect("memory");
        if got.refilled > 0 {
            refills.push((got.refilled, zone.lists(0).high));
        }
    }
    assert_eq!(refills, [(7, 315), (7, 378), (7, 441)]);
}

#[test]
fn before_the_series_one_high_order_free_empties_the_lists() {
    let mut old = zone(PcpRules::V66, false);
    frees(&mut old, 0, 260);
    assert!(old.lists(0).free_factor > 0, "a drain raised the factor");
    let held = old.lists(0).count;
    let page_table = blocks(&mut old, 1, 1)[0];
    let drain = old.free(0, page_table).expect("drains");
    assert_eq!(drain, Drain { pages: held + 2, reason: DrainReason::FreeHigh });

    let mut first = zone(PcpRules::series(1), false);
    frees(&mut first, 0, 260);
    let page_table = blocks(&mut first, 1, 1)[0];
    assert_eq!(first.free(0, page_table), None);
}

#[test]
fn a_tick_gives_back_an_eighth_and_only_on_smp() {
    let mut zone = zone(PcpRules::K612, false);
    zone.set_high(0, 2520);
    frees(&mut zone, 0, 2400);
    assert_eq!(zone.lists(0).count, 2400);
    assert_eq!(zone.tick(), 2400 - 2205);
    assert_eq!(zone.lists(0).high, 2205);
    assert_eq!(zone.counts().drain(DrainReason::Decay).holds, 4);
    zone.config.smp = false;
    assert_eq!(zone.tick(), 0);
    assert_eq!(zone.drain_all(), 2205);
    zone.assert_conserved();
}

#[test]
fn a_long_drain_is_cut_into_batches_in_7_2() {
    let mut zone = zone(PcpRules::K72, false);
    zone.set_high(0, 2520);
    frees(&mut zone, 0, 2520);
    let high = zone.counts().drain(DrainReason::High);
    assert_eq!((high.holds, high.pages, high.most_pages), (32, 2016, 63));
}

#[test]
fn a_freed_zone_merges_back_to_whole_blocks() {
    let mut zone = zone(PcpRules::K612, false);
    let mut held: Vec<Block> = Vec::new();
    while let Some(got) = zone.allocate(0, 0, Movable) {
        held.push(got.block);
    }
    assert_eq!(held.len() as u64, zone.config().managed.0);
    assert!(zone.state().below_high);
    let splits = zone.counts().refill.work.splits;
    for block in held {
        zone.free(0, block);
    }
    zone.drain_all();
    zone.assert_conserved();
    assert_eq!(zone.counts().zone_lock().work.merges, splits);
    assert!(!zone.state().below_high);
}

#[test]
fn event_rows_carry_their_codes() {
    let mut zone = zone(PcpRules::K612, false);
    frees(&mut zone, 3, 64);
    let rows = zone.counts().events();
    assert_eq!(rows[8], ("E7", "pcp_free".to_owned(), 64));
    assert!(rows.contains(&("E8", "pcp_drain.free_high.holds".to_owned(), 56)));
    assert!(rows.contains(&("E9", "buddy_direct.pages".to_owned(), 1024)));
    let mut events = Events::default();
    zone.counts().add_to(&mut events);
    assert_eq!([6, 7, 8, 9].map(|number| events.row(number)), [0, 64, 56, 1]);
}

fn any_rules() -> impl Strategy<Value = PcpRules> {
    prop_oneof![
        (0u32..=9).prop_map(PcpRules::series),
        Just(PcpRules::K61),
        Just(PcpRules::K616),
        Just(PcpRules::K72),
    ]
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Allocate { cpu: u32, order: u32, migratetype: Migratetype },
    Free { cpu: u32, which: usize },
    Tick,
    Drain { cpu: u32 },
    Reclaim(bool),
}

fn any_step() -> impl Strategy<Value = Step> {
    let cpu = 0u32..3;
    prop_oneof![
        10 => (cpu.clone(), prop_oneof![4 => 0u32..=COSTLY_ORDER, 1 => 0u32..=MAX_ORDER], 0usize..3).prop_map(|(cpu, order, m)| {
            Step::Allocate { cpu, order, migratetype: Migratetype::ALL[m] }
        }),
        9 => (cpu.clone(), any::<usize>()).prop_map(|(cpu, which)| Step::Free { cpu, which }),
        1 => Just(Step::Tick),
        1 => cpu.prop_map(|cpu| Step::Drain { cpu }),
        1 => any::<bool>().prop_map(Step::Reclaim),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_page_is_lost_or_given_twice(
        rules in any_rules(),
        pages in 1000u64..9000,
        slice in 0u64..2_000_000,
        steps in prop::collection::vec(any_step(), 1..400),
    ) {
        let config = ZoneConfig::new(Pages(pages), 3, rules, Some(Bytes(slice)));
        let mut zone = Zone::new(config).expect("a valid zone");
        let mut held: Vec<Block> = Vec::new();
        let mut owned = vec![false; pages as usize];
        for step in steps {
            match step {
                Step::Allocate { cpu, order, migratetype } => {
                    if let Some(got) = zone.allocate(cpu, order, migratetype) {
                        for page in got.block.pfn..got.block.pfn + got.block.pages() {
                            prop_assert!(!owned[page as usize], "page {page} given twice");
                            owned[page as usize] = true;
                        }
                        held.push(got.block);
                    }
                }
                Step::Free { cpu, which } if !held.is_empty() => {
                    let block = held.swap_remove(which % held.len());
                    owned[block.pfn as usize..(block.pfn + block.pages()) as usize].fill(false);
                    zone.free(cpu, block);
                }
                Step::Free { .. } => {}
                Step::Tick => { zone.tick(); }
                Step::Drain { cpu } => { zone.drain_cpu(cpu); }
                Step::Reclaim(active) => zone.set_reclaim_active(active),
            }
            let limits = zone.config().limits;
            for cpu in 0..3 {
                let high = zone.lists(cpu).high;
                prop_assert!(high >= limits.high_min && high <= limits.high_max, "high {high} of {limits:?}");
            }
        }
        zone.assert_conserved();
        for block in held { zone.free(0, block); }
        zone.drain_all();
        zone.assert_conserved();
        prop_assert_eq!(zone.free_pages(), Pages(pages));
        prop_assert_eq!(zone.counts().pgalloc, zone.counts().pgfree);
    }
}
