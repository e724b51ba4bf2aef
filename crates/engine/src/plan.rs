//! What to do, compiled: absolute bytes and nanoseconds only, nothing left to parse.

/// One step for the engine: one or more streams that run at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub streams: Vec<StreamPlan>,
    pub bound: Bound,
    /// Length of one interval of the time series.
    pub interval_ns: u64,
    /// The streams keep going after this lap: the next `run` with `continues` picks them up with
    /// their I/O still in flight, so that no gap lies between two laps of one stimulus.
    pub open_ended: bool,
    /// Go on with the open-ended streams of the lap before instead of starting new ones.
    pub continues: bool,
}

/// When a lap ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// After this time; I/Os in flight at the end are completed and counted.
    Time { duration_ns: u64 },
    /// After this many bytes over all streams together.
    Bytes { total_bytes: u64 },
}

/// One stimulus: `threads` workers of `queue_depth` each, with one set of statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamPlan {
    pub threads: u32,
    pub queue_depth: u32,
    /// Share of reads, 0 to 100.
    pub read_percent: u8,
    pub block_bytes: u32,
    pub access: Access,
    pub range: Range,
    pub content: Content,
    /// Open loop when present, closed loop when not.
    pub rate: Option<Rate>,
    pub seed: u64,
}

/// Order of offsets within the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Uniform over whole blocks of the range.
    Random,
    /// One stream shared by all threads, from `cursor_bytes` (relative to the range), wrapping at
    /// its end. The last block of a range that is no multiple of the block size is a short one,
    /// so that every byte of the range is touched once per pass.
    Sequential { cursor_bytes: u64 },
}

/// Where on the device: `segments` pieces of `segment_bytes`, their starts `stride_bytes` apart.
/// A plain contiguous range is one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub start_bytes: u64,
    pub segments: u64,
    pub segment_bytes: u64,
    pub stride_bytes: u64,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Random bytes, unique in every 512 B sector of every write.
    Random,
    Zero,
}

/// Arrivals of an open loop, over all threads of the stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub ios_per_second: f64,
    pub schedule: Schedule,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    Fixed,
    Poisson,
}
