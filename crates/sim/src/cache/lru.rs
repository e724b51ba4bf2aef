//! Units of clean data in the order of their last use. A unit may be on its way from below; it
//! has its place in the order then already.

use super::uses::{Use, Uses};
use crate::paged::Paged;

/// Units of a page of the table, which is a line of the processor's caches.
const PAGE_UNITS: usize = 16;

/// What the table has of a unit that is not held.
const MISSING: u32 = u32::MAX;
/// Set in what the table has of a unit that is on its way.
const COMING: u32 = 1 << 31;
/// So many uses before one is dropped, what is known of its unit is asked for.
const USES_AHEAD: usize = 8;

/// What the cache knows of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Missing,
    There,
    /// On its way with the fetch of this number.
    Coming(usize),
}

/// The units that are cached. Each use is noted behind all before it; only the last one of each
/// unit counts, and which that is stands in the table. So a use costs no look at its neighbours
/// in the order, and what was used longest ago stands in front.
#[derive(Clone, Debug)]
pub(crate) struct Lru {
    uses: Uses,
    /// The number of the last use of each unit, with `COMING`; or `MISSING`.
    last: Paged<u32, PAGE_UNITS>,
    count: usize,
}

impl Lru {
    /// For units below `all`, of which `most` are held at a time.
    pub fn new(all: u64, most: u64) -> Self {
        Self {
            uses: Uses::new(),
            last: Paged::new(MISSING, all, most),
            count: 0,
        }
    }

    /// What such a one takes at the most.
    pub fn need_bytes(all: u64, most: u64) -> u64 {
        let table_bytes = Paged::<u32, PAGE_UNITS>::need_bytes(all, most);
        table_bytes.saturating_add(Uses::need_bytes(most.min(all)))
    }

    /// Forgets all units.
    pub fn clear(&mut self) {
        self.uses = Uses::new();
        self.count = 0;
        self.last.clear();
    }

    pub fn len(&self) -> u64 {
        self.count as u64
    }

    /// The uses that are the last of their units, by their numbers, each with whether the unit is
    /// still coming.
    fn last_uses(&self) -> impl Iterator<Item = (Use, bool)> + '_ {
        self.uses.numbered().filter_map(|(number, one)| {
            let last = self.last.get(one.unit);
            let counts = last != MISSING && last & !COMING == number;
            counts.then_some((one, last & COMING != 0))
        })
    }

    /// Units from the one used longest ago, each with whether it is still coming.
    pub fn units(&self) -> impl Iterator<Item = (u64, bool)> + '_ {
        self.last_uses().map(|(one, coming)| (one.unit, coming))
    }

    pub fn holds(&self, unit: u64) -> bool {
        self.last.get(unit) != MISSING
    }

    /// Asks for what is known of `unit`, soon to be looked up.
    #[inline]
    pub fn foresee(&self, unit: u64) {
        self.last.foresee(unit);
    }

    /// The fetch that brings `unit`, of which the table has `last`.
    #[inline]
    fn fetch_of(&self, last: u32) -> Option<u32> {
        (last & COMING != 0).then(|| self.uses.at(last & !COMING).fetch)
    }

    /// Looks `unit` up and makes it the one used last.
    #[inline]
    pub fn touch(&mut self, unit: u64) -> Found {
        let last = self.last.get(unit);
        if last == MISSING {
            return Found::Missing;
        }
        let fetch = self.fetch_of(last);
        self.note(unit, fetch);
        fetch.map_or(Found::There, |fetch| Found::Coming(fetch as usize))
    }

    /// Puts `unit` in as the one used last; with a fetch if it has yet to come.
    #[inline]
    pub fn put(&mut self, unit: u64, fetch: Option<usize>) {
        self.note(unit, fetch.map(|fetch| fetch as u32));
    }

    /// Notes a use of `unit`, which is the last of all.
    #[inline]
    fn note(&mut self, unit: u64, fetch: Option<u32>) {
        if self.uses.is_full() {
            self.make_room();
        }
        let coming = if fetch.is_some() { COMING } else { 0 };
        let number = self.uses.push(Use {
            unit,
            fetch: fetch.unwrap_or(0),
        });
        let before = std::mem::replace(self.last.made_at(unit), number | coming);
        self.count += usize::from(before == MISSING);
    }

    /// Makes room for more uses: where many of them do not count these are forgotten, and the
    /// others are numbered anew.
    #[cold]
    fn make_room(&mut self) {
        if self.uses.are_many(self.count) {
            let uses: Vec<(Use, bool)> = self.last_uses().collect();
            self.uses.clear();
            for (one, is_coming) in uses {
                let coming = if is_coming { COMING } else { 0 };
                *self.last.made_at(one.unit) = self.uses.push(one) | coming;
            }
        }
        self.uses.grow();
    }

    /// `unit` is there, if it is still the one that `fetch` was to bring; if it could not be
    /// brought it is gone.
    #[inline]
    pub fn arrive(&mut self, unit: u64, fetch: usize, came: bool) {
        let last = self.last.get(unit);
        if last == MISSING || self.fetch_of(last) != Some(fetch as u32) {
            return;
        }
        if came {
            *self.last.made_at(unit) = last & !COMING;
        } else {
            self.remove(unit);
        }
    }

    #[inline]
    pub fn remove(&mut self, unit: u64) {
        if let Some(last) = self.last.at_mut(unit) {
            let before = std::mem::replace(last, MISSING);
            self.count -= usize::from(before != MISSING);
        }
    }

    /// Drops the units used longest ago, down to `most` of them.
    pub fn evict_down_to(&mut self, most: u64) {
        while self.count as u64 > most {
            let Some((number, one)) = self.uses.pop() else {
                return;
            };
            if let Some(soon) = self.uses.ahead(USES_AHEAD) {
                self.last.foresee(soon.unit);
            }
            if let Some(last) = self.last.at_mut(one.unit) {
                // What is missing has no number.
                if *last & !COMING == number {
                    *last = MISSING;
                    self.count -= 1;
                }
            }
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
            acts in prop::collection::vec(
                (0_u8..4, prop_oneof![0_u64..12, 0_u64..200]), 1..400)
        ) {
            let mut lru = Lru::new(200, 20);
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
                        lru.evict_down_to(lru.len().saturating_sub(1));
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
        let mut lru = Lru::new(200, 20);
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
