//! SSD caches against arithmetic: what hits, what is where, when the dirty limit is met and how
//! fast it goes on from there.

use crate::common::assert_within;
use crate::common::laps::{count, fill, in_order, random, run, run_in, GIB, KIB, MIB};
use crate::lab::{bytes, iops, mb_per_second, seconds, session, Session, SECOND};
use teijo_engine::plan::{Access, Bound, Rate, Schedule, StreamPlan};
use teijo_engine::request::Op;
use teijo_sim::compose::{open, Node};
use teijo_sim::device::{Device, Ended};

/// 4,096 slots of 64 KiB.
const FAST: &str = "s3700?nominal_capacity=256MiB&scale=1&pages_per_block=32";
/// One command at a time and nothing volatile: its rate is that of the arm.
const SLOW: &str = "hdd-7200?nominal_capacity=4GiB&write_cache=0&read_ahead=0&queue=1&seed=9";
const LIKE_FAST: &str = "s3700?nominal_capacity=4GiB&scale=1";

fn hits(one: &Session) -> (u64, u64) {
    (count(one, "read_hits"), count(one, "read_misses"))
}

#[test]
fn of_a_uniform_set_the_cached_share_hits() {
    for promote in ["first", "second"] {
        for share in [2, 4, 8] {
            let text = format!("ssd-cache({FAST}, {LIKE_FAST})?promote_reads={promote}");
            let mut one = session(&text);
            let set = share * 256 * MIB;
            let reads = random(100, 4 * KIB, 16);
            run(&mut one, reads.clone(), set, bytes(4 * KIB * 150_000));
            let before = hits(&one);
            // So many that the limit is four standard deviations of an eighth.
            run(
                &mut one,
                StreamPlan { seed: 2, ..reads },
                set,
                bytes(4 * KIB * 1_200_000),
            );
            let after = hits(&one);
            let (hit, miss) = (after.0 - before.0, after.1 - before.1);
            let found = hit as f64 / (hit + miss) as f64;
            assert_within(
                &format!("{promote}, 1/{share}"),
                found,
                1.0 / share as f64,
                1.0,
            );
        }
    }
}

#[test]
fn a_set_that_fits_is_as_fast_as_the_fast_device_alone_once_it_is_there() {
    let set = 128 * MIB;
    let mut alone = session(FAST);
    fill(&mut alone, set);
    let mut cached = session(&format!("ssd-cache({FAST}, {SLOW})"));
    fill(&mut cached, set);
    for depth in [1, 32] {
        let reads = random(100, 4 * KIB, depth);
        alone.idle(SECOND);
        cached.idle(SECOND);
        let alone = iops(&run(&mut alone, reads.clone(), set, seconds(1.0)));
        let cached = iops(&run(&mut cached, reads, set, seconds(1.0)));
        assert_within(&format!("depth {depth}"), cached, alone, 0.1);
    }
    assert_eq!(hits(&cached).1, 0);
}

#[test]
fn one_in_flight_is_slowed_by_the_share_that_misses() {
    for share in [2, 4, 8] {
        let set = share * 256 * MIB;
        // Nothing is taken in, so that what the fill left there last stays.
        let text = format!("ssd-cache({FAST}, {SLOW})?promote_reads=never");
        let mut one = session(&text);
        fill(&mut one, set);
        let found = iops(&run(&mut one, random(100, 4 * KIB, 1), set, seconds(60.0)));
        let alone = |text: &str, set: u64| {
            let mut one = session(text);
            fill(&mut one, set);
            iops(&run(&mut one, random(100, 4 * KIB, 1), set, seconds(60.0)))
        };
        let (x1, x2) = (alone(FAST, 256 * MIB), alone(SLOW, set - 256 * MIB));
        let h = 1.0 / share as f64;
        let truth = 1.0 / (h / x1 + (1.0 - h) / x2);
        assert_within(&format!("1/{share}"), found, truth, 3.0);
    }
}

#[test]
fn what_is_written_through_is_the_slow_devices_own_pace() {
    for stream in [
        random(0, 4 * KIB, 1),
        random(0, 64 * KIB, 8),
        in_order(0, 256 * KIB, 4),
    ] {
        let total = bytes(u64::from(stream.block_size_bytes) * 300);
        let mut alone = session(SLOW);
        let mut cached = session(&format!("ssd-cache({FAST}, {SLOW})"));
        let alone = run(&mut alone, stream.clone(), GIB, total);
        let through = run(&mut cached, stream.clone(), GIB, total);
        assert_eq!(through.elapsed_ns, alone.elapsed_ns, "{stream:?}");
    }
}

/// `source` MB/s of 64 KiB writes that never meet a chunk twice, in order or not.
fn source(is_ordered: bool, mb_per_second: f64) -> StreamPlan {
    let access = if is_ordered {
        Access::Sequential { cursor_bytes: 0 }
    } else {
        Access::Shuffled {
            key: 7,
            cursor_bytes: 0,
        }
    };
    let rate = (mb_per_second > 0.0).then(|| Rate {
        ios_per_second: mb_per_second * 1e6 / (64 * KIB) as f64,
        schedule: Schedule::Fixed,
    });
    StreamPlan {
        access,
        rate,
        ..random(0, 64 * KIB, 4)
    }
}

#[test]
fn the_dirty_limit_is_met_where_the_fluid_says_and_then_the_drain_sets_the_pace() {
    for (lambda, mu) in [(100.0, 10.0), (100.0, 50.0), (40.0, 8.0)] {
        for is_ordered in [true, false] {
            let mut one = session(&format!(
                "ssd-cache({FAST}, {LIKE_FAST})?mode=write-back&dirty_limit=128MiB\
                 &drain_mb_per_second={mu}&drain_size=64KiB"
            ));
            let truth = (128 * MIB) as f64 * lambda / (lambda - mu);
            let part = |share: f64| bytes((truth * share) as u64 / (64 * KIB) * 64 * KIB);
            let stream = source(is_ordered, lambda);
            run(&mut one, stream.clone(), 4 * GIB, part(0.99));
            assert_eq!(count(&one, "stalled_writes"), 0, "{lambda} against {mu}");
            let rest = in_order_from(&stream, part(0.99));
            run(&mut one, rest, 4 * GIB, part(0.02));
            assert!(count(&one, "stalled_writes") > 0, "{lambda} against {mu}");
            let rest = in_order_from(&source(is_ordered, 0.0), part(1.01));
            let after = run(&mut one, rest, 4 * GIB, seconds(20.0));
            assert_within("after the cliff", mb_per_second(&after), mu, 1.0);
        }
    }
}

/// `stream` from where `done` has brought it.
fn in_order_from(stream: &StreamPlan, done: Bound) -> StreamPlan {
    let Bound::Bytes { total_bytes } = done else {
        panic!("a bound of bytes")
    };
    let access = match stream.access {
        Access::Shuffled { key, .. } => Access::Shuffled {
            key,
            cursor_bytes: total_bytes,
        },
        _ => Access::Sequential {
            cursor_bytes: total_bytes,
        },
    };
    StreamPlan {
        access,
        ..stream.clone()
    }
}

#[test]
fn everything_dirty_reaches_the_slow_device_once_and_then_nothing_is_dirty() {
    let mut one = session(&format!("ssd-cache({FAST}, {SLOW})?mode=write-back"));
    let writes = source(false, 0.0);
    run(&mut one, writes, GIB, bytes(60 * MIB));
    assert!(count(&one, "dirty_bytes") > 30 * MIB);
    one.idle(100 * SECOND);
    assert_eq!(count(&one, "dirty_bytes"), 0);
    assert_eq!(count(&one, "drained_bytes"), 60 * MIB);
    let slow = match one.device() {
        Node::SsdCache(cache) => cache.parts()[1].health(),
        other => panic!("{other:?} is no cache"),
    };
    assert_eq!(slow.host_writes_bytes, 60 * MIB);
    assert_eq!(slow.host_reads_bytes, 0);
}

#[test]
fn neighbours_are_drained_together() {
    for (size, ios) in [("64KiB", 512), ("1MiB", 32)] {
        let mut one = session(&format!(
            "ssd-cache({FAST}, {SLOW})?mode=write-back&drain_from=32MiB&drain_size={size}"
        ));
        fill(&mut one, 32 * MIB);
        assert_eq!(count(&one, "drain_ios"), 0, "nothing above what may stay");
        fill(&mut one, 64 * MIB);
        one.idle(100 * SECOND);
        assert_eq!(count(&one, "dirty_bytes"), 32 * MIB);
        let found = count(&one, "drain_ios");
        assert!((ios..=ios + 4).contains(&found), "{size}: {found} drains");
    }
}

#[test]
fn a_long_run_passes_by_and_what_lies_there_already_is_used() {
    let text = format!("ssd-cache({FAST}, {SLOW})?mode=write-back&bypass=1MiB");
    let mut one = session(&text);
    run(&mut one, in_order(0, 256 * KIB, 1), GIB, bytes(32 * MIB));
    assert_eq!(count(&one, "around_bytes"), 31 * MIB);
    let before = count(&one, "promotions");
    run(&mut one, in_order(100, 256 * KIB, 1), GIB, bytes(32 * MIB));
    assert_eq!(count(&one, "promotions"), before);
    run(&mut one, random(0, 4 * KIB, 1), GIB, bytes(4 * KIB * 100));
    assert!(count(&one, "promotions") > before + 90);
}

#[test]
fn reads_of_a_chunk_that_is_on_its_way_wait_for_it() {
    let mut one = session(&format!("ssd-cache({FAST}, {SLOW})"));
    run(&mut one, in_order(100, 4 * KIB, 16), GIB, bytes(MIB));
    assert_eq!(count(&one, "promotions"), 16);
    assert_eq!(count(&one, "fetched_bytes"), MIB);
}

#[test]
fn a_write_of_a_part_makes_no_read_and_the_rest_is_fetched_when_it_is_read() {
    let mut one = session(&format!(
        "ssd-cache({FAST}, {SLOW})?mode=write-back&drain_from=100MiB"
    ));
    run(&mut one, in_order(0, 4 * KIB, 1), GIB, bytes(4 * KIB));
    assert_eq!(count(&one, "fetched_bytes"), 0);
    run(&mut one, in_order(100, 4 * KIB, 1), GIB, bytes(4 * KIB));
    assert_eq!(hits(&one), (1, 0));
    run(&mut one, in_order(100, 64 * KIB, 1), GIB, bytes(64 * KIB));
    assert_eq!(count(&one, "fetched_bytes"), 60 * KIB);
    run(&mut one, in_order(100, 64 * KIB, 1), GIB, bytes(64 * KIB));
    assert_eq!(hits(&one), (2, 1));
}

#[test]
fn what_is_dirty_outlives_a_power_cut() {
    let mut cache = open(&format!("ssd-cache({FAST}, {SLOW})?mode=write-back")).expect("a cache");
    let end = cache.serve(Op::Write, 0, 65_536, 0);
    assert_eq!(cache.power_cut(end.done_ns), 0);
    let counts = cache.counts();
    let dirty = counts.iter().find(|(name, _)| name == "dirty_bytes");
    assert_eq!(dirty.expect("it is counted").1, 65_536);
}

#[test]
fn a_cache_of_one_chunk_and_one_larger_than_its_device_work() {
    for settings in [
        "?mode=write-back&size=64KiB",
        "?size=64KiB",
        "?mode=write-back",
    ] {
        for (fast, slow) in [(FAST, SLOW), (LIKE_FAST, FAST)] {
            let mut one = session(&format!("ssd-cache({fast}, {slow}){settings}"));
            for (read_percent, block) in [(50, 4 * KIB), (0, MIB), (100, 512)] {
                run(
                    &mut one,
                    random(read_percent, block, 8),
                    256 * MIB,
                    seconds(5.0),
                );
            }
            run(&mut one, in_order(0, 96 * KIB, 4), 100 * MIB, seconds(5.0));
        }
    }
}

#[test]
fn a_purge_leaves_nothing_and_a_discard_only_what_is_whole() {
    let mut one = session(&format!("ssd-cache({FAST}, {LIKE_FAST})?mode=write-back"));
    fill(&mut one, 64 * MIB);
    one.purge();
    assert_eq!(count(&one, "dirty_bytes"), 0);
    run(&mut one, random(100, 4 * KIB, 1), 64 * MIB, bytes(4 * KIB));
    assert_eq!(hits(&one), (0, 1));
    fill(&mut one, 64 * MIB);
    let discards = StreamPlan {
        discard_percent: 100,
        ..in_order(0, MIB, 1)
    };
    run(&mut one, discards, 64 * MIB, bytes(64 * MIB));
    assert_eq!(count(&one, "dirty_bytes"), 0);
}

#[test]
fn a_cache_repeats_itself_and_its_fork_goes_the_same_way() {
    for text in [
        format!("ssd-cache({FAST}, {SLOW})?mode=write-back&dirty_limit=8MiB"),
        format!("ssd-cache({FAST}, raid5(4×hdd-7200))?promote_reads=second&bypass=1MiB"),
    ] {
        let mixed = || StreamPlan {
            threads: 2,
            ..random(60, 16 * KIB, 4)
        };
        let mut first = session(&text);
        run(&mut first, mixed(), GIB, seconds(5.0));
        let mut fork = first.fork();
        let mut again = session(&text);
        run(&mut again, mixed(), GIB, seconds(5.0));
        for one in [&mut first, &mut fork, &mut again] {
            run(one, mixed(), GIB, seconds(5.0));
            one.idle(SECOND);
        }
        assert_eq!(first.device().digest(), fork.device().digest(), "{text}");
        assert_eq!(first.device().digest(), again.device().digest(), "{text}");
    }
}

#[test]
fn many_in_flight_are_as_fast_as_the_device_that_is_the_bottleneck_lets_them() {
    // Half hits; each miss is one fill: h + f = 1 access of the fast device an I/O.
    let (set, h) = (512 * MIB, 0.5);
    // So much spare flash that where a write goes costs it nothing.
    let fast = &format!("{FAST}&op_percent=500");
    let reads = random(100, 64 * KIB, 64);
    let warm = |slow: &str, time: f64| {
        let mut one = session(&format!("ssd-cache({fast}, {slow})"));
        run(&mut one, reads.clone(), set, bytes(768 * MIB));
        iops(&run(&mut one, reads.clone(), set, seconds(time)))
    };
    let mut alone = session(SLOW);
    let x2 = iops(&run(&mut alone, reads.clone(), set, seconds(30.0)));
    assert_within("the slow one", warm(SLOW, 60.0), x2 / (1.0 - h), 3.0);
    // With a slow device that is faster than the fast one, fills are what holds it up.
    let mut alone = session(fast);
    let mixed = random(50, 64 * KIB, 64);
    run(&mut alone, mixed.clone(), 256 * MIB, bytes(768 * MIB));
    let x1 = iops(&run(&mut alone, mixed, 256 * MIB, seconds(3.0)));
    let array = "raid0(8×s3700?nominal_capacity=1GiB&scale=1)";
    assert_within("the fast one", warm(array, 3.0), x1, 3.0);
}

/// MB/s of each second of the full-size device while `gigabytes` are copied onto it at `source`
/// MB/s, in pieces of 1 MiB.
fn copied(text: &str, source: f64, gigabytes: u64) -> Vec<(f64, f64)> {
    let mut one = session(text);
    let scale = one.facts().scale();
    let step = (1e9 / scale) as u64 / MIB * MIB;
    let rate = Some(Rate {
        ios_per_second: source * 1e6 / MIB as f64,
        schedule: Schedule::Fixed,
    });
    (0..gigabytes)
        .map(|at| {
            let piece = StreamPlan {
                rate,
                ..in_order(0, MIB, 4)
            };
            let lap = run_in(&mut one, piece, at * step, step, bytes(step));
            let done = (at + 1) as f64 * step as f64 * scale / 1e9;
            (done, mb_per_second(&lap))
        })
        .collect()
}

#[test]
fn the_published_copy_breaks_at_thirty_gigabytes_to_ten_megabytes_a_second() {
    for scale in ["", "?scale=120"] {
        let rates = copied(&format!("isrt-maximised{scale}"), 110.0, 45);
        let cliff = rates.iter().find(|(_, rate)| *rate < 50.0);
        let &(at, _) = cliff.expect("a cliff");
        let after = rates.iter().filter(|(done, _)| *done > at + 2.0);
        let after: Vec<f64> = after.map(|(_, rate)| *rate).collect();
        let mean = after.iter().sum::<f64>() / after.len() as f64;
        println!("{scale}: the cliff is at {at:.1} GB, {mean:.1} MB/s from there on");
        // A scaled piece is whole MiB, so the thirtieth may end a little before 30 GB.
        assert!((29.8..32.0).contains(&at));
        assert_within("after the cliff", mean, 10.0, 20.0);
        let off = copied("raid5-4x2tb?scale=30", 110.0, 5);
        assert!(off.iter().all(|(_, rate)| *rate > 5.0 * mean), "{off:?}");
    }
    let through = copied("isrt-enhanced", 110.0, 45);
    assert!(through.iter().all(|(_, rate)| *rate > 50.0));
}

/// Ends of random I/Os, of a device that is stepped by `step_to`, and its state afterwards.
fn stepped(
    text: &str,
    mut step_to: impl FnMut(&mut Node, u64, &mut Vec<Ended>) -> u64,
) -> (Vec<Ended>, Vec<u64>, u64) {
    let mut device = open(text).unwrap();
    let (mut ended, mut times_ns) = (Vec::new(), Vec::new());
    let mut state = 1_u64;
    for ticket in 0..4_000_u64 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let op = [Op::Read, Op::Write, Op::Write, Op::Discard][(state >> 62) as usize];
        let offset_bytes = (state >> 40) % 30_000 * 4096;
        let at_ns = ticket * 100_000;
        while device.next_ns() < at_ns {
            let before = ended.len();
            let last_ns = step_to(&mut device, at_ns, &mut ended);
            times_ns.extend((before..ended.len()).map(|_| last_ns));
        }
        ended.extend(
            device
                .submit(ticket, op, offset_bytes, 8192, at_ns)
                .map(|outcome| Ended { ticket, outcome }),
        );
        times_ns.resize(ended.len(), 0);
    }
    (ended, times_ns, device.digest())
}

#[test]
fn steps_together_are_those_one_by_one() {
    for mode in ["write-back", "write-through"] {
        let text = format!("ssd-cache({FAST}, {LIKE_FAST})?mode={mode}");
        let one_by_one = stepped(&text, |device, _, ended| {
            let at_ns = device.next_ns();
            device.step(ended);
            at_ns
        });
        for pause_ns in [0, 50_000, u64::MAX] {
            let together = stepped(&text, |device, until_ns, ended| {
                device.step_on(until_ns, pause_ns, ended)
            });
            assert_eq!(together, one_by_one, "{text}");
        }
    }
}
