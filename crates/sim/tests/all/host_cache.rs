//! The page cache of a host: what fits runs at the speed of memory, what does not at that of the
//! device below.

use crate::common::{assert_within, Random};
use crate::host::Host;
use teijo_engine::plan::{Access, Bound, Plan, Range, StreamPlan};
use teijo_engine::request::Op;
use teijo_sim::compose::{open, Node};
use teijo_sim::device::Device;
use teijo_sim::session::{SimSession, Unobserved};

const SECOND: u64 = 1_000_000_000;
const KIB: u32 = 1 << 10;
const MIB: u32 = 1 << 20;

/// MB/s of `count` I/Os in a row.
fn rate(
    host: &mut Host,
    depth: usize,
    count: u64,
    mut next: impl FnMut() -> (Op, u64, u32),
) -> f64 {
    let (began_ns, mut bytes) = (host.now_ns, 0);
    let ended_ns = host.closed_loop(depth, count, || {
        let io = next();
        bytes += u64::from(io.2);
        io
    });
    bytes as f64 * 1e3 / (ended_ns - began_ns) as f64
}

/// The next block in order, from `from` on.
fn in_order(op: Op, from: u64, block: u32) -> impl FnMut() -> (Op, u64, u32) {
    let mut next = from;
    move || {
        next += u64::from(block);
        (op, next - u64::from(block), block)
    }
}

#[test]
fn a_set_that_fits_is_read_again_at_the_published_18_to_19_gb_per_second() {
    let mut host = Host::new("host-cache(hdd-7200)?memory=16GiB");
    let first = rate(&mut host, 1, 1 << 10, in_order(Op::Read, 0, MIB));
    assert_within("the first time, MB/s", first, 155.0, 3.0);
    let again = rate(&mut host, 8, 1 << 18, in_order(Op::Read, 0, 4 * KIB));
    assert_within("in order, MB/s", again, 19_339.0, 3.0);
    let mut random = Random(1);
    let scattered = || (Op::Read, random.below(1 << 18) * 4096, 4 * KIB);
    let scattered = rate(&mut host, 8, 1 << 18, scattered);
    assert_within("scattered, MB/s", scattered, 18_176.0, 6.0);
    assert_eq!(host.count("clean_bytes"), (1 << 30) + (128 << 10));
}

#[test]
fn a_set_that_does_not_fit_hits_as_much_as_fits() {
    let mut host = Host::new("host-cache(hdd-7200)?memory=64MiB");
    let mut random = Random(2);
    let mut draw = || (Op::Read, random.below(1 << 16) * 4096, 4 * KIB);
    host.closed_loop(8, 100_000, &mut draw);
    let before = host.count("hit_bytes");
    host.closed_loop(8, 200_000, &mut draw);
    let share = (host.count("hit_bytes") - before) as f64 / 4096.0 / 200_000.0;
    assert_within("share of hits", share, 0.25, 1.5);
    assert_eq!(host.count("clean_bytes"), 64 << 20);
}

#[test]
fn a_sequential_reader_is_read_ahead_and_everything_is_fetched_once() {
    let part = "hdd-7200?read_ahead=0";
    let count = 16 << 8;
    let run = |ahead: &str| {
        let mut host = Host::new(&format!(
            "host-cache({part})?memory=1GiB&read_ahead={ahead}"
        ));
        let rate = rate(&mut host, 1, count, in_order(Op::Read, 0, 4 * KIB));
        (rate, host)
    };
    let (without, _) = run("0");
    let (with, host) = run("128KiB");
    assert!(with > 10.0 * without, "{with} MB/s against {without} MB/s");
    let read = count * 4096;
    let moved = host.count("fetched_bytes") + host.count("read_ahead_bytes");
    assert!(
        (read..=read + (128 << 10)).contains(&moved),
        "{moved} B for {read} B"
    );
    assert_eq!(host.device.health().host_reads_bytes, read);
}

#[test]
fn two_readers_of_one_page_wait_for_one_fetch() {
    let mut host = Host::new("host-cache(hdd-7200)");
    for at_ns in [0, 1_000_000] {
        host.submit(Op::Read, 1 << 30, 4 * KIB, at_ns);
    }
    host.settle();
    assert_eq!(host.acts[0].done_ns, host.acts[1].done_ns);
    assert_eq!(host.count("fetched_bytes"), 4096);
}

#[test]
fn writers_run_free_up_to_the_dirty_limit_and_then_at_the_pace_of_the_disk() {
    let mut host = Host::new("host-cache(hdd-7200?write_cache=0)?memory=1GiB");
    let limit = f64::from(1 << 30) * 0.2;
    let free = (limit / f64::from(256 * KIB)) as u64 - 8;
    let before = rate(&mut host, 1, free, in_order(Op::Write, 0, 256 * KIB));
    assert!(before > 10_000.0, "{before} MB/s into memory");
    let mut more = in_order(Op::Write, free * 256 * 1024, 256 * KIB);
    host.closed_loop(1, 100, &mut more);
    assert!(host.count("stalls") > 0);
    let after = rate(&mut host, 1, 4_000, &mut more);
    // What the outermost zone of the disk writes.
    assert_within("rate at the limit, MB/s", after, 155.0 * 0.65, 1.0);
}

#[test]
fn dirty_data_is_written_back_when_it_is_old_although_the_host_is_busy() {
    let mut host = Host::new("host-cache(hdd-7200)?expire_us=30000000");
    host.submit(Op::Write, 0, MIB, 0);
    for second in 1..30 {
        host.submit(Op::Read, 1 << 30, 4 * KIB, second * SECOND);
        assert_eq!(host.count("dirty_bytes"), u64::from(MIB));
    }
    host.submit(Op::Read, 1 << 30, 4 * KIB, 31 * SECOND);
    assert_eq!(host.count("dirty_bytes"), 0);
    assert_eq!(host.count("clean_bytes"), u64::from(MIB) + 4096);
}

#[test]
fn a_server_with_little_memory_reads_again_at_the_speed_of_its_disk() {
    let again = |memory: &str| {
        let mut host = Host::new(&format!("host-cache(hdd-7200)?memory={memory}"));
        rate(&mut host, 8, 1 << 10, in_order(Op::Read, 0, MIB));
        rate(&mut host, 8, 1 << 10, in_order(Op::Read, 0, MIB))
    };
    assert_within("512 MiB for 1 GiB, MB/s", again("512MiB"), 155.0, 3.0);
    assert!(again("16GiB") > 15_000.0);
}

#[test]
fn a_session_purges_rests_and_forks_with_dirty_data_on_its_way() {
    for text in [
        "host-cache(raid5(4×hdd-7200?write_cache=0))?memory=64MiB",
        "cache(s3700?capacity=256MiB&dies=4&pages_per_block=64)?drain_mb_per_second=10",
    ] {
        let mut session = SimSession::new(open(text).expect("a device"));
        let mut plan = writes(&session);
        session.run(&plan, &mut Unobserved).expect("a lap");
        let mut fork = session.fork();
        assert!(dirty(&session) > 0, "{text}");
        for one in [&mut session, &mut fork] {
            plan.streams[0].seed = 2;
            one.run(&plan, &mut Unobserved).expect("a lap");
            one.idle(40 * SECOND);
            assert_eq!(dirty(one), 0, "{text}");
            one.run(&plan, &mut Unobserved).expect("a lap");
            one.purge();
            assert_eq!(dirty(one), 0, "{text}");
            one.run(&plan, &mut Unobserved).expect("a lap");
        }
        assert_eq!(session.device().digest(), fork.device().digest(), "{text}");
        assert_eq!(session.now_ns(), fork.now_ns(), "{text}");
    }
}

fn dirty(session: &SimSession<Node>) -> u64 {
    let counts = session.device().counts();
    counts
        .iter()
        .find(|one| one.0 == "dirty_bytes")
        .expect("a count")
        .1
}

/// Two threads of random writes for a while.
fn writes(session: &SimSession<Node>) -> Plan {
    let capacity_bytes = session.device().capacity_bytes();
    let stream = StreamPlan {
        threads: 2,
        queue_depth: 4,
        read_percent: 20,
        block_size_bytes: 16 << 10,
        access: Access::Random,
        range: Range {
            start_bytes: 0,
            segments: 1,
            segment_bytes: capacity_bytes,
            stride_bytes: capacity_bytes,
        },
        seed: 1,
        ..StreamPlan::default()
    };
    Plan {
        streams: vec![stream],
        bound: Bound::Bytes {
            total_bytes: 24 << 20,
        },
        interval_ns: SECOND,
        open_ended: false,
        continues: false,
    }
}
