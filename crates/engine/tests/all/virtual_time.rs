//! The loop against a device of known truth: one I/O at a time, each of a fixed service time, in
//! virtual time. Latencies, bounds, laps without a gap and the open loop follow by arithmetic.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

use crate::rehearsal::{contiguous, plan, stream, MIB};
use teijo_engine::backend::Backend;
use teijo_engine::clock::Clock;
use teijo_engine::crew::Crew;
use teijo_engine::lap::Lap;
use teijo_engine::plan::{Access, Bound, Depth, Plan, Rate, Schedule, StreamPlan};
use teijo_engine::request::{Completion, Request};
use teijo_engine::worker::Worker;

const SERVICE_NS: u64 = 1_000;
const START_NS: u64 = 77_000;

/// The device and its clock. It serves nothing from `stall_ns` on for a second.
struct World {
    now_ns: Cell<u64>,
    busy_until_ns: Cell<u64>,
    idle_ns: Cell<u64>,
    stall_ns: u64,
    issued_ns: RefCell<Vec<u64>>,
}

struct VirtualClock(Rc<World>);

impl Clock for VirtualClock {
    fn now_ns(&self) -> u64 {
        self.0.now_ns.get()
    }
}

struct VirtualBackend {
    world: Rc<World>,
    in_flight: VecDeque<(u64, Completion)>,
}

impl Backend for VirtualBackend {
    const HAS_DATA: bool = false;

    fn buffer(&mut self, _slot: u16) -> &mut [u8] {
        &mut []
    }

    fn push(&mut self, request: Request) {
        let World {
            now_ns,
            busy_until_ns,
            idle_ns,
            stall_ns,
            issued_ns,
        } = &*self.world;
        let now_ns = now_ns.get();
        let mut start_ns = busy_until_ns.get().max(now_ns);
        idle_ns.set(idle_ns.get() + start_ns - busy_until_ns.get());
        if (*stall_ns..stall_ns.saturating_add(1_000_000_000)).contains(&start_ns) {
            start_ns = stall_ns + 1_000_000_000;
        }
        busy_until_ns.set(start_ns + SERVICE_NS);
        issued_ns.borrow_mut().push(now_ns);
        let result = request.length_bytes.cast_signed();
        let completion = Completion {
            tag: request.tag,
            result,
        };
        self.in_flight
            .push_back((start_ns + SERVICE_NS, completion));
    }

    fn wait(&mut self, want: u32, deadline_ns: u64) -> io::Result<()> {
        if want > 0 {
            let ready_ns = self
                .in_flight
                .get(want as usize - 1)
                .map_or(u64::MAX, |flight| flight.0);
            let until_ns = ready_ns.min(deadline_ns);
            assert_ne!(until_ns, u64::MAX, "it would wait for ever");
            self.world.now_ns.set(until_ns.max(self.world.now_ns.get()));
        }
        Ok(())
    }

    fn reap(&mut self) -> Option<Completion> {
        let ready = self.in_flight.front()?.0 <= self.world.now_ns.get();
        ready.then(|| self.in_flight.pop_front().expect("it has a front").1)
    }
}

/// One worker and its world.
struct Stage {
    world: Rc<World>,
    crew: Crew,
    worker: Worker<VirtualBackend, VirtualClock>,
}

impl Stage {
    fn new(plan: &Plan, stall_ns: u64) -> Self {
        let world = Rc::new(World {
            now_ns: Cell::new(START_NS),
            busy_until_ns: Cell::new(START_NS),
            idle_ns: Cell::new(0),
            stall_ns,
            issued_ns: RefCell::default(),
        });
        let crew = Crew::of(plan, Depth::Queued).unwrap();
        let backend = VirtualBackend {
            world: Rc::clone(&world),
            in_flight: VecDeque::new(),
        };
        let seat = crew.seats()[0].clone();
        let mut worker = Worker::new(backend, VirtualClock(Rc::clone(&world)), seat);
        crew.start(plan, START_NS);
        worker.begin();
        Self {
            world,
            crew,
            worker,
        }
    }

    fn lap(&mut self) -> Lap {
        loop {
            if let Some(share) = self.worker.take_lap() {
                return self.crew.lap(vec![share], false);
            }
            self.worker.issue();
            self.worker.settle().unwrap();
        }
    }
}

fn reads(queue_depth: u32, rate: Option<Rate>) -> Vec<StreamPlan> {
    let random = stream(Access::Random, contiguous(0, MIB), 4096);
    vec![StreamPlan {
        queue_depth,
        rate,
        ..random
    }]
}

#[test]
fn the_latency_of_a_full_queue_is_its_depth_times_the_service_time() {
    let mut bounded = plan(
        reads(8, None),
        Bound::Time {
            duration_ns: 10_000 * SERVICE_NS,
        },
    );
    bounded.interval_ns = 1_000 * SERVICE_NS;
    let mut stage = Stage::new(&bounded, u64::MAX);
    let lap = stage.lap();
    let read = &lap.streams[0].read;
    // Seven are in flight when the last one in time completes, and are counted.
    assert_eq!(read.ios, 10_007);
    assert_eq!(lap.elapsed_ns, 10_007 * SERVICE_NS);
    let rising: u64 = (1..8).map(|place| place * SERVICE_NS).sum();
    assert_eq!(read.latency.sum_ns(), rising + 10_000 * 8 * SERVICE_NS);
    assert_eq!(read.latency.max_ns(), 8 * SERVICE_NS);
    assert!(stage
        .world
        .issued_ns
        .borrow()
        .iter()
        .all(|&at| at < START_NS + 10_000 * SERVICE_NS));
    assert_eq!(read.intervals.len(), 11);
    assert_eq!(read.intervals[0].ios, 999);
    assert!(read.intervals[1..10]
        .iter()
        .all(|interval| interval.ios == 1_000));
    assert_eq!(read.intervals[10].ios, 8);
}

#[test]
fn laps_of_one_stimulus_follow_each_other_without_a_gap() {
    let mut first = plan(
        reads(8, None),
        Bound::Time {
            duration_ns: 100_500,
        },
    );
    first.open_ended = true;
    let mut stage = Stage::new(&first, u64::MAX);
    let mut laps = vec![stage.lap()];
    for last in [false, false, true] {
        let next = Plan {
            open_ended: !last,
            continues: true,
            ..first.clone()
        };
        stage.crew.go_on(&next).unwrap();
        laps.push(stage.lap());
    }
    for (number, lap) in laps.iter().enumerate() {
        assert_eq!(lap.started_ns, START_NS + number as u64 * 100_500);
        let expected = if number == 3 {
            402_000 - 301_500 + 8_000
        } else {
            100_500
        };
        assert!(
            lap.elapsed_ns.abs_diff(expected) <= SERVICE_NS,
            "{}",
            lap.elapsed_ns
        );
        assert!(lap.streams[0].read.latency.max_ns() == 8 * SERVICE_NS);
    }
    let ios: Vec<u64> = laps.iter().map(|lap| lap.streams[0].read.ios).collect();
    // A completion at the very end of a lap, as at 201 us, belongs to the one after.
    assert_eq!(ios, [100, 100, 101, 108]);
    assert_eq!(
        ios.iter().sum::<u64>(),
        stage.world.issued_ns.borrow().len() as u64
    );
    assert_eq!(
        stage.world.idle_ns.get(),
        0,
        "the device never waited for work"
    );
    assert!(stage.crew.go_on(&first).is_err(), "the stimulus is over");
}

#[test]
fn laps_bounded_by_bytes_go_on_too() {
    let mut first = plan(
        reads(4, None),
        Bound::Bytes {
            total_bytes: 100 * 4096,
        },
    );
    first.open_ended = true;
    let mut stage = Stage::new(&first, u64::MAX);
    let mut laps = vec![stage.lap()];
    stage
        .crew
        .go_on(&Plan {
            continues: true,
            ..first.clone()
        })
        .unwrap();
    laps.push(stage.lap());
    stage
        .crew
        .go_on(&Plan {
            continues: true,
            open_ended: false,
            ..first.clone()
        })
        .unwrap();
    laps.push(stage.lap());
    let ios: Vec<u64> = laps.iter().map(|lap| lap.streams[0].read.ios).collect();
    assert_eq!(ios.iter().sum::<u64>(), 300);
    assert!(ios.iter().all(|&ios| (95..=104).contains(&ios)), "{ios:?}");
    assert_eq!(laps[1].started_ns, laps[0].started_ns + laps[0].elapsed_ns);
    assert_eq!(stage.world.idle_ns.get(), 0);
}

/// Whoever says so late how long a lap lasts has let it last longer: its I/Os are in its time.
#[test]
fn a_lap_whose_bound_is_told_late_lasts_until_then() {
    let mut first = plan(
        reads(8, None),
        Bound::Time {
            duration_ns: 100_000,
        },
    );
    first.open_ended = true;
    let mut stage = Stage::new(&first, u64::MAX);
    let before = stage.lap();
    let next = Plan {
        continues: true,
        ..first.clone()
    };
    let late_ns = before.started_ns + before.elapsed_ns + 250_000;
    stage.crew.go_on_at(&next, late_ns).unwrap();
    let lap = stage.lap();
    assert_eq!(lap.started_ns, before.started_ns + before.elapsed_ns);
    assert_eq!(lap.elapsed_ns, 250_000);
    let latency = &lap.streams[0].read.latency;
    assert!(latency.sum_ns() <= 8 * (lap.elapsed_ns + latency.max_ns()));
    stage.crew.go_on_at(&next, late_ns).unwrap();
    assert_eq!(
        stage.lap().elapsed_ns,
        100_000,
        "in time is as long as asked"
    );
}

#[test]
fn other_streams_cannot_continue_a_stimulus() {
    let mut first = plan(
        reads(8, None),
        Bound::Time {
            duration_ns: 100_000,
        },
    );
    first.open_ended = true;
    let mut stage = Stage::new(&first, u64::MAX);
    stage.lap();
    let other = Plan {
        streams: reads(9, None),
        ..first.clone()
    };
    assert!(stage.crew.go_on(&other).is_err());
    assert!(stage.crew.go_on(&first).is_ok());
}

/// The figure that closed-loop statistics hide: 1,000 arrivals a second, a stall of one second.
#[test]
fn a_stall_is_in_the_response_of_everything_that_waited_for_it() {
    for schedule in [Schedule::Fixed, Schedule::Poisson] {
        let rate = Rate {
            ios_per_second: 1_000.0,
            schedule,
        };
        let duration_ns = 8_000_000_000;
        let open = plan(reads(4, Some(rate)), Bound::Time { duration_ns });
        let mut stage = Stage::new(&open, START_NS + 3_000_000_000);
        let lap = stage.lap();
        let read = &lap.streams[0].read;
        let response = read.response.as_ref().unwrap();
        assert!(read.ios.abs_diff(8_000) < 4 * 90, "{}", read.ios);
        assert_eq!(response.count(), read.ios);
        let p99_ns = response.quantile_ns(0.99);
        assert!((850_000_000..960_000_000).contains(&p99_ns), "{p99_ns}");
        assert!(read.latency.quantile_ns(0.99) < 5_000, "service hides it");
        assert!(lap.streams[0].backlog_max.abs_diff(996) < 4 * 32);
        assert_eq!(lap.streams[0].backlog_end, 0);
    }
}

#[test]
fn an_open_loop_that_cannot_be_kept_says_how_much_it_left_undone() {
    let rate = Rate {
        ios_per_second: 2e6,
        schedule: Schedule::Fixed,
    };
    let open = plan(
        reads(4, Some(rate)),
        Bound::Time {
            duration_ns: 1_000_000,
        },
    );
    let lap = Stage::new(&open, u64::MAX).lap();
    let stream = &lap.streams[0];
    assert_eq!(stream.read.ios, 1_003);
    assert!(
        stream.backlog_end.abs_diff(1_000) < 10,
        "{}",
        stream.backlog_end
    );
}

#[test]
fn a_halt_ends_the_lap_with_everything_counted() {
    let endless = plan(
        reads(8, None),
        Bound::Time {
            duration_ns: u64::MAX / 2,
        },
    );
    let mut stage = Stage::new(&endless, u64::MAX);
    for _ in 0..1_000 {
        stage.worker.issue();
        stage.worker.settle().unwrap();
    }
    stage.crew.halt();
    let lap = stage.lap();
    assert_eq!(lap.streams[0].read.ios, 1_007);
    assert_eq!(stage.world.issued_ns.borrow().len(), 1_007);
}
