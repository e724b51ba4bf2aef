//! The workers of one plan as a whole: checks the plan, gives every worker its seat, starts and
//! continues laps, and adds the shares up. Who steps the workers (threads, or a simulation in
//! virtual time) is not known here.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use crate::access::{Cursor, Shuffle};
use crate::check::check_plan;
use crate::control::LapControl;
use crate::error::{EngineError, Stuck};
use crate::flight::Flights;
use crate::interval::IntervalPair;
use crate::lap::{Lap, StreamLap};
use crate::plan::{Access, Depth, Plan, StreamPlan};
use crate::stream::{Seat, Stream};
use crate::verify::Ledger;
use crate::witness::{InFlight, Witness};
use crate::worker::WorkerLap;

/// Totals of a lap while it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    pub elapsed_ns: u64,
    pub ios: u64,
    pub bytes: u64,
    pub errors: u64,
    /// Per stream, the intervals (read, write) that are complete and were not asked for before.
    pub finished: Vec<Vec<IntervalPair>>,
}

/// All workers of a plan.
pub struct Crew {
    streams: Vec<Arc<Stream>>,
    seats: Vec<Seat>,
    /// The lap that runs, or the last one.
    control: Arc<LapControl>,
    halt: Arc<AtomicBool>,
}

impl Crew {
    /// Seats for a new plan. Nothing runs yet.
    pub fn of(plan: &Plan, depth: Depth) -> Result<Self, EngineError> {
        check_plan(plan, depth)?;
        let halt = Arc::new(AtomicBool::new(false));
        let control = Arc::new(LapControl::unbounded(plan.streams.len(), plan.interval_ns));
        let mut crew = Self {
            streams: Vec::new(),
            seats: Vec::new(),
            control,
            halt,
        };
        let ledger = Ledger::of(plan).map(Arc::new);
        for index in 0..plan.streams.len() {
            crew.add_stream(index, plan, depth, ledger.clone());
        }
        Ok(crew)
    }

    fn add_stream(
        &mut self,
        index: usize,
        whole: &Plan,
        depth: Depth,
        ledger: Option<Arc<Ledger>>,
    ) {
        let plan = &whole.streams[index];
        let (workers, depth) = match depth {
            Depth::Queued => (plan.threads, plan.queue_depth as u16),
            Depth::OnePerWorker => (plan.threads * plan.queue_depth, 1),
        };
        let (position_bytes, shuffle) = match plan.access {
            Access::Sequential { cursor_bytes } => (cursor_bytes, None),
            Access::Shuffled { key, cursor_bytes } => {
                let shuffle = Shuffle::new(key, cursor_bytes, plan.block_size_bytes, plan.range);
                (0, Some(shuffle))
            }
            Access::Random | Access::Zoned(_) | Access::Zipf { .. } | Access::Pareto { .. } => {
                (0, None)
            }
        };
        let cursor = Cursor::new(position_bytes, &plan.range);
        let stride = plan
            .thread_stride_bytes
            .filter(|_| matches!(plan.access, Access::Sequential { .. }));
        let own_cursors = stride.map_or(Vec::new(), |stride_bytes| {
            let begins = |thread: u32| {
                let length_bytes = plan.range.segments * plan.range.segment_bytes;
                let ahead = u128::from(thread) * u128::from(stride_bytes);
                let ahead = (ahead % u128::from(length_bytes)) as u64;
                position_bytes % length_bytes + ahead
            };
            let threads = 0..plan.threads;
            threads
                .map(|thread| Cursor::new(begins(thread), &plan.range))
                .collect()
        });
        let stream = Arc::new(Stream {
            index,
            plan: plan.clone(),
            workers,
            depth,
            cursor,
            own_cursors,
            shuffle,
            ordered: ledger.is_some() && Ledger::is_ordered(whole, index),
            ledger,
        });
        self.seats.extend((0..workers).map(|number| Seat {
            stream: Arc::clone(&stream),
            number,
            control: Arc::clone(&self.control),
            halt: Arc::clone(&self.halt),
            board: Arc::default(),
            flights: Arc::new(Flights::new(depth)),
        }));
        self.streams.push(stream);
    }

    pub fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// Starts the clock of the first lap; the workers may begin.
    pub fn start(&self, plan: &Plan, now_ns: u64) {
        self.control.start_at(now_ns);
        self.control.bind(plan.bound, plan.open_ended, now_ns);
    }

    /// Gives the lap that the running workers are already in its bound.
    pub fn go_on(&mut self, plan: &Plan) -> Result<(), EngineError> {
        self.go_on_at(plan, 0)
    }

    /// The same by a clock that did not wait: what was done until `now_ns` belongs to the lap.
    pub fn go_on_at(&mut self, plan: &Plan, now_ns: u64) -> Result<(), EngineError> {
        let same = self.streams.len() == plan.streams.len()
            && self.control.interval_ns() == plan.interval_ns
            && self.streams.iter().zip(&plan.streams).all(|(mine, plan)| {
                let access = mine.plan.access.clone();
                mine.plan
                    == StreamPlan {
                        access,
                        ..plan.clone()
                    }
            });
        if !same || self.control.drains() {
            return Err(EngineError::NothingToContinue);
        }
        let next = Arc::clone(self.control.next());
        next.bind(plan.bound, plan.open_ended, now_ns);
        self.control = next;
        Ok(())
    }

    /// No I/O is issued from now on; what is in flight is completed and counted.
    pub fn halt(&self) {
        self.halt.store(true, Ordering::Release);
    }

    pub fn is_halted(&self) -> bool {
        self.halt.load(Ordering::Acquire)
    }

    /// A handle to `halt` from elsewhere.
    pub fn halt_handle(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.halt)
    }

    /// The I/Os that the device has had for at least `least_ns`, the oldest first.
    pub fn aged(&self, now_ns: u64, least_ns: u64) -> Vec<Stuck> {
        let seats = self.seats.iter();
        let aged = seats.flat_map(|seat| seat.flights.aged(now_ns, least_ns));
        let mut aged: Vec<Stuck> = aged.collect();
        aged.sort_by_key(|one| (std::cmp::Reverse(one.age_ns), one.offset_bytes));
        aged
    }

    /// Totals of the running lap, and its intervals from `first_interval` on that every worker
    /// has left behind.
    pub fn progress(&self, now_ns: u64, first_interval: u32) -> Progress {
        let mut progress = Progress {
            elapsed_ns: now_ns.saturating_sub(self.control.started_ns()),
            ..Progress::default()
        };
        let mut complete = u32::MAX;
        for seat in &self.seats {
            let totals = seat.board.read();
            progress.ios += totals.ios;
            progress.bytes += totals.bytes;
            progress.errors += totals.errors;
            complete = complete.min(totals.interval);
        }
        let streams = 0..self.streams.len();
        progress.finished = streams
            .map(|one| self.control.series(one).between(first_interval, complete))
            .collect();
        progress
    }

    /// Adds the shares of all workers up to the lap.
    pub fn lap(&self, shares: Vec<Box<WorkerLap>>, stopped: bool) -> Lap {
        let started_ns = self.control.started_ns();
        let ended_ns = shares
            .iter()
            .map(|share| share.ended_ns)
            .max()
            .unwrap_or(started_ns);
        let mut streams: Vec<StreamLap> = self
            .streams
            .iter()
            .map(|stream| self.empty_lap(stream))
            .collect();
        let mut failure = None;
        let elapsed_ns = ended_ns.saturating_sub(started_ns);
        let mut witness = Witness {
            wall_ns: elapsed_ns,
            streams: vec![InFlight::default(); self.streams.len()],
            ..Witness::default()
        };
        for share in shares {
            let depth = self.streams[share.stream].depth;
            witness.add(&share.account, share.stream, depth);
            let WorkerLap {
                directions: [read, write, flush, discard],
                ..
            } = *share;
            let stream = &mut streams[share.stream];
            stream.read.merge(read);
            stream.write.merge(write);
            stream.flush.merge(flush);
            stream.discard.merge(discard);
            stream.backlog_max = stream.backlog_max.max(share.backlog_max);
            stream.backlog_end += share.backlog_end;
            failure = failure.or(share.failure);
        }
        Lap {
            started_ns,
            elapsed_ns,
            streams,
            stopped,
            failure,
            witness,
        }
    }

    fn empty_lap(&self, stream: &Stream) -> StreamLap {
        let mut lap = StreamLap::default();
        match (&stream.plan.access, &stream.shuffle) {
            (Access::Sequential { .. }, _) => {
                lap.cursor_bytes = stream.cursor_of(0).position_bytes();
            }
            (_, Some(shuffle)) => lap.cursor_bytes = shuffle.cursor_bytes(),
            (_, None) => {}
        }
        if let Some(ledger) = &stream.ledger {
            let (written, next_generation) = ledger.close();
            lap.written = written.filter(|_| stream.ordered);
            lap.next_generation = next_generation;
        }
        let intervals = self.control.series(stream.index).between(0, u32::MAX);
        (lap.read.intervals, lap.write.intervals) = intervals
            .into_iter()
            .map(|[read, write]| (read, write))
            .unzip();
        lap
    }
}
