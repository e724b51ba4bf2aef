//! Sequential readers among the reads of a host: a read that begins where an earlier one ended.

use super::extents::Span;

/// Readers that are remembered; a new one takes the place of the one whose turn it is.
const MOST: usize = 32;
/// Kinds of places at which a reader may go on: most reads are of a kind that none goes on at.
const KINDS: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Stream {
    /// Where its next read begins.
    next: u64,
    /// How far was read ahead of it.
    ahead: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Streams {
    streams: Vec<Stream>,
    turn: usize,
    /// How many of the streams go on at a place of each kind.
    kinds: [u8; KINDS],
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            streams: Vec::new(),
            turn: 0,
            kinds: [0; KINDS],
        }
    }
}

/// The kind of a place.
#[inline]
fn kind(at_bytes: u64) -> usize {
    /// 2^64 over the golden ratio: scatters places that lie at even distances.
    const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;
    (at_bytes.wrapping_mul(SCATTER) >> (u64::BITS - KINDS.trailing_zeros())) as usize
}

impl Streams {
    /// The stream that goes on at `from`.
    #[inline]
    fn find(&self, from: u64) -> Option<usize> {
        if self.kinds[kind(from)] == 0 {
            return None;
        }
        self.streams.iter().position(|one| one.next == from)
    }

    /// The stream at `place` goes on at `next` from now on.
    #[inline]
    fn go_on(&mut self, place: usize, next: u64) {
        let before = std::mem::replace(&mut self.streams[place].next, next);
        self.kinds[kind(before)] -= 1;
        self.kinds[kind(next)] += 1;
    }

    /// Takes note of a read; returns what to read ahead of it, up to `most_bytes` and only when
    /// less than half of that is left.
    pub fn follow(&mut self, (from, to): Span, most_bytes: u64) -> Option<Span> {
        let Some(place) = self.find(from) else {
            self.begin(to);
            return None;
        };
        self.go_on(place, to);
        let stream = &mut self.streams[place];
        stream.ahead = stream.ahead.max(to);
        if stream.ahead - to > most_bytes / 2 {
            return None;
        }
        let begin = std::mem::replace(&mut stream.ahead, to + most_bytes);
        Some((begin, to + most_bytes))
    }

    /// A read that ended at `to` may be the first of a stream.
    #[inline]
    fn begin(&mut self, to: u64) {
        if self.streams.len() < MOST {
            let (next, ahead) = (to, to);
            self.streams.push(Stream { next, ahead });
            self.kinds[kind(to)] += 1;
        } else {
            self.go_on(self.turn, to);
            self.streams[self.turn].ahead = to;
            self.turn = (self.turn + 1) % MOST;
        }
    }

    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let streams = self.streams.iter().flat_map(|one| [one.next, one.ahead]);
        streams.chain([self.turn as u64])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a list that is looked through from end to end.
        #[test]
        fn a_stream_is_the_first_that_goes_on_where_a_read_begins(
            reads in prop::collection::vec((0_u64..60, 1_u64..20), 1..300)
        ) {
            let (mut streams, mut list, mut turn) = (Streams::default(), Vec::new(), 0);
            for (from, length) in reads {
                let to = from + length;
                let place = list.iter().position(|&next| next == from);
                prop_assert_eq!(streams.find(from), place);
                streams.follow((from, to), 8);
                match place {
                    Some(place) => list[place] = to,
                    None if list.len() < MOST => list.push(to),
                    None => {
                        list[turn] = to;
                        turn = (turn + 1) % MOST;
                    }
                }
                let nexts: Vec<u64> = streams.streams.iter().map(|one| one.next).collect();
                prop_assert_eq!(nexts, list.clone());
            }
        }
    }

    #[test]
    fn the_second_read_of_a_stream_reads_ahead_and_then_one_in_half_a_window() {
        let mut streams = Streams::default();
        assert_eq!(streams.follow((0, 10), 40), None);
        assert_eq!(streams.follow((10, 20), 40), Some((20, 60)));
        assert_eq!(streams.follow((20, 30), 40), None);
        assert_eq!(streams.follow((500, 510), 40), None);
        assert_eq!(streams.follow((30, 40), 40), Some((60, 80)));
        assert_eq!(streams.follow((510, 520), 40), Some((520, 560)));
        assert_eq!(streams.follow((500, 510), 0), None);
    }
}
