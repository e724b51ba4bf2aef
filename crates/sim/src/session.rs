//! A device and its virtual clock, and the engine's plans run on them. Several workers, and what
//! the device does by itself, are stepped in order of events; which device it is, the session does
//! not know.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use teijo_engine::clock::Clock;
use teijo_engine::crew::{Crew, Depth, Progress};
use teijo_engine::error::EngineError;
use teijo_engine::lap::Lap;
use teijo_engine::plan::Plan;
use teijo_engine::worker::{Worker, WorkerLap};

use crate::backend::{SimBackend, VirtualClock};
use crate::device::{Device, Ended, Facts, Health};

/// Turns between two looks at the wall clock.
const TURNS_BETWEEN_LOOKS: u32 = 1 << 12;

type SimWorker<D> = Worker<SimBackend<D>, VirtualClock>;

/// Watches a lap as it runs; `Break` ends it early, with what was measured until then.
pub trait Observer {
    /// Least wall time between two calls.
    fn period(&self) -> Duration;

    fn observe(&mut self, progress: &Progress) -> ControlFlow<()>;
}

/// Watches nothing.
pub struct Unobserved;

impl Observer for Unobserved {
    fn period(&self) -> Duration {
        Duration::MAX
    }

    fn observe(&mut self, _progress: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The workers of a stimulus that runs or may go on.
struct Stimulus<D: Device> {
    crew: Crew,
    workers: Vec<SimWorker<D>>,
}

/// A simulated device under load. A run is a pure function of the device, the plans and the
/// calls made between them; wall time has no part in it, except through an observer's `Break`.
pub struct SimSession<D: Device> {
    /// `None` only while a worker has it.
    device: Option<Box<D>>,
    clock: VirtualClock,
    stimulus: Option<Stimulus<D>>,
    /// Room for what one step of the device ends.
    ended: Vec<Ended>,
}

impl<D: Device> SimSession<D> {
    /// A session at virtual time 0.
    pub fn new(device: D) -> Self {
        let device = Some(Box::new(device));
        Self {
            device,
            clock: VirtualClock::default(),
            stimulus: None,
            ended: Vec::new(),
        }
    }

    pub fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    pub fn device(&self) -> &D {
        self.device
            .as_ref()
            .expect("the device is back between laps")
    }

    fn device_mut(&mut self) -> &mut D {
        self.device
            .as_mut()
            .expect("the device is back between laps")
    }

    pub fn health(&self) -> Health {
        self.device().health()
    }

    pub fn facts(&self) -> Facts {
        self.device().facts()
    }

    /// Ends an open-ended stimulus: nothing more is issued, what is in flight comes back.
    pub fn finish(&mut self) {
        if let Some(mut stimulus) = self.stimulus.take() {
            stimulus.crew.halt();
            self.drive(&mut stimulus, &mut Unobserved);
        }
    }

    /// Purges the device; returns how long that took, ns.
    pub fn purge(&mut self) -> u64 {
        self.finish();
        let started_ns = self.now_ns();
        let done_ns = self.device_mut().purge(started_ns);
        self.clock.advance(done_ns);
        done_ns - started_ns
    }

    /// Lets the host be idle for `duration_ns`.
    pub fn idle(&mut self, duration_ns: u64) {
        self.finish();
        let (from_ns, to_ns) = (self.now_ns(), self.now_ns().saturating_add(duration_ns));
        self.device_mut().idle(from_ns, to_ns);
        self.clock.advance(to_ns);
    }

    /// A second session in the very same state, which then goes its own way.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        self.finish();
        let fork = Self::new(self.device().clone());
        fork.clock.advance(self.now_ns());
        fork
    }

    /// Runs one lap. Errors are of the plan; what fails on the way is in the lap.
    pub fn run(&mut self, plan: &Plan, observer: &mut impl Observer) -> Result<Lap, EngineError> {
        let mut stimulus = if plan.continues {
            let mut stimulus = self.stimulus.take().ok_or(EngineError::NothingToContinue)?;
            stimulus.crew.go_on(plan)?;
            stimulus
        } else {
            self.finish();
            self.begin(plan)?
        };
        let lap = self.drive(&mut stimulus, observer);
        if plan.open_ended && !stimulus.crew.is_halted() {
            self.stimulus = Some(stimulus);
        }
        Ok(lap)
    }

    fn begin(&self, plan: &Plan) -> Result<Stimulus<D>, EngineError> {
        if plan.streams.iter().any(|stream| stream.verify.is_some()) {
            let reason = "a simulated device holds no data that could be verified";
            return Err(EngineError::PlanRefused { reason });
        }
        let crew = Crew::muster(plan, Depth::Queued)?;
        crew.start(plan, self.now_ns());
        let worker = |(number, seat): (u32, &teijo_engine::crew::Seat)| {
            let backend = SimBackend::new(self.clock.clone(), number, seat.stream.depth);
            let mut worker = Worker::new(backend, self.clock.clone(), seat.clone());
            worker.begin();
            worker
        };
        let workers = (0..).zip(crew.seats()).map(worker).collect();
        Ok(Stimulus { crew, workers })
    }

    /// Steps the workers until each has handed over its share of the lap. At equal times the
    /// workers go first, in their order: what they issue is there when the device chooses.
    fn drive(&mut self, stimulus: &mut Stimulus<D>, observer: &mut impl Observer) -> Lap {
        let Stimulus { crew, workers } = stimulus;
        let mut shares: Vec<Option<Box<WorkerLap>>> = workers.iter().map(|_| None).collect();
        let mut missing = workers.len();
        let mut agenda = Agenda::new(workers.len());
        let mut watch = Watch::new(observer);
        for (index, worker) in workers.iter_mut().enumerate() {
            worker.backend_mut().device = self.device.take();
            worker.issue();
            self.device = worker.backend_mut().device.take();
            shares[index] = worker.take_lap();
            match shares[index] {
                Some(_) => missing -= 1,
                None => agenda.put(index, ready_ns(worker)),
            }
        }
        while missing > 0 {
            if self.device().next_ns() < agenda.first_ns() {
                self.step_device(workers, &mut agenda);
                continue;
            }
            let Some(index) = agenda.take() else { continue };
            let worker = &mut workers[index];
            worker.backend_mut().device = self.device.take();
            loop {
                if let Err(error) = worker.settle() {
                    worker.abandon(&error);
                }
                if shares[index].is_none() {
                    shares[index] = worker.take_lap();
                    missing -= usize::from(shares[index].is_some());
                }
                worker.issue();
                watch.look(crew, worker);
                if missing == 0 || worker.done() {
                    break;
                }
                // It runs on for as long as nothing else comes before its own event.
                let next_ns = ready_ns(worker);
                if agenda.precedes(index, next_ns) || worker.backend_mut().device_ns() < next_ns {
                    agenda.put(index, next_ns);
                    break;
                }
            }
            self.device = worker.backend_mut().device.take();
        }
        let stopped = watch.stopped;
        crew.lap(shares.into_iter().flatten().collect(), stopped)
    }

    /// Lets the device do what is due, and hands what ends by it to the workers.
    fn step_device(&mut self, workers: &mut [SimWorker<D>], agenda: &mut Agenda) {
        let device = self.device.as_mut().expect("no worker has the device");
        self.clock.advance(device.next_ns());
        device.step(&mut self.ended);
        for Ended { ticket, outcome } in self.ended.drain(..) {
            let index = SimBackend::<D>::worker_of(ticket);
            let worker = &mut workers[index];
            worker.backend_mut().land_untold(ticket, outcome);
            let ready_ns = ready_ns(worker);
            if ready_ns < agenda.due_ns[index] {
                agenda.put(index, ready_ns);
            }
        }
    }
}

/// When each worker goes on: the earliest first, of equals the first in order.
struct Agenda {
    events: BinaryHeap<Reverse<(u64, usize)>>,
    /// The entry that counts, where an earlier one came after it; `u64::MAX` for none.
    due_ns: Vec<u64>,
}

impl Agenda {
    fn new(workers: usize) -> Self {
        Self {
            events: BinaryHeap::with_capacity(workers),
            due_ns: vec![u64::MAX; workers],
        }
    }

    #[inline]
    fn put(&mut self, index: usize, at_ns: u64) {
        self.due_ns[index] = at_ns;
        self.events.push(Reverse((at_ns, index)));
    }

    #[inline]
    fn first_ns(&self) -> u64 {
        self.events.peek().map_or(u64::MAX, |Reverse((ns, _))| *ns)
    }

    /// Whether another worker's event comes before that of `index` at `at_ns`.
    #[inline]
    fn precedes(&self, index: usize, at_ns: u64) -> bool {
        let first = self.events.peek();
        first.is_some_and(|Reverse(first)| *first < (at_ns, index))
    }

    /// The worker whose event is first; `None` where an earlier one took its place.
    #[inline]
    fn take(&mut self) -> Option<usize> {
        let Reverse((at_ns, index)) = self
            .events
            .pop()
            .expect("a worker without a share has an event");
        if self.due_ns[index] != at_ns {
            return None;
        }
        self.due_ns[index] = u64::MAX;
        Some(index)
    }
}

/// The virtual time at which the worker's next `settle` would return.
#[inline]
fn ready_ns<D: Device>(worker: &mut SimWorker<D>) -> u64 {
    let (want, deadline_ns) = worker.pending_wait();
    worker.backend_mut().ready_ns(want, deadline_ns)
}

/// Calls the observer now and then.
struct Watch<'a, O: Observer> {
    observer: &'a mut O,
    turns: u32,
    last: Instant,
    first_interval: u32,
    stopped: bool,
}

impl<'a, O: Observer> Watch<'a, O> {
    fn new(observer: &'a mut O) -> Self {
        Self {
            observer,
            turns: 0,
            last: Instant::now(),
            first_interval: 0,
            stopped: false,
        }
    }

    #[inline]
    fn look<D: Device>(&mut self, crew: &Crew, worker: &SimWorker<D>) {
        self.turns += 1;
        if self.turns == TURNS_BETWEEN_LOOKS {
            self.turns = 0;
            self.observe(crew, worker.now_ns());
        }
    }

    #[cold]
    fn observe(&mut self, crew: &Crew, now_ns: u64) {
        if self.last.elapsed() < self.observer.period() {
            return;
        }
        self.last = Instant::now();
        let progress = crew.progress(now_ns, self.first_interval);
        let finished = progress.finished.iter().map(Vec::len).max().unwrap_or(0);
        self.first_interval += finished as u32;
        if self.observer.observe(&progress).is_break() {
            self.stopped = true;
            crew.halt();
        }
    }
}
