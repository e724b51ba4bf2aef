//! How dirty data gets below: what is chosen next, at what pace, and what a flush waits for.

use teijo_engine::request::Op;

use super::extents::{Extents, Span};
use super::in_flight::{Batch, IoPurpose, Stage, IO_ERROR};
use super::params::Mode;
use super::policy::{time_ns, Flushes};
use super::ram::Cache;
use crate::device::{Device, Ended, Outcome, Ticket};

/// Places that are looked at for one that is not on its way below already.
const TRIES: u32 = 8;

impl<D: Device> Cache<D> {
    /// Whether dirty data is drained that nobody has asked for by a flush.
    pub(super) fn drains_dirty(&self) -> bool {
        self.draining || self.sweeping || !self.waiting.is_empty()
    }

    /// When the pace lets the next drain go, if one would go now.
    pub(super) fn pace_due_ns(&self, at_ns: u64) -> u64 {
        let waits = self.pace_ns > at_ns
            && self.drains < self.policy.in_flight
            && (!self.batch.is_empty() || (!self.dirty.is_empty() && self.drains_dirty()));
        if waits {
            self.pace_ns
        } else {
            u64::MAX
        }
    }

    /// Sends below what is to be drained, as much at once as may be.
    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "nearly always there is nothing to send, or one"
    )]
    pub(super) fn drain(&mut self, at_ns: u64) {
        self.heed_marks();
        if self.drains < self.policy.in_flight && self.pace_ns <= at_ns {
            self.drain_more(at_ns);
        }
        self.look_ahead(at_ns);
    }

    #[inline(never)]
    fn drain_more(&mut self, at_ns: u64) {
        while self.drains < self.policy.in_flight && self.pace_ns <= at_ns {
            let Some((span, is_batch)) = self.choose() else {
                break;
            };
            self.send(span, is_batch, at_ns);
            self.heed_marks();
        }
    }

    /// Begins to drain above the upper mark, and goes on down to the lower one.
    #[inline]
    fn heed_marks(&mut self) {
        let unsent_bytes = self.dirty.bytes() + self.batch.bytes();
        if unsent_bytes > self.policy.start_bytes {
            self.draining = true;
        } else if unsent_bytes <= self.policy.stop_bytes {
            self.draining = false;
        }
    }

    /// What is drained next: of a batch first; whole windows before parts of one, so that the
    /// others get time to fill; upwards from where the last one ended.
    #[inline]
    fn choose(&self) -> Option<(Span, bool)> {
        if !self.batch.is_empty() {
            if let Some(span) = self.choose_of_batch() {
                return Some((span, true));
            }
        }
        if !self.drains_dirty() {
            return None;
        }
        self.choose_of(&self.dirty).map(|span| (span, false))
    }

    #[inline(never)]
    fn choose_of_batch(&self) -> Option<Span> {
        self.choose_of(&self.batch)
    }

    /// What of `set` is drained next.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each drain comes through here")]
    fn choose_of(&self, set: &Extents) -> Option<Span> {
        if set.is_empty() {
            return None;
        }
        let next = set.next(self.cursor_bytes)?;
        if self.sending.meets(next) {
            return self.choose_after(set, next.1);
        }
        Some(next)
    }

    /// The same where the first place is on its way below already.
    #[cold]
    fn choose_after(&self, set: &Extents, mut cursor_bytes: u64) -> Option<Span> {
        for _ in 1..TRIES {
            let next = set.next(cursor_bytes)?;
            if !self.sending.meets(next) {
                return Some(next);
            }
            cursor_bytes = next.1;
        }
        None
    }

    #[inline]
    fn send(&mut self, span: Span, is_batch: bool, at_ns: u64) {
        let set = if is_batch {
            &mut self.batch
        } else {
            &mut self.dirty
        };
        set.cut(span);
        self.sending.add(span);
        self.drains += 1;
        self.tally.drains += 1;
        let round = if is_batch {
            self.flushing.drains += 1;
            self.flushing.round - 1
        } else {
            self.flushing.round
        };
        self.cursor_bytes = span.1;
        if self.policy.keeps_clean {
            // Looked up when this is below.
            self.lru.foresee(self.unit_at(span.0));
        }
        let length_bytes = span.1 - span.0;
        self.pace_ns = at_ns.max(self.pace_ns) + time_ns(length_bytes, self.policy.drain_ns_q24);
        let purpose = IoPurpose::Drain { span, round };
        self.downstream
            .send(purpose, Op::Write, span.0, length_bytes as u32, at_ns);
    }

    /// A drain has ended.
    #[inline]
    pub(super) fn drained(
        &mut self,
        span: Span,
        round: u64,
        outcome: Outcome,
        ended: &mut Vec<Ended>,
    ) {
        let (at_ns, length_bytes) = (outcome.done_ns, span.1 - span.0);
        self.drains -= 1;
        if self.flushing.is_active() && round < self.flushing.round {
            self.flushing.drains -= 1;
        }
        if round >= self.flushing.void_before {
            self.sending.remove(span);
            if outcome.result < 0 {
                self.tally.lost_bytes += length_bytes;
                self.flushing.failed = true;
            } else {
                self.tally.drained_bytes += length_bytes;
                if self.policy.keeps_clean {
                    self.keep_drained(span);
                }
            }
        }
        if !self.waiting.is_empty() {
            self.let_in(at_ns, ended);
        }
        if self.flushing.is_active() {
            self.close_batch(at_ns);
        }
        self.drain(at_ns);
    }

    /// Keeps what was drained as clean data, where it was not overwritten meanwhile.
    #[inline]
    fn keep_drained(&mut self, span: Span) {
        if !self.dirty.meets(span) && !self.batch.meets(span) {
            return self.keep(span);
        }
        self.keep_rest(span);
    }

    #[inline(never)]
    fn keep_rest(&mut self, span: Span) {
        let mut rest = vec![span];
        self.dirty.subtract_from(&mut rest);
        self.batch.subtract_from(&mut rest);
        for part in rest {
            self.keep(part);
        }
    }

    /// A flush of the host.
    pub(super) fn flush(&mut self, ticket: Ticket, at_ns: u64) -> Option<Outcome> {
        if self.policy.flushes == Flushes::Ignored {
            let done_ns = at_ns + self.policy.ram_ns;
            return Some(Outcome { done_ns, result: 0 });
        }
        if self.policy.mode != Mode::WriteBack {
            self.pass(ticket, Op::Flush, (0, 0), at_ns);
            return None;
        }
        self.flushing.next.push(ticket);
        self.begin_batch(at_ns);
        self.drain(at_ns);
        None
    }

    /// Begins a batch of all that is dirty, if none is under way.
    pub(super) fn begin_batch(&mut self, at_ns: u64) {
        if self.flushing.is_active() {
            return;
        }
        self.flushing.stage = Stage::Draining;
        self.flushing.asked = std::mem::take(&mut self.flushing.next);
        self.flushing.round += 1;
        self.flushing.drains = self.drains;
        std::mem::swap(&mut self.batch, &mut self.dirty);
        self.close_batch(at_ns);
    }

    /// Ends the batch when all of it is below: with a flush of the device there, if one was asked
    /// for.
    pub(super) fn close_batch(&mut self, at_ns: u64) {
        let Batch {
            stage,
            round,
            drains,
            ..
        } = self.flushing;
        if stage != Stage::Draining || drains > 0 || !self.batch.is_empty() {
            return;
        }
        if self.flushing.asked.is_empty() {
            self.flushing.stage = Stage::None;
            self.begin_next(at_ns);
            return;
        }
        if self.policy.flushes == Flushes::Drained {
            let failed = std::mem::take(&mut self.flushing.failed);
            let result = if failed { IO_ERROR } else { 0 };
            let asked = std::mem::take(&mut self.flushing.asked);
            self.end_by_itself(asked, result, at_ns);
            self.flushing.stage = Stage::None;
            self.begin_next(at_ns);
            return;
        }
        self.flushing.stage = Stage::Flushing;
        self.downstream
            .send(IoPurpose::Flush { round }, Op::Flush, 0, 0, at_ns);
    }

    fn begin_next(&mut self, at_ns: u64) {
        if !self.flushing.next.is_empty() {
            self.begin_batch(at_ns);
        }
    }

    /// The device below has flushed.
    pub(super) fn flushed(&mut self, round: u64, outcome: Outcome, ended: &mut Vec<Ended>) {
        if round != self.flushing.round {
            return;
        }
        let failed = std::mem::take(&mut self.flushing.failed);
        let result = if failed { IO_ERROR } else { outcome.result };
        let outcome = Outcome { result, ..outcome };
        let asked = std::mem::take(&mut self.flushing.asked).into_iter();
        ended.extend(asked.map(|ticket| Ended { ticket, outcome }));
        self.flushing.stage = Stage::None;
        self.begin_next(outcome.done_ns);
        self.drain(outcome.done_ns);
    }
}
