//! Which slots hold a unit: one bit each. Cleaning goes from one valid slot to the next by them,
//! and neither looks at what is not valid nor asks the map about it.

use crate::memory::{prefetch, zeroed};

/// Slots of a word, as a power of two.
const WORD_SHIFT: u32 = u64::BITS.trailing_zeros();
pub(super) const WORD_SLOTS: u32 = u64::BITS;

/// A set of slots. Those of an open block that were not written yet are in it as well.
#[derive(Clone, Debug, Default)]
pub(super) struct ValidSlots(Vec<u64>);

impl ValidSlots {
    /// Words for so many slots.
    pub(super) const fn words(slots: u64) -> u64 {
        slots.div_ceil(WORD_SLOTS as u64)
    }

    /// Of a flash of `slots`, none of which holds a unit.
    pub(super) fn new(slots: usize) -> Self {
        Self(zeroed(Self::words(slots as u64) as usize))
    }

    pub(super) fn state_bytes(&self) -> usize {
        size_of::<u64>() * self.0.capacity()
    }

    /// Asks for what is known of `slot`, soon to be taken out.
    #[inline]
    pub(super) fn look_up(&self, slot: u32) {
        prefetch(&self.0, slot >> WORD_SHIFT);
    }

    #[inline]
    pub(super) fn take_out(&mut self, slot: u32) {
        self.0[(slot >> WORD_SHIFT) as usize] &= !(1 << (slot % WORD_SLOTS));
    }

    /// Takes out the slots from `from` to before `end`.
    pub(super) fn take_out_all(&mut self, from: u32, end: u32) {
        (from..end).for_each(|slot| self.take_out(slot));
    }

    /// Puts in a block of `1 << shift` slots.
    pub(super) fn put_in_block(&mut self, id: u32, shift: u32) {
        if let Some(words) = shift.checked_sub(WORD_SHIFT) {
            let from = (id as usize) << words;
            self.0[from..from + (1 << words)].fill(u64::MAX);
        } else {
            let first = id << shift;
            let slots = (1 << (1 << shift)) - 1;
            self.0[(first >> WORD_SHIFT) as usize] |= slots << (first % WORD_SLOTS);
        }
    }

    /// Those of the slots from `slot` on that are in, as far as they share a word: bit 0 is the
    /// first of the word, whose number is returned besides.
    #[inline]
    pub(super) fn from(&self, slot: u32) -> (u64, u32) {
        let first = slot & !(WORD_SLOTS - 1);
        let word = self.0[(slot >> WORD_SHIFT) as usize];
        (word >> (slot - first) << (slot - first), first)
    }

    /// For the audit.
    pub(super) fn contains(&self, slot: u32) -> bool {
        self.0[(slot >> WORD_SHIFT) as usize] >> (slot % WORD_SLOTS) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const BLOCKS: u32 = 9;

    /// All of them, one word after the other.
    fn all(valid: &ValidSlots, slots: u32) -> Vec<u32> {
        let (mut found, mut slot) = (Vec::new(), 0);
        while slot < slots {
            let (mut word, base) = valid.from(slot);
            while word != 0 {
                found.push(base + word.trailing_zeros());
                word &= word - 1;
            }
            slot = base + WORD_SLOTS;
        }
        found
    }

    proptest! {
        /// Blocks shorter than a word, as long, and longer.
        #[test]
        fn it_is_the_set_that_a_sorted_tree_is(
            shift in 0_u32..9,
            acts in proptest::collection::vec((0_u8..4, any::<u32>(), 0_u32..20), 0..100),
        ) {
            let slots = BLOCKS << shift;
            let (mut valid, mut tree) = (ValidSlots::new(slots as usize), BTreeSet::new());
            for (act, number, length) in acts {
                let (slot, id) = (number % slots, number % BLOCKS);
                match act {
                    0 | 1 => {
                        valid.put_in_block(id, shift);
                        tree.extend(id << shift..(id + 1) << shift);
                    }
                    2 => {
                        valid.take_out(slot);
                        tree.remove(&slot);
                    }
                    _ => {
                        let end = slots.min(slot + length);
                        valid.take_out_all(slot, end);
                        tree.retain(|held| !(slot..end).contains(held));
                    }
                }
                prop_assert_eq!(valid.contains(slot), tree.contains(&slot));
                let (word, base) = valid.from(slot);
                let from: Vec<u32> = tree.range(slot..).copied().collect();
                let first = (word != 0).then(|| base + word.trailing_zeros());
                let within = from.first().copied().filter(|&next| next < base + WORD_SLOTS);
                prop_assert_eq!(first, within);
            }
            prop_assert_eq!(all(&valid, slots), tree.into_iter().collect::<Vec<_>>());
        }
    }
}
