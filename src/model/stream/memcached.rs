//! memcached under memtier: slabs filled in order, items written whole, the
//! hash table and its chains, the LRU list, eviction at the memory limit.
//!
//! memtier's pattern P gives each connection a contiguous slice of the keys,
//! walked in order and again from the start; R draws keys at random. A SET
//! writes a new item in a free chunk, then unlinks and frees the old one, so
//! in steady state each key takes the chunk that the previous SET gave up.
//!
//! Simplified: one LRU list instead of HOT, WARM and COLD, no slab mover, all
//! values of one size, connections drift by skipped turns.

use rand::RngExt;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::access::{Access, AccessKind, Region, RegionKind, Stream};
use crate::units::Bytes;

use super::BATCH;
use super::hash_table::{HashTable, Touch};
use super::slab::SlabLayout;

const NONE: u32 = u32::MAX;
const SLAB_PAGES: u32 = 256;
/// A connection skips one turn in this many.
const SKIP_ONE_IN: u32 = 16;
/// Buckets the maintenance thread moves while one operation is served.
const BUCKETS_AN_OPERATION: u32 = 4;

/// memtier's `--key-pattern`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOrder {
    /// `P:P`: own slices, in order.
    Parallel,
    /// `R:R`: all keys, at random.
    Random,
}

/// What memtier asks and what memcached may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemcachedWorkload {
    pub keys: u32,
    pub value: Bytes,
    /// memcached's `-m`.
    pub memory: Bytes,
    /// Clients times threads.
    pub connections: u16,
    pub pipeline: u32,
    pub order: KeyOrder,
    /// SETs and GETs in turn (`--ratio`).
    pub ratio: (u32, u32),
    pub operations: u64,
    pub seed: u64,
}

#[derive(Debug, Clone, Copy)]
struct Connection {
    first: u32,
    keys: u32,
    sets: u32,
    gets: u32,
    /// Place in the ratio's cycle.
    turn: u32,
}

/// The server's memory as the operations touch it.
#[derive(Debug, Clone)]
pub struct MemcachedStream {
    workload: MemcachedWorkload,
    layout: SlabLayout,
    regions: [Region; 2],
    table: HashTable,
    /// Newer and older neighbour of each chunk's item in the LRU list.
    links: Vec<[u32; 2]>,
    newest: u32,
    oldest: u32,
    free: Vec<u32>,
    slabs: u32,
    most_slabs: u32,
    connections: Vec<Connection>,
    next_connection: usize,
    random: Xoshiro256PlusPlus,
    left: u64,
    evictions: u64,
    misses: u64,
}

impl MemcachedStream {
    /// `None` if values are so large that memcached cuts them into pieces, or
    /// if the memory limit holds no slab, or pages exceed 32 bits.
    pub fn new(workload: MemcachedWorkload) -> Option<Self> {
        let layout = SlabLayout::of(u64::from(workload.keys), workload.value)?;
        // Every connection may hold a new item beside the old one.
        let wanted = u64::from(workload.keys) + 1;
        let slabs = layout.slabs(wanted).min(workload.memory.0 >> 20);
        let chunks = slabs * layout.chunks_per_slab();
        let power = HashTable::final_power(chunks.min(wanted));
        let table_pages = Bytes(HashTable::bytes(power)).to_pages().0;
        let slab_pages = u32::try_from(slabs).ok()?.checked_mul(SLAB_PAGES)?;
        slab_pages.checked_add(u32::try_from(table_pages).ok()?)?;
        if slabs == 0 || workload.keys == 0 || workload.connections == 0 {
            return None;
        }
        let connections = u32::from(workload.connections);
        let slice = |number: u32| {
            let cut = |n: u32| (u64::from(workload.keys) * u64::from(n) / u64::from(connections)) as u32;
            let (first, keys) = (cut(number), (cut(number + 1) - cut(number)).max(1));
            Connection { first, keys, sets: 0, gets: 0, turn: 0 }
        };
        Some(MemcachedStream {
            regions: [
                Region::new(0, slab_pages, RegionKind::Anon),
                Region::new(slab_pages, table_pages as u32, RegionKind::Anon),
            ],
            table: HashTable::new(chunks as usize, workload.seed),
            links: vec![[NONE; 2]; chunks as usize],
            newest: NONE,
            oldest: NONE,
            free: Vec::new(),
            slabs: 0,
            most_slabs: slabs as u32,
            connections: (0..connections).map(slice).collect(),
            next_connection: 0,
            random: Xoshiro256PlusPlus::seed_from_u64(workload.seed),
            left: workload.operations,
            evictions: 0,
            misses: 0,
            layout,
            workload,
        })
    }

    /// Items pushed out by the memory limit so far.
    pub fn evictions(&self) -> u64 {
        self.evictions
    }

    /// GETs that found nothing so far.
    pub fn misses(&self) -> u64 {
        self.misses
    }

    fn header_page(&self, chunk: u32) -> u32 {
        self.layout.item_pages(u64::from(chunk)).0 as u32
    }

    /// Accesses for what the hash table touched.
    fn emit(&self, touched: &mut Vec<Touch>, trail: &mut Trail<'_>) {
        for touch in touched.drain(..) {
            let (page, write) = match touch {
                Touch::Bucket { offset, write } => (self.regions[1].first + (offset / 4096) as u32, write),
                Touch::Item { chunk, write } => (self.header_page(chunk), write),
            };
            trail.push(page, write);
        }
    }

    /// Takes the item out of the LRU list; its neighbours are written.
    fn unlink(&mut self, chunk: u32, trail: &mut Trail<'_>) {
        let [newer, older] = self.links[chunk as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.links[newer as usize][1] = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.links[older as usize][0] = newer,
        }
        for neighbour in [newer, older].into_iter().filter(|&n| n != NONE) {
            trail.push(self.header_page(neighbour), true);
        }
        trail.push(self.header_page(chunk), true);
    }

    fn link_newest(&mut self, chunk: u32, trail: &mut Trail<'_>) {
        self.links[chunk as usize] = [NONE, self.newest];
        match self.newest {
            NONE => self.oldest = chunk,
            newest => {
                self.links[newest as usize][0] = chunk;
                trail.push(self.header_page(newest), true);
            }
        }
        self.newest = chunk;
    }

    /// A chunk for a new item: from the free list, a new slab, or the oldest
    /// item (`do_item_alloc_pull`).
    fn take_chunk(&mut self, touched: &mut Vec<Touch>, trail: &mut Trail<'_>) -> u32 {
        if self.free.is_empty() && self.slabs < self.most_slabs {
            // A new slab is zeroed, then cut from its start; the list is last in, first out.
            let first = self.slabs * SLAB_PAGES;
            (first..first + SLAB_PAGES).for_each(|page| trail.push(page, true));
            let chunks = self.layout.chunks_per_slab() as u32;
            self.free.extend(self.slabs * chunks..(self.slabs + 1) * chunks);
            self.slabs += 1;
        }
        if let Some(chunk) = self.free.pop() {
            return chunk;
        }
        let chunk = self.oldest;
        self.evictions += 1;
        self.table.delete(self.table.key_of(chunk), touched);
        self.emit(touched, trail);
        self.unlink(chunk, trail);
        chunk
    }

    fn set(&mut self, key: u32, trail: &mut Trail<'_>) {
        let mut touched = Vec::new();
        let chunk = self.take_chunk(&mut touched, trail);
        let (first, last) = self.layout.item_pages(u64::from(chunk));
        (first..=last).for_each(|page| trail.push(page as u32, true));
        if let Some(old) = self.table.delete(key, &mut touched) {
            self.emit(&mut touched, trail);
            self.unlink(old, trail);
            self.free.push(old);
        }
        self.table.insert(key, chunk, &mut touched);
        self.emit(&mut touched, trail);
        self.link_newest(chunk, trail);
    }

    fn get(&mut self, key: u32, trail: &mut Trail<'_>) {
        let mut touched = Vec::new();
        let found = self.table.find(key, &mut touched);
        self.emit(&mut touched, trail);
        match found {
            // The reference count lies in the header; the value is only read.
            Some(chunk) => {
                let (first, last) = self.layout.item_pages(u64::from(chunk));
                trail.push(first as u32, true);
                (first + 1..=last).for_each(|page| trail.push(page as u32, false));
            }
            None => self.misses += 1,
        }
    }

    fn operation(&mut self, number: usize, trail: &mut Trail<'_>) {
        let MemcachedWorkload { ratio: (sets, gets), order, keys, .. } = self.workload;
        let connection = &mut self.connections[number];
        let is_set = gets == 0 || connection.turn < sets;
        connection.turn = (connection.turn + 1) % (sets + gets).max(1);
        let place = if is_set { &mut connection.sets } else { &mut connection.gets };
        let key = match order {
            KeyOrder::Parallel => {
                let at = *place;
                *place = (at + 1) % connection.keys;
                connection.first + at
            }
            KeyOrder::Random => self.random.random_range(0..keys),
        };
        if is_set {
            self.set(key, trail)
        } else {
            self.get(key, trail)
        }
        let mut touched = Vec::new();
        for _ in 0..BUCKETS_AN_OPERATION {
            self.table.move_bucket(&mut touched);
        }
        self.emit(&mut touched, trail);
    }
}

/// Appends accesses of one task, a page touched twice in a row once.
struct Trail<'a> {
    out: &'a mut Vec<Access>,
    task: u16,
    /// First access of the operation: what came before is another's.
    from: usize,
}

impl Trail<'_> {
    fn push(&mut self, page: u32, write: bool) {
        let kind = if write { AccessKind::MapWrite } else { AccessKind::MapRead };
        if let Some(last) = self.out[self.from..].last_mut()
            && last.page == page
        {
            if write {
                last.kind = kind;
            }
            return;
        }
        self.out.push(Access::by(page, kind, self.task));
    }
}

impl Stream for MemcachedStream {
    fn regions(&self) -> &[Region] {
        &self.regions
    }

    fn next_batch(&mut self, out: &mut Vec<Access>) -> usize {
        let before = out.len();
        while out.len() - before < BATCH && self.left > 0 {
            let number = self.next_connection;
            self.next_connection = (number + 1) % self.connections.len();
            if self.connections.len() > 1 && self.random.random_range(0..SKIP_ONE_IN) == 0 {
                continue;
            }
            let count = u64::from(self.workload.pipeline.max(1)).min(self.left);
            for _ in 0..count {
                let from = out.len();
                self.operation(number, &mut Trail { out, task: number as u16, from });
            }
            self.left -= count;
        }
        out.len() - before
    }
}

#[cfg(test)]
mod tests;
