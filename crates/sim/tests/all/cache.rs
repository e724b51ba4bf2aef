//! A cache before a device against the fluid model, cache formulae and plain counting.

use crate::common::{assert_within, Random};
use crate::host::{Act, Host};
use proptest::prelude::*;
use teijo_engine::request::Op;
use teijo_sim::compose::open;
use teijo_sim::device::Device;

const SECOND: u64 = 1_000_000_000;
const KIB: u32 = 1 << 10;
const MIB: u32 = 1 << 20;
const IO_ERROR: i32 = -5;

/// A part of scale 186 that takes more than any drain below gives it.
const PART: &str = "s3700?capacity=1GiB";

/// The RAM that `size` is in a tree of the scale of `text`.
fn simulated(text: &str, nominal_bytes: u64) -> f64 {
    nominal_bytes as f64 / open(text).expect("a device").facts().scale()
}

/// Offsets of whole blocks, each once, in order or scattered.
fn offsets(host: &Host, block: u32, scattered: bool) -> impl Iterator<Item = u64> {
    let blocks = host.device.capacity_bytes() / u64::from(block);
    let step = if scattered { 104_729 } else { 1 };
    (0..blocks).map(move |number| number * step % blocks * u64::from(block))
}

/// Writes each block once at `mb_per_second`; when each came in and was acknowledged.
fn pour(host: &mut Host, block: u32, mb_per_second: f64, scattered: bool) -> Vec<(u64, u64)> {
    let gap_ns = f64::from(block) * 1e3 / mb_per_second;
    let offsets: Vec<u64> = offsets(host, block, scattered).collect();
    for (number, offset) in offsets.into_iter().enumerate() {
        host.submit(Op::Write, offset, block, (number as f64 * gap_ns) as u64);
    }
    host.settle();
    host.acts
        .iter()
        .map(|act| (act.at_ns, act.done_ns))
        .collect()
}

/// The first write that waited for room, by its number.
fn first_stalled(acks: &[(u64, u64)]) -> usize {
    let waited = |&(at_ns, done_ns): &(u64, u64)| done_ns - at_ns > SECOND / 1_000;
    acks.iter().position(waited).expect("it overflows")
}

#[test]
fn a_cache_overflows_after_size_times_source_over_what_the_drain_lacks() {
    for (source, drain, block, scattered) in [
        (110.0, 52.0, 256 * KIB, false),
        (110.0, 10.0, 64 * KIB, false),
        (60.0, 20.0, 4 * KIB, true),
        (60.0, 40.0, 16 * KIB, true),
    ] {
        let text = format!(
            "cache({PART})?size=12GB&start_percent=0&low_percent=100\
             &drain_mb_per_second={drain}"
        );
        let size = simulated(PART, 12_000_000_000);
        let mut host = Host::new(&text);
        let acks = pour(&mut host, block, source, scattered);
        let cliff = first_stalled(&acks);
        let written = cliff as f64 * f64::from(block);
        assert_within("V*", written, size * source / (source - drain), 1.0);
        // From the cliff on it goes at the pace of the drain.
        let (first, last) = (acks[cliff].1, acks[acks.len() - 1].1);
        let after = (acks.len() - 1 - cliff) as f64 * f64::from(block);
        let rate = after * 1e3 / (last - first) as f64;
        assert_within("rate after the cliff", rate, drain, 1.0);
    }
}

#[test]
fn a_drain_that_starts_late_brings_the_cliff_nearer() {
    let text =
        format!("cache({PART})?size=12GB&start_percent=40&low_percent=100&drain_mb_per_second=52");
    let size = simulated(PART, 12_000_000_000);
    let mut host = Host::new(&text);
    let acks = pour(&mut host, 64 * KIB, 110.0, false);
    let written = first_stalled(&acks) as f64 * 65_536.0;
    let expected = size * (0.4 + 0.6 * 110.0 / (110.0 - 52.0));
    assert_within("V* of a late drain", written, expected, 1.0);
}

#[test]
fn a_stall_lasts_from_the_high_mark_to_the_low_one_at_the_pace_of_the_drain() {
    let text = format!(
        "cache({PART})?size=12GB&start_percent=0&high_percent=90&low_percent=50\
         &drain_mb_per_second=20&drain_size=64KiB"
    );
    let size = simulated(PART, 12_000_000_000);
    let mut host = Host::new(&text);
    let acks = pour(&mut host, 64 * KIB, 100.0, false);
    let cliff = first_stalled(&acks);
    let written = cliff as f64 * 65_536.0;
    assert_within(
        "V* to the high mark",
        written,
        0.9 * size * 100.0 / 80.0,
        1.0,
    );
    let stalled_ns = acks[cliff].1 - acks[cliff].0;
    let expected_ns = 0.4 * size * 1e3 / 20.0;
    assert_within("stall, ns", stalled_ns as f64, expected_ns, 1.0);
    assert!(host.count("stalls") > 1, "it stalls again");
}

#[test]
fn write_through_and_off_are_the_part_to_the_nanosecond() {
    let parts = [PART, "hdd-7200", "raid5(4×hdd-7200?write_cache=0)"];
    for part in parts {
        let alone = mixed(part, 400);
        for mode in ["write-through", "off"] {
            let before = mixed(&format!("cache({part})?mode={mode}"), 400);
            assert!(before == alone, "{part} {mode}");
        }
        let back = mixed(&format!("cache({part})"), 400);
        assert!(back != alone, "{part}");
    }
}

/// Every end of a mix of reads, writes and flushes.
fn mixed(text: &str, count: u64) -> Vec<Act> {
    let mut host = Host::new(text);
    let mut random = Random(7);
    for number in 0..count {
        let op = match random.below(10) {
            0 => Op::Flush,
            1..=4 => Op::Read,
            _ => Op::Write,
        };
        let offset = random.below(host.device.capacity_bytes() / 4096) * 4096;
        let length = (1 + random.below(16) as u32) * 4 * KIB;
        host.submit(op, offset, length, number * 2_000_000);
    }
    host.settle();
    host.acts
}

#[test]
fn repeats_and_forks_are_equal_in_every_bit() {
    for text in [
        "cache(raid5(4×hdd-7200?write_cache=0))?size=1MiB&read_cache=on",
        "host-cache(s3700?capacity=256MiB&dies=4&pages_per_block=64)?memory=4GiB",
    ] {
        let mut one = Host::new(text);
        let mut other = Host::new(text);
        let mut random = Random(3);
        let mut branch = None;
        for number in 0..2_000 {
            let op = [Op::Read, Op::Write, Op::Write, Op::Flush][random.below(4) as usize];
            let offset = random.below(10_000) * 4096;
            one.submit(op, offset, 8 * KIB, number * 700_000);
            other.submit(op, offset, 8 * KIB, number * 700_000);
            if let Some(fork) = &mut branch {
                Host::submit(fork, op, offset, 8 * KIB, number * 700_000);
            } else if number == 1_000 {
                branch = Some(one.clone());
            }
        }
        let fork = branch.as_mut().expect("it was forked");
        assert_eq!(one.device.digest(), other.device.digest());
        assert_eq!(one.device.digest(), fork.device.digest());
        for host in [&mut one, &mut other, fork] {
            host.settle();
        }
        assert_eq!(one.acts, other.acts);
        assert_eq!(one.acts, fork.acts);
        other.submit(Op::Write, 0, 4 * KIB, one.now_ns);
        assert_ne!(one.device.digest(), other.device.digest());
    }
}

#[test]
fn small_writes_of_raid5_gain_from_write_back_alone() {
    let array = "raid5(4×hdd-7200?write_cache=0)";
    let seconds = |mode: &str| {
        let mut host = Host::new(&format!("cache({array})?mode={mode}&size=1GiB"));
        let mut random = Random(1);
        let done_ns = host.closed_loop(8, 2_000, || {
            (Op::Write, random.below((1 << 30) / 4096) * 4096, 4 * KIB)
        });
        done_ns as f64 / 1e9
    };
    let (off, through, back) = (
        seconds("off"),
        seconds("write-through"),
        seconds("write-back"),
    );
    assert!((off - through).abs() < 1e-9);
    assert!(back * 100.0 < off, "{back} s against {off} s");
}

#[test]
fn a_copy_onto_the_published_array_stalls_near_50_gb_and_goes_on_at_the_pace_of_the_drain() {
    let mut host = Host::new("cache(raid5-4x2tb)?size=26GB&start_percent=0&drain_mb_per_second=52");
    // A file server behind a gigabit network.
    let gap_ns = f64::from(MIB) * 1e3 / 110.0;
    let count = 90_000;
    for number in 0..count {
        host.submit(
            Op::Write,
            number << 20,
            MIB,
            (number as f64 * gap_ns) as u64,
        );
    }
    host.settle();
    let acks: Vec<(u64, u64)> = host
        .acts
        .iter()
        .map(|act| (act.at_ns, act.done_ns))
        .collect();
    let cliff = first_stalled(&acks);
    let written = cliff as f64 * f64::from(MIB);
    assert_within("written at the stall", written, 50e9, 3.0);
    let after_ns = acks[acks.len() - 1].1 - acks[cliff - 1].1;
    let after = (count as usize - cliff) as f64 * f64::from(MIB) * 1e3 / after_ns as f64;
    assert_within("rate from the stall on, MB/s", after, 52.0, 3.0);
}

#[test]
fn without_the_fitted_pace_the_published_array_takes_whole_stripes_faster_than_the_copy_comes() {
    let mut host = Host::new("cache(raid5-4x2tb)?size=512MiB&low_percent=100");
    let mut next = 0;
    let mut more = || {
        next += u64::from(MIB);
        (Op::Write, next - u64::from(MIB), MIB)
    };
    host.closed_loop(8, 1 << 10, &mut more);
    let began_ns = host.now_ns;
    let ended_ns = host.closed_loop(8, 2 << 10, &mut more);
    let rate = f64::from(1 << 30) * 2e3 / (ended_ns - began_ns) as f64;
    // Three disks of 100.75 MB/s, their write rate, hold the data of a stripe.
    assert!((200.0..=302.3).contains(&rate), "{rate} MB/s");
}

#[test]
fn the_cliff_keeps_its_share_of_the_capacity_at_every_scale() {
    let share = |capacity: &str| {
        let part = format!("s3700?capacity={capacity}");
        let text = format!(
            "cache({part})?size=12GB&start_percent=0&low_percent=100&drain_mb_per_second=40\
             &drain_size=64KiB"
        );
        let mut host = Host::new(&text);
        let acks = pour(&mut host, 16 * KIB, 100.0, false);
        let written = first_stalled(&acks) as f64 * 16_384.0;
        written / host.device.capacity_bytes() as f64
    };
    let whole = share("2GiB");
    assert_within("a quarter", share("512MiB"), whole, 1.0);
    assert_within("a sixteenth", share("128MiB&dies=8"), whole, 3.0);
}

#[test]
fn a_sequential_stream_reaches_an_array_as_whole_stripes() {
    for members in [3, 4, 7] {
        let array = format!("raid5({members}×hdd-7200?write_cache=0)?chunk=64KiB");
        let mut host = Host::new(&format!("cache({array})?size=64MiB"));
        let block = 16 * KIB;
        // Whole stripes in all, so that nothing is left over at the end.
        let total = 100 * (members - 1) * 64 * u64::from(KIB);
        let mut next = 0;
        host.closed_loop(4, total / u64::from(block), || {
            next += u64::from(block);
            (Op::Write, next - u64::from(block), block)
        });
        host.submit(Op::Flush, 0, 0, host.now_ns);
        host.settle();
        let (read, written) = host.members();
        assert_eq!((read, written), (0, total / (members - 1) * members));
    }
}

#[test]
fn a_flush_ends_when_all_that_was_dirty_is_below_and_never_before() {
    let text = "cache(raid5(4×hdd-7200?write_cache=0))?size=1GiB&start_percent=90";
    let mut host = Host::new(text);
    for number in 0..300 {
        host.submit(Op::Write, number * 7_000_000 / 4096 * 4096, 4 * KIB, number);
    }
    let flush = host.submit(Op::Flush, 0, 0, SECOND / 10);
    // Dirtied after it: nothing it waits for.
    host.submit(Op::Write, 1 << 40, 64 * KIB, SECOND / 10);
    host.settle_until(flush);
    assert_eq!(host.acts[flush].result, 0);
    assert_eq!(host.count("drained_bytes"), 300 * 4096);
    assert_eq!(host.count("dirty_bytes"), 64 * 1024);
    let took_ns = host.acts[flush].done_ns - SECOND / 10;
    assert!(
        took_ns > SECOND / 10,
        "300 small writes of a RAID 5 take their time, not {took_ns} ns"
    );
    // With nothing dirty it is the flush of the part alone.
    let second = host.submit(Op::Flush, 0, 0, host.now_ns);
    host.settle_until(second);
    let third = host.submit(Op::Flush, 0, 0, host.now_ns);
    host.settle();
    assert_eq!(host.acts[third].done_ns, host.acts[third].at_ns);
}

#[test]
fn a_flush_that_is_ignored_ends_at_once_and_moves_nothing() {
    let mut host = Host::new("cache(hdd-7200)?flush=ignore&start_percent=90");
    host.submit(Op::Write, 0, MIB, 0);
    let flush = host.submit(Op::Flush, 0, 0, 1_000_000);
    assert_eq!(host.acts[flush].done_ns, 1_010_000);
    assert_eq!(host.count("drains"), 0);
}

#[test]
fn an_idle_host_lets_the_cache_drain() {
    let mut host = Host::new("cache(hdd-7200)?idle_wait_us=500000");
    host.submit(Op::Write, 0, MIB, 0);
    host.device.idle(0, SECOND / 2 - 1);
    assert_eq!(host.count("dirty_bytes"), u64::from(MIB));
    host.device.idle(SECOND / 2 - 1, SECOND);
    assert_eq!(host.count("dirty_bytes"), 0);
    assert_eq!(host.count("drained_bytes"), u64::from(MIB));
}

#[test]
fn a_power_cut_loses_exactly_what_was_acknowledged_and_is_not_below() {
    let text = "cache(hdd-7200?write_cache=0)?size=64MiB&start_percent=0";
    let mut host = Host::new(text);
    let mut random = Random(5);
    for number in 0..200 {
        let offset = random.below(100_000) * 4096;
        host.submit(Op::Write, offset, 4 * KIB, number * 1_000_000);
    }
    let (now_ns, acknowledged) = (host.now_ns, 200 * 4096);
    let below = host.count("drained_bytes") + host.count("absorbed_bytes");
    assert!((1..acknowledged).contains(&below), "{below} B are below");
    let mut backed = host.clone();
    assert_eq!(host.device.power_cut(now_ns), acknowledged - below);
    assert_eq!(host.count("lost_bytes"), acknowledged - below);
    assert_eq!(host.count("dirty_bytes"), 0);
    assert_eq!(host.device.power_cut(now_ns), 0);
    host.settle();
    host.submit(Op::Write, 0, 4 * KIB, host.now_ns);
    host.submit(Op::Flush, 0, 0, host.now_ns);
    host.settle();
    assert_eq!(host.count("dirty_bytes"), 0);
    // With a battery nothing is lost. This one has none, so it is made anew.
    backed = {
        let mut other = Host::new(&format!("{text}&battery=on"));
        for act in &backed.acts {
            other.submit(act.op, act.offset_bytes, act.length_bytes, act.at_ns);
        }
        other
    };
    assert_eq!(backed.device.power_cut(now_ns), 0);
    assert_eq!(backed.count("dirty_bytes"), acknowledged - below);
}

#[test]
fn a_power_cut_around_a_cache_counts_what_the_cache_lost() {
    let text = "faulty(cache(hdd-7200?write_cache=0)?flush=ignore)?cut_at_ms=500&cut_ms=1";
    let mut host = Host::new(text);
    for number in 0..100 {
        host.submit(Op::Write, number << 24, 4 * KIB, number * 1_000_000);
    }
    host.submit(Op::Read, 0, 4 * KIB, SECOND);
    host.settle();
    assert!(host.acts.iter().all(|act| act.result == 4096));
    assert_eq!(host.count("lost_below_bytes"), 100 * 4096);
    assert_eq!(host.count("0.lost_bytes"), 100 * 4096);
}

#[test]
fn what_was_written_again_while_it_was_on_its_way_is_lost_once() {
    let mut host = Host::new("cache(hdd-7200?write_cache=0)?start_percent=0");
    host.submit(Op::Write, 1 << 30, 8 * KIB, 0);
    host.submit(Op::Write, 1 << 30, 4 * KIB, 1_000);
    assert_eq!(host.count("dirty_bytes"), 12 << 10);
    assert_eq!(host.device.power_cut(20_000), 8 << 10);
    assert_eq!(host.count("acknowledged_bytes"), 12 << 10);
    assert_eq!(host.count("absorbed_bytes"), 4 << 10);
}

#[test]
fn what_is_being_flushed_is_overwritten_where_it_is() {
    let mut host = Host::new("cache(hdd-7200)?drain_mb_per_second=1&drain_size=64KiB");
    host.submit(Op::Write, 0, MIB, 0);
    host.submit(Op::Flush, 0, 0, 1_000);
    // One write of 64 KiB is on its way, the other 15 are still in the batch.
    host.submit(Op::Write, 0, MIB, 2_000);
    assert_eq!(host.count("absorbed_bytes"), 15 << 16);
    assert_eq!(host.count("dirty_bytes"), 17 << 16);
    host.settle();
    assert_eq!(host.count("dirty_bytes"), 1 << 16);
}

#[test]
fn writes_that_wait_for_room_and_flushes_fail_when_the_power_does() {
    let mut host = Host::new("cache(hdd-7200?write_cache=0)?size=4MiB&drain_mb_per_second=1");
    let writes: Vec<usize> = (0..6)
        .map(|number| host.submit(Op::Write, number << 20, MIB, 0))
        .collect();
    let flush = host.submit(Op::Flush, 0, 0, 1_000);
    host.device.power_cut(2_000);
    host.settle();
    let results: Vec<i32> = writes
        .iter()
        .map(|&write| host.acts[write].result)
        .collect();
    let full = MIB.cast_signed();
    assert_eq!(results, [full, full, full, full, IO_ERROR, IO_ERROR]);
    assert_eq!(host.acts[flush].result, IO_ERROR);
    assert_eq!(host.acts[flush].done_ns, 2_000);
}

#[test]
fn dirty_data_that_cannot_be_written_is_lost_and_the_next_flush_says_so() {
    let mut host = Host::new("cache(raid5(4×hdd-7200)?failed=0+1)?size=64MiB");
    host.submit(Op::Write, 0, 4 * KIB, 0);
    let first = host.submit(Op::Flush, 0, 0, 1_000);
    host.settle();
    assert_eq!(host.acts[first].result, IO_ERROR);
    assert_eq!(host.count("lost_bytes"), 4096);
    let second = host.submit(Op::Flush, 0, 0, host.now_ns);
    host.settle();
    assert_eq!(host.acts[second].result, 0);
}

#[test]
fn mean_latency_is_that_of_hits_and_misses_by_their_shares() {
    let part = "s3700?capacity=256MiB&dies=4&pages_per_block=64&jitter_percent=0";
    let scale = open(part).expect("a drive").facts().scale();
    let (units, held) = (65_536_u64, 16_384_u64);
    let size = (held as f64 * 4096.0 * scale).ceil();
    let text = format!("cache({part})?mode=write-through&read_cache=on&size={size}");
    let mut host = Host::new(&text);
    let mut random = Random(11);
    let mut read = |host: &mut Host, count: u64| {
        let at = host.acts.len();
        host.closed_loop(1, count, || (Op::Read, random.below(units) * 4096, 4 * KIB));
        let sum: u64 = host.acts[at..]
            .iter()
            .map(|act| act.done_ns - act.at_ns)
            .sum();
        sum as f64 / count as f64
    };
    read(&mut host, 200_000);
    let before = (host.count("hit_bytes"), host.count("fetched_bytes"));
    let mean_ns = read(&mut host, 400_000);
    let hits = (host.count("hit_bytes") - before.0) as f64 / 4096.0;
    assert_within(
        "share of hits",
        hits / 400_000.0,
        held as f64 / units as f64,
        1.0,
    );
    let hit_ns = 10_000.0 + 4096.0 * 1e3 / 4000.0;
    let miss_ns = open(part)
        .expect("a drive")
        .serve(Op::Read, 0, 4 * KIB, 0)
        .done_ns as f64;
    let h = hits / 400_000.0;
    assert_within(
        "mean latency, ns",
        mean_ns,
        h * hit_ns + (1.0 - h) * miss_ns,
        0.5,
    );
}

/// Che's approximation: the share of hits of an LRU cache of `size` units when unit `k` is asked
/// for with probability `shares[k]`.
fn che(shares: &[f64], size: f64) -> f64 {
    let filled = |time: f64| shares.iter().map(|p| 1.0 - (-p * time).exp()).sum::<f64>();
    let (mut low, mut high) = (0.0, 1e12);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if filled(middle) < size {
            low = middle;
        } else {
            high = middle;
        }
    }
    shares.iter().map(|p| p * (1.0 - (-p * low).exp())).sum()
}

#[test]
fn hits_of_skewed_reads_are_those_of_ches_approximation() {
    let units = 50_000;
    for (theta, held) in [(0.8, 1_000), (0.8, 10_000), (1.0, 2_000), (1.2, 1_000)] {
        let weights: Vec<f64> = (1..=units).map(|k| f64::from(k).powf(-theta)).collect();
        let sum: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        let mut upto = 0.0;
        let steps: Vec<f64> = shares
            .iter()
            .map(|share| {
                upto += share;
                upto
            })
            .collect();
        let size = held * 4096;
        let text = format!("cache(hdd-7200)?mode=write-through&read_cache=on&size={size}");
        let mut host = Host::new(&text);
        let mut random = Random(held);
        let mut draw = || {
            let point = random.draw() as f64 / 2f64.powi(64);
            let unit = steps.partition_point(|&step| step < point) as u64;
            (Op::Read, unit * 4096, 4 * KIB)
        };
        host.closed_loop(1, 200_000, &mut draw);
        let before = host.count("hit_bytes");
        host.closed_loop(1, 1_000_000, &mut draw);
        let share = (host.count("hit_bytes") - before) as f64 / 4096.0 / 1e6;
        assert_within(
            &format!("theta {theta}, {held} units"),
            share,
            che(&shares, held as f64),
            1.0,
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_byte_that_was_acknowledged_is_below_or_dirty(
        acts in prop::collection::vec((0_u8..12, 0_u64..400, 1_u32..40), 1..120),
        marks in 0_usize..3,
        keeps in any::<bool>(),
    ) {
        let marks = ["start_percent=0&stop_percent=0", "start_percent=50", "low_percent=20"][marks];
        let keeps = if keeps { "&read_cache=on" } else { "" };
        let part = "raid0(2×hdd-7200?write_cache=0)?chunk=16KiB";
        let mut host = Host::new(&format!("cache({part})?size=256KiB&{marks}{keeps}"));
        let mut written = vec![false; 1 << 10];
        let mut at_ns = 0;
        for (kind, place, blocks) in acts {
            at_ns += u64::from(kind) * 3_000_000;
            let op = match kind {
                0 => Op::Flush,
                1..=3 => Op::Read,
                _ => Op::Write,
            };
            if op == Op::Write {
                written[place as usize..place as usize + blocks as usize].fill(true);
            }
            host.submit(op, place * 512, blocks * 512, at_ns);
            let known: u64 = ["absorbed_bytes", "drained_bytes", "dirty_bytes"]
                .iter()
                .map(|name| host.count(name))
                .sum();
            prop_assert_eq!(host.count("acknowledged_bytes"), known);
            let held = host.count("dirty_bytes") + host.count("clean_bytes");
            prop_assert!(held <= 256 << 10, "{} B are held", held);
        }
        host.submit(Op::Flush, 0, 0, at_ns);
        host.settle();
        prop_assert!(host.acts.iter().all(|act| act.result >= 0));
        // Writes that had to wait were acknowledged after the last flush came in, perhaps.
        host.submit(Op::Flush, 0, 0, host.now_ns);
        host.settle();
        prop_assert_eq!(host.count("dirty_bytes"), 0);
        let drained = host.count("drained_bytes");
        prop_assert_eq!(host.members().1, drained);
        let distinct = written.iter().filter(|&&block| block).count() as u64 * 512;
        let host_bytes = host.device.health().host_writes_bytes;
        prop_assert!((distinct..=host_bytes).contains(&drained));
        prop_assert_eq!(host_bytes, host.count("acknowledged_bytes"));
    }
}
