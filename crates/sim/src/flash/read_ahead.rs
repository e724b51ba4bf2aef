//! What a drive has read ahead: the sequences it follows, and when each unit behind what was asked
//! of them is in its memory.

use std::collections::VecDeque;
use std::ops::Range;

use crate::flash::params::SsdParams;

/// Sequences that are followed at once; the one not gone on with for longest is forgotten first.
const STREAMS: usize = 8;

/// A sequence of reads.
#[derive(Clone, Debug, Default)]
struct Stream {
    /// Where its last read ended; `None`: there is no sequence here.
    end_bytes: Option<u64>,
    /// The unit that `arrivals` begins with.
    first: u32,
    /// When each unit from there on is in memory; `None`: it was never written, or is written
    /// anew since.
    arrivals: VecDeque<Option<u64>>,
    /// The flash page that was read last, and when what was needed of it was in memory.
    page: Option<(u32, u64)>,
    /// Which of all reads went on with it last.
    used: u64,
}

#[derive(Clone, Debug)]
pub(super) struct ReadAhead {
    streams: Vec<Stream>,
    window_units: u32,
    reads: u64,
}

impl ReadAhead {
    /// `None` for a drive that reads nothing ahead.
    pub(super) fn new(params: &SsdParams) -> Option<Box<Self>> {
        let window_units = params.read_ahead_units();
        (window_units > 0).then(|| {
            Box::new(Self {
                streams: vec![Stream::default(); STREAMS],
                window_units: window_units as u32,
                reads: 0,
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
    pub(super) fn stream_at(&self, offset_bytes: u64) -> Option<usize> {
        let goes_on = |stream: &Stream| stream.end_bytes == Some(offset_bytes);
        self.streams.iter().position(goes_on)
    }

    /// When `unit` is in memory, if it was read ahead.
    pub(super) fn arrival_ns(&self, stream: usize, unit: u32) -> Option<u64> {
        let stream = &self.streams[stream];
        let place = unit.checked_sub(stream.first)?;
        stream.arrivals.get(place as usize).copied().flatten()
    }

    /// The sequence goes on at `end_bytes`, in the unit `next`: what lies before is forgotten.
    pub(super) fn go_on(&mut self, stream: usize, end_bytes: u64, next: u32) {
        self.reads += 1;
        let stream = &mut self.streams[stream];
        let passed = (next - stream.first.min(next)) as usize;
        stream.arrivals.drain(..passed.min(stream.arrivals.len()));
        (stream.end_bytes, stream.first) = (Some(end_bytes), next);
        stream.used = self.reads;
    }

    /// A sequence may begin here; nothing is read ahead before a second read goes on with it.
    pub(super) fn begin(&mut self, end_bytes: u64, next: u32) {
        self.reads += 1;
        let oldest = self.streams.iter_mut().min_by_key(|stream| stream.used);
        if let Some(stream) = oldest {
            stream.arrivals.clear();
            stream.page = None;
            (stream.end_bytes, stream.first) = (Some(end_bytes), next);
            stream.used = self.reads;
        }
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
    }

    /// What was read ahead of these units is no longer what they hold.
    pub(super) fn forget(&mut self, first: u32, last: u32) {
        for stream in &mut self.streams {
            let end = stream.first + stream.arrivals.len() as u32;
            for unit in first.max(stream.first)..end.min(last.saturating_add(1)) {
                stream.arrivals[(unit - stream.first) as usize] = None;
            }
        }
    }

    /// Forgets every sequence.
    pub(super) fn clear(&mut self) {
        self.streams.fill(Stream::default());
        self.reads = 0;
    }

    pub(super) fn visit(&self, mut mix: impl FnMut(u64)) {
        for stream in &self.streams {
            mix(stream.end_bytes.map_or(0, |bytes| bytes + 1));
            mix(u64::from(stream.first));
            let (page, there_ns) = stream.page.unwrap_or_default();
            [u64::from(page), there_ns, stream.used]
                .into_iter()
                .for_each(&mut mix);
            let of = |arrival: &Option<u64>| arrival.map_or(0, |ns| ns + 1);
            stream.arrivals.iter().map(of).for_each(&mut mix);
        }
        mix(self.reads);
    }
}
