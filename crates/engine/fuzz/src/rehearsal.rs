//! Runs a plan for a few thousand I/Os over a device in memory, one worker after the other, and
//! holds every request to what the plan says.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::rc::Rc;

use teijo_engine::backend::Backend;
use teijo_engine::clock::Clock;
use teijo_engine::crew::Crew;
use teijo_engine::lap::{DirectionLap, Lap};
use teijo_engine::plan::{Depth, Plan};
use teijo_engine::request::{Completion, Op, Request};
use teijo_engine::seed::derive_seed;
use teijo_engine::stream::Seat;
use teijo_engine::worker::Worker;

use crate::judge::Judge;

const IOS_MAX: u64 = 600;
const TURNS_MAX: u32 = 1_500;
const WORKERS_MAX: usize = 8;
/// Longest block that is given a buffer, and the most that all buffers of a worker take.
const DATA_BLOCK_MAX: u32 = 128 << 10;
const DATA_WORKER_MAX: u64 = 4 << 20;
const SECTOR_BYTES: usize = 512;
const STARTED_NS: u64 = 1 << 50;
const EIO: i32 = 5;

/// A worker's own time: it moves when it is read, and to the deadline where nothing else would
/// end a wait.
#[derive(Clone)]
struct OwnClock {
    now_ns: Rc<Cell<u64>>,
    step_ns: u64,
}

impl Clock for OwnClock {
    fn now_ns(&self) -> u64 {
        self.now_ns.set(self.now_ns.get() + self.step_ns);
        self.now_ns.get()
    }
}

/// What all workers see.
struct World {
    sectors: RefCell<HashMap<u64, [u8; SECTOR_BYTES]>>,
    keeps: bool,
    judges: RefCell<Vec<Judge>>,
    pushed: Cell<u64>,
    returned: Cell<u64>,
}

/// One worker's way to the device; completes in any order, late, and sometimes with a failure.
struct Device<const DATA: bool> {
    world: Rc<World>,
    clock: OwnClock,
    stream: usize,
    seed: u64,
    draws: u64,
    written: Vec<Vec<u8>>,
    read: Vec<Vec<u8>>,
    held: Vec<Request>,
    ready: Vec<Completion>,
    in_flight: HashSet<u16>,
}

impl<const DATA: bool> Device<DATA> {
    fn new(world: &Rc<World>, seat: &Seat, clock: OwnClock, seed: u64) -> Self {
        let (depth, length) = if DATA {
            (usize::from(seat.stream.depth), seat.stream.plan.block_size_bytes)
        } else {
            (0, 0)
        };
        let buffer = vec![0; length as usize];
        Self {
            world: Rc::clone(world),
            clock,
            stream: seat.stream.index,
            seed,
            draws: 0,
            written: vec![buffer.clone(); depth],
            read: vec![buffer; depth],
            held: Vec::new(),
            ready: Vec::new(),
            in_flight: HashSet::new(),
        }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.draws += 1;
        derive_seed(self.seed, self.draws) % below
    }

    fn carry(&mut self, request: Request) {
        let slot = usize::from(request.slot());
        let length = request.length_bytes as usize;
        let mut sectors = self.world.sectors.borrow_mut();
        let first = request.offset_bytes / SECTOR_BYTES as u64;
        match request.op {
            Op::Write => {
                for (sector, bytes) in (first..).zip(self.written[slot][..length].chunks(512)) {
                    sectors.insert(
                        sector,
                        bytes.try_into().expect("verified sectors are whole"),
                    );
                }
            }
            Op::Read => {
                for (sector, bytes) in (first..).zip(self.read[slot][..length].chunks_mut(512)) {
                    bytes.copy_from_slice(sectors.get(&sector).unwrap_or(&[0; SECTOR_BYTES]));
                }
            }
            Op::Flush | Op::Discard => {}
        }
    }

    fn complete(&mut self, request: Request) {
        let fails = self.draw(50) == 0;
        if DATA && self.world.keeps && (!fails || self.draw(2) == 0) {
            self.carry(request);
        }
        let result = match (fails, request.op) {
            (true, _) => -EIO,
            (false, Op::Flush | Op::Discard) => 0,
            (false, Op::Read | Op::Write) => request.length_bytes.cast_signed(),
        };
        let tag = request.tag;
        self.ready.push(Completion { tag, result });
    }
}

impl<const DATA: bool> Backend for Device<DATA> {
    const HAS_DATA: bool = DATA;

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        assert!(!self.in_flight.contains(&slot), "slot {slot} is in flight");
        &mut self.written[usize::from(slot)]
    }

    fn read_back(&mut self, slot: u16) -> &[u8] {
        &self.read[usize::from(slot)]
    }

    fn push(&mut self, request: Request) {
        let free = self.in_flight.insert(request.slot());
        assert!(free, "slot {} is in flight already", request.slot());
        self.world.judges.borrow_mut()[self.stream].see(&request);
        self.world.pushed.set(self.world.pushed.get() + 1);
        self.held.push(request);
    }

    fn wait(&mut self, want: u32, deadline_ns: u64) -> io::Result<()> {
        if self.held.is_empty() {
            assert!(
                want == 0 || deadline_ns < u64::MAX,
                "it would wait for ever"
            );
            let now_ns = self.clock.now_ns.get();
            self.clock.now_ns.set(now_ns.max(deadline_ns));
            return Ok(());
        }
        for _ in 0..=self.draw(self.held.len() as u64) {
            let pick = self.draw(self.held.len() as u64) as usize;
            let request = self.held.swap_remove(pick);
            self.complete(request);
        }
        Ok(())
    }

    fn reap(&mut self) -> Option<Completion> {
        let completion = self.ready.pop()?;
        let slot = (completion.tag & 0xffff) as u16;
        assert!(self.in_flight.remove(&slot), "slot {slot} came back twice");
        self.world.returned.set(self.world.returned.get() + 1);
        Some(completion)
    }
}

/// Checks a plan; rehearses it where it is accepted. `seed` chooses what the device does.
pub fn run(plan: &Plan, seed: u64) {
    let Ok(crew) = Crew::of(plan, Depth::Queued) else {
        return;
    };
    let small = |depth: u32, block: u32| {
        block <= DATA_BLOCK_MAX && u64::from(depth) * u64::from(block) <= DATA_WORKER_MAX
    };
    let mut streams = plan.streams.iter();
    if streams.all(|one| small(one.queue_depth, one.block_size_bytes)) {
        rehearse::<true>(&crew, plan, seed);
    } else {
        rehearse::<false>(&crew, plan, seed);
    }
}

fn rehearse<const DATA: bool>(crew: &Crew, plan: &Plan, seed: u64) {
    let world = Rc::new(World {
        sectors: RefCell::default(),
        keeps: plan.streams.iter().all(|one| one.verify.is_some()),
        judges: RefCell::new(
            plan.streams
                .iter()
                .map(|one| Judge::new(one, plan))
                .collect(),
        ),
        pushed: Cell::new(0),
        returned: Cell::new(0),
    });
    crew.start(plan, STARTED_NS);
    let mut workers: Vec<_> = (0..)
        .zip(seats(crew, plan))
        .map(|(number, seat)| {
            let clock = OwnClock {
                now_ns: Rc::new(Cell::new(STARTED_NS)),
                step_ns: 1 + seed % 997,
            };
            let device =
                Device::<DATA>::new(&world, seat, clock.clone(), derive_seed(seed, number));
            Worker::new(device, clock, seat.clone())
        })
        .collect();
    for worker in &mut workers {
        worker.begin();
    }
    let mut shares = Vec::new();
    let mut turns = 0;
    while workers.iter().any(|one| !one.done()) {
        turns += 1;
        assert!(turns < 2 * TURNS_MAX, "it does not end");
        if turns > TURNS_MAX || world.pushed.get() > IOS_MAX {
            crew.halt();
        }
        for worker in workers.iter_mut().filter(|one| !one.done()) {
            worker.issue();
            worker.settle().expect("the device waits");
            if plan.open_ended {
                drop(worker.take_lap());
            }
        }
    }
    for worker in &mut workers {
        shares.extend(worker.take_lap());
    }
    assert_eq!(world.pushed.get(), world.returned.get());
    if !plan.open_ended {
        let lap = crew.lap(shares, false);
        check_books(&lap, &world);
        check_findings(&lap, plan);
    }
}

/// Some workers of every stream.
fn seats<'a>(crew: &'a Crew, plan: &Plan) -> Vec<&'a Seat> {
    let each = (WORKERS_MAX / plan.streams.len()).max(1) as u32;
    crew.seats()
        .iter()
        .filter(|seat| seat.number < each)
        .collect()
}

/// Every I/O is in the books once.
fn check_books(lap: &Lap, world: &World) {
    let mut booked = 0;
    for stream in &lap.streams {
        for side in [&stream.read, &stream.write, &stream.flush, &stream.discard] {
            assert_eq!(side.ios, side.latency.count());
            booked += side.ios + side.errors.values().sum::<u64>();
        }
        for side in [&stream.read, &stream.write] {
            check_intervals(side);
        }
    }
    assert_eq!(booked, world.returned.get());
    assert_eq!(lap.failure, None);
}

fn check_intervals(side: &DirectionLap) {
    let sum = |of: fn(&teijo_engine::interval::Interval) -> u64| {
        side.intervals.iter().map(of).sum::<u64>()
    };
    assert_eq!(sum(|one| one.ios), side.ios);
    assert_eq!(sum(|one| one.bytes), side.bytes);
    assert_eq!(sum(|one| one.errors), side.errors.values().sum::<u64>());
}

/// A device that keeps what it is given is not accused.
fn check_findings(lap: &Lap, plan: &Plan) {
    let mut verified = plan.streams.iter().filter_map(|one| one.verify.as_ref());
    // What earlier steps are said to have written is not there.
    if verified.all(|one| one.written.is_empty()) {
        for stream in &lap.streams {
            assert_eq!(stream.read.findings.faults, BTreeMap::new());
        }
    }
}
