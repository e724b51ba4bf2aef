//! The presets against the numbers their labels name.

use crate::common::assert_within;
use crate::lab::{
    bytes, capacity_bytes, iops, mb_per_second, random, run, sequential, session, Load, KIB,
};

/// Preset; IOPS of 4 KiB at random, read and in steady state written; MB/s of 128 KiB in sequence,
/// read and written; how near the steady state comes, percent.
const DATA_SHEETS: [(&str, [f64; 2], [f64; 2], f64); 5] = [
    ("s3700-100", [75_000.0, 19_000.0], [500.0, 200.0], 3.0),
    ("s3700", [75_000.0, 32_000.0], [500.0, 365.0], 3.0),
    (
        "s3700-400?scale=60",
        [75_000.0, 36_000.0],
        [500.0, 460.0],
        3.0,
    ),
    (
        "s3700-800?scale=120",
        [75_000.0, 36_000.0],
        [500.0, 460.0],
        3.0,
    ),
    ("s3500", [75_000.0, 7_500.0], [500.0, 260.0], 4.0),
];

#[test]
fn the_enterprise_drives_meet_their_data_sheets() {
    for (name, [reads, writes], [mb_read, mb_written], percent) in DATA_SHEETS {
        let mut drive = session(name);
        let capacity = bytes(capacity_bytes(&drive));
        let rate = mb_per_second(&run(&mut drive, sequential(0, 128 * KIB, 8), capacity));
        assert_within(&format!("{name}: MB/s written"), rate, mb_written, 3.0);
        let rate = mb_per_second(&run(&mut drive, sequential(100, 128 * KIB, 8), capacity));
        assert_within(&format!("{name}: MB/s read"), rate, mb_read, 3.0);
        let lap = run(&mut drive, random(100, 4 * KIB, 32), bytes(1 << 30));
        assert_within(&format!("{name}: reads/s"), iops(&lap), reads, 2.0);
        let mut written = |seed| {
            let load = Load {
                seed,
                ..random(0, 4 * KIB, 32)
            };
            iops(&run(&mut drive, load, capacity))
        };
        let rate = (1..=4).map(&mut written).last().expect("the fourth");
        assert_within(&format!("{name}: writes/s, steady"), rate, writes, percent);
    }
}

#[test]
fn the_nvme_drive_reads_and_writes_what_its_kind_is_said_to() {
    let mut drive = session("nvme-2tb?scale=480&pages_per_block=64");
    let capacity = bytes(capacity_bytes(&drive));
    let rate = mb_per_second(&run(&mut drive, sequential(0, 128 * KIB, 32), capacity));
    assert_within("MB/s written", rate, 3_000.0, 3.0);
    let rate = mb_per_second(&run(&mut drive, sequential(100, 128 * KIB, 32), capacity));
    assert_within("MB/s read", rate, 3_000.0, 3.0);
    let lap = run(&mut drive, random(100, 4 * KIB, 128), bytes(1 << 30));
    assert_within("reads/s", iops(&lap), 450_000.0, 3.0);
}

#[test]
fn the_second_slc_drive_falls_to_its_published_sequential_rate() {
    let mut drive = session("slc-b?scale=120");
    let capacity = bytes(capacity_bytes(&drive));
    let mut rate = || mb_per_second(&run(&mut drive, sequential(0, 128 * KIB, 8), capacity));
    assert_within("MB/s fresh", rate(), 346.2, 3.0);
    rate();
    assert_within("MB/s steady", rate(), 247.8, 3.0);
}

#[test]
fn the_small_compressing_drive_writes_ten_megabytes_a_second_at_random_in_the_end() {
    let mut drive = session("sp900");
    let capacity = bytes(capacity_bytes(&drive));
    let mut rate = |seed| {
        let load = Load {
            seed,
            ..random(0, 4 * KIB, 8)
        };
        mb_per_second(&run(&mut drive, load, capacity))
    };
    let rates: Vec<f64> = (1..=6).map(&mut rate).collect();
    assert_within("MB/s", rates[5], 10.0, 10.0);
}
