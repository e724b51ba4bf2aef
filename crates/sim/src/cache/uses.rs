//! Uses of units, numbered in their order, the first of which are forgotten one by one.

/// Uses are numbered up to this, then they are counted anew; in tests that is often.
const MOST_NUMBER: u32 = if cfg!(test) { 200 } else { (1 << 31) - 2 };
/// Uses that there is room for besides two for each unit.
const MORE_USES: usize = if cfg!(test) { 4 } else { 1 << 12 };

/// One use of a unit, and the fetch that was to bring it then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    pub unit: u64,
    pub fetch: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Uses {
    /// Each stands where the last bits of its number say: so many places there are.
    places: Vec<Use>,
    /// The numbers of the first one, and of the next.
    first: u32,
    next: u32,
}

impl Uses {
    pub fn new() -> Self {
        Self {
            places: vec![Use::default()],
            first: 0,
            next: 0,
        }
    }

    /// What such a one takes at the most for `units`: as it grows it is copied.
    pub fn need_bytes(units: u64) -> u64 {
        let uses = units.saturating_mul(2).saturating_add(MORE_USES as u64);
        let places = uses.checked_next_power_of_two().unwrap_or(uses);
        places.saturating_mul(size_of::<Use>() as u64 * 3 / 2)
    }

    #[inline]
    fn len(&self) -> usize {
        (self.next - self.first) as usize
    }

    #[inline]
    fn place(&self, number: u32) -> usize {
        number as usize & (self.places.len() - 1)
    }

    /// The use of that number, which is there.
    #[inline]
    pub fn at(&self, number: u32) -> Use {
        self.places[self.place(number)]
    }

    /// All of them with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, Use)> + '_ {
        (self.first..self.next).map(|number| (number, self.at(number)))
    }

    /// Whether there is room for no more.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len() == self.places.len() || self.next >= MOST_NUMBER
    }

    /// Whether those that do not count shall be forgotten, of which all but `units` are.
    pub fn are_many(&self, units: usize) -> bool {
        self.next >= MOST_NUMBER || self.len() >= 2 * units + MORE_USES
    }

    /// Makes room for twice as many, if there is room for no more.
    pub fn grow(&mut self) {
        if self.len() < self.places.len() {
            return;
        }
        let mut places = vec![Use::default(); 2 * self.places.len()];
        for (number, one) in self.numbered() {
            let place = number as usize & (places.len() - 1);
            places[place] = one;
        }
        self.places = places;
    }

    /// Notes a use, for which there is room; returns its number.
    #[inline]
    pub fn push(&mut self, one: Use) -> u32 {
        let (number, place) = (self.next, self.place(self.next));
        self.places[place] = one;
        self.next += 1;
        number
    }

    /// Forgets the first one.
    #[inline]
    pub fn pop(&mut self) -> Option<(u32, Use)> {
        let number = self.first;
        if number == self.next {
            return None;
        }
        self.first += 1;
        Some((number, self.at(number)))
    }

    /// The one that has `before` others before it.
    #[inline]
    pub fn ahead(&self, before: usize) -> Option<Use> {
        (before < self.len()).then(|| self.at(self.first + before as u32))
    }

    /// Forgets all, and numbers from 0 on.
    pub fn clear(&mut self) {
        (self.first, self.next) = (0, 0);
    }
}
