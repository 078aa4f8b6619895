//! Folio lists (`struct list_head`) over the arena: head newest, tail oldest.
//!
//! The kernel links folios one to another; following such links costs a cache
//! miss a folio. Here a list is a chain of blocks of 64 places, each place
//! a folio's index, so a scan reads memory in order. The order is the kernel's.
//! As there, a folio is taken off without knowing its list: one that a page-table
//! walk promoted still lies on the list of its former generation. A removed
//! folio leaves a hole; a block without folios is given back.

use super::folio::Arena;

/// Places of a block.
const PLACES: u32 = 64;
/// A place that holds no folio.
const HOLE: u32 = u32::MAX;

/// One list: the block that closes its chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct List(u32);

/// Links of a block, and which of its places are in use: from `low` (oldest) to `high`.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// Towards the head.
    newer: u32,
    /// Towards the tail.
    older: u32,
    low: u8,
    high: u8,
    live: u8,
}

/// All blocks of all lists.
#[derive(Debug, Clone, Default)]
pub struct Blocks {
    blocks: Vec<Block>,
    places: Vec<u32>,
    free: Vec<u32>,
}

impl Blocks {
    fn create(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.places.extend([HOLE; PLACES as usize]);
            self.blocks.push(Block { newer: 0, older: 0, low: 0, high: 0, live: 0 });
            self.blocks.len() as u32 - 1
        })
    }

    /// A new block between two neighbours, its places to be filled from `start`.
    fn insert(&mut self, older: u32, newer: u32, start: u8) -> u32 {
        let block = self.create();
        self.blocks[block as usize] = Block { newer, older, low: start, high: start, live: 0 };
        self.blocks[older as usize].newer = block;
        self.blocks[newer as usize].older = block;
        block
    }

    #[inline]
    fn block(&self, block: u32) -> &Block {
        &self.blocks[block as usize]
    }

    /// Empties a place.
    #[inline]
    fn remove(&mut self, position: u32) {
        self.places[position as usize] = HOLE;
        let index = position / PLACES;
        let block = &mut self.blocks[index as usize];
        block.live -= 1;
        if block.live == 0 {
            let Block { newer, older, .. } = *block;
            self.blocks[older as usize].newer = newer;
            self.blocks[newer as usize].older = older;
            self.free.push(index);
            return;
        }
        // A hole in the middle stays; only at an end is there more to read.
        let offset = (position % PLACES) as u8;
        let places = &self.places[(index * PLACES) as usize..];
        if offset == block.low {
            while places[usize::from(block.low)] == HOLE {
                block.low += 1;
            }
        } else if offset + 1 == block.high {
            while places[usize::from(block.high) - 1] == HOLE {
                block.high -= 1;
            }
        }
    }

    /// What a place holds.
    #[inline]
    pub(super) fn place(&self, position: u32) -> u32 {
        self.places[position as usize]
    }

    pub fn bytes(&self) -> usize {
        self.blocks.len() * (size_of::<Block>() + PLACES as usize * size_of::<u32>())
    }
}

impl List {
    pub fn new(arena: &mut Arena) -> Self {
        let blocks = arena.blocks_mut();
        let end = blocks.create();
        blocks.blocks[end as usize] = Block { newer: end, older: end, low: 0, high: 0, live: 0 };
        List(end)
    }

    #[inline]
    pub fn is_empty(&self, arena: &Arena) -> bool {
        arena.blocks().block(self.0).newer == self.0
    }

    /// The oldest folio.
    #[inline]
    pub fn tail(&self, arena: &Arena) -> Option<u32> {
        self.first_of(arena.blocks(), arena.blocks().block(self.0).newer)
    }

    fn first_of(&self, blocks: &Blocks, block: u32) -> Option<u32> {
        (block != self.0)
            .then(|| blocks.places[(block * PLACES) as usize + usize::from(blocks.block(block).low)])
    }

    /// The folio next newer than `folio` on this list.
    #[inline]
    pub fn before(&self, arena: &Arena, folio: u32) -> Option<u32> {
        let blocks = arena.blocks();
        let position = arena.get(folio).position;
        let index = position / PLACES;
        let block = blocks.block(index);
        let rest = &blocks.places[position as usize + 1..(index * PLACES) as usize + usize::from(block.high)];
        match rest.iter().find(|place| **place != HOLE) {
            Some(newer) => Some(*newer),
            None => self.first_of(blocks, block.newer),
        }
    }

    /// Takes the oldest folio off. Its record is not read, so that a scan does not
    /// wait for one record after the other.
    #[inline]
    pub fn pop_tail(&self, arena: &mut Arena) -> Option<u32> {
        let blocks = arena.blocks_mut();
        let index = blocks.block(self.0).newer;
        if index == self.0 {
            return None;
        }
        let position = index * PLACES + u32::from(blocks.block(index).low);
        let folio = blocks.places[position as usize];
        blocks.remove(position);
        Some(folio)
    }

    /// Copies the oldest folios into `out`, up to its length; returns how many.
    #[inline]
    pub fn peek(&self, arena: &Arena, out: &mut [u32]) -> usize {
        let blocks = arena.blocks();
        let mut index = blocks.block(self.0).newer;
        let mut count = 0;
        while index != self.0 {
            let block = blocks.block(index);
            let first = (index * PLACES) as usize;
            let places = &blocks.places[first + usize::from(block.low)..first + usize::from(block.high)];
            for folio in places.iter().filter(|place| **place != HOLE) {
                if count == out.len() {
                    return count;
                }
                out[count] = *folio;
                count += 1;
            }
            index = block.newer;
        }
        count
    }

    #[inline]
    pub fn add_head(&self, arena: &mut Arena, folio: u32) {
        let blocks = arena.blocks_mut();
        let mut index = blocks.block(self.0).older;
        if index == self.0 || u32::from(blocks.block(index).high) == PLACES {
            index = blocks.insert(index, self.0, 0);
        }
        let block = &mut blocks.blocks[index as usize];
        let position = index * PLACES + u32::from(block.high);
        block.high += 1;
        block.live += 1;
        blocks.places[position as usize] = folio;
        arena.get_mut(folio).position = position;
    }

    #[inline]
    pub fn add_tail(&self, arena: &mut Arena, folio: u32) {
        let blocks = arena.blocks_mut();
        let mut index = blocks.block(self.0).newer;
        if index == self.0 || blocks.block(index).low == 0 {
            index = blocks.insert(self.0, index, PLACES as u8);
        }
        let block = &mut blocks.blocks[index as usize];
        block.low -= 1;
        block.live += 1;
        let position = index * PLACES + u32::from(block.low);
        blocks.places[position as usize] = folio;
        arena.get_mut(folio).position = position;
    }

    /// Adds `run`, given from its oldest to its newest folio and on no list, at the
    /// tail and keeps its order (`list_bulk_move_tail`).
    pub fn add_run_tail(&self, arena: &mut Arena, run: &[u32]) {
        for folio in run.iter().rev() {
            self.add_tail(arena, *folio);
        }
    }

    /// The folios from the tail (oldest) to the head.
    pub fn from_tail<'a>(&self, arena: &'a Arena) -> impl Iterator<Item = u32> + use<'a> {
        let list = *self;
        let mut at = list.tail(arena);
        std::iter::from_fn(move || {
            let folio = at?;
            at = list.before(arena, folio);
            Some(folio)
        })
    }
}

/// Takes `folio` off whatever list it is on (`list_del`).
#[inline]
pub fn unlink(arena: &mut Arena, folio: u32) {
    let position = arena.get(folio).position;
    arena.blocks_mut().remove(position);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn behaves_as_a_deque(steps in proptest::collection::vec((0u8..9, 0usize..512), 0..900)) {
            let mut arena = Arena::new(None);
            let lists = [List::new(&mut arena), List::new(&mut arena)];
            let mut model: [Vec<u32>; 2] = [Vec::new(), Vec::new()];
            for (step, pick) in steps {
                let at = pick & 1;
                match step {
                    0..=2 => {
                        let f = arena.allocate(0, 0, false);
                        lists[at].add_head(&mut arena, f);
                        model[at].insert(0, f);
                    }
                    3 | 4 => {
                        let f = arena.allocate(0, 0, false);
                        lists[at].add_tail(&mut arena, f);
                        model[at].push(f);
                    }
                    5 | 6 if !model[at].is_empty() => {
                        let n = model[at].len();
                        let f = model[at].remove(pick % n);
                        unlink(&mut arena, f);
                        arena.release(f);
                    }
                    7 if model[at].len() > 2 => {
                        let first = pick % (model[at].len() - 1);
                        let run: Vec<u32> = model[at].drain(first..).collect();
                        let oldest_first: Vec<u32> = run.iter().rev().copied().collect();
                        let mut peeked = vec![0; run.len()];
                        prop_assert_eq!(lists[at].peek(&arena, &mut peeked), run.len());
                        prop_assert_eq!(&peeked, &oldest_first);
                        for folio in &oldest_first {
                            prop_assert_eq!(lists[at].pop_tail(&mut arena), Some(*folio));
                        }
                        lists[1 - at].add_run_tail(&mut arena, &oldest_first);
                        model[1 - at].extend(run);
                    }
                    _ => {}
                }
                for (list, model) in lists.iter().zip(&model) {
                    let found: Vec<u32> = list.from_tail(&arena).collect();
                    prop_assert_eq!(found, model.iter().rev().copied().collect::<Vec<_>>());
                    prop_assert_eq!(list.is_empty(&arena), model.is_empty());
                }
                prop_assert_eq!(arena.live(), model[0].len() + model[1].len());
            }
        }
    }
}
