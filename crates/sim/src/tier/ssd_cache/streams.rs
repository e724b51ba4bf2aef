//! Which host I/Os go on where another ended, and how far that has gone.

/// Runs that are followed at a time.
const STREAMS: usize = 32;

#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    next_bytes: u64,
    run_bytes: u64,
    used: u64,
}

/// The latest sequential runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams {
    streams: [Stream; STREAMS],
    clock: u64,
}

impl Streams {
    /// Bytes of the sequential run that ends with this I/O.
    pub fn run_bytes(&mut self, offset_bytes: u64, length_bytes: u64) -> u64 {
        self.clock += 1;
        let mut streams = self.streams.iter_mut();
        let known = streams.position(|one| one.used > 0 && one.next_bytes == offset_bytes);
        let place = known.unwrap_or_else(|| {
            let streams = self.streams.iter().enumerate();
            let oldest = streams.min_by_key(|(_, one)| one.used);
            oldest.map_or(0, |(place, _)| place)
        });
        let before = known.map_or(0, |place| self.streams[place].run_bytes);
        self.streams[place] = Stream {
            next_bytes: offset_bytes + length_bytes,
            run_bytes: before + length_bytes,
            used: self.clock,
        };
        before + length_bytes
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Every number of the state, for a digest.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let streams = self.streams.iter();
        streams.flat_map(|one| [one.next_bytes, one.run_bytes, one.used])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_told_apart_and_the_one_used_longest_ago_is_forgotten() {
        let mut streams = Streams::default();
        assert_eq!(streams.run_bytes(0, 8), 8);
        assert_eq!(streams.run_bytes(1_000, 8), 8);
        assert_eq!(streams.run_bytes(8, 8), 16);
        assert_eq!(streams.run_bytes(1_008, 4), 12);
        for other in 0..STREAMS as u64 - 1 {
            assert_eq!(streams.run_bytes(1_000_000 * (other + 1), 8), 8);
        }
        assert_eq!(streams.run_bytes(1_012, 8), 20, "used last before them");
        assert_eq!(streams.run_bytes(16, 8), 8, "the oldest");
    }
}
