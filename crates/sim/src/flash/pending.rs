//! Slots that have lost their unit to a later write, whose blocks hear of it together. A block, its
//! place among the victims and what lies there are three misses one after the other for a drive
//! whose tables outgrow the processor's caches; those of several slots are fetched at once.

/// Slots that wait at the most.
pub(super) const PENDING: usize = 16;

/// The slots that wait, in the order in which they lost their units.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    slots: [u32; PENDING],
    count: usize,
}

impl Pending {
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Takes in a slot; true if there is no room for another.
    #[inline]
    pub(super) fn push(&mut self, slot: u32) -> bool {
        self.slots[self.count] = slot;
        self.count += 1;
        self.count == PENDING
    }

    /// Takes out all: the first so many count.
    #[inline]
    pub(super) fn take(&mut self) -> ([u32; PENDING], usize) {
        (self.slots, std::mem::take(&mut self.count))
    }
}
