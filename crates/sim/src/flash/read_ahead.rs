//! What a drive has read ahead: the sequences it follows, and when each unit behind what was asked
//! of them is in its memory.

use std::collections::VecDeque;
use std::ops::Range;

use crate::flash::params::SsdParams;

/// Sequences that are followed at once; the one not gone on with for longest is forgotten first.
const STREAMS: usize = 8;

/// The end of a sequence that there is not: no read begins there.
const NOWHERE: u64 = u64::MAX;

/// The places of all sequences, a byte each, in order.
const IN_ORDER: u64 = 0x0706_0504_0302_0100;
const EACH_BYTE: u64 = 0x0101_0101_0101_0101;
const TOP_BYTE: u32 = 56;

/// Tells most ends of sequences from a place in few bits.
#[inline]
fn mark(at_bytes: u64) -> u32 {
    (at_bytes >> 9) as u32
}

/// What of a sequence of reads is in memory.
#[derive(Clone, Debug, Default)]
struct Stream {
    /// The unit that `arrivals` begins with.
    first: u32,
    /// When each unit from there on is in memory; `None`: it was never written, or is written
    /// anew since.
    arrivals: VecDeque<Option<u64>>,
    /// The flash page that was read last, and when what was needed of it was in memory.
    page: Option<(u32, u64)>,
}

#[derive(Clone, Debug)]
pub(super) struct ReadAhead {
    /// Where the last read of each sequence ended.
    end_bytes: [u64; STREAMS],
    /// Their marks: each read looks through them.
    end_marks: [u32; STREAMS],
    /// The places of the sequences, a byte each: the one not gone on with for longest is lowest.
    order: u64,
    streams: Vec<Stream>,
    /// Whether anything has been read ahead since all was forgotten.
    holds: bool,
    window_units: u32,
}

impl ReadAhead {
    /// `None` for a drive that reads nothing ahead.
    pub(super) fn new(params: &SsdParams) -> Option<Box<Self>> {
        let window_units = params.read_ahead_units();
        (window_units > 0).then(|| {
            Box::new(Self {
                end_bytes: [NOWHERE; STREAMS],
                end_marks: [mark(NOWHERE); STREAMS],
                order: IN_ORDER,
                holds: false,
                streams: vec![Stream::default(); STREAMS],
                window_units: window_units as u32,
            })
        })
    }

    /// Memory that it takes, known before.
    pub(super) fn need_bytes(params: &SsdParams) -> u64 {
        let units = params.read_ahead_units();
        if units == 0 {
            return 0;
        }
        // A queue that grows doubles its room.
        let queue = (units + 1).next_power_of_two() * size_of::<Option<u64>>() as u64;
        size_of::<Self>() as u64 + STREAMS as u64 * (size_of::<Stream>() as u64 + queue)
    }

    /// The sequence that a read at `offset_bytes` goes on with.
    #[inline]
    pub(super) fn stream_at(&self, offset_bytes: u64) -> Option<usize> {
        let sought = mark(offset_bytes);
        let may_be = self.end_marks.map(|mark| u8::from(mark == sought));
        if u64::from_ne_bytes(may_be) == 0 {
            return None;
        }
        self.end_bytes.iter().position(|&end| end == offset_bytes)
    }

    #[inline]
    fn set_end(&mut self, stream: usize, end_bytes: u64) {
        self.end_bytes[stream] = end_bytes;
        self.end_marks[stream] = mark(end_bytes);
    }

    /// When `unit` is in memory, if it was read ahead.
    pub(super) fn arrival_ns(&self, stream: usize, unit: u32) -> Option<u64> {
        let stream = &self.streams[stream];
        let place = unit.checked_sub(stream.first)?;
        stream.arrivals.get(place as usize).copied().flatten()
    }

    /// The sequence goes on at `end_bytes`, in the unit `next`: what lies before is forgotten.
    pub(super) fn go_on(&mut self, stream: usize, end_bytes: u64, next: u32) {
        self.set_end(stream, end_bytes);
        self.use_last(stream as u64);
        let stream = &mut self.streams[stream];
        let passed = (next - stream.first.min(next)) as usize;
        stream.arrivals.drain(..passed.min(stream.arrivals.len()));
        stream.first = next;
    }

    /// Of all sequences this one has been gone on with last.
    fn use_last(&mut self, stream: u64) {
        // The lowest byte that is zero in `others` is its own.
        let others = self.order ^ (stream * EACH_BYTE);
        let zero = others.wrapping_sub(EACH_BYTE) & !others & (EACH_BYTE << 7);
        let before = (1 << (zero.trailing_zeros() & TOP_BYTE)) - 1;
        self.order = self.order & before | (self.order >> u8::BITS) & !before | stream << TOP_BYTE;
    }

    /// A sequence may begin here; nothing is read ahead before a second read goes on with it.
    #[inline]
    pub(super) fn begin(&mut self, end_bytes: u64, next: u32) {
        let oldest = (self.order & 0xff) as usize;
        self.order = self.order.rotate_right(u8::BITS);
        self.set_end(oldest, end_bytes);
        let stream = &mut self.streams[oldest];
        stream.arrivals.clear();
        stream.page = None;
        stream.first = next;
    }

    /// The units of a drive of `units` that are to be read ahead now.
    pub(super) fn due(&self, stream: usize, units: u32) -> Range<u32> {
        let stream = &self.streams[stream];
        let from = stream.first + stream.arrivals.len() as u32;
        from..stream.first.saturating_add(self.window_units).min(units)
    }

    /// The flash page that was read ahead last: its other units need not be read once more.
    pub(super) fn page(&mut self, stream: usize) -> &mut Option<(u32, u64)> {
        &mut self.streams[stream].page
    }

    pub(super) fn push(&mut self, stream: usize, arrival_ns: Option<u64>) {
        self.streams[stream].arrivals.push_back(arrival_ns);
        self.holds = true;
    }

    /// What was read ahead of these units is no longer what they hold.
    #[inline]
    pub(super) fn forget(&mut self, first: u32, last: u32) {
        if self.holds {
            self.forget_held(first, last);
        }
    }

    fn forget_held(&mut self, first: u32, last: u32) {
        self.holds = self
            .streams
            .iter()
            .any(|stream| !stream.arrivals.is_empty());
        for stream in &mut self.streams {
            let end = stream.first + stream.arrivals.len() as u32;
            for unit in first.max(stream.first)..end.min(last.saturating_add(1)) {
                stream.arrivals[(unit - stream.first) as usize] = None;
            }
        }
    }

    /// Forgets every sequence.
    pub(super) fn clear(&mut self) {
        self.end_bytes = [NOWHERE; STREAMS];
        self.end_marks = [mark(NOWHERE); STREAMS];
        self.order = IN_ORDER;
        self.streams.fill(Stream::default());
        self.holds = false;
    }

    pub(super) fn visit(&self, mut mix: impl FnMut(u64)) {
        for (place, stream) in self.streams.iter().enumerate() {
            mix(self.end_bytes[place].wrapping_add(1));
            mix(u64::from(stream.first));
            let (page, there_ns) = stream.page.unwrap_or_default();
            [u64::from(page), there_ns].into_iter().for_each(&mut mix);
            let of = |arrival: &Option<u64>| arrival.map_or(0, |ns| ns + 1);
            stream.arrivals.iter().map(of).for_each(&mut mix);
        }
        mix(self.order);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::presets;

    proptest! {
        /// Against a count of reads for each sequence, of which the least is sought.
        #[test]
        fn the_sequence_not_gone_on_with_for_longest_is_forgotten(
            acts in proptest::collection::vec((0_u64..12, any::<bool>()), 0..120),
        ) {
            let drive = presets::open("s3700").expect("a preset");
            let mut ahead = ReadAhead::new(drive.params()).expect("it reads ahead");
            let mut known = [(0, NOWHERE); STREAMS];
            for (read, (number, clears)) in (1..).zip(acts) {
                if clears && number == 0 {
                    ahead.clear();
                    known = [(0, NOWHERE); STREAMS];
                }
                // Places 2 TiB apart have one mark.
                let (from_bytes, end_bytes) = (number << 41, (number + 1) << 41);
                let stream = ahead.stream_at(from_bytes);
                let expected = known.iter().position(|&(_, end)| end == from_bytes);
                prop_assert_eq!(stream, expected);
                match stream {
                    Some(stream) => ahead.go_on(stream, end_bytes, number as u32 + 1),
                    None => ahead.begin(end_bytes, number as u32 + 1),
                }
                let oldest = (0..STREAMS).min_by_key(|&place| known[place].0);
                let place = expected.or(oldest).expect("there are some");
                known[place] = (read, end_bytes);
            }
        }
    }
}
