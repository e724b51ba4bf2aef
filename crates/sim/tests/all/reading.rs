//! What a read waits for beside the page, against the closed form of each: codewords on their way,
//! further pages, what was read ahead. And flushes that share the drive with nothing.

use crate::common::{assert_within, closed_loop, device, fill_device, random_writes, Random};
use teijo_engine::request::Op;
use teijo_sim::device::Device;
use teijo_sim::flash::Ssd;

const DRIVE: &str = "slc-a?capacity=256MiB&jitter_percent=0&turnaround_us=0&placement=turn";
const SECOND: u64 = 1_000_000_000;

/// A full drive at rest, and when that is.
fn full(more: &str) -> (Ssd, u64) {
    let mut drive = device(&format!("{DRIVE}{more}"));
    let at_ns = fill_device(&mut drive, 0) + SECOND;
    (drive, at_ns)
}

/// Latency of one read of a full drive at rest, ns.
fn read_ns(more: &str, offset_bytes: u64, length_bytes: u32) -> u64 {
    let (mut drive, at_ns) = full(more);
    let done_ns = drive
        .serve(Op::Read, offset_bytes, length_bytes, at_ns)
        .done_ns;
    done_ns - at_ns
}

#[test]
fn a_read_waits_for_the_codewords_that_it_touches() {
    let later_us = |offset_bytes, length_bytes| {
        let with = read_ns("&transfer_us=7&codeword=1KiB", offset_bytes, length_bytes);
        (with - read_ns("", offset_bytes, length_bytes)) / 1000
    };
    for (offset_bytes, length_bytes, codewords) in [
        (0, 512, 1),
        (512, 512, 1),
        (512, 1024, 2),
        (1024, 1024, 1),
        (4096, 4096, 4),
        (3584, 512, 1),
        // Of two units, on two dies at once.
        (3584, 1024, 1),
        (0, 8192, 4),
        (0, 65_536, 4),
    ] {
        let later = later_us(offset_bytes, length_bytes);
        assert_eq!(later, 7 * codewords, "{length_bytes} B at {offset_bytes}");
    }
    // Unless said, a codeword is the whole unit.
    let whole = read_ns("&transfer_us=7", 0, 512) - read_ns("", 0, 512);
    assert_eq!(whole, 7_000);
}

#[test]
fn the_codewords_of_one_page_come_one_after_another() {
    let page = "&page=16KiB&link_mb_per_second=1000000&bus_mb_per_second=1000000";
    let with = format!("{page}&transfer_us=7&codeword=2KiB");
    for (length_bytes, codewords) in [(4096, 2), (8192, 4), (16_384, 8), (65_536, 8)] {
        let later = read_ns(&with, 0, length_bytes) - read_ns(page, 0, length_bytes);
        let due_ns: u64 = 7_000 * codewords;
        // A link of 10^12 B/s takes 4 ns a unit.
        assert!(later.abs_diff(due_ns) < 70, "{length_bytes} B: {later}");
    }
}

#[test]
fn each_further_page_of_a_read_takes_its_time() {
    for (page, more) in [("", 15), ("&page=8KiB", 7), ("&page=64KiB", 0)] {
        let with = format!("{page}&read_unit_us=11");
        let later = read_ns(&with, 0, 65_536) - read_ns(page, 0, 65_536);
        assert_eq!(later, 11_000 * more, "{page}");
        assert_eq!(read_ns(&with, 0, 4096), read_ns(page, 0, 4096));
    }
}

#[test]
fn writing_and_cleaning_have_no_part_in_it() {
    let written = |more: &str| {
        let (mut drive, at_ns) = full(more);
        let units = drive.capacity_bytes() / 4096;
        let lap = random_writes(&mut drive, at_ns, 32, 3 * units, 4096, &mut Random(1));
        (lap.latency_ns, drive.health())
    };
    let with = "&transfer_us=50&codeword=512&read_unit_us=40&read_ahead=1MiB";
    assert_eq!(written(with), written(""));
}

/// Mean time of a read of 4 KiB in a long sequence, one in flight, ns; and pages read of flash.
fn sequence(more: &str) -> (f64, u64) {
    const READS: u64 = 4_000;
    let (mut drive, mut at_ns) = full(more);
    let mut middle_ns = 0;
    let before = drive.health();
    for index in 0..READS {
        if index == READS / 2 {
            middle_ns = at_ns;
        }
        at_ns = drive.serve(Op::Read, index * 4096, 4096, at_ns).done_ns;
    }
    let pages = drive.health().since(&before).nand_reads_bytes / 4096;
    ((at_ns - middle_ns) as f64 / (READS / 2) as f64, pages)
}

#[test]
fn a_sequence_takes_what_flash_takes_shared_by_what_is_read_ahead() {
    // What a read takes without flash, and flash without the rest: a page and its codeword.
    let flash_ns = 100_000.0 + 60_000.0;
    let timed = "&read_us=100&transfer_us=60";
    let whole_ns = read_ns(timed, 0, 4096) as f64;
    let bare_ns = whole_ns - flash_ns;
    assert!((sequence(timed).0 - whole_ns).abs() < 1.0);
    for window in [1_u32, 2, 3, 8, 64] {
        let more = format!("{timed}&read_ahead={}", window * 4096);
        let (found_ns, pages) = sequence(&more);
        let shared_ns = (bare_ns + flash_ns) / f64::from(window + 1);
        let due_ns = shared_ns.max(bare_ns);
        assert_within(&format!("{window} units ahead, ns"), found_ns, due_ns, 0.1);
        assert!(
            (4_000..=4_000 + u64::from(window)).contains(&pages),
            "{pages}"
        );
    }
}

#[test]
fn a_page_of_several_units_is_read_ahead_once() {
    let (_, pages) = sequence("&page=16KiB&read_ahead=64KiB");
    // The first read of a sequence and the units behind it are of one page too.
    assert!(
        (4 * 1_000..4 * 1_010).contains(&pages),
        "{pages} units read"
    );
}

#[test]
fn what_no_sequence_asks_for_is_not_read_ahead() {
    let random_reads = |more: &str| {
        let (mut drive, at_ns) = full(more);
        let mut random = Random(3);
        let lap = closed_loop(&mut drive, at_ns, 8, 5_000, || {
            (Op::Read, random.below(60_000) / 2 * 8192, 4096)
        });
        (lap.latency_ns, drive.health().nand_reads_bytes)
    };
    assert_eq!(random_reads("&read_ahead=1MiB"), random_reads(""));
}

#[test]
fn what_was_written_since_is_read_from_flash_again() {
    let (mut drive, mut at_ns) = full("&read_ahead=64KiB");
    for index in 0..4 {
        at_ns = drive.serve(Op::Read, index * 4096, 4096, at_ns).done_ns;
    }
    drive.serve(Op::Write, 5 * 4096, 4096, at_ns);
    let at_ns = at_ns + SECOND;
    let ahead = drive.serve(Op::Read, 4 * 4096, 4096, at_ns).done_ns - at_ns;
    let at_ns = at_ns + SECOND;
    let anew = drive.serve(Op::Read, 5 * 4096, 4096, at_ns).done_ns - at_ns;
    assert_eq!(anew - ahead, 30_000, "a page of flash");
    let at_ns = at_ns + SECOND;
    let next = drive.serve(Op::Read, 6 * 4096, 4096, at_ns).done_ns - at_ns;
    assert_eq!(next, ahead);
}

#[test]
fn read_ahead_ends_with_the_drive_and_with_a_purge() {
    let (mut drive, mut at_ns) = full("&read_ahead=64KiB");
    let units = drive.capacity_bytes() / 4096;
    for unit in units - 4..units {
        at_ns = drive.serve(Op::Read, unit * 4096, 4096, at_ns).done_ns;
    }
    let counts = drive.counts();
    assert!(counts
        .iter()
        .all(|(name, _)| name != "unwritten_read_bytes"));
    let purged_ns = drive.purge(at_ns);
    drive.serve(Op::Read, 0, 8192, purged_ns);
    let counts = drive.counts();
    let unwritten = counts
        .iter()
        .find(|(name, _)| name == "unwritten_read_bytes");
    assert_eq!(unwritten.expect("counted").1, 8192);
}

/// Flushed writes a second of `jobs`, each of which writes 4 KiB, flushes, and begins anew.
fn flushed(more: &str, jobs: usize) -> f64 {
    const ROUNDS: u64 = 2_000;
    let (mut drive, start_ns) = full(&format!(
        "&power_loss_protection=on&flush_us=10&program_us=50{more}"
    ));
    // When each job goes on, and whether with a flush.
    let mut turns = vec![(start_ns, false); jobs];
    let mut done = 0;
    let mut offset_bytes = 0;
    loop {
        let next = (0..jobs).min_by_key(|job| turns[*job].0).expect("a job");
        let (at_ns, flushes) = turns[next];
        let done_ns = if flushes {
            done += 1;
            drive.serve(Op::Flush, 0, 0, at_ns).done_ns
        } else {
            offset_bytes += 4096;
            drive.serve(Op::Write, offset_bytes, 4096, at_ns).done_ns
        };
        turns[next] = (done_ns, !flushes);
        if done == ROUNDS * jobs as u64 {
            return done as f64 * 1e9 / (done_ns - start_ns) as f64;
        }
    }
}

#[test]
fn jobs_that_flush_alone_wait_for_the_writes_of_all() {
    // A write holds the front end for its command and its transfer, and takes 20 µs more to be
    // answered, as a flush does; n jobs write one after another, and flush together.
    let write_us = 1.33 + 4096.0 / 534.0;
    for jobs in [1, 2, 4, 8] {
        let round_us = jobs as f64 * write_us + 20.0 + 10.0 + 20.0;
        let due = jobs as f64 * 1e6 / round_us;
        assert_within(
            &format!("{jobs} jobs"),
            flushed("&flush_alone=on", jobs),
            due,
            0.5,
        );
    }
    // One job has nobody to wait for.
    let (on, off) = (flushed("&flush_alone=on", 1), flushed("", 1));
    assert_eq!(on.to_bits(), off.to_bits());
    assert!(flushed("", 2) > 1.9 * off, "side by side");
}

#[test]
fn nothing_begins_while_a_flush_is_alone() {
    let alone = "&power_loss_protection=on&flush_us=500&flush_alone=on";
    let (mut drive, at_ns) = full(alone);
    let read_ns = read_ns(alone, 0, 4096);
    let read = drive.serve(Op::Read, 0, 4096, at_ns).done_ns;
    let flush = drive.serve(Op::Flush, 0, 0, at_ns + 1_000).done_ns;
    assert_eq!(flush, read + 500_000 + 20_000, "it waits for the read");
    let joins = drive.serve(Op::Flush, 0, 0, at_ns + 2_000).done_ns;
    assert_eq!(joins, flush);
    let later = drive.serve(Op::Read, 1 << 20, 4096, at_ns + 3_000).done_ns;
    assert_eq!(later, flush - 20_000 + read_ns, "the read waits for it");
    let after = drive.serve(Op::Flush, 0, 0, later).done_ns;
    assert_eq!(after, later + 500_000 + 20_000);
}

/// Numbers of drives that have none of it, as they were before there was any; taken anew when, of
/// blocks with equally many valid units, the first by number came to be cleaned.
#[test]
fn what_is_off_is_as_it_was() {
    let story = |text: &str| {
        let mut drive = device(text);
        let units = drive.capacity_bytes() / 4096;
        let mut at_ns = fill_device(&mut drive, 0);
        let mut random = Random(5);
        let mut state = 0_u64;
        for block_size_bytes in [512, 4096, 8192, 65_536_u32] {
            let lap = closed_loop(&mut drive, at_ns, 8, 20_000, || {
                let op = if random.chance(0.6) {
                    Op::Read
                } else {
                    Op::Write
                };
                let offset_bytes = random.below(units - 32) * 4096;
                (op, offset_bytes, block_size_bytes)
            });
            at_ns = drive.serve(Op::Flush, 0, 0, lap.ended_ns).done_ns;
            for latency_ns in lap.latency_ns {
                state = state.rotate_left(5) ^ latency_ns;
            }
        }
        (state, drive.digest())
    };
    for (text, was) in WAS {
        assert_eq!(story(text), was, "{text}");
    }
}

const WAS: [(&str, (u64, u64)); 5] = [
    (
        "mlc-a?capacity=512MiB&pages_per_block=64",
        (0x54a8_121f_4b6b_13c3, 0x8629_861a_4df7_6af3),
    ),
    (
        "slc-a?capacity=512MiB&pages_per_block=64",
        (0xc632_b2e8_8ac0_68c1, 0x2ab7_7ee3_0778_5f3b),
    ),
    (
        "intel-530?capacity=512MiB&pages_per_block=64",
        (0x42a6_f75f_55fb_24d1, 0xb75e_4dae_519e_4b73),
    ),
    (
        "su800?capacity=512MiB&pages_per_block=64",
        (0xc17d_938d_1529_f731, 0xbb45_ddb6_4136_02e8),
    ),
    (
        "iodrive?capacity=512MiB&pages_per_block=64&unit_us=15&page=16KiB",
        (0x58b9_4e67_6e80_8c7c, 0xddee_c1ad_9294_7b66),
    ),
];
