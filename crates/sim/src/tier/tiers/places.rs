//! Where each chunk of a pair of tiers lies: on one of the two, in a place of its own, or nowhere
//! as long as it was never written. No time here.

use super::super::pair::Side;
use super::super::params::Placement;
use super::super::table::Table;

const NONE: u32 = u32::MAX;

/// A place on one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub side: Side,
    pub slot: u32,
}

/// The places of one tier.
#[derive(Clone, Debug)]
struct Store {
    count: u32,
    /// Places from here on were never used.
    next: u32,
    free: Vec<u32>,
}

impl Store {
    fn new(count: u32) -> Self {
        Self {
            count,
            next: 0,
            free: Vec::new(),
        }
    }

    fn take(&mut self) -> Option<u32> {
        let reused = self.free.pop();
        reused.or_else(|| {
            let fresh = (self.next < self.count).then_some(self.next)?;
            self.next += 1;
            Some(fresh)
        })
    }

    fn free(&self) -> u32 {
        self.count - self.next + self.free.len() as u32
    }
}

/// All places, and the chunks in them.
#[derive(Clone, Debug)]
pub(super) struct Places {
    fast: Store,
    slow: Store,
    /// Fast places first, then the slow ones.
    of_chunk: Table<u32>,
    /// The chunk in each fast place.
    in_fast: Table<u32>,
}

impl Places {
    pub fn new(fast: u32, slow: u32) -> Self {
        Self {
            fast: Store::new(fast),
            slow: Store::new(slow),
            of_chunk: Table::new(NONE),
            in_fast: Table::new(NONE),
        }
    }

    pub fn fast_count(&self) -> u32 {
        self.fast.count
    }

    pub fn fast_free(&self) -> u32 {
        self.fast.free()
    }

    /// Free places, fast and slow.
    #[cfg(test)]
    pub fn free(&self) -> (u32, u32) {
        (self.fast.free(), self.slow.free())
    }

    #[inline]
    pub fn find(&self, chunk: u32) -> Option<Place> {
        match self.of_chunk.get(chunk) {
            NONE => None,
            slot if slot < self.fast.count => Some(Place {
                side: Side::Fast,
                slot,
            }),
            slot => Some(Place {
                side: Side::Slow,
                slot: slot - self.fast.count,
            }),
        }
    }

    /// The chunk in a fast place.
    pub fn tenant(&self, slot: u32) -> Option<u32> {
        let chunk = self.in_fast.get(slot);
        (chunk != NONE).then_some(chunk)
    }

    /// A place on `side` that is nobody's until `put`.
    pub fn take(&mut self, side: Side) -> Option<Place> {
        let store = match side {
            Side::Fast => &mut self.fast,
            Side::Slow => &mut self.slow,
        };
        store.take().map(|slot| Place { side, slot })
    }

    /// A place for `chunk`, which had none, on the side that `placement` prefers.
    pub fn settle(&mut self, chunk: u32, placement: Placement) -> Option<Place> {
        let sides = match placement {
            Placement::Fast => [Side::Fast, Side::Slow],
            Placement::Slow => [Side::Slow, Side::Fast],
        };
        let place = sides.into_iter().find_map(|side| self.take(side))?;
        self.put(chunk, place);
        Some(place)
    }

    /// `chunk` is in `place` from now on; where it was is not given back.
    pub fn put(&mut self, chunk: u32, place: Place) {
        let number = match place.side {
            Side::Fast => {
                self.in_fast.set(place.slot, chunk);
                place.slot
            }
            Side::Slow => self.fast.count + place.slot,
        };
        self.of_chunk.set(chunk, number);
    }

    pub fn give_back(&mut self, place: Place) {
        match place.side {
            Side::Fast => {
                self.in_fast.set(place.slot, NONE);
                self.fast.free.push(place.slot);
            }
            Side::Slow => self.slow.free.push(place.slot),
        }
    }

    /// Each chunk that has a place, and whether that is a fast one.
    pub fn chunks(&self) -> impl Iterator<Item = (u32, bool)> + '_ {
        let all = self.of_chunk.iter();
        all.map(|(chunk, number)| (chunk, number < self.fast.count))
    }

    pub fn clear(&mut self) {
        *self = Self::new(self.fast.count, self.slow.count);
    }

    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let places = self.of_chunk.iter();
        let places = places.flat_map(|(chunk, number)| [u64::from(chunk), u64::from(number)]);
        places.chain([u64::from(self.fast.free()), u64::from(self.slow.free())])
    }
}
