use super::*;

const KEYS: u32 = 20_000;

fn workload(passes: u64) -> MemcachedWorkload {
    MemcachedWorkload {
        keys: KEYS,
        value: Bytes::kib(1),
        memory: Bytes::gib(1),
        connections: 8,
        pipeline: 8,
        order: KeyOrder::Parallel,
        ratio: (1, 0),
        operations: u64::from(KEYS) * passes,
        seed: 3,
    }
}

fn all(stream: &mut MemcachedStream) -> Vec<Access> {
    let mut out = Vec::new();
    while stream.next_batch(&mut out) > 0 {}
    out
}

fn touched(accesses: &[Access], region: &Region) -> usize {
    let mut seen = vec![false; region.pages as usize];
    for access in accesses.iter().filter(|a| region.contains(a.page)) {
        seen[(access.page - region.first) as usize] = true;
    }
    seen.iter().filter(|&&s| s).count()
}

#[test]
fn the_first_pass_fills_slabs_in_order() {
    let mut stream = MemcachedStream::new(workload(1)).expect("fits");
    let accesses = all(&mut stream);
    let slabs = stream.layout.slabs(u64::from(KEYS) + 1);
    assert_eq!(u64::from(stream.regions()[0].pages), slabs * 256);
    assert_eq!(touched(&accesses, &stream.regions()[0]) as u64, slabs * 256);
    // Under 98304 items the first table of 2^16 buckets is the only one.
    assert_eq!(stream.regions()[1].pages, 128);
    assert_eq!(touched(&accesses, &stream.regions()[1]), 128);
    assert_eq!(stream.evictions(), 0);
    assert!(accesses.iter().all(|a| a.task < 8 && a.page < stream.regions()[1].end()));
}

#[test]
fn later_passes_reuse_the_chunks_just_freed() {
    let mut stream = MemcachedStream::new(workload(3)).expect("fits");
    let accesses = all(&mut stream);
    assert_eq!(stream.evictions(), 0);
    let slabs = stream.layout.slabs(u64::from(KEYS) + 1);
    assert_eq!(u64::from(stream.slabs), slabs, "no slab beyond the first pass");
    // A SET needs the new item, the old one, a bucket and list neighbours.
    let last_pass = accesses.len() as f64 / 3.0 / f64::from(KEYS);
    assert!((3.0..12.0).contains(&last_pass), "{last_pass} accesses a SET");
    // Each key has one item, and no chunk has two.
    let mut found = Vec::new();
    for key in 0..KEYS {
        found.push(stream.table.find(key, &mut Vec::new()).expect("stored"));
    }
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), KEYS as usize);
}

#[test]
fn beyond_the_memory_limit_every_set_evicts() {
    let small = MemcachedWorkload { memory: Bytes::mib(10), ..workload(2) };
    let mut stream = MemcachedStream::new(small).expect("fits");
    all(&mut stream);
    let capacity = stream.layout.capacity(Bytes::mib(10));
    // In key order the oldest item is the next one asked for, but for drift.
    let evictions = stream.evictions() as f64;
    let expected = (u64::from(KEYS) * 2 - capacity) as f64;
    assert!((evictions / expected - 1.0).abs() < 0.02, "{evictions} against {expected}");
}

#[test]
fn gets_read_values_and_miss_what_was_never_set() {
    let mixed = MemcachedWorkload { ratio: (1, 3), order: KeyOrder::Random, ..workload(4) };
    let mut stream = MemcachedStream::new(mixed).expect("fits");
    let accesses = all(&mut stream);
    let gets = f64::from(KEYS) * 3.0;
    // After s SETs at random a key is missing with probability e^(-s/keys).
    let expected = 3.0 * (1.0 - (-1.0f64).exp()) * f64::from(KEYS);
    let misses = stream.misses() as f64;
    assert!((misses / expected - 1.0).abs() < 0.05 && misses < gets, "{misses} against {expected}");
    assert!(accesses.iter().any(|a| a.kind == AccessKind::MapRead));
}

#[test]
fn seeds_decide_and_impossible_loads_are_refused() {
    let of = |seed| all(&mut MemcachedStream::new(MemcachedWorkload { seed, ..workload(1) }).expect("fits"));
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
    let pieces = MemcachedWorkload { value: Bytes::mib(1), ..workload(1) };
    assert!(MemcachedStream::new(pieces).is_none());
    assert!(MemcachedStream::new(MemcachedWorkload { memory: Bytes(0), ..workload(1) }).is_none());
}
