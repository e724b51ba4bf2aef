//! Turns in virtual time in which what comes back is replaced and nothing else happens, in the
//! midst of a lap and of an interval: nearly all turns of a simulated run. They do what the general
//! turn does, in the same order and with the same draws, but ask once what holds for many of them.

use super::turns::{Kind, Leave};
use super::{Worker, SLOT_BITS, STAMP_MASK};
use crate::backend::Backend;
use crate::clock::Clock;
use crate::plan::Access;
use crate::request::{Completion, Extent, Op, Request};

#[inline]
fn slot_of(completion: Completion) -> u16 {
    (completion.tag & ((1 << SLOT_BITS) - 1)) as u16
}

#[inline]
fn latency_ns(at_ns: u64, completion: Completion) -> u64 {
    at_ns.wrapping_sub(completion.tag >> SLOT_BITS) & STAMP_MASK
}

impl<B: Backend, C: Clock> Worker<B, C> {
    /// Whether turns that only replace what came back are all that there is, but where laps and
    /// intervals end.
    pub fn is_simple(&self) -> bool {
        self.kind == Kind::Simple
    }

    /// Until when turns that only replace what came back may be taken; `None` where a turn has
    /// anything else to do. In real time it always has.
    #[inline]
    pub fn alone_until_ns(&self) -> Option<u64> {
        let is_alone = self.is_simple() && self.free.is_empty() && !self.halted();
        is_alone.then(|| self.control.end_ns().min(self.tally.interval_ends_ns()))
    }

    /// Takes turns that only replace what came back, as many as `leave` allows; returns how many.
    #[inline]
    pub fn turns_alone(&mut self, leave: Leave) -> u32 {
        let Some(ends_ns) = self.alone_until_ns() else {
            return 0;
        };
        let until_ns = leave.until_ns.min(ends_ns);
        let mut turns = 0;
        while turns < leave.turns && self.turn_alone(until_ns, leave.silence_ns) {
            turns += 1;
        }
        self.end_alone();
        turns
    }

    /// Enters in the books what came back in turns alone.
    #[inline]
    pub fn end_alone(&mut self) {
        if self.tally.end_alone(&self.seat.board) {
            self.succeeded = true;
            self.failures_in_a_row = 0;
        }
    }

    /// Takes what comes back next, before `until_ns` (at most that of `alone_until_ns`) and not
    /// more than `silence_ns` after what came last, and puts an I/O into each slot; false, and
    /// nothing happens, where there is nothing such. `end_alone` follows, after one or more.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each I/O comes through here")]
    pub fn turn_alone(&mut self, until_ns: u64, silence_ns: u64) -> bool {
        let Some((at_ns, completion)) = self.backend.next_alone() else {
            return self.turn_together(until_ns, silence_ns);
        };
        let (slot, slots) = (slot_of(completion), self.flights.slots());
        let place = &slots[usize::from(slot)];
        let block_size_bytes = self.draws.block_size_bytes();
        let is_wanted = completion.result == place.length_bytes().cast_signed()
            && (self.now_ns..until_ns).contains(&at_ns)
            && at_ns - self.now_ns <= silence_ns
            && self.control.claims_in_turn(block_size_bytes, 1);
        if !is_wanted {
            return false;
        }
        self.backend.take_alone(at_ns);
        let latency_ns = latency_ns(at_ns, completion);
        self.tally
            .record_alone(place.op(), latency_ns, place.length_bytes());
        self.account
            .add_turn(at_ns - self.now_ns, slots.len() as u64);
        self.now_ns = at_ns;
        self.replace(slot, block_size_bytes);
        true
    }

    /// The same of several that come back at one time.
    #[inline(never)]
    fn turn_together(&mut self, until_ns: u64, silence_ns: u64) -> bool {
        let Self {
            backend,
            control,
            flights,
            free,
            tally,
            ..
        } = self;
        let (slots, from_ns) = (flights.slots(), self.now_ns);
        let block_size_bytes = self.draws.block_size_bytes();
        let mut now_ns = from_ns;
        let is_taken = backend.take_together(
            |completion| {
                let place = &slots[usize::from(slot_of(completion))];
                completion.result == place.length_bytes().cast_signed()
            },
            |at_ns, count| {
                (from_ns..until_ns).contains(&at_ns)
                    && at_ns - from_ns <= silence_ns
                    && control.claims_in_turn(block_size_bytes, count)
            },
            |at_ns, completion| {
                let slot = slot_of(completion);
                let place = &slots[usize::from(slot)];
                let latency_ns = latency_ns(at_ns, completion);
                tally.record_alone(place.op(), latency_ns, place.length_bytes());
                free.push(slot);
                now_ns = at_ns;
            },
        );
        if is_taken {
            self.account.add_turn(now_ns - from_ns, slots.len() as u64);
            self.now_ns = now_ns;
            while let Some(slot) = self.free.pop() {
                self.replace(slot, block_size_bytes);
            }
        }
        is_taken
    }

    /// Tells a backend that gains by it where the next I/Os will go.
    #[inline]
    pub(super) fn look_ahead(&mut self) {
        if self.draws.knows_few() && self.backend.foresees() {
            self.backend.foresee(&self.draws.look_ahead());
        }
    }

    /// Issues the next I/O, whose bytes are claimed, in `slot`, which has just come back.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each I/O comes through here")]
    fn replace(&mut self, slot: u16, claimed_bytes: u32) {
        self.look_ahead();
        if let Some((extent, op)) = self.draws.take_ahead() {
            return self.send_again(slot, op, extent);
        }
        let stream = &self.seat.stream;
        let extent = if let Access::Sequential { .. } = stream.plan.access {
            let cursor = stream.cursor_of(self.seat.number);
            let extent = cursor.advance(&stream.plan.range, claimed_bytes);
            if !self.control.is_timed() {
                self.control
                    .return_bytes(claimed_bytes - extent.length_bytes);
            }
            extent
        } else {
            self.draws.extent()
        };
        let op = self.draws.op();
        self.send_again(slot, op, extent);
    }

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each I/O comes through here")]
    fn send_again(&mut self, slot: u16, op: Op, extent: Extent) {
        if op == Op::Write {
            self.writes_to_flush -= 1;
        }
        let Extent {
            offset_bytes,
            length_bytes,
        } = extent;
        let place = &self.flights.slots()[usize::from(slot)];
        place.put(op, extent);
        place.launch(self.now_ns);
        self.backend.push(Request {
            op,
            offset_bytes,
            length_bytes,
            tag: (self.now_ns << SLOT_BITS) | u64::from(slot),
        });
    }
}
