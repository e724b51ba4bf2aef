//! Work that a drive does in idle time gives way to the host: a read waits for one step of it.

use crate::common::{assert_within, device, fill_device, random_writes, Random};
use crate::lab::{bytes, capacity_bytes, fill, mean_ms, random, run, seconds, session, Load, KIB};
use teijo_engine::request::Op;
use teijo_sim::device::Device;
use teijo_sim::flash::Ssd;

const MS: u64 = 1_000_000;

/// Mean latency in µs of 4 KiB reads at random, one in flight, in each of `rounds` half seconds of
/// `text`, which was full and written over at random once a second before.
fn read_rounds(text: &str, rounds: u64) -> Vec<f64> {
    let mut drive = session(text);
    let capacity = capacity_bytes(&drive);
    fill(&mut drive, capacity);
    run(&mut drive, random(0, 4 * KIB, 8), bytes(capacity));
    // What is in the buffer is programmed before the rounds begin.
    run(&mut drive, random(100, 4 * KIB, 1), seconds(1.0));
    let mut round = |seed| {
        let load = Load {
            seed: 1 + seed,
            ..random(100, 4 * KIB, 1)
        };
        1e3 * mean_ms(&run(&mut drive, load, seconds(0.5)))
    };
    (1..=rounds).map(&mut round).collect()
}

#[test]
fn reads_of_the_default_drive_do_not_wait_for_what_it_cleans_ahead() {
    let alone = read_rounds("mlc-a?idle_pool_percent=0", 2)[1];
    let rounds = read_rounds("mlc-a", 8);
    println!("µs a read: {rounds:.1?}; without a pool {alone:.1}");
    assert!(rounds.iter().all(|mean| *mean < 1.1 * alone), "{rounds:?}");
}

/// A drive that cleans ahead whenever it is idle for 0.1 ms; a page is moved in 150 µs.
fn worn(more: &str) -> (Ssd, u64) {
    let mut drive = device(&format!(
        "mlc-a?capacity=256MiB&dies=4&pages_per_block=64&jitter_percent=0&program_us=100\
         &read_us=50&idle_pool_percent=5&idle_wait_us=100&read_wait_us=1000000&{more}"
    ));
    let units = drive.capacity_bytes() / 4096;
    let filled_ns = fill_device(&mut drive, 0);
    let written = random_writes(&mut drive, filled_ns, 8, units, 4096, &mut Random(1));
    (drive, written.ended_ns + 100 * MS)
}

/// The longest that one of `count` reads waits, µs: half a millisecond lies between each two. What
/// the small buffer held is programmed before the first, which pays for no change of direction.
fn longest_wait_us(more: &str, count: u64) -> u64 {
    let (mut drive, start_ns) = worn(&format!("{more}&buffer=64KiB&turnaround_us=0"));
    let units = drive.capacity_bytes() / 4096;
    let mut random = Random(2);
    let took = (0..count).map(|number| {
        let at_ns = start_ns + number * MS / 2;
        let outcome = drive.serve(Op::Read, random.below(units) * 4096, 4096, at_ns);
        (outcome.done_ns - at_ns) / 1000
    });
    let took: Vec<u64> = took.collect();
    took.iter().max().expect("reads") - took.iter().min().expect("reads")
}

#[test]
fn a_read_waits_for_one_page_that_is_moved_and_not_for_the_block() {
    let (page, block) = (
        longest_wait_us("idle_step=page", 2000),
        longest_wait_us("idle_step=block", 2000),
    );
    println!("µs a read waits at most: {page} for a page, {block} for a block");
    assert!((100..=150).contains(&page), "{page}");
    assert!(block > 1500, "{block}");
}

#[test]
fn a_read_waits_for_an_erase_until_it_is_suspended() {
    for suspend_us in [300, 5000] {
        let drive = format!("idle_step=page&erase_us=20000&erase_suspend_us={suspend_us}");
        let longest = longest_wait_us(&drive, 20_000);
        println!("suspended after {suspend_us} µs: {longest} µs");
        // Nine tenths: some read comes as the erase has just begun.
        assert!(
            (suspend_us * 9 / 10..=suspend_us).contains(&longest),
            "{longest}"
        );
    }
}

#[test]
fn an_undisturbed_drive_cleans_in_steps_what_it_cleans_in_blocks() {
    let [steps, blocks] = ["page", "block"].map(|step| {
        // No die is idle for a second while the drive is written: both are worn alike.
        let (mut drive, idle_ns) = worn(&format!("idle_step={step}&idle_wait_us=1000000"));
        drive.idle(idle_ns, idle_ns + 100_000 * MS);
        drive.ftl().check();
        (drive.ftl().free_blocks(), drive.health())
    });
    assert_eq!(steps, blocks);
    assert!(steps.0 > 4 * 10, "{} free blocks", steps.0);
}

#[test]
fn a_block_that_is_half_cleaned_is_gone_on_with_whatever_the_host_does_meanwhile() {
    for more in [
        "idle_step=page",
        "idle_step=page&frontier=shared",
        "idle_step=page&frontier=shared&gc=greedy&pacing=lump",
        "idle_step=page&page=16KiB",
        "idle_step=page&page=16KiB&frontier=shared",
        "idle_step=page&compression=on",
        "idle_step=page&compression=on&frontier=shared",
        "idle_step=page&placement=free",
    ] {
        let (mut drive, mut at_ns) = worn(more);
        let units = drive.capacity_bytes() / 4096;
        let mut random = Random(3);
        for number in 0..40_000 {
            let (offset, gap_us) = (random.below(units) * 4096, random.below(800));
            at_ns += if random.chance(0.9) {
                1000
            } else {
                1000 * gap_us
            };
            let op = match random.below(20) {
                0 => Op::Discard,
                1..5 => Op::Read,
                _ => Op::Write,
            };
            let outcome = drive.serve(op, offset, 4096, at_ns);
            at_ns = at_ns.max(outcome.done_ns);
            if number % 4000 == 0 {
                drive.ftl().check();
                drive.idle(at_ns, at_ns + MS);
                at_ns += MS;
                drive.ftl().check();
            }
        }
    }
}

#[test]
fn cleaning_in_steps_costs_no_rate() {
    let [steps, blocks] = ["page", "block"].map(|step| {
        let (mut drive, at_ns) = worn(&format!("idle_step={step}"));
        let units = drive.capacity_bytes() / 4096;
        random_writes(&mut drive, at_ns, 8, units, 4096, &mut Random(4)).iops()
    });
    assert_within("written at once after both, IOPS", steps, blocks, 2.0);
}
