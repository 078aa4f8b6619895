use super::*;
use crate::model::pcp::{DrainReason, PcpRules, Watermarks, ZoneConfig};
use crate::model::stream::{NetperfStream, NetperfWorkload};
use crate::units::Bytes;
use crate::units::Pages;

/// 64 pairs on 128 CPUs with the list limits of a 128 GiB node of 64 CPUs;
/// the zone itself is smaller, as only limits and the pages in use matter.
fn run(rules: PcpRules, order: u8, messages: u64) -> DriverReport {
    let node = Bytes::gib(128).to_pages();
    let config = ZoneConfig::new(node, 64, rules, Some(Bytes::kib(768)));
    let config = ZoneConfig { managed: Bytes::gib(2).to_pages(), cpus: 128, marks: small_marks(), ..config };
    let workload = NetperfWorkload { order, ..NetperfWorkload::sctp_stream_many(128, messages * 2, 1) };
    let mut stream = NetperfStream::new(workload);
    let mut driver = Driver::new(Zone::new(config).expect("a valid zone"), stream.slots());
    let (mut batch, mut warm) = (Vec::new(), None);
    while stream.next_batch(&mut batch) > 0 {
        for operation in batch.drain(..) {
            driver.apply(operation).expect("memory for all windows");
        }
        if warm.is_none() && driver.report.blocks_allocated >= messages {
            warm = Some(driver.report());
        }
    }
    driver.zone.assert_conserved();
    driver.report().since(&warm.expect("half the stream"))
}

fn small_marks() -> Watermarks {
    Watermarks { min: Pages(0), low: Pages(0), high: Pages(0) }
}

/// Shares of one run: high-order drains and pages from the buddy a message,
/// and pages written while still in a cache of 48 MiB.
fn shares(rules: PcpRules) -> [f64; 3] {
    let report = run(rules, 3, 20_000);
    let messages = report.blocks_allocated as f64;
    [
        report.counts.drain(DrainReason::FreeHigh).holds as f64 / messages,
        report.counts.refill.pages as f64 / 8.0 / messages,
        report.copy_in.share_within(Bytes::mib(48).to_pages()),
    ]
}

#[test]
fn the_series_changes_drains_and_cache_residency_as_reported() {
    let [exit, kept, tuned, counted] = [1, 3, 8, 9].map(|patches| shares(PcpRules::series(patches)));
    // Patch 3 drains once for eight blocks of order 3 instead of once a block.
    assert!((6.0..9.0).contains(&(exit[0] / kept[0])), "{exit:?} {kept:?}");
    // Tuning drains less, takes fewer pages from the buddy, and loses the cache.
    assert!(tuned[0] < kept[0] && tuned[1] < kept[1] && tuned[2] < kept[2], "{kept:?} {tuned:?}");
    // Counting frees brings all three back.
    assert!(counted[0] > kept[0] && counted[1] > kept[1] && counted[2] > kept[2], "{kept:?} {counted:?}");
}

#[test]
fn a_slot_is_used_in_turn_and_memory_may_run_out() {
    let config = ZoneConfig::new(Pages(1024), 1, PcpRules::K612, None);
    let mut driver = Driver::new(Zone::new(config).expect("a valid zone"), 3);
    let allocate = |slot| PageOperation::Allocate { cpu: 0, order: 9, slot };
    let free = |slot| PageOperation::Free { cpu: 0, slot };
    assert_eq!(driver.apply(allocate(0)), Ok(()));
    assert!(matches!(driver.apply(allocate(0)), Err(DriverError::Slot { slot: 0, .. })));
    assert!(matches!(driver.apply(free(1)), Err(DriverError::Slot { slot: 1, .. })));
    assert!(matches!(driver.apply(free(9)), Err(DriverError::Slot { slot: 9, .. })));
    assert_eq!(driver.apply(allocate(1)), Ok(()));
    let full = driver.apply(allocate(2)).expect_err("all pages are in use");
    assert_eq!(full, DriverError::OutOfMemory { cpu: 0, order: 9, free: 0 });
    assert_eq!(driver.apply(free(0)), Ok(()));
    // The last freed block is handed out next, its contents untouched since.
    assert_eq!(driver.apply(allocate(2)), Ok(()));
    let report = driver.report();
    let mut plain = Driver::without_contents(driver.zone.clone(), 1, Migratetype::Movable);
    assert_eq!(plain.apply(free(0)), Err(DriverError::Slot { slot: 0, state: "freed, but holds no block" }));
    assert_eq!((report.copy_in.cold(), report.copy_in.total()), (1024, 1536));
    assert_eq!(report.copy_in.share_within(Pages(512)), 1.0 / 3.0);
}
