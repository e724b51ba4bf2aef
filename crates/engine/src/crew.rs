//! The workers of one plan as a whole: checks the plan, gives every worker its seat, starts and
//! continues laps, and adds the shares up. Who steps the workers (threads, or a simulation in
//! virtual time) is not known here.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use crate::access::Cursor;
use crate::control::LapControl;
use crate::error::EngineError;
use crate::interval::IntervalPair;
use crate::lap::{Lap, StreamLap};
use crate::plan::{Access, Plan, StreamPlan};
use crate::tally::Board;
use crate::witness::Witness;
use crate::worker::WorkerLap;

/// More I/Os in flight per worker than any ring takes.
const DEPTH_MAX: u32 = 32_768;
const WORKERS_MAX: u64 = 4_096;
/// Lengths beyond are cut short by the kernel.
const BLOCK_BYTES_MAX: u32 = 1 << 30;

/// One stream as its workers share it.
#[derive(Debug)]
pub struct Stream {
    pub index: usize,
    pub plan: StreamPlan,
    pub workers: u32,
    /// I/Os in flight per worker.
    pub depth: u16,
    pub cursor: Cursor,
}

impl Stream {
    pub fn is_open_loop(&self) -> bool {
        self.plan.rate.is_some()
    }
}

/// A worker's place in the crew.
#[derive(Clone)]
pub struct Seat {
    pub stream: Arc<Stream>,
    /// Number of the worker within its stream.
    pub number: u32,
    pub control: Arc<LapControl>,
    pub halt: Arc<AtomicBool>,
    pub board: Arc<Board>,
}

/// How a stream's outstanding I/Os are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// `threads` workers with `queue_depth` each.
    Queued,
    /// `threads` x `queue_depth` workers with one each, for backends that can hold one only.
    OnePerWorker,
}

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

fn check(condition: bool, reason: &'static str) -> Result<(), EngineError> {
    condition
        .then_some(())
        .ok_or(EngineError::PlanRefused { reason })
}

fn check_stream(plan: &StreamPlan) -> Result<(), EngineError> {
    let range = plan.range;
    let block_bytes = u64::from(plan.block_bytes);
    check(plan.threads > 0, "a stream needs a thread")?;
    check(
        (1..=DEPTH_MAX).contains(&plan.queue_depth),
        "a queue depth is 1 to 32768",
    )?;
    check(plan.read_percent <= 100, "a read share is 0 to 100 %")?;
    check(
        (1..=BLOCK_BYTES_MAX).contains(&plan.block_bytes),
        "a block is 1 B to 1 GiB",
    )?;
    check(
        range.segments > 0 && range.segment_bytes > 0,
        "the range is empty",
    )?;
    check(
        plan.access != Access::Random || range.segment_bytes >= block_bytes,
        "the range (or a segment of it) is smaller than a block",
    )?;
    check(
        range.segments == 1 || range.stride_bytes >= range.segment_bytes,
        "the segments overlap",
    )?;
    let end = (range.segments - 1)
        .checked_mul(range.stride_bytes)
        .and_then(|last| last.checked_add(range.segment_bytes))
        .and_then(|length| length.checked_add(range.start_bytes));
    check(
        end.is_some_and(|end| i64::try_from(end).is_ok()),
        "the range ends beyond 2^63",
    )?;
    let rate_is_real = plan
        .rate
        .is_none_or(|rate| rate.ios_per_second.is_finite() && rate.ios_per_second > 0.0);
    check(rate_is_real, "a rate is above 0")
}

impl Crew {
    /// Seats for a new plan. Nothing runs yet.
    pub fn muster(plan: &Plan, depth: Depth) -> Result<Self, EngineError> {
        check(!plan.streams.is_empty(), "it has no stream")?;
        check(plan.interval_ns > 0, "an interval is longer than 0")?;
        for stream in &plan.streams {
            check_stream(stream)?;
            let alone = depth == Depth::OnePerWorker;
            let per_thread = if alone { stream.queue_depth } else { 1 };
            let workers = u64::from(stream.threads) * u64::from(per_thread);
            check(
                workers <= WORKERS_MAX,
                "more than 4096 workers (threads x I/Os each)",
            )?;
        }
        let halt = Arc::new(AtomicBool::new(false));
        let control = Arc::new(LapControl::unbounded(plan.streams.len(), plan.interval_ns));
        let mut crew = Self {
            streams: Vec::new(),
            seats: Vec::new(),
            control,
            halt,
        };
        for (index, stream) in plan.streams.iter().enumerate() {
            crew.add_stream(index, stream, depth);
        }
        Ok(crew)
    }

    fn add_stream(&mut self, index: usize, plan: &StreamPlan, depth: Depth) {
        let (workers, depth) = match depth {
            Depth::Queued => (plan.threads, plan.queue_depth as u16),
            Depth::OnePerWorker => (plan.threads * plan.queue_depth, 1),
        };
        let position_bytes = match plan.access {
            Access::Random => 0,
            Access::Sequential { cursor_bytes } => cursor_bytes,
        };
        let cursor = Cursor::new(position_bytes, &plan.range);
        let stream = Arc::new(Stream {
            index,
            plan: plan.clone(),
            workers,
            depth,
            cursor,
        });
        self.seats.extend((0..workers).map(|number| Seat {
            stream: Arc::clone(&stream),
            number,
            control: Arc::clone(&self.control),
            halt: Arc::clone(&self.halt),
            board: Arc::default(),
        }));
        self.streams.push(stream);
    }

    pub fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// Starts the clock of the first lap; the workers may begin.
    pub fn start(&self, plan: &Plan, now_ns: u64) {
        self.control.start_at(now_ns);
        self.control.bind(plan.bound, plan.open_ended);
    }

    /// Gives the lap that the running workers are already in its bound.
    pub fn go_on(&mut self, plan: &Plan) -> Result<(), EngineError> {
        let same = self.streams.len() == plan.streams.len()
            && self.control.interval_ns() == plan.interval_ns
            && self.streams.iter().zip(&plan.streams).all(|(mine, plan)| {
                let access = mine.plan.access;
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
        next.bind(plan.bound, plan.open_ended);
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
            ..Witness::default()
        };
        for share in shares {
            witness.add(&share.account, self.streams[share.stream].depth);
            let WorkerLap {
                directions: [read, write],
                ..
            } = *share;
            let stream = &mut streams[share.stream];
            stream.read.merge(read);
            stream.write.merge(write);
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
        if stream.plan.access != Access::Random {
            lap.cursor_bytes = stream.cursor.position_bytes();
        }
        let intervals = self.control.series(stream.index).between(0, u32::MAX);
        (lap.read.intervals, lap.write.intervals) = intervals
            .into_iter()
            .map(|[read, write]| (read, write))
            .unzip();
        lap
    }
}
