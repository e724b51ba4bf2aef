//! An SSD cache in virtual time: chunks of a slow device that have a copy, or a newer version, on
//! a fast one. A host I/O is split where one of the two has it; what is read from the slow device
//! is stored on its way, what is dirty is drained behind the host's back.

mod discards;
mod drain;
mod draining;
mod io;
mod slots;
mod streams;

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use teijo_engine::request::Op;

use self::discards::Discards;
use self::drain::Drain;
use self::slots::{runs, Slots};
use self::streams::Streams;
use super::pair::{Capacity, Pair, Range, Side};
use super::params::{SsdCacheParams, SSD_CACHE_PARAMETERS};
use super::recency::Recency;
use super::requests::Requests;
use crate::clip::{clip, LOGICAL_BLOCK_BYTES};
use crate::device::{rest, serve_alone, Device, Ended, Facts, Health, Label, Outcome, Ticket};
use crate::digest::Digest;

const SECTOR: u64 = LOGICAL_BLOCK_BYTES as u64;

/// Why an I/O was sent below.
#[derive(Clone, Copy, Debug)]
enum IoPurpose {
    /// A host I/O, or a part of it.
    Host { request: u32 },
    /// A read of the slow device that is stored as well.
    Fetch { fetch: u32 },
    /// What was fetched, on its way to a slot.
    Store { slot: u32 },
    /// A slot read for the drain.
    Collect { job: u32 },
    /// A drain's write.
    Drain { job: u32 },
    /// One of the discards by the host.
    Discard { number: u32 },
}

impl IoPurpose {
    #[inline]
    fn host(request: usize) -> Self {
        Self::Host {
            request: request as u32,
        }
    }
}

/// A read of the slow device, who waits for it, and the slots it fills: (slot, sectors).
#[derive(Clone, Debug, Default)]
struct Fetch {
    requests: Vec<usize>,
    fills: Vec<(u32, u128)>,
}

/// The rest of a host write that waits for the drain.
#[derive(Clone, Copy, Debug)]
struct Stalled {
    request: usize,
    range: Range,
    is_sequential: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    read_bytes: u64,
    written_bytes: u64,
    trimmed_bytes: u64,
    read_hits: u64,
    read_misses: u64,
    write_hits: u64,
    write_misses: u64,
    promotions: u64,
    fetched_bytes: u64,
    around_bytes: u64,
    stalls: u64,
}

/// A simulated SSD cache. See `docs/reference/simulated-tiers.md`.
#[derive(Clone, Debug)]
pub struct SsdCache<D> {
    params: SsdCacheParams,
    capacity: Capacity,
    pair: Pair<IoPurpose, D>,
    slots: Slots,
    dirty_limit_chunks: u32,
    drain: Drain,
    /// When the drain next begins something.
    drain_ns: u64,
    /// When that or something below is next; asked far more often than it changes.
    next_ns: u64,
    requests: Requests,
    fetches: Vec<Fetch>,
    free_fetches: Vec<usize>,
    stalled: VecDeque<Stalled>,
    discards: Discards,
    /// Chunks that were not taken in, by their last access.
    refused: Recency,
    streams: Streams,
    counters: Counters,
}

impl<D: Device> SsdCache<D> {
    /// A cache on the first of `parts` in front of the second; `Err` says why there is none.
    pub fn new(params: SsdCacheParams, parts: Vec<D>) -> Result<Self, String> {
        let pair = Pair::new(parts)?;
        let [fast, slow] = pair.devices().map(Device::facts);
        let chunk_bytes = u64::from(params.chunk_bytes);
        let scaled = |bytes: u64| (bytes as f64 / fast.scale()) as u64;
        let size_bytes = params.size_bytes.map_or(fast.capacity_bytes, scaled);
        if size_bytes > fast.capacity_bytes {
            let has = fast.nominal_capacity_bytes;
            return Err(format!("the fast device has {has} B, fewer than size"));
        }
        let chunks = |bytes: u64| u32::try_from(bytes / chunk_bytes).unwrap_or(u32::MAX);
        let count = chunks(size_bytes);
        if count == 0 {
            return Err(format!(
                "a chunk of {chunk_bytes} B does not fit in the cache"
            ));
        }
        if slow.capacity_bytes / chunk_bytes >= u64::from(u32::MAX) {
            return Err(format!("{} B are too many chunks", slow.capacity_bytes));
        }
        let limit = params.dirty_limit_bytes;
        let limit = limit.map_or(count / 2, |bytes| chunks(scaled(bytes)));
        let capacity = Capacity {
            nominal_bytes: slow.nominal_capacity_bytes,
            fast_bytes: params.size_bytes.unwrap_or(fast.nominal_capacity_bytes),
            bytes: slow.capacity_bytes,
        };
        Ok(Self {
            capacity,
            pair,
            slots: Slots::new(count),
            dirty_limit_chunks: limit.clamp(1, count),
            drain: Drain::new(&params, chunks(scaled(params.drain_from_bytes))),
            drain_ns: u64::MAX,
            requests: Requests::default(),
            fetches: Vec::new(),
            free_fetches: Vec::new(),
            stalled: VecDeque::new(),
            discards: Discards::default(),
            next_ns: u64::MAX,
            refused: Recency::new(),
            streams: Streams::default(),
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

    /// Notes when something is next, after anything was sent or taken below.
    #[inline]
    fn look(&mut self) {
        self.next_ns = self.pair.next_ns().min(self.drain_ns);
    }

    /// The fast device and the slow one.
    pub fn parts(&self) -> [&D; 2] {
        self.pair.devices()
    }
}

impl<D: Device> Device for SsdCache<D> {
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
        let clipped = match op {
            Op::Flush => Ok(0),
            Op::Read | Op::Write | Op::Discard => {
                clip(op, offset_bytes, length_bytes, self.capacity.bytes)
            }
        };
        let length_bytes = match clipped {
            Ok(length_bytes) => length_bytes,
            Err(result) => {
                return Some(Outcome {
                    done_ns: at_ns,
                    result,
                })
            }
        };
        let request = self.requests.open(ticket, length_bytes.cast_signed());
        let range = Range {
            offset_bytes,
            length_bytes: u64::from(length_bytes),
        };
        self.begin(op, request, range, at_ns);
        self.drain(at_ns);
        self.look();
        let outcome = Outcome {
            done_ns: at_ns,
            result: 0,
        };
        let end = self.requests.release(request, outcome);
        end.map(|end| end.outcome)
    }

    #[inline]
    fn next_ns(&self) -> u64 {
        self.next_ns
    }

    fn step(&mut self, ended: &mut Vec<Ended>) {
        let at_ns = self.next_ns;
        if self.pair.next_ns() == at_ns {
            if let Some((why, outcome)) = self.pair.step() {
                self.came(why, outcome, ended);
            }
        }
        self.drain(at_ns);
        self.look();
    }

    fn step_on(&mut self, until_ns: u64, pause_ns: u64, ended: &mut Vec<Ended>) -> u64 {
        loop {
            let at_ns = self.next_ns;
            self.step(ended);
            let goes_on = self.next_ns < until_ns && self.next_ns - at_ns <= pause_ns;
            if !ended.is_empty() || !goes_on {
                return at_ns;
            }
        }
    }

    fn is_far(&self) -> bool {
        self.pair.is_far()
    }

    /// Of several chunks only the beginning.
    #[inline]
    fn foresee(&self, offset_bytes: u64, length_bytes: u32) {
        let length_bytes = u64::from(length_bytes);
        let (chunk, mask, _) = self.first_part(Range {
            offset_bytes,
            length_bytes,
        });
        let piece = match self.slots.foresee(chunk) {
            Some(slot) => self.piece(Side::Fast, slot, mask),
            None => self.piece(Side::Slow, chunk, mask),
        };
        self.pair.foresee(piece);
    }

    fn purge(&mut self, at_ns: u64) -> u64 {
        self.drain.is_suspended = true;
        self.drain_ns = u64::MAX;
        self.look();
        let mut quiet_ns = at_ns;
        let mut ended = Vec::new();
        while self.pair.in_flight() > 0 {
            quiet_ns = quiet_ns.max(self.next_ns());
            self.step(&mut ended);
        }
        assert!(ended.is_empty(), "no host I/O was in flight");
        self.slots.clear();
        self.drain.clear();
        self.refused.clear();
        self.streams.clear();
        let purged_ns = self.pair.purge(quiet_ns);
        self.look();
        purged_ns
    }

    fn idle(&mut self, from_ns: u64, to_ns: u64) {
        rest(self, to_ns);
        self.pair.idle(from_ns, to_ns);
        self.look();
    }

    fn content(&mut self, left_q16: u32) {
        self.pair.content(left_q16);
        self.look();
    }

    /// What is dirty is on the fast device and stays; where it is is kept there as well.
    fn power_cut(&mut self, at_ns: u64) -> u64 {
        let lost_bytes = self.pair.power_cut(at_ns);
        self.look();
        lost_bytes
    }

    /// What the fast device would lose of what only it has, and the slow one of what only it has.
    fn volatile(&self, at_ns: u64) -> Vec<(u64, u64)> {
        let [fast, slow] = self.pair.devices().map(|device| device.volatile(at_ns));
        let (mut lost, mut at_risk) = (Vec::new(), BTreeMap::new());
        for (slot, mask, _) in fast.into_iter().flat_map(|range| self.parts_of(range)) {
            *at_risk.entry(slot).or_insert(0) |= mask;
            if let Some((chunk, dirty)) = self.slots.tenant(slot) {
                lost.push((chunk, mask & dirty));
            }
        }
        for (chunk, mask, _) in slow.into_iter().flat_map(|range| self.parts_of(range)) {
            let safe = self.slots.find(chunk).map_or(0, |slot| {
                self.slots.valid(slot) & !at_risk.get(&slot).copied().unwrap_or(0)
            });
            lost.push((chunk, mask & !safe));
        }
        let base = |chunk: u32| u64::from(chunk) * u64::from(self.params.chunk_bytes);
        let ranges = lost.into_iter().flat_map(|(chunk, mask)| {
            let all = runs(mask);
            all.map(move |(from, to)| (chunk, u64::from(from) * SECTOR, u64::from(to) * SECTOR))
        });
        ranges
            .map(|(chunk, from, to)| (base(chunk) + from, to - from))
            .collect()
    }

    fn counts(&self) -> Vec<(Cow<'static, str>, u64)> {
        let of = self.counters;
        self.pair.counts(&[
            ("read_hits", of.read_hits),
            ("read_misses", of.read_misses),
            ("write_hits", of.write_hits),
            ("write_misses", of.write_misses),
            ("promotions", of.promotions),
            ("evictions", self.slots.evictions()),
            ("fetched_bytes", of.fetched_bytes),
            ("around_bytes", of.around_bytes),
            ("dirty_bytes", self.slots.dirty_sectors() * SECTOR),
            ("drained_bytes", self.drain.drained_bytes),
            ("drain_ios", self.drain.ios),
            ("stalled_writes", of.stalls),
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
        let own = SSD_CACHE_PARAMETERS.iter().map(|parameter| {
            let value = parameter.value(&self.params);
            (parameter.name.into(), value, parameter.unit)
        });
        let own = own.collect();
        self.pair
            .facts("ssd-cache", self.params.seed, self.capacity, own)
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
            IoPurpose::Fetch { .. } => 1,
            IoPurpose::Collect { .. } => 2,
            IoPurpose::Drain { .. } => 3,
            IoPurpose::Discard { number } => self.discards.offset_bytes(*number) << 3 | 4,
            IoPurpose::Store { slot } => u64::from(*slot) << 3 | 5,
        });
        digest.mix(self.slots.numbers());
        digest.mix(self.drain.numbers());
        digest.mix(self.refused.oldest().map(u64::from));
        digest.mix(self.streams.numbers());
        let of = self.counters;
        digest.mix([of.read_bytes, of.written_bytes, of.trimmed_bytes]);
        digest.mix([of.read_hits, of.write_hits, of.promotions, of.stalls]);
        digest.mix([self.requests.in_flight() as u64, self.stalled.len() as u64]);
        digest.value()
    }
}
