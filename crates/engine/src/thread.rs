//! The threads of a session. Each serves one seat after the other on its own backend, which stays
//! open while its shape fits, and reports to the watch.

use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Barrier};
use std::thread::JoinHandle;

use crate::arena::Shape;
use crate::backend::nothing::{NopCall, NopRing};
use crate::backend::null::NullBackend;
use crate::backend::sync::SyncBackend;
use crate::backend::uring::UringBackend;
use crate::backend::{BackendKind, FileBackend, Setup};
use crate::clock::{Clock, HostClock, ThreadCpuClock};
use crate::error::{errno_of, EngineError};
use crate::place::{stay_on, Place};
use crate::stream::Seat;
use crate::technique::Techniques;
use crate::volume::Volume;
use crate::witness::{delay_ns, Account};
use crate::worker::{Worker, WorkerLap};

/// A worker calls nothing deep.
const STACK_BYTES: usize = 512 << 10;

/// What the worker threads of one plan need besides their seats.
#[derive(Clone)]
pub(crate) struct Briefing {
    pub volume: Arc<Volume>,
    pub setup: Setup,
    pub gate: Arc<Barrier>,
    pub reports: Sender<Report>,
}

pub(crate) struct Job {
    pub seat: Seat,
    pub briefing: Briefing,
}

/// What a worker reports when it is ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    /// Its number, over all streams.
    pub worker: usize,
    /// What its backend makes use of.
    pub granted: Techniques,
    /// Where it is kept; None where the kernel chooses.
    pub place: Option<Place>,
}

pub(crate) enum Report {
    /// The worker waits at the gate.
    Ready(Result<Ready, EngineError>),
    Share(Box<WorkerLap>),
    /// Nothing is in flight any more and nothing will be.
    Ended,
}

pub(crate) struct WorkerThread {
    jobs: Option<Sender<Job>>,
    handle: Option<JoinHandle<()>>,
}

impl Drop for WorkerThread {
    fn drop(&mut self) {
        self.dismiss();
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
    }
}

impl WorkerThread {
    /// Leaves the thread to itself: it may wait for its device until the end of the process. What
    /// its I/Os use is its own.
    pub fn abandon(mut self) {
        self.dismiss();
        self.handle = None;
    }

    /// No job follows; the thread ends when it is done with what it has.
    pub fn dismiss(&mut self) {
        self.jobs = None;
    }

    /// The thread of the worker of this number, on this processor.
    pub fn spawn(kind: BackendKind, worker: usize, cpu: Option<u32>) -> Result<Self, EngineError> {
        let (sender, jobs) = channel();
        let serve = match kind {
            BackendKind::Uring => serve::<UringBackend>,
            BackendKind::Sync => serve::<SyncBackend>,
            BackendKind::Null => serve::<NullBackend>,
            BackendKind::NopRing => serve::<NopRing>,
            BackendKind::NopCall => serve::<NopCall>,
        };
        let thread = std::thread::Builder::new()
            .name("teijo-worker".into())
            .stack_size(STACK_BYTES);
        let handle = thread
            .spawn(move || serve(&jobs, worker, cpu))
            .map_err(|error| EngineError::ThreadLost {
                errno: errno_of(&error),
            })?;
        Ok(Self {
            jobs: Some(sender),
            handle: Some(handle),
        })
    }

    pub fn take(&self, job: Job) -> Result<(), EngineError> {
        let jobs = self
            .jobs
            .as_ref()
            .expect("only a dropped session takes them away");
        jobs.send(job)
            .map_err(|_| EngineError::ThreadLost { errno: 0 })
    }
}

/// A worker thread's life: one plan after the other, on the same backend while its shape fits.
fn serve<B: FileBackend>(jobs: &Receiver<Job>, worker: usize, cpu: Option<u32>) {
    // Timers of an open loop must not be late by the usual 50 us.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    // Before the backend is opened: its memory lies where it is first touched.
    let place = cpu.map(stay_on).transpose();
    let mut spare: Option<(Shape, B)> = None;
    for Job { seat, briefing } in jobs {
        let shape = Shape::of(&seat.stream.plan, seat.stream.depth);
        let ready = place.clone().and_then(|place| {
            let backend = match spare.take() {
                Some((old, backend)) if old == shape => backend,
                _ => B::open(&briefing.volume, shape, briefing.setup)?,
            };
            let granted = backend.granted();
            let ready = Ready {
                worker,
                granted,
                place,
            };
            Ok((ready, backend))
        });
        match ready {
            Ok((ready, backend)) => {
                spare = work(backend, seat, ready, &briefing).map(|backend| (shape, backend));
            }
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
fn work<B: FileBackend>(backend: B, seat: Seat, ready: Ready, briefing: &Briefing) -> Option<B> {
    let mut worker = Worker::new(backend, briefing.setup.clock, seat);
    let _ = briefing.reports.send(Report::Ready(Ok(ready)));
    briefing.gate.wait();
    worker.begin();
    let mut before = own_account(&mut worker);
    let mut lost = false;
    while !worker.done() {
        worker.issue();
        if let Err(error) = worker.settle() {
            worker.abandon(&error);
            lost = true;
        }
        if let Some(share) = worker.take_lap() {
            before = hand_in(share, &mut worker, before, briefing);
        }
    }
    while let Some(share) = worker.take_lap() {
        before = hand_in(share, &mut worker, before, briefing);
    }
    (!lost).then(|| worker.into_backend())
}

/// What the calling worker has taken of the host so far.
fn own_account<B: FileBackend>(worker: &mut Worker<B, HostClock>) -> Account {
    Account {
        submit_calls: worker.backend_mut().submit_calls(),
        min_complete: worker.backend_mut().min_complete(),
        cpu_ns: ThreadCpuClock.now_ns(),
        delay_ns: delay_ns(),
        ..Account::default()
    }
}

#[cold]
fn hand_in<B: FileBackend>(
    mut share: Box<WorkerLap>,
    worker: &mut Worker<B, HostClock>,
    before: Account,
    briefing: &Briefing,
) -> Account {
    let now = own_account(worker);
    share.account.take_from_host(now, before);
    let _ = briefing.reports.send(Report::Share(share));
    now
}
