//! Scale: with capacity and time divided by 4 and by 16, normalised results stay within 3 %.

use crate::common::assert_within;
use crate::lab::{
    bytes, capacity_bytes, iops, mb_per_second, mean_ms, random, run, run_within, seconds,
    sequential, session, Load, Session, KIB, MIB,
};

const LIMIT_PERCENT: f64 = 3.0;

/// `results` of the device at the scales 1, 4 and 16 times `scale`, which `text` has a place for.
fn agree(text: &str, scale: f64, results: impl Fn(&mut Session, f64) -> Vec<(String, f64)>) {
    let at = |factor: f64| {
        let text = text.replace("SCALE", &(scale * factor).to_string());
        results(&mut session(&text), factor)
    };
    let full = at(1.0);
    for factor in [4.0, 16.0] {
        for ((what, small), (_, large)) in at(factor).into_iter().zip(&full) {
            let what = format!("{text} over {factor}: {what}");
            assert_within(&what, small, *large, LIMIT_PERCENT);
        }
    }
}

fn writes(seed: u64, queue_depth: u32) -> Load {
    Load {
        seed,
        ..random(0, 4 * KIB, queue_depth)
    }
}

/// IOPS of each of five capacities written at random from fresh, and what the flash wrote for them.
fn saturation(session: &mut Session, _: f64) -> Vec<(String, f64)> {
    let capacity = bytes(capacity_bytes(session));
    let rates = (1..=5).map(|number| {
        let rate = iops(&run(session, writes(number, 32), capacity));
        (format!("capacity {number}"), rate)
    });
    let mut results: Vec<(String, f64)> = rates.collect();
    let health = session.health();
    let amplification = health.nand_writes_bytes as f64 / health.host_writes_bytes as f64;
    results.push(("write amplification".into(), amplification));
    results
}

/// IOPS of random reads and writes, and MB/s of large ones, for a time that shrinks as the capacity
/// does; then MB/s through a quarter of the device.
fn arm_and_platter(session: &mut Session, factor: f64) -> Vec<(String, f64)> {
    let mut results = Vec::new();
    for load in [
        random(100, 4 * KIB, 1),
        random(100, 4 * KIB, 32),
        random(0, 4 * KIB, 8),
        random(100, 6 * MIB, 2),
        random(0, 6 * MIB, 2),
    ] {
        let rate = iops(&run(session, load, seconds(800.0 / factor)));
        results.push((format!("{load:?}"), rate));
    }
    let quarter = bytes(capacity_bytes(session) / 4);
    let rate = mb_per_second(&run(session, sequential(100, 6 * MIB, 2), quarter));
    results.push(("sequential reads".into(), rate));
    results
}

#[test]
fn a_drive_falls_to_steady_state_alike_at_every_scale() {
    // A small buffer: it is no share of the capacity, and absorbs the same number of writes at all.
    let slc = "slc-a?scale=SCALE&pages_per_block=64&pacing=paced&dies=4&buffer=256KiB";
    agree(slc, 40.0, saturation);
    agree(
        "mlc-a?scale=SCALE&pages_per_block=64&dies=2",
        60.0,
        saturation,
    );
}

#[test]
fn a_disk_is_as_fast_at_every_scale() {
    agree("hdd-7200?write_cache=0&scale=SCALE", 1.0, arm_and_platter);
}

#[test]
fn an_array_is_as_fast_at_every_scale() {
    let disks = "raid5(4×hdd-7200?write_cache=0)?chunk=512KiB&scale=SCALE";
    agree(disks, 1.0, arm_and_platter);
    let drives = "raid0(2×slc-a?pages_per_block=64&pacing=paced&dies=4&buffer=256KiB)\
                  ?chunk=16KiB&scale=SCALE";
    agree(drives, 40.0, saturation);
}

/// Rates of writing three times the size of a cache of 20 GB at once, and of reading at random from
/// as much.
fn overflow(session: &mut Session, _: f64) -> Vec<(String, f64)> {
    let cache_bytes = 20e9 / session.facts().scale();
    let set_bytes = (cache_bytes * 3.0) as u64;
    let lap = run_within(
        session,
        sequential(0, 256 * KIB, 4),
        set_bytes,
        bytes(set_bytes),
    );
    let written = mb_per_second(&lap);
    session.idle((cache_bytes * 1e3 / 50.0) as u64);
    let reads = random(100, 16 * KIB, 8);
    run_within(session, reads, set_bytes, bytes(set_bytes));
    let again = Load { seed: 2, ..reads };
    let lap = run_within(session, again, set_bytes, bytes(set_bytes));
    vec![
        ("three times its size written, MB/s".into(), written),
        ("reads of three times its size, IOPS".into(), iops(&lap)),
        ("their mean latency, ms".into(), mean_ms(&lap)),
    ]
}

#[test]
fn a_cache_overflows_and_hits_alike_at_every_scale() {
    let text = "cache(s3700?pages_per_block=64)?size=20GB&read_cache=on&unit=16KiB\
                &drain_mb_per_second=50&scale=SCALE";
    agree(text, 30.0, overflow);
}
