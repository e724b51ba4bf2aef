//! Mixes of block sizes, places that are not uniform, flushes and discards, as the device sees
//! them; and that any plan at all is refused by name or runs within its range.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::memory::Device;
use crate::rehearsal::{contiguous, plan, run_on_threads, stream, trace, KIB, MIB};
use proptest::prelude::*;
use teijo_engine::crew::Crew;
use teijo_engine::plan::{
    Access, BlockShare, Bound, Content, Depth, Plan, Range, Rate, Schedule, StreamPlan, Verify,
    Zone,
};
use teijo_engine::request::{Op, Request};

fn requests(stream: StreamPlan, total_bytes: u64) -> Vec<Request> {
    trace(&plan(vec![stream], Bound::Bytes { total_bytes })).1
}

fn shares(pairs: &[(u32, u32)]) -> Vec<BlockShare> {
    let share = |&(block_size_bytes, weight)| BlockShare {
        block_size_bytes,
        weight,
    };
    pairs.iter().map(share).collect()
}

fn zones(pairs: &[(f64, f64)]) -> Access {
    let zone = |&(access_share, range_share)| Zone {
        access_share,
        range_share,
    };
    Access::Zoned(pairs.iter().map(zone).collect())
}

/// Weight of a rank, from 1.
type Law = fn(f64) -> f64;

/// The composite workload of the enterprise specification: sizes, zones and mix.
fn composite(range: Range) -> StreamPlan {
    let sizes = [
        (512, 4),
        (1024, 1),
        (1536, 1),
        (2048, 1),
        (2560, 1),
        (3072, 1),
        (3584, 1),
        (4096, 67),
        (8192, 10),
        (16384, 7),
        (32768, 3),
        (65536, 3),
    ];
    StreamPlan {
        read_percent: 40,
        blocks: shares(&sizes),
        ..stream(
            zones(&[(50.0, 5.0), (30.0, 15.0), (20.0, 80.0)]),
            range,
            65536,
        )
    }
}

#[test]
fn the_composite_workload_has_its_sizes_and_zones() {
    let range = contiguous(1 << 40, 1 << 34);
    let composite = composite(range);
    let weights: HashMap<u32, f64> = composite
        .blocks
        .iter()
        .map(|share| (share.block_size_bytes, f64::from(share.weight) / 100.0))
        .collect();
    let all = requests(composite, 1_000_000_000);
    let count = all.len() as f64 - 1.0;
    let mut sizes: BTreeMap<u32, f64> = BTreeMap::new();
    let mut zones = [0.0; 3];
    let whole = all.len() - 1; // The budget may cut the last one.
    for request in &all[..whole] {
        *sizes.entry(request.length_bytes).or_default() += 1.0;
        let relative = request.offset_bytes - range.start_bytes;
        assert_eq!(relative % 512, 0);
        assert!(relative + u64::from(request.length_bytes) <= range.segment_bytes);
        let place = relative as f64 / range.segment_bytes as f64;
        zones[usize::from(place >= 0.05) + usize::from(place >= 0.2)] += 1.0;
    }
    let five_deviations = |share: f64| 5.0 * (count * share * (1.0 - share)).sqrt();
    for (bytes, share) in weights {
        let off = (sizes[&bytes] - count * share).abs();
        assert!(off <= five_deviations(share), "{bytes} B: {off}");
    }
    for (seen, share) in zones.into_iter().zip([0.5, 0.3, 0.2]) {
        assert!(
            (seen - count * share).abs() <= five_deviations(share),
            "{zones:?}"
        );
    }
}

#[test]
fn skewed_places_follow_their_law_and_hot_ones_lie_apart() {
    let places = 4096u64;
    let ios = 400_000;
    let laws: [(Access, Law); 2] = [
        (Access::Zipf { theta: 1.1 }, |rank| rank.powf(-1.1)),
        (Access::Pareto { h: 0.2 }, |rank| {
            let below = |rank: f64| (rank / 4096.0).powf(0.8f64.ln() / 0.2f64.ln());
            below(rank) - below(rank - 1.0)
        }),
    ];
    for (access, law) in laws {
        let skewed = StreamPlan {
            threads: 2,
            ..stream(access, contiguous(0, places * 4096), 4096)
        };
        let mut counts: HashMap<u64, u64> = HashMap::new();
        for request in requests(skewed, ios * 4096) {
            *counts.entry(request.offset_bytes / 4096).or_default() += 1;
        }
        let mut ranked: Vec<(u64, u64)> = counts.into_iter().map(|(p, n)| (n, p)).collect();
        ranked.sort_unstable_by(|one, other| other.cmp(one));
        let total: f64 = (1..=places).map(|rank| law(rank as f64)).sum();
        for (rank, &(count, _)) in ranked.iter().enumerate().take(8) {
            let expected = law(rank as f64 + 1.0) / total * ios as f64;
            let off = (count as f64 - expected).abs();
            assert!(off < 5.0 * expected.sqrt() + 1.0, "rank {rank}: {off}");
        }
        let mut hot: Vec<u64> = ranked[..32].iter().map(|one| one.1).collect();
        hot.sort_unstable();
        let neighbours = hot.windows(2).filter(|two| two[1] - two[0] == 1).count();
        assert!(neighbours < 4, "{hot:?}");
        assert!(hot[0] < places / 4 && hot[31] > places * 3 / 4, "{hot:?}");
    }
}

#[test]
fn a_shuffle_touches_every_block_once_a_pass_in_another_order_each() {
    let range = contiguous(MIB, 4 * MIB + 512);
    let passes = |threads, cursor_bytes, total_bytes| {
        let access = Access::Shuffled {
            key: 5,
            cursor_bytes,
        };
        let shuffled = StreamPlan {
            threads,
            ..stream(access, range, 4096)
        };
        let (lap, all) = trace(&plan(vec![shuffled], Bound::Bytes { total_bytes }));
        assert_eq!(lap.streams[0].cursor_bytes, cursor_bytes + total_bytes);
        all.iter().map(|one| one.offset_bytes).collect::<Vec<_>>()
    };
    let every: Vec<u64> = (0..1024).map(|block| MIB + block * 4096).collect();
    let sorted = |piece: &[u64]| {
        let mut piece = piece.to_vec();
        piece.sort_unstable();
        piece
    };
    let two = passes(1, 0, 8 * MIB);
    let (first, second) = two.split_at(1024);
    assert_eq!(
        [sorted(first), sorted(second)],
        [every.clone(), every.clone()]
    );
    assert_ne!(first, second);
    assert_eq!(passes(1, 3 * MIB, 2 * MIB), two[768..1280], "it carries on");
    assert_eq!(
        sorted(&passes(4, 0, 4 * MIB)),
        every,
        "threads share the order"
    );
}

#[test]
fn blocks_lie_on_the_grid_that_is_asked_for() {
    let odd = StreamPlan {
        alignment_bytes: 512,
        ..stream(Access::Random, contiguous(0, 64 * KIB), 4096)
    };
    let all = requests(odd, 4096 * 10_000);
    let places: BTreeSet<u64> = all.iter().map(|one| one.offset_bytes).collect();
    let expected: Vec<u64> = (0..=15 * 8).map(|place| place * 512).collect();
    assert_eq!(places.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn a_flush_follows_every_so_many_writes_and_counts_for_itself() {
    let mixed = StreamPlan {
        read_percent: 30,
        flush_every_writes: 32,
        ..stream(Access::Random, contiguous(0, MIB), 4096)
    };
    let total_bytes = 10_000 * 4096;
    let (lap, all) = trace(&plan(vec![mixed], Bound::Bytes { total_bytes }));
    let mut since = 0;
    for request in &all {
        match request.op {
            Op::Write => since += 1,
            Op::Flush => assert_eq!(std::mem::take(&mut since), 32),
            Op::Read | Op::Discard => {}
        }
        assert!(since <= 32);
    }
    let stream = &lap.streams[0];
    assert_eq!(stream.flush.ios, stream.write.ios / 32);
    assert_eq!((stream.flush.bytes, stream.discard.ios), (0, 0));
    assert_eq!(stream.read.bytes + stream.write.bytes, total_bytes);
}

#[test]
fn discards_take_their_share_and_are_counted_apart() {
    let mixed = StreamPlan {
        read_percent: 50,
        discard_percent: 20,
        ..stream(Access::Random, contiguous(0, MIB), 4096)
    };
    let bound = Bound::Bytes {
        total_bytes: 50_000 * 4096,
    };
    let device = Arc::new(Device::new(MIB));
    let lap = run_on_threads(&plan(vec![mixed], bound), |seat| device.attach(seat));
    let stream = &lap.streams[0];
    for (seen, share) in [
        (stream.discard.ios, 0.2),
        (stream.read.ios, 0.4),
        (stream.write.ios, 0.4),
    ] {
        let off = (seen as f64 - 50_000.0 * share).abs();
        assert!(off < 5.0 * (50_000.0 * share * (1.0 - share)).sqrt());
    }
    assert_eq!(stream.discard.bytes, stream.discard.ios * 4096);
    assert!(stream.discard.errors.is_empty());
}

/// Any number that a careless caller may write: mostly sensible, sometimes 0 or enormous.
fn number(sensible: std::ops::Range<u64>) -> impl Strategy<Value = u64> {
    prop_oneof![60 => sensible, 1 => Just(0), 1 => Just(1), 1 => any::<u64>()]
}

fn share() -> impl Strategy<Value = f64> {
    prop_oneof![60 => 0.1..50.0, 1 => Just(0.0), 1 => Just(f64::NAN), 1 => any::<f64>()]
}

fn accesses() -> impl Strategy<Value = Access> {
    let pairs = prop::collection::vec((share(), share()), 0..5);
    prop_oneof![
        Just(Access::Random),
        number(0..1 << 22).prop_map(|cursor_bytes| Access::Sequential { cursor_bytes }),
        (any::<u64>(), number(0..1 << 22))
            .prop_map(|(key, cursor_bytes)| Access::Shuffled { key, cursor_bytes }),
        pairs.prop_map(|pairs| zones(&pairs)),
        share().prop_map(|theta| Access::Zipf {
            theta: theta / 10.0
        }),
        share().prop_map(|h| Access::Pareto { h: h / 100.0 }),
    ]
}

fn contents() -> impl Strategy<Value = Content> {
    prop_oneof![
        Just(Content::Random),
        Just(Content::Refill),
        Just(Content::Zero),
        (0..102u8).prop_map(|percent| Content::Compressible { percent }),
        (0..102u8).prop_map(|percent| Content::Dedupable { percent }),
    ]
}

prop_compose! {
    fn ranges()(
        start in number(0..1 << 13), segments in number(1..5),
        segment in number(1 << 8..1 << 13), stride in number(1 << 13..1 << 14),
        grain in prop_oneof![Just(1u64), Just(512)],
    ) -> Range {
        let scaled = |value: u64| value.checked_mul(grain).unwrap_or(value);
        Range {
            start_bytes: scaled(start),
            segments,
            segment_bytes: scaled(segment),
            stride_bytes: scaled(stride),
        }
    }
}

prop_compose! {
    fn sizes()(
        block in number(1..1 << 8),
        pairs in prop::collection::vec((1..1u32 << 8, number(1..5)), 0..4),
        grain in prop_oneof![Just(1u32), Just(512)], honest in 0..30,
    ) -> (u32, Vec<BlockShare>) {
        let scale = |bytes: u32| bytes.saturating_mul(grain);
        let pairs = pairs.iter().map(|&(bytes, weight)| (scale(bytes), weight as u32));
        let pairs: Vec<_> = pairs.collect();
        let largest = pairs.iter().map(|one| one.0).max();
        let block_size_bytes = largest.filter(|_| honest > 0).unwrap_or(scale(block as u32));
        (block_size_bytes, shares(&pairs))
    }
}

prop_compose! {
    fn streams()(
        (threads, queue_depth) in (number(1..3), number(1..9)),
        read_percent in 0..=102u8,
        discard_percent in prop_oneof![4 => Just(0), 1 => 0..=102u8],
        (flush_every_writes, alignment) in (0..5u32, number(0..3)),
        stride in prop::option::of(number(0..9)),
        (write_through, census) in (any::<bool>(), any::<bool>()),
        (block_size_bytes, blocks) in sizes(), access in accesses(), range in ranges(),
        content in contents(), verifies in 0..8, seed: u64,
        rate in prop_oneof![5 => Just(None), 1 => share().prop_map(Some)],
    ) -> StreamPlan {
        StreamPlan {
            threads: threads as u32, queue_depth: queue_depth.min(9) as u32,
            read_percent, discard_percent, flush_every_writes, block_size_bytes,
            blocks, alignment_bytes: alignment.saturating_mul(512) as u32, access, range, content,
            thread_stride_bytes: stride.map(|stride| stride.saturating_mul(512)),
            write_through, census,
            verify: (verifies == 0).then(|| Verify { run: 1, generation: 1, written: Vec::new() }),
            rate: rate.map(|share| Rate {
                ios_per_second: share * 1e5,
                schedule: Schedule::Poisson,
            }),
            seed,
        }
    }
}

/// What a request is allowed to touch.
fn assert_within(plan: &Plan, requests: &[Request]) {
    for request in requests.iter().filter(|one| one.op != Op::Flush) {
        let fits = |stream: &StreamPlan| {
            let range = stream.range;
            let Some(relative) = request.offset_bytes.checked_sub(range.start_bytes) else {
                return false;
            };
            let (segment, within) = match range.segments {
                1 => (0, relative),
                _ => (relative / range.stride_bytes, relative % range.stride_bytes),
            };
            let end = within + u64::from(request.length_bytes);
            segment < range.segments && end <= range.segment_bytes
        };
        assert!(plan.streams.iter().any(fits), "{request:?}");
        assert!(request.length_bytes > 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 20 } else { 4_000 },
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn any_plan_is_refused_by_name_or_runs_within_its_range(
        streams in prop::collection::vec(streams(), 0..4),
        ios in 1..200u64,
        cut in prop_oneof![2 => Just(0u64), 1 => 0..3u64],
    ) {
        let block_size_bytes = streams.first().map_or(1, |one| u64::from(one.block_size_bytes));
        let total_bytes = ios * block_size_bytes.max(1) + cut;
        let plan = plan(streams, Bound::Bytes { total_bytes });
        if let Err(error) = Crew::of(&plan, Depth::Queued) {
            prop_assert!(error.to_string().starts_with("the plan cannot be run: "));
            return Ok(());
        }
        let slow = |one: &StreamPlan| one.rate.is_some_and(|rate| rate.ios_per_second < 1e3);
        if total_bytes < 1 << 30 && !plan.streams.iter().any(slow) {
            let (lap, requests) = trace(&plan);
            assert_within(&plan, &requests);
            prop_assert_eq!(lap.failure, None);
            let bytes: u64 = requests.iter().map(|one| u64::from(one.length_bytes)).sum();
            prop_assert_eq!(bytes, total_bytes);
        }
    }
}
