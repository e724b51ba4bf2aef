//! Sequential readers among the reads of a host: a read that begins where an earlier one ended.

use super::extents::Span;

/// Readers that are remembered; a new one takes the place of the one whose turn it is.
const MOST: usize = 32;

#[derive(Clone, Copy, Debug)]
struct Stream {
    /// Where its next read begins.
    next: u64,
    /// How far was read ahead of it.
    ahead: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Streams {
    streams: Vec<Stream>,
    turn: usize,
}

impl Streams {
    /// Takes note of a read; returns what to read ahead of it, up to `most_bytes` and only when
    /// less than half of that is left.
    pub fn follow(&mut self, (from, to): Span, most_bytes: u64) -> Option<Span> {
        let Some(stream) = self.streams.iter_mut().find(|one| one.next == from) else {
            let begun = Stream {
                next: to,
                ahead: to,
            };
            if self.streams.len() < MOST {
                self.streams.push(begun);
            } else {
                self.streams[self.turn] = begun;
                self.turn = (self.turn + 1) % MOST;
            }
            return None;
        };
        stream.next = to;
        stream.ahead = stream.ahead.max(to);
        if stream.ahead - to > most_bytes / 2 {
            return None;
        }
        let begin = std::mem::replace(&mut stream.ahead, to + most_bytes);
        Some((begin, to + most_bytes))
    }

    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let streams = self.streams.iter().flat_map(|one| [one.next, one.ahead]);
        streams.chain([self.turn as u64])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
