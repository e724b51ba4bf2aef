//! Units of clean data in the order of their last use. A unit may be on its way from below; it
//! has its place in the order then already.

use std::collections::hash_map::{Entry, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use crate::memory::prefetch;

const NONE: u32 = u32::MAX;

/// Spreads unit numbers over a table; they are counted from 0, nobody chooses them to collide.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    unit: u64,
    /// The one used before it, and the one used after it.
    older: u32,
    newer: u32,
    /// The fetch that brings it; `NONE` for one that is there.
    fetch: u32,
}

/// What the cache knows of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Missing,
    There,
    /// On its way with the fetch of this number.
    Coming(usize),
}

/// The units that are cached.
#[derive(Clone, Debug)]
pub(crate) struct Lru {
    slots: Vec<Slot>,
    free: Vec<u32>,
    places: HashMap<u64, u32, BuildHasherDefault<Spread>>,
    oldest: u32,
    newest: u32,
}

impl Lru {
    pub fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            places: HashMap::default(),
            oldest: NONE,
            newest: NONE,
        }
    }

    pub fn len(&self) -> u64 {
        self.places.len() as u64
    }

    /// Units from the one used longest ago, each with whether it is still coming.
    pub fn units(&self) -> impl Iterator<Item = (u64, bool)> + '_ {
        let slot = |place: u32| (place != NONE).then(|| self.slots[place as usize]);
        std::iter::successors(slot(self.oldest), move |last| slot(last.newer))
            .map(|slot| (slot.unit, slot.fetch != NONE))
    }

    pub fn holds(&self, unit: u64) -> bool {
        self.places.contains_key(&unit)
    }

    /// Asks for what is known of `unit`, soon to be looked up.
    #[inline]
    pub fn foresee(&self, unit: u64) {
        if let Some(&place) = self.places.get(&unit) {
            prefetch(&self.slots, place);
        }
    }

    /// Looks `unit` up and makes it the one used last.
    pub fn touch(&mut self, unit: u64) -> Found {
        let Some(&place) = self.places.get(&unit) else {
            return Found::Missing;
        };
        self.renew(place);
        match self.slots[place as usize].fetch {
            NONE => Found::There,
            fetch => Found::Coming(fetch as usize),
        }
    }

    /// Puts `unit` in as the one used last; with a fetch if it has yet to come.
    pub fn put(&mut self, unit: u64, fetch: Option<usize>) {
        let fetch = fetch.map_or(NONE, |fetch| fetch as u32);
        let known = match self.places.entry(unit) {
            Entry::Occupied(entry) => Some(*entry.get()),
            Entry::Vacant(entry) => {
                let fresh = self.slots.len() as u32;
                entry.insert(self.free.last().copied().unwrap_or(fresh));
                None
            }
        };
        if let Some(place) = known {
            self.renew(place);
            self.slots[place as usize].fetch = fetch;
            return;
        }
        let slot = Slot {
            unit,
            older: NONE,
            newer: NONE,
            fetch,
        };
        let place = if let Some(place) = self.free.pop() {
            self.slots[place as usize] = slot;
            place
        } else {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        };
        self.link(place);
    }

    /// `unit` is there, if it is still the one that `fetch` was to bring; if it could not be
    /// brought it is gone.
    pub fn arrive(&mut self, unit: u64, fetch: usize, came: bool) {
        let place = self.places.get(&unit).copied();
        let Some(place) = place.filter(|&place| self.slots[place as usize].fetch == fetch as u32)
        else {
            return;
        };
        if came {
            self.slots[place as usize].fetch = NONE;
        } else {
            self.remove(unit);
        }
    }

    pub fn remove(&mut self, unit: u64) {
        if let Some(place) = self.places.remove(&unit) {
            self.unlink(place);
            self.free.push(place);
        }
    }

    /// Drops the unit used longest ago.
    pub fn evict(&mut self) {
        if self.oldest != NONE {
            self.remove(self.slots[self.oldest as usize].unit);
        }
    }

    /// Makes the unit at `place` the one used last.
    fn renew(&mut self, place: u32) {
        if place != self.newest {
            self.unlink(place);
            self.link(place);
        }
    }

    fn unlink(&mut self, place: u32) {
        let Slot { older, newer, .. } = self.slots[place as usize];
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
    }

    fn link(&mut self, place: u32) {
        let last = std::mem::replace(&mut self.newest, place);
        let slot = &mut self.slots[place as usize];
        (slot.older, slot.newer) = (last, NONE);
        match last {
            NONE => self.oldest = place,
            last => self.slots[last as usize].newer = place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_order_is_that_of_a_plain_list(
            acts in prop::collection::vec((0_u8..4, 0_u64..12), 1..200)
        ) {
            let mut lru = Lru::new();
            let mut list: Vec<u64> = Vec::new();
            for (act, unit) in acts {
                let place = list.iter().position(|&held| held == unit);
                match act {
                    0 => {
                        prop_assert_eq!(lru.touch(unit) == Found::There, place.is_some());
                        if let Some(place) = place {
                            list.remove(place);
                            list.push(unit);
                        }
                    }
                    1 => {
                        lru.put(unit, None);
                        list.retain(|&held| held != unit);
                        list.push(unit);
                    }
                    2 => {
                        lru.remove(unit);
                        list.retain(|&held| held != unit);
                    }
                    _ => {
                        lru.evict();
                        list.drain(..list.len().min(1));
                    }
                }
                let units: Vec<u64> = lru.units().map(|(unit, _)| unit).collect();
                prop_assert_eq!(&units, &list);
                prop_assert_eq!(lru.len(), list.len() as u64);
            }
        }
    }

    #[test]
    fn a_unit_arrives_with_the_fetch_that_was_sent_for_it_alone() {
        let mut lru = Lru::new();
        lru.put(7, Some(3));
        assert_eq!(lru.touch(7), Found::Coming(3));
        lru.arrive(7, 2, true);
        assert_eq!(lru.touch(7), Found::Coming(3));
        lru.arrive(7, 3, true);
        assert_eq!(lru.touch(7), Found::There);
        lru.put(8, Some(4));
        lru.arrive(8, 4, false);
        assert!(!lru.holds(8));
    }
}
