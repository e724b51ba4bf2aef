//! Ranges of bytes that are dirty: kept sorted, neighbours joined, with the windows that are dirty
//! from end to end at hand. Nothing here knows time or devices.

use std::collections::BTreeSet;

use crate::memory::prefetch;
use crate::numbers::Numbers;

/// A range of bytes: from, to.
pub(crate) type Span = (u64, u64);

/// Buckets of a set at the most; in tests few, so that one has several windows.
const MOST_BUCKETS: u64 = if cfg!(test) { 4 } else { 1 << 18 };

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
    /// The device in stretches of whole windows: what of each is in the set, in order, no two
    /// touching. An extent that crosses a border is in both.
    buckets: Vec<Vec<Span>>,
    /// Buckets that are not empty.
    filled: Numbers,
    /// Numbers of the windows that lie wholly in the set.
    whole: BTreeSet<u64>,
    bytes: u64,
    window_bytes: u64,
    bucket_bytes: u64,
    capacity_bytes: u64,
}

/// What of `spans` lies in [from, to), as places: from the first that ends after `from` on.
#[inline]
fn inside(spans: &[Span], (from, to): Span) -> std::ops::Range<usize> {
    let first = spans.partition_point(|span| span.1 <= from);
    let met = spans[first..].iter().take_while(|span| span.0 < to);
    first..first + met.count()
}

impl Extents {
    pub fn new(window_bytes: u64, capacity_bytes: u64) -> Self {
        let windows = capacity_bytes.div_ceil(window_bytes);
        Self {
            buckets: Vec::new(),
            filled: Numbers::new(),
            whole: BTreeSet::new(),
            bytes: 0,
            window_bytes,
            bucket_bytes: window_bytes * windows.div_ceil(MOST_BUCKETS).max(1),
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
        let filled = self.filled.iter();
        let mut parts = filled.flat_map(|bucket| self.bucket(u64::from(bucket)).iter().copied());
        let mut next = parts.next();
        std::iter::from_fn(move || {
            let mut span = next?;
            next = parts.next();
            while let Some(part) = next.filter(|part| part.0 == span.1) {
                span.1 = part.1;
                next = parts.next();
            }
            Some(span)
        })
    }

    fn window(&self, number: u64) -> Span {
        let from = number * self.window_bytes;
        (from, (from + self.window_bytes).min(self.capacity_bytes))
    }

    #[inline]
    fn bucket(&self, number: u64) -> &[Span] {
        self.buckets.get(number as usize).map_or(&[], Vec::as_slice)
    }

    /// Asks for what is in the set where `span` begins, soon to be changed.
    #[inline]
    pub fn foresee(&self, span: Span) {
        prefetch(self.bucket(span.0 / self.bucket_bytes), 0);
    }

    /// `span` cut at the borders of buckets, each with its bucket, in order.
    #[inline]
    fn pieces(&self, (from, to): Span) -> impl DoubleEndedIterator<Item = (u64, Span)> {
        let size = self.bucket_bytes;
        let buckets = from / size..to.div_ceil(size);
        buckets.map(move |one| (one, (from.max(one * size), to.min((one + 1) * size))))
    }

    /// Adds a range; returns how many of its bytes were not in the set.
    pub fn add(&mut self, span: Span) -> u64 {
        let pieces = self.pieces(span);
        pieces
            .map(|(bucket, piece)| self.add_piece(bucket, piece))
            .sum()
    }

    fn add_piece(&mut self, bucket: u64, (from, to): Span) -> u64 {
        if self.buckets.len() <= bucket as usize {
            self.buckets.resize(bucket as usize + 1, Vec::new());
        }
        let spans = &mut self.buckets[bucket as usize];
        if spans.is_empty() {
            self.filled.insert(bucket as u32);
        }
        // Those that touch it join it as well.
        let first = spans.partition_point(|span| span.1 < from);
        let (mut joined, mut held_bytes, mut end) = ((from, to), 0, first);
        while let Some(&(start, stop)) = spans.get(end).filter(|span| span.0 <= to) {
            held_bytes += stop.min(to).saturating_sub(start.max(from));
            joined = (joined.0.min(start), joined.1.max(stop));
            end += 1;
        }
        if first == end {
            spans.insert(first, joined);
        } else {
            spans[first] = joined;
            spans.drain(first + 1..end);
        }
        let new_bytes = to - from - held_bytes;
        self.bytes += new_bytes;
        self.note_whole((from, to), joined, new_bytes)
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
    pub fn cut(&mut self, span: Span) -> u64 {
        if self.bytes == 0 {
            return 0;
        }
        let pieces = self.pieces(span);
        let held_bytes = pieces
            .map(|(bucket, piece)| self.cut_piece(bucket, piece))
            .sum();
        if held_bytes > 0 {
            self.forget_whole(span);
        }
        self.bytes -= held_bytes;
        held_bytes
    }

    fn cut_piece(&mut self, bucket: u64, (from, to): Span) -> u64 {
        let Some(spans) = self.buckets.get_mut(bucket as usize) else {
            return 0;
        };
        let met = inside(spans, (from, to));
        let [(start, _), .., (_, stop)] = spans[met.clone()] else {
            let Some(&(start, stop)) = spans.get(met.start).filter(|_| !met.is_empty()) else {
                return 0;
            };
            return self.cut_one(bucket, met.start, (start, stop), (from, to));
        };
        let held = spans[met.clone()].iter();
        let held = held.map(|span| span.1.min(to) - span.0.max(from)).sum();
        let left = [(start, from), (to, stop)].into_iter();
        spans.splice(met, left.filter(|span| span.0 < span.1));
        self.note_empty(bucket);
        held
    }

    /// The same where the range meets the one extent at `place` alone.
    #[inline]
    fn cut_one(&mut self, bucket: u64, place: usize, one: Span, (from, to): Span) -> u64 {
        let spans = &mut self.buckets[bucket as usize];
        match (one.0 < from, to < one.1) {
            (false, false) => _ = spans.remove(place),
            (true, false) => spans[place].1 = from,
            (false, true) => spans[place].0 = to,
            (true, true) => {
                spans[place].1 = from;
                spans.insert(place + 1, (to, one.1));
            }
        }
        self.note_empty(bucket);
        one.1.min(to) - one.0.max(from)
    }

    fn note_empty(&mut self, bucket: u64) {
        if self.bucket(bucket).is_empty() {
            self.filled.remove(bucket as u32);
        }
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
    pub fn cover(&self, span: Span) -> Cover {
        match self.covered(span) {
            0 => Cover::None,
            bytes if bytes == span.1 - span.0 => Cover::Whole,
            _ => Cover::Part,
        }
    }

    /// The parts of `span` in the set, last one first.
    pub fn within(&self, span: Span) -> impl Iterator<Item = Span> + '_ {
        let pieces = self.pieces(span).rev();
        pieces.flat_map(|(bucket, (from, to))| {
            let spans = self.bucket(bucket);
            let met = spans[inside(spans, (from, to))].iter().rev();
            met.map(move |&(start, end)| (start.max(from), end.min(to)))
        })
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

    /// The first extent that begins at `cursor_bytes` or after, around the end of the device, as
    /// far as it lies in one window.
    pub fn next_part(&self, cursor_bytes: u64) -> Option<Span> {
        let (from, end) = self
            .begins_from(cursor_bytes)
            .or_else(|| self.begins_from(0))?;
        let window_end = self.window(from / self.window_bytes).1;
        Some((from, end.min(window_end)))
    }

    /// The first extent that begins at `cursor_bytes` or after, as far as its bucket goes.
    fn begins_from(&self, cursor_bytes: u64) -> Option<Span> {
        let mut bucket = self.filled.next((cursor_bytes / self.bucket_bytes) as u32);
        while let Some(number) = bucket {
            let spans = self.bucket(u64::from(number));
            let first = spans.partition_point(|span| span.0 < cursor_bytes);
            let goes_on = |span: &&Span| !self.goes_on(u64::from(number), **span);
            if let Some(&span) = spans[first..].iter().find(goes_on) {
                return Some(span);
            }
            bucket = self.filled.next(number + 1);
        }
        None
    }

    /// Whether `span` of a bucket is the rest of an extent that begins in one before it.
    #[inline]
    fn goes_on(&self, bucket: u64, span: Span) -> bool {
        let border = bucket * self.bucket_bytes;
        let before = |bucket| {
            self.bucket(bucket)
                .last()
                .is_some_and(|last| last.1 == border)
        };
        span.0 == border && bucket > 0 && before(bucket - 1)
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
                } else {
                    prop_assert_eq!(set.cut((from, to)), had);
                }
                bytes.fill(adds);
                prop_assert_eq!(set.spans().collect::<Vec<_>>(), spans_of(&held));
                prop_assert_eq!(set.bytes(), held.iter().filter(|&&byte| byte).count() as u64);
                let begins = |cursor| spans_of(&held).into_iter().find(|span| span.0 >= cursor);
                let next = begins(from).or_else(|| begins(0));
                let clipped = |(from, to): Span| (from, to.min((from / window + 1) * window));
                prop_assert_eq!(set.next_part(from), next.map(clipped));
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
