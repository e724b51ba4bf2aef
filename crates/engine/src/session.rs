//! A session over one open descriptor: threads that stay warm between steps, laps that may go
//! on without a gap, and somebody who looks on while they run.

use std::os::fd::OwnedFd;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Barrier};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::{fcntl_getfl, statx, AtFlags, OFlags, StatxFlags};

use crate::arena::Shape;
use crate::backend::null::NullBackend;
use crate::backend::sync::SyncBackend;
use crate::backend::uring::UringBackend;
use crate::backend::FileBackend;
use crate::clock::{Clock, MonotonicClock};
use crate::crew::{Crew, Depth, Progress, Seat};
use crate::error::{errno_of, EngineError};
use crate::lap::Lap;
use crate::plan::{Access, Plan};
use crate::worker::{Worker, WorkerLap};

/// The observer is asked this often.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A worker calls nothing deep.
const STACK_BYTES: usize = 512 << 10;

/// What carries the I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendKind {
    Uring,
    Sync,
    /// No device at all.
    Null,
}

/// What the worker threads of one plan need besides their seats.
#[derive(Clone)]
struct Briefing {
    file: Arc<OwnedFd>,
    gate: Arc<Barrier>,
    reports: Sender<Report>,
}

struct Job {
    seat: Seat,
    briefing: Briefing,
}

enum Report {
    /// The worker waits at the gate.
    Ready(Result<(), EngineError>),
    Share(Box<WorkerLap>),
    /// Nothing is in flight any more and nothing will be.
    Ended,
}

struct WorkerThread {
    jobs: Option<Sender<Job>>,
    handle: Option<JoinHandle<()>>,
}

/// A crew at work.
struct Watch {
    crew: Crew,
    reports: Receiver<Report>,
    working: usize,
}

/// One open target. Dropping it ends what runs and joins the threads.
pub struct Session {
    file: Arc<OwnedFd>,
    kind: BackendKind,
    refusal: Option<EngineError>,
    threads: Vec<WorkerThread>,
    /// The open-ended stimulus that goes on between two laps.
    running: Option<Watch>,
}

impl Session {
    /// A session on the backend that suits: a ring, or plain system calls where it is refused.
    pub fn new(file: OwnedFd) -> Self {
        let file = Arc::new(file);
        let probe = Shape {
            depth: 1,
            block_bytes: 4096,
            reads: true,
            writes: false,
        };
        let refusal = UringBackend::open(&file, probe).err();
        let kind = if refusal.is_some() {
            BackendKind::Sync
        } else {
            BackendKind::Uring
        };
        let mut session = Self::with_backend(file, kind);
        session.refusal = refusal;
        session
    }

    /// A session on a named backend.
    pub fn with_backend(file: impl Into<Arc<OwnedFd>>, kind: BackendKind) -> Self {
        let file = file.into();
        Self {
            file,
            kind,
            refusal: None,
            threads: Vec::new(),
            running: None,
        }
    }

    pub fn kind(&self) -> BackendKind {
        self.kind
    }

    /// Why there is no ring although one was wished for.
    pub fn refusal(&self) -> Option<&EngineError> {
        self.refusal.as_ref()
    }

    /// The session's clock, `CLOCK_MONOTONIC`.
    pub fn now_ns(&self) -> u64 {
        MonotonicClock.now_ns()
    }

    /// Runs one lap to its bound.
    pub fn run(&mut self, plan: &Plan) -> Result<Lap, EngineError> {
        self.run_observed(plan, |_| true)
    }

    /// Runs one lap; `observe` sees it ten times a second and stops it by returning false.
    /// A device that fails midway is no error here: the lap has the reason and what was measured.
    pub fn run_observed(
        &mut self,
        plan: &Plan,
        observe: impl FnMut(&Progress) -> bool,
    ) -> Result<Lap, EngineError> {
        let mut watch = if plan.continues {
            let mut watch = self.running.take().ok_or(EngineError::NothingToContinue)?;
            if let Err(error) = watch.crew.go_on(plan) {
                self.running = Some(watch);
                return Err(error);
            }
            watch
        } else {
            self.finish();
            self.deploy(plan)?
        };
        let lap = watch.see_lap(plan.open_ended, observe)?;
        if watch.working > 0 {
            self.running = Some(watch);
        }
        match &lap.failure {
            Some(EngineError::DirectRefused { block_bytes, .. }) => {
                Err(self.refused_direct(*block_bytes))
            }
            _ => Ok(lap),
        }
    }

    /// Ends an open-ended stimulus: completes what is in flight. Harmless otherwise.
    pub fn finish(&mut self) {
        if let Some(mut watch) = self.running.take() {
            watch.crew.halt();
            watch.drain();
        }
    }

    fn deploy(&mut self, plan: &Plan) -> Result<Watch, EngineError> {
        let depth = match self.kind {
            BackendKind::Sync => Depth::OnePerWorker,
            BackendKind::Uring | BackendKind::Null => Depth::Queued,
        };
        let crew = Crew::muster(plan, depth)?;
        self.check_alignment(plan)?;
        let working = crew.seats().len();
        while self.threads.len() < working {
            self.threads.push(WorkerThread::spawn(self.kind)?);
        }
        let (sender, reports) = channel();
        let gate = Arc::new(Barrier::new(working + 1));
        let briefing = Briefing {
            file: Arc::clone(&self.file),
            gate: Arc::clone(&gate),
            reports: sender,
        };
        for (thread, seat) in self.threads.iter().zip(crew.seats()) {
            thread.take(Job {
                seat: seat.clone(),
                briefing: briefing.clone(),
            })?;
        }
        drop(briefing);
        let mut watch = Watch {
            crew,
            reports,
            working,
        };
        let ready = watch.muster();
        if ready.is_err() {
            watch.crew.halt();
        }
        watch.crew.start(plan, self.now_ns());
        gate.wait();
        if ready.is_err() {
            watch.drain();
        }
        ready.map(|()| watch)
    }

    /// Refuses what would be no direct I/O: some file systems (ext4) serve it from the page cache
    /// without a word when it is not aligned.
    fn check_alignment(&self, plan: &Plan) -> Result<(), EngineError> {
        let alignment = u64::from(self.direct_alignment().map_or(0, |wanted| wanted.0));
        let is_odd = |bytes: u64| alignment > 0 && !bytes.is_multiple_of(alignment);
        for stream in &plan.streams {
            let range = stream.range;
            let pieces = match stream.access {
                Access::Random => 0,
                Access::Sequential { cursor_bytes } => cursor_bytes | range.segment_bytes,
            };
            let stride_bytes = if range.segments > 1 {
                range.stride_bytes
            } else {
                0
            };
            let block_bytes = u64::from(stream.block_bytes);
            if is_odd(block_bytes | range.start_bytes | stride_bytes | pieces) {
                return Err(self.refused_direct(stream.block_bytes));
            }
        }
        Ok(())
    }

    /// What the target wants of direct I/O: alignment of offsets and of memory in bytes, 0 where
    /// the kernel does not tell. None when it was not opened for direct I/O.
    fn direct_alignment(&self) -> Option<(u32, u32)> {
        let flags = fcntl_getfl(&self.file).ok()?;
        flags.contains(OFlags::DIRECT).then(|| {
            let facts = statx(&self.file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN);
            facts.map_or((0, 0), |facts| {
                (facts.stx_dio_offset_align, facts.stx_dio_mem_align)
            })
        })
    }

    /// The device said EINVAL to the first I/O, or would have.
    fn refused_direct(&self, block_bytes: u32) -> EngineError {
        match self.direct_alignment() {
            None => EngineError::DeviceGone {
                errno: libc::EINVAL,
                failures: 1,
            },
            Some((offset_alignment_bytes, memory_alignment_bytes)) => EngineError::DirectRefused {
                block_bytes,
                offset_alignment_bytes,
                memory_alignment_bytes,
            },
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.finish();
        for thread in &mut self.threads {
            thread.jobs = None;
        }
        for thread in &mut self.threads {
            if let Some(handle) = thread.handle.take() {
                let _ = handle.join();
            }
        }
    }
}

impl Watch {
    /// Waits until every worker stands at the gate.
    fn muster(&mut self) -> Result<(), EngineError> {
        let mut refusal = None;
        for _ in 0..self.working {
            match self.reports.recv() {
                Ok(Report::Ready(ready)) => refusal = refusal.or(ready.err()),
                Ok(Report::Share(_) | Report::Ended) => unreachable!("the gate is closed"),
                Err(_) => return Err(EngineError::ThreadLost { errno: 0 }),
            }
        }
        refusal.map_or(Ok(()), Err)
    }

    /// Collects one share of every worker; all of them end unless the lap is open-ended.
    fn see_lap(
        &mut self,
        open_ended: bool,
        mut observe: impl FnMut(&Progress) -> bool,
    ) -> Result<Lap, EngineError> {
        let workers = self.crew.seats().len();
        let mut shares = Vec::with_capacity(workers);
        let mut late_failure = None;
        let mut seen = 0;
        let mut stopped = false;
        while shares.len() < workers || (!open_ended || self.crew.is_halted()) && self.working > 0 {
            match self.reports.recv_timeout(LOOK_EVERY) {
                Ok(Report::Share(share)) if shares.len() < workers => shares.push(share),
                // A worker that is halted just after its hand-over has a second share.
                Ok(Report::Share(share)) => late_failure = late_failure.or(share.failure),
                Ok(Report::Ready(_)) => unreachable!("all are past the gate"),
                Ok(Report::Ended) => self.working -= 1,
                Err(RecvTimeoutError::Timeout) => {
                    let progress = self.crew.progress(MonotonicClock.now_ns(), seen);
                    seen += progress.finished.iter().map(Vec::len).max().unwrap_or(0) as u32;
                    if !observe(&progress) && !stopped {
                        stopped = true;
                        self.crew.halt();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(EngineError::ThreadLost { errno: 0 });
                }
            }
        }
        let mut lap = self.crew.lap(shares, stopped);
        lap.failure = lap.failure.or(late_failure);
        Ok(lap)
    }

    /// Waits for the end of every worker.
    fn drain(&mut self) {
        while self.working > 0 {
            match self.reports.recv() {
                Ok(Report::Ended) => self.working -= 1,
                Ok(Report::Ready(_) | Report::Share(_)) => {}
                Err(_) => return,
            }
        }
    }
}

impl WorkerThread {
    fn spawn(kind: BackendKind) -> Result<Self, EngineError> {
        let (sender, jobs) = channel();
        let serve = match kind {
            BackendKind::Uring => serve::<UringBackend>,
            BackendKind::Sync => serve::<SyncBackend>,
            BackendKind::Null => serve::<NullBackend>,
        };
        let thread = std::thread::Builder::new()
            .name("teijo-worker".into())
            .stack_size(STACK_BYTES);
        let handle =
            thread
                .spawn(move || serve(&jobs))
                .map_err(|error| EngineError::ThreadLost {
                    errno: errno_of(&error),
                })?;
        Ok(Self {
            jobs: Some(sender),
            handle: Some(handle),
        })
    }

    fn take(&self, job: Job) -> Result<(), EngineError> {
        let jobs = self
            .jobs
            .as_ref()
            .expect("only a dropped session takes them away");
        jobs.send(job)
            .map_err(|_| EngineError::ThreadLost { errno: 0 })
    }
}

/// A worker thread's life: one plan after the other, on the same backend while its shape fits.
fn serve<B: FileBackend>(jobs: &Receiver<Job>) {
    // Timers of an open loop must not be late by the usual 50 us.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let mut spare: Option<(Shape, B)> = None;
    for Job { seat, briefing } in jobs {
        let shape = Shape::of(&seat.stream);
        let backend = match spare.take() {
            Some((old, backend)) if old == shape => Ok(backend),
            _ => B::open(&briefing.file, shape),
        };
        match backend {
            Ok(backend) => spare = work(backend, seat, &briefing).map(|backend| (shape, backend)),
            Err(error) => {
                let _ = briefing.reports.send(Report::Ready(Err(error)));
                briefing.gate.wait();
            }
        }
        let _ = briefing.reports.send(Report::Ended);
    }
}

/// Works one seat to its end. A send can only fail when the session is gone, and then nobody
/// wants the report. The backend comes back unless its I/Os were lost.
fn work<B: FileBackend>(backend: B, seat: Seat, briefing: &Briefing) -> Option<B> {
    let mut worker = Worker::new(backend, MonotonicClock, seat);
    let _ = briefing.reports.send(Report::Ready(Ok(())));
    briefing.gate.wait();
    worker.begin();
    let mut lost = false;
    while !worker.done() {
        worker.issue();
        if let Err(error) = worker.settle() {
            worker.abandon(&error);
            lost = true;
        }
        if let Some(share) = worker.take_lap() {
            let _ = briefing.reports.send(Report::Share(share));
        }
    }
    while let Some(share) = worker.take_lap() {
        let _ = briefing.reports.send(Report::Share(share));
    }
    (!lost).then(|| worker.into_backend())
}
