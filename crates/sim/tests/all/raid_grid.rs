//! Arrays of disks read and written in order: between one disk and the sum of the members, never
//! slower for a deeper queue or a larger block, and never slower for a disk's write cache.

use teijo_engine::plan::Bound;

use crate::common::laps::{in_order, run_in, GIB, KIB, MIB};
use crate::lab::{session, SECOND};

/// Each array with its members.
const ARRAYS: [(&str, u32); 7] = [
    ("raid0(2×hdd-7200)", 2),
    ("raid0(4×hdd-7200)", 4),
    ("raid1(2×hdd-7200)", 2),
    ("raid10(4×hdd-7200)", 4),
    ("raid5(3×hdd-7200)", 3),
    ("raid5(4×hdd-7200)", 4),
    ("raid6(6×hdd-7200)", 6),
];
const CHUNKS_KIB: [u64; 5] = [16, 64, 128, 256, 1_024];
const BLOCKS: [u64; 4] = [4 * KIB, 128 * KIB, MIB, 4 * MIB];
const DEPTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// How far a rate may lie below another one that it is not below: a lap is short, and what is in
/// flight at its edges counts wholly.
const SLACK: f64 = 0.95;

/// MB/s of `text`, read or written in order, once it flows.
fn rate(text: &str, read_percent: u8, block_size_bytes: u64, depth: u32, for_ns: u64) -> f64 {
    let mut one = session(text);
    let bound = Bound::Time {
        duration_ns: for_ns,
    };
    let laps = [0, GIB].map(|start_bytes| {
        let load = in_order(read_percent, block_size_bytes, depth);
        run_in(&mut one, load, start_bytes, 3 * GIB, bound)
    });
    let [_, lap] = &laps;
    let moved = lap.streams[0].read.bytes + lap.streams[0].write.bytes;
    moved as f64 * 1e3 / lap.elapsed_ns as f64
}

/// Reads of every block and depth, MB/s; a row a block, a column a depth.
fn reads(text: &str) -> Vec<Vec<f64>> {
    let row = |&block: &u64| {
        let for_ns = SECOND * if block < MIB { 1 } else { 3 } / 5;
        let cell = |&depth: &u32| rate(text, 100, block, depth, for_ns);
        DEPTHS.iter().map(cell).collect()
    };
    BLOCKS.iter().map(row).collect()
}

/// What is wrong with the cells of one array, beside those of one disk.
fn offenders(text: &str, members: u32, cells: &[Vec<f64>], disk: &[Vec<f64>]) -> Vec<String> {
    let mut found = Vec::new();
    for (row, block) in BLOCKS.iter().enumerate() {
        for (column, depth) in DEPTHS.iter().enumerate() {
            let (mb, alone) = (cells[row][column], disk[row][column]);
            let most = alone * f64::from(members);
            let shallower = cells[row][..column].iter().copied().fold(0.0, f64::max);
            let smaller = cells[..row].iter().map(|row| row[column]);
            let smaller = smaller.fold(0.0, f64::max);
            let mut fault = |what: &str, limit: f64| {
                let cell = format!("{text}, {} KiB, {depth} in flight", block / KIB);
                found.push(format!("{cell}: {mb:.1} MB/s, {what} {limit:.1}"));
            };
            if mb < SLACK * alone {
                fault("one disk has", alone);
            }
            if mb * SLACK > most {
                fault("all members have", most);
            }
            if mb < SLACK * shallower {
                fault("fewer in flight have", shallower);
            }
            if mb < SLACK * smaller {
                fault("smaller blocks have", smaller);
            }
        }
    }
    found
}

#[test]
fn reads_in_order_lie_between_one_disk_and_all_and_fall_with_no_depth_and_no_block() {
    let disk = reads("hdd-7200");
    let mut found = Vec::new();
    let mut cells = 0;
    for (array, members) in ARRAYS {
        for chunk in CHUNKS_KIB {
            let text = format!("{array}?chunk={chunk}KiB");
            let table = reads(&text);
            cells += table.iter().map(Vec::len).sum::<usize>();
            found.extend(offenders(&text, members, &table, &disk));
        }
    }
    assert_eq!(cells, 840);
    let count = found.len();
    assert!(
        found.is_empty(),
        "{count} of {cells}:\n{}",
        found.join("\n")
    );
}

#[test]
fn a_write_cache_of_the_disks_makes_no_array_slower() {
    let arrays = [
        ("raid0(4×hdd-7200?CACHE)?chunk=128KiB", 4),
        ("raid1(2×hdd-7200?CACHE)", 1),
        ("raid5(4×hdd-7200?CACHE)?chunk=64KiB", 3),
        ("raid5(4×hdd-7200?CACHE)?chunk=128KiB", 3),
        ("raid6(6×hdd-7200?CACHE)?chunk=64KiB", 4),
    ];
    for (array, data) in arrays {
        for block in [4 * KIB, 64 * KIB, 192 * KIB, 256 * KIB, MIB, 3 * MIB] {
            for depth in [1, 32] {
                let [on, off] = ["write_cache=32MiB", "write_cache=0"]
                    .map(|cache| rate(&array.replace("CACHE", cache), 0, block, depth, 2 * SECOND));
                let cell = format!("{array}, {} KiB, {depth} in flight", block / KIB);
                assert!(
                    on > SLACK * off,
                    "{cell}: {on:.1} with it, {off:.1} without"
                );
                // The published disk writes 102 MB/s through its cache.
                let most = f64::from(data) * 102.0;
                assert!(on < 1.05 * most, "{cell}: {on:.1} MB/s of {most} there are");
            }
        }
    }
}

#[test]
fn what_a_head_passed_is_found_without_a_turn() {
    // Three of four rows, as a member of a RAID 5 is read; and both legs of a mirror in turn.
    for (what, rows) in [
        ("parity", [true, true, true, false]),
        ("mirror", [true, false, true, false]),
    ] {
        let mut disk = teijo_sim::compose::open("hdd-7200").expect("a disk");
        let (mut at_ns, mut begun_ns, mut asked) = (0, 0, 0_u64);
        for row in 0..4_000_u64 {
            if !rows[row as usize % 4] {
                continue;
            }
            let read = teijo_engine::request::Op::Read;
            at_ns = teijo_sim::device::Device::serve(&mut disk, read, row * 65_536, 65_536, at_ns)
                .done_ns;
            if asked == 0 {
                begun_ns = at_ns;
            }
            asked += 1;
        }
        // The head passes every row once, and nothing else takes time.
        let passed_ns = 4_000.0 * 65_536.0 / 155.0 * 1e3;
        let ratio = (at_ns - begun_ns) as f64 / passed_ns;
        assert!(
            (0.98..1.02).contains(&ratio),
            "{what}: {ratio} of one pass over {asked} rows"
        );
    }
}
