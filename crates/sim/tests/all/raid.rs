//! Arrays against arithmetic: where chunks lie, how many member I/Os a host I/O takes, and that
//! what is read suffices for what is written, byte for byte.

use std::collections::{HashMap, HashSet};

use crate::common::assert_within;
use crate::common::laps::run_in;
use crate::lab::{session, Session, SECOND};
use proptest::prelude::*;
use teijo_engine::lap::Lap;
use teijo_engine::plan::{Access, Bound, Content, StreamPlan};
use teijo_engine::request::Op;
use teijo_sim::compose::{open, Node};
use teijo_sim::device::Device;
use teijo_sim::raid::params::Update;
use teijo_sim::raid::plan::{Piece, Planner, Work};
use teijo_sim::raid::{Layout, Level};

const KIB: u64 = 1 << 10;

fn layout(parities: u32, members: u32, chunk_bytes: u64) -> Layout {
    let level = if parities == 0 {
        Level::Striped
    } else {
        Level::Parity { parities }
    };
    Layout::new(level, members, chunk_bytes, 64 * chunk_bytes).expect("a layout")
}

/// Member I/Os of a write: (reads, writes).
fn ios(
    layout: &Layout,
    failed: &[u32],
    update: Update,
    offset: u64,
    length: u64,
) -> (usize, usize) {
    let failed: Vec<bool> = (0..layout.members)
        .map(|member| failed.contains(&member))
        .collect();
    let planner = Planner {
        layout,
        failed: &failed,
        update,
    };
    let works = planner.write(offset, length).expect("it survives");
    let count = |of: fn(&Work) -> usize| works.iter().map(of).sum();
    (
        count(|work| work.reads.len()),
        count(|work| work.writes.len()),
    )
}

#[test]
fn chunks_lie_as_in_the_left_symmetric_layout() {
    // Rows are stripes, columns members; from the documentation of Linux md.
    let table = [
        ["0", "1", "2", "P"],
        ["4", "5", "P", "3"],
        ["8", "P", "6", "7"],
        ["P", "9", "10", "11"],
        ["12", "13", "14", "P"],
    ];
    let layout = layout(1, 4, 8);
    for (stripe, row) in (0..).zip(table) {
        assert_eq!(row[layout.parity_member(stripe, 0) as usize], "P");
        for index in 0..3 {
            let chunk = stripe * 3 + u64::from(index);
            assert_eq!(
                row[layout.data_member(stripe, index) as usize],
                chunk.to_string()
            );
        }
    }
}

#[test]
fn a_small_write_is_two_reads_and_two_writes_with_one_parity_and_three_with_two() {
    for members in 3..12 {
        let five = layout(1, members, 64 * KIB);
        assert_eq!(ios(&five, &[], Update::Modify, 4 * KIB, 4 * KIB), (2, 2));
        let rest = (members as usize - 2, 2);
        assert_eq!(ios(&five, &[], Update::Rebuild, 4 * KIB, 4 * KIB), rest);
        let six = layout(2, members + 1, 64 * KIB);
        assert_eq!(ios(&six, &[], Update::Modify, 4 * KIB, 4 * KIB), (3, 3));
        assert_eq!(
            ios(&layout(0, members, 64 * KIB), &[], Update::Least, 0, 4096),
            (0, 1)
        );
    }
}

#[test]
fn a_write_of_whole_chunks_takes_the_fewer_of_both_ways_and_a_whole_stripe_reads_nothing() {
    for members in 3..10_u64 {
        let five = layout(1, members as u32, 64 * KIB);
        let data = members - 1;
        for touched in 1..=data {
            let (reads, writes) = ios(&five, &[], Update::Least, 0, touched * 64 * KIB);
            let expected = if touched == data {
                members
            } else {
                (2 * (touched + 1)).min(members)
            };
            assert_eq!((reads + writes) as u64, expected, "{touched} of {data}");
            assert_eq!(writes as u64, touched + 1);
            assert_eq!(reads == 0, touched == data);
        }
    }
}

#[test]
fn whole_stripes_in_a_row_are_one_write_a_member() {
    let five = layout(1, 4, 64 * KIB);
    assert_eq!(ios(&five, &[], Update::Least, 0, 10 * 3 * 64 * KIB), (0, 4));
    // Two and a half stripes: four writes, and a small one in part of the third.
    let (reads, writes) = ios(&five, &[], Update::Modify, 0, 2 * 192 * KIB + 4 * KIB);
    assert_eq!((reads, writes), (2, 6));
}

#[test]
fn a_degraded_array_reads_and_writes_around_what_is_gone() {
    let five = layout(1, 4, 64 * KIB);
    let read = |failed: usize, offset: u64| {
        let mut gone = [false; 4];
        gone[failed] = true;
        let planner = Planner {
            layout: &five,
            failed: &gone,
            update: Update::Least,
        };
        planner.read(offset, 4096, 0).expect("it survives").len()
    };
    // Chunk 0 lies on member 0, its parity on member 3.
    assert_eq!((read(0, 0), read(1, 0), read(3, 0)), (3, 1, 1));
    let write = |failed: u32| ios(&five, &[failed], Update::Least, 0, 4096);
    // The chunk is gone: the other two are read and parity alone is written.
    assert_eq!(write(0), (2, 1));
    // Another chunk is gone: read-modify-write. The parity is gone: nothing is read.
    assert_eq!((write(1), write(3)), ((2, 2), (0, 1)));
    let six = layout(2, 6, 64 * KIB);
    let gone = [true, true, false, false, false, false];
    let planner = Planner {
        layout: &six,
        failed: &gone,
        update: Update::Least,
    };
    assert_eq!(planner.read(0, 4096, 0).expect("it survives").len(), 4);
    let gone = [true, true, true, false, false, false];
    assert!(Planner {
        failed: &gone,
        ..planner
    }
    .read(0, 4096, 0)
    .is_err());
}

/// Bytes of one stripe that are known: (member, offset on the member).
type Known = HashSet<(u32, u64)>;

fn bytes(pieces: &[Piece]) -> impl Iterator<Item = (u32, u64)> + '_ {
    pieces.iter().flat_map(|piece| {
        let from = piece.offset_bytes;
        (from..from + piece.length_bytes).map(|byte| (piece.member, byte))
    })
}

/// Checks that `works` overwrite exactly [offset, offset + length) and its parity, and that what
/// they read gives every new parity byte: a code of k data chunks gives back everything from any k.
fn suffices(layout: &Layout, failed: &[bool], works: &[Work], offset: u64, length: u64) {
    let (chunk, data) = (layout.chunk_bytes, u64::from(layout.data_chunks()));
    let mut written: HashMap<(u32, u64), usize> = HashMap::new();
    let mut known = Known::new();
    for work in works {
        known.extend(bytes(&work.reads));
        bytes(&work.writes).for_each(|byte| *written.entry(byte).or_default() += 1);
    }
    assert!(written.values().all(|&times| times == 1), "written twice");
    let (mut data_bytes, mut columns) = (Known::new(), HashSet::new());
    for byte in offset..offset + length {
        let (stripe, within) = (byte / (chunk * data), byte % (chunk * data));
        let member = layout.data_member(stripe, (within / chunk) as u32);
        data_bytes.insert((member, stripe * chunk + within % chunk));
        columns.insert((stripe, within % chunk));
    }
    for &(member, byte) in &data_bytes {
        let is_written = written.contains_key(&(member, byte));
        assert_eq!(
            is_written, !failed[member as usize],
            "data at {member}:{byte}"
        );
    }
    for (stripe, column) in columns {
        let at = stripe * chunk + column;
        let parity: Vec<u32> = (0..layout.parities())
            .map(|p| layout.parity_member(stripe, p))
            .collect();
        let living: Vec<u32> = parity
            .iter()
            .copied()
            .filter(|&m| !failed[m as usize])
            .collect();
        for &member in &living {
            assert!(
                written.contains_key(&(member, at)),
                "parity at {member}:{at}"
            );
        }
        if living.is_empty() {
            continue;
        }
        let members = 0..layout.members;
        let old = members
            .clone()
            .filter(|&member| known.contains(&(member, at)))
            .count() as u64;
        let mut of_data = members.filter(|member| !parity.contains(member));
        let fresh = |member: &u32| data_bytes.contains(&(*member, at));
        let rest = of_data
            .clone()
            .all(|m| fresh(&m) || known.contains(&(m, at)));
        let modify = of_data.all(|m| !fresh(&m) || known.contains(&(m, at)))
            && living.iter().all(|&member| known.contains(&(member, at)));
        assert!(
            old >= data || rest || modify,
            "stripe {stripe}, byte {column}"
        );
    }
    let touched = known.iter().chain(written.keys());
    assert!(touched.clone().all(|&(member, _)| !failed[member as usize]));
    let is_parity = |&(member, byte): &(u32, u64)| {
        (0..layout.parities()).any(|p| layout.parity_member(byte / chunk, p) == member)
    };
    let others = written.keys().filter(|byte| !data_bytes.contains(byte));
    assert!(others.clone().all(is_parity), "foreign data is overwritten");
}

proptest! {
    #[test]
    fn every_chunk_has_a_place_of_its_own(
        parities in 0_u32..3, more in 2_u32..9, stripe in 0_u64..1_000
    ) {
        let layout = layout(parities, parities + more, 16);
        let data = (0..layout.data_chunks()).map(|index| layout.data_member(stripe, index));
        let parity = (0..parities).map(|which| layout.parity_member(stripe, which));
        let members: HashSet<u32> = data.chain(parity).collect();
        prop_assert_eq!(members.len() as u32, layout.members);
    }

    #[test]
    fn what_is_read_suffices_for_what_is_written(
        parities in 1_u32..3,
        more in 2_u32..6,
        offset in 0_u64..200,
        length in 1_u64..120,
        gone in proptest::collection::vec(0_u32..8, 0..3),
        update in prop_oneof![
            Just(Update::Least), Just(Update::Modify), Just(Update::Rebuild)
        ],
    ) {
        let layout = layout(parities, parities + more, 16);
        let gone: HashSet<u32> = gone.into_iter().collect();
        let failed: Vec<bool> = (0..layout.members).map(|m| gone.contains(&m)).collect();
        let planner = Planner { layout: &layout, failed: &failed, update };
        let lost = failed.iter().filter(|&&failed| failed).count() as u32 > parities;
        let Ok(works) = planner.write(offset, length) else {
            prop_assert!(lost, "refused, and {failed:?} could be survived");
            return Ok(());
        };
        if !lost {
            suffices(&layout, &failed, &works, offset, length);
        }
        let Ok(reads) = planner.read(offset, length, 0) else {
            prop_assert!(lost);
            return Ok(());
        };
        let known: Known = bytes(&reads).collect();
        let (chunk, data) = (layout.chunk_bytes, u64::from(layout.data_chunks()));
        for byte in offset..offset + length {
            let (stripe, within) = (byte / (chunk * data), byte % (chunk * data));
            let at = stripe * chunk + within % chunk;
            let member = layout.data_member(stripe, (within / chunk) as u32);
            let symbols = (0..layout.members).filter(|&m| known.contains(&(m, at))).count();
            prop_assert!(known.contains(&(member, at)) || symbols as u64 >= data);
        }
        prop_assert!(known.iter().all(|&(member, _)| !failed[member as usize]));
    }
}

fn run(session: &mut Session, stream: StreamPlan, bound: Bound) -> Lap {
    let block = u64::from(stream.block_size_bytes);
    let whole_bytes = session.device().capacity_bytes() / block * block;
    run_in(session, stream, 0, whole_bytes, bound)
}

fn load(read_percent: u8, block_size_bytes: u64, queue_depth: u32) -> StreamPlan {
    StreamPlan {
        threads: 1,
        queue_depth,
        read_percent,
        block_size_bytes: block_size_bytes as u32,
        access: Access::Random,
        content: Content::Random,
        rate: None,
        seed: 1,
        ..StreamPlan::default()
    }
}

fn seconds(seconds: u64) -> Bound {
    Bound::Time {
        duration_ns: seconds * SECOND,
    }
}

fn iops(lap: &Lap) -> f64 {
    (lap.streams[0].read.ios + lap.streams[0].write.ios) as f64 * 1e9 / lap.elapsed_ns as f64
}

fn mb_per_second(lap: &Lap) -> f64 {
    (lap.streams[0].read.bytes + lap.streams[0].write.bytes) as f64 * 1e3 / lap.elapsed_ns as f64
}

/// Bytes the members read and wrote.
fn of_members(session: &Session) -> (u64, u64) {
    let Node::Array(array) = session.device() else {
        panic!("an array")
    };
    let health = array.members().iter().map(Device::health);
    health.fold((0, 0), |(read, written), one| {
        (read + one.host_reads_bytes, written + one.host_writes_bytes)
    })
}

#[test]
fn the_members_are_asked_for_exactly_what_the_arithmetic_says() {
    let small = 4 * KIB;
    let cases = [
        ("raid0(4×hdd-7200)", 0, 1),
        ("raid1(2×hdd-7200)", 0, 2),
        ("raid5(4×hdd-7200)?update=modify", 2, 2),
        ("raid5(4×hdd-7200)?update=rebuild", 2, 2),
        ("raid5(8×hdd-7200)?update=rebuild", 6, 2),
        ("raid6(6×hdd-7200)?update=modify", 3, 3),
    ];
    for (text, reads, writes) in cases {
        let mut one = session(text);
        run(
            &mut one,
            load(0, small, 8),
            Bound::Bytes {
                total_bytes: 500 * small,
            },
        );
        let expected = (500 * reads * small, 500 * writes * small);
        assert_eq!(of_members(&one), expected, "{text}");
        assert_eq!(one.health().host_writes_bytes, 500 * small);
        let before = of_members(&one).0;
        run(
            &mut one,
            load(100, small, 8),
            Bound::Bytes {
                total_bytes: 100 * small,
            },
        );
        assert_eq!(of_members(&one).0 - before, 100 * small, "{text}");
    }
}

#[test]
fn a_stripe_reads_and_writes_at_the_rate_of_its_data_disks() {
    let fast = "?write_rate_percent=100";
    let cases = [
        (format!("raid0(4×hdd-7200{fast})"), 4.0, 4.0),
        (format!("raid5(4×hdd-7200{fast})"), 3.0, 3.0),
        (format!("raid6(6×hdd-7200{fast})"), 4.0, 4.0),
        (format!("raid10(4×hdd-7200{fast})"), 2.0, 2.0),
    ];
    for (text, reading, writing) in cases {
        let in_order = |read_percent| StreamPlan {
            access: Access::Sequential { cursor_bytes: 0 },
            ..load(read_percent, 3 << 20, 8)
        };
        let lap = run(&mut session(&text), in_order(0), seconds(20));
        println!("{text}: written at {:.0} MB/s", mb_per_second(&lap));
        assert_within("written", mb_per_second(&lap), writing * 155.0, 5.0);
        let lap = run(&mut session(&text), in_order(100), seconds(20));
        println!("{text}: read at {:.0} MB/s", mb_per_second(&lap));
        assert!(mb_per_second(&lap) > reading * 155.0 * 0.9);
    }
}

#[test]
fn small_writes_cost_a_turn_and_the_spindles_share_reads() {
    let bare = "raid5(4×hdd-7200?write_cache=0&age_percent=0)";
    let reads = |depth| {
        iops(&run(
            &mut session(bare),
            load(100, 4 * KIB, depth),
            seconds(300),
        ))
    };
    let single = iops(&run(
        &mut session("hdd-7200?write_cache=0&age_percent=0"),
        load(100, 4 * KIB, 1),
        seconds(300),
    ));
    assert_within("reads, one in flight", reads(1), single, 2.0);
    let many = reads(4);
    println!("reads, four in flight: {many:.0}");
    assert!(many > 2.2 * single);
    let writes = |text: &str| iops(&run(&mut session(text), load(0, 4 * KIB, 4), seconds(300)));
    let modify = writes("raid5(4×hdd-7200?write_cache=0&age_percent=0)?update=modify");
    let rebuild = writes("raid5(4×hdd-7200?write_cache=0&age_percent=0)?update=rebuild");
    println!("writes: modify {modify:.0}, rebuild {rebuild:.0}");
    assert!(modify < many / 2.0 && modify > 40.0, "{modify}");
    let cached = writes("raid5(4×hdd-7200)");
    println!("with the disks' caches: {cached:.0}");
    assert!(cached > modify);
}

#[test]
fn thirty_six_disks_read_more_than_five_gigabytes_a_second() {
    let in_order = StreamPlan {
        access: Access::Sequential { cursor_bytes: 0 },
        ..load(100, 1 << 20, 64)
    };
    let lap = run(&mut session("raid50-36"), in_order, seconds(5));
    println!("{:.0} MB/s", mb_per_second(&lap));
    assert!((5_000.0..6_000.0).contains(&mb_per_second(&lap)));
}

#[test]
fn solid_state_members_end_at_once_and_two_are_twice_as_fast() {
    let reads = |text: &str| {
        iops(&run(
            &mut session(text),
            load(100, 4 * KIB, 256),
            seconds(2),
        ))
    };
    let (one, two) = (
        reads("s3700?capacity=1GiB"),
        reads("raid0(2×s3700?capacity=1GiB)"),
    );
    assert_within("two drives", two, 2.0 * one, 3.0);
    let node = open("raid0(2×s3700?capacity=1GiB)").expect("an array");
    assert_eq!(node.next_ns(), u64::MAX);
    assert!(node.is_flash());
}

#[test]
fn an_array_repeats_itself_and_its_fork_goes_the_same_way() {
    for text in [
        "raid5(3×hdd-7200, s3700?capacity=64GiB)?failed=1",
        "raid10(4×hdd-5400)",
    ] {
        let mixed = || StreamPlan {
            threads: 2,
            ..load(60, 64 * KIB, 4)
        };
        let mut first = session(text);
        run(&mut first, mixed(), seconds(5));
        first.idle(SECOND);
        let mut fork = first.fork();
        let mut again = session(text);
        run(&mut again, mixed(), seconds(5));
        again.idle(SECOND);
        for one in [&mut first, &mut fork, &mut again] {
            run(one, mixed(), seconds(5));
        }
        assert_eq!(first.device().digest(), fork.device().digest(), "{text}");
        assert_eq!(first.device().digest(), again.device().digest(), "{text}");
    }
}

#[test]
fn an_array_that_has_lost_its_data_fails_its_reads() {
    let mut array = open("raid5(4×hdd-7200)?failed=0+1").expect("an array");
    assert_eq!(array.serve(Op::Read, 0, 4096, 0).result, -5);
    let mut stripe = open("raid0(2×hdd-7200)?failed=1").expect("an array");
    assert_eq!(stripe.serve(Op::Read, 0, 4096, 0).result, 4096);
    let beyond = stripe.serve(Op::Write, 128 << 10, 4096, SECOND);
    assert_eq!(beyond.result, -5);
}
