//! One value for each chunk of a device, of which most have none yet: pages are made when one of
//! their chunks gets a value.

/// Chunks of one page.
const PAGE: usize = 4_096;

/// Values by number; `empty` where none was set.
#[derive(Clone, Debug)]
pub(super) struct Table<T> {
    pages: Vec<Option<Box<[T; PAGE]>>>,
    empty: T,
}

impl<T: Copy + PartialEq> Table<T> {
    pub fn new(empty: T) -> Self {
        Self {
            pages: Vec::new(),
            empty,
        }
    }

    #[inline]
    pub fn get(&self, number: u32) -> T {
        let (page, place) = (number as usize / PAGE, number as usize % PAGE);
        match self.pages.get(page) {
            Some(Some(values)) => values[place],
            Some(None) | None => self.empty,
        }
    }

    #[inline]
    pub fn set(&mut self, number: u32, value: T) {
        *self.place(number) = value;
    }

    /// Where the value of `number` is kept, to be changed there.
    #[inline]
    pub fn place(&mut self, number: u32) -> &mut T {
        let (page, place) = (number as usize / PAGE, number as usize % PAGE);
        if !matches!(self.pages.get(page), Some(Some(_))) {
            self.make(page);
        }
        let values = self.pages[page].as_mut().expect("it was made");
        &mut values[place]
    }

    #[cold]
    fn make(&mut self, page: usize) {
        if page >= self.pages.len() {
            self.pages.resize(page + 1, None);
        }
        self.pages[page] = Some(Box::new([self.empty; PAGE]));
    }

    /// Changes every value there is a page for.
    pub fn change(&mut self, of: impl Fn(T) -> T) {
        let pages = self.pages.iter_mut().flatten();
        let values = pages.flat_map(|values| values.iter_mut());
        values.for_each(|value| *value = of(*value));
    }

    /// The values that are not empty, by rising number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, T)> + '_ {
        let pages = self.pages.iter().enumerate();
        let made = pages.filter_map(|(page, values)| values.as_ref().map(|values| (page, values)));
        let all = made.flat_map(|(page, values)| {
            let first = page * PAGE;
            let numbered = values.iter().enumerate();
            numbered.map(move |(place, &value)| ((first + place) as u32, value))
        });
        all.filter(|&(_, value)| value != self.empty)
    }

    pub fn clear(&mut self) {
        self.pages.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_where_it_was_set_and_nowhere_else() {
        let mut table = Table::new(u32::MAX);
        for number in [0, 4_095, 4_096, 1_000_000] {
            table.set(number, number / 2);
        }
        assert_eq!(table.get(4_095), 2_047);
        assert_eq!(table.get(4_094), u32::MAX);
        assert_eq!(table.get(u32::MAX), u32::MAX);
        let all: Vec<u32> = table.iter().map(|(number, _)| number).collect();
        assert_eq!(all, [0, 4_095, 4_096, 1_000_000]);
        table.clear();
        assert_eq!(table.iter().count(), 0);
    }
}
