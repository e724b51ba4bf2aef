//! What the cache does with the I/Os of the host: writes go into the RAM while there is room,
//! reads come from it where they can.

use teijo_engine::request::Op;

use super::extents::{Cover, Span};
use super::in_flight::{Fetch, IoPurpose, Readers, Reading, Waiting};
use super::lru::Found;
use super::params::Mode;
use super::ram::Cache;
use crate::device::{Device, Ended, Outcome, Ticket};
use crate::short_path;

fn length((from, to): Span) -> u64 {
    to - from
}

/// The result of a host I/O of `span` that went well.
fn whole(span: Span) -> i32 {
    (length(span) as u32).cast_signed()
}

impl<D: Device> Cache<D> {
    /// Lets a host I/O go by.
    pub(super) fn pass(&mut self, ticket: Ticket, op: Op, span: Span, at_ns: u64) {
        let purpose = IoPurpose::Pass { ticket, op, span };
        let length_bytes = length(span) as u32;
        self.downstream
            .send(purpose, op, span.0, length_bytes, at_ns);
        self.look_ahead(at_ns);
    }

    pub(super) fn passed(
        &mut self,
        ticket: Ticket,
        op: Op,
        span: Span,
        outcome: Outcome,
        ended: &mut Vec<Ended>,
    ) {
        if outcome.result >= 0 {
            match op {
                Op::Write if self.policy.keeps_clean => self.keep(span),
                Op::Discard => {
                    let dropped = self.dirty.cut(span) + self.batch.cut(span);
                    self.tally.discarded_bytes += dropped;
                    for unit in self.whole_units(span) {
                        self.lru.remove(unit);
                    }
                }
                Op::Read | Op::Write | Op::Flush => {}
            }
        }
        ended.push(Ended { ticket, outcome });
        if op == Op::Discard {
            self.let_in(outcome.done_ns, ended);
            self.close_batch(outcome.done_ns);
            self.drain(outcome.done_ns);
        }
    }

    /// The unit that `at_bytes` lies in; its size is a power of two.
    #[inline]
    pub(super) fn unit_at(&self, at_bytes: u64) -> u64 {
        at_bytes >> self.policy.unit_bytes.trailing_zeros()
    }

    /// Units that lie wholly in `span`.
    #[inline]
    fn whole_units(&self, (from, to): Span) -> std::ops::Range<u64> {
        let most = self.policy.unit_bytes - 1;
        let end = if to == self.capacity_bytes {
            self.unit_at(to + most)
        } else {
            self.unit_at(to)
        };
        self.unit_at(from + most)..end
    }

    /// Keeps what lies below as clean data, as far as there is room.
    #[inline]
    pub(super) fn keep(&mut self, span: Span) {
        for unit in self.whole_units(span) {
            self.put_clean(unit, None);
        }
    }

    #[inline]
    fn put_clean(&mut self, unit: u64, fetch: Option<usize>) {
        if self.dirty_bytes() + self.policy.unit_bytes <= self.policy.size_bytes {
            self.lru.put(unit, fetch);
            self.make_room();
        }
    }

    /// Drops clean data where there is no room for it any more.
    #[inline]
    fn make_room(&mut self) {
        let room_bytes = self.policy.size_bytes.saturating_sub(self.dirty_bytes());
        let most = self.unit_at(room_bytes);
        if self.lru.len() > most {
            self.lru.evict_down_to(most);
        }
    }

    pub(super) fn write(&mut self, ticket: Ticket, span: Span, at_ns: u64) -> Option<Outcome> {
        self.tally.written_bytes += length(span);
        if self.policy.mode != Mode::WriteBack {
            self.pass(ticket, Op::Write, span, at_ns);
            return None;
        }
        if self.waiting.is_empty() && self.has_room(span) {
            let outcome = self.admit(span, at_ns);
            self.drain(at_ns);
            return Some(outcome);
        }
        if self.waiting.is_empty() {
            self.stall(at_ns);
        }
        self.waiting.push_back(Waiting { ticket, span });
        self.drain(at_ns);
        None
    }

    fn stall(&mut self, at_ns: u64) {
        self.tally.stalls += 1;
        self.stalled_since_ns = at_ns;
    }

    /// Whether a write goes in now. What it overwrites takes no more room, and one that is larger
    /// than the cache goes in when nothing is dirty.
    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "each write that waits comes through here twice"
    )]
    fn has_room(&self, span: Span) -> bool {
        let dirty_bytes = self.dirty_bytes();
        let fits = |more_bytes: u64| dirty_bytes + more_bytes <= self.policy.high_bytes;
        let overwritten = || self.dirty.covered(span) + self.batch.covered(span);
        // What is overwritten is no more than all of it.
        dirty_bytes == 0 || fits(length(span)) || fits(0) && fits(length(span) - overwritten())
    }

    /// Puts a write into the RAM.
    fn admit(&mut self, span: Span, at_ns: u64) -> Outcome {
        if self.dirty.is_empty() {
            self.dirty_since_ns = at_ns;
        }
        let new_bytes = if self.batch.is_empty() {
            self.dirty.add(span)
        } else {
            self.admit_beside(span)
        };
        self.tally.acknowledged_bytes += length(span);
        self.tally.absorbed_bytes += length(span) - new_bytes;
        if self.policy.keeps_clean {
            for unit in self.whole_units(span) {
                self.lru.remove(unit);
            }
            self.make_room();
        }
        Outcome {
            done_ns: self.answer_ns(length(span), at_ns),
            result: whole(span),
        }
    }

    /// Adds a write to what is dirty; what is being flushed is overwritten where it is.
    #[inline(never)]
    fn admit_beside(&mut self, span: Span) -> u64 {
        let mut rest = vec![span];
        self.batch.subtract_from(&mut rest);
        rest.into_iter().map(|part| self.dirty.add(part)).sum()
    }

    /// Lets writes in that waited, once enough has been drained.
    #[inline]
    pub(super) fn let_in(&mut self, at_ns: u64, ended: &mut Vec<Ended>) {
        if !self.waiting.is_empty() && self.dirty_bytes() <= self.policy.low_bytes {
            self.let_in_waiting(at_ns, ended);
        }
    }

    fn let_in_waiting(&mut self, at_ns: u64, ended: &mut Vec<Ended>) {
        let mut admitted = false;
        while let Some(&Waiting { ticket, span }) = self.waiting.front() {
            if !self.has_room(span) {
                break;
            }
            self.waiting.pop_front();
            let outcome = self.admit(span, at_ns);
            ended.push(Ended { ticket, outcome });
            admitted = true;
        }
        if admitted {
            self.tally.stalled_ns += at_ns - self.stalled_since_ns;
            if !self.waiting.is_empty() {
                self.stall(at_ns);
            }
        }
    }

    pub(super) fn read(&mut self, ticket: Ticket, span: Span, at_ns: u64) -> Option<Outcome> {
        self.tally.read_bytes += length(span);
        if self.policy.keeps_clean {
            return self.read_units(ticket, span, at_ns);
        }
        if !self.meets_dirty(span) {
            self.tally.fetched_bytes += length(span);
            self.pass(ticket, Op::Read, span, at_ns);
            return None;
        }
        let mut missing = vec![span];
        self.subtract_dirty(&mut missing);
        let missing_bytes: u64 = missing.iter().map(|&gap| length(gap)).sum();
        self.tally.fetched_bytes += missing_bytes;
        self.tally.hit_bytes += length(span) - missing_bytes;
        if missing_bytes == length(span) {
            self.pass(ticket, Op::Read, span, at_ns);
            return None;
        }
        let done_ns = self.answer_ns(length(span), at_ns);
        let reading = Reading {
            ticket,
            fetches: missing.len() as u32,
            done_ns,
            result: whole(span),
        };
        if missing.is_empty() {
            let result = reading.result;
            return Some(Outcome { done_ns, result });
        }
        let reading = self.reads.put(reading);
        for gap in missing {
            self.fetch(gap, Some(reading), at_ns);
        }
        None
    }

    fn subtract_dirty(&self, spans: &mut Vec<Span>) {
        self.dirty.subtract_from(spans);
        self.batch.subtract_from(spans);
        self.sending.subtract_from(spans);
    }

    /// Whether something of `span` is in the RAM as dirty data.
    #[inline]
    fn meets_dirty(&self, span: Span) -> bool {
        self.dirty.meets(span) || self.batch.meets(span) || self.sending.meets(span)
    }

    /// Whether all of `span` is in the RAM as dirty data.
    #[inline]
    fn is_dirty(&self, span: Span) -> bool {
        if !self.meets_dirty(span) {
            return false;
        }
        let covers = [self.dirty.cover(span), self.batch.cover(span)];
        if covers.contains(&Cover::Whole) {
            return true;
        }
        let mut rest = vec![span];
        self.subtract_dirty(&mut rest);
        rest.is_empty()
    }

    fn unit_span(&self, unit: u64) -> Span {
        let from = unit * self.policy.unit_bytes;
        (
            from,
            (from + self.policy.unit_bytes).min(self.capacity_bytes),
        )
    }

    /// A read where clean data is kept: unit by unit, those that miss side by side as one.
    fn read_units(&mut self, ticket: Ticket, span: Span, at_ns: u64) -> Option<Outcome> {
        let unit = self.unit_at(span.0);
        if short_path::is_open() && unit == self.unit_at(span.1 - 1) {
            return self.read_unit(ticket, unit, span, at_ns);
        }
        let done_ns = self.answer_ns(length(span), at_ns);
        let reading = self.reads.put(Reading {
            ticket,
            fetches: 0,
            done_ns,
            result: whole(span),
        });
        let mut missing: Vec<Span> = Vec::new();
        let mut missing_bytes = 0;
        for unit in unit..=self.unit_at(span.1 - 1) {
            let (from, to) = self.unit_span(unit);
            let asked = (from.max(span.0), to.min(span.1));
            if self.is_dirty(asked) {
                continue;
            }
            match self.lru.touch(unit) {
                Found::There => {}
                Found::Coming(fetch) => self.join(reading, fetch),
                Found::Missing => {
                    missing_bytes += length(asked);
                    match missing.last_mut() {
                        Some(last) if last.1 == from => last.1 = to,
                        _ => missing.push((from, to)),
                    }
                }
            }
        }
        self.tally.fetched_bytes += missing_bytes;
        self.tally.hit_bytes += length(span) - missing_bytes;
        for gap in missing {
            self.reads.at(reading).fetches += 1;
            self.fetch_units(gap, Some(reading), at_ns);
        }
        self.read_ahead(span, at_ns);
        if self.reads.at(reading).fetches > 0 {
            self.look_ahead(at_ns);
            return None;
        }
        let Reading {
            done_ns, result, ..
        } = self.reads.take(reading);
        Some(Outcome { done_ns, result })
    }

    /// The same of a read that lies in one unit.
    #[inline]
    fn read_unit(&mut self, ticket: Ticket, unit: u64, span: Span, at_ns: u64) -> Option<Outcome> {
        let done_ns = self.answer_ns(length(span), at_ns);
        let result = whole(span);
        let found = if self.is_dirty(span) {
            Found::There
        } else {
            self.lru.touch(unit)
        };
        let mut reading = || {
            self.reads.put(Reading {
                ticket,
                fetches: 1,
                done_ns,
                result,
            })
        };
        match found {
            Found::There => self.tally.hit_bytes += length(span),
            Found::Coming(fetch) => {
                let reading = reading();
                self.fetches.at(fetch).readers.put(reading);
                self.tally.hit_bytes += length(span);
            }
            Found::Missing => {
                let reading = reading();
                self.tally.fetched_bytes += length(span);
                self.fetch_units(self.unit_span(unit), Some(reading), at_ns);
            }
        }
        self.read_ahead(span, at_ns);
        if found == Found::There {
            return Some(Outcome { done_ns, result });
        }
        self.look_ahead(at_ns);
        None
    }

    /// A read waits for a fetch that is under way.
    fn join(&mut self, reading: usize, fetch: usize) {
        let readers = &mut self.fetches.at(fetch).readers;
        if readers.last() != Some(reading) {
            readers.put(reading);
            self.reads.at(reading).fetches += 1;
        }
    }

    fn fetch(&mut self, span: Span, reader: Option<usize>, at_ns: u64) -> usize {
        let readers = Readers::of(reader);
        let fetch = self.fetches.put(Fetch { span, readers });
        let length_bytes = length(span) as u32;
        let purpose = IoPurpose::Fetch(fetch);
        self.downstream
            .send(purpose, Op::Read, span.0, length_bytes, at_ns);
        fetch
    }

    fn fetch_units(&mut self, span: Span, reader: Option<usize>, at_ns: u64) {
        let fetch = self.fetch(span, reader, at_ns);
        for unit in self.whole_units(span) {
            self.put_clean(unit, Some(fetch));
        }
    }

    /// Fetches what a sequential reader will want next.
    fn read_ahead(&mut self, span: Span, at_ns: u64) {
        let most_bytes = self.policy.read_ahead_bytes;
        if most_bytes == 0 {
            return;
        }
        let Some((from, to)) = self.streams.follow(span, most_bytes) else {
            return;
        };
        let to = to.min(self.capacity_bytes);
        let most = self.policy.unit_bytes - 1;
        let mut gap: Option<Span> = None;
        for unit in self.unit_at(from + most)..self.unit_at(to + most) {
            let (from, to) = self.unit_span(unit);
            let held = self.lru.holds(unit) || self.is_dirty((from, to));
            match (&mut gap, held) {
                (Some(gap), false) => gap.1 = to,
                (None, false) => gap = Some((from, to)),
                (_, true) => self.fetch_ahead(gap.take(), at_ns),
            }
        }
        self.fetch_ahead(gap, at_ns);
    }

    fn fetch_ahead(&mut self, gap: Option<Span>, at_ns: u64) {
        if let Some(gap) = gap {
            self.tally.ahead_bytes += length(gap);
            self.fetch_units(gap, None, at_ns);
        }
    }

    pub(super) fn fetched(&mut self, fetch: usize, outcome: Outcome, ended: &mut Vec<Ended>) {
        let Fetch { span, readers } = self.fetches.take(fetch);
        if self.policy.keeps_clean {
            let came = outcome.result >= 0;
            for unit in self.whole_units(span) {
                self.lru.arrive(unit, fetch, came);
            }
        }
        for reader in readers.into_order() {
            let reading = self.reads.at(reader);
            reading.fetches -= 1;
            reading.done_ns = reading.done_ns.max(outcome.done_ns);
            if outcome.result < 0 {
                reading.result = outcome.result;
            }
            if reading.fetches == 0 {
                let Reading {
                    ticket,
                    done_ns,
                    result,
                    ..
                } = self.reads.take(reader);
                let outcome = Outcome { done_ns, result };
                ended.push(Ended { ticket, outcome });
            }
        }
    }
}
