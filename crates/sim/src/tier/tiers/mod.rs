//! A pair of tiers in virtual time: each chunk lies on the fast device or on the slow one. Host
//! I/O goes where its chunks lie; chunks move, up alone or in exchange, as I/O like any other.

mod io;
mod migration;
mod moves;
mod places;

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use teijo_engine::request::Op;

use self::migration::{Exchange, Heat};
use self::moves::{Moves, Waiting};
use self::places::{Place, Places};
use super::pair::{Capacity, Pair, Piece, Range, Side};
use super::params::{TierParams, TIER_PARAMETERS};
use super::recency::Recency;
use super::requests::Requests;
use crate::clip::{clip, LOGICAL_BLOCK_BYTES};
use crate::device::{rest, serve_alone, Device, Ended, Facts, Health, Label, Outcome, Ticket};
use crate::digest::Digest;

/// How long it takes to say that a chunk was never written, beside its zeros.
const EMPTY_NS: u64 = 10_000;
/// The zeros of such chunks, one read after the other: 4,000 MB/s, as a cache's RAM has it.
const EMPTY_BYTES_PER_NS: u64 = 4;

/// Why an I/O was sent below.
#[derive(Clone, Copy, Debug)]
enum IoPurpose {
    Host {
        request: usize,
    },
    /// One side of a chunk's move.
    Move {
        number: usize,
    },
}

#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    read_bytes: u64,
    written_bytes: u64,
    trimmed_bytes: u64,
    fast_parts: u64,
    slow_parts: u64,
    migrations: u64,
    promoted: u64,
    demoted: u64,
    moved_bytes: u64,
    waited: u64,
}

/// A simulated pair of tiers. See `docs/reference/simulated-tiers.md`.
#[derive(Clone, Debug)]
pub struct Tier<D> {
    params: TierParams,
    capacity: Capacity,
    pair: Pair<IoPurpose, D>,
    places: Places,
    heat: Heat,
    /// Of fast places, where chunks move up as they are used.
    recency: Recency,
    moves: Moves,
    planned: VecDeque<Exchange>,
    /// Between two migrations; `u64::MAX` for never.
    migrate_every_ns: u64,
    /// The next one; `u64::MAX` while nothing is asked for.
    migrate_ns: u64,
    requests: Requests,
    /// When the zeros of what was never written are free to be sent again.
    empty_free_ns: u64,
    counters: Counters,
}

impl<D: Device> Tier<D> {
    /// The first of `parts` as the fast tier, the second as the slow one; `Err` says why there is
    /// none. Its capacity is that of both, in whole chunks.
    pub fn new(params: TierParams, parts: Vec<D>) -> Result<Self, String> {
        let pair = Pair::new(parts)?;
        let [fast, slow] = pair.devices().map(Device::facts);
        let chunk_bytes = u64::from(params.chunk_bytes);
        let chunks = [fast.capacity_bytes, slow.capacity_bytes].map(|bytes| bytes / chunk_bytes);
        if chunks.contains(&0) {
            return Err(format!("a chunk of {chunk_bytes} B does not fit on a tier"));
        }
        let all: u64 = chunks.iter().sum();
        if all >= u64::from(u32::MAX) {
            return Err(format!("{all} chunks are too many; make them larger"));
        }
        let every_ns = params.migrate_every_s * 1e9 / fast.scale();
        let migrate_every_ns = if every_ns >= 1.0 {
            every_ns as u64
        } else {
            u64::MAX
        };
        Ok(Self {
            capacity: Capacity {
                nominal_bytes: fast.nominal_capacity_bytes + slow.nominal_capacity_bytes,
                fast_bytes: fast.nominal_capacity_bytes,
                bytes: all * chunk_bytes,
            },
            pair,
            places: Places::new(chunks[0] as u32, chunks[1] as u32),
            heat: Heat::new(),
            recency: Recency::new(),
            moves: Moves::new(params.migrate_in_flight as usize),
            planned: VecDeque::new(),
            migrate_every_ns,
            migrate_ns: u64::MAX,
            requests: Requests::default(),
            empty_free_ns: 0,
            counters: Counters::default(),
            params,
        })
    }

    pub(crate) fn relabel(&mut self, label: Label) {
        self.pair.relabel(label);
    }

    /// The same, with what its devices are written as by themselves among its facts.
    #[must_use]
    pub(crate) fn written_as(mut self, texts: Vec<String>) -> Self {
        self.pair.written_as(texts);
        self
    }

    /// The fast device and the slow one.
    pub fn parts(&self) -> [&D; 2] {
        self.pair.devices()
    }
}

impl<D: Device> Device for Tier<D> {
    fn serve(&mut self, op: Op, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> Outcome {
        serve_alone(self, op, offset_bytes, length_bytes, at_ns)
    }

    fn submit(
        &mut self,
        ticket: Ticket,
        op: Op,
        offset_bytes: u64,
        length_bytes: u32,
        at_ns: u64,
    ) -> Option<Outcome> {
        let told = |done_ns, result| Some(Outcome { done_ns, result });
        let length_bytes = match op {
            Op::Flush => 0,
            Op::Read | Op::Write | Op::Discard => {
                match clip(op, offset_bytes, length_bytes, self.capacity.bytes) {
                    Ok(length_bytes) => length_bytes,
                    Err(result) => return told(at_ns, result),
                }
            }
        };
        let range = Range {
            offset_bytes,
            length_bytes: u64::from(length_bytes),
        };
        let request = self.requests.open(ticket, length_bytes.cast_signed());
        let waiting = Waiting { request, op, range };
        match op {
            Op::Read => self.counters.read_bytes += range.length_bytes,
            Op::Write => self.counters.written_bytes += range.length_bytes,
            Op::Discard => self.counters.trimmed_bytes += range.length_bytes,
            Op::Flush => {}
        }
        match op {
            Op::Read | Op::Write => {
                self.route(waiting, at_ns);
                self.warm(range, at_ns);
            }
            Op::Discard => self.route(waiting, at_ns),
            Op::Flush => {
                for side in [Side::Fast, Side::Slow] {
                    self.send(request, op, Some(Piece::nothing(side)), at_ns);
                }
            }
        }
        // It ends here only if nothing of it was ever written.
        let told_ns = match op {
            Op::Read => {
                at_ns.max(self.empty_free_ns) + range.length_bytes.div_ceil(EMPTY_BYTES_PER_NS)
            }
            Op::Write | Op::Discard | Op::Flush => at_ns,
        };
        let outcome = Outcome {
            done_ns: told_ns + EMPTY_NS,
            result: 0,
        };
        let end = self.requests.release(request, outcome)?;
        self.empty_free_ns = self.empty_free_ns.max(told_ns);
        Some(end.outcome)
    }

    #[inline]
    fn next_ns(&self) -> u64 {
        self.pair.next_ns().min(self.migrate_ns)
    }

    fn step(&mut self, ended: &mut Vec<Ended>) {
        if self.pair.next_ns() <= self.migrate_ns {
            match self.pair.step() {
                Some((IoPurpose::Host { request }, outcome)) => {
                    ended.extend(self.requests.release(request, outcome));
                }
                Some((IoPurpose::Move { number }, outcome)) => self.carried(number, outcome, ended),
                None => {}
            }
            return;
        }
        let at_ns = self.migrate_ns;
        self.migrate();
        self.begin_planned(at_ns);
    }

    fn is_far(&self) -> bool {
        self.pair.is_far()
    }

    /// Of several chunks only the beginning.
    #[inline]
    fn foresee(&self, offset_bytes: u64, length_bytes: u32) {
        let length_bytes = u64::from(length_bytes);
        let (chunk, inside, bytes) = self.first_part(Range {
            offset_bytes,
            length_bytes,
        });
        if let Some(place) = self.places.find(chunk) {
            self.pair.foresee(self.piece(place, inside, bytes));
        }
    }

    fn purge(&mut self, at_ns: u64) -> u64 {
        self.planned.clear();
        self.migrate_ns = u64::MAX;
        let (mut quiet_ns, mut ended) = (at_ns, Vec::new());
        while self.pair.in_flight() > 0 {
            quiet_ns = quiet_ns.max(self.next_ns());
            self.step(&mut ended);
        }
        assert!(ended.is_empty(), "no host I/O was in flight");
        self.places.clear();
        self.heat.clear();
        self.recency.clear();
        self.pair.purge(quiet_ns)
    }

    fn idle(&mut self, from_ns: u64, to_ns: u64) {
        rest(self, to_ns);
        self.pair.idle(from_ns, to_ns);
    }

    fn content(&mut self, left_q16: u32) {
        self.pair.content(left_q16);
    }

    /// Where each chunk lies is kept on both.
    fn power_cut(&mut self, at_ns: u64) -> u64 {
        self.pair.power_cut(at_ns)
    }

    /// What each tier would lose, by the chunks that lie there.
    fn volatile(&self, at_ns: u64) -> Vec<(u64, u64)> {
        let chunk_bytes = u64::from(self.params.chunk_bytes);
        let chunks = self.places.chunks().map(|(chunk, _)| chunk);
        let placed = chunks.filter_map(|chunk| Some((self.places.find(chunk)?, chunk)));
        let in_place: HashMap<Place, u32> = placed.collect();
        let mut lost = Vec::new();
        for (side, device) in [Side::Fast, Side::Slow]
            .into_iter()
            .zip(self.pair.devices())
        {
            for (offset_bytes, length_bytes) in device.volatile(at_ns) {
                let mut rest = Range {
                    offset_bytes,
                    length_bytes,
                };
                while rest.length_bytes > 0 {
                    let (slot, inside, bytes) = self.first_part(rest);
                    rest = rest.after(bytes);
                    let chunk = in_place.get(&Place { side, slot });
                    lost.extend(
                        chunk.map(|&chunk| (u64::from(chunk) * chunk_bytes + inside, bytes)),
                    );
                }
            }
        }
        lost
    }

    fn counts(&self) -> Vec<(Cow<'static, str>, u64)> {
        let of = self.counters;
        self.pair.counts(&[
            ("fast_parts", of.fast_parts),
            ("slow_parts", of.slow_parts),
            ("migrations", of.migrations),
            ("promoted_chunks", of.promoted),
            ("demoted_chunks", of.demoted),
            ("moved_bytes", of.moved_bytes),
            ("waited_parts", of.waited),
        ])
    }

    fn health(&self) -> Health {
        self.pair.health(Health {
            host_reads_bytes: self.counters.read_bytes,
            host_writes_bytes: self.counters.written_bytes,
            trims_bytes: self.counters.trimmed_bytes,
            ..Health::default()
        })
    }

    fn facts(&self) -> Facts {
        let own = TIER_PARAMETERS.iter().map(|parameter| {
            let value = parameter.value(&self.params);
            (parameter.name.into(), value, parameter.unit)
        });
        let own = own.collect();
        self.pair
            .facts("tier", self.params.seed, self.capacity, own)
    }

    fn is_rotational(&self) -> bool {
        self.pair.devices().into_iter().any(Device::is_rotational)
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity.bytes
    }

    fn logical_block_bytes(&self) -> u32 {
        LOGICAL_BLOCK_BYTES
    }

    fn digest(&self) -> u64 {
        let mut digest = Digest::new();
        self.pair.digest(&mut digest, |why| match why {
            IoPurpose::Host { .. } => 0,
            IoPurpose::Move { .. } => 1,
        });
        digest.mix(self.places.numbers());
        digest.mix(self.heat.numbers());
        digest.mix(self.recency.oldest().map(u64::from));
        digest.mix(self.moves.numbers());
        digest.mix([
            self.planned.len() as u64,
            self.migrate_ns,
            self.empty_free_ns,
        ]);
        let of = self.counters;
        digest.mix([of.read_bytes, of.written_bytes, of.trimmed_bytes]);
        digest.mix([of.fast_parts, of.slow_parts, of.promoted, of.waited]);
        digest.mix([self.requests.in_flight() as u64]);
        digest.value()
    }
}
