//! Discards by the host that are under way below.

use super::super::pair::Range;

/// (host request, what it discards) by numbers that are used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Discards {
    places: Vec<(usize, Range)>,
    free: Vec<u32>,
}

impl Discards {
    /// Its number.
    pub fn put(&mut self, request: usize, range: Range) -> u32 {
        if let Some(number) = self.free.pop() {
            self.places[number as usize] = (request, range);
            return number;
        }
        self.places.push((request, range));
        self.places.len() as u32 - 1
    }

    pub fn offset_bytes(&self, number: u32) -> u64 {
        self.places[number as usize].1.offset_bytes
    }

    pub fn take(&mut self, number: u32) -> (usize, Range) {
        self.free.push(number);
        self.places[number as usize]
    }
}
