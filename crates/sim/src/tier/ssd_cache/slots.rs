//! What an SSD cache holds: each slot of the fast device keeps one chunk of the slow one, and of
//! each of its sectors whether it is there (valid) and whether only there (dirty). No time here.

use super::super::recency::{Order, Uses, NEVER};
use super::super::table::Table;
use crate::memory::prefetch;
use crate::numbers::Numbers;

/// Sectors of 512 B that the masks of a slot have room for.
pub(super) const MOST_SECTORS: u32 = 128;
const NONE: u32 = u32::MAX;

/// The sectors from `first` to before `end` of a chunk.
#[inline]
pub(super) fn sectors(first: u32, end: u32) -> u128 {
    debug_assert!(first <= end && end <= MOST_SECTORS);
    if first == end {
        return 0;
    }
    (u128::MAX >> (MOST_SECTORS - (end - first))) << first
}

/// Whether the sectors of `mask`, of which `first` is the first, are neighbours.
#[inline]
pub(super) fn is_run(mask: u128, first: u32) -> bool {
    let run = mask >> first;
    run & run.wrapping_add(1) == 0
}

/// From the first sector in `mask` to after the last; nothing may be empty.
#[inline]
pub(super) fn extent(mask: u128) -> (u32, u32) {
    debug_assert!(mask != 0, "an extent has a sector");
    (mask.trailing_zeros(), MOST_SECTORS - (mask).leading_zeros())
}

/// The runs of sectors in `mask`, each as (first, after the last).
pub(super) fn runs(mut mask: u128) -> impl Iterator<Item = (u32, u32)> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let first = mask.trailing_zeros();
        let length = (!(mask >> first)).trailing_zeros();
        let end = (first + length).min(MOST_SECTORS);
        mask &= !sectors(first, end);
        Some((first, end))
    })
}

/// One chunk's place on the fast device: a line of the processor's caches.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Slot {
    chunk: u32,
    valid: u128,
    dirty: u128,
    /// Written since the drain of this slot began.
    fresh: u128,
    is_draining: bool,
    /// I/Os that must not lose it: its fetch or store, and its drain.
    pins: u16,
    /// What reads the missing sectors from the slow device, if something does.
    fetch: u32,
    /// Its last use, also when it was given back.
    used: u32,
}

const EMPTY: Slot = Slot {
    chunk: NONE,
    valid: 0,
    dirty: 0,
    fresh: 0,
    is_draining: false,
    pins: 0,
    fetch: NONE,
    used: NEVER,
};

impl Uses for Vec<Slot> {
    #[inline]
    fn last_use(&mut self, slot: u32) -> &mut u32 {
        &mut self[slot as usize].used
    }
}

/// All slots. A slot can be taken for another chunk when nothing in it is dirty and nobody pins
/// it; the one used longest ago is taken first.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    count: u32,
    by_chunk: Table<u32>,
    /// Those that were used so far.
    slots: Vec<Slot>,
    free: Vec<u32>,
    order: Order,
    /// Chunks with dirty sectors that are not being drained.
    waiting: Numbers,
    dirty_chunks: u32,
    evictions: u64,
}

impl Slots {
    pub fn new(count: u32) -> Self {
        Self {
            count,
            by_chunk: Table::new(NONE),
            slots: Vec::new(),
            free: Vec::new(),
            order: Order::new(),
            waiting: Numbers::new(),
            dirty_chunks: 0,
            evictions: 0,
        }
    }

    pub fn count(&self) -> u32 {
        self.count
    }

    /// Chunks with dirty sectors.
    pub fn dirty_chunks(&self) -> u32 {
        self.dirty_chunks
    }

    /// Chunks that lost their slot to another.
    pub fn evictions(&self) -> u64 {
        self.evictions
    }

    /// Sectors that are dirty.
    pub fn dirty_sectors(&self) -> u64 {
        let dirty = self.slots.iter().map(|slot| slot.dirty.count_ones());
        dirty.map(u64::from).sum()
    }

    /// The slot of `chunk`, which is used now.
    #[inline]
    pub fn touch(&mut self, chunk: u32) -> Option<u32> {
        let slot = self.find(chunk)?;
        self.order.touch(&mut self.slots, slot);
        Some(slot)
    }

    #[inline]
    pub fn find(&self, chunk: u32) -> Option<u32> {
        let slot = self.by_chunk.get(chunk);
        (slot != NONE).then_some(slot)
    }

    /// Asks for what is known of `chunk`, soon to be used; its slot if it has one.
    #[inline]
    pub fn foresee(&self, chunk: u32) -> Option<u32> {
        let slot = self.find(chunk)?;
        prefetch(&self.slots, slot);
        Some(slot)
    }

    /// Asks for the first chunk from `chunk` on that waits to be drained; which it is, and its
    /// slot.
    #[inline]
    pub fn foresee_waiting(&self, chunk: u32) -> Option<(u32, u32)> {
        let next = self.waiting.next(u64::from(chunk))? as u32;
        Some((next, self.foresee(next)?))
    }

    #[inline]
    pub fn valid(&self, slot: u32) -> u128 {
        self.slots[slot as usize].valid
    }

    /// The chunk in `slot`, and its dirty sectors.
    pub fn tenant(&self, slot: u32) -> Option<(u32, u128)> {
        let slot = self.slots.get(slot as usize)?;
        (slot.chunk != NONE).then_some((slot.chunk, slot.dirty))
    }

    pub fn is_dirty(&self, slot: u32) -> bool {
        self.slots[slot as usize].dirty != 0
    }

    pub fn fetch(&self, slot: u32) -> Option<usize> {
        let fetch = self.slots[slot as usize].fetch;
        (fetch != NONE).then_some(fetch as usize)
    }

    /// A slot for `chunk`, which has none; `None` if all are dirty or pinned. It is empty, and
    /// nobody can take it before something is put in it.
    pub fn allocate(&mut self, chunk: u32) -> Option<u32> {
        debug_assert!(self.find(chunk).is_none(), "a chunk has one slot");
        let slot = if let Some(slot) = self.free.pop() {
            slot
        } else if (self.slots.len() as u32) < self.count {
            self.slots.push(EMPTY);
            self.slots.len() as u32 - 1
        } else {
            let slot = self.order.first()?;
            self.order.unlist(self.slots[slot as usize].used);
            self.by_chunk.set(self.slots[slot as usize].chunk, NONE);
            self.evictions += 1;
            slot
        };
        self.slots[slot as usize] = Slot { chunk, ..EMPTY };
        self.order.add(&mut self.slots, slot);
        self.by_chunk.set(chunk, slot);
        if let Some(next) = self.order.first() {
            prefetch(&self.slots, next);
        }
        Some(slot)
    }

    /// Lets `slot` be taken or keeps it from that, as it is now; an empty one is given back.
    #[inline]
    fn settle(&mut self, slot: u32) {
        let place = &mut self.slots[slot as usize];
        if place.dirty != 0 || place.pins > 0 {
            self.order.unlist(place.used);
        } else if place.valid != 0 {
            self.order.list(place.used);
        } else {
            self.order.unlist(place.used);
            let (chunk, used) = (place.chunk, place.used);
            *place = Slot { used, ..EMPTY };
            self.by_chunk.set(chunk, NONE);
            self.free.push(slot);
        }
    }

    /// `mask` is now on both devices.
    pub fn copy(&mut self, slot: u32, mask: u128) {
        self.slots[slot as usize].valid |= mask;
        self.settle(slot);
    }

    /// `mask` is now on the fast device alone.
    pub fn soil(&mut self, slot: u32, mask: u128) {
        let place = &mut self.slots[slot as usize];
        let was_clean = place.dirty == 0;
        place.valid |= mask;
        place.dirty |= mask;
        if place.is_draining {
            place.fresh |= mask;
        } else if was_clean {
            self.dirty_chunks += 1;
            self.waiting.insert(u64::from(place.chunk));
            self.settle(slot);
        }
    }

    /// `fetch` is on its way to fill `slot`, which it pins.
    pub fn begin_fetch(&mut self, slot: u32, fetch: usize) {
        let place = &mut self.slots[slot as usize];
        (place.fetch, place.pins) = (fetch as u32, place.pins + 1);
        self.settle(slot);
    }

    /// `mask` has come from the slow device; the pin stays until it is stored.
    pub fn end_fetch(&mut self, slot: u32, mask: u128) {
        let place = &mut self.slots[slot as usize];
        place.fetch = NONE;
        place.valid |= mask;
    }

    pub fn unpin(&mut self, slot: u32) {
        self.slots[slot as usize].pins -= 1;
        self.settle(slot);
    }

    /// What could not be stored is no copy: only what is dirty stays valid.
    pub fn forget_copies(&mut self, slot: u32) {
        let place = &mut self.slots[slot as usize];
        place.valid = place.dirty;
    }

    /// Dirty chunks that are not being drained.
    pub fn waiting_chunks(&self) -> usize {
        self.waiting.len()
    }

    /// The next dirty chunk from `chunk` on that is not being drained, around the end.
    pub fn next_waiting(&self, chunk: u32) -> Option<u32> {
        let next = self.waiting.next(u64::from(chunk));
        let next = next.or_else(|| self.waiting.next(0));
        next.map(|chunk| chunk as u32)
    }

    /// The slot and the dirty sectors of `chunk` if it waits to be drained.
    pub fn waiting(&self, chunk: u32) -> Option<(u32, u128)> {
        if !self.waiting.contains(u64::from(chunk)) {
            return None;
        }
        let slot = self.find(chunk)?;
        Some((slot, self.slots[slot as usize].dirty))
    }

    /// `slot` is being drained, which pins it.
    pub fn begin_drain(&mut self, slot: u32) {
        let place = &mut self.slots[slot as usize];
        (place.is_draining, place.fresh) = (true, 0);
        place.pins += 1;
        self.waiting.remove(u64::from(place.chunk));
    }

    /// `slot` is drained: dirty is what was written meanwhile, or all of it if that failed.
    pub fn end_drain(&mut self, slot: u32, has_failed: bool) {
        let place = &mut self.slots[slot as usize];
        place.is_draining = false;
        if !has_failed {
            place.dirty &= place.fresh;
        }
        if place.dirty == 0 {
            self.dirty_chunks -= 1;
        } else {
            self.waiting.insert(u64::from(place.chunk));
        }
        self.unpin(slot);
    }

    /// The host has no use for `mask` of `chunk` any more.
    pub fn discard(&mut self, chunk: u32, mask: u128) {
        let Some(slot) = self.find(chunk) else { return };
        let place = &mut self.slots[slot as usize];
        let was_dirty = place.dirty != 0;
        place.valid &= !mask;
        place.dirty &= !mask;
        place.fresh &= !mask;
        // What is being drained is counted until that ends.
        if was_dirty && place.dirty == 0 && !place.is_draining {
            self.dirty_chunks -= 1;
            self.waiting.remove(u64::from(chunk));
        }
        self.settle(slot);
    }

    pub fn clear(&mut self) {
        self.by_chunk.clear();
        self.slots.clear();
        self.free.clear();
        self.order = Order::new();
        self.waiting.clear();
        self.dirty_chunks = 0;
    }

    /// Every number of the state that something can see, for a digest.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let halves = |mask: u128| [mask as u64, (mask >> 64) as u64];
        let of_slot = move |slot: &Slot| {
            let [v0, v1] = halves(slot.valid);
            let [d0, d1] = halves(slot.dirty);
            let [f0, f1] = halves(slot.fresh);
            let busy = u64::from(slot.pins) << 1 | u64::from(slot.is_draining);
            [u64::from(slot.chunk), v0, v1, d0, d1, f0, f1, busy]
        };
        let slots = self.slots.iter().flat_map(of_slot);
        let order = self.order.oldest().map(u64::from);
        slots.chain(order).chain([self.evictions])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn masks_are_ranges_of_sectors() {
        assert_eq!(sectors(0, 128), u128::MAX);
        assert_eq!(sectors(3, 5), 0b11000);
        assert_eq!(sectors(127, 128), 1 << 127);
        assert_eq!(extent(sectors(3, 5) | sectors(100, 128)), (3, 128));
        let found: Vec<_> = runs(sectors(0, 2) | sectors(5, 6) | sectors(126, 128)).collect();
        assert_eq!(found, [(0, 2), (5, 6), (126, 128)]);
        assert_eq!(runs(u128::MAX).collect::<Vec<_>>(), [(0, 128)]);
        assert_eq!(runs(0).count(), 0);
    }

    /// What must hold of any state.
    fn check(slots: &Slots) -> Result<(), TestCaseError> {
        let mut dirty_chunks = 0;
        for (number, slot) in (0..).zip(&slots.slots) {
            if slot.chunk == NONE {
                prop_assert!(slots.free.contains(&number));
                continue;
            }
            prop_assert_eq!(slots.find(slot.chunk), Some(number));
            prop_assert_eq!(slot.dirty & !slot.valid, 0, "what is dirty is there");
            let is_counted = slot.dirty != 0 || slot.is_draining;
            dirty_chunks += u32::from(is_counted);
            let waits = slot.dirty != 0 && !slot.is_draining;
            prop_assert_eq!(slots.waiting.contains(u64::from(slot.chunk)), waits);
            let can_be_taken = slot.dirty == 0 && slot.pins == 0;
            prop_assert_eq!(slots.order.is_listed(slot.used), can_be_taken);
        }
        prop_assert_eq!(slots.dirty_chunks, dirty_chunks);
        let resident = slots.slots.len() - slots.free.len();
        prop_assert_eq!(slots.by_chunk.iter().count(), resident);
        prop_assert!(slots.slots.len() as u32 <= slots.count);
        Ok(())
    }

    proptest! {
        /// Every chunk has one slot at most, nothing dirty is ever taken or forgotten, and the
        /// sectors that are dirty are those written and neither drained nor discarded since.
        #[test]
        fn nothing_dirty_is_lost_and_no_chunk_stands_twice(
            acts in proptest::collection::vec((0_u8..6, 0_u32..8, 0_u32..8, 1_u32..8), 1..120)
        ) {
            let mut slots = Slots::new(4);
            let mut dirty = [0_u128; 8];
            for (act, chunk, first, length) in acts {
                let mask = sectors(first, first + length);
                let place = slots.touch(chunk);
                match act {
                    0 | 1 => {
                        if let Some(slot) = place.or_else(|| slots.allocate(chunk)) {
                            if act == 0 {
                                slots.soil(slot, mask);
                                dirty[chunk as usize] |= mask;
                            } else {
                                slots.copy(slot, mask);
                            }
                        }
                    }
                    2 => if let Some((slot, found)) = slots.waiting(chunk) {
                        prop_assert_eq!(found, dirty[chunk as usize]);
                        slots.begin_drain(slot);
                        dirty[chunk as usize] = 0;
                    },
                    3 => if let Some(slot) = place {
                        if slots.slots[slot as usize].is_draining {
                            slots.end_drain(slot, false);
                        }
                    },
                    4 => {
                        slots.discard(chunk, mask);
                        dirty[chunk as usize] &= !mask;
                    }
                    _ => if let Some(slot) = place {
                        if slots.fetch(slot).is_none() {
                            slots.begin_fetch(slot, 7);
                        } else {
                            slots.end_fetch(slot, mask);
                            slots.unpin(slot);
                        }
                    },
                }
                check(&slots)?;
            }
            for (chunk, expected) in (0..).zip(dirty) {
                let found = slots.find(chunk).map_or(0, |slot| {
                    let slot = slots.slots[slot as usize];
                    if slot.is_draining { slot.fresh } else { slot.dirty }
                });
                prop_assert_eq!(found, expected, "chunk {}", chunk);
            }
        }
    }
}
