//! Plans of the engine run in virtual time by the engine's own worker.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::common::{assert_within, device};
use teijo_engine::crew::Progress;
use teijo_engine::error::EngineError;
use teijo_engine::lap::{DirectionLap, Lap};
use teijo_engine::plan::{Access, Bound, Content, Plan, Range, Rate, Schedule, StreamPlan, Verify};
use teijo_sim::device::Device;
use teijo_sim::flash::Ssd;
use teijo_sim::session::{Observer, SimSession, Unobserved};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

fn stream(session: &SimSession<Ssd>, threads: u32, queue_depth: u32, seed: u64) -> StreamPlan {
    let capacity_bytes = session.device().capacity_bytes();
    StreamPlan {
        threads,
        queue_depth,
        read_percent: 0,
        block_size_bytes: 4096,
        access: Access::Random,
        range: Range {
            start_bytes: 0,
            segments: 1,
            segment_bytes: capacity_bytes,
            stride_bytes: capacity_bytes,
        },
        content: Content::Random,
        rate: None,
        seed,
        ..StreamPlan::default()
    }
}

fn plan(streams: Vec<StreamPlan>, bound: Bound) -> Plan {
    Plan {
        streams,
        bound,
        interval_ns: 100 * MS,
        open_ended: false,
        continues: false,
    }
}

fn seconds(value: f64) -> Bound {
    Bound::Time {
        duration_ns: (value * 1e9) as u64,
    }
}

fn bytes(total_bytes: u64) -> Bound {
    Bound::Bytes { total_bytes }
}

fn run(session: &mut SimSession<Ssd>, plan: &Plan) -> Lap {
    let lap = session
        .run(plan, &mut Unobserved)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(lap.failure, None);
    lap
}

fn iops(lap: &Lap) -> f64 {
    let ios: u64 = lap
        .streams
        .iter()
        .map(|one| one.read.ios + one.write.ios)
        .sum();
    ios as f64 * 1e9 / lap.elapsed_ns as f64
}

fn mean_ns(lap: &DirectionLap) -> f64 {
    lap.latency.sum_ns() as f64 / lap.ios as f64
}

fn open(text: &str) -> SimSession<Ssd> {
    SimSession::new(device(text))
}

#[test]
fn the_slc_drive_falls_from_56_000_to_19_000_iops() {
    let mut session = open("slc-a");
    let capacity_bytes = session.device().capacity_bytes();
    let mut curve = Vec::new();
    for eighth in 0..48 {
        let stimulus = stream(&session, 1, 32, 1);
        let mut lap = plan(vec![stimulus], bytes(capacity_bytes / 8));
        (lap.open_ended, lap.continues) = (true, eighth > 0);
        curve.push(iops(&run(&mut session, &lap)));
    }
    println!("{curve:.0?}");
    // The first eighth has the empty write buffer on top.
    for fresh in &curve[1..8] {
        assert_within("fresh out of the box", *fresh, 56_000.0, 1.0);
    }
    assert!(
        curve[8..].is_sorted_by(|one, next| *next < one * 1.03),
        "it falls all the way"
    );
    let steady = curve[40..].iter().sum::<f64>() / 8.0;
    assert_within("steady state", steady, 19_000.0, 3.0);
}

#[test]
fn iops_times_mean_latency_is_the_queue_depth() {
    for (text, read_percent) in [("slc-a", 0), ("s3700", 0), ("s3700", 100), ("mlc-a", 70)] {
        for (threads, queue_depth) in [(1, 1), (1, 32), (4, 8)] {
            let mut session = open(&format!("{text}?capacity=1GiB"));
            let fill = StreamPlan {
                block_size_bytes: 128 << 10,
                access: Access::Sequential { cursor_bytes: 0 },
                ..stream(&session, 1, 8, 1)
            };
            run(&mut session, &plan(vec![fill], bytes(1 << 30)));
            let load = StreamPlan {
                read_percent,
                ..stream(&session, threads, queue_depth, 2)
            };
            let lap = run(&mut session, &plan(vec![load], seconds(20.0)));
            let whole = &lap.streams[0];
            let ios = (whole.read.ios + whole.write.ios) as f64;
            let sum_ns = (whole.read.latency.sum_ns() + whole.write.latency.sum_ns()) as f64;
            let in_flight = sum_ns / ios * iops(&lap) / 1e9;
            let what = format!("{text} {read_percent} % reads, {threads} x {queue_depth}");
            assert_within(&what, in_flight, f64::from(threads * queue_depth), 0.5);
        }
    }
}

#[test]
fn a_byte_bound_is_exact_over_several_streams_and_threads() {
    let mut session = open("s3700?capacity=256MiB&dies=4&pages_per_block=64");
    let sequential = StreamPlan {
        threads: 3,
        block_size_bytes: 96 << 10,
        access: Access::Sequential { cursor_bytes: 4096 },
        ..stream(&session, 1, 4, 2)
    };
    let streams = vec![stream(&session, 2, 8, 1), sequential];
    let total_bytes = (64 << 20) + 12_288;
    let lap = run(&mut session, &plan(streams, bytes(total_bytes)));
    let written: u64 = lap.streams.iter().map(|one| one.write.bytes).sum();
    assert_eq!(written, total_bytes);
    assert_eq!(session.health().host_writes_bytes, total_bytes);
    assert!(lap.streams.iter().all(|one| one.write.ios > 100));
}

#[test]
fn a_lap_of_time_issues_until_the_bound_and_drains() {
    let mut session = open("slc-a?capacity=512MiB");
    let load = stream(&session, 2, 16, 1);
    let lap = run(&mut session, &plan(vec![load], seconds(0.5)));
    assert!(lap.elapsed_ns >= SECOND / 2 && lap.elapsed_ns < SECOND / 2 + 100 * MS);
    assert_eq!(session.now_ns(), lap.elapsed_ns);
    let counted: u64 = lap.streams[0]
        .write
        .intervals
        .iter()
        .map(|one| one.ios)
        .sum();
    assert_eq!(counted, lap.streams[0].write.ios);
}

#[test]
fn laps_that_go_on_are_the_same_stimulus_as_one_long_lap() {
    for threads in [1, 3] {
        let mut whole = open("slc-a?capacity=512MiB");
        let load = stream(&whole, threads, 8, 5);
        let long = run(&mut whole, &plan(vec![load.clone()], seconds(2.0)));
        let mut parts = open("slc-a?capacity=512MiB");
        let mut ios = 0;
        for part in 0..4 {
            let mut lap = plan(vec![load.clone()], seconds(0.5));
            (lap.open_ended, lap.continues) = (part < 3, part > 0);
            let lap = run(&mut parts, &lap);
            assert!(part == 3 || lap.elapsed_ns == SECOND / 2);
            ios += lap.streams[0].write.ios;
        }
        assert_eq!(ios, long.streams[0].write.ios);
        assert_eq!(parts.device().digest(), whole.device().digest());
        assert_eq!(parts.now_ns(), whole.now_ns());
    }
}

#[test]
fn a_run_is_a_function_of_parameters_and_seed() {
    let lap_of = |text: &str, seed| {
        let mut session = open(text);
        let mixed = StreamPlan {
            read_percent: 35,
            ..stream(&session, 2, 8, seed)
        };
        let streams = vec![mixed, stream(&session, 1, 4, seed + 1)];
        let lap = run(&mut session, &plan(streams, seconds(1.0)));
        (lap, session.device().digest(), session.health())
    };
    let text = "mlc-a?capacity=1GiB";
    assert_eq!(lap_of(text, 1), lap_of(text, 1));
    assert_ne!(
        lap_of(text, 1).1,
        lap_of(text, 2).1,
        "the plan's seed matters"
    );
    let other = lap_of("mlc-a?capacity=1GiB&seed=9", 1);
    assert_ne!(lap_of(text, 1).1, other.1, "the device's seed matters");
}

#[test]
fn a_fork_goes_on_exactly_as_the_original_and_leaves_it_alone() {
    let mut session = open("mlc-b?capacity=1GiB");
    let load = stream(&session, 1, 32, 1);
    run(&mut session, &plan(vec![load.clone()], bytes(3 << 30)));
    let mut fork = session.fork();
    let digest = session.device().digest();
    assert_eq!(digest, fork.device().digest());
    let next = plan(
        vec![StreamPlan {
            seed: 2,
            read_percent: 20,
            ..load
        }],
        bytes(1 << 29),
    );
    let forked = run(&mut fork, &next);
    assert_eq!(
        digest,
        session.device().digest(),
        "the fork wrote to its own state"
    );
    assert_eq!(forked, run(&mut session, &next));
    assert_eq!(fork.device().digest(), session.device().digest());
}

#[test]
fn an_open_loop_below_capacity_is_served_at_its_own_rate() {
    let mut session = open("s3700?capacity=1GiB");
    let rate = Rate {
        ios_per_second: 5_000.0,
        schedule: Schedule::Poisson,
    };
    let load = StreamPlan {
        rate: Some(rate),
        ..stream(&session, 1, 32, 1)
    };
    let lap = run(&mut session, &plan(vec![load], seconds(10.0)));
    assert_within("arrivals per second", iops(&lap), 5_000.0, 2.0);
    assert_eq!(lap.streams[0].backlog_end, 0);
}

#[test]
fn a_full_buffer_and_a_short_range_end_at_the_end_of_the_device() {
    let mut session = open("s3700?capacity=256MiB&dies=4&pages_per_block=64");
    let beyond = Range {
        start_bytes: 0,
        segments: 1,
        segment_bytes: 512 << 20,
        stride_bytes: 512 << 20,
    };
    let load = StreamPlan {
        range: beyond,
        ..stream(&session, 1, 4, 1)
    };
    let lap = run(&mut session, &plan(vec![load], bytes(1 << 20)));
    let writes = &lap.streams[0].write;
    assert_eq!(
        writes.ios + writes.errors[&28],
        256,
        "every I/O is counted once: {writes:?}"
    );
    assert!(writes.ios > 80 && writes.errors[&28] > 80);
}

#[test]
fn purge_and_idle_move_the_clock_and_a_purged_drive_is_fresh() {
    let mut session = open("slc-a?capacity=512MiB");
    let load = stream(&session, 1, 32, 1);
    let fresh = iops(&run(
        &mut session,
        &plan(vec![load.clone()], bytes(1 << 28)),
    ));
    let worn = run(&mut session, &plan(vec![load.clone()], bytes(3 << 30)));
    assert!(iops(&worn) < 0.6 * fresh);
    let before_ns = session.now_ns();
    let purge_ns = session.purge();
    session.idle(SECOND);
    assert_eq!(session.now_ns(), before_ns + purge_ns + SECOND);
    let again = iops(&run(&mut session, &plan(vec![load], bytes(1 << 28))));
    assert_within("after a purge", again, fresh, 1.0);
}

#[test]
fn idle_time_lets_a_drive_with_a_pool_write_fast_again() {
    let rate_after_idle = |pool: &str, idle_ns| {
        let text = format!("slc-a?capacity=1GiB&idle_pool_percent={pool}");
        let mut session = open(&text);
        let load = stream(&session, 1, 32, 1);
        run(&mut session, &plan(vec![load.clone()], bytes(5 << 30)));
        session.idle(idle_ns);
        iops(&run(
            &mut session,
            &plan(vec![StreamPlan { seed: 2, ..load }], bytes(1 << 26)),
        ))
    };
    let busy = rate_after_idle("5", 0);
    let rested = rate_after_idle("5", 60 * SECOND);
    assert!(rested > 2.0 * busy, "{rested} after a rest, {busy} without");
    // Without a pool only the write buffer is empty again.
    assert_within("no pool", rate_after_idle("0", 60 * SECOND), busy, 10.0);
}

#[test]
fn an_observer_sees_progress_and_can_end_the_lap() {
    struct Stop {
        calls: u32,
        intervals: usize,
    }
    impl Observer for Stop {
        fn period(&self) -> Duration {
            Duration::ZERO
        }
        fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
            self.calls += 1;
            self.intervals += progress.finished[0].len();
            assert!(progress.ios > 0);
            if self.calls < 20 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        }
    }
    let mut session = open("slc-a?capacity=512MiB");
    let load = stream(&session, 2, 32, 1);
    let mut observer = Stop {
        calls: 0,
        intervals: 0,
    };
    let lap = session
        .run(&plan(vec![load], seconds(1e6)), &mut observer)
        .expect("a lap");
    assert!(lap.stopped && observer.calls == 20);
    assert!(observer.intervals > 5);
    let counted: u64 = lap.streams[0]
        .write
        .intervals
        .iter()
        .map(|one| one.ios)
        .sum();
    assert_eq!(counted, lap.streams[0].write.ios);
}

#[test]
fn a_plan_that_continues_nothing_is_refused() {
    let mut session = open("slc-a?capacity=512MiB");
    let mut lap = plan(vec![stream(&session, 1, 1, 1)], seconds(1.0));
    lap.continues = true;
    let refused = session.run(&lap, &mut Unobserved);
    assert_eq!(refused, Err(EngineError::NothingToContinue));
}

#[test]
fn reads_at_depth_one_take_command_flash_and_transfer() {
    let mut session = open("s3700?capacity=1GiB&jitter_percent=0");
    let fill = StreamPlan {
        block_size_bytes: 128 << 10,
        access: Access::Sequential { cursor_bytes: 0 },
        ..stream(&session, 1, 8, 1)
    };
    run(&mut session, &plan(vec![fill], bytes(1 << 30)));
    session.idle(SECOND);
    let reads = |block_size_bytes| StreamPlan {
        read_percent: 100,
        block_size_bytes,
        ..stream(&session, 1, 1, 2)
    };
    let plans =
        [4096, 8192].map(|block_size_bytes| plan(vec![reads(block_size_bytes)], seconds(0.1)));
    let [one, two] = plans.map(|plan| mean_ns(&run(&mut session, &plan).streams[0].read));
    assert_within(
        "4 KiB at depth 1, ns",
        one,
        5_140.0 + 50_000.0 + 2.0 * 10_800.0 + 8_192.0 + 36_700.0,
        0.1,
    );
    let more = 8_192.0 + 5_800.0 + 37_200.0;
    assert_within("8 KiB over 4 KiB, ns", two - one, more, 0.1);
}

#[test]
fn reads_are_held_to_what_was_written() {
    let mut session = open("slc-a?capacity=1GiB");
    let verified = StreamPlan {
        verify: Some(Verify {
            run: 1,
            generation: 1,
            written: Vec::new(),
        }),
        read_percent: 50,
        ..stream(&session, 4, 4, 1)
    };
    let lap = session.run(&plan(vec![verified], seconds(0.1)), &mut Unobserved);
    let findings = &lap.expect("a lap").streams[0].read.findings;
    assert!(findings.sectors + findings.sectors_unjudged > 0);
    assert_eq!(findings.sectors_faulty(), 0);
}

/// What is in flight is known exactly in virtual time. A lap that drains is held to the time in
/// which it was to issue; one that goes on has no drain.
#[test]
fn a_closed_loop_is_as_deep_as_asked_to_the_last_digit() {
    for bound in [seconds(0.05), bytes(512 << 20)] {
        let mut session = SimSession::new(device("mlc-a?capacity=1GiB"));
        let mut large = stream(&session, 4, 32, 7);
        large.block_size_bytes = 1 << 20;
        let mut plan = plan(vec![large], bound);
        let lap = run(&mut session, &plan);
        assert_eq!(lap.witness.in_flight_asked, 128);
        assert_within("alone", lap.witness.in_flight_mean, 128.0, 1e-9);
        assert!(lap.elapsed_ns > 60 * MS, "it drains long: {lap:?}");
        plan.bound = seconds(0.05);
        plan.open_ended = true;
        for _ in 0..4 {
            let lap = run(&mut session, &plan);
            assert_within("going on", lap.witness.in_flight_mean, 128.0, 1e-9);
            plan.continues = true;
        }
    }
}
