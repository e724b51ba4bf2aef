//! What was written last and is still volatile: as much as a write buffer without power-loss
//! protection holds, oldest out first, emptied by a flush.

use std::collections::VecDeque;

use crate::stretches::{union, Stretch};

const SECTOR_BYTES: u64 = 512;

#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    room_bytes: u64,
    held_bytes: u64,
    /// (number of the write, stretch), oldest first.
    writes: VecDeque<(u64, Stretch)>,
    next: u64,
}

impl Window {
    /// Of `room_bytes`, less what is no whole sector.
    pub fn new(room_bytes: u64) -> Self {
        Self {
            room_bytes: room_bytes / SECTOR_BYTES * SECTOR_BYTES,
            ..Self::default()
        }
    }

    /// A write was acknowledged. What has no room any more is durable, and of one larger than
    /// the window its end alone is not.
    pub fn put(&mut self, (offset_bytes, length_bytes): Stretch) {
        let held_bytes = length_bytes.min(self.room_bytes);
        if held_bytes == 0 {
            return;
        }
        let end = offset_bytes + length_bytes;
        let stretch = (end - held_bytes, held_bytes);
        self.writes.push_back((self.next, stretch));
        self.next += 1;
        self.held_bytes += held_bytes;
        while self.held_bytes > self.room_bytes {
            let over = self.held_bytes - self.room_bytes;
            let Some((_, (offset, length))) = self.writes.front_mut() else {
                return;
            };
            let gone = over.min(*length);
            (*offset, *length) = (*offset + gone, *length - gone);
            self.held_bytes -= gone;
            if *length == 0 {
                self.writes.pop_front();
            }
        }
    }

    /// Where a flush that arrives now stands.
    pub fn mark(&self) -> u64 {
        self.next
    }

    /// A flush has ended: what was acknowledged before its mark is durable.
    pub fn flush(&mut self, mark: u64) {
        while let Some(&(number, (_, length))) = self.writes.front() {
            if number >= mark {
                return;
            }
            self.writes.pop_front();
            self.held_bytes -= length;
        }
    }

    /// Power fails: everything in it, overlapping stretches as one, in order of address.
    pub fn lose(&mut self) -> Vec<Stretch> {
        let writes: Vec<Stretch> = self.writes.drain(..).map(|(_, stretch)| stretch).collect();
        self.held_bytes = 0;
        union(writes)
    }

    /// What is in it; stretches may overlap.
    pub fn stretches(&self) -> impl Iterator<Item = Stretch> + '_ {
        self.writes.iter().map(|&(_, stretch)| stretch)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const S: u64 = SECTOR_BYTES;

    #[test]
    fn the_last_bytes_are_lost_and_no_byte_twice() {
        let mut window = Window::new(10 * S + 5);
        window.put((0, 6 * S));
        window.put((100 * S, 6 * S));
        assert_eq!(window.clone().lose(), [(2 * S, 4 * S), (100 * S, 6 * S)]);
        window.put((101 * S, 3 * S));
        assert_eq!(window.clone().lose(), [(5 * S, S), (100 * S, 6 * S)]);
        window.put((500 * S, 30 * S));
        assert_eq!(window.lose(), [(520 * S, 10 * S)]);
        assert_eq!(window.lose(), []);
    }

    #[test]
    fn a_flush_saves_what_was_acknowledged_when_it_came() {
        let mut window = Window::new(100 * S);
        window.put((0, S));
        let mark = window.mark();
        window.put((50 * S, S));
        window.flush(mark);
        assert_eq!(window.lose(), [(50 * S, S)]);
        let mut none = Window::new(0);
        none.put((0, S));
        assert_eq!(none.lose(), []);
    }

    proptest! {
        /// Sector by sector: the last ones put in, less what was there at the last flush.
        #[test]
        fn what_is_lost_is_what_a_list_of_single_sectors_says(
            room in 0..40_u64,
            acts in prop::collection::vec((0..60_u64, 0..30_u64), 0..60),
        ) {
            let mut window = Window::new(room * S);
            let mut list: VecDeque<u64> = VecDeque::new();
            for (offset, length) in acts {
                if length == 0 {
                    window.flush(window.mark());
                    list.clear();
                    continue;
                }
                window.put((offset * S, length * S));
                list.extend(offset..offset + length);
                let over = list.len().saturating_sub(room as usize);
                list.drain(..over);
            }
            let expected: BTreeSet<u64> = list.into_iter().collect();
            let lost = window.lose().into_iter();
            let lost: Vec<u64> = lost.flat_map(|(at, length)| at / S..(at + length) / S).collect();
            prop_assert_eq!(lost, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
