//! What must be read where, for all workers of a plan: by a formula where one ordered stream
//! writes, from a table of the last writes where not, and which writes are in flight.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::access::{Cursor, Shuffle};
use crate::plan::{Access, Order, Plan, Range, StreamPlan, Written};
use crate::request::Extent;
use crate::seed::derive_seed;

/// Writes without an order that are remembered. 4 MiB.
const REMEMBERED: usize = 1 << 18;
/// More uncertain grains than this, and nothing is judged by generation any more.
const UNCERTAIN_MAX: usize = 1 << 16;

/// What a read of one grain may find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    /// The generation that was surely there when the read began; 0 where none is known.
    pub floor: u64,
    /// The newest generation issued when the read began.
    pub ceiling: u64,
    /// A write was in flight, or failed, when the read began.
    pub disturbed: bool,
}

/// The writes of one grain that are in flight, or left it uncertain.
#[derive(Clone, Copy, Debug)]
struct Flying {
    in_flight: u32,
    /// What was surely there before.
    floor: u64,
    /// A write failed, or two overlapped: then old, new and a mix of both are possible.
    uncertain: bool,
}

/// Grain numbers are spread by multiplication.
#[derive(Default)]
struct GrainHasher(u64);

impl Hasher for GrainHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("only numbers are hashed");
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = derive_seed(0, number);
    }
}

/// A stimulus of ordered writes and the generations it leaves behind.
#[derive(Debug)]
struct Formula {
    /// None for sequential writes.
    shuffle: Option<Shuffle>,
    range: Range,
    from_bytes: u64,
    to_bytes: u64,
    generation: u64,
}

impl Formula {
    fn new(written: &Written) -> Self {
        let shuffle = match written.order {
            Order::Sequential => None,
            Order::Shuffled {
                key,
                block_size_bytes,
            } => Some(Shuffle::new(key, 0, block_size_bytes, written.range)),
        };
        Self {
            shuffle,
            range: written.range,
            from_bytes: written.from_bytes,
            to_bytes: written.to_bytes,
            generation: written.generation,
        }
    }

    fn pass_bytes(&self) -> u64 {
        let whole = self.range.segments * self.range.segment_bytes;
        self.shuffle.as_ref().map_or(whole, Shuffle::pass_bytes)
    }

    /// Bytes of the pass before the byte at `offset_bytes`; None where it is not in the range.
    fn turn_bytes(&self, pass: u64, offset_bytes: u64) -> Option<u64> {
        let relative = offset_bytes.checked_sub(self.range.start_bytes)?;
        let (segment, within) = if self.range.segments == 1 {
            (0, relative)
        } else {
            let stride = self.range.stride_bytes;
            (relative / stride, relative % stride)
        };
        if segment >= self.range.segments || within >= self.range.segment_bytes {
            return None;
        }
        let position = segment * self.range.segment_bytes + within;
        match &self.shuffle {
            None => Some(position),
            Some(shuffle) => shuffle.turn_bytes(pass, position),
        }
    }

    /// The newest generation written at `offset_bytes` when the writes ended at `to_bytes` (over
    /// all passes); None where there was none.
    fn newest(&self, offset_bytes: u64, to_bytes: u64) -> Option<u64> {
        let pass_bytes = self.pass_bytes();
        let current = to_bytes / pass_bytes;
        let written = |pass: u64| {
            let turn = pass * pass_bytes + self.turn_bytes(pass, offset_bytes)?;
            (turn < to_bytes && turn >= self.from_bytes).then_some(pass)
        };
        let pass = written(current).or_else(|| written(current.checked_sub(1)?))?;
        Some(self.generation + pass - self.from_bytes / pass_bytes)
    }
}

struct Books {
    flying: HashMap<u64, Flying, BuildHasherDefault<GrainHasher>>,
    /// Grains whose last writes failed or overlapped: what is there is not known until the next
    /// write.
    uncertain: usize,
    /// What earlier steps left, and what the one ordered stream of this plan has written.
    past: Vec<Formula>,
    live: Option<Formula>,
    /// (grain, generation) by the hash of the grain; generation 0 is an empty place.
    remembered: Vec<(u64, u64)>,
    next_generation: u64,
}

/// The books of a plan. One lock: a verified I/O costs a checksum of its data anyway.
pub struct Ledger {
    grain_bytes: u64,
    books: Mutex<Books>,
}

/// The stream that alone writes, in an order, if there is one.
fn ordered_writer(plan: &Plan) -> Option<(usize, &StreamPlan)> {
    let mut writers = plan
        .streams
        .iter()
        .enumerate()
        .filter(|(_, one)| one.writes());
    let (index, writer) = writers.next()?;
    let in_order = writer.access.is_ordered();
    (in_order && writer.read_percent == 0 && writers.next().is_none()).then_some((index, writer))
}

impl Ledger {
    /// The books of a plan that was checked; None if it does not verify.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        let verified = plan.streams.iter().filter_map(|one| one.verify.as_ref());
        let next_generation = verified.clone().map(|verify| verify.generation).max()?;
        let past = verified
            .flat_map(|verify| &verify.written)
            .map(Formula::new)
            .collect();
        let live = ordered_writer(plan).map(|(_, writer)| Formula::new(&begun(writer)));
        let writes = plan.streams.iter().any(StreamPlan::writes);
        let places = if writes && live.is_none() {
            REMEMBERED
        } else {
            0
        };
        Some(Self {
            grain_bytes: plan.grain_bytes(),
            books: Mutex::new(Books {
                flying: HashMap::default(),
                uncertain: 0,
                past,
                live,
                remembered: vec![(0, 0); places],
                next_generation,
            }),
        })
    }

    /// Whether blocks of `stream` must be taken by `begin_next`.
    pub(crate) fn is_ordered(plan: &Plan, stream: usize) -> bool {
        ordered_writer(plan).is_some_and(|(index, _)| index == stream)
    }

    pub(crate) fn grain_bytes(&self) -> u64 {
        self.grain_bytes
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn grains(&self, extent: Extent) -> std::ops::RangeInclusive<u64> {
        let last = extent.offset_bytes + u64::from(extent.length_bytes) - 1;
        extent.offset_bytes / self.grain_bytes..=last / self.grain_bytes
    }

    /// Takes the next block of the ordered stream and puts it in flight, in one act: nobody sees
    /// a cursor that is ahead of the writes. None while a write of the pass before is in flight
    /// there. Returns the block and its generation.
    pub(crate) fn begin_next(
        &self,
        range: &Range,
        cursor: &Cursor,
        shuffle: Option<&Shuffle>,
        limit_bytes: u32,
    ) -> Option<(Extent, u64)> {
        let mut books = self.books();
        let next = match shuffle {
            Some(shuffle) => shuffle.peek().0,
            None => cursor.peek(range, limit_bytes),
        };
        if books.is_flying(self.grains(next)) {
            return None;
        }
        let (extent, to_bytes) = if let Some(shuffle) = shuffle {
            (shuffle.advance().0, shuffle.cursor_bytes())
        } else {
            let extent = cursor.advance(range, limit_bytes);
            let passed = cursor.passes() * range.segments * range.segment_bytes;
            (extent, passed + cursor.position_bytes())
        };
        let live = books.live.as_mut().expect("the stream is the ordered one");
        let before = std::mem::replace(&mut live.to_bytes, to_bytes);
        let newest = live.newest(extent.offset_bytes, to_bytes);
        let generation = newest.expect("the block was taken just now");
        for grain in self.grains(extent) {
            let floor = books.newest(grain, self.grain_bytes, before);
            books.fly(grain, floor);
        }
        Some((extent, generation))
    }

    /// Whether a write of the extent is in flight.
    pub(crate) fn is_flying(&self, extent: Extent) -> bool {
        self.books().is_flying(self.grains(extent))
    }

    /// Puts a write without an order in flight; returns its generation.
    pub(crate) fn begin_write(&self, extent: Extent) -> u64 {
        let mut books = self.books();
        let generation = books.next_generation;
        books.next_generation += 1;
        for grain in self.grains(extent) {
            let floor = books.newest(grain, self.grain_bytes, 0);
            books.fly(grain, floor);
        }
        generation
    }

    pub(crate) fn end_write(&self, extent: Extent, generation: u64, succeeded: bool) {
        let mut books = self.books();
        for grain in self.grains(extent) {
            books.land(grain, generation, succeeded);
        }
    }

    /// What a read that begins now may find in each of its grains.
    pub(crate) fn begin_read(&self, extent: Extent, expected: &mut Vec<Expected>) {
        let books = self.books();
        expected.clear();
        expected.extend(
            self.grains(extent)
                .map(|grain| books.expect(grain, self.grain_bytes)),
        );
    }

    /// Whether a write of the grain was in flight at any time since `then`.
    pub(crate) fn is_disturbed(&self, offset_bytes: u64, then: Expected) -> bool {
        let grain = offset_bytes / self.grain_bytes;
        let books = self.books();
        let now = books.expect(grain, self.grain_bytes);
        then.disturbed || now.disturbed || now.floor > then.ceiling
    }

    /// What the ordered stream has left behind, and the first generation that is free.
    pub(crate) fn close(&self) -> (Option<Written>, u64) {
        let books = self.books();
        let Some(live) = &books.live else {
            return (None, books.next_generation);
        };
        let order = match &live.shuffle {
            None => Order::Sequential,
            Some(shuffle) => shuffle.order_term(),
        };
        let passes = live.to_bytes / live.pass_bytes() - live.from_bytes / live.pass_bytes();
        let written = Written {
            order,
            range: live.range,
            from_bytes: live.from_bytes,
            to_bytes: live.to_bytes,
            generation: live.generation,
        };
        (Some(written), live.generation + passes + 1)
    }
}

/// The ordered stimulus of a stream, before its first write.
fn begun(writer: &StreamPlan) -> Written {
    let (order, cursor_bytes) = match writer.access {
        Access::Shuffled { key, cursor_bytes } => {
            let block_size_bytes = writer.block_size_bytes;
            (
                Order::Shuffled {
                    key,
                    block_size_bytes,
                },
                cursor_bytes,
            )
        }
        Access::Sequential { cursor_bytes } => {
            let length = writer.range.segments * writer.range.segment_bytes;
            (Order::Sequential, cursor_bytes % length)
        }
        _ => unreachable!("only an ordered stream has a formula"),
    };
    Written {
        order,
        range: writer.range,
        from_bytes: cursor_bytes,
        to_bytes: cursor_bytes,
        generation: writer.verify.as_ref().map_or(1, |verify| verify.generation),
    }
}

impl Books {
    fn is_flying(&self, mut grains: impl Iterator<Item = u64>) -> bool {
        let in_flight = |grain: u64| self.flying.get(&grain).is_some_and(|one| one.in_flight > 0);
        grains.any(in_flight)
    }

    /// The newest generation that was issued for a grain and is remembered; 0 if none.
    fn newest(&self, grain: u64, grain_bytes: u64, live_to_bytes: u64) -> u64 {
        let offset_bytes = grain * grain_bytes;
        let remembered = match self.remembered.get(self.place(grain)) {
            Some(&(same, generation)) if same == grain => generation,
            Some(_) | None => 0,
        };
        let live = self
            .live
            .as_ref()
            .and_then(|one| one.newest(offset_bytes, live_to_bytes));
        let past = || {
            self.past
                .iter()
                .filter_map(|one| one.newest(offset_bytes, one.to_bytes))
        };
        match live.unwrap_or(remembered) {
            0 => past().max().unwrap_or(0),
            generation => generation,
        }
    }

    fn place(&self, grain: u64) -> usize {
        derive_seed(1, grain) as usize & self.remembered.len().wrapping_sub(1)
    }

    fn fly(&mut self, grain: u64, floor: u64) {
        let flying = self.flying.entry(grain).or_insert(Flying {
            in_flight: 0,
            floor,
            uncertain: false,
        });
        if flying.in_flight == 0 {
            self.uncertain -= usize::from(flying.uncertain);
            flying.uncertain = false;
        } else {
            flying.uncertain = true;
        }
        flying.in_flight += 1;
    }

    fn land(&mut self, grain: u64, generation: u64, succeeded: bool) {
        let place = self.place(grain);
        let flying = self.flying.get_mut(&grain).expect("the write is in flight");
        flying.in_flight -= 1;
        flying.uncertain |= !succeeded;
        if flying.in_flight > 0 {
            return;
        }
        let remembered = self.remembered.get_mut(place);
        if flying.uncertain {
            flying.floor = 0;
            self.uncertain += 1;
            if let Some(remembered) = remembered {
                *remembered = (grain, 0);
            }
        } else {
            self.flying.remove(&grain);
            if let Some(remembered) = remembered {
                *remembered = (grain, generation);
            }
        }
    }

    fn expect(&self, grain: u64, grain_bytes: u64) -> Expected {
        let live_to_bytes = self.live.as_ref().map_or(0, |live| live.to_bytes);
        let newest = self.newest(grain, grain_bytes, live_to_bytes);
        let flying = self.flying.get(&grain);
        let ceiling = if self.live.is_some() {
            newest
        } else {
            newest.max(self.next_generation - 1)
        };
        if self.uncertain > UNCERTAIN_MAX {
            return Expected {
                floor: 0,
                ceiling,
                disturbed: true,
            };
        }
        Expected {
            floor: flying.map_or(newest, |one| one.floor),
            ceiling,
            disturbed: flying.is_some(),
        }
    }
}
