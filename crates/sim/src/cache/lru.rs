//! Units of clean data in the order of their last use. A unit may be on its way from below; it
//! has its place in the order then already.

use std::collections::VecDeque;

use crate::paged::Paged;

/// Units of a page of the table.
const PAGE_UNITS: usize = 32;
/// What the table has of a unit that is not held.
const MISSING: u32 = u32::MAX;
/// Set in what the table has of a unit that is on its way.
const COMING: u32 = 1 << 31;
/// Uses are numbered up to this, then they are counted anew; in tests that is often.
const MOST_NUMBER: u32 = if cfg!(test) { 200 } else { COMING - 2 };
/// Uses that are remembered besides two for each unit.
const MORE_USES: usize = if cfg!(test) { 4 } else { 1 << 12 };

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

/// One use of a unit, and the fetch that was to bring it then.
#[derive(Clone, Copy, Debug)]
struct Use {
    unit: u64,
    fetch: u32,
}

/// The units that are cached. Each use is noted behind all before it; only the last one of each
/// unit counts, and which that is stands in the table. So a use costs no look at its neighbours
/// in the order, and what was used longest ago stands in front.
#[derive(Clone, Debug)]
pub(crate) struct Lru {
    uses: VecDeque<Use>,
    /// The number of the first of them.
    first: u32,
    /// The number of the last use of each unit, with `COMING`; or `MISSING`.
    last: Paged<u32, PAGE_UNITS>,
    /// Units held in each page of the table.
    in_page: Vec<u8>,
    count: usize,
}

impl Lru {
    pub fn new() -> Self {
        Self {
            uses: VecDeque::new(),
            first: 0,
            last: Paged::new(MISSING),
            in_page: Vec::new(),
            count: 0,
        }
    }

    pub fn len(&self) -> u64 {
        self.count as u64
    }

    /// The uses that are the last of their units, by their numbers, each with whether the unit is
    /// still coming.
    fn last_uses(&self) -> impl Iterator<Item = (Use, bool)> + '_ {
        let numbered = (self.first..).zip(&self.uses);
        numbered.filter_map(|(number, &one)| {
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
        let place = (last & !COMING) - self.first;
        (last & COMING != 0).then(|| self.uses[place as usize].fetch)
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
        let most = 2 * self.count + MORE_USES;
        if self.uses.len() >= most || self.first + self.uses.len() as u32 >= MOST_NUMBER {
            self.count_anew();
        }
        let number = self.first + self.uses.len() as u32;
        let coming = if fetch.is_some() { COMING } else { 0 };
        let fetch = fetch.unwrap_or(0);
        self.uses.push_back(Use { unit, fetch });
        let (page, place) = split(unit);
        let values = self.last.made(page);
        let before = std::mem::replace(&mut values[place], number | coming);
        if before == MISSING {
            self.count += 1;
            if self.in_page.len() <= page {
                self.in_page.resize(page + 1, 0);
            }
            self.in_page[page] += 1;
        }
    }

    /// Forgets the uses that do not count, and numbers the others from 0 on.
    #[cold]
    fn count_anew(&mut self) {
        let uses: VecDeque<(Use, bool)> = self.last_uses().collect();
        for (number, &(one, is_coming)) in (0..).zip(&uses) {
            let (page, place) = split(one.unit);
            let coming = if is_coming { COMING } else { 0 };
            self.last.made(page)[place] = number | coming;
        }
        self.uses = uses.into_iter().map(|(one, _)| one).collect();
        self.first = 0;
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
            let (page, place) = split(unit);
            self.last.made(page)[place] = last & !COMING;
        } else {
            self.remove(unit);
        }
    }

    #[inline]
    pub fn remove(&mut self, unit: u64) {
        let (page, place) = split(unit);
        let Some(values) = self.last.page_mut(page) else {
            return;
        };
        if std::mem::replace(&mut values[place], MISSING) == MISSING {
            return;
        }
        self.count -= 1;
        self.in_page[page] -= 1;
        if self.in_page[page] == 0 {
            self.last.release(page);
        }
    }

    /// Drops the unit used longest ago.
    #[inline]
    pub fn evict(&mut self) {
        if let Some(soon) = self.uses.get(USES_AHEAD) {
            self.last.foresee(soon.unit);
        }
        while let Some(one) = self.uses.pop_front() {
            let number = self.first;
            self.first += 1;
            let last = self.last.get(one.unit);
            if last != MISSING && last & !COMING == number {
                return self.remove(one.unit);
            }
        }
    }
}

/// The page of `unit` and its place there.
#[inline]
fn split(unit: u64) -> (usize, usize) {
    let units = PAGE_UNITS as u64;
    ((unit / units) as usize, (unit % units) as usize)
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
