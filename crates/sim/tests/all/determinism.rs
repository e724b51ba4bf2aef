//! The same bits: run again, beside another session on a thread of its own, after an interruption,
//! and in a fork. For every kind of device.

use std::sync::Barrier;
use std::thread;

use crate::lab::{bytes, plan, random, seconds, sequential, session, Load, Session, KIB, SECOND};
use teijo_engine::lap::Lap;
use teijo_engine::plan::{Content, Plan, Range};
use teijo_sim::device::{Device, Health};
use teijo_sim::session::Unobserved;

/// One of each kind, small.
const DEVICES: &[&str] = &[
    "mlc-a?capacity=512MiB&pages_per_block=64",
    "mlc-b?capacity=512MiB&pages_per_block=64&seed=3",
    "s3700?capacity=512MiB&dies=4&pages_per_block=64",
    "hdd-7200",
    "raid5(3×hdd-7200, hdd-5400)?chunk=16KiB",
    "raid6(6×hdd-7200)?failed=2+5",
    "raid10(4×slc-a?capacity=256MiB&pages_per_block=64)",
    "slc-a?capacity=512MiB&pages_per_block=64&slc_region=64MiB&idle_pool_percent=1",
    "sp900?capacity=512MiB&pages_per_block=64&page_times=exponential",
    "cache(raid5(4×hdd-7200)?chunk=64KiB)?size=32MiB",
    "host-cache(hdd-7200)?memory=64MiB",
    "ssd-cache(sp900?capacity=256MiB&pages_per_block=64, hdd-7200)?mode=write-back",
    "tier(slc-a?capacity=256MiB&pages_per_block=64, raid1(2×hdd-7200))",
];

/// What a story leaves: every lap in full, the state of the device, and its counts.
#[derive(Clone, Debug, PartialEq)]
struct Ending {
    laps: Vec<Lap>,
    digest: u64,
    health: Health,
    now_ns: u64,
}

const CHAPTERS: usize = 5;

/// One chapter: reads and writes of several sizes and threads, idle time, a purge.
fn chapter(session: &mut Session, number: usize, seed: u64) -> Lap {
    let range_bytes = 128 << 20;
    let (load, bound) = match number {
        0 => (sequential(0, 128 * KIB, 4), bytes(range_bytes)),
        1 => (random(0, 4 * KIB, 16), seconds(0.5)),
        2 => (random(70, 8 * KIB, 8), seconds(0.25)),
        3 => (random(50, 512, 2), seconds(0.25)),
        _ => (random(100, 64 * KIB, 4), seconds(0.25)),
    };
    let load = Load {
        threads: 1 + number as u32 % 3,
        seed: seed + number as u64,
        ..load
    };
    let lap = session.run(&plan(load, range_bytes, bound), &mut Unobserved);
    match number {
        1 => session.idle(SECOND / 3),
        3 => _ = session.purge(),
        _ => {}
    }
    lap.expect("a lap")
}

fn ending(session: &Session, laps: Vec<Lap>) -> Ending {
    Ending {
        laps,
        digest: session.device().digest(),
        health: session.health(),
        now_ns: session.now_ns(),
    }
}

fn story(text: &str, seed: u64) -> Ending {
    let mut session = session(text);
    let laps = (0..CHAPTERS).map(|number| chapter(&mut session, number, seed));
    let laps = laps.collect();
    ending(&session, laps)
}

/// Laps of all that a plain load may be: in order and at random, cut by segments, bounded by time
/// and by bytes, alone, with another stream beside it, and one after the other without a pause.
fn plain_laps(census: bool) -> Vec<Plan> {
    let mut plans = Vec::new();
    let range_bytes = 96 << 20;
    for (number, threads) in (0_u32..).zip([1, 2, 3, 1, 2, 3]) {
        for (bound, is_open) in [(seconds(0.06), false), (bytes(3 << 20), true)] {
            let read_percent = [0, 65, 100][number as usize % 3];
            let size_bytes = [4 * KIB, 512, 24 * KIB][number as usize / 2];
            let load = |load: Load| Load {
                threads,
                seed: 5 + u64::from(number),
                ..load
            };
            let at_random = load(random(read_percent, size_bytes, 5));
            let in_order = load(sequential(100 - read_percent, size_bytes, 1 + 3 * threads));
            let mut whole = plan(at_random, range_bytes, bound);
            whole
                .streams
                .extend(plan(in_order, range_bytes, bound).streams);
            if number == 1 {
                // What compresses tells one stream from the other.
                whole.streams[1].content = Content::Zero;
            }
            if number > 2 {
                whole.streams.remove(usize::from(number % 2 == 0));
            }
            for stream in &mut whole.streams {
                stream.census = census;
                let segment_bytes = u64::from(5 * size_bytes + 512);
                stream.range = Range {
                    segments: 3000,
                    segment_bytes,
                    stride_bytes: segment_bytes + 512,
                    ..stream.range
                };
            }
            for continues in [false, true] {
                let open_ended = is_open && !continues;
                let continues = is_open && continues;
                plans.push(Plan {
                    open_ended,
                    continues,
                    ..whole.clone()
                });
            }
        }
    }
    plans
}

#[test]
fn a_short_turn_does_what_the_general_turn_does() {
    for text in DEVICES {
        // Where blocks are counted besides, every turn is the general one.
        let [mut short, mut general] = [(); 2].map(|()| session(text));
        for (number, (one, other)) in plain_laps(false).iter().zip(plain_laps(true)).enumerate() {
            let lap = short.run(one, &mut Unobserved).expect("a lap");
            let mut expected = general.run(&other, &mut Unobserved).expect("a lap");
            for stream in &mut expected.streams {
                let counted = [&mut stream.read, &mut stream.write].map(|one| one.census.take());
                assert!(counted.iter().any(Option::is_some));
            }
            assert_eq!(lap, expected, "{text}: {number}");
        }
        assert_eq!(ending(&short, Vec::new()), ending(&general, Vec::new()));
    }
}

#[test]
fn a_run_again_is_the_same_bits_and_another_seed_is_not() {
    for text in DEVICES {
        let once = story(text, 1);
        assert_eq!(once, story(text, 1), "{text}");
        assert_ne!(once.digest, story(text, 100).digest, "{text}");
    }
}

#[test]
fn two_sessions_on_two_threads_are_what_they_are_one_after_the_other() {
    for text in DEVICES {
        let alone = [story(text, 1), story(text, 2)];
        let start = Barrier::new(2);
        let run = |seed| {
            start.wait();
            story(text, seed)
        };
        let together = thread::scope(|scope| {
            let other = scope.spawn(|| run(2));
            [run(1), other.join().expect("it ends")]
        });
        assert_eq!(together, alone, "{text}");
    }
}

#[test]
fn a_run_that_is_taken_up_again_ends_as_if_it_had_never_stopped() {
    // Taking up is running the recorded steps again and going on; wherever it had stopped.
    for text in DEVICES {
        let whole = story(text, 1);
        for stopped in 1..CHAPTERS {
            let mut first = session(text);
            for number in 0..stopped {
                chapter(&mut first, number, 1);
            }
            drop(first);
            let mut second = session(text);
            let mut laps = Vec::new();
            for number in 0..stopped {
                laps.push(chapter(&mut second, number, 1));
                assert_eq!(laps[number], whole.laps[number], "{text}: step {number}");
            }
            laps.extend((stopped..CHAPTERS).map(|number| chapter(&mut second, number, 1)));
            assert_eq!(ending(&second, laps), whole, "{text}");
        }
    }
}

#[test]
fn a_fork_ends_as_its_original_and_neither_touches_the_other() {
    for text in DEVICES {
        let whole = story(text, 1);
        for branch in 1..CHAPTERS {
            let mut trunk = session(text);
            let before = (0..branch).map(|number| chapter(&mut trunk, number, 1));
            let before: Vec<Lap> = before.collect();
            let mut fork = trunk.fork();
            // The fork goes another way first, in a fork of its own.
            let mut astray = fork.fork();
            chapter(&mut astray, 1, 77);
            for one in [&mut trunk, &mut fork] {
                let rest = (branch..CHAPTERS).map(|number| chapter(one, number, 1));
                let laps = before.iter().cloned().chain(rest).collect();
                assert_eq!(ending(one, laps), whole, "{text}: branched at {branch}");
            }
            assert_ne!(astray.device().digest(), whole.digest, "{text}");
        }
    }
}
