//! Truths of the simulated disk: service time, the gain of a queue, zones, caches.

use std::f64::consts::SQRT_2;

use teijo_engine::lap::Lap;
use teijo_engine::plan::{Access, Bound, Content, StreamPlan};
use teijo_engine::request::Op;
use teijo_sim::compose::open;
use teijo_sim::device::Device;

use crate::common::assert_within;
use crate::common::laps::run_in;
use crate::lab::{session, Session, SECOND};

const TURN_7200_NS: f64 = 60e9 / 7_200.0;

fn stream(read_percent: u8, block_size_bytes: u32, queue_depth: u32) -> StreamPlan {
    StreamPlan {
        threads: 1,
        queue_depth,
        read_percent,
        block_size_bytes,
        access: Access::Random,
        content: Content::Random,
        rate: None,
        seed: 1,
        ..StreamPlan::default()
    }
}

fn sequential(read_percent: u8, block_size_bytes: u32, queue_depth: u32) -> StreamPlan {
    StreamPlan {
        access: Access::Sequential { cursor_bytes: 0 },
        ..stream(read_percent, block_size_bytes, queue_depth)
    }
}

/// Runs `stream` over `share` of the device from `start` on (both shares of the capacity).
fn run(session: &mut Session, stream: StreamPlan, start: f64, share: f64, bound: Bound) -> Lap {
    let block = u64::from(stream.block_size_bytes);
    let capacity_bytes = session.device().capacity_bytes() as f64;
    let whole = |share: f64| (capacity_bytes * share) as u64 / block * block;
    run_in(session, stream, whole(start), whole(share), bound)
}

fn seconds(seconds: u64) -> Bound {
    Bound::Time {
        duration_ns: seconds * SECOND,
    }
}

fn ios(lap: &Lap) -> f64 {
    (lap.streams[0].read.ios + lap.streams[0].write.ios) as f64
}

fn iops(lap: &Lap) -> f64 {
    ios(lap) * 1e9 / lap.elapsed_ns as f64
}

fn mb_per_second(lap: &Lap) -> f64 {
    (lap.streams[0].read.bytes + lap.streams[0].write.bytes) as f64 * 1e3 / lap.elapsed_ns as f64
}

/// Mean seek over pairs drawn evenly from `share` of the stroke, ms: ∫ t(d) 2(1 - d) dd.
fn mean_seek_ms(share: f64) -> f64 {
    let (least, root, knee) = (0.8, 13.0, 0.3_f64);
    let seek = |d: f64| {
        if d < knee {
            least + root * d.sqrt()
        } else {
            least + root * knee.sqrt() + root / (2.0 * knee.sqrt()) * (d - knee)
        }
    };
    let steps = 200_000;
    let middle = |step: i32| (f64::from(step) + 0.5) / f64::from(steps);
    (0..steps)
        .map(|step| seek(middle(step) * share) * 2.0 * (1.0 - middle(step)))
        .sum::<f64>()
        / f64::from(steps)
}

#[test]
fn the_mean_seek_is_the_integral_of_the_curve() {
    assert_within("published mean seek", mean_seek_ms(1.0), 7.98, 0.1);
    let disk = teijo_sim::disk::params::disk_presets().remove(0).params;
    let mechanics = teijo_sim::disk::Mechanics::new(&disk, 1 << 40, 0);
    let full_ms = mechanics.seek_ns(0, 1 << 40) as f64 / 1e6;
    assert_within("full stroke", full_ms, 16.2, 0.2);
    let third_ms = mechanics.seek_ns(0, (1 << 40) / 4) as f64 / 1e6;
    assert_within("quarter stroke", third_ms, 0.8 + 13.0 / 2.0, 0.01);
    assert_eq!(mechanics.seek_ns(1 << 30, 1 << 30), 0);
    let eighth_ms = mechanics.seek_ns(0, (1 << 40) / 8) as f64 / 1e6;
    assert_within("an eighth", eighth_ms, 0.8 + 13.0 / 2.0 / SQRT_2, 0.01);
}

#[test]
fn a_random_read_takes_a_seek_half_a_turn_and_its_transfer() {
    for (share, published) in [(1.0, 82.1), (0.1, 139.0)] {
        let mut one = session("hdd-7200?age_percent=0");
        let lap = run(&mut one, stream(100, 4096, 1), 0.0, share, seconds(3_000));
        let rate = 155.0 - (155.0 - 78.0) * share / 2.0;
        let mean_ms = mean_seek_ms(share) + TURN_7200_NS / 2e6 + 4096.0 / rate / 1e3;
        println!(
            "{share}: {:.3} ms, {:.1} IOPS",
            1e3 / iops(&lap),
            iops(&lap)
        );
        assert_within("mean service", 1e3 / iops(&lap), mean_ms, 0.5);
        assert_within("published IOPS", iops(&lap), published, 1.0);
    }
}

#[test]
fn a_deeper_queue_gains_what_the_nearest_in_time_gains() {
    let published = [
        (1, 82.0, 139.0),
        (2, 99.0, 172.0),
        (4, 118.0, 214.0),
        (8, 141.0, 263.0),
        (16, 170.0, 314.0),
        (32, 206.0, 371.0),
        (64, 246.0, 432.0),
    ];
    for (depth, full, tenth) in published {
        for (share, expected) in [(1.0, full), (0.1, tenth)] {
            let mut one = session("hdd-7200?age_percent=0&queue=64");
            let load = stream(100, 4096, depth);
            let lap = run(&mut one, load, 0.0, share, seconds(600));
            println!("{depth} in flight, {share}: {:.1} IOPS", iops(&lap));
            assert_within("IOPS", iops(&lap), expected, 3.0);
            let sum_ns = lap.streams[0].read.latency.sum_ns() as f64;
            let in_flight = sum_ns / lap.elapsed_ns as f64;
            assert_within("Little", in_flight, f64::from(depth), 0.5);
        }
    }
}

#[test]
fn a_command_that_waited_long_comes_sooner() {
    let worst = |text: &str| {
        let lap = run(
            &mut session(text),
            stream(100, 4096, 32),
            0.0,
            1.0,
            seconds(600),
        );
        let max_ns = lap.streams[0].read.latency.max_ns();
        println!(
            "{text}: {:.1} IOPS, at most {} ms",
            iops(&lap),
            max_ns / 1_000_000
        );
        (max_ns, iops(&lap))
    };
    let (starved_ns, nearest) = worst("hdd-7200?age_percent=0");
    let (aged_ns, aged) = worst("hdd-7200");
    println!("{starved_ns} {aged_ns}");
    assert!(aged_ns * 2 < starved_ns, "{aged_ns} ns, {starved_ns} ns");
    assert!(82.0 * 1.5 < aged && aged < nearest, "{aged}");
}

#[test]
fn sequential_reads_have_the_rate_of_their_zone() {
    for (start, rate) in [(0.0, 155.0), (0.94, 78.0)] {
        for (block_size_bytes, depth) in [(4096, 1), (128 << 10, 1), (1 << 20, 8)] {
            let mut one = session("hdd-7200");
            let load = sequential(100, block_size_bytes, depth);
            let lap = run(&mut one, load, start, 0.05, seconds(20));
            assert_within("MB/s", mb_per_second(&lap), rate, 0.5);
        }
    }
}

#[test]
fn sequential_writes_stream_through_the_cache_and_miss_a_turn_without_it() {
    let mut cached = session("hdd-7200?write_rate_percent=100");
    let lap = run(
        &mut cached,
        sequential(0, 65_536, 1),
        0.0,
        0.05,
        seconds(20),
    );
    assert_within("cached, MB/s", mb_per_second(&lap), 155.0, 2.0);
    let mut calibrated = session("hdd-7200");
    let lap = run(
        &mut calibrated,
        sequential(0, 65_536, 1),
        0.0,
        0.05,
        seconds(20),
    );
    assert_within("published write, MB/s", mb_per_second(&lap), 102.0, 3.0);
    let mut bare = session("hdd-7200?write_rate_percent=100&write_cache=0");
    let lap = run(&mut bare, sequential(0, 4096, 1), 0.0, 0.05, seconds(20));
    let period_ns = TURN_7200_NS + 4096.0 / 155.0 * 1e3;
    assert_within("IOPS without a cache", iops(&lap), 1e9 / period_ns, 0.5);
    let mut deep = session("hdd-7200?write_rate_percent=100&write_cache=0");
    let lap = run(&mut deep, sequential(0, 65_536, 4), 0.0, 0.05, seconds(20));
    assert_within("four in flight, MB/s", mb_per_second(&lap), 155.0, 1.0);
}

#[test]
fn a_flush_waits_for_what_was_acknowledged_before_it() {
    let mut disk = open("hdd-7200").expect("a disk");
    let mut acknowledged_ns = 0;
    for index in 0..8_u64 {
        let outcome = disk.serve(Op::Write, index * (100 << 30), 4096, acknowledged_ns);
        acknowledged_ns = outcome.done_ns;
    }
    assert!(acknowledged_ns < 1_000_000, "{acknowledged_ns}");
    let flushed_ns = disk.serve(Op::Flush, 0, 0, acknowledged_ns).done_ns;
    assert!(flushed_ns > 8 * 3_000_000, "eight seeks: {flushed_ns}");
    let again_ns = disk.serve(Op::Flush, 0, 0, flushed_ns).done_ns;
    assert_eq!(again_ns, flushed_ns);
}

#[test]
fn random_writes_are_as_fast_as_the_link_until_the_cache_is_full_and_then_as_the_arm() {
    let mut one = session("hdd-7200");
    let burst = Bound::Bytes {
        total_bytes: 16 << 20,
    };
    let lap = run(&mut one, stream(0, 4096, 1), 0.0, 1.0, burst);
    assert!(iops(&lap) > 50_000.0, "{}", iops(&lap));
    let mut lap = run(&mut one, stream(0, 4096, 1), 0.0, 1.0, seconds(100));
    for _ in 0..2 {
        lap = run(&mut one, stream(0, 4096, 1), 0.0, 1.0, seconds(100));
    }
    println!("{}", iops(&lap));
    assert!((140.0..260.0).contains(&iops(&lap)), "{}", iops(&lap));
}

#[test]
fn the_same_run_is_the_same_bits_and_a_fork_goes_the_same_way() {
    let mixed = || StreamPlan {
        threads: 3,
        ..stream(50, 8192, 8)
    };
    let mut first = session("hdd-7200");
    run(&mut first, mixed(), 0.0, 1.0, seconds(20));
    let mut fork = first.fork();
    assert_eq!(first.device().digest(), fork.device().digest());
    for one in [&mut first, &mut fork] {
        run(one, mixed(), 0.0, 1.0, seconds(20));
    }
    assert_eq!(first.device().digest(), fork.device().digest());
    let mut again = session("hdd-7200");
    run(&mut again, mixed(), 0.0, 1.0, seconds(20));
    run(&mut again, mixed(), 0.0, 1.0, seconds(20));
    assert_eq!(first.device().digest(), again.device().digest());
    run(&mut again, mixed(), 0.0, 1.0, seconds(1));
    assert_ne!(first.device().digest(), again.device().digest());
}

#[test]
fn every_byte_is_counted_once() {
    let mut one = session("hdd-7200");
    let lap = run(&mut one, stream(30, 4096, 16), 0.0, 1.0, seconds(60));
    let health = one.health();
    assert_eq!(health.host_reads_bytes, lap.streams[0].read.bytes);
    assert_eq!(health.host_writes_bytes, lap.streams[0].write.bytes);
}
