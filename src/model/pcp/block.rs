//! A block of pages: its order and what it is used for.

/// `PAGE_ALLOC_COSTLY_ORDER`: the largest order kept per CPU, huge pages apart.
pub const COSTLY_ORDER: u32 = 3;
/// The order of a huge page, and of a pageblock.
pub const PMD_ORDER: u32 = 9;
/// `MAX_PAGE_ORDER`: the largest block of the buddy.
pub const MAX_ORDER: u32 = 10;
/// Migrate types with lists of their own.
pub const PCP_TYPES: usize = 3;

/// What a block is used for; pages of one kind are kept together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Migratetype {
    Unmovable,
    Movable,
    Reclaimable,
}

impl Migratetype {
    pub const ALL: [Self; PCP_TYPES] = [Self::Unmovable, Self::Movable, Self::Reclaimable];

    /// The kernel's number.
    pub const fn index(self) -> usize {
        match self {
            Self::Unmovable => 0,
            Self::Movable => 1,
            Self::Reclaimable => 2,
        }
    }

    /// Where to look when its own lists are empty, in this order (`fallbacks`).
    pub const fn fallbacks(self) -> [Self; 2] {
        match self {
            Self::Unmovable => [Self::Reclaimable, Self::Movable],
            Self::Movable => [Self::Reclaimable, Self::Unmovable],
            Self::Reclaimable => [Self::Unmovable, Self::Movable],
        }
    }
}

/// A block in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The number of its first page.
    pub pfn: u32,
    pub order: u32,
    pub migratetype: Migratetype,
}

impl Block {
    /// Pages in the block.
    pub const fn pages(&self) -> u32 {
        1 << self.order
    }
}
