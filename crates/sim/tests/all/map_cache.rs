//! The part of the map at hand, against what uniform accesses make of it; and flushes and power
//! cuts with and without protection.

use crate::common::laps::{KIB, MIB};
use crate::common::{assert_within, device, fill_device, Random};
use teijo_engine::request::Op;
use teijo_sim::compose::open;
use teijo_sim::device::Device;
use teijo_sim::flash::Ssd;

const DRIVE: &str =
    "nvme-2tb?capacity=1GiB&dies=8&pages_per_block=64&jitter_percent=0&scale=1&turnaround_us=0";
const SECOND: u64 = 1_000_000_000;

fn full(more: &str) -> (Ssd, u64) {
    let text = DRIVE.replace("&scale=1", "");
    let mut drive = device(&format!("{text}&nominal_capacity=1GiB&{more}"));
    let full_ns = fill_device(&mut drive, 0) + SECOND;
    (drive, full_ns)
}

/// Mean latency in µs of 4 KiB reads at random over `range_bytes`, after a first look at them.
fn read_us(drive: &mut Ssd, start_ns: u64, range_bytes: u64) -> f64 {
    let mut at_ns = start_ns;
    let mut random = Random(3);
    let mut spent_ns = 0;
    for number in 0..60_000_u64 {
        let offset = random.below(range_bytes / 4096) * 4096;
        let done_ns = drive.serve(Op::Read, offset, 4096, at_ns).done_ns;
        if number >= 20_000 {
            spent_ns += done_ns - at_ns;
        }
        at_ns = done_ns;
    }
    spent_ns as f64 / 40_000.0 / 1e3
}

#[test]
fn reads_find_their_entries_as_often_as_the_map_at_hand_covers_of_the_range() {
    let (mut whole, at_ns) = full("");
    let usual_us = read_us(&mut whole, at_ns, 1 << 30);
    // 256 KiB of entries are 64 pages: they stand for 256 MiB.
    for (range_mib, hit) in [(128_u64, 1.0), (256, 1.0), (512, 0.5), (1024, 0.25)] {
        let (mut drive, at_ns) = full("map_cache=256KiB");
        let us = read_us(&mut drive, at_ns, range_mib << 20);
        // A page of the map is read as any other, before the page that is asked for.
        let wanted_us = usual_us + (1.0 - hit) * 60.0;
        assert_within(&format!("{range_mib} MiB"), us, wanted_us, 1.0);
    }
}

#[test]
fn memory_of_the_host_holds_more_of_the_map_at_the_price_of_a_look_into_it() {
    let (mut whole, at_ns) = full("");
    let usual_us = read_us(&mut whole, at_ns, 1 << 30);
    let (mut drive, at_ns) = full("map_cache=256KiB&host_memory=256KiB&host_memory_us=4");
    let us = read_us(&mut drive, at_ns, 1 << 30);
    // Of 1 GiB a quarter is at hand, a quarter in the host, and half on flash.
    assert_within("µs", us, usual_us + 0.25 * 4.0 + 0.5 * 60.0, 1.0);
}

#[test]
fn random_writes_write_a_page_of_the_map_as_often_as_it_is_not_at_hand() {
    let counts = |more: &str| {
        let (mut drive, mut at_ns) = full(more);
        let before = drive.health();
        let mut random = Random(3);
        for _ in 0..100_000 {
            let offset = random.below(1 << 18) * 4096;
            at_ns = drive.serve(Op::Write, offset, 4096, at_ns).done_ns;
        }
        drive.health().since(&before)
    };
    let (whole, part) = (counts(""), counts("map_cache=256KiB"));
    let more = (part.nand_writes_bytes - whole.nand_writes_bytes) / 4096;
    assert_within("pages written", more as f64, 0.75 * 100_000.0, 1.0);
    let more = (part.nand_reads_bytes - whole.nand_reads_bytes) / 4096;
    assert_within("pages read", more as f64, 0.75 * 100_000.0, 1.0);
}

#[test]
fn a_flush_waits_for_the_flash_unless_capacitors_stand_for_it() {
    let flushed = |more: &str| {
        let (mut drive, start_ns) = full(more);
        let mut at_ns = start_ns;
        for number in 0..1000 {
            at_ns = drive.serve(Op::Write, number * 4096, 4096, at_ns).done_ns;
            at_ns = drive.serve(Op::Flush, 0, 0, at_ns).done_ns;
        }
        (at_ns - start_ns) as f64 / 1e6
    };
    // 15 µs of acknowledgement each, 0.1 of the command, 1.37 of the link; 160 to program.
    let drained = flushed("");
    assert_within("drained, µs", drained, 160.0 + 15.0 + 0.1 + 1.365, 0.5);
    let protected = flushed("power_loss_protection=on&flush_us=7");
    assert_within(
        "protected, µs",
        protected,
        15.0 + 0.1 + 1.365 + 7.0 + 15.0,
        0.5,
    );
}

#[test]
fn a_power_cut_takes_what_is_in_the_buffer_and_nothing_that_was_flushed() {
    for (protection, lost_writes) in [("off", 3), ("on", 0)] {
        let (mut drive, mut at_ns) = full(&format!("power_loss_protection={protection}"));
        at_ns = drive.serve(Op::Write, 512 * MIB, 4096, at_ns).done_ns;
        at_ns = drive.serve(Op::Flush, 0, 0, at_ns).done_ns;
        for offset in [MIB, 2 * MIB, 2 * MIB + 64 * KIB + 512] {
            at_ns = drive.serve(Op::Write, offset, 512, at_ns).done_ns;
        }
        let mut told = drive.volatile(at_ns);
        told.sort_unstable();
        let lost = [MIB, 2 * MIB, 2 * MIB + 64 * KIB + 512].map(|offset| (offset, 512));
        assert_eq!(told, lost[..lost_writes]);
        assert_eq!(drive.volatile(at_ns + SECOND), [], "programmed by then");
        assert_eq!(drive.power_cut(at_ns), 512 * lost_writes as u64);
        assert_eq!(drive.volatile(at_ns), []);
        drive.ftl().check();
        let again_ns = drive.serve(Op::Write, MIB, 4096, at_ns).done_ns;
        assert!(again_ns < at_ns + SECOND);
    }
}

#[test]
fn what_is_gathered_for_a_page_is_lost_with_the_rest() {
    let (mut drive, at_ns) = full("page=16KiB&mapping=4KiB");
    let at_ns = drive.serve(Op::Write, 0, 4096, at_ns).done_ns;
    assert_eq!(drive.volatile(at_ns + SECOND), [(0, 4096)]);
    assert_eq!(drive.power_cut(at_ns + SECOND), 4096);
    drive.ftl().check();
}

#[test]
fn a_disk_and_an_array_of_disks_lose_what_is_in_their_caches_and_go_on() {
    // Whole stripes of three chunks, so that nothing has to be read for parity.
    const STRIPE: u64 = 48 * KIB;
    let written =
        [(170, 2), (2_100, 1), (18_000, 1)].map(|(at, count)| (at * STRIPE, count * STRIPE));
    for name in [
        "hdd-7200?capacity=1GiB",
        "raid0(3×hdd-7200?capacity=1GiB)?chunk=16KiB",
        "raid1(2×hdd-7200?capacity=1GiB)",
        "raid10(4×hdd-7200?capacity=1GiB)?chunk=16KiB",
        "raid5(4×hdd-7200?capacity=1GiB)?chunk=16KiB",
    ] {
        let mut device = open(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut at_ns = device.serve(Op::Write, 700 * MIB, 4096, 0).done_ns;
        at_ns = device.serve(Op::Flush, 0, 0, at_ns).done_ns;
        for (offset, length) in written {
            at_ns = device
                .serve(Op::Write, offset, length as u32, at_ns)
                .done_ns;
        }
        let mut bytes: Vec<u64> = device
            .volatile(at_ns)
            .into_iter()
            .flat_map(|(from, length)| (from / 512..(from + length) / 512).collect::<Vec<u64>>())
            .collect();
        bytes.sort_unstable();
        let all = written
            .iter()
            .flat_map(|(from, length)| from / 512..(from + length) / 512);
        assert_eq!(bytes, all.collect::<Vec<u64>>(), "{name}");
        assert!(device.power_cut(at_ns) >= 4 * STRIPE, "{name}");
        assert_eq!(device.volatile(at_ns), [], "{name}");
        let at_ns = device.serve(Op::Write, 0, 4096, at_ns).done_ns;
        let at_ns = device.serve(Op::Flush, 0, 0, at_ns).done_ns;
        assert_eq!(device.volatile(at_ns), [], "{name}");
    }
}
