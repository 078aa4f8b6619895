//! memcached's hash table (`assoc.c`): chains through the items themselves,
//! doubling when items exceed one and a half times the buckets, and a
//! maintenance thread that moves one bucket after the other meanwhile.

const NONE: u32 = u32::MAX;
const BUCKET_BYTES: u64 = 8;
const FIRST_POWER: u32 = 16;

/// What an operation touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    /// A byte offset into the table's memory.
    Bucket { offset: u64, write: bool },
    /// The header of the item in a chunk.
    Item { chunk: u32, write: bool },
}

/// Chains of chunks by key.
#[derive(Debug, Clone)]
pub(super) struct HashTable {
    power: u32,
    buckets: Vec<u32>,
    /// The table before the last doubling, while it is being moved.
    old: Vec<u32>,
    /// Buckets of `old` already moved.
    moved: usize,
    /// The next chunk of each chunk's chain, and its key.
    next: Vec<u32>,
    key: Vec<u32>,
    items: u64,
    salt: u64,
}

/// Spreads keys as a good hash would (the finaliser of SplitMix64).
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl HashTable {
    pub(super) fn new(chunks: usize, salt: u64) -> Self {
        HashTable {
            power: FIRST_POWER,
            buckets: vec![NONE; 1 << FIRST_POWER],
            old: Vec::new(),
            moved: 0,
            next: vec![NONE; chunks],
            key: vec![NONE; chunks],
            items: 0,
            salt,
        }
    }

    /// The power of the table that this many items end with.
    pub(super) fn final_power(items: u64) -> u32 {
        (FIRST_POWER..).find(|power| items <= (1u64 << power) * 3 / 2).unwrap_or(FIRST_POWER)
    }

    /// Bytes of the tables of every size up to this power, one after the other.
    pub(super) const fn bytes(power: u32) -> u64 {
        (BUCKET_BYTES << (power + 1)) - (BUCKET_BYTES << FIRST_POWER)
    }

    fn is_moving(&self) -> bool {
        self.moved < self.old.len()
    }

    pub(super) fn key_of(&self, chunk: u32) -> u32 {
        self.key[chunk as usize]
    }

    /// Head of a key's chain, and where that lies in memory.
    fn head(&mut self, key: u32) -> (&mut u32, u64) {
        let hash = mix(u64::from(key) ^ self.salt);
        let old_at = hash as usize & (self.old.len().max(1) - 1);
        if self.is_moving() && old_at >= self.moved {
            let offset = Self::bytes(self.power - 1) - (BUCKET_BYTES << (self.power - 1));
            return (&mut self.old[old_at], offset + old_at as u64 * BUCKET_BYTES);
        }
        let at = hash as usize & (self.buckets.len() - 1);
        let offset = Self::bytes(self.power) - (BUCKET_BYTES << self.power);
        (&mut self.buckets[at], offset + at as u64 * BUCKET_BYTES)
    }

    /// The chunk of a key. Items before it in its chain are read.
    pub(super) fn find(&mut self, key: u32, touched: &mut Vec<Touch>) -> Option<u32> {
        let (head, offset) = self.head(key);
        let mut chunk = *head;
        touched.push(Touch::Bucket { offset, write: false });
        while chunk != NONE {
            touched.push(Touch::Item { chunk, write: false });
            if self.key[chunk as usize] == key {
                return Some(chunk);
            }
            chunk = self.next[chunk as usize];
        }
        None
    }

    /// Links an item that is not in the table.
    pub(super) fn insert(&mut self, key: u32, chunk: u32, touched: &mut Vec<Touch>) {
        let (head, offset) = self.head(key);
        let after = std::mem::replace(head, chunk);
        self.next[chunk as usize] = after;
        self.key[chunk as usize] = key;
        touched.push(Touch::Bucket { offset, write: true });
        touched.push(Touch::Item { chunk, write: true });
        self.items += 1;
        if !self.is_moving() && self.items > (1u64 << self.power) * 3 / 2 {
            self.power += 1;
            self.old = std::mem::replace(&mut self.buckets, vec![NONE; 1 << self.power]);
            self.moved = 0;
        }
    }

    /// Unlinks the item of a key.
    pub(super) fn delete(&mut self, key: u32, touched: &mut Vec<Touch>) -> Option<u32> {
        let chunk = self.find(key, touched)?;
        let after = self.next[chunk as usize];
        let (head, offset) = self.head(key);
        let mut before = *head;
        if before == chunk {
            *head = after;
            touched.push(Touch::Bucket { offset, write: true });
        } else {
            while self.next[before as usize] != chunk {
                before = self.next[before as usize];
            }
            self.next[before as usize] = after;
            touched.push(Touch::Item { chunk: before, write: true });
        }
        self.key[chunk as usize] = NONE;
        self.items -= 1;
        Some(chunk)
    }

    /// The maintenance thread moves one bucket of a growing table.
    pub(super) fn move_bucket(&mut self, touched: &mut Vec<Touch>) {
        if !self.is_moving() {
            return;
        }
        let from = Self::bytes(self.power - 1) - (BUCKET_BYTES << (self.power - 1));
        touched.push(Touch::Bucket { offset: from + self.moved as u64 * BUCKET_BYTES, write: true });
        let mut chunk = std::mem::replace(&mut self.old[self.moved], NONE);
        self.moved += 1;
        while chunk != NONE {
            let following = self.next[chunk as usize];
            let (head, offset) = self.head(self.key[chunk as usize]);
            let after = std::mem::replace(head, chunk);
            self.next[chunk as usize] = after;
            touched.push(Touch::Item { chunk, write: true });
            touched.push(Touch::Bucket { offset, write: true });
            chunk = following;
        }
        if !self.is_moving() {
            self.old = Vec::new();
            self.moved = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_double_and_keep_every_key() {
        let chunks = 300_000u32;
        let mut table = HashTable::new(chunks as usize, 5);
        let mut touched = Vec::new();
        for key in 0..chunks {
            table.insert(key, chunks - 1 - key, &mut touched);
            table.move_bucket(&mut touched);
            table.move_bucket(&mut touched);
            touched.clear();
        }
        assert_eq!(table.power, HashTable::final_power(u64::from(chunks)));
        let reach = HashTable::bytes(table.power);
        for key in (0..chunks).rev() {
            assert_eq!(table.find(key, &mut touched), Some(chunks - 1 - key));
            if key % 2 == 0 {
                assert_eq!(table.delete(key, &mut touched), Some(chunks - 1 - key));
                assert_eq!(table.find(key, &mut touched), None);
            }
            let inside = |t: &Touch| !matches!(t, Touch::Bucket { offset, .. } if *offset >= reach);
            assert!(touched.iter().all(inside));
            touched.clear();
        }
        assert_eq!(table.items, u64::from(chunks) / 2);
    }

    #[test]
    fn sixteen_million_items_end_with_128_mib_of_buckets() {
        assert_eq!(HashTable::final_power(16_000_000), 24);
        assert_eq!(HashTable::final_power(98_304), 16);
        assert_eq!(HashTable::final_power(98_305), 17);
        assert_eq!(HashTable::bytes(16), 512 << 10);
        assert_eq!(HashTable::bytes(24) - HashTable::bytes(23), 128 << 20);
    }
}
