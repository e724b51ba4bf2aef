//! What a disk reads ahead, and what of it is in its buffer: gaps, several streams, legs of a
//! mirror. The oracle is the pass of the head over the platter.

use teijo_engine::plan::{Access, Bound, Plan, Range, StreamPlan};
use teijo_engine::request::Op;
use teijo_sim::compose::open;
use teijo_sim::device::Device;
use teijo_sim::session::Unobserved;

use crate::lab::{mb_per_second, session, KIB, SECOND};

const NS_PER_BYTE: f64 = 1e3 / 155.0;
const TURN_NS: u64 = 60_000_000_000 / 7_200;
const BLOCK: u64 = 64 << 10;

/// When each of these blocks, read one by one on a fresh disk, has come; ns.
fn ends(text: &str, blocks: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut disk = open(text).expect("a disk");
    let mut at_ns = 0;
    let read = |block: u64| {
        at_ns = disk
            .serve(Op::Read, block * BLOCK, BLOCK as u32, at_ns)
            .done_ns;
        at_ns
    };
    blocks.into_iter().map(read).collect()
}

#[test]
fn a_gap_costs_the_head_its_pass_and_no_turn() {
    // Three of four blocks as a member of a RAID 5 is read, and each second one as of a mirror.
    for rows in [[true, true, true, false], [true, false, true, false]] {
        let blocks = (0..4_000_u64).filter(|row| rows[*row as usize % 4]);
        let ends = ends("hdd-7200", blocks);
        let took_ns = (ends[ends.len() - 1] - ends[0]) as f64;
        let pass_ns = 4_000.0 * BLOCK as f64 * NS_PER_BYTE;
        let ratio = took_ns / pass_ns;
        assert!((0.99..1.01).contains(&ratio), "{rows:?}: {ratio} of a pass");
    }
}

#[test]
fn without_read_ahead_what_came_too_late_waits_a_turn() {
    let ends = ends("hdd-7200?read_ahead=0", 0..100);
    let turns = (ends[99] - ends[0]) / TURN_NS;
    assert!((99..=105).contains(&turns), "{turns} turns");
}

#[test]
fn what_was_read_is_found_again_until_its_segment_is_needed() {
    let far = |stream: u64| stream << 20;
    // A block of each of `streams` streams, then that of the first again: from the buffer that is
    // the time of the link.
    let again_ns = |streams: u64, segments: u32| {
        let text = format!("hdd-7200?read_ahead_segments={segments}");
        let mut disk = open(&text).expect("a disk");
        let mut at_ns = 0;
        let order = (0..streams).chain([0]);
        let mut took_ns = 0;
        for stream in order {
            let done_ns = disk
                .serve(Op::Read, far(stream) * BLOCK, BLOCK as u32, at_ns)
                .done_ns;
            (took_ns, at_ns) = (done_ns - at_ns, done_ns);
        }
        took_ns
    };
    let link_ns = BLOCK as f64 * 1e3 / 270.0;
    for segments in [1, 4, 8] {
        let within = again_ns(u64::from(segments), segments);
        assert!(
            within.abs_diff(link_ns as u64) < 2,
            "{within} ns of {segments}"
        );
        let beyond = again_ns(u64::from(segments) + 1, segments);
        assert!(beyond as f64 > 2.0 * link_ns, "{beyond} ns of {segments}");
    }
}

#[test]
fn read_ahead_takes_the_time_of_the_head() {
    // Read block 0, wait for so many blocks to pass, and read one that has passed or has not yet.
    let wait_ns = |blocks: u64| (blocks as f64 * BLOCK as f64 * NS_PER_BYTE) as u64;
    for passed in [3_u64, 20, 100] {
        for (block, is_there) in [(passed, true), (passed + 3, false)] {
            let mut disk = open("hdd-7200").expect("a disk");
            let first_ns = disk.serve(Op::Read, 0, BLOCK as u32, 0).done_ns;
            let at_ns = first_ns + wait_ns(passed);
            let done_ns = disk
                .serve(Op::Read, block * BLOCK, BLOCK as u32, at_ns)
                .done_ns;
            let link_ns = (BLOCK as f64 * 1e3 / 270.0) as u64;
            let due_ns = first_ns + wait_ns(block);
            let expected = if is_there { at_ns + link_ns } else { due_ns };
            assert!(done_ns.abs_diff(expected) < 1_000, "{block} after {passed}");
        }
    }
}

/// MB/s of `streams` readers in order, each in a part of its own, for two seconds behind one.
fn streams(text: &str, streams: u64, block_size_bytes: u32) -> f64 {
    let mut session = session(text);
    let one = |number: u64| StreamPlan {
        read_percent: 100,
        block_size_bytes,
        access: Access::Sequential { cursor_bytes: 0 },
        range: Range {
            start_bytes: number << 36,
            segments: 1,
            segment_bytes: 8 << 30,
            stride_bytes: 8 << 30,
        },
        ..StreamPlan::default()
    };
    let mut run = |seconds: u64, continues| {
        let plan = Plan {
            streams: (0..streams).map(one).collect(),
            bound: Bound::Time {
                duration_ns: seconds * SECOND,
            },
            interval_ns: SECOND,
            open_ended: true,
            continues,
        };
        session.run(&plan, &mut Unobserved).expect("a lap")
    };
    run(1, false);
    mb_per_second(&run(2, true))
}

#[test]
fn each_of_two_streams_has_a_leg_of_the_mirror() {
    for block in [4 * KIB, 128 * KIB] {
        let rate = streams("raid1(2×hdd-7200)", 2, block);
        assert!((0.98 * 310.0..1.02 * 310.0).contains(&rate), "{rate} MB/s");
        let rate = streams("raid10(4×hdd-7200)", 1, block);
        assert!(rate > 0.98 * 155.0, "{rate} MB/s");
    }
}

#[test]
fn the_sequence_of_what_waits_is_not_left_for_what_comes_under_the_head_sooner() {
    for depth in [8, 16, 32] {
        let mut session = session("hdd-7200");
        let load = crate::lab::sequential(100, 512 * KIB, depth);
        let lap = crate::lab::run_within(&mut session, load, 8 << 30, crate::lab::seconds(5.0));
        let rate = mb_per_second(&lap);
        assert!(
            (0.98 * 155.0..1.02 * 155.0).contains(&rate),
            "{depth}: {rate} MB/s"
        );
    }
}
