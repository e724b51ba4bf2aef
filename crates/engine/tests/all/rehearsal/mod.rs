//! Plans and a crew on threads, for the tests of the loop.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Barrier, Mutex};

use teijo_engine::backend::null::NullBackend;
use teijo_engine::backend::Backend;
use teijo_engine::clock::Clock;
use teijo_engine::crew::Crew;
use teijo_engine::lap::Lap;
use teijo_engine::plan::{Access, Bound, Content, Depth, Plan, Range, StreamPlan};
use teijo_engine::request::{Completion, Request};
use teijo_engine::stream::Seat;
use teijo_engine::worker::Worker;

/// What a statistic is drawn from; Miri, a thousand times slower, takes enough to walk the code.
pub const fn draws(many: u64) -> u64 {
    if cfg!(miri) {
        many / 400
    } else {
        many
    }
}

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;

/// A clock that moves by a fixed step whenever it is read.
pub struct SteppingClock {
    pub now_ns: Cell<u64>,
    pub step_ns: u64,
}

impl SteppingClock {
    pub fn new(step_ns: u64) -> Self {
        Self {
            now_ns: Cell::new(1 << 50),
            step_ns,
        }
    }
}

impl Clock for &SteppingClock {
    fn now_ns(&self) -> u64 {
        self.now_ns.set(self.now_ns.get() + self.step_ns);
        self.now_ns.get()
    }
}

pub fn contiguous(start_bytes: u64, length_bytes: u64) -> Range {
    Range {
        start_bytes,
        segments: 1,
        segment_bytes: length_bytes,
        stride_bytes: length_bytes,
    }
}

pub fn stream(access: Access, range: Range, block_size_bytes: u32) -> StreamPlan {
    StreamPlan {
        threads: 1,
        queue_depth: 8,
        read_percent: 100,
        block_size_bytes,
        access,
        range,
        content: Content::Random,
        rate: None,
        seed: 42,
        ..StreamPlan::default()
    }
}

pub fn plan(streams: Vec<StreamPlan>, bound: Bound) -> Plan {
    Plan {
        streams,
        bound,
        interval_ns: 1_000_000,
        open_ended: false,
        continues: false,
    }
}

/// Runs a plan to its end with one worker to a thread.
pub fn run_on_threads<B: Backend>(plan: &Plan, make: impl Fn(&Seat) -> B + Sync) -> Lap {
    let crew = Crew::of(plan, Depth::Queued).expect("the plan is sound");
    let barrier = Barrier::new(crew.seats().len());
    let clock_start = 1 << 50;
    crew.start(plan, clock_start);
    let shares = std::thread::scope(|scope| {
        let start = |seat: &Seat| {
            let seat = seat.clone();
            let (barrier, make) = (&barrier, &make);
            scope.spawn(move || {
                let clock = SteppingClock::new(100);
                let mut worker = Worker::new(make(&seat), &clock, seat);
                barrier.wait();
                worker.begin();
                while !worker.done() {
                    worker.issue();
                    worker.settle().expect("the backend waits");
                }
                worker.take_lap().expect("a worker that is done has a lap")
            })
        };
        let threads: Vec<_> = crew.seats().iter().map(start).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no worker panics"))
            .collect()
    });
    crew.lap(shares, false)
}

/// Whose the slots are. A loop that breaks the rules panics here at once; it would hardly ever
/// come to its end by itself.
#[derive(Default)]
pub struct Slots {
    in_flight: BTreeSet<u16>,
    /// Waits with nothing in flight, one after the other.
    vain_waits: u32,
}

impl Slots {
    const VAIN_WAITS_MAX: u32 = 10_000;

    pub fn is_in_flight(&self, slot: u16) -> bool {
        self.in_flight.contains(&slot)
    }

    pub fn push(&mut self, request: &Request) {
        let is_free = self.in_flight.insert(request.slot());
        assert!(is_free, "slot {} is in flight already", request.slot());
        self.vain_waits = 0;
    }

    pub fn wait(&mut self, want: u32) {
        let held = self.in_flight.len();
        assert!(want as usize <= held, "it would wait for ever");
        self.vain_waits = if held == 0 { self.vain_waits + 1 } else { 0 };
        assert!(
            self.vain_waits < Self::VAIN_WAITS_MAX,
            "it waits for nothing, over and over"
        );
    }

    pub fn reap(&mut self, completion: Completion) {
        let slot = (completion.tag & 0xffff) as u16;
        assert!(self.in_flight.remove(&slot), "slot {slot} came back twice");
    }
}

/// Completes everything at once and remembers it.
pub struct TracingBackend {
    slots: Slots,
    inner: NullBackend,
    trace: Arc<Mutex<Vec<Request>>>,
}

impl TracingBackend {
    pub fn new(trace: &Arc<Mutex<Vec<Request>>>) -> Self {
        Self {
            slots: Slots::default(),
            inner: NullBackend::new(),
            trace: Arc::clone(trace),
        }
    }
}

impl Backend for TracingBackend {
    const HAS_DATA: bool = false;

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        self.inner.buffer(slot)
    }

    fn push(&mut self, request: Request) {
        self.slots.push(&request);
        self.trace.lock().unwrap().push(request);
        self.inner.push(request);
    }

    fn wait(&mut self, want: u32, deadline_ns: u64) -> io::Result<()> {
        self.inner.wait(want, deadline_ns)
    }

    fn reap(&mut self) -> Option<Completion> {
        let completion = self.inner.reap()?;
        self.slots.reap(completion);
        Some(completion)
    }
}

/// Runs a plan over the null backend; every request in the order of its issue.
pub fn trace(plan: &Plan) -> (Lap, Vec<Request>) {
    let trace = Arc::default();
    let lap = run_on_threads(plan, |_| TracingBackend::new(&trace));
    let requests = std::mem::take(&mut *trace.lock().unwrap());
    (lap, requests)
}
