//! A plain stream has turns of its own: many requests and completions at a time, and one I/O after
//! the other where the backend does each at once. They must do what the general turn does, I/O by
//! I/O: the same requests, content and times, and the same books, failures and short I/Os included.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

use crate::rehearsal::{contiguous, plan, stream, MIB};
use teijo_engine::backend::Backend;
use teijo_engine::clock::Clock;
use teijo_engine::crew::Crew;
use teijo_engine::lap::StreamLap;
use teijo_engine::plan::{Access, Bound, Content, Depth, Plan, StreamPlan};
use teijo_engine::request::{Completion, Request};
use teijo_engine::seed::derive_seed;
use teijo_engine::worker::Worker;

const START_NS: u64 = 77_000;

/// A request, and what lay in its buffer.
type Seen = (Request, Vec<u8>);

#[derive(Default)]
struct World {
    now_ns: Cell<u64>,
    seen: RefCell<Vec<Seen>>,
    is_writing: bool,
}

struct VirtualClock(Rc<World>);

impl Clock for VirtualClock {
    fn now_ns(&self) -> u64 {
        self.0.now_ns.get()
    }
}

/// A device that serves one I/O after the other, some slowly, some in part, some not at all.
struct Device<const MANY: bool, const CARRIES: bool> {
    world: Rc<World>,
    busy_until_ns: u64,
    in_flight: VecDeque<(u64, Completion)>,
    given_back: VecDeque<Completion>,
    buffers: Vec<Vec<u8>>,
}

impl<const MANY: bool, const CARRIES: bool> Backend for Device<MANY, CARRIES> {
    const HAS_DATA: bool = true;
    const CARRIES: bool = CARRIES;

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        &mut self.buffers[usize::from(slot)]
    }

    fn takes_many(&self) -> bool {
        MANY
    }

    fn push(&mut self, request: Request) {
        let mut seen = self.world.seen.borrow_mut();
        let draw = derive_seed(5, seen.len() as u64);
        let content = if self.world.is_writing {
            self.buffers[usize::from(request.slot())].clone()
        } else {
            Vec::new()
        };
        seen.push((request, content));
        let whole = request.length_bytes.cast_signed();
        let result = match draw % 23 {
            0 => -libc::EIO,
            1 => whole / 2,
            _ => whole,
        };
        // Several come back at the same time, as where a device gathers them.
        let service_ns = [0, 0, 400, 1_700, 90_000][(draw >> 32) as usize % 5];
        self.busy_until_ns = self.busy_until_ns.max(self.world.now_ns.get()) + service_ns;
        let tag = request.tag;
        self.in_flight
            .push_back((self.busy_until_ns, Completion { tag, result }));
    }

    fn wait(&mut self, want: u32, deadline_ns: u64) -> io::Result<()> {
        let more = (want as usize).saturating_sub(self.given_back.len());
        if more > 0 {
            let ready = self.in_flight.get(more - 1);
            let until_ns = ready.map_or(u64::MAX, |one| one.0).min(deadline_ns);
            assert_ne!(until_ns, u64::MAX, "it would wait for ever");
            self.world.now_ns.set(until_ns.max(self.world.now_ns.get()));
        }
        Ok(())
    }

    fn reap(&mut self) -> Option<Completion> {
        if let Some(completion) = self.given_back.pop_front() {
            return Some(completion);
        }
        let ready = self.in_flight.front()?.0 <= self.world.now_ns.get();
        ready.then(|| self.in_flight.pop_front().expect("it has a front").1)
    }

    fn carry(&mut self, request: Request) -> Completion {
        self.push(request);
        self.wait(1, u64::MAX).expect("it waits");
        self.reap().expect("it is back")
    }

    fn give_back(&mut self, completion: Completion) {
        self.given_back.push_back(completion);
    }
}

/// What was asked of the device in two laps of one stimulus, and what the books say of them.
fn run<const MANY: bool, const CARRIES: bool>(
    streams: &[StreamPlan],
    last: Bound,
) -> (Vec<Seen>, Vec<(StreamLap, f64)>) {
    let time = |duration_ns| Bound::Time { duration_ns };
    let mut first = plan(streams.to_vec(), time(7_300_000));
    first.open_ended = true;
    let mut second = Plan {
        continues: true,
        ..plan(streams.to_vec(), last)
    };
    second.open_ended = false;
    let world = Rc::new(World {
        now_ns: Cell::new(START_NS),
        is_writing: streams[0].read_percent == 0,
        ..World::default()
    });
    let mut crew = Crew::of(&first, Depth::Queued).expect("the plan is sound");
    let stream = &streams[0];
    let device = Device::<MANY, CARRIES> {
        world: Rc::clone(&world),
        busy_until_ns: 0,
        in_flight: VecDeque::new(),
        given_back: VecDeque::new(),
        buffers: vec![vec![0; stream.block_size_bytes as usize]; stream.queue_depth as usize],
    };
    let seat = crew.seats()[0].clone();
    let mut worker = Worker::new(device, VirtualClock(Rc::clone(&world)), seat);
    crew.start(&first, START_NS);
    worker.begin();
    let mut laps = Vec::new();
    for is_last in [false, true] {
        let share = loop {
            if let Some(share) = worker.take_lap() {
                break share;
            }
            worker.issue();
            worker.settle().expect("the device waits");
        };
        let mut lap = crew.lap(vec![share], false);
        laps.push((lap.streams.remove(0), lap.witness.in_flight_mean));
        if !is_last {
            crew.go_on(&second).expect("the stimulus goes on");
        }
    }
    drop(worker);
    let world = Rc::into_inner(world).expect("all else is gone");
    (world.seen.into_inner(), laps)
}

fn each_shape(queue_depth: u32, block_size_bytes: u32) -> Vec<StreamPlan> {
    let random = stream(Access::Random, contiguous(MIB, 4 * MIB), block_size_bytes);
    let with = |read_percent, content| StreamPlan {
        queue_depth,
        read_percent,
        content,
        ..random.clone()
    };
    vec![
        with(100, Content::Random),
        with(0, Content::Random),
        with(0, Content::Zero),
    ]
}

const LAST: [Bound; 2] = [
    Bound::Time {
        duration_ns: 5_000_000,
    },
    Bound::Bytes {
        total_bytes: 700 * 4096 + 512,
    },
];

#[test]
fn many_at_a_time_are_what_one_at_a_time_would_be() {
    for (queue_depth, block_size_bytes) in [(1, 4096), (32, 4096), (7, 512), (9, 65536)] {
        for one in each_shape(queue_depth, block_size_bytes) {
            for last in LAST {
                let streams = [one.clone()];
                let (seen, laps) = run::<true, false>(&streams, last);
                let (general, general_laps) = run::<false, false>(&streams, last);
                assert!(seen.len() > 100, "{}", seen.len());
                assert!(seen == general, "{one:?}");
                assert_eq!(laps, general_laps, "{one:?}");
                assert!(laps
                    .iter()
                    .all(|lap| lap.0.read.errors != lap.0.write.errors));
            }
        }
    }
}

#[test]
fn one_after_the_other_by_system_calls_are_what_turns_would_be() {
    for block_size_bytes in [512, 4096, 65536] {
        for one in each_shape(1, block_size_bytes) {
            for last in LAST {
                let streams = [one.clone()];
                let (seen, laps) = run::<true, true>(&streams, last);
                let (general, general_laps) = run::<false, false>(&streams, last);
                assert!(seen == general, "{one:?}");
                assert_eq!(laps, general_laps, "{one:?}");
            }
        }
    }
}
