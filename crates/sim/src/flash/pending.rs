//! Host writes that the map takes up later. A map larger than the processor's caches is missed by
//! every random write; prefetched a few writes ahead, its lines are there when they are needed.
//! Whatever reads the map settles first or looks here too, so that nothing can see the difference.

/// Writes that are on their way at the most; a power of two.
const PENDING: usize = 16;

/// The last writes, a ring: the slot is taken, but the map does not say so yet, and what the unit
/// held before still counts as valid.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// `NO_UNIT` where a write is settled.
    units: [u32; PENDING],
    slots: [u32; PENDING],
    /// Writes taken in and settled; they only grow, and lie at most `PENDING` apart.
    taken: u32,
    settled: u32,
}

const NO_UNIT: u32 = u32::MAX;

impl Default for Pending {
    fn default() -> Self {
        Self {
            units: [NO_UNIT; PENDING],
            slots: [0; PENDING],
            taken: 0,
            settled: 0,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Write {
    pub(super) unit: u32,
    pub(super) slot: u32,
}

impl Pending {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.taken == self.settled
    }

    pub(super) fn is_full(&self) -> bool {
        self.taken.wrapping_sub(self.settled) == PENDING as u32
    }

    #[inline]
    pub(super) fn push(&mut self, write: Write) {
        let place = self.taken as usize % PENDING;
        (self.units[place], self.slots[place]) = (write.unit, write.slot);
        self.taken = self.taken.wrapping_add(1);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Write {
        let place = self.settled as usize % PENDING;
        self.settled = self.settled.wrapping_add(1);
        Write {
            unit: std::mem::replace(&mut self.units[place], NO_UNIT),
            slot: self.slots[place],
        }
    }

    /// The unit of the write that `age` others came after, if it still waits.
    #[inline]
    pub(super) fn unit_of_age(&self, age: u32) -> Option<u32> {
        let unit = self.units[self.taken.wrapping_sub(age + 1) as usize % PENDING];
        (unit != NO_UNIT).then_some(unit)
    }

    /// The slot that the last pending write of `unit` took, if there is one.
    #[inline]
    pub(super) fn slot_of(&self, unit: u32) -> Option<u32> {
        // All are compared at once; most reads are of something else.
        let same = self.units.iter().map(|&one| u32::from(one == unit));
        if same.sum::<u32>() > 0 {
            self.last_slot_of(unit)
        } else {
            None
        }
    }

    #[cold]
    fn last_slot_of(&self, unit: u32) -> Option<u32> {
        let last_first = (1..=PENDING as u32).map(|back| self.taken.wrapping_sub(back));
        let mut places = last_first.map(|count| count as usize % PENDING);
        let place = places.find(|&place| self.units[place] == unit)?;
        Some(self.slots[place])
    }
}
