//! Writes of a part of a physical sector: turns by a closed form, and a disk that was measured.

use crate::common::assert_within;
use teijo_engine::request::Op;
use teijo_sim::compose::open;
use teijo_sim::device::{serve_alone, Device};

const TURN_NS: u64 = 11_111_111;
const KIB: u64 = 1024;

/// When a write or read that comes first to a resting disk without a cache ends.
fn ends_ns(parameters: &str, op: Op, offset_bytes: u64, length_bytes: u32) -> u64 {
    let text = format!("hdd-5400?write_cache=0&read_ahead=0{parameters}");
    let mut disk = open(&text).expect("a disk");
    serve_alone(&mut disk, op, offset_bytes, length_bytes, 0).done_ns
}

#[test]
fn each_part_of_a_sector_costs_a_turn_and_each_piece_after_a_settling_arm_another() {
    for (offset_bytes, length_bytes, at_once, settling) in [
        (0, 4096, 0, 0),
        (8 * KIB, 1 << 20, 0, 0),
        (0, 512, 1, 1),
        (1024, 2048, 1, 1),
        (3584, 512, 1, 1),
        (512, 4096, 2, 3),
        (0, 4608, 1, 2),
        (3584, 4608, 1, 2),
        (512, 8192, 2, 4),
        (512, 1 << 20, 2, 4),
    ] {
        for (more, turns) in [("", at_once), ("&write_settle_us=500", settling)] {
            let [whole, sectors] = ["&sector=512", "&sector=4KiB"].map(|sector| {
                let parameters = format!("{sector}{more}");
                ends_ns(&parameters, Op::Write, offset_bytes, length_bytes)
            });
            assert_eq!(
                sectors - whole,
                turns * TURN_NS,
                "{length_bytes} B at {offset_bytes}{more}"
            );
        }
        let [whole, sectors] = ["&sector=512", "&sector=4KiB"]
            .map(|sector| ends_ns(sector, Op::Read, offset_bytes, length_bytes));
        assert_eq!(sectors, whole, "a read needs no more than what it asks for");
    }
}

#[test]
fn an_arm_that_settles_writes_few_of_the_places_that_pass_in_a_turn() {
    // 16 KiB pass in 0.149 ms: with 0.45 ms between two writes the fourth next one is reached.
    assert_within("s, aligned", every_fourth_s(0), 19.5, 8.0);
}

#[test]
fn half_a_kibibyte_off_each_write_takes_three_turns_and_more_as_it_was_measured() {
    for offset_bytes in [512, 1024, 2048] {
        let name = format!("s, {offset_bytes} B off");
        assert_within(&name, every_fourth_s(offset_bytes), 1_215.0, 25.0);
    }
}

/// Seconds of 32,768 writes of 4 KiB at every fourth place from `offset_bytes` on, one at a time.
fn every_fourth_s(offset_bytes: u64) -> f64 {
    let mut disk = open("wd20ears").expect("a disk");
    let mut at_ns = 0;
    for number in 0..32_768 {
        let offset_bytes = number * 16 * KIB + offset_bytes;
        at_ns = serve_alone(&mut disk, Op::Write, offset_bytes, 4096, at_ns).done_ns;
    }
    at_ns as f64 / 1e9
}

#[test]
fn the_sector_is_told_as_the_physical_block_and_only_a_power_of_two_is_one() {
    for (name, sector_bytes) in [("wd20ears", 4096), ("hdd-5400", 512)] {
        let disk = open(name).expect("a disk");
        assert_eq!(disk.facts().physical_block_bytes, sector_bytes);
    }
    for wrong in ["256", "3KiB", "128KiB"] {
        let error = open(&format!("hdd-5400?sector={wrong}"));
        assert!(error.is_err(), "{wrong}");
    }
}
