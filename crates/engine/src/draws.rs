//! What a worker draws: sizes, places, and what is done there; places by multiplication (no modulo,
//! no bias to speak of), even or skewed. One I/O is drawn after the other, or some ahead of their
//! turn, for a backend that gains by knowing what comes.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::access::{lay_zones, Grid};
use crate::permutation::Permutation;
use crate::plan::{Access, Range, StreamPlan};
use crate::request::{Extent, Op};
use crate::seed::{derive_seed, scale};
use crate::skew::{AliasTable, Pareto, Zipf};

/// The threshold that all draws are below.
const ALL: u64 = 1 << 32;

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

/// I/Os that are drawn together ahead of their turn, when no more than half as many are left.
const TOGETHER: usize = 16;
const FEW: usize = TOGETHER / 2;
const ROOM: usize = 2 * TOGETHER;

/// I/Os that were drawn ahead of their turn, in order.
#[derive(Debug)]
struct Ahead {
    drawn: [(Extent, Op); ROOM],
    /// The place of the next one.
    next: usize,
    count: usize,
}

impl Default for Ahead {
    fn default() -> Self {
        let nothing = Extent {
            offset_bytes: 0,
            length_bytes: 0,
        };
        Self {
            drawn: [(nothing, Op::Read); ROOM],
            next: 0,
            count: 0,
        }
    }
}

impl Ahead {
    /// The next one, which stays the next.
    #[inline]
    fn front(&self) -> Option<(Extent, Op)> {
        (self.count > 0).then(|| self.drawn[self.next % ROOM])
    }

    #[inline]
    fn pass(&mut self) {
        self.next += 1;
        self.count -= 1;
    }
}

/// The draws of one worker: sizes, places, and what is done there.
#[derive(Debug)]
pub struct Draws {
    ahead: Ahead,
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
            ahead: Ahead::default(),
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

    /// Whether few I/Os are drawn ahead.
    #[inline]
    pub(crate) fn knows_few(&self) -> bool {
        self.ahead.count <= FEW
    }

    /// Draws I/Os ahead of their turn, and gives their places: sizes, places and operations are
    /// those that would be drawn one by one. For streams whose places are drawn.
    #[inline(never)]
    pub(crate) fn look_ahead(&mut self) -> [Extent; TOGETHER] {
        debug_assert!(self.knows_few());
        let drawn: [(Extent, Op); TOGETHER] = if let Some(op) = self.only_op() {
            let mut uniform = self.uniform();
            let drawn = std::array::from_fn(|_| (uniform.next_extent(), op));
            self.take_back(uniform);
            drawn
        } else {
            std::array::from_fn(|_| {
                self.draw_length();
                (self.draw_extent(), self.draw_op())
            })
        };
        let end = self.ahead.next + self.ahead.count;
        for (number, &one) in drawn.iter().enumerate() {
            self.ahead.drawn[(end + number) % ROOM] = one;
        }
        self.ahead.count += TOGETHER;
        drawn.map(|one| one.0)
    }

    /// What all I/Os do, where besides nothing but places is drawn, and those evenly.
    fn only_op(&self) -> Option<Op> {
        let is_even = self.mix.is_none() && matches!(self.pattern, Pattern::Uniform);
        match (self.read_threshold, self.discard_threshold) {
            (0, 0) if is_even => Some(Op::Write),
            (threshold, 0) if is_even && threshold == ALL => Some(Op::Read),
            _ => None,
        }
    }

    /// The next I/O of those that were drawn ahead, if there is one.
    #[inline]
    pub(crate) fn take_ahead(&mut self) -> Option<(Extent, Op)> {
        let front = self.ahead.front();
        if front.is_some() {
            self.ahead.pass();
        }
        front
    }

    /// The draws of a stream of one size and an even pattern, after those that were drawn ahead;
    /// `take_back` goes on where it ends.
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
        match self.ahead.front() {
            Some((extent, _)) => extent.length_bytes,
            None => self.draw_length(),
        }
    }

    #[inline]
    fn draw_length(&mut self) -> u32 {
        if let Some((table, grids)) = &self.mix {
            self.size = table.pick(self.generator.next_u64());
            self.grid = grids[self.size];
        }
        self.grid.length_bytes
    }

    /// A whole block of the length drawn last.
    #[inline]
    pub fn extent(&mut self) -> Extent {
        match self.ahead.front() {
            Some((extent, _)) => extent,
            None => self.draw_extent(),
        }
    }

    #[inline]
    fn draw_extent(&mut self) -> Extent {
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

    /// What the next I/O does, and goes on to the one after it. Pure streams are exact and draw
    /// nothing.
    #[inline]
    pub fn op(&mut self) -> Op {
        match self.take_ahead() {
            Some((_, op)) => op,
            None => self.draw_op(),
        }
    }

    #[inline]
    fn draw_op(&mut self) -> Op {
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
            ALL => true,
            threshold => self.generator.next_u64() >> 32 < threshold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{BlockShare, Zone};

    const CAPACITY_BYTES: u64 = 64 << 20;

    fn plan(access: Access, read_percent: u8, discard_percent: u8, mixes: bool) -> StreamPlan {
        let block = |block_size_bytes, weight| BlockShare {
            block_size_bytes,
            weight,
        };
        StreamPlan {
            block_size_bytes: 4096,
            read_percent,
            discard_percent,
            access,
            blocks: if mixes {
                vec![block(4096, 3), block(512, 2), block(65_536, 1)]
            } else {
                Vec::new()
            },
            range: Range {
                start_bytes: 1 << 20,
                segments: 4,
                segment_bytes: CAPACITY_BYTES / 8,
                stride_bytes: CAPACITY_BYTES / 4,
            },
            ..StreamPlan::default()
        }
    }

    fn one(draws: &mut Draws) -> (u32, Extent, Op) {
        (draws.length_bytes(), draws.extent(), draws.op())
    }

    #[test]
    fn what_is_drawn_ahead_is_what_would_be_drawn_one_by_one() {
        let zone = |range_share, access_share| Zone {
            access_share,
            range_share,
        };
        let accesses = [
            Access::Random,
            Access::Zoned(vec![zone(0.2, 0.8), zone(0.8, 0.2)]),
            Access::Zipf { theta: 0.9 },
            Access::Pareto { h: 0.2 },
        ];
        for access in accesses {
            for (read_percent, discard_percent) in [(0, 0), (100, 0), (70, 0), (0, 10), (50, 5)] {
                for mixes in [false, true] {
                    let plan = plan(access.clone(), read_percent, discard_percent, mixes);
                    let (mut turns, mut ahead) = (Draws::new(7, &plan), Draws::new(7, &plan));
                    let (mut told, mut taken) = (Vec::new(), Vec::new());
                    for number in 0..1_000 {
                        // Some laps are begun without looking ahead, as those of a small drive are.
                        if number >= 5 && ahead.knows_few() {
                            told.extend(ahead.look_ahead());
                        }
                        let expected = one(&mut turns);
                        let is_short = number % 3 == 0;
                        let seen = match is_short.then(|| ahead.take_ahead()).flatten() {
                            Some((extent, op)) => (extent.length_bytes, extent, op),
                            None => one(&mut ahead),
                        };
                        assert_eq!(seen, expected, "{plan:?} {number}");
                        taken.extend((number >= 5).then_some(seen.1));
                    }
                    assert!(told.starts_with(&taken), "{plan:?}");
                }
            }
        }
    }
}
