//! Doubly linked lists over the arena (`struct list_head`): circular through a
//! sentinel record, head newest, tail oldest.
//!
//! As in the kernel, a folio is unlinked without knowing its list: a folio that a
//! page-table walk promoted still lies on the list of its former generation.

use super::folio::Arena;

/// One list: the index of its sentinel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct List(u32);

impl List {
    pub fn new(arena: &mut Arena) -> Self {
        let sentinel = arena.sentinel();
        let record = arena.get_mut(sentinel);
        record.next = sentinel;
        record.prev = sentinel;
        List(sentinel)
    }

    #[inline]
    pub fn is_empty(&self, arena: &Arena) -> bool {
        arena.get(self.0).prev == self.0
    }

    /// The oldest folio.
    #[inline]
    pub fn tail(&self, arena: &Arena) -> Option<u32> {
        self.before(arena, self.0)
    }

    /// The folio next newer than `folio` on this list.
    #[inline]
    pub fn before(&self, arena: &Arena, folio: u32) -> Option<u32> {
        let prev = arena.get(folio).prev;
        (prev != self.0).then_some(prev)
    }

    #[inline]
    pub fn add_head(&self, arena: &mut Arena, folio: u32) {
        let next = arena.get(self.0).next;
        link(arena, self.0, folio, next);
    }

    #[inline]
    pub fn add_tail(&self, arena: &mut Arena, folio: u32) {
        let prev = arena.get(self.0).prev;
        link(arena, prev, folio, self.0);
    }

    /// Moves the run from `first` (newest) to `last` (oldest) of some list to the
    /// tail of this one, keeping its order (`list_bulk_move_tail`).
    pub fn move_run_tail(&self, arena: &mut Arena, first: u32, last: u32) {
        let prev = arena.get(first).prev;
        let next = arena.get(last).next;
        arena.get_mut(prev).next = next;
        arena.get_mut(next).prev = prev;
        let old = arena.get(self.0).prev;
        arena.get_mut(old).next = first;
        arena.get_mut(first).prev = old;
        arena.get_mut(last).next = self.0;
        arena.get_mut(self.0).prev = last;
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

#[inline]
fn link(arena: &mut Arena, prev: u32, folio: u32, next: u32) {
    let record = arena.get_mut(folio);
    record.prev = prev;
    record.next = next;
    arena.get_mut(prev).next = folio;
    arena.get_mut(next).prev = folio;
}

/// Takes `folio` off whatever list it is on (`list_del`).
#[inline]
pub fn unlink(arena: &mut Arena, folio: u32) {
    let record = arena.get(folio);
    let (prev, next) = (record.prev, record.next);
    arena.get_mut(prev).next = next;
    arena.get_mut(next).prev = prev;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn behaves_as_a_deque(steps in proptest::collection::vec((0u8..4, 0usize..64), 0..300)) {
            let mut arena = Arena::new(None);
            let list = List::new(&mut arena);
            let mut model: Vec<u32> = Vec::new();
            for (step, pick) in steps {
                match step {
                    0 => {
                        let f = arena.allocate(0, 0, false);
                        list.add_head(&mut arena, f);
                        model.insert(0, f);
                    }
                    1 => {
                        let f = arena.allocate(0, 0, false);
                        list.add_tail(&mut arena, f);
                        model.push(f);
                    }
                    2 if !model.is_empty() => {
                        let f = model.remove(pick % model.len());
                        unlink(&mut arena, f);
                        arena.release(f);
                    }
                    3 if model.len() > 2 => {
                        let first = pick % (model.len() - 1);
                        let run: Vec<u32> = model.drain(first..=first + 1).collect();
                        list.move_run_tail(&mut arena, run[0], run[1]);
                        model.extend(run);
                    }
                    _ => {}
                }
                let found: Vec<u32> = list.from_tail(&arena).collect();
                prop_assert_eq!(found, model.iter().rev().copied().collect::<Vec<_>>());
                prop_assert_eq!(list.is_empty(&arena), model.is_empty());
                prop_assert_eq!(arena.live(), model.len());
            }
        }
    }
}
