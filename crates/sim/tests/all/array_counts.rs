//! How many I/Os the members of an array do for one of the host, whole and with members gone: exact
//! integers, counted over a whole turn of the parity.

use teijo_engine::request::Op;
use teijo_sim::compose::{open, Node};
use teijo_sim::device::{serve_alone, Device};

const CHUNK: u64 = 64 << 10;
const PIECE: u64 = 4 << 10;

/// Bytes read and written by each disk below, in order.
fn of_disks(node: &Node) -> Vec<(u64, u64)> {
    if let Node::Array(array) = node {
        return array.members().iter().flat_map(of_disks).collect();
    }
    let health = node.health();
    vec![(health.host_reads_bytes, health.host_writes_bytes)]
}

/// I/Os of 4 KiB that each disk does for one of 4 KiB in each of the first `chunks` chunks.
fn counts(text: &str, op: Op, chunks: u64) -> Vec<(u64, u64)> {
    let mut array = open(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut now_ns = 0;
    for chunk in 0..chunks {
        let outcome = serve_alone(&mut array, op, chunk * CHUNK, PIECE as u32, now_ns);
        assert_eq!(outcome.result, PIECE as i32, "{text}");
        now_ns = outcome.done_ns;
    }
    let disks = of_disks(&array).into_iter();
    disks
        .map(|(read, written)| (read / PIECE, written / PIECE))
        .collect()
}

fn sums(counts: &[(u64, u64)]) -> (u64, u64) {
    let add = |(reads, writes), (read, written): &(u64, u64)| (reads + read, writes + written);
    counts.iter().fold((0, 0), add)
}

/// Array of disks without write caches, which would hold back what is counted here.
fn array(kind: &str, disks: u32, settings: &str) -> String {
    format!("{kind}({disks}×hdd-7200?write_cache=0&read_ahead=0)?chunk=64KiB{settings}")
}

#[test]
fn a_small_write_costs_each_level_what_it_is_known_for() {
    let cases = [
        (array("raid10", 4, ""), 0, 2),
        (array("raid50", 6, "&groups=2&update=modify"), 2, 2),
        (array("raid60", 10, "&groups=2&update=modify"), 3, 3),
        (array("raid6", 6, "&update=modify"), 3, 3),
        // Of the six chunks of a stripe, four are data: the three others are read.
        (array("raid6", 6, "&update=rebuild"), 3, 3),
        (array("raid60", 10, "&groups=2&update=rebuild"), 2, 3),
    ];
    for (text, reads, writes) in cases {
        let chunks = 120;
        let counted = sums(&counts(&text, Op::Write, chunks));
        assert_eq!(counted, (chunks * reads, chunks * writes), "{text}");
    }
}

#[test]
fn whole_stripes_of_nested_arrays_are_written_without_a_read_and_evenly() {
    for (text, data) in [
        (array("raid10", 4, ""), 2),
        (array("raid50", 6, "&groups=2"), 4),
        (array("raid60", 10, "&groups=2"), 6),
    ] {
        let mut array = open(&text).expect("an array");
        let stripe = data * CHUNK;
        let mut now_ns = 0;
        for index in 0..10 {
            now_ns =
                serve_alone(&mut array, Op::Write, index * stripe, stripe as u32, now_ns).done_ns;
        }
        for disk in of_disks(&array) {
            assert_eq!(disk, (0, 10 * CHUNK), "{text}");
        }
    }
}

#[test]
fn a_read_of_what_is_gone_reads_a_piece_of_every_chunk_that_gives_it_back() {
    // Over one turn of the parity of N members, k of whose chunks are data, each holds k of them.
    let cases = [
        // N - 1 of N (N - 1) chunks are gone; each takes N - 1 reads.
        (array("raid5", 4, "&failed=1"), 12, 9 + 3 * 3),
        (array("raid5", 7, "&failed=6"), 42, 36 + 6 * 6),
        // With one of six gone, 4 of 24 chunks; with two, 8; each takes 4 reads.
        (array("raid6", 6, "&failed=0"), 24, 20 + 4 * 4),
        (array("raid6", 6, "&failed=2+3"), 24, 16 + 8 * 4),
        // The other of the pair has it.
        (array("raid10", 4, "&failed=2"), 24, 24),
        // One group of three is whole, and reads 6; the other, 4 + 2 × 2.
        (array("raid50", 6, "&groups=2&failed=1"), 12, 6 + 8),
    ];
    for (text, chunks, reads) in cases {
        let counted = counts(&text, Op::Read, chunks);
        assert_eq!(sums(&counted), (reads, 0), "{text}: {counted:?}");
        let gone = text.split("failed=").nth(1).expect("some are gone");
        for member in gone
            .split('+')
            .map(|member| member.parse::<usize>().expect("a number"))
        {
            assert_eq!(counted[member], (0, 0), "{text}: {member} is gone");
        }
    }
}

#[test]
fn a_small_write_around_a_missing_member_updates_what_is_left() {
    for members in [4, 6] {
        // Of the N stripes of a turn, one has its parity on the missing member: N - 1 plain writes.
        // Each other has one chunk there: N - 2 reads for its parity; and N - 2 usual ones.
        let text = array("raid5", members, "&failed=0&update=modify");
        let n = u64::from(members);
        let counted = sums(&counts(&text, Op::Write, n * (n - 1)));
        let reads = (n - 1) * (n - 2) + (n - 1) * (n - 2) * 2;
        let writes = (n - 1) + (n - 1) + (n - 1) * (n - 2) * 2;
        assert_eq!(counted, (reads, writes), "{text}");
    }
    // A pair that lost one writes the other.
    let counted = counts(&array("raid10", 4, "&failed=3"), Op::Write, 20);
    assert_eq!(counted, [(0, 10), (0, 10), (0, 10), (0, 0)]);
}
