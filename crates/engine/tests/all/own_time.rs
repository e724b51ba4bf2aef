//! What the host does to data is in no latency: in a world where making or judging a block takes a
//! millisecond and the device its own time, latencies are those of the device to the nanosecond.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

use crate::rehearsal::{contiguous, plan, stream, MIB};
use teijo_engine::backend::Backend;
use teijo_engine::clock::Clock;
use teijo_engine::crew::Crew;
use teijo_engine::lap::Lap;
use teijo_engine::plan::{Access, Bound, Content, Depth, StreamPlan, Verify};
use teijo_engine::request::{Completion, Op, Request};
use teijo_engine::worker::Worker;

const WORK_NS: u64 = 1_000_000;
const IOS: u64 = 40;
const BLOCK: u32 = 16 << 10;

/// Time, and whether the host is slow: then touching a buffer moves the time.
#[derive(Default)]
struct World {
    now_ns: Cell<u64>,
    work_ns: u64,
    /// Sum and greatest of the latencies as the disk knows them.
    truth_ns: Cell<(u64, u64)>,
}

struct VirtualClock(Rc<World>);

impl Clock for VirtualClock {
    fn now_ns(&self) -> u64 {
        self.0.now_ns.get()
    }
}

/// A disk that serves one I/O after the other, `service_ns` each, and keeps what it is given.
struct Disk {
    world: Rc<World>,
    service_ns: u64,
    busy_until_ns: u64,
    in_flight: VecDeque<(u64, Request)>,
    slots: Vec<Vec<u8>>,
    data: Vec<u8>,
}

impl Disk {
    fn work(&self) {
        self.world
            .now_ns
            .set(self.world.now_ns.get() + self.world.work_ns);
    }

    fn place(request: Request) -> std::ops::Range<usize> {
        let start = request.offset_bytes as usize;
        start..start + request.length_bytes as usize
    }
}

impl Backend for Disk {
    const HAS_DATA: bool = true;

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        self.work();
        &mut self.slots[usize::from(slot)]
    }

    fn read_back(&mut self, slot: u16) -> &[u8] {
        self.work();
        &self.slots[usize::from(slot)]
    }

    fn push(&mut self, request: Request) {
        let start_ns = self.busy_until_ns.max(self.world.now_ns.get());
        self.busy_until_ns = start_ns + self.service_ns;
        if request.op == Op::Write {
            let slot = &self.slots[usize::from(request.slot())];
            self.data[Self::place(request)].copy_from_slice(&slot[..request.length_bytes as usize]);
        }
        let latency_ns = self.busy_until_ns - self.world.now_ns.get();
        let (sum_ns, max_ns) = self.world.truth_ns.get();
        let truth_ns = (sum_ns + latency_ns, max_ns.max(latency_ns));
        self.world.truth_ns.set(truth_ns);
        self.in_flight.push_back((self.busy_until_ns, request));
    }

    fn wait(&mut self, want: u32, deadline_ns: u64) -> io::Result<()> {
        let Some(last) = (want as usize).checked_sub(1) else {
            return Ok(());
        };
        let ready_ns = self.in_flight.get(last).map_or(u64::MAX, |one| one.0);
        let until_ns = ready_ns.min(deadline_ns);
        assert_ne!(until_ns, u64::MAX, "it would wait for ever");
        self.world.now_ns.set(until_ns.max(self.world.now_ns.get()));
        Ok(())
    }

    fn reap(&mut self) -> Option<Completion> {
        let &(ready_ns, request) = self.in_flight.front()?;
        if ready_ns > self.world.now_ns.get() {
            return None;
        }
        self.in_flight.pop_front();
        if request.op == Op::Read {
            let slot = &mut self.slots[usize::from(request.slot())];
            slot[..request.length_bytes as usize].copy_from_slice(&self.data[Self::place(request)]);
        }
        Some(Completion {
            tag: request.tag,
            result: request.length_bytes.cast_signed(),
        })
    }
}

fn lap_of(one: StreamPlan, work_ns: u64, service_ns: u64) -> Lap {
    lap_and_truth(one, work_ns, service_ns).0
}

/// A lap of one worker on a host that takes `work_ns` for the content of an I/O, and the sum and
/// the greatest of the disk's own latencies.
fn lap_and_truth(one: StreamPlan, work_ns: u64, service_ns: u64) -> (Lap, (u64, u64)) {
    let total_bytes = IOS * u64::from(BLOCK);
    let plan = plan(vec![one], Bound::Bytes { total_bytes });
    let crew = Crew::of(&plan, Depth::Queued).unwrap();
    let seat = crew.seats()[0].clone();
    let world = Rc::new(World {
        now_ns: Cell::new(1 << 50),
        work_ns,
        truth_ns: Cell::default(),
    });
    let disk = Disk {
        world: Rc::clone(&world),
        service_ns,
        busy_until_ns: 0,
        in_flight: VecDeque::new(),
        slots: vec![vec![0; BLOCK as usize]; usize::from(seat.stream.depth)],
        data: vec![0; MIB as usize],
    };
    let mut worker = Worker::new(disk, VirtualClock(Rc::clone(&world)), seat);
    crew.start(&plan, world.now_ns.get());
    worker.begin();
    loop {
        if let Some(share) = worker.take_lap() {
            return (crew.lap(vec![share], false), world.truth_ns.get());
        }
        worker.issue();
        worker.settle().unwrap();
    }
}

fn written(content: Content, queue_depth: u32, verified: bool) -> StreamPlan {
    let verify = Verify {
        run: 7,
        generation: 1,
        written: Vec::new(),
    };
    StreamPlan {
        queue_depth,
        read_percent: 0,
        content,
        verify: verified.then_some(verify),
        ..stream(
            Access::Sequential { cursor_bytes: 0 },
            contiguous(0, MIB),
            BLOCK,
        )
    }
}

fn every_making() -> Vec<(Content, bool)> {
    vec![
        (Content::Random, false),
        (Content::Refill, false),
        (Content::Compressible { percent: 50 }, false),
        (Content::Dedupable { percent: 50 }, false),
        (Content::Random, true),
        (Content::Refill, true),
    ]
}

#[test]
fn one_at_a_time_content_that_costs_a_millisecond_adds_nothing_to_a_latency() {
    for (content, verified) in every_making() {
        let lap = lap_of(written(content, 1, verified), WORK_NS, 1_000);
        let latency = &lap.streams[0].write.latency;
        assert_eq!(latency.count(), IOS, "{content:?}");
        assert_eq!(
            (latency.min_ns(), latency.max_ns()),
            (1_000, 1_000),
            "{content:?}"
        );
        assert_eq!(
            lap.witness.made_ns,
            IOS * WORK_NS,
            "{content:?}: it is the host's"
        );
        assert_eq!(
            lap.elapsed_ns,
            IOS * (WORK_NS + 1_000),
            "and it is in the time of the lap"
        );
        // The last one may only be waited for, and is in no mean then.
        let depth = 1_000.0 / (WORK_NS + 1_000) as f64;
        assert!(
            (lap.witness.in_flight_mean - depth).abs() <= depth / IOS as f64,
            "the device rested"
        );
    }
}

#[test]
fn behind_a_queue_content_adds_nothing_as_long_as_the_device_is_slower() {
    let service_ns = 10 * WORK_NS;
    for (content, verified) in every_making() {
        let (lap, truth_ns) = lap_and_truth(written(content, 8, verified), WORK_NS, service_ns);
        let latency = &lap.streams[0].write.latency;
        assert_eq!(
            (latency.sum_ns(), latency.max_ns()),
            truth_ns,
            "{content:?}"
        );
        assert_eq!(latency.count(), IOS);
        assert_eq!(lap.witness.made_ns, IOS * WORK_NS);
    }
}

#[test]
fn a_completion_is_seen_after_one_block_and_not_after_the_content_of_the_whole_queue() {
    for (content, verified) in every_making() {
        let lap = lap_of(written(content, 8, verified), WORK_NS, 1_000);
        // Sixteen stamped blocks of 16 KiB are made before the clock is looked at.
        let blocks = if content == Content::Random && !verified {
            8
        } else {
            1
        };
        let seen_ns = lap.streams[0].write.latency.max_ns();
        assert!(
            seen_ns <= blocks * (WORK_NS + 1_000),
            "{content:?}: {seen_ns}"
        );
        assert_eq!(lap.streams[0].write.ios, IOS);
    }
}

#[test]
fn judging_what_was_read_is_in_no_latency_and_counted() {
    for queue_depth in [1, 8] {
        let reads = StreamPlan {
            read_percent: 100,
            ..written(Content::Random, queue_depth, true)
        };
        let service_ns = if queue_depth == 1 {
            1_000
        } else {
            10 * WORK_NS
        };
        let (lap, truth_ns) = lap_and_truth(reads, WORK_NS, service_ns);
        let latency = &lap.streams[0].read.latency;
        assert_eq!(latency.count(), IOS);
        assert_eq!((latency.sum_ns(), latency.max_ns()), truth_ns);
        assert_eq!(lap.witness.judged_ns, IOS * WORK_NS);
        assert_eq!(lap.witness.made_ns, 0);
        let found = &lap.streams[0].read.findings;
        assert_eq!(
            found.sectors + found.sectors_unjudged,
            IOS * u64::from(BLOCK) / 512
        );
    }
}

#[test]
fn a_verified_mix_is_judged_in_full_and_timed_as_the_device_is() {
    let mix = StreamPlan {
        read_percent: 50,
        access: Access::Random,
        ..written(Content::Random, 1, true)
    };
    let lap = lap_of(mix, WORK_NS, 1_000);
    let sides = [&lap.streams[0].read, &lap.streams[0].write];
    for side in sides {
        assert!(side.ios > 0);
        assert_eq!(
            (side.latency.min_ns(), side.latency.max_ns()),
            (1_000, 1_000)
        );
    }
    assert_eq!(lap.witness.judged_ns, sides[0].ios * WORK_NS);
    assert_eq!(lap.witness.made_ns, sides[1].ios * WORK_NS);
    assert_eq!(sides[0].findings.sectors_faulty(), 0);
}
