//! Values by number, in pages that are there only where one is not empty: what most of a large
//! address space has none of takes next to no memory, and one look finds what there is.

use crate::memory::prefetch;

/// There is no page, or no more than empty ones.
const NONE: u32 = u32::MAX;
/// Pages that there is room for at first.
const LEAST_PAGES: usize = 64;
/// There is a list if it has at most so many places for each page that may be used.
const LISTED: u64 = 16;
/// What a list takes of each page, and what a table takes of each that there is room for.
const LISTED_BYTES: u64 = 4;
const TABLE_BYTES: u64 = 4 * size_of::<(u64, u32)>() as u64;
/// Of each page besides it: whose it is, and that it is free.
const BESIDE_BYTES: u64 = 16;

/// Values by number, `N` in a page; `empty` where there is no page.
///
/// Where the pages of all numbers are few, a list says where each is; else a table does that is as
/// large as the pages that there are. A page whose values are empty again stays until its place is
/// wanted: many are used again before that.
#[derive(Clone, Debug)]
pub(crate) struct Paged<T, const N: usize> {
    /// Which of `pages` is that of each `N` numbers; without places where there is a table.
    list: Vec<u32>,
    table: Table,
    pages: Vec<[T; N]>,
    /// Which `N` numbers each page is of.
    owners: Vec<u64>,
    free: Vec<u32>,
    empty: T,
}

impl<T: Copy + PartialEq, const N: usize> Paged<T, N> {
    /// For numbers below `count`, of which about `most` are not empty at a time.
    pub fn new(empty: T, count: u64, most: u64) -> Self {
        let pages = count.div_ceil(N as u64);
        let listed = if is_listed(pages, most) { pages } else { 0 };
        Self {
            list: vec![NONE; listed as usize],
            table: Table::default(),
            pages: Vec::new(),
            owners: Vec::new(),
            free: Vec::new(),
            empty,
        }
    }

    /// What such a one takes at the most.
    pub fn need_bytes(count: u64, most: u64) -> u64 {
        let pages = count.div_ceil(N as u64);
        let (used, each_bytes) = (pages.min(most), size_of::<[T; N]>() as u64 + BESIDE_BYTES);
        // Half as many again as are used, beside what they were copied from.
        let made = used
            .saturating_add(used / 2)
            .saturating_add(LEAST_PAGES as u64);
        let made_bytes = made.saturating_mul(each_bytes * 5 / 3);
        let where_bytes = if is_listed(pages, most) {
            pages * LISTED_BYTES
        } else {
            made.saturating_mul(TABLE_BYTES)
        };
        made_bytes.saturating_add(where_bytes)
    }

    /// Which of `pages` is that of `index`; `NONE` or beyond all where there is none.
    #[inline]
    fn place(&self, index: u64) -> u32 {
        match self.list.get(index as usize) {
            Some(&place) => place,
            None => self.table.place(index),
        }
    }

    /// The values from `N` times `index` on, if there is a page of them.
    #[inline]
    pub fn page(&self, index: u64) -> Option<&[T; N]> {
        self.pages.get(self.place(index) as usize)
    }

    /// The same, to be changed.
    #[inline]
    pub fn page_mut(&mut self, index: u64) -> Option<&mut [T; N]> {
        let place = self.place(index);
        self.pages.get_mut(place as usize)
    }

    /// The same, made if there is none. One that stays empty may be taken away by the next.
    #[inline]
    pub fn made(&mut self, index: u64) -> &mut [T; N] {
        let mut place = self.place(index);
        if place == NONE {
            place = self.make(index);
        }
        &mut self.pages[place as usize]
    }

    #[cold]
    fn make(&mut self, index: u64) -> u32 {
        if self.free.is_empty() && self.pages.len() == self.pages.capacity() {
            self.make_room();
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.pages.push([self.empty; N]);
            self.owners.push(0);
            self.pages.len() as u32 - 1
        });
        self.owners[place as usize] = index;
        match self.list.get_mut(index as usize) {
            Some(listed) => *listed = place,
            None => self.table.put(index, place),
        }
        place
    }

    /// Frees the pages that are empty, and makes room for half as many more as are left.
    #[inline(never)]
    fn make_room(&mut self) {
        for (place, (page, &owner)) in (0..).zip(self.pages.iter().zip(&self.owners)) {
            if page.iter().all(|value| *value == self.empty) {
                self.free.push(place);
                if let Some(listed) = self.list.get_mut(owner as usize) {
                    *listed = NONE;
                }
            }
        }
        let used = self.pages.len() - self.free.len();
        let mut wanted = used + used / 2 + LEAST_PAGES;
        if !self.list.is_empty() {
            wanted = wanted.min(self.list.len());
        }
        let more = wanted.saturating_sub(self.pages.len());
        self.pages.reserve_exact(more);
        self.owners.reserve_exact(more);
        if self.list.is_empty() {
            self.table.clear(self.pages.capacity());
            let mut free = self.free.iter().peekable();
            for (place, &owner) in (0..).zip(&self.owners) {
                // The free ones are in order.
                if free.next_if_eq(&&place).is_none() {
                    self.table.put(owner, place);
                }
            }
        }
    }

    /// Puts `empty` everywhere.
    pub fn clear(&mut self) {
        self.list.fill(NONE);
        self.table = Table::default();
        (self.pages, self.owners, self.free) = (Vec::new(), Vec::new(), Vec::new());
    }

    #[inline]
    pub fn get(&self, number: u64) -> T {
        let page = self.page(number / N as u64);
        page.map_or(self.empty, |values| values[(number % N as u64) as usize])
    }

    /// Where the value of `number` is, if there is a page of it.
    #[inline]
    pub fn at_mut(&mut self, number: u64) -> Option<&mut T> {
        let values = self.page_mut(number / N as u64)?;
        Some(&mut values[(number % N as u64) as usize])
    }

    /// The same, made if there is none.
    #[inline]
    pub fn made_at(&mut self, number: u64) -> &mut T {
        &mut self.made(number / N as u64)[(number % N as u64) as usize]
    }

    /// Asks for the line that holds `number`.
    #[inline]
    pub fn foresee(&self, number: u64) {
        if let Some(values) = self.page(number / N as u64) {
            prefetch(values, (number % N as u64) as u32);
        }
    }
}

fn is_listed(pages: u64, most: u64) -> bool {
    pages <= most.saturating_mul(LISTED)
}

/// Where the pages of numbers are, by a scattered number; taken places are followed by others.
#[derive(Clone, Debug, Default)]
struct Table {
    /// The number plus one and the place; half of the slots at least are 0. A power of two.
    slots: Vec<(u64, u32)>,
    shift: u32,
}

impl Table {
    /// Slots in which a number is sought, from the first on.
    #[inline]
    fn first(&self, key: u64) -> usize {
        /// 2^64 over the golden ratio: scatters numbers that lie at even distances.
        const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;
        (key.wrapping_mul(SCATTER) >> self.shift) as usize
    }

    #[inline]
    fn place(&self, index: u64) -> u32 {
        if self.slots.is_empty() {
            return NONE;
        }
        let mut at = self.first(index + 1);
        loop {
            let (key, place) = self.slots[at];
            if key == index + 1 {
                return place;
            }
            if key == 0 {
                return NONE;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Notes where a number is that is not in the table.
    fn put(&mut self, index: u64, place: u32) {
        let mut at = self.first(index + 1);
        while self.slots[at].0 != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = (index + 1, place);
    }

    /// Forgets all; there is room for `count` then.
    fn clear(&mut self, count: usize) {
        let slots = (2 * count).next_power_of_two();
        self.shift = u64::BITS - slots.trailing_zeros();
        self.slots = Vec::new();
        self.slots = vec![(0, 0); slots];
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const EMPTY: u32 = 7;

    /// A number of few pages, or of many.
    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![
            0_u64..40,
            0_u64..4_000,
            (0_u64..1_000).prop_map(|one| one << 24)
        ]
    }

    proptest! {
        /// Against a tree of the values that are not empty; with a list and with a table.
        #[test]
        fn a_value_is_the_one_that_was_put_there_last(
            is_listed in any::<bool>(),
            acts in proptest::collection::vec((any::<bool>(), number(), 0_u32..EMPTY), 0..900)
        ) {
            let count = 1_000 << 24;
            let most = if is_listed { count } else { 1 };
            let count = if is_listed { 4_000 } else { count };
            let (mut paged, mut tree) = (Paged::<u32, 4>::new(EMPTY, count, most), BTreeMap::new());
            for (is_made, number, value) in acts {
                let number = number % count;
                if is_made {
                    *paged.made_at(number) = value;
                    tree.insert(number, value);
                } else if let Some(place) = paged.at_mut(number) {
                    prop_assert_eq!(*place, tree.remove(&number).unwrap_or(EMPTY));
                    *place = EMPTY;
                } else {
                    prop_assert!(!tree.contains_key(&number));
                }
                prop_assert_eq!(paged.get(number), *tree.get(&number).unwrap_or(&EMPTY));
                let near = number ^ 5;
                prop_assert_eq!(paged.get(near), *tree.get(&near).unwrap_or(&EMPTY));
            }
            for (&number, &value) in &tree {
                prop_assert_eq!(paged.get(number), value);
            }
        }
    }

    #[test]
    fn the_places_of_empty_pages_are_used_again_and_no_more_are_made() {
        for most in [1_000, 1 << 40] {
            let mut paged: Paged<u32, 4> = Paged::new(EMPTY, 1 << 20, most);
            for number in 0..1 << 20 {
                *paged.made_at(number) = 1;
                if let Some(before) = number.checked_sub(1_000) {
                    *paged.at_mut(before).unwrap() = EMPTY;
                }
            }
            assert!(paged.pages.len() <= 1_000 / 4 * 3 / 2 + LEAST_PAGES + 2);
            assert_eq!(paged.get((1 << 20) - 1_001), EMPTY);
            assert_eq!(paged.get((1 << 20) - 1_000), 1);
        }
    }
}
