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

impl Plan {
    /// The largest length that divides every block and offset.
    pub(crate) fn grain_bytes(&self) -> u64 {
        let mut grain = match self.bound {
            Bound::Time { .. } => 0,
            Bound::Bytes { total_bytes } => total_bytes,
        };
        for stream in &self.streams {
            grain = gcd(grain, stream.range.grain_bytes());
            grain = gcd(grain, stream.thread_stride_bytes.unwrap_or(0));
            grain = match stream.access {
                Access::Sequential { cursor_bytes } => gcd(grain, cursor_bytes),
                Access::Random
                | Access::Shuffled { .. }
                | Access::Zoned(_)
                | Access::Zipf { .. }
                | Access::Pareto { .. } => gcd(grain, u64::from(stream.grid_bytes())),
            };
            for bytes in stream.sizes_bytes() {
                grain = gcd(grain, u64::from(bytes));
            }
            for past in stream.verify.iter().flat_map(|verify| &verify.written) {
                grain = gcd(grain, past.range.grain_bytes());
                grain = gcd(gcd(grain, past.from_bytes), past.to_bytes);
                if let Order::Shuffled {
                    block_size_bytes, ..
                } = past.order
                {
                    grain = gcd(grain, u64::from(block_size_bytes));
                }
            }
        }
        grain
    }
}

fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 {
        one
    } else {
        gcd(other, one % other)
    }
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
    /// Share of reads among reads and writes, 0 to 100.
    pub read_percent: u8,
    /// Share of discards among all I/Os, 0 to 100.
    pub discard_percent: u8,
    /// A flush follows every so many writes of a worker; 0 is never.
    pub flush_every_writes: u32,
    /// Length of a block; the longest where `blocks` mixes several.
    pub block_size_bytes: u32,
    /// Up to 32 block sizes by weight; empty for `block_size_bytes` alone.
    pub blocks: Vec<BlockShare>,
    /// Grid of the offsets of all but sequential access, counted from the start of a segment.
    /// 0 is the block size, or the smallest of a mix (as fio's `blockalign`).
    pub alignment_bytes: u32,
    pub access: Access,
    /// Each thread of a sequential stream has a cursor of its own, which begins so many bytes
    /// behind that of the thread before. None: all follow one.
    pub thread_stride_bytes: Option<u64>,
    pub range: Range,
    pub content: Content,
    /// A write is on the medium before it is answered.
    pub write_through: bool,
    /// Which blocks are touched is counted.
    pub census: bool,
    /// Writes carry stamps that reads are held to; None for neither.
    pub verify: Option<Verify>,
    /// Open loop when present, closed loop when not.
    pub rate: Option<Rate>,
    pub seed: u64,
}

/// One worker that reads 4 KiB blocks at random, of a range that still has to be named.
impl Default for StreamPlan {
    fn default() -> Self {
        Self {
            threads: 1,
            queue_depth: 1,
            read_percent: 100,
            discard_percent: 0,
            flush_every_writes: 0,
            block_size_bytes: 4096,
            blocks: Vec::new(),
            alignment_bytes: 0,
            access: Access::Random,
            thread_stride_bytes: None,
            range: Range::default(),
            content: Content::Random,
            write_through: false,
            census: false,
            verify: None,
            rate: None,
            seed: 0,
        }
    }
}

impl StreamPlan {
    /// Whether any I/O writes.
    pub fn writes(&self) -> bool {
        self.read_percent < 100 && self.discard_percent < 100
    }

    /// Writes of a worker from one flush to the next.
    pub fn flush_period(&self) -> u64 {
        match self.flush_every_writes {
            0 => u64::MAX,
            every => u64::from(every),
        }
    }

    /// Every block size.
    pub fn sizes_bytes(&self) -> impl Iterator<Item = u32> + '_ {
        let alone = self.blocks.is_empty().then_some(self.block_size_bytes);
        let mixed = self.blocks.iter().map(|share| share.block_size_bytes);
        alone.into_iter().chain(mixed)
    }

    /// Grid of the offsets, as `alignment_bytes` or by default.
    pub fn grid_bytes(&self) -> u32 {
        match self.alignment_bytes {
            0 => self.sizes_bytes().min().unwrap_or(self.block_size_bytes),
            asked => asked,
        }
    }
}

/// How a stream's outstanding I/Os are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// `threads` workers with `queue_depth` each.
    Queued,
    /// `threads` x `queue_depth` workers with one each, for backends that can hold one only.
    OnePerWorker,
}

/// One size of a mix and how often it is drawn against the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShare {
    pub block_size_bytes: u32,
    pub weight: u32,
}

/// Order of offsets within the range.
#[derive(Clone, Debug, PartialEq)]
pub enum Access {
    /// Uniform over the places of the range.
    Random,
    /// Every whole block of the range once in each pass, in an order drawn anew for every pass
    /// from `key`, shared by all threads. The cursor counts blocks over all passes, in bytes.
    Shuffled { key: u64, cursor_bytes: u64 },
    /// Uniform within zones, which lie one after the other from the start of the range.
    Zoned(Vec<Zone>),
    /// Place of rank k with a probability in proportion to k^-theta. Ranks are scattered over
    /// the range by a permutation that only the seed names.
    Zipf { theta: f64 },
    /// Self-similar: a share `h` of the places takes `1 - h` of the accesses (0.2: the 80/20
    /// rule), and so on within; h lies between 0 and 0.5. Scattered as for Zipf.
    Pareto { h: f64 },
    /// One stream shared by all threads, from `cursor_bytes` (relative to the range), wrapping at
    /// its end. The last block of a range that is no multiple of the block size is a short one,
    /// so that every byte of the range is touched once per pass.
    Sequential { cursor_bytes: u64 },
}

impl Access {
    /// Whether all threads follow one cursor.
    pub fn is_ordered(&self) -> bool {
        matches!(self, Self::Sequential { .. } | Self::Shuffled { .. })
    }
}

/// One zone: the share of the accesses it takes and the share of the range it is. The shares of
/// all zones are taken in proportion to their sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    pub access_share: f64,
    pub range_share: f64,
}

/// Where on the device: `segments` pieces of `segment_bytes`, their starts `stride_bytes` apart.
/// A plain contiguous range is one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    pub start_bytes: u64,
    pub segments: u64,
    pub segment_bytes: u64,
    pub stride_bytes: u64,
}

impl Range {
    fn grain_bytes(&self) -> u64 {
        let stride_bytes = if self.segments > 1 {
            self.stride_bytes
        } else {
            0
        };
        gcd(gcd(self.start_bytes, self.segment_bytes), stride_bytes)
    }
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Random bytes, unique in every 512 B sector of every write: a random base once, and a
    /// fresh stamp in every sector.
    Random,
    /// Every byte of every write fresh.
    Refill,
    /// Fresh bytes, then this share of zeros, 0 to 100, in every sector behind its stamp.
    Compressible {
        percent: u8,
    },
    /// This share of pieces of 4 KiB, 0 to 100, repeats one of a few; the rest is fresh.
    Dedupable {
        percent: u8,
    },
    Zero,
    /// One random block, the same in every write of every worker of the stream.
    OneBlock,
    /// The bytes 0 to 255 over and over.
    Counting,
}

impl Content {
    /// Whether all that is written lies in the buffers from the start, and stays as it is.
    pub fn is_constant(self) -> bool {
        matches!(self, Self::Zero | Self::OneBlock | Self::Counting)
    }
}

/// How stamps are written and what reads are held to (see `verify`).
#[derive(Clone, Debug, PartialEq)]
pub struct Verify {
    /// The run, in every stamp.
    pub run: u64,
    /// Generation of the stream's first pass, or of the plan's first write where writes have no
    /// order; above those of all earlier steps, and at least 1.
    pub generation: u64,
    /// What earlier steps of the run left behind; the newest generation counts.
    pub written: Vec<Written>,
}

/// A stimulus of ordered writes that went before, from its first block to its cursor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Written {
    pub order: Order,
    pub range: Range,
    /// Where the first pass began, and where the writes ended, over all passes.
    pub from_bytes: u64,
    pub to_bytes: u64,
    /// Generation of the first pass.
    pub generation: u64,
}

/// An order that a formula inverts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Sequential,
    Shuffled { key: u64, block_size_bytes: u32 },
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
