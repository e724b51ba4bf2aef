//! Faults: what a run notices is what was injected, to the last I/O and the last sector.

use std::collections::BTreeMap;

use teijo_engine::lap::{DirectionLap, Lap};
use teijo_engine::plan::{Access, Bound, Plan, Range, StreamPlan, Verify, Written};
use teijo_engine::request::Op;
use teijo_engine::verify::Fault;
use teijo_sim::compose::{open, Node};
use teijo_sim::device::{serve_alone, Device};
use teijo_sim::fault::params::FAULT_PARAMETERS;
use teijo_sim::session::{SimSession, Unobserved};

const PAGE: &str = include_str!("../../../../docs/reference/simulated-faults.md");
/// What it acknowledged is safe: what a power cut takes is the fault's own.
const SSD: &str = "slc-a?nominal_capacity=128MiB&scale=1&power_loss_protection=on";
const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
const MIB: u64 = 1 << 20;
const BLOCK: u32 = 8 << 10;
const EIO: i32 = 5;
const NO_SPACE: i32 = 28;
const TIMED_OUT: i32 = 110;

fn session(faults: &str) -> SimSession<Node> {
    let text = format!("faulty({SSD})?{faults}");
    SimSession::new(open(&text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

/// The first bytes of the device.
fn first(segment_bytes: u64) -> Range {
    Range {
        segments: 1,
        segment_bytes,
        ..Range::default()
    }
}

/// 64 MiB, in 8 KiB blocks.
fn load(access: Access, read_percent: u8, queue_depth: u32) -> StreamPlan {
    StreamPlan {
        queue_depth,
        read_percent,
        block_size_bytes: BLOCK,
        access,
        range: first(64 * MIB),
        seed: 3,
        ..StreamPlan::default()
    }
}

const SEQUENTIAL: Access = Access::Sequential { cursor_bytes: 0 };

fn run(session: &mut SimSession<Node>, stream: StreamPlan, bound: Bound) -> Lap {
    let plan = Plan {
        streams: vec![stream],
        bound,
        interval_ns: SECOND,
        open_ended: false,
        continues: false,
    };
    session.run(&plan, &mut Unobserved).expect("a plan")
}

fn bytes(total_bytes: u64) -> Bound {
    Bound::Bytes { total_bytes }
}

fn counts(session: &SimSession<Node>) -> BTreeMap<String, u64> {
    let counts = session.counts().into_iter();
    counts
        .map(|(name, count)| (name.into_owned(), count))
        .collect()
}

fn errors(direction: &DirectionLap, errno: i32) -> u64 {
    direction.errors.get(&errno).copied().unwrap_or(0)
}

/// Writes the range once in order, verified; returns what is to be read then.
fn write_verified(
    session: &mut SimSession<Node>,
    queue_depth: u32,
    past: &[Written],
) -> (Lap, Vec<Written>) {
    let generation = past.last().map_or(1, |last| last.generation + 1);
    let verify = Verify {
        run: 77,
        generation,
        written: past.to_vec(),
    };
    let stream = StreamPlan {
        verify: Some(verify),
        ..load(SEQUENTIAL, 0, queue_depth)
    };
    let lap = run(session, stream, bytes(64 * MIB));
    let mut written = past.to_vec();
    written.extend(lap.streams[0].written);
    (lap, written)
}

/// Reads the range once and holds it to what was `written`; returns the faulty sectors.
fn read_back(session: &mut SimSession<Node>, written: &[Written]) -> (Lap, BTreeMap<Fault, u64>) {
    let verify = Verify {
        run: 77,
        generation: 100,
        written: written.to_vec(),
    };
    let stream = StreamPlan {
        verify: Some(verify),
        ..load(SEQUENTIAL, 100, 4)
    };
    let lap = run(session, stream, bytes(64 * MIB));
    let findings = &lap.streams[0].read.findings;
    assert_eq!(findings.sectors, 64 * MIB / 512, "all are judged");
    let faults = findings.faults.clone();
    (lap, faults)
}

#[test]
fn a_device_without_a_fault_is_as_its_part_to_the_nanosecond() {
    for depth in [1, 16] {
        for read_percent in [0, 50, 100] {
            let mut alone = SimSession::new(open(&format!("raid1(2×{SSD})")).unwrap());
            let text = format!("faulty(raid1(2×{SSD}))");
            let mut faulty = SimSession::new(open(&text).unwrap());
            for session in [&mut alone, &mut faulty] {
                session.purge();
                session.idle(SECOND);
            }
            let stream = load(Access::Random, read_percent, depth);
            let bound = Bound::Time {
                duration_ns: SECOND / 10,
            };
            let laps = [&mut alone, &mut faulty].map(|one| run(one, stream.clone(), bound));
            // Ends at one moment are told one by one: that alone, the turns, may differ.
            let what = |lap: &Lap| (lap.elapsed_ns, lap.streams.clone());
            assert_eq!(
                what(&laps[0]),
                what(&laps[1]),
                "depth {depth}, {read_percent} % reads"
            );
            assert_eq!(alone.health(), faulty.health());
            // The drives below count what nobody wrote; what is counted of faults is 0.
            let of_drives = |name: &str| name.ends_with("unwritten_read_bytes");
            let of_faults =
                |(name, count): (&String, &u64)| name != "ios" && !of_drives(name) && *count > 0;
            assert!(!counts(&faulty).iter().any(of_faults));
        }
    }
}

#[test]
fn errors_noticed_are_errors_injected_and_as_many_as_the_percentage_says() {
    let mut session = session("eio_percent=5&eio_of=read&seed=9");
    let lap = run(&mut session, load(Access::Random, 50, 8), bytes(160 * MIB));
    let stream = &lap.streams[0];
    let found = errors(&stream.read, EIO);
    assert_eq!(found, counts(&session)["errors"]);
    assert_eq!(errors(&stream.write, EIO), 0);
    let share = found as f64 / (stream.read.ios + found) as f64;
    // About 10,000 reads: one standard deviation is 0.2 %.
    assert!((share - 0.05).abs() < 0.01, "{share}");
    assert_eq!(lap.failure, None);
}

#[test]
fn a_bad_stretch_fails_what_touches_it_and_only_after_its_time() {
    let faults = "eio_from=1MiB&eio_size=4KiB&eio_of=write&eio_after=64MiB";
    let mut session = session(faults);
    let once = run(&mut session, load(SEQUENTIAL, 0, 4), bytes(64 * MIB));
    let second = run(&mut session, load(SEQUENTIAL, 0, 4), bytes(64 * MIB));
    let read = run(&mut session, load(SEQUENTIAL, 100, 4), bytes(64 * MIB));
    assert_eq!(once.streams[0].write.errors.len(), 0);
    assert_eq!(second.streams[0].write.errors, BTreeMap::from([(EIO, 1)]));
    assert_eq!(read.streams[0].read.errors.len(), 0);
    let device = &mut open(&format!("faulty({SSD})?{faults}&eio_after=0")).err();
    assert!(device
        .as_ref()
        .is_some_and(|error| error.to_string().contains("twice")));
}

#[test]
fn a_hang_with_an_end_delays_what_it_meets_and_nothing_is_lost() {
    let mut session = session("hang_at_ms=20&hang_ms=300");
    let lap = run(&mut session, load(Access::Random, 100, 8), bytes(64 * MIB));
    let read = &lap.streams[0].read;
    assert_eq!(
        (read.ios, read.errors.len()),
        (64 * MIB / u64::from(BLOCK), 0)
    );
    let longest_ns = read.latency.max_ns();
    assert!((300 * MS..302 * MS).contains(&longest_ns), "{longest_ns}");
    // Eight in flight: they met it, and none came in meanwhile.
    let slow = read.latency.pairs().into_iter();
    let slow: u64 = slow
        .filter(|&(ns, _)| ns > 200 * MS)
        .map(|(_, count)| count)
        .sum();
    assert_eq!(slow, 8);
    let counts = counts(&session);
    assert_eq!((counts["held"], counts["timed_out"]), (0, 0));
}

#[test]
fn a_hang_longer_than_the_host_waits_is_a_time_out_and_the_device_comes_back() {
    let mut session = session("hang_after_ios=100&hang_ms=1000&timeout_ms=400");
    let lap = run(&mut session, load(Access::Random, 100, 4), bytes(16 * MIB));
    let read = &lap.streams[0].read;
    let counts = counts(&session);
    assert_eq!(lap.failure, None);
    assert_eq!(errors(read, TIMED_OUT), counts["timed_out"]);
    // Four at a time give up after 400 and 800 ms; the four after them are answered.
    assert_eq!(counts["timed_out"], 8);
    assert_eq!(read.ios + 8, 16 * MIB / u64::from(BLOCK));
}

#[test]
fn a_hang_for_ever_is_a_device_that_is_gone() {
    for text in [
        format!("faulty({SSD})?hang_after_ios=100"),
        format!("raid0(2×faulty({SSD})?hang_after_ios=100)"),
        format!("faulty(raid5(3×faulty({SSD})?hang_after_ios=1000))?hang_at_ms=30"),
    ] {
        let mut session = SimSession::new(open(&text).unwrap());
        let lap = run(&mut session, load(Access::Random, 50, 4), bytes(64 * MIB));
        let failure = lap.failure.expect("it fails").to_string();
        assert!(failure.contains("is gone"), "{text}: {failure}");
        assert!(
            (30 * SECOND..31 * SECOND).contains(&lap.elapsed_ns),
            "{text}"
        );
        session.idle(SECOND);
        session.purge();
        let again = run(&mut session, load(Access::Random, 50, 4), bytes(MIB));
        assert!(again.failure.is_some(), "it stays away");
    }
}

#[test]
fn a_power_cut_ends_what_is_in_flight_and_the_device_is_away_for_its_time() {
    let mut session = session("cut_at_ms=50&cut_ms=700");
    let lap = run(&mut session, load(Access::Random, 0, 8), bytes(64 * MIB));
    let write = &lap.streams[0].write;
    let counts = counts(&session);
    assert_eq!(lap.failure, None);
    assert_eq!(counts["power_cuts"], 1);
    assert_eq!(errors(write, EIO), counts["cut_in_flight"]);
    assert_eq!(counts["cut_in_flight"], 8);
    assert_eq!(counts["held"], 8, "the next eight wait until it is back");
    let longest_ns = write.latency.max_ns();
    assert!((700 * MS..705 * MS).contains(&longest_ns), "{longest_ns}");
}

#[test]
fn a_device_that_power_does_not_come_back_to_is_gone_at_once() {
    let mut session = session("cut_after=1MiB&cut_ms=forever");
    let lap = run(&mut session, load(Access::Random, 0, 4), bytes(64 * MIB));
    let failure = lap.failure.expect("it fails").to_string();
    assert!(
        failure.contains("gone") && failure.contains("No such device"),
        "{failure}"
    );
    assert!(lap.elapsed_ns < SECOND);
    assert_eq!(lap.streams[0].write.bytes, MIB);
}

#[test]
fn a_power_cut_takes_the_last_that_was_written_and_verification_finds_every_sector_of_it() {
    for (volatile, lost_bytes) in [("1MiB", MIB), ("0", 0), ("40KiB", 40 << 10)] {
        let mut session = session(&format!("cut_after=16MiB&volatile={volatile}"));
        // One at a time: nothing is in flight when the write that is one too many has ended.
        let (lap, written) = write_verified(&mut session, 1, &[]);
        assert_eq!(lap.streams[0].write.errors.len(), 0);
        let (_, faults) = read_back(&mut session, &written);
        let expected = (lost_bytes > 0).then_some((Fault::Zero, lost_bytes / 512));
        assert_eq!(faults, expected.into_iter().collect());
        let counts = counts(&session);
        assert_eq!(counts["lost_bytes"], lost_bytes);
        assert_eq!(counts["content.lost_sectors"], lost_bytes / 512);
    }
}

#[test]
fn what_a_power_cut_takes_of_a_second_pass_is_stale() {
    let mut session = session("cut_after=80MiB&volatile=1MiB");
    let (_, first) = write_verified(&mut session, 1, &[]);
    let (_, both) = write_verified(&mut session, 1, &first);
    let (_, faults) = read_back(&mut session, &both);
    assert_eq!(faults, BTreeMap::from([(Fault::Stale, MIB / 512)]));
}

#[test]
fn what_a_cache_had_not_drained_is_lost_with_the_power_unless_it_has_a_battery() {
    for (battery, is_lost) in [("off", true), ("on", false)] {
        let text = format!(
            "faulty(cache({SSD})?size=16MiB&start_percent=50&stop_percent=40&battery={battery})\
             ?cut_after=40MiB"
        );
        let mut session = SimSession::new(open(&text).unwrap_or_else(|error| panic!("{error}")));
        let (_, written) = write_verified(&mut session, 1, &[]);
        let (_, faults) = read_back(&mut session, &written);
        let counts = counts(&session);
        assert_eq!(counts["power_cuts"], 1);
        assert_eq!(counts["lost_below_bytes"] > MIB, is_lost, "{counts:?}");
        assert_eq!(
            faults.values().sum::<u64>(),
            counts["lost_below_bytes"] / 512
        );
    }
}

#[test]
fn what_a_part_held_in_a_cache_of_its_own_is_lost_sector_by_sector() {
    for (part, is_lost) in [
        (SSD.replace("=on", "=off"), true),
        (SSD.into(), false),
        ("hdd-7200?capacity=256MiB".into(), true),
        ("hdd-7200?capacity=256MiB&write_cache=0".into(), false),
        ("raid0(2×hdd-7200?capacity=256MiB)?chunk=64KiB".into(), true),
        ("raid1(2×hdd-7200?capacity=256MiB)".into(), true),
        ("raid5(3×hdd-7200?capacity=256MiB)?chunk=64KiB".into(), true),
    ] {
        let text = format!("faulty({part})?cut_after=40MiB");
        let mut session = SimSession::new(open(&text).unwrap_or_else(|error| panic!("{error}")));
        let (_, written) = write_verified(&mut session, 1, &[]);
        let (_, faults) = read_back(&mut session, &written);
        let counts = counts(&session);
        assert_eq!(counts["power_cuts"], 1, "{part}");
        assert_eq!(
            counts["lost_below_bytes"] > 0,
            is_lost,
            "{part}: {counts:?}"
        );
        let sectors = faults.values().sum::<u64>();
        println!(
            "{part}: {sectors} sectors of {} B",
            counts["lost_below_bytes"]
        );
        assert_eq!(sectors > 0, is_lost, "{part}: {counts:?}");
        assert_eq!(
            sectors,
            counts.get("content.lost_sectors").copied().unwrap_or(0),
            "{part}"
        );
        // Of mirrors and parity more bytes are lost than sectors of the host.
        assert!(sectors <= counts["lost_below_bytes"] / 512, "{part}");
        if !part.starts_with("raid") {
            assert_eq!(sectors, counts["lost_below_bytes"] / 512, "{part}");
        }
    }
}

#[test]
fn a_flush_saves_what_was_written_before_it() {
    let mut session = session("cut_after=16MiB&volatile=1MiB");
    let verify = Verify {
        run: 77,
        generation: 1,
        written: Vec::new(),
    };
    let stream = StreamPlan {
        flush_every_writes: 64,
        verify: Some(verify),
        ..load(SEQUENTIAL, 0, 1)
    };
    // The write that the cut follows is number 2,048, 64 after the last flush but one.
    let lap = run(&mut session, stream, bytes(64 * MIB));
    assert_eq!(lap.streams[0].write.errors.len(), 0);
    assert_eq!(counts(&session)["lost_bytes"], 64 * u64::from(BLOCK));
}

#[test]
fn stale_reads_dropped_and_torn_writes_and_wrong_bits_are_all_found() {
    // (what is injected, its count, what it looks like to a reader)
    let cases = [
        (
            "stale_percent=2",
            "stale",
            "content.stale_sectors",
            Fault::Stale,
        ),
        (
            "drop_percent=2",
            "dropped",
            "content.dropped_sectors",
            Fault::Stale,
        ),
        (
            "torn_percent=2",
            "torn",
            "content.torn_sectors",
            Fault::Torn,
        ),
        (
            "flip_percent=2",
            "flipped",
            "content.flipped_sectors",
            Fault::BitFlip,
        ),
    ];
    for (faults, ios, sectors, fault) in cases {
        let mut session = session(faults);
        let (_, first) = write_verified(&mut session, 4, &[]);
        let before = counts(&session);
        let (_, both) = write_verified(&mut session, 4, &first);
        let (_, found) = read_back(&mut session, &both);
        let after = counts(&session);
        // 8,192 I/Os: 164 are expected, and 13 is one standard deviation.
        assert!(
            (after[ios] - before[ios]).abs_diff(164) < 50,
            "{faults}: {after:?}"
        );
        let injected = after[sectors] - before[sectors];
        // What the first pass missed as well was never written at all.
        let never = found.get(&Fault::Zero).copied().unwrap_or(0);
        let all = found.get(&fault).copied().unwrap_or(0) + never;
        assert_eq!(all, injected, "{faults}: {found:?}");
        assert_eq!(
            found.values().sum::<u64>(),
            all,
            "{faults}: and nothing else"
        );
    }
}

#[test]
fn verification_of_a_device_without_a_fault_finds_none() {
    for text in [
        format!("faulty({SSD})"),
        SSD.to_owned(),
        "hdd-7200?capacity=1GiB".to_owned(),
    ] {
        let mut session = SimSession::new(open(&text).unwrap());
        let verify = Some(Verify {
            run: 5,
            generation: 1,
            written: Vec::new(),
        });
        let stream = StreamPlan {
            threads: 3,
            verify,
            ..load(Access::Random, 50, 4)
        };
        let lap = run(&mut session, stream, bytes(64 * MIB));
        let findings = &lap.streams[0].read.findings;
        assert!(findings.sectors > 10_000, "{text}: {findings:?}");
        assert_eq!(findings.sectors_faulty(), 0, "{text}: {findings:?}");
    }
}

#[test]
fn data_cost_no_virtual_time() {
    let stream = load(SEQUENTIAL, 0, 8);
    let mut plain = session("seed=1");
    let lap = run(&mut plain, stream, bytes(64 * MIB));
    let (verified, _) = write_verified(&mut session("seed=1"), 8, &[]);
    assert_eq!(lap.elapsed_ns, verified.elapsed_ns);
    assert_eq!(lap.streams[0].write, verified.streams[0].write);
}

#[test]
fn what_is_written_without_verification_is_not_what_was_verified() {
    let mut session = session("seed=1");
    let (_, written) = write_verified(&mut session, 4, &[]);
    let plain = StreamPlan {
        range: first(MIB),
        ..load(SEQUENTIAL, 0, 4)
    };
    run(&mut session, plain, bytes(MIB));
    let (_, faults) = read_back(&mut session, &written);
    assert_eq!(faults, BTreeMap::from([(Fault::Zero, MIB / 512)]));
    session.purge();
    let (_, faults) = read_back(&mut session, &written);
    assert_eq!(faults, BTreeMap::from([(Fault::Zero, 64 * MIB / 512)]));
}

#[test]
fn more_than_is_kept_is_refused_before_anything_runs() {
    let mut session = SimSession::new(open("slc-a").unwrap());
    let range = first(2 << 30);
    let verify = Some(Verify {
        run: 5,
        generation: 1,
        written: Vec::new(),
    });
    let stream = StreamPlan {
        range,
        verify,
        ..load(SEQUENTIAL, 0, 4)
    };
    let plan = |bound| Plan {
        streams: vec![stream.clone()],
        bound,
        interval_ns: SECOND,
        open_ended: false,
        continues: false,
    };
    let refused = session.run(&plan(Bound::Time { duration_ns: MS }), &mut Unobserved);
    assert!(refused.unwrap_err().to_string().contains("1 GiB"));
    assert_eq!(session.now_ns(), 0);
    session
        .run(&plan(bytes(MIB)), &mut Unobserved)
        .expect("that little is kept");
}

#[test]
fn a_thin_device_takes_as_many_distinct_bytes_as_it_has_and_a_discard_gives_some_back() {
    let mut session = session("enospc_after=32MiB");
    let lap = run(&mut session, load(SEQUENTIAL, 0, 4), bytes(64 * MIB));
    // From the half on each is refused, until a thousand in a row say that nothing goes any more.
    let write = &lap.streams[0].write;
    assert_eq!(write.bytes, 32 * MIB);
    let refused = errors(write, NO_SPACE);
    assert_eq!(refused, counts(&session)["no_space"]);
    assert!(lap.failure.unwrap().to_string().contains("No space left"));
    let again = run(&mut session, load(SEQUENTIAL, 0, 4), bytes(32 * MIB));
    assert_eq!(
        again.streams[0].write.errors.len(),
        0,
        "what is there is overwritten"
    );

    let mut device = open(&format!("faulty({SSD})?enospc_after=8KiB")).unwrap();
    let mut write = |op, offset, at| serve_alone(&mut device, op, offset, 8192, at).result;
    assert_eq!(write(Op::Write, 0, 0), 8192);
    assert_eq!(write(Op::Write, 65_536, MS), -28);
    write(Op::Discard, 0, 2 * MS);
    assert_eq!(write(Op::Write, 65_536, 3 * MS), 8192);
    assert_eq!(write(Op::Write, 1 << 40, 4 * MS), -28, "beyond its end");
}

#[test]
fn a_slow_stretch_takes_its_factor_longer_and_the_rest_as_long_as_ever() {
    let mut device = open(&format!("faulty({SSD})?slow_factor=5&slow_percent=25")).unwrap();
    let mut plain = open(SSD).unwrap();
    for (place, factor) in [(0, 5), (31 * MIB, 5), (32 * MIB, 1), (100 * MIB, 1)] {
        let at = SECOND * (place + 1);
        let took = serve_alone(&mut device, Op::Read, place, BLOCK, at).done_ns - at;
        let usual = serve_alone(&mut plain, Op::Read, place, BLOCK, at).done_ns - at;
        assert_eq!(took, factor * usual, "at {place}");
    }
}

#[test]
fn faults_come_out_the_same_again_and_a_fork_goes_its_own_way_alike() {
    let faults = "eio_percent=1&stale_percent=1&drop_percent=1&torn_percent=1&flip_percent=1\
                  &cut_at_ms=40&volatile=1MiB&hang_after_ios=3000&hang_ms=20&slow_factor=3";
    let mut one = session(faults);
    let mut two = session(faults);
    let stream = || StreamPlan {
        threads: 2,
        verify: Some(Verify {
            run: 5,
            generation: 1,
            written: Vec::new(),
        }),
        ..load(Access::Random, 50, 4)
    };
    let laps = [&mut one, &mut two].map(|session| run(session, stream(), bytes(64 * MIB)));
    assert_eq!(laps[0], laps[1]);
    let mut fork = one.fork();
    let laps = [&mut one, &mut fork].map(|session| run(session, stream(), bytes(32 * MIB)));
    assert_eq!(laps[0], laps[1]);
    assert_eq!(one.device().digest(), fork.device().digest());
    assert_eq!(counts(&one), counts(&fork));
    assert_ne!(one.device().digest(), two.device().digest());
    assert!(counts(&one)["power_cuts"] == 1 && counts(&one)["errors"] > 0);
}

#[test]
fn a_draw_does_not_depend_on_the_other_faults() {
    let errors_with = |more: &str| {
        let mut session = session(&format!("eio_percent=3{more}"));
        let lap = run(&mut session, load(SEQUENTIAL, 0, 1), bytes(64 * MIB));
        lap.streams[0].write.errors[&EIO]
    };
    let alone = errors_with("");
    assert_eq!(
        alone,
        errors_with("&drop_percent=10&slow_factor=4&hang_at_ms=5&hang_ms=50")
    );
    assert_ne!(alone, errors_with("&seed=2"));
}

#[test]
fn volumes_shrink_with_the_device_and_times_do_not() {
    for text in [
        "faulty(slc-a)?cut_after=1GB&scale=100&cut_ms=forever",
        "faulty(slc-a?scale=100)?cut_after=1GB&cut_ms=forever",
        "faulty(slc-a?capacity=1000MiB&nominal_capacity=100000MiB)?cut_after=1GB&cut_ms=forever",
    ] {
        let mut session = SimSession::new(open(text).unwrap());
        let lap = run(&mut session, load(SEQUENTIAL, 0, 1), bytes(64 * MIB));
        let after = lap.streams[0].write.bytes;
        assert!((9_900_000..10_100_000).contains(&after), "{text}: {after}");
    }
    let text = format!("faulty({SSD})?hang_at_ms=7&hang_ms=90&scale=100");
    let mut session = SimSession::new(open(&text).unwrap());
    let lap = run(&mut session, load(SEQUENTIAL, 0, 1), bytes(64 * MIB));
    assert!(lap.streams[0].write.latency.max_ns() / MS == 90);
}

#[test]
fn what_needs_data_is_refused_where_there_is_none() {
    let within = |faults: &str| open(&format!("raid0(2×faulty({SSD})?{faults})"));
    let refusal = within("eio_percent=1&torn_percent=1")
        .unwrap_err()
        .to_string();
    assert!(refusal.contains("torn_percent is about data"), "{refusal}");
    assert!(within("eio_percent=1&cut_at_ms=5&slow_factor=2").is_ok());
    for text in [
        "faulty()",
        "faulty(slc-a, slc-a)",
        "faulty",
        "faulty(slc-a)?eio_percent=101",
    ] {
        assert!(open(text).is_err(), "{text}");
    }
    let unknown = open("faulty(slc-a)?stale=1").unwrap_err().to_string();
    assert!(unknown.contains("stale_percent (%)"), "{unknown}");
}

#[test]
fn an_array_counts_what_befell_each_member() {
    let text = format!("raid0({SSD}, faulty({SSD})?eio_percent=10)?chunk=64KiB");
    let mut session = SimSession::new(open(&text).unwrap());
    let lap = run(&mut session, load(Access::Random, 0, 4), bytes(16 * MIB));
    let found = errors(&lap.streams[0].write, EIO);
    assert!(found > 0);
    assert_eq!(found, counts(&session)["1.errors"]);
    assert!(session.device().is_flash());
}

#[test]
fn every_parameter_and_every_count_is_documented() {
    for parameter in FAULT_PARAMETERS {
        let row = format!("| `{}` | {} |", parameter.name, parameter.unit);
        assert!(PAGE.contains(&row), "{row} is missing");
        assert!(PAGE.contains(parameter.meaning), "{}", parameter.meaning);
    }
    let mut session = session("seed=1");
    write_verified(&mut session, 1, &[]);
    for (name, _) in session.counts() {
        assert!(PAGE.contains(&format!("| `{name}` |")), "{name} is missing");
    }
}
