//! A session over the open descriptors of a target: threads that stay warm between steps, laps that
//! may go on without a gap, and somebody who looks on while they run.

use std::collections::BTreeMap;
use std::io::IoSliceMut;
use std::os::fd::OwnedFd;
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};

use rustix::fs::{fcntl_getfl, fcntl_setfl, OFlags};
use rustix::io::{preadv2, Errno, ReadWriteFlags};

use crate::arena::Shape;
use crate::backend::uring::UringBackend;
use crate::backend::{BackendKind, FileBackend, Setup};
use crate::clock::{Clock, CpuClock, HostClock};
use crate::contention::{suited, waited_percent};
use crate::crew::{Crew, Progress};
use crate::error::{EngineError, Stuck};
use crate::fit::{check_fit, check_ring, refused_direct};
use crate::lap::Lap;
use crate::place::Pins;
use crate::plan::{Depth, Plan};
use crate::technique::{Technique, Techniques};
use crate::thread::{Briefing, Job, WorkerThread};
use crate::volume::Volume;
use crate::watch::{Sight, Verdict, Watch};
use crate::witness::Census;

/// Four times what the kernel's block layer gives an I/O.
const IO_TIMEOUT_NS: u64 = 120_000_000_000;

/// Why a session is on its backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    Named,
    /// The kernel grants a ring, and the target lets it queue.
    RingGranted,
    RingRefused(EngineError),
    /// The target does not take I/O without waiting (tmpfs, zram), so a ring would hand every I/O
    /// to a thread of the kernel.
    WouldBePunted,
}

/// One open target, of one or several members. Dropping it ends what runs and joins the threads,
/// except those that a device keeps.
pub struct Session {
    volume: Arc<Volume>,
    kind: BackendKind,
    reason: Reason,
    setup: Setup,
    no_access_time: bool,
    census: Census,
    threads: Vec<WorkerThread>,
    /// Serves a plan of one I/O at a time by system calls, where a ring serves the others.
    soloist: Vec<WorkerThread>,
    /// The open-ended stimulus that goes on between two laps.
    running: Option<Watch>,
    /// An I/O that is older ends the lap.
    io_timeout_ns: u64,
    /// The processors of the workers.
    pins: Pins,
    /// What did not come back when the last lap was left.
    stuck: Vec<Stuck>,
}

impl Session {
    /// A session on the backend that suits: a ring, or plain system calls where it is refused.
    pub fn new(target: impl Into<Volume>) -> Self {
        let volume = target.into();
        let probe = Shape {
            depth: 1,
            block_size_bytes: 4096,
            reads: true,
            writes: false,
            write_through: false,
            min_complete_max: 1,
        };
        let shared = Arc::new(volume.clone());
        let reason = match UringBackend::open(&shared, probe, Setup::default()) {
            Err(error) => Reason::RingRefused(error),
            Ok(_) if !volume.members().iter().all(|one| can_queue(one)) => Reason::WouldBePunted,
            Ok(_) => Reason::RingGranted,
        };
        let kind = match reason {
            Reason::RingGranted | Reason::Named => BackendKind::Uring,
            Reason::RingRefused(_) | Reason::WouldBePunted => BackendKind::Sync,
        };
        let mut session = Self::with_backend(volume, kind);
        session.reason = reason;
        session
    }

    /// A session on a named backend, with the techniques that suit this host.
    pub fn with_backend(target: impl Into<Volume>, kind: BackendKind) -> Self {
        Self::with_techniques(target, kind, suited(waited_percent()))
    }

    /// A session on a named backend that uses no other techniques than these.
    pub fn with_techniques(
        target: impl Into<Volume>,
        kind: BackendKind,
        wished: Techniques,
    ) -> Self {
        let clock = if wished.has(Technique::TscClock) {
            HostClock::best()
        } else {
            HostClock::monotonic()
        };
        let volume = target.into();
        let no_access_time =
            wished.has(Technique::NoAccessTime) && leave_access_time(volume.members());
        Self {
            volume: Arc::new(volume),
            kind,
            no_access_time,
            reason: Reason::Named,
            setup: Setup {
                wished,
                clock,
                kept_to: None,
            },
            census: Census::default(),
            threads: Vec::new(),
            soloist: Vec::new(),
            running: None,
            io_timeout_ns: IO_TIMEOUT_NS,
            pins: Pins::default(),
            stuck: Vec::new(),
        }
    }

    /// From now on a lap is left when an I/O is older than that.
    pub fn limit_io(&mut self, io_timeout_ns: u64) {
        self.io_timeout_ns = io_timeout_ns;
    }

    /// From now on workers are kept on these processors. A stimulus that runs is ended for that,
    /// unless they are on them already.
    pub fn pin(&mut self, pins: Pins) -> Result<(), EngineError> {
        if self.pins != pins {
            self.finish()?;
            self.threads.clear();
            self.soloist.clear();
            self.setup.kept_to = pins.mask();
            self.pins = pins;
        }
        Ok(())
    }

    /// The I/Os that did not come back when a lap was left, the oldest first.
    pub fn stuck(&self) -> &[Stuck] {
        &self.stuck
    }

    pub fn kind(&self) -> BackendKind {
        self.kind
    }

    /// What serves a plan. A session that may choose takes a system call for one I/O at a time:
    /// a ring has nothing to gather there, and costs more than it saves. On several members it
    /// has: the parts of an I/O.
    fn kind_for(&self, plan: &Plan) -> BackendKind {
        let alone = matches!(&plan.streams[..], [one] if (one.threads, one.queue_depth) == (1, 1));
        let single = self.volume.single().is_some();
        if alone && single && self.reason == Reason::RingGranted {
            BackendKind::Sync
        } else {
            self.kind
        }
    }

    /// Why it is that one.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    /// Why there is no ring although one was wished for.
    pub fn refusal(&self) -> Option<String> {
        match &self.reason {
            Reason::Named | Reason::RingGranted => None,
            Reason::RingRefused(error) => Some(error.to_string()),
            Reason::WouldBePunted => Some(
                "the target cannot be asked without waiting, so the kernel would carry out every \
                 I/O of a ring by a thread of its own"
                    .into(),
            ),
        }
    }

    /// The session's clock; it begins at that of `CLOCK_MONOTONIC`.
    pub fn now_ns(&self) -> u64 {
        self.setup.clock.now_ns()
    }

    /// Runs one lap to its bound.
    pub fn run(&mut self, plan: &Plan) -> Result<Lap, EngineError> {
        self.run_observed(plan, |_| true)
    }

    /// Runs one lap; `observe` sees it ten times a second, and stops it by returning false, or
    /// leaves it by `Verdict::Leave` (the error `Left`): then I/Os may be in flight for ever.
    /// A device that fails midway is no error here: the lap has the reason and what was measured.
    pub fn run_observed<V: Into<Verdict>>(
        &mut self,
        plan: &Plan,
        mut observe: impl FnMut(&Progress) -> V,
    ) -> Result<Lap, EngineError> {
        let mut watch = if plan.continues {
            let mut watch = self.running.take().ok_or(EngineError::NothingToContinue)?;
            if let Err(error) = watch.crew.go_on_at(plan, self.setup.clock.now_ns()) {
                self.running = Some(watch);
                return Err(error);
            }
            watch
        } else {
            self.finish()?;
            self.deploy(plan)?
        };
        watch.io_timeout_ns = self.io_timeout_ns;
        watch.sight = Sight::default();
        let lap = watch.see_lap(plan.open_ended, |progress| observe(progress).into());
        let mut lap = lap.map_err(|error| self.left(&watch, error))?;
        lap.witness.io_wq_workers = match watch.kind {
            BackendKind::Uring => self.census.io_wq_workers(),
            BackendKind::Sync | BackendKind::Null | BackendKind::NopRing | BackendKind::NopCall => {
                0
            }
        };
        if watch.working > 0 {
            self.running = Some(watch);
        }
        match &lap.failure {
            Some(EngineError::DirectRefused {
                block_size_bytes, ..
            }) => Err(refused_direct(&self.volume, *block_size_bytes)),
            _ => Ok(lap),
        }
    }

    /// Ends an open-ended stimulus: completes what is in flight. Harmless otherwise.
    pub fn finish(&mut self) -> Result<(), EngineError> {
        self.finish_observed(|| Verdict::GoOn)
    }

    /// As `finish`, with somebody who may leave it.
    pub fn finish_observed(
        &mut self,
        mut observe: impl FnMut() -> Verdict,
    ) -> Result<(), EngineError> {
        let Some(mut watch) = self.running.take() else {
            return Ok(());
        };
        watch.io_timeout_ns = self.io_timeout_ns;
        watch.sight = Sight::default();
        watch.crew.halt();
        let drained = watch.drain(&mut observe);
        drained.map_err(|error| self.left(&watch, error))
    }

    /// Takes note of what was left behind; threads that wait for it are left to themselves.
    fn left(&mut self, watch: &Watch, error: EngineError) -> EngineError {
        if let EngineError::Left { stuck } = &error {
            self.stuck.clone_from(stuck);
        }
        if watch.working > 0 {
            let threads = self.threads.drain(..).chain(self.soloist.drain(..));
            threads.for_each(WorkerThread::abandon);
        }
        error
    }

    /// What is in use whatever the backend.
    fn own_techniques(&self) -> Techniques {
        let mut own = Techniques::NONE;
        if self.setup.clock.is_counter() {
            own = own.with(Technique::TscClock);
        }
        if self.no_access_time {
            own = own.with(Technique::NoAccessTime);
        }
        own
    }

    fn deploy(&mut self, plan: &Plan) -> Result<Watch, EngineError> {
        let kind = self.kind_for(plan);
        let depth = match kind {
            BackendKind::Sync | BackendKind::NopCall => Depth::OnePerWorker,
            BackendKind::Uring | BackendKind::Null | BackendKind::NopRing => Depth::Queued,
        };
        let crew = Crew::of(plan, depth)?;
        check_fit(&self.volume, plan)?;
        if matches!(kind, BackendKind::Uring | BackendKind::NopRing) {
            check_ring(&self.volume, plan)?;
        }
        self.setup.clock = self.setup.clock.checked();
        let (working, own) = (crew.seats().len(), self.own_techniques());
        let threads = if kind == self.kind {
            &mut self.threads
        } else {
            &mut self.soloist
        };
        while threads.len() < working {
            let worker = threads.len();
            threads.push(WorkerThread::spawn(kind, worker, self.pins.of(worker))?);
        }
        let (sender, reports) = channel();
        let gate = Arc::new(Barrier::new(working + 1));
        let briefing = Briefing {
            volume: Arc::clone(&self.volume),
            setup: self.setup,
            gate: Arc::clone(&gate),
            reports: sender,
        };
        for (thread, seat) in threads.iter().zip(crew.seats()) {
            thread.take(Job {
                seat: seat.clone(),
                briefing: briefing.clone(),
            })?;
        }
        drop(briefing);
        let mut watch = Watch {
            crew,
            kind,
            reports,
            working,
            clock: self.setup.clock,
            granted: Techniques::ALL,
            own,
            places: BTreeMap::new(),
            processors: self.pins.len(),
            cpu_ns: 0,
            io_timeout_ns: self.io_timeout_ns,
            sight: Sight::default(),
        };
        let ready = watch.wait_until_ready();
        if ready.is_err() {
            watch.crew.halt();
        }
        watch.cpu_ns = CpuClock.now_ns();
        watch.crew.start(plan, self.now_ns());
        gate.wait();
        if ready.is_err() {
            watch.drain(&mut || Verdict::GoOn)?;
        }
        ready.map(|()| watch)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.finish();
        let threads = self.threads.iter_mut().chain(&mut self.soloist);
        threads.for_each(WorkerThread::dismiss);
    }
}

/// Keeps reads from touching the time of the last access, which costs 7 % of a cheap one. Only
/// the owner of a file may; true when it is so on all members.
fn leave_access_time(members: &[Arc<OwnedFd>]) -> bool {
    let leave = |file: &OwnedFd| {
        fcntl_getfl(file).is_ok_and(|flags| fcntl_setfl(file, flags | OFlags::NOATIME).is_ok())
    };
    let refusals = members.iter().filter(|one| !leave(one));
    refusals.count() == 0
}

/// Whether a member takes an I/O that would have to wait without waiting for it. Tried with a
/// read, whose data nobody sees; true also where that gives no answer.
fn can_queue(file: &OwnedFd) -> bool {
    const PAGE_BYTES: usize = 4096;
    let mut buffer = [0u8; 2 * PAGE_BYTES];
    let skip = buffer.as_ptr().align_offset(PAGE_BYTES);
    let page = &mut buffer[skip..skip + PAGE_BYTES];
    let mut vectors = [IoSliceMut::new(page)];
    preadv2(file, &mut vectors, 0, ReadWriteFlags::NOWAIT) != Err(Errno::OPNOTSUPP)
}
