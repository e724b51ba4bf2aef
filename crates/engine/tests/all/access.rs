//! Offsets: within the range, aligned, each byte of a sequential pass once, and the same again
//! from the same seed.

use std::collections::HashSet;

use crate::rehearsal::{contiguous, draws, plan, stream, trace, KIB, MIB};
use proptest::prelude::*;
use teijo_engine::access::Cursor;
use teijo_engine::crew::Crew;
use teijo_engine::plan::{Access, Bound, Depth, Range, StreamPlan};
use teijo_engine::request::Op;

const FROM_THE_START: Access = Access::Sequential { cursor_bytes: 0 };

/// How often every 512 B sector of the range was touched; panics on a touch outside of it.
fn touches(range: &Range, requests: &[teijo_engine::request::Request]) -> Vec<u32> {
    let per_segment = range.segment_bytes / 512;
    let mut counts = vec![0; (range.segments * per_segment) as usize];
    for request in requests {
        assert_eq!(
            (request.offset_bytes % 512, request.length_bytes % 512),
            (0, 0)
        );
        for sector in 0..u64::from(request.length_bytes) / 512 {
            let relative = request.offset_bytes + sector * 512 - range.start_bytes;
            let (segment, within) = (relative / range.stride_bytes, relative % range.stride_bytes);
            assert!(
                segment < range.segments && within < range.segment_bytes,
                "{request:?}"
            );
            counts[(segment * per_segment + within / 512) as usize] += 1;
        }
    }
    counts
}

#[test]
fn four_threads_write_twice_the_range_and_every_sector_exactly_twice() {
    // A multiple of the block, and one that leaves a short block at the end.
    for length_bytes in [4 * MIB, 4 * MIB + 5 * 512] {
        let range = contiguous(1 << 41, length_bytes);
        let writes = stream(FROM_THE_START, range, 128 * 1024);
        let streams = vec![StreamPlan {
            threads: 4,
            read_percent: 0,
            ..writes
        }];
        let bound = Bound::Bytes {
            total_bytes: 2 * length_bytes,
        };
        let (lap, requests) = trace(&plan(streams, bound));
        assert!(touches(&range, &requests).iter().all(|&count| count == 2));
        assert_eq!(lap.streams[0].write.bytes, 2 * length_bytes);
        assert_eq!(lap.streams[0].cursor_bytes, 0);
    }
}

#[test]
fn a_sequential_stream_carries_on_with_another_block_size() {
    let range = contiguous(0, MIB);
    let step = |access, block_size_bytes, total_bytes| {
        let streams = vec![stream(access, range, block_size_bytes)];
        trace(&plan(streams, Bound::Bytes { total_bytes }))
    };
    let (first, mut requests) = step(FROM_THE_START, 4096, 3 * 4096);
    let cursor_bytes = first.streams[0].cursor_bytes;
    assert_eq!(cursor_bytes, 3 * 4096);
    let (second, rest) = step(Access::Sequential { cursor_bytes }, 65536, MIB - 3 * 4096);
    assert_eq!(rest[0].offset_bytes, 3 * 4096);
    assert_eq!(second.streams[0].cursor_bytes, 0);
    requests.extend(rest);
    assert!(touches(&range, &requests).iter().all(|&count| count == 1));
}

#[test]
fn threads_with_cursors_of_their_own_go_each_over_the_range_from_where_they_begin() {
    let range = contiguous(1 << 40, MIB);
    let run = |threads, stride_bytes, access, total_bytes| {
        let sequential = stream(access, range, 64 * 1024);
        let streams = vec![StreamPlan {
            threads,
            thread_stride_bytes: Some(stride_bytes),
            ..sequential
        }];
        trace(&plan(streams, Bound::Bytes { total_bytes }))
    };
    // Alone a thread has but one cursor, whose it is.
    let (lap, requests) = run(1, 4096, FROM_THE_START, MIB);
    assert!(touches(&range, &requests).iter().all(|&count| count == 1));
    assert_eq!(lap.streams[0].cursor_bytes, 0);
    // All from the start: no block is touched before the one in front of it by any thread, and
    // the first one by every thread that had a turn.
    let (_, requests) = run(4, 0, FROM_THE_START, 4 * MIB);
    let counts = touches(&range, &requests);
    assert_eq!(counts.iter().sum::<u32>(), 4 * 2048);
    let expected: HashSet<u64> = (0..16).map(|block| (1 << 40) + block * 65536).collect();
    let offsets: HashSet<u64> = requests.iter().map(|one| one.offset_bytes).collect();
    assert_eq!(offsets, expected);
}

#[test]
fn a_stride_sets_threads_apart_and_wraps_at_the_end_of_the_range() {
    let range = contiguous(0, MIB);
    let sequential = stream(FROM_THE_START, range, 65536);
    let streams = vec![StreamPlan {
        threads: 3,
        thread_stride_bytes: Some(MIB / 2 + 65536),
        ..sequential
    }];
    let crew = Crew::of(
        &plan(streams, Bound::Bytes { total_bytes: MIB }),
        Depth::Queued,
    );
    let crew = crew.expect("the plan is sound");
    let begins = crew
        .seats()
        .iter()
        .map(|seat| seat.stream.cursor_of(seat.number).position_bytes());
    assert_eq!(begins.collect::<Vec<_>>(), [0, MIB / 2 + 65536, 2 * 65536]);
    // Where each I/O is a worker of its own, those of a thread share its cursor.
    let mut alone = stream(FROM_THE_START, range, 65536);
    (alone.threads, alone.queue_depth) = (2, 2);
    alone.thread_stride_bytes = Some(65536);
    let bound = Bound::Bytes { total_bytes: MIB };
    let crew = Crew::of(&plan(vec![alone], bound), Depth::OnePerWorker).expect("sound");
    let begins = crew
        .seats()
        .iter()
        .map(|seat| seat.stream.cursor_of(seat.number).position_bytes());
    assert_eq!(begins.collect::<Vec<_>>(), [0, 0, 65536, 65536]);
}

#[test]
fn a_mix_is_within_five_deviations_and_pure_streams_are_exact() {
    let ios = draws(100_000);
    for read_percent in [0, 5, 35, 50, 95, 100] {
        let mixed = stream(Access::Random, contiguous(0, MIB), 512);
        let streams = vec![StreamPlan {
            read_percent,
            ..mixed
        }];
        let (_, requests) = trace(&plan(
            streams,
            Bound::Bytes {
                total_bytes: ios * 512,
            },
        ));
        let reads = requests
            .iter()
            .filter(|request| request.op == Op::Read)
            .count() as f64;
        let share = f64::from(read_percent) / 100.0;
        let deviation = (ios as f64 * share * (1.0 - share)).sqrt();
        assert!(
            (reads - ios as f64 * share).abs() <= 5.0 * deviation,
            "{reads} at {share}"
        );
    }
}

#[test]
fn random_offsets_are_uniform_over_the_blocks() {
    let range = Range {
        start_bytes: 0,
        segments: 4,
        segment_bytes: 10_000,
        stride_bytes: MIB,
    };
    let streams = vec![stream(Access::Random, range, 4096)];
    let ios = draws(80_000);
    let total_bytes = ios * 4096;
    let (_, requests) = trace(&plan(streams, Bound::Bytes { total_bytes }));
    let mut counts = std::collections::BTreeMap::new();
    for request in &requests {
        *counts.entry(request.offset_bytes).or_insert(0u32) += 1;
    }
    let expected: Vec<u64> = (0..4)
        .flat_map(|segment| [segment * MIB, segment * MIB + 4096])
        .collect();
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), expected);
    let chi_squared: f64 = counts
        .values()
        .map(|&count| (f64::from(count) - ios as f64 / 8.0).powi(2) / (ios as f64 / 8.0))
        .sum();
    // 7 degrees of freedom, 0.1 %.
    assert!(chi_squared < 24.3, "{chi_squared}");
}

#[test]
fn a_seed_repeats_its_offsets_and_another_seed_or_thread_has_others() {
    let run = |seed, threads, ios: u64| {
        let random = stream(Access::Random, contiguous(0, 1 << 44), 4096);
        let streams = vec![StreamPlan {
            seed,
            threads,
            read_percent: 40,
            ..random
        }];
        let total_bytes = 4096 * ios;
        let (_, requests) = trace(&plan(streams, Bound::Bytes { total_bytes }));
        let pairs = requests.iter().map(|one| (one.op, one.offset_bytes));
        pairs.collect::<Vec<_>>()
    };
    assert_eq!(run(1, 1, 200), run(1, 1, 200));
    assert_ne!(run(1, 1, 200), run(2, 1, 200));
    // Enough that no thread can do it all before the others have begun.
    let ios = draws(200_000);
    let offsets: HashSet<u64> = run(1, 4, ios).iter().map(|one| one.1).collect();
    assert!(
        offsets.len() as u64 > ios - ios / 2_000 - 1,
        "threads must not repeat each other"
    );
}

prop_compose! {
    fn ranges()(
        start in 0..1u64 << 46,
        segments in 1..5u64,
        sectors in 8..300u64,
        gap in 0..100u64,
    ) -> Range {
        let segment_bytes = sectors * 512;
        let stride_bytes = (sectors + gap) * 512;
        Range { start_bytes: start * 512, segments, segment_bytes, stride_bytes }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_blocks_lie_within_the_range_and_on_its_grid(
        range in ranges(), sectors in 1..8u32, seed: u64,
    ) {
        let block_size_bytes = sectors * 512;
        let streams = vec![StreamPlan { seed, ..stream(Access::Random, range, block_size_bytes) }];
        let bound = Bound::Bytes { total_bytes: 50 * u64::from(block_size_bytes) };
        let (_, requests) = trace(&plan(streams, bound));
        touches(&range, &requests);
        for request in requests {
            let within = (request.offset_bytes - range.start_bytes) % range.stride_bytes;
            prop_assert_eq!(within % u64::from(block_size_bytes), 0);
            prop_assert_eq!(request.length_bytes, block_size_bytes);
        }
    }

    #[test]
    fn a_pass_from_anywhere_touches_every_sector_once(
        range in ranges(), sectors in 1..400u32, start in 0..1500u64, threads in 1..4u32,
    ) {
        let cursor_bytes = start * 512;
        let access = Access::Sequential { cursor_bytes };
        let streams = vec![StreamPlan { threads, ..stream(access, range, sectors * 512) }];
        let total_bytes = range.segments * range.segment_bytes;
        let (lap, requests) = trace(&plan(streams, Bound::Bytes { total_bytes }));
        prop_assert!(touches(&range, &requests).iter().all(|&count| count == 1));
        prop_assert_eq!(lap.streams[0].cursor_bytes, cursor_bytes % total_bytes);
    }

    #[test]
    fn a_cursor_gives_consecutive_pieces(range in ranges(), limit in 1..64u32) {
        let cursor = Cursor::new(0, &range);
        let mut expected = 0;
        for _ in 0..100 {
            prop_assert_eq!(cursor.position_bytes(), expected);
            let extent = cursor.advance(&range, limit * 512);
            expected += u64::from(extent.length_bytes);
            expected %= range.segments * range.segment_bytes;
        }
    }
}

#[test]
fn ranges_of_an_exabyte_do_not_overflow() {
    let range = contiguous((1 << 62) - (1 << 60), 1 << 60);
    let streams = vec![stream(Access::Random, range, 4096)];
    let (_, requests) = trace(&plan(
        streams,
        Bound::Bytes {
            total_bytes: 4096 * draws(KIB).max(64),
        },
    ));
    let highest = requests.iter().map(|one| one.offset_bytes).max().unwrap();
    assert!((range.start_bytes + (1 << 59)..1 << 62).contains(&highest));
}
