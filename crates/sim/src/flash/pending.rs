//! Host writes that the map takes up later. A map larger than the processor's caches is missed by
//! every random write; prefetched a few writes ahead, its lines are there when they are needed.
//! Whatever reads the map settles first or looks here too, so that nothing can see the difference.

/// Writes that are on their way at the most; a power of two.
const PENDING: usize = 16;

/// The last writes, a ring: the slot is taken, but the map does not say so yet, and what the unit
/// held before still counts as valid.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    ring: [Write; PENDING],
    /// Writes taken in and settled; they only grow, and lie at most `PENDING` apart.
    taken: u32,
    settled: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Write {
    pub(super) unit: u32,
    pub(super) slot: u32,
}

impl Pending {
    pub(super) fn clear(&mut self) {
        self.settled = self.taken;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.taken == self.settled
    }

    pub(super) fn is_full(&self) -> bool {
        self.taken.wrapping_sub(self.settled) == PENDING as u32
    }

    #[inline]
    pub(super) fn push(&mut self, write: Write) {
        self.ring[self.taken as usize % PENDING] = write;
        self.taken = self.taken.wrapping_add(1);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Write {
        let write = self.ring[self.settled as usize % PENDING];
        self.settled = self.settled.wrapping_add(1);
        write
    }

    /// The slot that the last pending write of `unit` took, if there is one.
    pub(super) fn slot_of(&self, unit: u32) -> Option<u32> {
        let waiting = self.taken.wrapping_sub(self.settled);
        let last_first = (1..=waiting).map(|back| self.taken.wrapping_sub(back));
        let mut writes = last_first.map(|count| self.ring[count as usize % PENDING]);
        let write = writes.find(|write| write.unit == unit)?;
        Some(write.slot)
    }
}
