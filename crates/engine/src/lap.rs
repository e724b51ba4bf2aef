//! What came of a plan: counts, bytes, errors by errno and a full histogram, per stream and
//! direction. A failed I/O is counted by its errno and never enters a latency.

use std::collections::BTreeMap;

use crate::census::Census;
use crate::error::EngineError;
use crate::histogram::Histogram;
use crate::interval::Interval;
use crate::plan::Written;
use crate::verify::Findings;
use crate::witness::Witness;

/// Result of one `run`. Times are on the session's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Lap {
    pub started_ns: u64,
    /// Until the last completion; exactly the bound where an open-ended lap is bounded by time.
    pub elapsed_ns: u64,
    pub streams: Vec<StreamLap>,
    /// Somebody called `stop` before the bound.
    pub stopped: bool,
    /// Why the lap ended early; what was measured until then is here.
    pub failure: Option<EngineError>,
    /// How it was made.
    pub witness: Witness,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamLap {
    pub read: DirectionLap,
    pub write: DirectionLap,
    /// Flushes and discards; in no interval, and in no count of the stream's I/Os.
    pub flush: DirectionLap,
    pub discard: DirectionLap,
    /// Where an ordered stream goes on: relative to its range if sequential, over all passes if
    /// shuffled; 0 without an order.
    pub cursor_bytes: u64,
    /// What a verified stream in order has left behind, for the steps after it.
    pub written: Option<Written>,
    /// The first generation that is free for the steps after a verified one; 0 if none was.
    pub next_generation: u64,
    /// Most arrivals of an open loop that waited for a free slot of one worker at one time.
    pub backlog_max: u64,
    /// Arrivals that were due but not issued when the lap ended.
    pub backlog_end: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionLap {
    /// Completed in full.
    pub ios: u64,
    pub bytes: u64,
    /// Failed I/Os by errno. A short or zero-byte I/O counts under errno 0.
    pub errors: BTreeMap<i32, u64>,
    /// From issue to completion.
    pub latency: Histogram,
    /// From the intended start to completion; open loop only.
    pub response: Option<Histogram>,
    pub intervals: Vec<Interval>,
    /// What reads were found to hold; reads of a plan that verifies only.
    pub findings: Findings,
    /// Which blocks were touched, where that was asked for.
    pub census: Option<Box<Census>>,
}

impl DirectionLap {
    /// Adds another worker's share; the intervals are merged elsewhere.
    pub(crate) fn merge(&mut self, other: Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        for (errno, count) in other.errors {
            *self.errors.entry(errno).or_default() += count;
        }
        self.latency.merge(&other.latency);
        self.findings.merge(other.findings);
        match (&mut self.census, other.census) {
            (Some(mine), Some(theirs)) => mine.merge(&theirs),
            (mine @ None, theirs) => *mine = theirs,
            (Some(_), None) => {}
        }
        match (&mut self.response, other.response) {
            (Some(mine), Some(theirs)) => mine.merge(&theirs),
            (mine @ None, theirs) => *mine = theirs,
            (Some(_), None) => {}
        }
    }
}
