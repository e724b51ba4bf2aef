//! Values by number, in pages that are there only where one is not empty: what most of a large
//! address space has none of takes next to no memory, and one look finds what there is.

use crate::memory::prefetch;

/// There is no page.
const NONE: u32 = u32::MAX;

/// Values by number, `N` in a page; `empty` where there is no page.
#[derive(Clone, Debug)]
pub(crate) struct Paged<T, const N: usize> {
    /// Which of `pages` is that of each `N` numbers.
    places: Vec<u32>,
    pages: Vec<[T; N]>,
    free: Vec<u32>,
    empty: T,
}

impl<T: Copy, const N: usize> Paged<T, N> {
    pub fn new(empty: T) -> Self {
        Self {
            places: Vec::new(),
            pages: Vec::new(),
            free: Vec::new(),
            empty,
        }
    }

    /// The values from `N` times `index` on, if there is a page of them.
    #[inline]
    pub fn page(&self, index: usize) -> Option<&[T; N]> {
        self.pages.get(*self.places.get(index)? as usize)
    }

    /// The same, to be changed.
    #[inline]
    pub fn page_mut(&mut self, index: usize) -> Option<&mut [T; N]> {
        self.pages.get_mut(*self.places.get(index)? as usize)
    }

    /// The same, made if there is none.
    #[inline]
    pub fn made(&mut self, index: usize) -> &mut [T; N] {
        let place = match self.places.get(index) {
            Some(&place) if place != NONE => place,
            _ => self.make(index),
        };
        &mut self.pages[place as usize]
    }

    fn make(&mut self, index: usize) -> u32 {
        if index >= self.places.len() {
            self.places.resize(index + 1, NONE);
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.pages.push([self.empty; N]);
            self.pages.len() as u32 - 1
        });
        self.places[index] = place;
        place
    }

    /// Takes a page away, all of whose values are empty again.
    pub fn release(&mut self, index: usize) {
        let place = std::mem::replace(&mut self.places[index], NONE);
        self.free.push(place);
    }

    #[inline]
    pub fn get(&self, number: u64) -> T {
        let page = self.page((number / N as u64) as usize);
        page.map_or(self.empty, |values| values[(number % N as u64) as usize])
    }

    /// Where the value of `number` is, if there is a page of it.
    #[inline]
    pub fn at_mut(&mut self, number: u64) -> Option<&mut T> {
        let values = self.page_mut((number / N as u64) as usize)?;
        Some(&mut values[(number % N as u64) as usize])
    }

    /// The same, made if there is none.
    #[inline]
    pub fn made_at(&mut self, number: u64) -> &mut T {
        &mut self.made((number / N as u64) as usize)[(number % N as u64) as usize]
    }

    /// Asks for the line that holds `number`.
    #[inline]
    pub fn foresee(&self, number: u64) {
        if let Some(values) = self.page((number / N as u64) as usize) {
            prefetch(values, (number % N as u64) as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_where_it_was_put_and_a_page_is_used_again() {
        let mut paged: Paged<u32, 4> = Paged::new(7);
        assert_eq!((paged.get(0), paged.get(1_000)), (7, 7));
        paged.made(2)[1] = 1;
        paged.made(250)[3] = 2;
        assert_eq!((paged.get(9), paged.get(8), paged.get(1_003)), (1, 7, 2));
        assert!(paged.page(3).is_none() && paged.page(9_999).is_none());
        paged.page_mut(2).unwrap()[1] = 7;
        paged.release(2);
        assert!(paged.page(2).is_none());
        paged.made(0)[0] = 3;
        assert_eq!(paged.pages.len(), 2, "the page that was given back");
        assert_eq!((paged.get(0), paged.get(9)), (3, 7));
    }
}
