//! An erase block as the translation layer sees it, and what a write costs there.

/// The slot of a unit that none holds.
pub(super) const UNMAPPED: u32 = u32::MAX;

/// An erase block: its valid units, and whether it is closed, so that it may be cleaned. Slots not
/// yet written count as valid while the block is open. Of packed units it is their space that
/// counts, in whole units, rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block(u32);

impl Block {
    /// The bit of a block that is not closed: whatever is valid in it, its key is above that of all
    /// that are.
    const NOT_CLOSED: u32 = 1 << 31;

    pub(super) const FREE: Self = Self(Self::NOT_CLOSED);

    /// What closed blocks are compared by: the valid units.
    #[inline]
    pub(super) fn key(self) -> u32 {
        self.0
    }

    #[inline]
    pub(super) fn valid(self) -> u16 {
        (self.0 & !Self::NOT_CLOSED) as u16
    }

    pub(super) fn is_closed(self) -> bool {
        self.0 & Self::NOT_CLOSED == 0
    }

    /// Whether it is closed stays as it is.
    pub(super) fn set_valid(&mut self, valid: u16) {
        self.0 = self.0 & Self::NOT_CLOSED | u32::from(valid);
    }

    #[inline]
    pub(super) fn gain(&mut self, units: u16) {
        debug_assert!(self.valid() <= u16::MAX - units);
        self.0 += u32::from(units);
    }

    #[inline]
    pub(super) fn lose(&mut self, units: u16) {
        debug_assert!(units <= self.valid());
        self.0 -= u32::from(units);
    }

    /// Becomes one that is filled.
    pub(super) fn open(&mut self, pages: u16) {
        *self = Self(Self::NOT_CLOSED | u32::from(pages));
    }

    pub(super) fn close(&mut self) {
        self.0 &= !Self::NOT_CLOSED;
    }

    /// Is about to be cleaned.
    pub(super) fn take_out(&mut self) {
        self.0 |= Self::NOT_CLOSED;
    }
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
