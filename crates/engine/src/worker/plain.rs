//! The turn of a plain stream: random blocks of one size, all read or all written, in a closed
//! loop. It does what the general turn does, in the same order and with the same draws, but leaves
//! out what such a stream does not need, and keeps the rest in registers.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use super::{Worker, SLOT_BITS, STAMP_MASK};
use crate::backend::Backend;
use crate::clock::Clock;
use crate::request::{Completion, Op, Request};

/// After so long the worker ends its turn, however fast its I/Os come back.
const SOLO_NS: u64 = 100_000;

impl<B: Backend, C: Clock> Worker<B, C> {
    /// What `fill` does, for a lap that time bounds. Not inlined, like those below, so that its
    /// whole loop stays in registers.
    #[inline(never)]
    pub(super) fn fill_plain(&mut self, op: Op) -> bool {
        if self.staging.stages {
            return self.stamp_plain();
        }
        let Self {
            backend,
            draws,
            flights,
            free,
            now_ns,
            ..
        } = self;
        let mut uniform = draws.uniform();
        let slots = flights.slots();
        let now_ns = *now_ns;
        backend.push_all(free.drain(..).rev().map(|slot| {
            let extent = uniform.next_extent();
            let place = &slots[usize::from(slot)];
            place.put(op, extent);
            place.launch(now_ns);
            Request {
                op,
                offset_bytes: extent.offset_bytes,
                length_bytes: extent.length_bytes,
                tag: (now_ns << SLOT_BITS) | u64::from(slot),
            }
        }));
        draws.take_back(uniform);
        true
    }

    /// Stamps what is written from the free slots and stages them.
    #[inline(never)]
    fn stamp_plain(&mut self) -> bool {
        let Self {
            backend,
            draws,
            flights,
            free,
            staging,
            stamper,
            ..
        } = self;
        let mut uniform = draws.uniform();
        let slots = flights.slots();
        let mut is_due = false;
        while let Some(slot) = free.pop() {
            let extent = uniform.next_extent();
            let buffer = &mut backend.buffer(slot)[..extent.length_bytes as usize];
            stamper.stamp(buffer, extent.offset_bytes);
            slots[usize::from(slot)].put(Op::Write, extent);
            staging.staged.push(slot);
            if staging.has_made(extent.length_bytes) {
                is_due = true;
                break;
            }
        }
        draws.take_back(uniform);
        if is_due {
            self.staging.is_hasty = self.has_taken_long();
            if !self.staging.is_hasty && !self.free.is_empty() {
                return self.stamp_plain();
            }
        }
        !self.staging.is_hasty
    }

    /// Does one I/O after the other by system calls, as long as nothing but the next is due. The
    /// last is left to `settle`, and so is whatever is not a whole I/O in the midst of a lap.
    #[inline(never)]
    pub(super) fn issue_solo(&mut self, op: Op) {
        let whole = self.draws.block_size_bytes().cast_signed();
        let limit_ns = (self.now_ns + SOLO_NS)
            .min(self.control.end_ns())
            .min(self.tally.interval_ends_ns());
        let Some(slot) = self.free.pop() else {
            return;
        };
        let Self {
            backend,
            clock,
            draws,
            stamper,
            staging,
            flights,
            tally,
            account,
            seat,
            ..
        } = self;
        let mut uniform = draws.uniform();
        let place = &flights.slots()[usize::from(slot)];
        let (first_ns, mut now_ns) = (self.now_ns, self.now_ns);
        let completion = loop {
            let extent = uniform.next_extent();
            if staging.stages {
                let buffer = &mut backend.buffer(slot)[..extent.length_bytes as usize];
                stamper.stamp(buffer, extent.offset_bytes);
            }
            place.put(op, extent);
            place.launch(now_ns);
            let request = Request {
                op,
                offset_bytes: extent.offset_bytes,
                length_bytes: extent.length_bytes,
                tag: (now_ns << SLOT_BITS) | u64::from(slot),
            };
            let completion = backend.carry(request);
            let after_ns = clock.now_ns().max(now_ns);
            let is_due = after_ns >= limit_ns || seat.halt.load(Ordering::Relaxed);
            if is_due || completion.result != whole {
                break completion;
            }
            place.land();
            let taken_ns = after_ns - now_ns;
            tally.record_run(op, taken_ns, 1, u64::from(extent.length_bytes));
            account.add_turn(taken_ns, 1);
            now_ns = after_ns;
        };
        backend.give_back(completion);
        draws.take_back(uniform);
        tally.end_turn(&seat.board);
        self.now_ns = now_ns;
        if now_ns > first_ns {
            self.succeeded = true;
            self.failures_in_a_row = 0;
        }
    }

    /// Launches what was staged by `stamp_plain`, or by a plain stream in a lap that bytes bound.
    #[inline(never)]
    pub(super) fn launch_plain(&mut self, op: Op) {
        let Self {
            backend,
            flights,
            staging,
            now_ns,
            ..
        } = self;
        let slots = flights.slots();
        let now_ns = *now_ns;
        backend.push_all(staging.staged.drain(..).map(|slot| {
            let place = &slots[usize::from(slot)];
            place.launch(now_ns);
            let flight = place.flight();
            Request {
                op,
                offset_bytes: flight.offset_bytes,
                length_bytes: flight.length_bytes,
                tag: (now_ns << SLOT_BITS) | u64::from(slot),
            }
        }));
    }

    /// Books everything that came back.
    #[inline]
    pub(super) fn book_plain(&mut self, op: Op) {
        let whole = self.draws.block_size_bytes().cast_signed();
        while let Some(odd) = self.book_wholes(op, whole) {
            self.book(odd);
        }
    }

    /// Books whole I/Os up to one that is something else, and gives that.
    #[inline(never)]
    fn book_wholes(&mut self, op: Op, whole: i32) -> Option<Completion> {
        let Self {
            backend,
            flights,
            free,
            tally,
            now_ns,
            ..
        } = self;
        let slots = flights.slots();
        let now_ns = *now_ns;
        let bytes = u64::from(whole.cast_unsigned());
        let (mut run_of_ns, mut run, mut booked) = (0, 0, 0);
        let mut odd = None;
        backend.reap_while(|completion| {
            if completion.result != whole {
                odd = Some(completion);
                return ControlFlow::Break(());
            }
            let slot = (completion.tag & ((1 << SLOT_BITS) - 1)) as u16;
            slots[usize::from(slot)].land();
            free.push(slot);
            let latency_ns = now_ns.wrapping_sub(completion.tag >> SLOT_BITS) & STAMP_MASK;
            if latency_ns != run_of_ns {
                tally.record_run(op, run_of_ns, run, run * bytes);
                booked += run;
                (run_of_ns, run) = (latency_ns, 0);
            }
            run += 1;
            ControlFlow::Continue(())
        });
        tally.record_run(op, run_of_ns, run, run * bytes);
        if booked + run > 0 {
            self.succeeded = true;
            self.failures_in_a_row = 0;
        }
        debug_assert!(
            self.free.len() <= self.flights.depth(),
            "a slot came back twice"
        );
        odd
    }
}
