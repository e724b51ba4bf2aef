//! What is on its way below: a few ranges in order, none of which overlap. Draining goes upwards,
//! and what was sent first ends first, or nearly so: nearly all come in at the end and leave in
//! front.

use std::collections::VecDeque;

use super::extents::Span;

#[derive(Clone, Debug, Default)]
pub(crate) struct Flying {
    spans: VecDeque<Span>,
    bytes: u64,
}

impl Flying {
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.spans.iter().copied()
    }

    /// How many end at `at` or before.
    #[inline(never)]
    fn before(&self, at: u64) -> usize {
        self.spans.partition_point(|one| one.1 <= at)
    }

    /// Whether all of them end at `at` or before.
    #[inline]
    fn end_before(&self, at: u64) -> bool {
        self.spans.back().is_none_or(|last| last.1 <= at)
    }

    #[inline]
    pub fn add(&mut self, span: Span) {
        self.bytes += span.1 - span.0;
        if self.end_before(span.0) {
            self.spans.push_back(span);
        } else {
            self.spans.insert(self.before(span.0), span);
        }
    }

    #[inline]
    pub fn remove(&mut self, span: Span) {
        self.bytes -= span.1 - span.0;
        if self.spans.front() == Some(&span) {
            self.spans.pop_front();
            return;
        }
        self.remove_behind(span);
    }

    /// The same of one that is not in front, but a few places behind.
    #[inline(never)]
    fn remove_behind(&mut self, span: Span) {
        let place = self.spans.iter().position(|&one| one == span);
        let place = place.expect("it is on its way");
        self.spans.remove(place);
    }

    /// Whether something of `span` is on its way.
    #[inline]
    pub fn meets(&self, (from, to): Span) -> bool {
        if self.end_before(from) {
            return false;
        }
        self.spans
            .get(self.before(from))
            .is_some_and(|next| next.0 < to)
    }

    /// Takes what is on its way out of `spans`, which are in order.
    pub fn subtract_from(&self, spans: &mut Vec<Span>) {
        if self.bytes == 0 {
            return;
        }
        let mut left = Vec::new();
        for &(mut from, to) in spans.iter() {
            for &(start, end) in self.spans.range(self.before(from)..) {
                if start >= to {
                    break;
                }
                if from < start {
                    left.push((from, start));
                }
                from = end;
            }
            if from < to {
                left.push((from, to));
            }
        }
        *spans = left;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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

    proptest! {
        /// Against one flag a byte, for places from 0 to 59.
        #[test]
        fn what_flies_is_what_was_added_and_not_removed(
            acts in prop::collection::vec((0..60_u64, 1..9_u64), 1..80)
        ) {
            let (mut flying, mut list, mut held) = (Flying::default(), Vec::new(), [false; 80]);
            for (from, length) in acts {
                let span = (from, from + length);
                let bytes = |held: &[bool]| held[from as usize..][..length as usize].to_vec();
                let meets = bytes(&held).contains(&true);
                prop_assert_eq!(flying.meets(span), meets);
                let mut rest = vec![span];
                flying.subtract_from(&mut rest);
                let left: u64 = rest.iter().map(|span| span.1 - span.0).sum();
                prop_assert_eq!(left, bytes(&held).iter().filter(|held| !**held).count() as u64);
                if meets {
                    let span = list.swap_remove(length as usize % list.len());
                    flying.remove(span);
                    held[span.0 as usize..span.1 as usize].fill(false);
                } else {
                    flying.add(span);
                    list.push(span);
                    held[from as usize..][..length as usize].fill(true);
                }
                list.sort_unstable();
                prop_assert_eq!(flying.spans().collect::<Vec<_>>(), list.clone());
                let bytes = held.iter().filter(|held| **held).count() as u64;
                prop_assert_eq!(flying.bytes(), bytes);
            }
        }
    }
}
