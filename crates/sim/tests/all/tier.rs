//! Tiers against arithmetic: where chunks lie, what moves, and how fast a mix of two devices is.

use crate::common::assert_within;
use crate::common::laps::{count, fill, in_order, random, run, run_in, GIB, KIB, MIB};
use crate::lab::{bytes, iops, mb_per_second, seconds, session, Session, SECOND};
use teijo_engine::plan::StreamPlan;
use teijo_engine::request::Op;
use teijo_sim::compose::{open, Node};
use teijo_sim::device::{Device, Health};

const FAST: &str = "s3700?nominal_capacity=1GiB&scale=1";
/// One command at a time and nothing volatile: its rate is that of the arm.
const SLOW: &str = "hdd-7200?nominal_capacity=8GiB&write_cache=0&read_ahead=0&queue=1";
const ONE_CHUNK: &str = "hdd-7200?capacity=1MiB";
const LIKE_SLOW: &str = "hdd-7200?nominal_capacity=9GiB";

fn tier(settings: &str) -> String {
    format!("tier({FAST}, {SLOW})?migrate_every_s=0{settings}")
}

#[test]
fn its_capacity_is_that_of_both() {
    let both = open(&tier("")).expect("tiers");
    assert_eq!(both.capacity_bytes(), 9 * GIB);
    let facts = both.facts();
    assert_eq!(facts.model, "Simulated TIER(S3700, HDD-7200)");
    assert!(!both.is_flash());
    assert!(open("tier(s3700, s3700)").expect("tiers").is_flash());
}

#[test]
fn new_data_goes_to_the_fast_tier_while_there_is_room() {
    let mut one = session(&tier(""));
    fill(&mut one, GIB);
    assert_eq!(count(&one, "slow_parts"), 0);
    fill(&mut one, 3 * GIB);
    assert_eq!(count(&one, "fast_parts"), 2 * 1024);
    assert_eq!(count(&one, "slow_parts"), 2 * 1024);
    let mut other = session(&tier("&placement=slow"));
    fill(&mut other, 3 * GIB);
    assert_eq!(count(&other, "fast_parts"), 0);
}

#[test]
fn a_set_that_fits_is_as_fast_as_the_fast_device_alone() {
    for (stream, what) in [
        (random(100, 4 * KIB, 32), "random reads"),
        (random(100, 4 * KIB, 1), "one in flight"),
        (random(0, 4 * KIB, 32), "random writes"),
        (in_order(100, 256 * KIB, 8), "sequential reads"),
    ] {
        let (mut alone, mut both) = (session(FAST), session(&tier("")));
        let set = GIB / 2;
        fill(&mut alone, set);
        fill(&mut both, set);
        let alone = iops(&run(&mut alone, stream.clone(), set, seconds(2.0)));
        let both = iops(&run(&mut both, stream, set, seconds(2.0)));
        assert_within(what, both, alone, 0.1);
    }
}

#[test]
fn one_in_flight_is_slowed_by_the_share_of_each_tier() {
    let alone = |text: &str, set: u64| {
        let mut one = session(text);
        fill(&mut one, set);
        iops(&run(&mut one, random(100, 4 * KIB, 1), set, seconds(60.0)))
    };
    for set in [2, 4, 8] {
        let mut one = session(&tier(""));
        fill(&mut one, set * GIB);
        let found = iops(&run(
            &mut one,
            random(100, 4 * KIB, 1),
            set * GIB,
            seconds(60.0),
        ));
        let (x1, x2) = (alone(FAST, GIB), alone(SLOW, (set - 1) * GIB));
        let h = 1.0 / set as f64;
        let truth = 1.0 / (h / x1 + (1.0 - h) / x2);
        assert_within(&format!("{set} GiB"), found, truth, 3.0);
    }
}

#[test]
fn many_in_flight_are_as_fast_as_the_tier_that_is_the_bottleneck_lets_them() {
    let slow_alone = |set: u64| {
        let mut one = session(SLOW);
        iops(&run(&mut one, random(100, 4 * KIB, 64), set, seconds(60.0)))
    };
    for set in [2, 4, 8] {
        let mut one = session(&tier(""));
        fill(&mut one, set * GIB);
        let found = iops(&run(
            &mut one,
            random(100, 4 * KIB, 64),
            set * GIB,
            seconds(60.0),
        ));
        let h = 1.0 / set as f64;
        let truth = slow_alone((set - 1) * GIB) / (1.0 - h);
        assert_within(&format!("{set} GiB"), found, truth, 3.0);
    }
}

#[test]
fn a_migration_brings_the_hot_chunks_up_and_moves_no_more() {
    let mut one = session(&format!("tier({FAST}, {SLOW})?migrate_every_s=1000"));
    fill(&mut one, 4 * GIB);
    // The last eighth of the set is all that is asked for from now on.
    one.idle(1_000 * SECOND);
    let before = (count(&one, "promoted_chunks"), count(&one, "moved_bytes"));
    assert_eq!(before, (0, 0), "all were written once: nothing is hotter");
    let hot = |one: &mut _, time| {
        run_in(
            one,
            random(100, 4 * KIB, 4),
            7 * GIB / 2,
            GIB / 2,
            seconds(time),
        )
    };
    let cold = iops(&hot(&mut one, 50.0));
    one.idle(1_000 * SECOND);
    let warm = iops(&hot(&mut one, 5.0));
    println!("{cold:.0} before, {warm:.0} after");
    assert!(warm > 50.0 * cold);
    let moved = count(&one, "promoted_chunks");
    assert!((500..=512).contains(&moved), "{moved} of 512 chunks");
    assert_eq!(count(&one, "demoted_chunks"), moved);
    assert_eq!(count(&one, "moved_bytes"), 2 * moved * MIB);
}

#[test]
fn a_chunk_asked_for_often_enough_moves_up_at_once_and_the_one_used_longest_ago_down() {
    let mut one = session(&tier("&promote_at=3"));
    fill(&mut one, 2 * GIB);
    let of_chunk = |one: &mut Session, chunk: u64, times: u64| {
        let reads = random(100, 4 * KIB, 1);
        run_in(one, reads, chunk * MIB, MIB, bytes(times * 4 * KIB));
        one.idle(SECOND);
    };
    // It was asked for once when it was written.
    of_chunk(&mut one, 1500, 1);
    assert_eq!(count(&one, "promoted_chunks"), 0);
    of_chunk(&mut one, 1500, 1);
    assert_eq!(count(&one, "promoted_chunks"), 1);
    assert_eq!(count(&one, "demoted_chunks"), 1);
    let before = count(&one, "fast_parts");
    of_chunk(&mut one, 1500, 10);
    assert_eq!(count(&one, "fast_parts") - before, 10);
    of_chunk(&mut one, 0, 1);
    assert_eq!(
        count(&one, "fast_parts") - before,
        10,
        "the first went down"
    );
    of_chunk(&mut one, 1, 1);
    assert_eq!(count(&one, "fast_parts") - before, 11);
}

/// Bytes the two devices read and wrote.
fn of_parts(one: &Session) -> [(u64, u64); 2] {
    let Node::Tier(tier) = one.device() else {
        panic!("tiers")
    };
    let of = |health: Health| (health.host_reads_bytes, health.host_writes_bytes);
    tier.parts().map(|part| of(part.health()))
}

#[test]
fn a_move_costs_io_on_both_devices_and_the_host_its_own_and_no_more() {
    let mut one = session(&tier("&promote_at=2"));
    fill(&mut one, 2 * GIB);
    let before = of_parts(&one);
    let cells = random(100, 4 * KIB, 4);
    run_in(&mut one, cells, 3 * GIB / 2, 100 * MIB, seconds(2.0));
    one.idle(SECOND);
    let after = of_parts(&one);
    let moved = count(&one, "promoted_chunks") * MIB;
    assert!(moved > 5 * MIB);
    let [fast, slow] = [0, 1].map(|part| {
        let (before, after): ((u64, u64), (u64, u64)) = (before[part], after[part]);
        (after.0 - before.0, after.1 - before.1)
    });
    assert_eq!(fast.1, moved, "what went up");
    assert_eq!(slow.1, moved, "what went down");
    let asked = one.health().host_reads_bytes;
    assert_eq!(fast.0 + slow.0, 2 * moved + asked);
}

#[test]
fn while_chunks_move_the_host_is_slowed_and_afterwards_it_is_not() {
    let mut one = session(&format!("tier({FAST}, {SLOW})?migrate_every_s=100"));
    fill(&mut one, 4 * GIB);
    let (start, hot) = (3 * GIB, GIB / 4);
    let load = || random(100, 4 * KIB, 1);
    let rates: Vec<f64> = (0..30)
        .map(|_| iops(&run_in(&mut one, load(), start, hot, seconds(10.0))))
        .collect();
    println!("{rates:.0?}");
    let (first, last) = (rates[0], rates[29]);
    let slowest = rates.iter().copied().fold(f64::MAX, f64::min);
    assert!(last > 50.0 * first);
    assert!(slowest < 0.8 * first, "{slowest} against {first}");
    assert!(count(&one, "promoted_chunks") >= 256);
}

#[test]
fn tiers_of_one_chunk_and_a_fast_tier_that_is_the_larger_one_work() {
    for (fast, slow) in [
        (
            "s3700?nominal_capacity=256MiB&scale=1&pages_per_block=32",
            ONE_CHUNK,
        ),
        (ONE_CHUNK, "hdd-7200?capacity=256MiB"),
        (LIKE_SLOW, SLOW),
    ] {
        for settings in [
            "promote_at=1",
            "migrate_every_s=1",
            "placement=slow&promote_at=2",
        ] {
            let mut one = session(&format!("tier({fast}, {slow})?{settings}"));
            let set = 257 * MIB;
            for (read_percent, block) in [(50, 64 * KIB), (0, 3 * MIB / 2), (100, 512)] {
                run(&mut one, random(read_percent, block, 8), set, seconds(3.0));
            }
            one.idle(10 * SECOND);
            fill(&mut one, set);
        }
    }
}

#[test]
fn reads_of_what_was_never_written_reach_neither_device() {
    let mut one = session(&tier(""));
    run(&mut one, random(100, 4 * KIB, 8), 8 * GIB, seconds(0.1));
    assert_eq!(of_parts(&one), [(0, 0), (0, 0)]);
    fill(&mut one, 16 * MIB);
    one.purge();
    run(&mut one, random(100, 4 * KIB, 8), 16 * MIB, seconds(0.1));
    assert_eq!(of_parts(&one)[0].0, 0);
}

#[test]
fn what_was_never_written_is_read_at_the_pace_of_memory_however_many_ask() {
    for in_flight in [8, 64] {
        let mut one = session(&tier(""));
        let lap = run(&mut one, random(100, MIB, in_flight), 8 * GIB, seconds(0.1));
        assert_within(&format!("{in_flight}"), mb_per_second(&lap), 4_000.0, 2.0);
    }
    let alone = |size| {
        let mut one = session(&tier(""));
        1e9 / iops(&run(&mut one, random(100, size, 1), 8 * GIB, seconds(0.1)))
    };
    assert_within("ns of 4 KiB", alone(4 * KIB), 11_024.0, 1.0);
}

#[test]
fn tiers_repeat_themselves_and_their_fork_goes_the_same_way() {
    for settings in ["&promote_at=2", "&migrate_every_s=2&placement=slow"] {
        let text = format!("tier({FAST}, raid5(4×hdd-7200))?{}", &settings[1..]);
        let mixed = || StreamPlan {
            threads: 2,
            ..random(60, 16 * KIB, 4)
        };
        let mut first = session(&text);
        run(&mut first, mixed(), 2 * GIB, seconds(5.0));
        let mut fork = first.fork();
        let mut again = session(&text);
        run(&mut again, mixed(), 2 * GIB, seconds(5.0));
        for one in [&mut first, &mut fork, &mut again] {
            run(one, mixed(), 2 * GIB, seconds(5.0));
            one.idle(SECOND);
        }
        assert_eq!(first.device().digest(), fork.device().digest(), "{text}");
        assert_eq!(first.device().digest(), again.device().digest(), "{text}");
        assert!(count(&first, "promoted_chunks") > 0, "{text}");
    }
}

/// Bytes of a set that has `gigabytes` on the full-size device.
fn scaled(one: &Session, gigabytes: f64) -> u64 {
    (gigabytes * 1e9 / one.facts().scale()) as u64 / MIB * MIB
}

#[test]
fn the_published_stack_shows_what_was_published() {
    let rate = |text: &str, gigabytes: f64, load: StreamPlan| {
        let mut one = session(text);
        let set = scaled(&one, gigabytes);
        fill(&mut one, set);
        one.idle(SECOND);
        iops(&run(&mut one, load, set, seconds(0.5)))
    };
    let (fast, slow) = ("nvme-2tb?scale=30", "raid50-36?scale=30");
    let small = || random(100, 4 * KIB, 64);
    let fits = rate("windows-tier", 256.0, small());
    assert_within("256 GB", fits, rate(fast, 256.0, small()), 2.0);
    let beyond = rate("windows-tier", 8_000.0, small());
    println!("random 4 KiB: {fits:.0} of 256 GB, {beyond:.0} of 8 TB");
    assert!((30.0..300.0).contains(&(fits / beyond)));
    let large = || in_order(100, MIB, 64);
    let (both, array) = (
        rate("windows-tier", 256.0, large()),
        rate(slow, 256.0, large()),
    );
    println!("1 MiB in sequence: {both:.0} on tiers, {array:.0} on the array, a second");
    assert!(both * MIB as f64 > 2.9e9 && array * MIB as f64 > 5.0e9);
}

#[test]
fn tiers_scaled_down_by_four_behave_alike() {
    let rate = |scale: u32| {
        let mut one = session(&format!("windows-tier?scale={}", 15 * scale));
        let set = scaled(&one, 4_000.0);
        fill(&mut one, set);
        // The caches of the disks do not shrink with them, and are emptied first.
        one.idle(SECOND);
        iops(&run(&mut one, random(100, 64 * KIB, 16), set, seconds(1.0)))
    };
    assert_within("4 TB, random 64 KiB", rate(4), rate(1), 3.0);
}

#[test]
fn what_a_power_cut_would_take_is_told_where_the_host_wrote_it() {
    let fast = format!("cache({FAST})?size=64MiB&start_percent=100&stop_percent=100");
    for whole in [
        format!("tier({fast}, {SLOW})?migrate_every_s=0"),
        format!("ssd-cache({fast}, {SLOW})?mode=write-back&drain_from=1GiB"),
    ] {
        let mut device = open(&whole).expect("a device");
        let mut now_ns = 0;
        for offset in [700 * MIB, 5 * MIB, 700 * MIB + 8 * KIB] {
            now_ns = device.serve(Op::Write, offset, 4096, now_ns).done_ns;
        }
        let mut volatile = device.volatile(now_ns);
        volatile.sort_unstable();
        let told = [5 * MIB, 700 * MIB, 700 * MIB + 8 * KIB].map(|offset| (offset, 4096));
        assert_eq!(volatile, told, "{whole}");
        assert_eq!(device.power_cut(now_ns), 3 * 4096);
        assert_eq!(device.volatile(now_ns), []);
    }
}
