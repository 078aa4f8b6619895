//! memcached's slab layout: chunk sizes, and the memory that keys need
//! (default settings: factor 1.25, one-MiB slabs, chunks up to half a slab).

use crate::units::Bytes;

/// `sizeof(item)`.
const ITEM_HEADER: u64 = 48;
/// The CAS number of an item, on by default.
const CAS: u64 = 8;
/// Smallest value space of a chunk (`-n`).
const SMALLEST_SPACE: u64 = 48;
const ALIGN: u64 = 8;
const SLAB: u64 = 1 << 20;
const LARGEST_CHUNK: u64 = SLAB / 2;
/// `MAX_NUMBER_OF_SLAB_CLASSES` - 1.
const LAST_CLASS: usize = 63;
/// memtier's default key prefix.
const KEY_PREFIX: u64 = "memtier-".len() as u64;

/// A slab class, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlabClass(u32);

impl SlabClass {
    /// memcached's number of the class.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// The chunk sizes of all classes, smallest first (`slabs_init`).
pub fn chunk_sizes() -> Vec<Bytes> {
    let mut sizes = Vec::new();
    let mut size = ITEM_HEADER + SMALLEST_SPACE;
    // A class is made while the next would still be below the largest chunk;
    // 4/5 is the inverse of the factor.
    while sizes.len() + 1 < LAST_CLASS - 1 && size < LARGEST_CHUNK * 4 / 5 {
        size = size.next_multiple_of(ALIGN);
        sizes.push(Bytes(size));
        size = size * 5 / 4;
    }
    sizes.push(Bytes(LARGEST_CHUNK));
    sizes
}

/// The class that holds an item of this size; `None` above half a slab, where
/// memcached cuts an item into pieces.
pub fn class_for(item: Bytes) -> Option<SlabClass> {
    let sizes = chunk_sizes();
    let index = sizes.iter().position(|&size| item <= size)?;
    Some(SlabClass(index as u32 + 1))
}

/// Bytes of a chunk of this class.
pub fn chunk_size(class: SlabClass) -> Bytes {
    chunk_sizes()[class.0 as usize - 1]
}

/// Bytes of an item: header, CAS, key with its end, value with its line end.
pub fn item_bytes(key: Bytes, value: Bytes) -> Bytes {
    Bytes(ITEM_HEADER + CAS + key.0 + 1 + value.0 + 2)
}

/// Bytes of memtier's longest key among this many.
pub fn key_bytes(keys: u64) -> Bytes {
    Bytes(KEY_PREFIX + u64::from(keys.max(1).ilog10()) + 1)
}

/// How items of one size lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlabLayout {
    /// Bytes written when an item is stored.
    pub item: Bytes,
    pub chunk: Bytes,
}

impl SlabLayout {
    /// The layout of memtier's items; `None` if they are cut into pieces.
    pub fn of(keys: u64, value: Bytes) -> Option<Self> {
        let item = item_bytes(key_bytes(keys), value);
        Some(SlabLayout { item, chunk: chunk_size(class_for(item)?) })
    }

    pub const fn chunks_per_slab(&self) -> u64 {
        SLAB / self.chunk.0
    }

    /// Slabs that this many items fill.
    pub const fn slabs(&self, items: u64) -> u64 {
        items.div_ceil(self.chunks_per_slab())
    }

    /// Items that fit below memcached's memory limit.
    pub const fn capacity(&self, memory: Bytes) -> u64 {
        memory.0 / SLAB * self.chunks_per_slab()
    }

    /// First and last page of a chunk's item, from the start of the slabs.
    pub const fn item_pages(&self, chunk: u64) -> (u64, u64) {
        let start = chunk / self.chunks_per_slab() * SLAB + chunk % self.chunks_per_slab() * self.chunk.0;
        (start / 4096, (start + self.item.0 - 1) / 4096)
    }
}

/// Slab memory that memtier's keys need; `None` for values that memcached cuts
/// into pieces.
pub fn total_bytes(keys: u64, value: Bytes) -> Option<Bytes> {
    let layout = SlabLayout::of(keys, value)?;
    Some(Bytes(layout.slabs(keys) * SLAB))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_the_default_factor() {
        let first: Vec<u64> = chunk_sizes()[..13].iter().map(|b| b.0).collect();
        assert_eq!(first, [96, 120, 152, 192, 240, 304, 384, 480, 600, 752, 944, 1184, 1480]);
        assert_eq!(chunk_sizes().last(), Some(&Bytes::kib(512)));
        assert_eq!(chunk_sizes().len(), 39);
        assert_eq!(class_for(Bytes(96)).map(SlabClass::number), Some(1));
        assert_eq!(class_for(Bytes(97)).map(SlabClass::number), Some(2));
        assert_eq!(class_for(Bytes::kib(513)), None);
    }

    #[test]
    fn a_one_kib_value_takes_1184_bytes() {
        assert_eq!(key_bytes(16_000_000), Bytes(16));
        assert_eq!(item_bytes(Bytes(16), Bytes::kib(1)), Bytes(1099));
        let layout = SlabLayout::of(16_000_000, Bytes::kib(1)).expect("one chunk");
        assert_eq!((layout.chunk, layout.chunks_per_slab()), (Bytes(1184), 885));
        let whole = SlabLayout { item: layout.chunk, ..layout };
        let straddles: Vec<u64> =
            (0..885).filter(|&c| whole.item_pages(c).0 != whole.item_pages(c).1).collect();
        assert_eq!((straddles[0], straddles.len()), (3, 249));
        assert_eq!(layout.item_pages(3), (0, 1));
        assert_eq!(layout.item_pages(884).1, 255);
        assert_eq!(layout.item_pages(885).0, 256);
    }

    #[test]
    fn sixteen_million_keys_do_not_fit_in_16_gib() {
        let layout = SlabLayout::of(16_000_000, Bytes::kib(1)).expect("one chunk");
        assert_eq!(layout.slabs(16_000_000), 18_080);
        assert_eq!(total_bytes(16_000_000, Bytes::kib(1)), Some(Bytes::mib(18_080)));
        assert_eq!(layout.capacity(Bytes::mib(16_384)), 14_499_840);
        assert_eq!(total_bytes(10, Bytes::mib(1)), None);
    }
}
