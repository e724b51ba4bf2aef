//! Slots that have lost their unit to a later write, whose blocks hear of it some writes later.
//! What is known of a slot and of its block are two misses for a drive whose tables outgrow the
//! processor's caches; they are asked for when it begins to wait, and are there when it is over.

/// Slots that wait at the most, a power of two.
pub(super) const PENDING: usize = 16;

/// The slots that wait, in the order in which they lost their units.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    slots: [u32; PENDING],
    /// How many have come in, and gone.
    come: usize,
    gone: usize,
}

impl Pending {
    pub(super) fn clear(&mut self) {
        self.gone = self.come;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.gone == self.come
    }

    /// Takes in a slot; gives the one that has waited longest where there is no room for another.
    #[inline]
    pub(super) fn push(&mut self, slot: u32) -> Option<u32> {
        let first = if self.come - self.gone == PENDING {
            self.pop()
        } else {
            None
        };
        self.slots[self.come % PENDING] = slot;
        self.come += 1;
        first
    }

    /// Takes out the slot that has waited longest.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        let slot = self.slots[self.gone % PENDING];
        self.gone += 1;
        Some(slot)
    }
}
