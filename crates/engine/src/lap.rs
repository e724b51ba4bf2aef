//! What came of a plan: counts, bytes, errors by errno and a full histogram, per stream and
//! direction. A failed I/O is counted by its errno and never enters a latency.

use std::collections::BTreeMap;

/// Result of one `run`. Times are on the session's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Lap {
    pub started_ns: u64,
    pub elapsed_ns: u64,
    pub streams: Vec<StreamLap>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StreamLap {
    pub read: DirectionLap,
    pub write: DirectionLap,
    /// Where a sequential stream goes on, relative to its range; 0 for a random one.
    pub cursor_bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionLap {
    pub ios: u64,
    pub bytes: u64,
    /// Failed I/Os by errno. A short or zero-byte I/O counts under errno 0.
    pub errors: BTreeMap<i32, u64>,
    pub latency_sum_ns: u64,
    pub latency_min_ns: u64,
    pub latency_max_ns: u64,
    /// Service latency (issue to completion), log-linear; see `histogram`.
    pub latency_counts: Vec<(u64, u64)>,
    pub intervals: Vec<Interval>,
}

/// One interval of the time series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Number of the interval since the lap began.
    pub index: u32,
    pub ios: u64,
    pub bytes: u64,
    pub errors: u64,
    pub latency_sum_ns: u64,
    pub latency_min_ns: u64,
    pub latency_max_ns: u64,
}
