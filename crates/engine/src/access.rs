//! Where I/Os may go: the places of a range and their zones, and the cursors that all threads of an
//! ordered stream share. Random places are drawn in `draws`.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::permutation::Permutation;
use crate::plan::{Order, Range, Zone};
use crate::request::Extent;
use crate::seed::derive_seed;

/// Where blocks of one length may begin: every so many bytes of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub length_bytes: u32,
    step_bytes: u32,
    per_segment: u64,
    pub places: u64,
}

impl Grid {
    pub fn new(length_bytes: u32, step_bytes: u32, range: &Range) -> Self {
        let room_bytes = range.segment_bytes.checked_sub(u64::from(length_bytes));
        let per_segment = room_bytes.map_or(0, |room| room / u64::from(step_bytes) + 1);
        Self {
            length_bytes,
            step_bytes,
            per_segment,
            places: per_segment * range.segments,
        }
    }

    #[inline]
    pub fn offset_bytes(&self, place: u64, range: &Range) -> u64 {
        let relative_bytes = if range.segments == 1 {
            place * u64::from(self.step_bytes)
        } else {
            let segment = place / self.per_segment;
            segment * range.stride_bytes
                + (place - segment * self.per_segment) * u64::from(self.step_bytes)
        };
        range.start_bytes + relative_bytes
    }
}

/// (first place, places) of every zone; None when a zone has no place.
pub(crate) fn lay_zones(zones: &[Zone], places: u64) -> Option<Vec<(u64, u64)>> {
    let total: f64 = zones.iter().map(|zone| zone.range_share).sum();
    let mut passed = 0.0;
    let mut first = 0;
    let mut lay = |zone: &Zone| {
        passed += zone.range_share;
        let end = ((passed / total * places as f64).round() as u64).min(places);
        let laid = (first, end.checked_sub(first)?);
        first = end;
        (laid.1 > 0).then_some(laid)
    };
    zones.iter().map(&mut lay).collect()
}

/// The blocks of a shuffled stream in their order, pass after pass.
#[derive(Debug)]
pub struct Shuffle {
    key: u64,
    range: Range,
    grid: Grid,
    index: AtomicU64,
}

impl Shuffle {
    pub fn new(key: u64, cursor_bytes: u64, block_size_bytes: u32, range: Range) -> Self {
        Self {
            key,
            range,
            grid: Grid::new(block_size_bytes, block_size_bytes, &range),
            index: AtomicU64::new(cursor_bytes / u64::from(block_size_bytes)),
        }
    }

    /// Blocks issued over all passes, in bytes.
    pub fn cursor_bytes(&self) -> u64 {
        self.index.load(Ordering::Relaxed) * u64::from(self.grid.length_bytes)
    }

    /// Takes the next block; returns it and the number of its pass.
    #[inline]
    pub fn advance(&self) -> (Extent, u64) {
        self.block(self.index.fetch_add(1, Ordering::Relaxed))
    }

    /// The next block, which stays the next.
    pub(crate) fn peek(&self) -> (Extent, u64) {
        self.block(self.index.load(Ordering::Relaxed))
    }

    #[inline]
    fn block(&self, index: u64) -> (Extent, u64) {
        let pass = index / self.grid.places;
        let place = self.order(pass).forward(index % self.grid.places);
        let extent = Extent {
            offset_bytes: self.grid.offset_bytes(place, &self.range),
            length_bytes: self.grid.length_bytes,
        };
        (extent, pass)
    }

    /// When in `pass` the block at a byte of the range (segments laid end to end) has its turn:
    /// bytes of the pass before it. None behind the last whole block.
    pub(crate) fn turn_bytes(&self, pass: u64, position_bytes: u64) -> Option<u64> {
        let length_bytes = u64::from(self.grid.length_bytes);
        let within = position_bytes % self.range.segment_bytes / length_bytes;
        let segment = position_bytes / self.range.segment_bytes;
        (within < self.grid.per_segment).then(|| {
            let place = segment * self.grid.per_segment + within;
            self.order(pass).inverse(place) * length_bytes
        })
    }

    /// How a later step names this order.
    pub(crate) fn order_term(&self) -> Order {
        Order::Shuffled {
            key: self.key,
            block_size_bytes: self.grid.length_bytes,
        }
    }

    pub(crate) fn pass_bytes(&self) -> u64 {
        self.grid.places * u64::from(self.grid.length_bytes)
    }

    fn order(&self, pass: u64) -> Permutation {
        Permutation::new(self.grid.places, derive_seed(self.key, pass))
    }
}

/// The cursor of a sequential stream, in bytes of the range (segments laid end to end). Every
/// block begins where the one before ended; a block ends at the latest with its segment, so a
/// pass touches every byte once, whatever the block size and wherever it began. On a line of the
/// cache of its own: threads may have one each.
#[derive(Debug)]
#[repr(align(64))]
pub struct Cursor {
    position_bytes: AtomicU64,
    /// Passes ended since the start. Counted after the cursor has moved.
    passes: AtomicU64,
}

impl Cursor {
    /// A cursor at `position_bytes` of the range, taken modulo its length.
    pub fn new(position_bytes: u64, range: &Range) -> Self {
        let position = position_bytes % (range.segments * range.segment_bytes);
        Self {
            position_bytes: AtomicU64::new(position),
            passes: AtomicU64::new(0),
        }
    }

    /// Where the next block begins.
    pub fn position_bytes(&self) -> u64 {
        self.position_bytes.load(Ordering::Relaxed)
    }

    /// How often the range's end was passed since the start.
    pub fn passes(&self) -> u64 {
        self.passes.load(Ordering::Relaxed)
    }

    /// The next block, which stays the next.
    pub(crate) fn peek(&self, range: &Range, limit_bytes: u32) -> Extent {
        Self::block(self.position_bytes(), range, limit_bytes)
    }

    /// Takes the next block, at most `limit_bytes` long, and moves on.
    #[inline]
    pub fn advance(&self, range: &Range, limit_bytes: u32) -> Extent {
        let mut position = self.position_bytes.load(Ordering::Relaxed);
        loop {
            let extent = Self::block(position, range, limit_bytes);
            let end = position + u64::from(extent.length_bytes);
            let next = if end == range.segments * range.segment_bytes {
                0
            } else {
                end
            };
            let swap = self.position_bytes.compare_exchange_weak(
                position,
                next,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match swap {
                Ok(_) => {
                    if next == 0 {
                        self.passes.fetch_add(1, Ordering::Relaxed);
                    }
                    return extent;
                }
                Err(moved) => position = moved,
            }
        }
    }

    /// The block at a byte of the range (segments laid end to end), which its segment may cut.
    #[inline]
    fn block(position: u64, range: &Range, limit_bytes: u32) -> Extent {
        let (segment, within) = if range.segments == 1 {
            (0, position)
        } else {
            (
                position / range.segment_bytes,
                position % range.segment_bytes,
            )
        };
        let length = u64::from(limit_bytes).min(range.segment_bytes - within);
        Extent {
            offset_bytes: range.start_bytes + segment * range.stride_bytes + within,
            length_bytes: length as u32,
        }
    }
}
