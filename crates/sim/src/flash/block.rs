//! An erase block as the translation layer sees it, and what a write costs there.

/// The slot of a unit that none holds.
pub(super) const UNMAPPED: u32 = u32::MAX;

/// Position of a block that is not closed.
pub(super) const NOT_CLOSED: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Place among the die's victims, or `NOT_CLOSED`.
    pub(super) position: u32,
    /// Valid units; slots not yet written count as valid while the block is open. Of packed
    /// units: their space, in whole units, rounded up.
    pub(super) valid: u16,
    pub(super) die: u16,
}

/// The block being filled: the next slot, and the first slot after the block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Open {
    pub(super) next: u32,
    pub(super) end: u32,
}

/// A block that is being cleaned, and the first of its slots that may hold a valid unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Underway {
    pub(super) victim: u32,
    pub(super) slot: u32,
}

/// Work that one host write caused besides its own program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Flash pages that were read for it, and those that moved units were programmed into.
    pub read_pages: u32,
    pub programmed_pages: u32,
    pub erased_blocks: u32,
    /// Pages that host writes can fill before the die opens its next block.
    pub room_pages: u32,
}

impl Cleaned {
    /// Whether a block was erased and nothing moved before.
    pub(super) fn is_erase_alone(self) -> bool {
        self.erased_blocks > 0 && self.read_pages == 0
    }
}
