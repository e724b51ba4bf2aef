//! What an array does where a member fails a read: others give the data back, and that is counted.

use teijo_engine::request::Op;
use teijo_sim::compose::{open, Node};
use teijo_sim::device::Device;

const CHUNK: u64 = 64 << 10;
const PIECE: u64 = 4 << 10;

fn count(array: &Node, name: &str) -> u64 {
    let counts = array.counts();
    let found = counts.iter().find(|(known, _)| known == name);
    found
        .unwrap_or_else(|| panic!("{name} is not counted: {counts:?}"))
        .1
}

fn disk() -> &'static str {
    "hdd-7200?write_cache=0&read_ahead=0"
}

/// An array whose first member fails every read.
fn array(level: &str, members: u32, errors: u32) -> Node {
    let bad = format!("faulty({})?eio_percent=100&eio_of=read", disk());
    let parts: Vec<String> = (0..members)
        .map(|member| {
            if member < errors {
                bad.clone()
            } else {
                disk().into()
            }
        })
        .collect();
    let text = format!("{level}({})?chunk=64KiB", parts.join(", "));
    open(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Result of 4 KiB of each of the first `chunks` chunks, read or written.
fn results(array: &mut Node, op: Op, chunks: u64) -> Vec<i32> {
    let mut at_ns = 0;
    let one = |chunk: u64| {
        let outcome = array.serve(op, chunk * CHUNK, PIECE as u32, at_ns);
        at_ns = outcome.done_ns;
        outcome.result
    };
    (0..chunks).map(one).collect()
}

#[test]
fn what_a_member_fails_to_read_the_others_give_back() {
    // Of a turn of the parity of N members each holds as many data chunks as a stripe has.
    for (level, members, errors, chunks, failed) in [
        ("raid5", 3, 1, 6, 2),
        ("raid5", 4, 1, 12, 3),
        ("raid6", 6, 1, 24, 4),
        ("raid10", 4, 1, 24, 6),
    ] {
        let mut array = array(level, members, errors);
        let found = results(&mut array, Op::Read, chunks);
        assert_eq!(found, vec![PIECE as i32; chunks as usize], "{level}");
        let name = if level == "raid10" {
            "0.rebuilt_reads"
        } else {
            "rebuilt_reads"
        };
        assert_eq!(count(&array, name), failed, "{level}({members})");
    }
}

#[test]
fn two_members_that_fail_a_read_are_given_back_by_two_parities_only() {
    let mut six = array("raid6", 6, 2);
    let found = results(&mut six, Op::Read, 24);
    assert_eq!(found, vec![PIECE as i32; 24]);
    assert!(count(&six, "rebuilt_reads") >= 8);
    // Each of the first two members holds three of twelve chunks, and each needs the other.
    let mut five = array("raid5", 4, 2);
    let found = results(&mut five, Op::Read, 12);
    assert_eq!(found.iter().filter(|&&result| result == -5).count(), 6);
    assert_eq!(found.iter().filter(|&&result| result == 4096).count(), 6);
}

#[test]
fn both_legs_of_a_mirror_and_a_stripe_without_parity_fail() {
    let mut mirror = array("raid1", 2, 2);
    assert_eq!(results(&mut mirror, Op::Read, 3), [-5, -5, -5]);
    let mut stripe = array("raid0", 2, 1);
    assert_eq!(results(&mut stripe, Op::Read, 4), [-5, 4096, -5, 4096]);
    assert_eq!(count(&stripe, "rebuilt_reads"), 0);
}

#[test]
fn a_write_that_has_to_read_what_a_member_fails_is_written_all_the_same() {
    for level in ["raid5", "raid6"] {
        let mut array = array(level, 4, 1);
        let found = results(&mut array, Op::Write, 12);
        assert_eq!(found, vec![PIECE as i32; 12], "{level}");
        assert!(count(&array, "rebuilt_reads") > 0, "{level}");
    }
}

#[test]
fn what_is_given_back_takes_a_read_more_and_reads_the_pieces_that_it_needs() {
    let mut whole = open(&format!("raid5(4×{})?chunk=64KiB", disk())).expect("an array");
    let mut bad = array("raid5", 4, 1);
    let [plain_ns, rebuilt_ns] =
        [&mut whole, &mut bad].map(|array| array.serve(Op::Read, 0, PIECE as u32, 0).done_ns);
    assert!(rebuilt_ns > plain_ns, "{rebuilt_ns} and {plain_ns} ns");
    let Node::Array(array) = &bad else {
        panic!("an array")
    };
    let read: Vec<u64> = array
        .members()
        .iter()
        .map(|member| member.health().host_reads_bytes)
        .collect();
    assert_eq!(read[1..], [PIECE; 3]);
}

#[test]
fn a_bad_stretch_alone_is_given_back_and_an_array_repeats_itself() {
    let text =
        "raid5(3×hdd-7200, faulty(hdd-7200)?eio_from=0&eio_size=64KiB&eio_of=read)?chunk=64KiB";
    let run = || {
        let mut array = open(text).expect("an array");
        let found = results(&mut array, Op::Read, 24);
        assert_eq!(found, vec![PIECE as i32; 24]);
        (array.digest(), count(&array, "rebuilt_reads"))
    };
    // Member 3 has the parity of stripe 0, so no read is of its bad stretch.
    assert_eq!(run().1, 0);
    assert_eq!(run(), run());
}

#[test]
fn a_member_that_is_gone_refuses_at_once_and_is_read_around() {
    let gone = format!("faulty({})?cut_at_ms=1&cut_ms=forever", disk());
    for (level, members) in [("raid1", 1), ("raid5", 3), ("raid6", 4)] {
        let text = format!("{level}({gone}, {members}×{})?chunk=64KiB", disk());
        let mut array = open(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut at_ns = 1_000_000_000;
        for chunk in 0..12_u64 {
            let outcome = array.serve(Op::Read, chunk * CHUNK, PIECE as u32, at_ns);
            assert_eq!(outcome.result, PIECE as i32, "{text}: chunk {chunk}");
            at_ns = outcome.done_ns;
        }
        assert!(count(&array, "rebuilt_reads") > 0, "{text}");
        assert!(count(&array, "0.refused") > 0, "{text}");
    }
}
