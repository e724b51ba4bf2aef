//! Values in numbered places that are used again.

#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Slab<T> {
    pub fn new() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Puts `value` in a free place and returns its number.
    pub fn put(&mut self, value: T) -> usize {
        if let Some(place) = self.free.pop() {
            self.places[place] = Some(value);
            return place;
        }
        self.places.push(Some(value));
        self.places.len() - 1
    }

    pub fn at(&mut self, place: usize) -> &mut T {
        self.places[place].as_mut().expect("the place is taken")
    }

    pub fn take(&mut self, place: usize) -> T {
        self.free.push(place);
        self.places[place].take().expect("the place is taken")
    }
}
