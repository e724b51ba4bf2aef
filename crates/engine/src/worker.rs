//! The one loop: a state machine that keeps its slots full and books what comes back. Real
//! threads and simulated ones run this same code; only the backend and the clock differ.
//!
//! One clock is read a turn. It stamps the completions of this turn and the issues of the next;
//! where content is made or judged in between, another reading does (`worker/content.rs`).

mod alone;
mod closing;
mod content;
mod plain;
mod staging;
mod turns;

pub use turns::Leave;

use std::io;
use std::sync::atomic::Ordering;
use std::sync::Arc;

use crate::backend::Backend;
use crate::census::Census;
use crate::clock::Clock;
use crate::content::{lay_base, Stamper};
use crate::control::LapControl;
use crate::draws::Draws;
use crate::error::{errno_of, EngineError};
use crate::flight::{Flight, Flights};
use crate::lap::DirectionLap;
use crate::pacing::Arrivals;
use crate::plan::Access;
use crate::request::{Completion, Extent, Op, Request};
use crate::seed::derive_seed;
use crate::stream::Seat;
use crate::tally::Tally;
use crate::witness::Account;

use staging::Staging;
use turns::{Kind, Turns};

/// The stamp is the low 48 bits of the clock: differences up to 78 hours survive.
const STAMP_MASK: u64 = (1 << 48) - 1;
const SLOT_BITS: u32 = 16;
/// An idle worker looks up this often whether it shall stop.
const NAP_NS: u64 = 20_000_000;

/// One worker's share of a lap.
#[derive(Debug)]
pub struct WorkerLap {
    /// Index of the stream it belongs to.
    pub stream: usize,
    /// When its share ended: the bound of an open-ended lap, the last completion otherwise.
    pub ended_ns: u64,
    /// Read, write, flush, discard.
    pub(crate) directions: [DirectionLap; 4],
    pub(crate) backlog_max: u64,
    pub(crate) backlog_end: u64,
    pub(crate) account: Account,
    pub(crate) failure: Option<EngineError>,
}

/// Drives `queue_depth` I/Os of one stream over its own backend.
///
/// ```text
/// worker.begin();
/// while !worker.done() {
///     worker.issue();
///     worker.settle()?;
/// }
/// let lap = worker.take_lap();
/// ```
pub struct Worker<B: Backend, C: Clock> {
    backend: B,
    clock: C,
    seat: Seat,
    control: Arc<LapControl>,
    now_ns: u64,
    draws: Draws,
    stamper: Stamper,
    staging: Staging,
    turns: Turns,
    /// Whether a turn may be that of `alone`.
    kind: Kind,
    /// Writes until the next flush; 0 when one is owed.
    writes_to_flush: u64,
    arrivals: Option<Arrivals>,
    free: Vec<u16>,
    flights: Arc<Flights>,
    /// When the I/O of each slot was due; an open loop's only.
    intended_ns: Vec<u64>,
    tally: Tally,
    account: Account,
    /// Which blocks were read and written, where that is counted.
    census: Option<Box<[Census; 2]>>,
    failures_in_a_row: u64,
    succeeded: bool,
    failure: Option<EngineError>,
    finished_lap: Option<Box<WorkerLap>>,
    ended: bool,
    closed: bool,
}

impl<B: Backend, C: Clock> Worker<B, C> {
    /// A worker on `seat`. Its write buffers are filled here, before any clock runs.
    pub fn new(mut backend: B, clock: C, seat: Seat) -> Self {
        let plan = &seat.stream.plan;
        let seed = derive_seed(plan.seed, u64::from(seat.number));
        if B::HAS_DATA && plan.writes() {
            // Also where it stays so: the buffers may be those of a step before.
            for slot in 0..seat.stream.depth {
                lay_base(backend.buffer(slot), plan, seat.number, slot);
            }
        }
        let control = Arc::clone(&seat.control);
        let staging = Staging::of(&seat.stream, B::HAS_DATA);
        let turns = Turns::of(&seat.stream, &backend, &staging);
        Self {
            backend,
            clock,
            now_ns: 0,
            draws: Draws::new(seed, plan),
            stamper: Stamper::of_worker(plan.seed, seat.number),
            turns,
            kind: Kind::of(&seat.stream, B::HAS_DATA),
            staging,
            writes_to_flush: plan.flush_period(),
            arrivals: None,
            free: (0..seat.stream.depth).rev().collect(),
            flights: Arc::clone(&seat.flights),
            intended_ns: Vec::new(),
            tally: Tally::new(0, 1, false),
            account: Account::default(),
            census: plan.census.then(Box::default),
            failures_in_a_row: 0,
            succeeded: false,
            failure: None,
            finished_lap: None,
            ended: false,
            closed: false,
            control,
            seat,
        }
    }

    /// Takes the time of the start; to be called when the crew has begun.
    pub fn begin(&mut self) {
        let stream = &self.seat.stream;
        let started_ns = self.control.started_ns();
        self.now_ns = self.clock.now_ns();
        self.tally = Tally::new(
            started_ns,
            self.control.interval_ns(),
            stream.is_open_loop(),
        );
        let seed = derive_seed(stream.plan.seed, (1 << 33) + u64::from(self.seat.number));
        self.arrivals = stream
            .plan
            .rate
            .map(|rate| Arrivals::new(rate, self.seat.number, stream.workers, started_ns, seed));
        let slots = self.arrivals.as_ref().map_or(0, |_| self.flights.depth());
        self.intended_ns.resize(slots, 0);
    }

    /// First half of a turn: pushes an I/O into every free slot, as far as bound, budget and
    /// schedule allow.
    #[inline]
    pub fn issue(&mut self) {
        if self.halted() || !self.control.allows_issue(self.now_ns) {
            self.account.end_issuing(&self.control, self.now_ns, 0);
            return;
        }
        let is_full = match self.turns {
            Turns::Solo(op) if self.control.is_timed() => return self.issue_solo(op),
            Turns::Plain(op) if self.control.is_timed() => self.fill_plain(op),
            _ => self.fill(),
        };
        self.send_staged();
        if let Some(arrivals) = self.arrivals.as_mut().filter(|_| is_full) {
            arrivals.count_backlog(self.now_ns);
        }
    }

    /// Pushes or stages an I/O for every free slot; false where something else ended that.
    #[inline]
    fn fill(&mut self) -> bool {
        while !self.free.is_empty() {
            if self.writes_to_flush == 0 {
                self.push_flush();
                continue;
            }
            // An arrival is taken only when there is a place for it: none is lost.
            if self
                .arrivals
                .as_ref()
                .is_some_and(|one| one.next_ns() > self.now_ns)
            {
                return false;
            }
            let Some(extent) = self.next_extent() else {
                return false;
            };
            let due_ns = self
                .arrivals
                .as_mut()
                .and_then(|one| one.take_due(self.now_ns));
            let intended_ns = due_ns.unwrap_or(self.now_ns);
            self.push(extent, intended_ns);
            if self.staging.is_hasty {
                return false;
            }
        }
        true
    }

    #[inline]
    fn next_extent(&mut self) -> Option<Extent> {
        self.look_ahead();
        let stream = &self.seat.stream;
        let wanted_bytes = self.draws.length_bytes();
        let granted_bytes = self.control.claim_bytes(wanted_bytes, self.now_ns);
        if granted_bytes == 0 {
            return None;
        }
        let verifier = self.staging.verifier.as_mut().filter(|_| stream.ordered);
        let taken = match (&stream.plan.access, verifier) {
            (Access::Sequential { .. } | Access::Shuffled { .. }, Some(verifier)) => {
                let shuffle = stream.shuffle.as_ref();
                verifier.take_next(&stream.plan.range, &stream.cursor, shuffle, granted_bytes)
            }
            (Access::Sequential { .. }, None) => {
                let cursor = stream.cursor_of(self.seat.number);
                Some(cursor.advance(&stream.plan.range, granted_bytes))
            }
            (Access::Shuffled { .. }, None) => stream.shuffle.as_ref().map(|one| one.advance().0),
            (
                Access::Random | Access::Zoned(_) | Access::Zipf { .. } | Access::Pareto { .. },
                _,
            ) => {
                return Some(Extent {
                    length_bytes: granted_bytes,
                    ..self.draws.extent()
                })
            }
        };
        let used_bytes = taken.map_or(0, |extent| extent.length_bytes);
        self.control.return_bytes(granted_bytes - used_bytes);
        taken
    }

    #[inline]
    fn push(&mut self, mut extent: Extent, intended_ns: u64) {
        let op = self.draws.op();
        let slot = self.take_slot();
        match op {
            Op::Write => {
                self.writes_to_flush -= 1;
                if B::HAS_DATA {
                    extent = self.make_content(slot, extent);
                }
            }
            Op::Read => {
                if let Some(verifier) = &mut self.staging.verifier {
                    verifier.begin_read(slot, extent);
                }
            }
            Op::Flush | Op::Discard => {}
        }
        if let Some(census) = &mut self.census {
            if let Some(one) = census.get_mut(op as usize) {
                one.note(extent.offset_bytes);
            }
        }
        self.put(op, slot, extent, intended_ns);
    }

    /// The flush that is owed. It counts as no arrival and takes nothing of the budget.
    #[cold]
    fn push_flush(&mut self) {
        self.writes_to_flush = self.seat.stream.plan.flush_period();
        let slot = self.take_slot();
        let nothing = Extent {
            offset_bytes: 0,
            length_bytes: 0,
        };
        self.put(Op::Flush, slot, nothing, self.now_ns);
    }

    /// Hands an I/O to the backend, or to those that wait until all content of the turn is made.
    #[inline]
    fn put(&mut self, op: Op, slot: u16, extent: Extent, intended_ns: u64) {
        self.flights.put(slot, op, extent);
        if let Some(place) = self.intended_ns.get_mut(usize::from(slot)) {
            *place = intended_ns;
        }
        if self.staging.stages {
            self.staging.staged.push(slot);
        } else {
            self.launch(slot);
        }
    }

    /// Stamps the I/O of `slot` and hands it to the backend.
    #[inline]
    fn launch(&mut self, slot: u16) {
        let flight = self.flights.launch(slot, self.now_ns);
        self.backend.push(Request {
            op: flight.op,
            offset_bytes: flight.offset_bytes,
            length_bytes: flight.length_bytes,
            tag: (self.now_ns << SLOT_BITS) | u64::from(slot),
        });
    }

    /// What `settle` will wait for: this many completions, or this time, whichever is first.
    /// (0, _) means that it will not wait.
    #[inline]
    pub fn pending_wait(&self) -> (u32, u64) {
        if self.staging.is_hasty {
            return (0, self.now_ns);
        }
        // A lap that goes on must be handed over at its end even when the device stalls.
        let lap_end_ns = if self.control.drains() {
            u64::MAX
        } else {
            self.control.end_ns()
        };
        let may_issue = || !self.halted() && self.control.allows_issue(self.now_ns);
        let due_ns = match &self.arrivals {
            // After the end no arrival is due: a deadline in the past would only be polled.
            Some(arrivals) if !self.free.is_empty() && may_issue() => arrivals
                .next_ns()
                .min(self.now_ns + NAP_NS)
                .min(self.control.end_ns()),
            _ if self.in_flight() == 0 => return (0, self.now_ns),
            _ => u64::MAX,
        };
        (1, due_ns.min(lap_end_ns))
    }

    /// Second half of a turn: waits, reads the clock once, books everything that came back.
    #[inline]
    pub fn settle(&mut self) -> io::Result<()> {
        let (want, deadline_ns) = self.pending_wait();
        if want > 0 || self.staging.is_hasty {
            self.backend.wait(want, deadline_ns)?;
        }
        self.staging.is_hasty = false;
        let now_ns = self.clock.now_ns().max(self.now_ns);
        let held = self.in_flight() as u64;
        if now_ns >= self.control.end_ns() {
            // The turn belongs to both laps, or to the time after the last issue.
            let end_ns = self.control.end_ns();
            let within_ns = end_ns.saturating_sub(self.now_ns);
            self.account
                .end_issuing(&self.control, end_ns, within_ns * held);
            if !self.control.drains() {
                self.account.add_turn(within_ns, held);
                self.now_ns += within_ns;
                self.hand_over();
            }
        }
        self.account.add_turn(now_ns - self.now_ns, held);
        self.now_ns = now_ns;
        self.tally
            .begin_turn(self.now_ns, self.control.series(self.seat.stream.index));
        match self.turns.op() {
            Some(op) => self.book_plain(op),
            None => self.book_all(),
        }
        self.tally.end_turn(&self.seat.board);
        self.judge_returned();
        self.ended |= self.is_over();
        Ok(())
    }

    fn book_all(&mut self) {
        while let Some(completion) = self.backend.reap() {
            self.book(completion);
        }
    }

    #[inline]
    fn book(&mut self, completion: Completion) {
        let slot = (completion.tag & ((1 << SLOT_BITS) - 1)) as u16;
        let flight = self.flights.land(slot);
        let is_whole = completion.result == flight.whole;
        if is_whole && self.staging.verifier.is_some() {
            self.staging.returned.push_back(slot);
        } else {
            self.free.push(slot);
        }
        debug_assert!(
            self.free.len() <= self.flights.depth(),
            "a slot came back twice"
        );
        if is_whole {
            let latency_ns = self.latency_ns(completion);
            self.tally
                .record(flight.op, latency_ns, flight.length_bytes);
            if self.arrivals.is_some() {
                let intended_ns = self.intended_ns[usize::from(slot)];
                self.tally
                    .record_response(flight.op, self.now_ns - intended_ns);
            }
            self.succeeded = true;
            self.failures_in_a_row = 0;
        } else if flight.is_aside() && completion.result >= 0 {
            let latency_ns = self.latency_ns(completion);
            let bytes = u64::from(flight.length_bytes);
            self.tally.record_aside(flight.op, latency_ns, bytes);
            self.succeeded = true;
            self.failures_in_a_row = 0;
        } else {
            if let Some(verifier) = &mut self.staging.verifier {
                verifier.end(slot, false);
            }
            self.book_failure(flight, (-completion.result).max(0));
        }
    }

    #[inline]
    fn latency_ns(&self, completion: Completion) -> u64 {
        self.now_ns.wrapping_sub(completion.tag >> SLOT_BITS) & STAMP_MASK
    }

    #[cold]
    fn book_failure(&mut self, flight: Flight, errno: i32) {
        self.tally.record_error(flight.op, errno);
        self.failures_in_a_row += 1;
        let failures = self.failures_in_a_row;
        let block_size_bytes = self.seat.stream.plan.block_size_bytes;
        let is_whole_block = flight.length_bytes == block_size_bytes;
        let failure = match errno {
            libc::EINVAL if !self.succeeded && is_whole_block => EngineError::DirectRefused {
                block_size_bytes,
                offset_alignment_bytes: 0,
                memory_alignment_bytes: 0,
            },
            _ => match EngineError::of_failures(errno, failures, self.backend.worst_member()) {
                Some(failure) => failure,
                None => return,
            },
        };
        self.fail(failure);
    }

    /// Ends the work of the whole crew; the first reason is kept.
    fn fail(&mut self, failure: EngineError) {
        self.failure.get_or_insert(failure);
        self.seat.halt.store(true, Ordering::Release);
    }

    /// The backend cannot wait any more: its I/Os are lost, the worker is done with what it has.
    pub fn abandon(&mut self, error: &io::Error) {
        self.fail(EngineError::WaitFailed {
            errno: errno_of(error),
        });
        self.free = (0..self.seat.stream.depth).collect();
        self.staging.forget();
        self.ended = true;
    }

    /// Whether nothing is in flight and nothing will be issued again. Found out by `settle`, once
    /// and for all: another worker may still give back a part of the budget, and uses it itself.
    #[inline]
    pub fn done(&self) -> bool {
        self.ended
    }

    #[inline]
    fn is_over(&self) -> bool {
        let no_more = || self.control.drains() && !self.control.allows_issue(self.now_ns);
        self.in_flight() == 0 && self.staging.is_clear() && (self.halted() || no_more())
    }

    /// I/Os that the device has.
    #[inline]
    fn in_flight(&self) -> usize {
        self.flights.depth() - self.free.len() - self.staging.held()
    }

    #[inline]
    fn halted(&self) -> bool {
        self.seat.halt.load(Ordering::Relaxed)
    }

    /// The worker's latest reading of its clock.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    pub fn backend_mut(&mut self) -> &mut B {
        &mut self.backend
    }

    /// Gives the backend back for the next step.
    pub fn into_backend(self) -> B {
        self.backend
    }
}
