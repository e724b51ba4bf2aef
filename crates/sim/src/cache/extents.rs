//! Ranges of bytes that are dirty, with the windows that are dirty from end to end at hand.
//! Nothing here knows time or devices.

use std::collections::BTreeSet;

pub(crate) use super::sectors::Span;
use super::sectors::{begins_word, last_word_end, Sectors};

/// How much of a range is in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cover {
    None,
    Part,
    Whole,
}

/// A set of bytes. Windows lie at multiples of `window_bytes`, the last one ends with the device.
#[derive(Clone, Debug)]
pub(crate) struct Extents {
    sectors: Sectors,
    /// Numbers of the windows that lie wholly in the set.
    whole: BTreeSet<u64>,
    /// Where the last window that is made of whole words ends.
    words_end: u64,
    window_bytes: u64,
    capacity_bytes: u64,
}

impl Extents {
    /// For a device of `capacity_bytes`, of which about `most_bytes` are in the set at a time.
    pub fn new(window_bytes: u64, capacity_bytes: u64, most_bytes: u64) -> Self {
        let of_words = begins_word(window_bytes);
        Self {
            sectors: Sectors::new(capacity_bytes, most_bytes),
            whole: BTreeSet::new(),
            words_end: if of_words {
                last_word_end(capacity_bytes)
            } else {
                0
            },
            window_bytes,
            capacity_bytes,
        }
    }

    /// What such a one takes at the most.
    pub fn need_bytes(capacity_bytes: u64, most_bytes: u64) -> u64 {
        Sectors::need_bytes(capacity_bytes, most_bytes)
    }

    #[inline]
    pub fn bytes(&self) -> u64 {
        self.sectors.bytes()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes() == 0
    }

    /// The extents in order.
    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.sectors.spans()
    }

    /// The number of the window at `at_bytes`.
    #[inline]
    fn window_at(&self, at_bytes: u64) -> u64 {
        // Nearly all sizes are powers of two, and a division takes long.
        if self.window_bytes.is_power_of_two() {
            at_bytes >> self.window_bytes.trailing_zeros()
        } else {
            at_bytes / self.window_bytes
        }
    }

    /// Where the window at `at_bytes` ends.
    #[inline]
    fn window_end(&self, at_bytes: u64) -> u64 {
        let end = if self.window_bytes.is_power_of_two() {
            (at_bytes | (self.window_bytes - 1)) + 1
        } else {
            (at_bytes / self.window_bytes + 1) * self.window_bytes
        };
        end.min(self.capacity_bytes)
    }

    fn window(&self, number: u64) -> Span {
        let from = number * self.window_bytes;
        (from, (from + self.window_bytes).min(self.capacity_bytes))
    }

    /// Asks for what is in the set where `span` begins, soon to be changed.
    #[inline]
    pub fn foresee(&self, span: Span) {
        self.sectors.foresee(span);
    }

    /// Adds a range; returns how many of its bytes were not in the set.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each I/O comes through here")]
    pub fn add(&mut self, span: Span) -> u64 {
        let (new_bytes, is_full) = self.sectors.add(span);
        if (is_full || self.ends_apart(span.1)) && new_bytes > 0 {
            self.note_whole(span);
        }
        new_bytes
    }

    /// Whether a window may be whole although no word of sectors is: its borders, or the end of the
    /// device, lie within words.
    #[inline]
    fn ends_apart(&self, to: u64) -> bool {
        to > self.words_end
    }

    /// Notes the windows of `added` that are in the set from end to end.
    #[inline(never)]
    fn note_whole(&mut self, added: Span) {
        for number in self.window_at(added.0)..=self.window_at(added.1 - 1) {
            let (from, to) = self.window(number);
            // One that grows upwards or downwards lacks its other end until it is whole.
            let has_ends = self.sectors.has(from) && self.sectors.has(to - 1);
            if has_ends && self.sectors.holds((from, to)) {
                self.whole.insert(number);
            }
        }
    }

    /// Takes a range out; returns how many of its bytes were in the set.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each I/O comes through here")]
    pub fn cut(&mut self, span: Span) -> u64 {
        let held_bytes = self.sectors.cut(span);
        if held_bytes > 0 && !self.whole.is_empty() {
            self.note_parts(span);
        }
        held_bytes
    }

    /// Windows that reach into `cut` are whole no longer.
    #[inline(never)]
    fn note_parts(&mut self, cut: Span) {
        for number in self.window_at(cut.0)..=self.window_at(cut.1 - 1) {
            self.whole.remove(&number);
        }
    }

    /// How much of `span` is in the set.
    #[inline]
    pub fn cover(&self, span: Span) -> Cover {
        match self.covered(span) {
            0 => Cover::None,
            bytes if bytes == span.1 - span.0 => Cover::Whole,
            _ => Cover::Part,
        }
    }

    /// Bytes of `span` in the set.
    #[inline]
    pub fn covered(&self, span: Span) -> u64 {
        self.sectors.covered(span)
    }

    /// Whether something of `span` is in the set.
    #[inline]
    pub fn meets(&self, span: Span) -> bool {
        self.sectors.meets(span)
    }

    /// Takes what is in the set out of `spans`, which are in order.
    pub fn subtract_from(&self, spans: &mut Vec<Span>) {
        self.sectors.subtract_from(spans);
    }

    /// A whole window, or else a part of one, from `cursor_bytes` on, around the end of the device.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each I/O comes through here")]
    pub fn next(&self, cursor_bytes: u64) -> Option<Span> {
        match self.next_whole(cursor_bytes) {
            Some(whole) => Some(whole),
            None => self.next_part(cursor_bytes),
        }
    }

    /// The first whole window from `cursor_bytes` on, around the end of the device.
    #[inline]
    pub fn next_whole(&self, cursor_bytes: u64) -> Option<Span> {
        if self.whole.is_empty() {
            return None;
        }
        self.next_of_whole(cursor_bytes)
    }

    #[inline(never)]
    fn next_of_whole(&self, cursor_bytes: u64) -> Option<Span> {
        let first = cursor_bytes.div_ceil(self.window_bytes);
        let next = self.whole.range(first..).next();
        next.or(self.whole.first())
            .map(|&number| self.window(number))
    }

    /// The first extent that begins at `cursor_bytes` or after, around the end of the device, as
    /// far as it lies in one window.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each I/O comes through here")]
    pub fn next_part(&self, cursor_bytes: u64) -> Option<Span> {
        if self.is_empty() {
            return None;
        }
        let run = self.sectors.next_begun(cursor_bytes);
        let (begin, end) = match run {
            Some(run) => run,
            None => self.next_begun(cursor_bytes)?,
        };
        let window_end = self.window_end(begin);
        if end < window_end && !begins_word(end) {
            return Some((begin, end));
        }
        Some((begin, self.sectors.ends(begin, window_end)))
    }

    /// The first run that begins at `cursor_bytes` or after, around the end of the device.
    #[inline(never)]
    fn next_begun(&self, cursor_bytes: u64) -> Option<Span> {
        // What goes on at the cursor began before it.
        let goes_on = cursor_bytes > 0 && self.sectors.has(cursor_bytes - 1);
        let first_bytes = if goes_on {
            self.sectors.ends(cursor_bytes, self.capacity_bytes)
        } else {
            cursor_bytes
        };
        let run = self.sectors.next_run(first_bytes);
        run.or_else(|| self.sectors.next_run(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: u64 = 512;
    /// Sectors: more than one page of them.
    const CAPACITY: u64 = 2_300;

    /// The same set as one flag a sector.
    fn spans_of(held: &[bool]) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for (at, _) in (0..).zip(held).filter(|(_, held)| **held) {
            match spans.last_mut() {
                Some(last) if last.1 == at => last.1 += 1,
                _ => spans.push((at, at + 1)),
            }
        }
        spans
    }

    fn in_bytes((from, to): Span) -> Span {
        (from * S, to * S)
    }

    /// A place in sectors, often near the border of a page.
    fn place() -> impl Strategy<Value = u64> {
        prop_oneof![0..CAPACITY, 1_000_u64..1_060]
    }

    proptest! {
        #[test]
        fn a_set_of_extents_is_the_set_of_its_sectors(
            most in prop_oneof![Just(0), Just(CAPACITY)],
            window in prop_oneof![1_u64..70, 1_000_u64..1_100, Just(64_u64), Just(2_048)],
            acts in prop::collection::vec(
                (any::<bool>(), place(), prop_oneof![1_u64..90, 1_u64..2_000]), 1..40),
        ) {
            let mut set = Extents::new(window * S, CAPACITY * S, most * S);
            let mut held = [false; CAPACITY as usize];
            for (adds, from, length) in acts {
                let to = (from + length).min(CAPACITY);
                let span = in_bytes((from, to));
                let sectors = &mut held[from as usize..to as usize];
                let had = sectors.iter().filter(|&&sector| sector).count() as u64;
                prop_assert_eq!(set.covered(span), had * S);
                prop_assert_eq!(set.meets(span), had > 0);
                let cover = match had {
                    0 => Cover::None,
                    had if had == to - from => Cover::Whole,
                    _ => Cover::Part,
                };
                prop_assert_eq!(set.cover(span), cover);
                let mut gaps = vec![span];
                set.subtract_from(&mut gaps);
                let missing: Vec<bool> = sectors.iter().map(|sector| !sector).collect();
                let missing = spans_of(&missing).into_iter();
                let missing = missing.map(|(a, b)| in_bytes((a + from, b + from)));
                prop_assert_eq!(gaps, missing.collect::<Vec<_>>());
                if adds {
                    prop_assert_eq!(set.add(span), (to - from - had) * S);
                } else {
                    prop_assert_eq!(set.cut(span), had * S);
                }
                sectors.fill(adds);
                let spans: Vec<Span> = spans_of(&held).into_iter().map(in_bytes).collect();
                prop_assert_eq!(set.spans().collect::<Vec<_>>(), spans.clone());
                let count = held.iter().filter(|&&sector| sector).count() as u64;
                prop_assert_eq!(set.bytes(), count * S);
                let begins = |cursor| spans.iter().copied().find(|span| span.0 >= cursor);
                let next = begins(span.0).or_else(|| begins(0));
                let window_bytes = window * S;
                let clipped = |(from, to): Span| {
                    (from, to.min((from / window_bytes + 1) * window_bytes))
                };
                prop_assert_eq!(set.next_part(span.0), next.map(clipped));
                let whole = (0..CAPACITY.div_ceil(window)).filter(|number| {
                    let end = ((number + 1) * window).min(CAPACITY);
                    held[(number * window) as usize..end as usize].iter().all(|&sector| sector)
                });
                prop_assert_eq!(set.whole.iter().copied().collect::<Vec<_>>(),
                    whole.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn what_is_next_goes_upwards_and_around_and_stays_within_a_window() {
        let mut set = Extents::new(10 * S, 200 * S, 200 * S);
        for span in [(3, 5), (18, 45), (190, 200)] {
            set.add(in_bytes(span));
        }
        let part = |at: u64| set.next_part(at * S);
        assert_eq!(part(0), Some(in_bytes((3, 5))));
        assert_eq!(part(4), Some(in_bytes((18, 20))));
        assert_eq!(part(191), Some(in_bytes((3, 5))));
        let whole = |set: &Extents, at: u64| set.next_whole(at * S);
        assert_eq!(whole(&set, 0), Some(in_bytes((20, 30))));
        assert_eq!(whole(&set, 21), Some(in_bytes((30, 40))));
        assert_eq!(whole(&set, 41), Some(in_bytes((190, 200))));
        set.cut(in_bytes((195, 196)));
        assert_eq!(whole(&set, 41), Some(in_bytes((20, 30))));
    }
}
