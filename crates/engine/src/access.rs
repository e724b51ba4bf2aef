//! Where the next I/O goes and what it does: random offsets by multiplication (no modulo, no bias
//! to speak of), even or skewed, and the one cursor that all threads of an ordered stream share.

use std::sync::atomic::{AtomicU64, Ordering};

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::permutation::Permutation;
use crate::plan::{Access, Order, Range, StreamPlan, Zone};
use crate::request::{Extent, Op};
use crate::seed::{derive_seed, scale};
use crate::skew::{AliasTable, Pareto, Zipf};

/// Where blocks of one length may begin: every so many bytes of a segment.
#[derive(Clone, Copy, Debug)]
struct Grid {
    length_bytes: u32,
    step_bytes: u32,
    per_segment: u64,
    places: u64,
}

impl Grid {
    fn new(length_bytes: u32, step_bytes: u32, range: &Range) -> Self {
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
    fn offset_bytes(&self, place: u64, range: &Range) -> u64 {
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

/// How a place is drawn.
#[derive(Debug)]
enum Pattern {
    Uniform,
    /// Zones of each size in turn.
    Zoned(AliasTable, Vec<Vec<(u64, u64)>>),
    Zipf(Zipf, Permutation),
    Pareto(Pareto, Permutation),
}

impl Pattern {
    fn new(plan: &StreamPlan, grids: &[Grid]) -> Self {
        // A rank has one place for all sizes: every one of them fits where the longest does.
        let places = grids
            .iter()
            .map(|grid| grid.places)
            .min()
            .unwrap_or(1)
            .max(1);
        let scatter = || Permutation::new(places, derive_seed(plan.seed, 1 << 34));
        match &plan.access {
            Access::Random | Access::Sequential { .. } | Access::Shuffled { .. } => Self::Uniform,
            Access::Zoned(zones) => {
                let shares: Vec<f64> = zones.iter().map(|zone| zone.access_share).collect();
                let lay = |grid: &Grid| lay_zones(zones, grid.places);
                let laid = grids.iter().map(lay).collect::<Option<Vec<_>>>();
                let laid = laid.expect("a plan with an empty zone was refused");
                Self::Zoned(AliasTable::new(&shares), laid)
            }
            Access::Zipf { theta } => Self::Zipf(Zipf::new(places, *theta), scatter()),
            Access::Pareto { h } => Self::Pareto(Pareto::new(places, *h), scatter()),
        }
    }
}

/// Places of one size, drawn evenly: what `Draws` keeps of its generator, lent for a while.
pub(crate) struct Uniform {
    generator: Xoshiro256PlusPlus,
    range: Range,
    grid: Grid,
}

impl Uniform {
    #[inline]
    pub fn next_extent(&mut self) -> Extent {
        let place = scale(self.generator.next_u64(), self.grid.places);
        Extent {
            offset_bytes: self.grid.offset_bytes(place, &self.range),
            length_bytes: self.grid.length_bytes,
        }
    }
}

/// The draws of one worker: sizes, places, and what is done there.
#[derive(Debug)]
pub struct Draws {
    generator: Xoshiro256PlusPlus,
    range: Range,
    /// The size drawn last, and its place among all sizes.
    grid: Grid,
    size: usize,
    mix: Option<(AliasTable, Vec<Grid>)>,
    pattern: Pattern,
    /// Reads are draws below this share of 2^32; all or none when the mix is pure.
    read_threshold: u64,
    discard_threshold: u64,
}

impl Draws {
    /// The draws of a worker with its own seed.
    pub fn new(seed: u64, plan: &StreamPlan) -> Self {
        let range = plan.range;
        let grid = |length_bytes| Grid::new(length_bytes, plan.grid_bytes(), &range);
        let grids: Vec<Grid> = plan.sizes_bytes().map(grid).collect();
        let weights: Vec<f64> = plan
            .blocks
            .iter()
            .map(|one| f64::from(one.weight))
            .collect();
        let pattern = Pattern::new(plan, &grids);
        Self {
            generator: Xoshiro256PlusPlus::seed_from_u64(seed),
            range,
            grid: grids[0],
            size: 0,
            mix: (!weights.is_empty()).then(|| (AliasTable::new(&weights), grids)),
            pattern,
            read_threshold: (u64::from(plan.read_percent) << 32) / 100,
            discard_threshold: (u64::from(plan.discard_percent) << 32) / 100,
        }
    }

    /// The draws of a stream of one size and an even pattern; `take_back` goes on where it ends.
    #[inline]
    pub(crate) fn uniform(&self) -> Uniform {
        Uniform {
            generator: self.generator.clone(),
            range: self.range,
            grid: self.grid,
        }
    }

    #[inline]
    pub(crate) fn take_back(&mut self, uniform: Uniform) {
        self.generator = uniform.generator;
    }

    /// The length of the block drawn last.
    #[inline]
    pub(crate) fn block_size_bytes(&self) -> u32 {
        self.grid.length_bytes
    }

    /// The length of the next block; the same as ever where there is no mix.
    #[inline]
    pub fn length_bytes(&mut self) -> u32 {
        if let Some((table, grids)) = &self.mix {
            self.size = table.pick(self.generator.next_u64());
            self.grid = grids[self.size];
        }
        self.grid.length_bytes
    }

    /// A whole block of the length drawn last.
    #[inline]
    pub fn extent(&mut self) -> Extent {
        let place = match &self.pattern {
            Pattern::Uniform => scale(self.generator.next_u64(), self.grid.places),
            Pattern::Zoned(..) | Pattern::Zipf(..) | Pattern::Pareto(..) => self.uneven_place(),
        };
        Extent {
            offset_bytes: self.grid.offset_bytes(place, &self.range),
            length_bytes: self.grid.length_bytes,
        }
    }

    fn uneven_place(&mut self) -> u64 {
        let generator = &mut self.generator;
        match &self.pattern {
            Pattern::Uniform => scale(generator.next_u64(), self.grid.places),
            Pattern::Zoned(table, laid) => {
                let (first, places) = laid[self.size][table.pick(generator.next_u64())];
                first + scale(generator.next_u64(), places)
            }
            Pattern::Zipf(zipf, scatter) => scatter.forward(zipf.rank(|| generator.next_u64())),
            Pattern::Pareto(pareto, scatter) => scatter.forward(pareto.rank(generator.next_u64())),
        }
    }

    /// What the next I/O does. Pure streams are exact and draw nothing.
    #[inline]
    pub fn op(&mut self) -> Op {
        if self.discard_threshold > 0 && self.is_below(self.discard_threshold) {
            return Op::Discard;
        }
        if self.is_below(self.read_threshold) {
            Op::Read
        } else {
            Op::Write
        }
    }

    #[inline]
    fn is_below(&mut self, threshold: u64) -> bool {
        match threshold {
            0 => false,
            threshold if threshold == 1 << 32 => true,
            threshold => self.generator.next_u64() >> 32 < threshold,
        }
    }
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
