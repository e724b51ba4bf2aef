//! A device and its virtual clock, and the engine's plans run on them. Several workers, and what
//! the device does by itself, are stepped in order of events; which device it is, the session does
//! not know.

mod agenda;
mod turns;
mod watch;
mod working;

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use teijo_engine::clock::Clock;
use teijo_engine::crew::Crew;
use teijo_engine::error::{EngineError, Stuck};
use teijo_engine::lap::Lap;
use teijo_engine::plan::{Bound, Depth, Plan, StreamPlan};
use teijo_engine::stream::Seat;
use teijo_engine::worker::{Worker, WorkerLap};

use crate::backend::{left_q16, Seam, SimBackend, VirtualClock};
use crate::content::CONTENT_MOST_BYTES;
use crate::data_backend::{locked, DataBackend, SharedContent};
use crate::device::{Damage, Device, Ended, Facts, Health};
use crate::files::work::Stock;

use agenda::Agenda;
use watch::{SimWorker, Watch};

pub use watch::{Observer, Unobserved};

/// The workers of a stimulus that runs or may go on.
struct Stimulus<B: Seam> {
    crew: Crew,
    workers: Vec<SimWorker<B>>,
}

/// What the workers have handed over of a lap.
struct Shares {
    laps: Vec<Option<Box<WorkerLap>>>,
    missing: usize,
}

impl Shares {
    fn of(workers: usize) -> Self {
        Self {
            laps: (0..workers).map(|_| None).collect(),
            missing: workers,
        }
    }

    /// Takes in the share of the worker at `index`, if there is one.
    #[inline]
    fn take_in(&mut self, index: usize, share: Option<Box<WorkerLap>>) {
        if share.is_some() {
            self.laps[index] = share;
            self.missing -= 1;
        }
    }
}

/// A stimulus whose I/Os move data, or none: what verifies moves some.
enum Running<D: Device> {
    Plain(Stimulus<SimBackend<D>>),
    Holding(Stimulus<DataBackend<D>>),
}

impl<D: Device> Running<D> {
    fn crew(&mut self) -> &mut Crew {
        match self {
            Self::Plain(stimulus) => &mut stimulus.crew,
            Self::Holding(stimulus) => &mut stimulus.crew,
        }
    }
}

/// A simulated device under load. A run is a pure function of the device, the plans and the
/// calls made between them; wall time has no part in it, except through an observer's `Break`.
pub struct SimSession<D: Device> {
    /// `None` only while a worker has it.
    device: Option<Box<D>>,
    clock: VirtualClock,
    stimulus: Option<Running<D>>,
    /// What was written, from the first plan on that verifies.
    content: Option<SharedContent>,
    /// What the device last heard of the data, as in `Device::content`.
    told_q16: u32,
    /// The files that steps of work on files have made.
    stock: Stock,
    /// Room for what one step of the device ends.
    ended: Vec<Ended>,
    /// An I/O that is older ends the lap.
    io_timeout_ns: u64,
    /// What did not come back when the last lap was left.
    stuck: Vec<Stuck>,
}

impl<D: Device> SimSession<D> {
    /// A session at virtual time 0.
    pub fn new(device: D) -> Self {
        let device = Some(Box::new(device));
        Self {
            device,
            clock: VirtualClock::default(),
            stimulus: None,
            content: None,
            told_q16: 1 << 16,
            stock: Stock::default(),
            ended: Vec::new(),
            io_timeout_ns: u64::MAX,
            stuck: Vec::new(),
        }
    }

    /// From now on a lap is left when the device does not answer for so long; no other follows.
    pub fn limit_io(&mut self, io_timeout_ns: u64) {
        self.io_timeout_ns = io_timeout_ns;
    }

    /// The I/Os that did not come back when a lap was left, the oldest first.
    pub fn stuck(&self) -> &[Stuck] {
        &self.stuck
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

    /// What the model knows and a real device would not say; with data, what became of it.
    pub fn counts(&self) -> Vec<(Cow<'static, str>, u64)> {
        let mut counts = self.device().counts();
        if let Some(content) = &self.content {
            let harmed = locked(content).harmed.table();
            counts.extend(harmed.map(|(name, count)| (format!("content.{name}").into(), count)));
        }
        counts
    }

    /// Ends an open-ended stimulus: nothing more is issued, what is in flight comes back.
    pub fn finish(&mut self) {
        if let Some(mut stimulus) = self.stimulus.take() {
            stimulus.crew().halt();
            // What is stuck can be asked for.
            let _ = self.drive_any(&mut stimulus, &mut Unobserved);
        }
    }

    /// Purges the device; returns how long that took, ns.
    pub fn purge(&mut self) -> u64 {
        self.finish();
        let started_ns = self.now_ns();
        let done_ns = self.device_mut().purge(started_ns);
        self.stock = Stock::default();
        self.clock.advance(done_ns);
        if let Some(content) = &self.content {
            locked(content).clear();
        }
        done_ns - started_ns
    }

    /// Lets the host be idle for `duration_ns`.
    pub fn idle(&mut self, duration_ns: u64) {
        self.finish();
        let (from_ns, to_ns) = (self.now_ns(), self.now_ns().saturating_add(duration_ns));
        self.device_mut().idle(from_ns, to_ns);
        self.take_losses();
        self.clock.advance(to_ns);
    }

    /// A second session in the very same state, which then goes its own way.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        self.finish();
        let mut fork = Self::new(self.device().clone());
        let copy = |content: &SharedContent| Arc::new(Mutex::new(locked(content).clone()));
        fork.content = self.content.as_ref().map(copy);
        fork.clock.advance(self.now_ns());
        fork.told_q16 = self.told_q16;
        fork.stock = self.stock.clone();
        fork
    }

    /// Runs one lap. Errors are of the plan; what fails on the way is in the lap.
    pub fn run(&mut self, plan: &Plan, observer: &mut impl Observer) -> Result<Lap, EngineError> {
        let mut stimulus = if plan.continues {
            let mut stimulus = self.stimulus.take().ok_or(EngineError::NothingToContinue)?;
            stimulus.crew().go_on(plan)?;
            stimulus
        } else {
            self.finish();
            self.begin(plan)?
        };
        let lap = self.drive_any(&mut stimulus, observer)?;
        if plan.open_ended && !stimulus.crew().is_halted() {
            self.stimulus = Some(stimulus);
        }
        Ok(lap)
    }

    fn begin(&mut self, plan: &Plan) -> Result<Running<D>, EngineError> {
        let crew = Crew::of(plan, Depth::Queued)?;
        if plan.streams.iter().all(|stream| stream.verify.is_none()) {
            self.forget_writes(plan);
            let (clock, is_far) = (&self.clock, self.device().is_far());
            let workers = seated(&crew, plan, clock, |number, seat| {
                let backend = SimBackend::new(clock.clone(), number, seat.stream.depth);
                if is_far {
                    backend.that_foresees(seat)
                } else {
                    backend
                }
            });
            return Ok(Running::Plain(Stimulus { crew, workers }));
        }
        let content = self.content.get_or_insert_default();
        if !holds(content, plan) {
            let reason = "a simulated device keeps 1 GiB of what is to be verified; take a \
                          smaller active range, fewer bytes or a smaller device (?capacity=1GiB)";
            return Err(EngineError::PlanRefused { reason });
        }
        let clock = &self.clock;
        let workers = seated(&crew, plan, clock, |number, seat| {
            let (depth, block_size_bytes) = (seat.stream.depth, seat.stream.plan.block_size_bytes);
            DataBackend::new(
                clock.clone(),
                number,
                depth,
                block_size_bytes,
                content.clone(),
            )
        });
        Ok(Running::Holding(Stimulus { crew, workers }))
    }

    /// What a plan without data is about to overwrite is not what was written before.
    fn forget_writes(&self, plan: &Plan) {
        let Some(content) = &self.content else { return };
        let changes = |one: &&StreamPlan| one.writes() || one.discard_percent > 0;
        for stream in plan.streams.iter().filter(changes) {
            let (from_bytes, to_bytes) = reach(stream);
            locked(content).forget(from_bytes, to_bytes);
        }
    }

    /// What the device lost by itself is lost.
    fn take_losses(&mut self) {
        let Some(content) = &self.content else { return };
        let device = self.device.as_ref().expect("no worker has the device");
        for damage in device.damage() {
            if let Damage::Lost {
                offset_bytes,
                length_bytes,
            } = *damage
            {
                locked(content).lose(offset_bytes, length_bytes);
            }
        }
    }

    fn drive_any(
        &mut self,
        running: &mut Running<D>,
        observer: &mut impl Observer,
    ) -> Result<Lap, EngineError> {
        match running {
            Running::Plain(stimulus) => self.drive(stimulus, observer),
            Running::Holding(stimulus) => self.drive(stimulus, observer),
        }
    }

    /// Steps the workers until each has handed over its share of the lap. At equal times the
    /// workers go first, in their order: what they issue is there when the device chooses.
    fn drive<B: Seam<Device = D>>(
        &mut self,
        stimulus: &mut Stimulus<B>,
        observer: &mut impl Observer,
    ) -> Result<Lap, EngineError> {
        let Stimulus { crew, workers } = stimulus;
        let mut shares = Shares::of(workers.len());
        let mut agenda = Agenda::new(workers.len());
        let mut watch = Watch::new(observer);
        let joins = Self::may_join(workers);
        for (index, worker) in workers.iter_mut().enumerate() {
            self.lend(worker.backend_mut().plain());
            worker.issue();
            self.device = worker.backend_mut().plain().device.take();
            shares.take_in(index, worker.take_lap());
            if shares.laps[index].is_none() {
                agenda.put(index, ready_ns(worker));
            }
        }
        while shares.missing > 0 {
            let (device_ns, first_ns) = (self.device().next_ns(), agenda.first_ns());
            self.check_silence(crew, device_ns.min(first_ns))?;
            if device_ns < first_ns {
                self.step_device(workers, &mut agenda, first_ns);
                continue;
            }
            if joins
                && device_ns == u64::MAX
                && self.turns_joined(crew, workers, &mut agenda, &mut watch)
            {
                continue;
            }
            let mut index = agenda.begin();
            self.lend(workers[index].backend_mut().plain());
            while let Some(next) =
                self.turn(index, crew, workers, &mut shares, &mut agenda, &mut watch)
            {
                let device = workers[index].backend_mut().plain().device.take();
                workers[next].backend_mut().plain().device = device;
                index = next;
                if joins && workers[index].backend_mut().plain().device_ns() == u64::MAX {
                    break;
                }
            }
            self.device = workers[index].backend_mut().plain().device.take();
        }
        let stopped = watch.stopped;
        Ok(crew.lap(shares.laps.into_iter().flatten().collect(), stopped))
    }

    /// Leaves a device that answers nothing before its I/Os are too old; nothing happens before
    /// `next_ns`.
    #[inline]
    fn check_silence(&mut self, crew: &Crew, next_ns: u64) -> Result<(), EngineError> {
        if next_ns.saturating_sub(self.now_ns()) <= self.io_timeout_ns {
            return Ok(());
        }
        self.leave(crew)
    }

    /// The error of a device that stays silent, if an I/O waits for it.
    #[cold]
    fn leave(&mut self, crew: &Crew) -> Result<(), EngineError> {
        let now_ns = self.now_ns();
        let aged = crew.aged(now_ns, 0);
        let Some(oldest) = aged.first() else {
            return Ok(());
        };
        let left_ns = self.io_timeout_ns.saturating_sub(oldest.age_ns);
        self.clock.advance(now_ns + left_ns);
        self.stuck = crew.aged(self.now_ns(), 0);
        let stuck = self.stuck.clone();
        Err(EngineError::Left { stuck })
    }

    /// Lends the device, and says what the coming data is like.
    #[inline]
    fn lend(&mut self, to: &mut SimBackend<D>) {
        if to.left_q16 != self.told_q16 {
            self.told_q16 = to.left_q16;
            self.device_mut().content(to.left_q16);
        }
        to.device = self.device.take();
    }

    /// Lets the device do what is due before `first_ns` until something ends, which workers get.
    fn step_device<B: Seam<Device = D>>(
        &mut self,
        workers: &mut [SimWorker<B>],
        agenda: &mut Agenda,
        first_ns: u64,
    ) {
        let device = self.device.as_mut().expect("no worker has the device");
        let at_ns = device.step_on(first_ns, self.io_timeout_ns, &mut self.ended);
        self.clock.advance(at_ns);
        for &damage in device.damage() {
            if let Some(ticket) = damage.ticket() {
                let worker = &mut workers[SimBackend::<D>::worker_of(ticket)];
                worker
                    .backend_mut()
                    .suffer(SimBackend::<D>::slot_of(ticket), damage);
            }
        }
        self.take_losses();
        for Ended { ticket, outcome } in self.ended.drain(..) {
            let index = SimBackend::<D>::worker_of(ticket);
            let worker = &mut workers[index];
            worker.backend_mut().plain().land_untold(ticket, outcome);
            let ready_ns = ready_ns(worker);
            if ready_ns < agenda.due_ns[index] {
                agenda.put(index, ready_ns);
            }
        }
    }
}

/// The virtual time at which the worker's next `settle` would return.
#[inline]
fn ready_ns<B: Seam>(worker: &mut SimWorker<B>) -> u64 {
    let (want, deadline_ns) = worker.pending_wait();
    worker.backend_mut().plain().ready_ns(want, deadline_ns)
}

/// The workers of `crew`, each on its own backend, ready to begin now.
fn seated<B: Seam>(
    crew: &Crew,
    plan: &Plan,
    clock: &VirtualClock,
    backend: impl Fn(u32, &Seat) -> B,
) -> Vec<SimWorker<B>> {
    crew.start(plan, clock.now_ns());
    let worker = |(number, seat): (u32, &Seat)| {
        let mut backend = backend(number, seat);
        backend.plain().left_q16 = left_q16(seat.stream.plan.content);
        backend.plain().write_through = seat.stream.plan.write_through;
        let mut worker = Worker::new(backend, clock.clone(), seat.clone());
        worker.begin();
        worker
    };
    (0..).zip(crew.seats()).map(worker).collect()
}

/// The first byte a stream may touch, and the one after the last.
fn reach(stream: &StreamPlan) -> (u64, u64) {
    let range = &stream.range;
    let length_bytes = (range.segments - 1) * range.stride_bytes + range.segment_bytes;
    (range.start_bytes, range.start_bytes + length_bytes)
}

/// Whether there is room for all that a plan may write.
fn holds(content: &SharedContent, plan: &Plan) -> bool {
    let writers = plan.streams.iter().filter(|stream| stream.writes());
    let ranges: Vec<(u64, u64)> = writers.clone().map(reach).collect();
    let ranges_bytes = writers
        .map(|one| one.range.segments * one.range.segment_bytes)
        .sum();
    let most_bytes = match plan.bound {
        Bound::Time { .. } => ranges_bytes,
        Bound::Bytes { total_bytes } => total_bytes.min(ranges_bytes),
    };
    locked(content).bytes_beside(&ranges) + most_bytes <= CONTENT_MOST_BYTES
}
