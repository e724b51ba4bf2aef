//! The engine's seam in virtual time: a request is handed to the device the moment it is pushed,
//! its completion waits in order of time, and waiting for it moves the clock instead of passing
//! time. A completion that the device does not know yet is landed here later, by the session.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use teijo_engine::backend::Backend;
use teijo_engine::clock::Clock;
use teijo_engine::plan::Content;
use teijo_engine::request::{Completion, Extent, Op, Request};
use teijo_engine::stream::Seat;

use crate::device::{Damage, Device, Outcome, Ticket};
use crate::timeline::Timeline;

/// Bits of a ticket below the worker's number: the slot, as in a tag.
const SLOT_BITS: u32 = 16;

/// What compression at its best leaves of such data, in 2^-16. The stamps in zeros are small.
pub(crate) fn left_q16(content: Content) -> u32 {
    const WHOLE: u32 = 1 << 16;
    match content {
        Content::Random | Content::Refill | Content::Dedupable { .. } | Content::OneBlock => WHOLE,
        Content::Compressible { percent } => WHOLE - WHOLE * u32::from(percent.min(100)) / 100,
        Content::Zero => 0,
        // The first 256 bytes, and a way to say that they go on; of 4 KiB deflate leaves 7 %.
        Content::Counting => WHOLE / 16,
    }
}

/// Virtual time, shared by the workers of a session; only one of them runs at any moment.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock {
    now_ns: Arc<AtomicU64>,
}

impl VirtualClock {
    /// Moves to `to_ns`; time never goes back.
    #[inline]
    pub fn advance(&self, to_ns: u64) {
        if to_ns > self.now_ns() {
            self.now_ns.store(to_ns, Ordering::Relaxed);
        }
    }
}

impl Clock for VirtualClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        self.now_ns.load(Ordering::Relaxed)
    }
}

/// What the session needs of a worker's side of the device, with data or without.
pub(crate) trait Seam: Backend {
    type Device: Device;

    /// The part that knows no data.
    fn plain(&mut self) -> &mut SimBackend<Self::Device>;

    /// Takes what happened to the data of the I/O in `slot`, which ends now.
    fn suffer(&mut self, _slot: usize, _damage: Damage) {}
}

/// How far an I/O of a stream is that writes through.
#[derive(Clone, Copy, Debug, Default)]
enum Through {
    /// It is no write, or it failed: its end is the end.
    #[default]
    Plain,
    Writing,
    /// It was written, with this result, and is being flushed.
    Flushing(i32),
}

/// One worker's side of a simulated device. The device itself is lent to the worker that runs.
#[derive(Debug)]
pub struct SimBackend<D> {
    clock: VirtualClock,
    pub(crate) device: Option<Box<D>>,
    /// In order of completion; equal times in order of issue.
    flying: Timeline<Completion>,
    /// This worker's number in the session, in the upper bits of its tickets.
    worker: u32,
    /// What compression leaves of what this worker writes, in 2^-16.
    pub(crate) left_q16: u32,
    /// A flush follows each write before it is answered.
    pub(crate) write_through: bool,
    /// By slot, where writes go through.
    through: Vec<Through>,
    /// Whether the device gains by knowing what comes.
    foresees: bool,
    /// Tags of the requests whose end the device does not know yet, by slot.
    untold: Vec<u64>,
}

impl<D: Device> SimBackend<D> {
    /// For worker number `worker`, with at most `depth` I/Os in flight.
    pub fn new(clock: VirtualClock, worker: u32, depth: u16) -> Self {
        let flying = Timeline::with_capacity(usize::from(depth) + 1);
        Self {
            clock,
            device: None,
            flying,
            worker,
            left_q16: left_q16(Content::Random),
            write_through: false,
            through: vec![Through::default(); usize::from(depth)],
            foresees: false,
            untold: vec![0; usize::from(depth)],
        }
    }

    /// The same, and the device hears of each place some I/Os before the worker on `seat` asks for
    /// it; of blocks in order it need not. Several are told together: their lines are then fetched
    /// at the same time, and so is what the processor has to look up to find their pages.
    pub(crate) fn that_foresees(mut self, seat: &Seat) -> Self {
        self.foresees = !seat.stream.plan.access.is_ordered();
        self
    }

    /// The worker that `ticket` belongs to.
    pub(crate) fn worker_of(ticket: Ticket) -> usize {
        (ticket >> SLOT_BITS) as usize
    }

    /// The slot of its worker that `ticket` belongs to.
    pub(crate) fn slot_of(ticket: Ticket) -> usize {
        (ticket & ((1 << SLOT_BITS) - 1)) as usize
    }

    /// When the device that is lent to this worker next does something by itself.
    #[inline]
    pub(crate) fn device_ns(&self) -> u64 {
        self.device
            .as_ref()
            .map_or(u64::MAX, |device| device.next_ns())
    }

    /// Takes the end of a request that the device did not know when it was pushed.
    pub(crate) fn land_untold(&mut self, ticket: Ticket, outcome: Outcome) {
        self.land(self.untold[Self::slot_of(ticket)], outcome);
    }

    #[inline]
    fn land(&mut self, tag: u64, outcome: Outcome) {
        let completion = Completion {
            tag,
            result: outcome.result,
        };
        self.flying.put(outcome.done_ns, completion);
    }

    /// Hands a request to the device that is lent to this worker.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each I/O comes through here")]
    fn submit(&mut self, request: Request) {
        let Request {
            op,
            offset_bytes,
            length_bytes,
            tag,
        } = request;
        let device = self
            .device
            .as_mut()
            .expect("the device is lent to the worker that runs");
        let ticket = (Ticket::from(self.worker) << SLOT_BITS) | Ticket::from(request.slot());
        let now_ns = self.clock.now_ns();
        match device.submit(ticket, op, offset_bytes, length_bytes, now_ns) {
            Some(outcome) => self.land(tag, outcome),
            None => self.untold[usize::from(request.slot())] = tag,
        }
    }

    /// Flushes what was written; gives what came back when it is the end of its I/O.
    #[cold]
    fn see_through(&mut self, back: Completion) -> Option<Completion> {
        let slot = (back.tag & ((1 << SLOT_BITS) - 1)) as usize;
        match std::mem::take(&mut self.through[slot]) {
            Through::Writing if back.result > 0 => {
                self.through[slot] = Through::Flushing(back.result);
                self.submit(Request {
                    op: Op::Flush,
                    offset_bytes: 0,
                    length_bytes: 0,
                    tag: back.tag,
                });
                None
            }
            Through::Flushing(result) if back.result >= 0 => Some(Completion { result, ..back }),
            Through::Plain | Through::Writing | Through::Flushing(_) => Some(back),
        }
    }

    /// When the first of what is in flight ends, as far as the device has told; `u64::MAX` where it
    /// has not.
    #[inline]
    pub(crate) fn next_end_ns(&self) -> u64 {
        self.flying.time_ns(0)
    }

    /// When `wait(want, deadline_ns)` would return.
    #[inline]
    pub(crate) fn ready_ns(&self, want: u32, deadline_ns: u64) -> u64 {
        let now_ns = self.clock.now_ns();
        let Some(index) = (want as usize).checked_sub(1) else {
            return now_ns;
        };
        let done_ns = self.flying.time_ns(index);
        done_ns.min(deadline_ns).max(now_ns)
    }
}

impl<D: Device> Seam for SimBackend<D> {
    type Device = D;

    #[inline]
    fn plain(&mut self) -> &mut Self {
        self
    }
}

impl<D: Device> Backend for SimBackend<D> {
    const HAS_DATA: bool = false;

    fn buffer(&mut self, _slot: u16) -> &mut [u8] {
        &mut []
    }

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each I/O comes through here")]
    fn push(&mut self, request: Request) {
        if self.write_through {
            let writes = request.op == Op::Write;
            let begun = if writes {
                Through::Writing
            } else {
                Through::Plain
            };
            self.through[usize::from(request.slot())] = begun;
        }
        self.submit(request);
    }

    #[inline]
    fn wait(&mut self, want: u32, deadline_ns: u64) -> io::Result<()> {
        let ready_ns = self.ready_ns(want, deadline_ns);
        if ready_ns == u64::MAX {
            return Err(io::Error::other("nothing in flight ever completes"));
        }
        self.clock.advance(ready_ns);
        Ok(())
    }

    #[inline]
    fn takes_many(&self) -> bool {
        !self.foresees
    }

    #[inline]
    fn foresees(&self) -> bool {
        self.foresees
    }

    #[inline]
    fn foresee(&mut self, extents: &[Extent]) {
        if let Some(device) = &self.device {
            device.foresee_all(extents);
        }
    }

    #[inline]
    fn next_alone(&self) -> Option<(u64, Completion)> {
        let (at_ns, completion) = self.flying.first_alone()?;
        (!self.write_through && self.device_ns() >= at_ns).then_some((at_ns, completion))
    }

    #[inline]
    fn take_alone(&mut self, at_ns: u64) {
        self.clock.advance(at_ns);
        self.flying.take(1);
    }

    #[inline]
    fn take_together(
        &mut self,
        is_whole: impl Fn(Completion) -> bool,
        is_wanted: impl FnOnce(u64, u32) -> bool,
        mut take: impl FnMut(u64, Completion),
    ) -> bool {
        let at_ns = self.flying.time_ns(0);
        if self.write_through || self.device_ns() < at_ns {
            return false;
        }
        let Some(count) = self.flying.together(at_ns, is_whole) else {
            return false;
        };
        if count == 0 || !is_wanted(at_ns, count as u32) {
            return false;
        }
        self.clock.advance(at_ns);
        for &(_, completion) in self.flying.take(count) {
            take(at_ns, completion);
        }
        true
    }

    #[inline]
    fn reap(&mut self) -> Option<Completion> {
        loop {
            let (_, back) = self.flying.take_until(self.clock.now_ns())?;
            if !self.write_through {
                return Some(back);
            }
            if let Some(ended) = self.see_through(back) {
                return Some(ended);
            }
        }
    }
}
