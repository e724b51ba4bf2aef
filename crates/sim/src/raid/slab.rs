//! Places that are used again, by number.

/// Places that are used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Slab<T> {
    pub(super) places: Vec<T>,
    pub(super) free: Vec<usize>,
}

impl<T: Default> Slab<T> {
    /// The place that `put` takes next.
    #[inline]
    pub(super) fn next_place(&mut self) -> usize {
        if let Some(&place) = self.free.last() {
            return place;
        }
        let place = self.put(T::default());
        self.free.push(place);
        place
    }

    #[inline]
    pub(super) fn put(&mut self, value: T) -> usize {
        if let Some(place) = self.free.pop() {
            self.places[place] = value;
            return place;
        }
        self.places.push(value);
        self.places.len() - 1
    }
}
