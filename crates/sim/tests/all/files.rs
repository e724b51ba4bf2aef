//! A simulated operating system: what its calls cost is what the device below does for them.

use crate::common::{assert_within, Random};
use crate::host::Host;
use teijo_engine::files::plan::{
    Content, LargePlan, Links, NameStyle, Operation, Order, SmallOperation, SmallPlan,
};
use teijo_engine::request::Op;
use teijo_engine::watch::Verdict;
use teijo_sim::compose::{open, Node};
use teijo_sim::device::{Device, Ended};
use teijo_sim::files::crowd::{run, Program};
use teijo_sim::files::{Call, Done, How, Os};
use teijo_sim::session::SimSession;

const KIB: u32 = 1 << 10;
const MIB: u64 = 1 << 20;
const SECOND: u64 = 1_000_000_000;
/// Writes of a disk's outermost zone, MB/s.
const OUTER_WRITE: f64 = 155.0 * 0.65;

fn os(text: &str) -> Os<Node> {
    match open(text).unwrap() {
        Node::Os(os) => *os,
        other => panic!("{} is no operating system", other.facts().model),
    }
}

/// Calls in a row, and how each of them went.
struct Script<I> {
    calls: I,
    acts: Vec<(Call, u64, Done)>,
}

impl<I: Iterator<Item = Call>> Program for Script<I> {
    fn next(&mut self, _at_ns: u64, _last: Option<Done>) -> Option<Call> {
        self.calls.next()
    }

    fn ended(&mut self, call: &Call, began_ns: u64, done: Done) -> bool {
        self.acts.push((*call, began_ns, done));
        true
    }
}

fn script<I: Iterator<Item = Call>>(calls: I) -> Script<I> {
    Script {
        calls,
        acts: Vec::new(),
    }
}

/// One program alone, from `from_ns` on: when it ended.
fn alone(os: &mut Os<Node>, calls: impl IntoIterator<Item = Call>, from_ns: u64) -> u64 {
    let mut programs = [script(calls.into_iter())];
    let ended_ns = run(os, &mut programs, from_ns).unwrap();
    for (call, _, done) in &programs[0].acts {
        assert!(done.result >= 0, "{call:?}: {}", done.result);
    }
    ended_ns
}

fn writes(file: u32, bytes: u64, chunk: u32) -> impl Iterator<Item = Call> {
    (0..bytes / u64::from(chunk)).map(move |number| Call::Write {
        file,
        offset_bytes: number * u64::from(chunk),
        length_bytes: chunk,
        how: How::default(),
    })
}

fn reads(file: u32, bytes: u64, chunk: u32) -> impl Iterator<Item = Call> {
    (0..bytes / u64::from(chunk)).map(move |number| Call::Read {
        file,
        offset_bytes: number * u64::from(chunk),
        length_bytes: chunk,
        how: How::default(),
    })
}

/// What so many calls with copies of `chunk` take their program alone.
fn calls_ns(count: u64, call_ns: u64, chunk: u32) -> u64 {
    count * (call_ns + (f64::from(chunk) * 1e3 / 2_700.0).round() as u64)
}

fn mb_s(bytes: u64, ns: u64) -> f64 {
    bytes as f64 * 1e3 / ns as f64
}

fn count(os: &Os<Node>, name: &str) -> u64 {
    let counts = os.counts();
    let found = counts.iter().find(|(own, _)| own == name);
    found.unwrap_or_else(|| panic!("{name} is counted")).1
}

#[test]
fn what_fits_is_written_at_the_speed_of_copies_and_its_fsync_at_that_of_the_device() {
    let mut os = os("os(hdd-7200?write_cache=0)?memory=8GiB");
    let (bytes, chunk) = (512 * MIB, 8 * KIB);
    let created_ns = alone(&mut os, [Call::Create { file: 1 }], 0);
    let written_ns = alone(&mut os, writes(1, bytes, chunk), created_ns);
    let calls = calls_ns(bytes / u64::from(chunk), 800, chunk);
    assert_eq!(written_ns - created_ns, calls);
    let durable_ns = alone(&mut os, [Call::Fsync { file: 1 }], written_ns);
    // The disk by itself with as many writes in flight: it goes back for some of them.
    let mut disk = Host::new("hdd-7200?write_cache=0");
    let mut next = 0;
    let disk_ns = disk.closed_loop(32, bytes / MIB, || {
        next += MIB;
        (Op::Write, next - MIB, MIB as u32)
    });
    let found = mb_s(bytes, durable_ns - written_ns);
    assert_within("MB/s", found, mb_s(bytes, disk_ns), 2.0);
}

#[test]
fn what_does_not_fit_is_written_at_the_rate_of_the_device() {
    let mut os = os("os(hdd-7200?write_cache=0)?memory=64MiB");
    let bytes = 1024 * MIB;
    let calls = [Call::Create { file: 1 }]
        .into_iter()
        .chain(writes(1, bytes, 8 * KIB));
    let ended_ns = alone(&mut os, calls.chain([Call::Fsync { file: 1 }]), 0);
    assert_within("MB/s", mb_s(bytes, ended_ns), OUTER_WRITE, 3.0);
}

#[test]
fn what_was_written_is_read_from_memory_and_after_its_caches_are_dropped_from_the_device() {
    let mut os = os("os(hdd-7200)?memory=4GiB");
    let (bytes, chunk) = (256 * MIB, 8 * KIB);
    let calls = [Call::Create { file: 1 }]
        .into_iter()
        .chain(writes(1, bytes, chunk));
    let at_ns = alone(&mut os, calls.chain([Call::Fsync { file: 1 }]), 0);
    let read_ns = alone(&mut os, reads(1, bytes, chunk), at_ns);
    assert_eq!(
        read_ns - at_ns,
        calls_ns(bytes / u64::from(chunk), 165, chunk)
    );
    let at_ns = alone(&mut os, [Call::DropCaches], read_ns);
    let read_ns = alone(&mut os, reads(1, bytes, chunk), at_ns);
    assert_within("MB/s", mb_s(bytes, read_ns - at_ns), 155.0, 4.0);
    let fetched = count(&os, "fetched_bytes") + count(&os, "read_ahead_bytes");
    assert!(
        (bytes..=bytes + 256 * 1024).contains(&fetched),
        "{fetched} B, each once"
    );
}

/// Serves I/Os one after the other on a device by itself; the end of each.
fn bare(device: &mut Node, ios: &[(Op, u64, u32)], from_ns: u64) -> u64 {
    let mut at_ns = from_ns;
    for &(op, offset_bytes, length_bytes) in ios {
        let mut ended: Vec<Ended> = Vec::new();
        while device.next_ns() < at_ns {
            device.step(&mut ended);
        }
        let told = device.submit(7, op, offset_bytes, length_bytes, at_ns);
        at_ns = match told {
            Some(outcome) => outcome.done_ns,
            None => loop {
                device.step(&mut ended);
                if let Some(end) = ended.iter().find(|end| end.ticket == 7) {
                    break end.outcome.done_ns;
                }
            },
        };
    }
    at_ns
}

/// A file made and flushed: when, and when the device by itself has done what that needs.
fn create_and_fsync(part: &str, barriers: &str) -> (u64, u64) {
    let mut os = os(&format!("os({part})?barriers={barriers}"));
    let calls = [Call::Create { file: 1 }, Call::Fsync { file: 1 }];
    let ended_ns = alone(&mut os, calls, 0);
    let mut device = open(part).unwrap();
    let journal = device.capacity_bytes() / 2 / 4096 * 4096;
    // A descriptor; inode and root share a block, beside entry, bitmap and group.
    let blocks: u32 = 1 + 4;
    let flush = (Op::Flush, 0, 0);
    let mut ios = vec![(Op::Write, journal, blocks * 4 * KIB)];
    if barriers == "yes" {
        ios.push(flush);
    }
    ios.push((Op::Write, journal + u64::from(blocks * 4 * KIB), 4 * KIB));
    if barriers == "yes" {
        ios.push(flush);
    }
    let (create_ns, fsync_ns) = (12_000, 1_000);
    (ended_ns, bare(&mut device, &ios, create_ns) + fsync_ns)
}

#[test]
fn a_file_made_and_flushed_costs_two_writes_and_two_flushes_of_the_device() {
    for part in [
        "hdd-7200",
        "hdd-7200?write_cache=0",
        "intel-330",
        "s3700",
        "iodrive",
    ] {
        let (found, oracle) = create_and_fsync(part, "yes");
        assert_eq!(found, oracle, "{part}");
        let (found, oracle) = create_and_fsync(part, "no");
        assert_eq!(found, oracle, "{part} without barriers");
    }
}

#[test]
fn a_disk_that_lies_about_flushes_makes_files_durable_in_the_time_of_its_link() {
    let each_ms = |text: &str| {
        let mut os = os(text);
        let calls = (0..200).flat_map(|file| [Call::Create { file }, Call::Fsync { file }]);
        alone(&mut os, calls, 0) as f64 / 200e6
    };
    let honest = each_ms("os(hdd-7200)");
    let without = each_ms("os(hdd-7200)?barriers=no");
    let liar = each_ms("os(faulty(hdd-7200)?flush=ignore)");
    // Two turns of the platter at the least: one for each flush.
    assert!(honest > 2.0 * 8.3, "{honest} ms");
    assert!(without < 1.0, "{without} ms");
    assert_within("a lie is as no barriers, ms", liar, without, 1.0);
}

#[test]
fn littles_law_holds_for_programs_that_read_what_does_not_fit() {
    let mut os = os("os(intel-330?capacity=2GiB)?memory=64MiB&read_ahead=0");
    let bytes = 512 * MIB;
    let calls = [Call::Create { file: 1 }]
        .into_iter()
        .chain(writes(1, bytes, 64 * KIB));
    let from_ns = alone(&mut os, calls.chain([Call::DropCaches]), 0);
    let program = |seed: u64| {
        let mut random = Random(seed);
        script((0..4_000).map(move |_| Call::Read {
            file: 1,
            offset_bytes: random.below(bytes / 4096) * 4096,
            length_bytes: 4 * KIB,
            how: How::default(),
        }))
    };
    let mut programs: Vec<_> = (1..=8).map(program).collect();
    let ended_ns = run(&mut os, &mut programs, from_ns).unwrap();
    let acts = programs.iter().flat_map(|one| &one.acts);
    let busy_ns: u64 = acts
        .map(|(_, began_ns, done)| done.done_ns - began_ns)
        .sum();
    let in_flight = busy_ns as f64 / (ended_ns - from_ns) as f64;
    assert_within("X R", in_flight, 8.0, 1.0);
}

#[test]
fn seeks_in_a_file_on_a_disk_take_its_seek_and_half_a_turn() {
    let mut os = os("os(hdd-7200?capacity=2GiB)?memory=64MiB");
    let bytes = 960 * MIB;
    let calls = [Call::Create { file: 1 }]
        .into_iter()
        .chain(writes(1, bytes, 1 << 20));
    let from_ns = alone(&mut os, calls.chain([Call::DropCaches]), 0);
    let mut random = Random(3);
    let seeks: Vec<u64> = (0..2_000)
        .map(|_| random.below(bytes / 8192) * 8192)
        .collect();
    let read = |&offset_bytes: &u64| Call::Read {
        file: 1,
        offset_bytes,
        length_bytes: 8 * KIB,
        how: How {
            direct: true,
            ..How::default()
        },
    };
    let ended_ns = alone(&mut os, seeks.iter().map(read), from_ns);
    // Mean of t + r sqrt(d) below the knee, between two places of a share s: 8/15 sqrt(s);
    // linear beyond it, which a share of 0.47 reaches seldom.
    let share: f64 = 960.0 / 2048.0;
    let seek_ms = 0.8 + 13.0 * share.sqrt() * 8.0 / 15.0;
    let expected_ms = seek_ms + 8.333 / 2.0 + 8.192 / 155.0;
    let found_ms = (ended_ns - from_ns) as f64 / 2_000e6;
    assert_within("ms a seek", found_ms, expected_ms, 3.0);
}

#[test]
fn the_same_calls_end_at_the_same_times_and_leave_the_same_state() {
    let mix = |seed: u64| {
        let mut random = Random(seed);
        let first = seed as u32 * 1_000;
        let calls = (0..300).flat_map(move |number| {
            let file = first + number;
            let (bytes, length_bytes) = (random.below(1 << 16), 1 + random.below(1 << 14) as u32);
            let how = How::default();
            let write = |offset_bytes| Call::Write {
                file,
                offset_bytes,
                length_bytes,
                how,
            };
            let end = match number % 3 {
                0 => Call::Fsync { file },
                1 => Call::Unlink { file },
                _ => Call::Stat { file },
            };
            [Call::Create { file }, write(0), write(bytes), end]
        });
        script(calls)
    };
    let go = || {
        let mut os = os("os(hdd-7200)?memory=64MiB");
        let mut programs: Vec<_> = (1..=5).map(mix).collect();
        let ended_ns = run(&mut os, &mut programs, 0).unwrap();
        let acts: Vec<_> = programs.into_iter().flat_map(|one| one.acts).collect();
        (ended_ns, acts, os.digest(), os.counts())
    };
    let (one, next) = (go(), go());
    assert!(one.1.iter().all(|(_, _, done)| done.result >= 0));
    assert_eq!(one, next);
}

#[test]
fn programs_that_flush_together_share_commits() {
    let mut os = os("os(hdd-7200)");
    let program = |worker: u32| {
        let files = worker * 100..worker * 100 + 20;
        script(files.flat_map(|file| [Call::Create { file }, Call::Fsync { file }]))
    };
    let mut programs: Vec<_> = (0..8).map(program).collect();
    run(&mut os, &mut programs, 0).unwrap();
    let commits = count(&os, "commits");
    assert!(
        (20..=48).contains(&commits),
        "{commits} commits for 160 flushes"
    );
}

#[test]
fn a_synchronous_write_is_a_write_and_its_flush() {
    let sync = How {
        synchronous: true,
        ..How::default()
    };
    let write = |number: u64, how| Call::Write {
        file: 1,
        offset_bytes: number * 4096,
        length_bytes: 4 * KIB,
        how,
    };
    let create = [Call::Create { file: 1 }];
    let mut one = os("os(s3700)");
    let calls = create
        .into_iter()
        .chain((0..50).map(|number| write(number, sync)));
    let synchronous_ns = alone(&mut one, calls, 0);
    let mut next = os("os(s3700)");
    let pair = |number| [write(number, How::default()), Call::Fsync { file: 1 }];
    let flushed_ns = alone(
        &mut next,
        create.into_iter().chain((0..50).flat_map(pair)),
        0,
    );
    assert_within("s", synchronous_ns as f64, flushed_ns as f64, 1.5);
    assert_eq!(count(&one, "commits"), count(&next, "commits"));
}

#[test]
fn bytes_one_by_one_cost_their_calls() {
    let mut os = os("os(intel-330)");
    let created_ns = alone(&mut os, [Call::Create { file: 1 }], 0);
    let written_ns = alone(&mut os, writes(1, 3 * MIB, 1), created_ns);
    assert_eq!(written_ns - created_ns, 3 * MIB * 800);
    assert_eq!(count(&os, "dirty_bytes"), 3 * MIB);
}

#[test]
fn files_come_and_go_and_errors_are_those_of_a_file_system() {
    let mut os = os("os(intel-330?capacity=1GiB)");
    let free = os.free_bytes();
    let calls = [
        Call::Stat { file: 1 },
        Call::Create { file: 1 },
        Call::Create { file: 1 },
        Call::Unlink { file: 1 },
        Call::Fsync { file: 1 },
    ];
    let mut programs = [script(calls.into_iter())];
    run(&mut os, &mut programs, 0).unwrap();
    let results: Vec<i64> = programs[0]
        .acts
        .iter()
        .map(|(_, _, done)| done.result)
        .collect();
    assert_eq!(results, [-2, 0, -17, 0, -2]);
    let calls = [Call::Create { file: 2 }]
        .into_iter()
        .chain(writes(2, 2048 * MIB, 1 << 20));
    let mut programs = [script(calls)];
    run(&mut os, &mut programs, SECOND).unwrap();
    assert_eq!(programs[0].acts.last().unwrap().2.result, -28);
    alone(&mut os, [Call::Unlink { file: 2 }], 1_000 * SECOND);
    assert_eq!(
        os.free_bytes(),
        free - 4096,
        "the directory keeps its block"
    );
    assert_eq!(count(&os, "dirty_bytes"), 0);
}

#[test]
fn an_open_transaction_is_committed_after_five_seconds() {
    let mut os = os("os(hdd-7200)");
    let calls = [
        Call::Create { file: 1 },
        Call::Compute { ns: 6 * SECOND },
        Call::Stat { file: 1 },
    ];
    alone(&mut os, calls, 0);
    assert_eq!(count(&os, "commits"), 1);
}

#[test]
fn a_device_that_falls_silent_is_said() {
    let mut os = os("os(faulty(s3700)?hang_at_ms=1&timeout_ms=1000000000)");
    let calls = [
        Call::Create { file: 1 },
        Call::Compute { ns: 2_000_000 },
        Call::Fsync { file: 1 },
    ];
    let mut programs = [script(calls.into_iter())];
    let ended = run(&mut os, &mut programs, 0);
    let last = programs[0].acts.last().unwrap();
    assert!(ended.is_err() || last.2.result < 0, "{ended:?}, {last:?}");
}

#[test]
fn an_operating_system_stands_before_the_whole_device() {
    let error = open("raid0(os(s3700), s3700)").unwrap_err().to_string();
    assert!(error.contains("goes around all of it"), "{error}");
    let error = open("os(s3700, s3700)").unwrap_err().to_string();
    assert!(error.contains("one device"), "{error}");
    let error = open("os(hdd-7200?capacity=4MiB)").unwrap_err().to_string();
    assert!(error.contains("file system"), "{error}");
}

/// A step on large files, on a device in a session of its own.
fn step(session: &mut SimSession<Node>, plan: &LargePlan) -> teijo_engine::files::crew::Done {
    session
        .run_large(plan, false, &mut |_| Verdict::GoOn)
        .unwrap()
}

fn large(operation: Operation) -> LargePlan {
    LargePlan {
        operation,
        file_bytes: 64 * MIB,
        chunk_bytes: 8 * KIB,
        calls: 1_000,
        fresh: operation == Operation::Write,
        rewrite_percent: 10,
        seed: 1,
        offset_seed: 1,
        ..LargePlan::default()
    }
}

#[test]
fn a_plan_of_the_engine_is_carried_out_call_by_call() {
    let mut session = SimSession::new(open("os(hdd-7200)").unwrap());
    let written = step(&mut session, &large(Operation::Write));
    let calls = 64 * MIB / (8 * 1024);
    assert_eq!(written.main.times.count(), calls);
    assert_eq!(written.main.bytes, 64 * MIB);
    assert_eq!(written.main.times.sum_ns(), calls_ns(calls, 800, 8 * KIB));
    assert_eq!(
        (written.flush.times.count(), written.close.times.count()),
        (1, 1)
    );
    // The time of the step is that of its calls, its flush and its close.
    let all_ns = [&written.main, &written.flush, &written.close].map(|one| one.times.sum_ns());
    assert_eq!(written.elapsed_ns, all_ns.iter().sum::<u64>());
    let counted: u64 = written.intervals.iter().map(|one| one.ios).sum();
    assert_eq!(counted, calls);
    let again = step(&mut session, &large(Operation::Rewrite));
    assert_eq!(
        again.main.times.sum_ns(),
        calls_ns(calls, 800 + 165, 0) + calls * 2 * 3_034
    );
    let seeks = step(
        &mut session,
        &LargePlan {
            workers: 5,
            share: true,
            ..large(Operation::Seek)
        },
    );
    assert_eq!(seeks.main.times.count(), 1_000);
    assert_eq!(seeks.flush.times.count(), 5);
}

#[test]
fn a_flush_that_is_timed_is_in_the_last_call_alone() {
    let run = |timed_fsync| {
        let mut session = SimSession::new(open("os(hdd-7200)").unwrap());
        step(
            &mut session,
            &LargePlan {
                timed_fsync,
                ..large(Operation::Write)
            },
        )
    };
    let (without, with) = (run(false), run(true));
    assert_eq!(without.elapsed_ns, with.elapsed_ns);
    let added = with.main.times.max_ns() - without.main.times.max_ns();
    assert_eq!(added, with.flush.times.max_ns() + with.close.times.max_ns());
    // No other call has it, and none has the call that came after it.
    let sums = [&with, &without].map(|done| done.main.times.sum_ns());
    assert_eq!(sums[0] - sums[1], added);
    let series: u64 = with.intervals.iter().map(|one| one.latency_sum_ns).sum();
    assert_eq!(series, with.main.times.sum_ns());
}

#[test]
fn a_device_without_an_operating_system_gets_one_and_goes_on_with_blocks() {
    let mut bare = SimSession::new(open("intel-330").unwrap());
    let mut whole = SimSession::new(open("os(intel-330)").unwrap());
    let plan = LargePlan {
        workers: 4,
        ..large(Operation::Write)
    };
    assert_eq!(step(&mut bare, &plan).main, step(&mut whole, &plan).main);
    assert_eq!(bare.now_ns(), whole.now_ns());
    assert!(bare.facts().model.contains("OS(INTEL-330"));
    let missing = large(Operation::Read);
    let mut empty = SimSession::new(open("intel-330").unwrap());
    assert!(empty
        .run_large(&missing, false, &mut |_| Verdict::GoOn)
        .is_err());
}

#[test]
fn small_files_are_made_looked_at_and_deleted() {
    let mut session = SimSession::new(open("os(hdd-7200)").unwrap());
    let plan = |operation, order| SmallPlan {
        operation,
        count: 500,
        size_least_bytes: 100,
        size_bytes: 10_000,
        chunk_bytes: 4096,
        directories: 0,
        names: NameStyle::Numbers,
        links: Links::None,
        order,
        content: Content::Random,
        fsync: operation == SmallOperation::Create,
        fsync_directory: false,
        timed_fsync: false,
        sync_at_end: false,
        read: true,
        seed: 3,
        interval_ns: SECOND,
    };
    let mut run = |operation, order| {
        let plan = plan(operation, order);
        session.run_small(&plan, &mut |_| Verdict::GoOn)
    };
    let made = run(SmallOperation::Create, Order::Sequential).unwrap();
    assert_eq!(
        (made.main.times.count(), made.flush.times.count()),
        (500, 500)
    );
    assert_within("mean size", made.main.bytes as f64 / 500.0, 5_050.0, 6.0);
    let seen = run(SmallOperation::Stat, Order::Random).unwrap();
    assert_eq!(seen.main.bytes, made.main.bytes);
    let gone = run(SmallOperation::Delete, Order::Random).unwrap();
    assert_eq!(gone.main.times.count(), 500);
    assert!(
        run(SmallOperation::Stat, Order::Random).is_err(),
        "none is left"
    );
}

#[test]
fn who_looks_on_may_stop_the_work() {
    let mut session = SimSession::new(open("os(s3700)").unwrap());
    let plan = LargePlan {
        chunk_bytes: 1,
        fsync: false,
        ..large(Operation::Write)
    };
    let done = session
        .run_large(&plan, false, &mut |_| Verdict::Stop)
        .unwrap();
    assert!(done.stopped);
    assert!(done.main.times.count() < 64 * MIB);
}
