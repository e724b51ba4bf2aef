//! Ranges of bytes that are dirty: kept sorted, neighbours joined, with the windows that are dirty
//! from end to end at hand. Nothing here knows time or devices.

use std::collections::{BTreeMap, BTreeSet};

/// A range of bytes: from, to.
pub(crate) type Span = (u64, u64);

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
    /// Where each extent ends, by where it begins; no two touch.
    ends: BTreeMap<u64, u64>,
    /// Numbers of the windows that lie wholly in the set.
    whole: BTreeSet<u64>,
    bytes: u64,
    window_bytes: u64,
    capacity_bytes: u64,
}

impl Extents {
    pub fn new(window_bytes: u64, capacity_bytes: u64) -> Self {
        Self {
            ends: BTreeMap::new(),
            whole: BTreeSet::new(),
            bytes: 0,
            window_bytes,
            capacity_bytes,
        }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The extents in order.
    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.ends.iter().map(|(&from, &to)| (from, to))
    }

    fn window(&self, number: u64) -> Span {
        let from = number * self.window_bytes;
        (from, (from + self.window_bytes).min(self.capacity_bytes))
    }

    /// Adds a range; returns how many of its bytes were not in the set.
    pub fn add(&mut self, (from, to): Span) -> u64 {
        let mut near = self.ends.range_mut(..=to);
        let joined = match near.next_back() {
            Some((_, end)) if *end < from => {
                self.ends.insert(from, to);
                self.bytes += to - from;
                return self.note_whole((from, to), (from, to), to - from);
            }
            Some((&start, end)) if start <= from => {
                let new_bytes = to.saturating_sub(*end);
                *end = to.max(*end);
                self.bytes += new_bytes;
                let end = *end;
                return self.note_whole((from, to), (start, end), new_bytes);
            }
            Some((_, end)) => (from, to.max(*end)),
            None => (from, to),
        };
        self.add_over((from, to), joined.1)
    }

    /// The same where extents begin within the range.
    fn add_over(&mut self, (from, to): Span, last_end: u64) -> u64 {
        let (mut start, mut held_bytes) = (from, 0);
        while let Some((&one, &end)) = self.ends.range(..=to).next_back() {
            if end < from {
                break;
            }
            held_bytes += end.min(to).saturating_sub(one.max(from));
            start = start.min(one);
            self.ends.remove(&one);
        }
        self.ends.insert(start, last_end);
        let new_bytes = to - from - held_bytes;
        self.bytes += new_bytes;
        self.note_whole((from, to), (start, last_end), new_bytes)
    }

    /// Notes the windows of `added` that `extent` now covers.
    fn note_whole(&mut self, added: Span, extent: Span, new_bytes: u64) -> u64 {
        let may = extent.1 - extent.0 >= self.window_bytes || extent.1 == self.capacity_bytes;
        if new_bytes > 0 && may {
            for number in added.0 / self.window_bytes..=(added.1 - 1) / self.window_bytes {
                let (from, to) = self.window(number);
                if extent.0 <= from && to <= extent.1 {
                    self.whole.insert(number);
                }
            }
        }
        new_bytes
    }

    /// Takes a range out; returns how many of its bytes were in the set.
    pub fn cut(&mut self, (from, to): Span) -> u64 {
        let mut held_bytes = 0;
        while let Some((&start, &end)) = self.ends.range(..to).next_back() {
            if end <= from {
                break;
            }
            held_bytes += end.min(to) - start.max(from);
            if start < from {
                self.ends.insert(start, from);
            } else {
                self.ends.remove(&start);
            }
            if to < end {
                self.ends.insert(to, end);
            }
        }
        if held_bytes > 0 {
            self.forget_whole((from, to));
        }
        self.bytes -= held_bytes;
        held_bytes
    }

    /// Takes out a range that lies in the set as a whole.
    pub fn take(&mut self, span: Span) {
        let Some(end) = self.ends.remove(&span.0) else {
            self.cut(span);
            return;
        };
        if span.1 < end {
            self.ends.insert(span.1, end);
        }
        self.bytes -= span.1 - span.0;
        self.forget_whole(span);
    }

    /// Windows that reach into `cut` are whole no longer.
    fn forget_whole(&mut self, cut: Span) {
        if !self.whole.is_empty() {
            for number in cut.0 / self.window_bytes..=(cut.1 - 1) / self.window_bytes {
                self.whole.remove(&number);
            }
        }
    }

    /// How much of `span` is in the set.
    #[inline]
    pub fn cover(&self, (from, to): Span) -> Cover {
        if self.bytes == 0 {
            return Cover::None;
        }
        match self.ends.range(..to).next_back() {
            Some((&start, &end)) if start <= from && to <= end => Cover::Whole,
            Some((_, &end)) if from < end => Cover::Part,
            Some(_) | None => Cover::None,
        }
    }

    /// The parts of `span` in the set, last one first.
    pub fn within(&self, (from, to): Span) -> impl Iterator<Item = Span> + '_ {
        let near = self.ends.range(..to).rev();
        near.map(move |(&start, &end)| (start.max(from), end.min(to)))
            .take_while(|(start, end)| start < end)
    }

    /// Bytes of `span` in the set.
    pub fn covered(&self, span: Span) -> u64 {
        if self.bytes == 0 {
            return 0;
        }
        self.within(span).map(|(from, to)| to - from).sum()
    }

    /// Takes what is in the set out of `spans`.
    pub fn subtract_from(&self, spans: &mut Vec<Span>) {
        if self.bytes == 0 {
            return;
        }
        for index in 0..spans.len() {
            let (from, mut to) = spans[index];
            for (start, end) in self.within((from, to)) {
                if end < to {
                    spans.push((end, to));
                }
                to = start;
            }
            spans[index].1 = to;
        }
        spans.retain(|(from, to)| from < to);
        spans.sort_unstable();
    }

    /// The first whole window from `cursor_bytes` on, around the end of the device.
    pub fn next_whole(&self, cursor_bytes: u64) -> Option<Span> {
        let first = cursor_bytes.div_ceil(self.window_bytes);
        let next = self.whole.range(first..).next();
        next.or(self.whole.first())
            .map(|&number| self.window(number))
    }

    /// The first dirty bytes from `cursor_bytes` on, around the end of the device, as far as they
    /// lie together in one window.
    pub fn next_part(&self, cursor_bytes: u64) -> Option<Span> {
        let next = self.ends.range(cursor_bytes..).next();
        let (&from, &end) = next.or_else(|| self.ends.first_key_value())?;
        let window_end = self.window(from / self.window_bytes).1;
        Some((from, end.min(window_end)))
    }
}

/// A few ranges in order, none of which overlap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flying {
    spans: Vec<Span>,
    bytes: u64,
}

impl Flying {
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// How many end at `at` or before.
    #[inline]
    fn before(&self, at: u64) -> usize {
        self.spans.partition_point(|one| one.1 <= at)
    }

    pub fn add(&mut self, span: Span) {
        self.bytes += span.1 - span.0;
        self.spans.insert(self.before(span.0), span);
    }

    pub fn remove(&mut self, span: Span) {
        let place = self.before(span.0);
        let removed = self.spans.remove(place);
        assert_eq!(removed, span, "it was added");
        self.bytes -= span.1 - span.0;
    }

    /// Whether a range lies partly in them.
    pub fn meets(&self, (from, to): Span) -> bool {
        let next = self.spans.get(self.before(from));
        next.is_some_and(|one| one.0 < to)
    }

    /// Takes what is in them out of `spans`.
    pub fn subtract_from(&self, spans: &mut Vec<Span>) {
        for &(start, end) in &self.spans {
            for index in 0..spans.len() {
                let (from, to) = spans[index];
                if start < to && from < end {
                    spans[index].1 = to.min(start).max(from);
                    if end < to {
                        spans.push((end, to));
                    }
                }
            }
        }
        spans.retain(|(from, to)| from < to);
        spans.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CAPACITY: u64 = 200;

    /// The same set as one flag a byte.
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

    proptest! {
        #[test]
        fn a_set_of_extents_is_the_set_of_its_bytes(
            window in 1_u64..40,
            acts in prop::collection::vec((any::<bool>(), 0..CAPACITY, 1_u64..60), 1..60),
        ) {
            let mut set = Extents::new(window, CAPACITY);
            let mut held = [false; CAPACITY as usize];
            for (adds, from, length) in acts {
                let to = (from + length).min(CAPACITY);
                let bytes = &mut held[from as usize..to as usize];
                let had = bytes.iter().filter(|&&byte| byte).count() as u64;
                prop_assert_eq!(set.covered((from, to)), had);
                let cover = match had {
                    0 => Cover::None,
                    had if had == to - from => Cover::Whole,
                    _ => Cover::Part,
                };
                prop_assert_eq!(set.cover((from, to)), cover);
                let mut gaps = vec![(from, to)];
                set.subtract_from(&mut gaps);
                let missing: Vec<bool> = bytes.iter().map(|byte| !byte).collect();
                let missing = spans_of(&missing).into_iter().map(|(a, b)| (a + from, b + from));
                prop_assert_eq!(gaps, missing.collect::<Vec<_>>());
                if adds {
                    prop_assert_eq!(set.add((from, to)), to - from - had);
                } else if cover == Cover::Whole {
                    set.take((from, to));
                } else {
                    prop_assert_eq!(set.cut((from, to)), had);
                }
                bytes.fill(adds);
                prop_assert_eq!(set.spans().collect::<Vec<_>>(), spans_of(&held));
                prop_assert_eq!(set.bytes(), held.iter().filter(|&&byte| byte).count() as u64);
                let whole = (0..CAPACITY.div_ceil(window)).filter(|number| {
                    let end = ((number + 1) * window).min(CAPACITY);
                    held[(number * window) as usize..end as usize].iter().all(|&byte| byte)
                });
                prop_assert_eq!(set.whole.iter().copied().collect::<Vec<_>>(),
                    whole.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn ranges_in_flight_are_taken_out_wherever_they_lie() {
        let mut flying = Flying::default();
        for span in [(50, 60), (10, 20), (30, 35)] {
            flying.add(span);
        }
        let mut spans = vec![(0, 12), (15, 18), (19, 55), (59, 70)];
        flying.subtract_from(&mut spans);
        assert_eq!(spans, [(0, 10), (20, 30), (35, 50), (60, 70)]);
        assert!(flying.meets((19, 25)) && !flying.meets((20, 30)));
        flying.remove((10, 20));
        assert!(!flying.meets((0, 30)));
        assert_eq!(flying.bytes(), 15);
    }

    #[test]
    fn what_is_next_goes_upwards_and_around_and_stays_within_a_window() {
        let mut set = Extents::new(10, CAPACITY);
        for span in [(3, 5), (18, 45), (190, 200)] {
            set.add(span);
        }
        assert_eq!(set.next_part(0), Some((3, 5)));
        assert_eq!(set.next_part(4), Some((18, 20)));
        assert_eq!(set.next_part(191), Some((3, 5)));
        assert_eq!(set.next_whole(0), Some((20, 30)));
        assert_eq!(set.next_whole(21), Some((30, 40)));
        assert_eq!(set.next_whole(41), Some((190, 200)));
        set.cut((195, 196));
        assert_eq!(set.next_whole(41), Some((20, 30)));
    }
}
