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

/// Tells the die of a slot where all have equally many, by a multiplication: a division takes
/// longer, and the table of blocks is missed more often than that takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ByDie {
    /// 2^64 over the slots of a die, rounded up: for slots of 32 bits near enough (Granlund and
    /// Montgomery 1994).
    inverse_q64: u64,
}

impl ByDie {
    /// For dies of two slots or more.
    pub(super) fn new(slots: u32) -> Self {
        debug_assert!(slots > 1);
        Self {
            inverse_q64: u64::MAX / u64::from(slots) + 1,
        }
    }

    #[inline]
    pub(super) fn of(self, slot: u32) -> u32 {
        ((u128::from(slot) * u128::from(self.inverse_q64)) >> 64) as u32
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_die_is_the_quotient(slots in 2_u32.., slot: u32, dies in 0_u32..9) {
            let by_die = ByDie::new(slots);
            prop_assert_eq!(by_die.of(slot), slot / slots);
            // Where it is closest: the first slot of a die and the one before.
            let first = slots.saturating_mul(dies);
            prop_assert_eq!(by_die.of(first), first / slots);
            prop_assert_eq!(by_die.of(first.saturating_sub(1)), first.saturating_sub(1) / slots);
        }
    }
}
