//! Tiers against arithmetic: where chunks lie, what moves, and how fast a mix of two devices is.

mod common;
mod lab;
#[path = "common/laps.rs"]
mod laps;

use common::assert_within;
use lab::{iops, seconds, session, SECOND};
use laps::{count, fill, in_order, random, run, run_in, GIB, KIB, MIB};
use teijo_sim::compose::open;
use teijo_sim::device::Device;

const FAST: &str = "s3700?nominal_capacity=1GiB&scale=1";
/// One command at a time and nothing volatile: its rate is that of the arm.
const SLOW: &str = "hdd-7200?nominal_capacity=8GiB&write_cache=0&read_ahead=0&queue=1";

fn tier(settings: &str) -> String {
    format!("tier({FAST}, {SLOW})?migrate_every_s=0{settings}")
}

#[test]
fn its_capacity_is_that_of_both() {
    let both = open(&tier("")).expect("tiers");
    assert_eq!(both.capacity_bytes(), 9 * GIB);
    let facts = both.facts();
    assert_eq!(facts.model, "Simulated TIER(S3700, HDD-7200)");
    assert!(both.has_flash());
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
