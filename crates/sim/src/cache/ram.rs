//! The device: RAM above another device. What it knows, and when it does what.

use std::borrow::Cow;
use std::collections::VecDeque;

use teijo_engine::request::Op;

use super::extents::{Extents, Span};
use super::flying::Flying;
use super::in_flight::{Batch, Fetch, IoPurpose, Reading, Waiting, IO_ERROR};
use super::lru::Lru;
use super::policy::{time_ns, Policy, Settings};
use super::slab::Slab;
use super::streams::Streams;
use crate::clip::{clip, LOGICAL_BLOCK_BYTES};
use crate::device::{rest, serve_alone, Device, Ended, Facts, Health, Label, Outcome, Ticket};
use crate::digest::Digest;
use crate::downstream::Downstream;
use crate::members::{members_counts, members_facts};

/// What it has done. Bytes that were acknowledged are absorbed, drained, discarded, lost, or still
/// dirty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub trimmed_bytes: u64,
    pub hit_bytes: u64,
    pub fetched_bytes: u64,
    pub ahead_bytes: u64,
    pub acknowledged_bytes: u64,
    pub absorbed_bytes: u64,
    pub drained_bytes: u64,
    pub drains: u64,
    pub discarded_bytes: u64,
    pub lost_bytes: u64,
    pub stalls: u64,
    pub stalled_ns: u64,
}

/// A simulated cache. See `docs/reference/simulated-caches.md` for what is modelled and what is
/// not.
#[derive(Clone, Debug)]
pub struct Cache<D> {
    name: &'static str,
    settings: Settings,
    label: Label,
    pub(super) policy: Policy,
    pub(super) capacity_bytes: u64,
    pub(super) downstream: Downstream<IoPurpose, D>,
    /// Acknowledged and not sent below: of the batch that is flushed, and what came after it.
    pub(super) batch: Extents,
    pub(super) dirty: Extents,
    /// On its way below.
    pub(super) sending: Flying,
    pub(super) drains: u32,
    pub(super) flushing: Batch,
    /// Drains until the dirty data is little enough.
    pub(super) draining: bool,
    /// Drains because the host is idle.
    pub(super) sweeping: bool,
    /// Where draining goes on, upwards.
    pub(super) cursor_bytes: u64,
    /// Nothing is drained before this.
    pub(super) pace_ns: u64,
    pub(super) heard_ns: u64,
    pub(super) dirty_since_ns: u64,
    /// Writes that wait for room, and since when there is none.
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) stalled_since_ns: u64,
    pub(super) lru: Lru,
    pub(super) fetches: Slab<Fetch>,
    pub(super) reads: Slab<Reading>,
    pub(super) streams: Streams,
    pub(super) ram_free_ns: u64,
    /// Host I/Os that end by themselves: a power cut failed them, or nothing is left to wait for.
    over: Vec<Ended>,
    /// When it next does something that does not come from below.
    own_ns: u64,
    pub(super) tally: Tally,
}

impl<D: Device> Cache<D> {
    /// A cache, empty, above `part`, which best takes `stripe_bytes` as one write; `Err` says why
    /// there is none.
    pub(crate) fn new(
        name: &'static str,
        settings: Settings,
        part: D,
        stripe_bytes: u64,
    ) -> Result<Self, String> {
        let policy = settings.policy(part.facts().scale(), stripe_bytes)?;
        Ok(Self::with_policy(name, settings, policy, part))
    }

    pub(super) fn with_policy(
        name: &'static str,
        settings: Settings,
        policy: Policy,
        part: D,
    ) -> Self {
        let capacity_bytes = part.capacity_bytes();
        let extents = || {
            Extents::new(
                policy.window_bytes,
                capacity_bytes,
                policy.most_dirty_bytes(),
            )
        };
        let (units, most) = policy.clean_units(capacity_bytes);
        Self {
            name,
            settings,
            label: Label::Plausible {
                why: "RAM before a simulated part that has a label of its own among the \
                      parameters; held against fluid and cache formulae, not against a real one",
            },
            policy,
            capacity_bytes,
            downstream: Downstream::new(part),
            batch: extents(),
            dirty: extents(),
            sending: Flying::default(),
            drains: 0,
            flushing: Batch::default(),
            draining: false,
            sweeping: false,
            cursor_bytes: 0,
            pace_ns: 0,
            heard_ns: 0,
            dirty_since_ns: 0,
            waiting: VecDeque::new(),
            stalled_since_ns: 0,
            lru: Lru::new(units, most),
            fetches: Slab::new(),
            reads: Slab::new(),
            streams: Streams::default(),
            ram_free_ns: 0,
            over: Vec::new(),
            own_ns: u64::MAX,
            tally: Tally::default(),
        }
    }

    /// Says whose numbers the whole reproduces.
    pub(crate) fn relabel(&mut self, label: Label) {
        self.label = label;
    }

    /// The device below.
    pub fn part(&self) -> &D {
        self.downstream.device()
    }

    /// Bytes that are acknowledged and not below; those on their way count.
    pub fn dirty_bytes(&self) -> u64 {
        self.dirty.bytes() + self.batch.bytes() + self.sending.bytes()
    }

    /// Takes the RAM for `length_bytes`; returns when the host has its answer.
    pub(super) fn answer_ns(&mut self, length_bytes: u64, at_ns: u64) -> u64 {
        let transfer_ns = time_ns(length_bytes, self.policy.ram_ns_q24);
        self.ram_free_ns = at_ns.max(self.ram_free_ns) + transfer_ns;
        self.ram_free_ns + self.policy.ram_ns
    }

    /// When it drains although nobody asks: the host is idle.
    fn idle_ns(&self) -> u64 {
        if self.dirty.is_empty() || self.drains_dirty() {
            return u64::MAX;
        }
        self.heard_ns.saturating_add(self.policy.idle_ns)
    }

    /// The same because data is old.
    fn expiry_ns(&self) -> u64 {
        if self.dirty.is_empty() || self.flushing.is_active() {
            return u64::MAX;
        }
        self.dirty_since_ns.saturating_add(self.policy.expire_ns)
    }

    /// Looks at `at_ns` when it has to do something next.
    #[inline]
    pub(super) fn look_ahead(&mut self, at_ns: u64) {
        let mut next_ns = self.pace_due_ns(at_ns);
        if !self.dirty.is_empty() {
            next_ns = next_ns.min(self.idle_ns()).min(self.expiry_ns());
        }
        let next_ns = if self.over.is_empty() { next_ns } else { at_ns };
        self.own_ns = next_ns.max(at_ns);
    }

    /// Ends I/Os of the host at the next step.
    pub(super) fn end_by_itself(&mut self, tickets: Vec<Ticket>, result: i32, at_ns: u64) {
        let outcome = Outcome {
            done_ns: at_ns,
            result,
        };
        let ended = tickets.into_iter();
        self.over
            .extend(ended.map(|ticket| Ended { ticket, outcome }));
    }

    /// Does what is due by itself.
    fn act(&mut self, at_ns: u64, ended: &mut Vec<Ended>) {
        ended.append(&mut self.over);
        if self.idle_ns() <= at_ns {
            self.sweeping = true;
        }
        if self.expiry_ns() <= at_ns {
            self.begin_batch(at_ns);
        }
        self.drain(at_ns);
    }

    /// Forgets everything that is in the RAM; returns the bytes that were nowhere else.
    fn forget(&mut self) -> u64 {
        let redirtied = |span: Span| self.dirty.covered(span) + self.batch.covered(span);
        let twice_bytes: u64 = self.sending.spans().map(redirtied).sum();
        let lost_bytes = self.dirty_bytes() - twice_bytes;
        self.tally.absorbed_bytes += twice_bytes;
        let (window_bytes, most_bytes) = (self.policy.window_bytes, self.policy.most_dirty_bytes());
        let empty = Extents::new(window_bytes, self.capacity_bytes, most_bytes);
        self.dirty = empty.clone();
        self.batch = empty;
        self.sending = Flying::default();
        (self.draining, self.sweeping) = (false, false);
        self.lru.clear();
        self.streams = Streams::default();
        lost_bytes
    }
}

impl<D: Device> Device for Cache<D> {
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
        (self.heard_ns, self.sweeping) = (at_ns, false);
        if op == Op::Flush {
            return self.flush(ticket, at_ns);
        }
        let length_bytes = match clip(op, offset_bytes, length_bytes, self.capacity_bytes) {
            Ok(length_bytes) => u64::from(length_bytes),
            Err(result) => {
                return Some(Outcome {
                    done_ns: at_ns,
                    result,
                })
            }
        };
        let span = (offset_bytes, offset_bytes + length_bytes);
        match op {
            Op::Read => self.read(ticket, span, at_ns),
            Op::Write => self.write(ticket, span, at_ns),
            Op::Discard | Op::Flush => {
                self.tally.trimmed_bytes += length_bytes;
                self.pass(ticket, op, span, at_ns);
                None
            }
        }
    }

    #[inline]
    fn next_ns(&self) -> u64 {
        self.own_ns.min(self.downstream.next_ns())
    }

    fn step(&mut self, ended: &mut Vec<Ended>) {
        if self.own_ns < self.downstream.next_ns() {
            self.act(self.own_ns, ended);
            return;
        }
        let Some((purpose, outcome)) = self.downstream.step() else {
            return;
        };
        match purpose {
            IoPurpose::Pass { ticket, op, span } => self.passed(ticket, op, span, outcome, ended),
            IoPurpose::Direct(ticket) => ended.push(Ended { ticket, outcome }),
            IoPurpose::Fetch(fetch) => self.fetched(fetch, outcome, ended),
            IoPurpose::Drain { span, round } => self.drained(span, round, outcome, ended),
            IoPurpose::Flush { round } => self.flushed(round, outcome, ended),
        }
    }

    fn is_far(&self) -> bool {
        self.part().is_far()
    }

    #[inline]
    fn foresee(&self, offset_bytes: u64, length_bytes: u32) {
        let span = (offset_bytes, offset_bytes + u64::from(length_bytes));
        self.dirty.foresee(span);
        if self.policy.keeps_clean {
            self.lru.foresee(self.unit_at(offset_bytes));
        }
        self.part().foresee(offset_bytes, length_bytes);
    }

    /// What is on its way below gets there first.
    fn purge(&mut self, at_ns: u64) -> u64 {
        self.tally.discarded_bytes += self.forget();
        self.flushing.void();
        let (mut done_ns, mut ended) = (at_ns, Vec::new());
        while self.downstream.in_flight() > 0 {
            done_ns = done_ns.max(self.next_ns());
            self.step(&mut ended);
        }
        assert!(ended.is_empty(), "nothing was in flight");
        let done_ns = self.downstream.device_mut().purge(done_ns);
        (self.pace_ns, self.ram_free_ns) = (done_ns, done_ns);
        self.look_ahead(done_ns);
        done_ns
    }

    fn idle(&mut self, from_ns: u64, to_ns: u64) {
        rest(self, to_ns);
        self.downstream.device_mut().idle(from_ns, to_ns);
    }

    fn content(&mut self, left_q16: u32) {
        self.downstream.device_mut().content(left_q16);
    }

    /// Without a battery the RAM is empty afterwards, and writes that waited for room and flushes
    /// fail; what was on its way below may be there or not, and counts as lost.
    fn power_cut(&mut self, at_ns: u64) -> u64 {
        if self.policy.battery {
            return self.downstream.device_mut().power_cut(at_ns);
        }
        let lost_bytes = self.forget();
        self.tally.lost_bytes += lost_bytes;
        let failed = self.flushing.void().into_iter();
        let waited = self.waiting.drain(..).map(|one| one.ticket);
        let failed: Vec<Ticket> = failed.chain(waited).collect();
        self.end_by_itself(failed, IO_ERROR, at_ns);
        let lost_below_bytes = self.downstream.device_mut().power_cut(at_ns);
        self.look_ahead(at_ns);
        lost_bytes + lost_below_bytes
    }

    fn volatile(&self, at_ns: u64) -> Vec<(u64, u64)> {
        let mut volatile = self.downstream.device().volatile(at_ns);
        if !self.policy.battery {
            let unsent = self.dirty.spans().chain(self.batch.spans());
            let spans = unsent.chain(self.sending.spans());
            volatile.extend(spans.map(|(from, to)| (from, to - from)));
        }
        volatile
    }

    fn counts(&self) -> Vec<(Cow<'static, str>, u64)> {
        let Tally {
            hit_bytes,
            fetched_bytes,
            ahead_bytes,
            acknowledged_bytes,
            absorbed_bytes,
            drained_bytes,
            drains,
            discarded_bytes,
            lost_bytes,
            stalls,
            stalled_ns,
            read_bytes: _,
            written_bytes: _,
            trimmed_bytes: _,
        } = self.tally;
        let own = [
            ("hit_bytes", hit_bytes),
            ("fetched_bytes", fetched_bytes),
            ("read_ahead_bytes", ahead_bytes),
            ("acknowledged_bytes", acknowledged_bytes),
            ("absorbed_bytes", absorbed_bytes),
            ("drained_bytes", drained_bytes),
            ("drains", drains),
            ("discarded_bytes", discarded_bytes),
            ("lost_bytes", lost_bytes),
            ("dirty_bytes", self.dirty_bytes()),
            ("clean_bytes", self.lru.len() * self.policy.unit_bytes),
            ("stalls", stalls),
            ("stalled_ns", stalled_ns),
        ];
        let own = own.into_iter().map(|(name, count)| (name.into(), count));
        own.chain(members_counts(std::slice::from_ref(self.part())))
            .collect()
    }

    fn health(&self) -> Health {
        Health {
            host_reads_bytes: self.tally.read_bytes,
            host_writes_bytes: self.tally.written_bytes,
            trims_bytes: self.tally.trimmed_bytes,
            ..self.part().health()
        }
    }

    fn facts(&self) -> Facts {
        let part = members_facts(std::slice::from_ref(self.part()));
        let rows = self.settings.rows().into_iter();
        let own = rows.map(|(name, value, unit)| (name.into(), value, unit));
        let model = format!("{}({})", self.name.to_uppercase(), part.title);
        let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let serial: String = model.replace('×', "x").chars().map(word).collect();
        let seed = self.settings.seed();
        Facts {
            serial: format!("SIM-{}-{seed}", serial.trim_matches('-')),
            model: format!("Simulated {model}"),
            firmware: format!("sim-{}", env!("CARGO_PKG_VERSION")),
            nominal_capacity_bytes: self.part().facts().nominal_capacity_bytes,
            capacity_bytes: self.capacity_bytes,
            logical_block_bytes: LOGICAL_BLOCK_BYTES,
            physical_block_bytes: part.physical_block_bytes,
            label: self.label,
            parameters: own.chain(part.parameters).collect(),
        }
    }

    fn is_rotational(&self) -> bool {
        self.part().is_rotational()
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn logical_block_bytes(&self) -> u32 {
        LOGICAL_BLOCK_BYTES
    }

    /// Over everything but the order in which free places are used again, which nothing sees.
    fn digest(&self) -> u64 {
        let mut digest = Digest::new();
        digest.mix([self.part().digest(), self.downstream.in_flight() as u64]);
        for set in [&self.dirty, &self.batch] {
            digest.mix(
                set.spans()
                    .flat_map(|(from, to)| [from, to])
                    .chain([set.bytes()]),
            );
        }
        let flight = |purpose: &IoPurpose| match *purpose {
            IoPurpose::Pass { ticket, span, .. } => [0, ticket, span.0, span.1],
            IoPurpose::Fetch(_) => [1, 0, 0, 0],
            IoPurpose::Direct(ticket) => [4, ticket, 0, 0],
            IoPurpose::Drain { span, round } => [2, round, span.0, span.1],
            IoPurpose::Flush { round } => [3, round, 0, 0],
        };
        let mut flights: Vec<[u64; 4]> = self.downstream.flights().map(flight).collect();
        flights.sort_unstable();
        digest.mix(flights.into_iter().flatten());
        let units = self.lru.units();
        digest.mix(units.map(|(unit, coming)| unit << 1 | u64::from(coming)));
        digest.mix(
            self.waiting
                .iter()
                .flat_map(|one| [one.span.0, one.span.1, one.ticket]),
        );
        digest.mix(self.streams.numbers().chain(self.flushing.numbers()));
        digest.mix([self.draining, self.sweeping].map(u64::from));
        digest.mix([
            self.cursor_bytes,
            self.pace_ns,
            self.heard_ns,
            self.dirty_since_ns,
        ]);
        digest.mix([self.ram_free_ns, self.own_ns, self.next_ns()]);
        digest.mix(self.counts().into_iter().map(|(_, count)| count));
        digest.value()
    }
}
