//! Verified reads: every fault that is planted is found and named, and traffic without a fault
//! raises none, however reads and writes of the same blocks cross.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::memory::Device;
use crate::rehearsal::{contiguous, plan, run_on_threads, stream, KIB, MIB};
use proptest::prelude::*;
use teijo_engine::content::fill_random;
use teijo_engine::lap::Lap;
use teijo_engine::plan::{
    Access, BlockShare, Bound, Content, Plan, Range, StreamPlan, Verify, Written,
};
use teijo_engine::verify::{stamp_block, Fault, Findings};

const RUN: u64 = 0x7e17_0000;
const FROM_THE_START: Access = Access::Sequential { cursor_bytes: 0 };
const SHUFFLED: Access = Access::Shuffled {
    key: 9,
    cursor_bytes: 0,
};

fn verified(generation: u64, written: Vec<Written>) -> Verify {
    Verify {
        run: RUN,
        generation,
        written,
    }
}

fn writer(access: Access, range: Range) -> StreamPlan {
    StreamPlan {
        read_percent: 0,
        queue_depth: 16,
        verify: Some(verified(1, Vec::new())),
        ..stream(access, range, 4096)
    }
}

fn reader(written: Vec<Written>, range: Range, block_size_bytes: u32) -> StreamPlan {
    StreamPlan {
        verify: Some(verified(1, written)),
        ..stream(FROM_THE_START, range, block_size_bytes)
    }
}

fn run(device: &Arc<Device>, plan: &Plan) -> Lap {
    let lap = run_on_threads(plan, |seat| device.attach(seat));
    assert_eq!(lap.failure, None);
    lap
}

fn run_bytes(device: &Arc<Device>, streams: Vec<StreamPlan>, total_bytes: u64) -> Lap {
    run(device, &plan(streams, Bound::Bytes { total_bytes }))
}

fn findings(lap: &Lap) -> Findings {
    let mut all = Findings::default();
    for stream in &lap.streams {
        let one = &stream.read.findings;
        all.sectors += one.sectors;
        all.sectors_unjudged += one.sectors_unjudged;
        for (&fault, &count) in &one.faults {
            *all.faults.entry(fault).or_default() += count;
        }
        for (&fault, places) in &one.examples {
            all.examples.entry(fault).or_default().extend(places);
        }
    }
    all
}

/// Writes `passes` of a range and says what is there.
fn fill(device: &Arc<Device>, access: Access, range: Range, passes: u64) -> Written {
    let total_bytes = passes * range.segment_bytes * range.segments;
    let lap = run_bytes(device, vec![writer(access, range)], total_bytes);
    lap.streams[0].written.expect("the stream wrote in order")
}

fn read_all(
    device: &Arc<Device>,
    written: Written,
    range: Range,
    block_size_bytes: u32,
) -> Findings {
    let total_bytes = range.segment_bytes * range.segments;
    let streams = vec![reader(vec![written], range, block_size_bytes)];
    let found = findings(&run_bytes(device, streams, total_bytes));
    assert_eq!(found.sectors + found.sectors_unjudged, total_bytes / 512);
    found
}

/// A copy of the device after the first pass, and the device after the second.
fn two_passes(access: Access, range: Range) -> (Vec<u8>, Arc<Device>, Written) {
    let device = Arc::new(Device::new(range.start_bytes + range.segment_bytes));
    let first = fill(&device, access.clone(), range, 1);
    let old = device.bytes.lock().unwrap().clone();
    let mut second = writer(access, range);
    second.verify = Some(verified(first.generation + 1, vec![first]));
    let lap = run_bytes(&device, vec![second], range.segment_bytes);
    (old, device, lap.streams[0].written.expect("in order"))
}

#[test]
fn every_planted_fault_is_found_and_rightly_named() {
    let range = contiguous(MIB, 4 * MIB);
    for (access, block_size_bytes) in [(FROM_THE_START, 128 * 1024), (SHUFFLED, 4096)] {
        let (old, device, written) = two_passes(access, range);
        assert_eq!(
            read_all(&device, written, range, block_size_bytes).faults,
            BTreeMap::new()
        );
        {
            let mut bytes = device.bytes.lock().unwrap();
            let block = |number: usize| MIB as usize + number * 4096;
            for number in 0..100 {
                let bit = (number * 7919) % 4096;
                bytes[block(number) + (number % 8) * 512 + bit / 8] ^= 1 << (bit % 8);
            }
            for number in 200..210 {
                let (low, high) = bytes.split_at_mut(block(number + 100));
                low[block(number)..][..4096].swap_with_slice(&mut high[..4096]);
            }
            for number in 400..420 {
                let place = block(number)..block(number) + 4096;
                bytes[place.clone()].copy_from_slice(&old[place]);
            }
            for number in 500..530 {
                let place = block(number) + 1024..block(number) + 4096;
                bytes[place.clone()].copy_from_slice(&old[place]);
            }
            for number in 600..607 {
                let place = block(number)..block(number) + 4096;
                stamp_block(&mut bytes[place], RUN + 1, (block(number) / 512) as u64, 2);
            }
            fill_random(&mut bytes[block(610)..][..512], 3);
            bytes[block(700)..block(705)].fill(0);
        }
        let found = read_all(&device, written, range, block_size_bytes);
        let expected = BTreeMap::from([
            (Fault::BitFlip, 100),
            (Fault::Misplaced, 10 * 2 * 8),
            (Fault::Stale, 20 * 8),
            (Fault::Torn, 30 * 6),
            (Fault::Foreign, 7 * 8 + 1),
            (Fault::Zero, 5 * 8),
        ]);
        assert_eq!(found.faults, expected);
        assert_eq!(found.sectors, 4 * MIB / 512);
        for fault in Fault::ALL {
            assert!((1..=32).contains(&found.examples[&fault].len()));
        }
        for place in &found.examples[&Fault::Torn] {
            let within = place - MIB;
            assert!((500..530).contains(&(within / 4096)) && within % 4096 >= 1024);
        }
    }
}

#[test]
fn findings_name_what_is_wrong_and_where() {
    let found = Findings {
        sectors: 80,
        sectors_unjudged: 0,
        faults: BTreeMap::from([(Fault::Stale, 8), (Fault::Zero, 1)]),
        examples: BTreeMap::from([(Fault::Stale, vec![4096]), (Fault::Zero, vec![512])]),
    };
    let expected = "9 of 80 sectors read are not what was written: \
                    8 stale (at byte 4096), 1 of zeros (at byte 512)";
    assert_eq!(found.to_string(), expected);
}

#[test]
fn every_lost_write_is_found_afterwards_without_a_map() {
    for access in [FROM_THE_START, SHUFFLED] {
        let range = contiguous(0, 4 * MIB);
        // The third pass and a quarter of the fourth, of 1024 blocks each.
        let mut device = Device::new(4 * MIB);
        device.lost = (0..40).map(|number| 2 * 1024 + 30 + number * 29).collect();
        let device = Arc::new(device);
        let total_bytes = 13 * MIB;
        let lap = run_bytes(&device, vec![writer(access, range)], total_bytes);
        assert_eq!(lap.streams[0].next_generation, 5);
        let written = lap.streams[0].written.expect("in order");
        let found = read_all(&device, written, range, 64 * 1024);
        let stale = found.faults.get(&Fault::Stale).copied().unwrap_or(0);
        let overwritten = found.faults.len() > 1;
        assert!(!overwritten, "{:?}", found.faults);
        // Writes of the third pass that the fourth wrote again are healed.
        assert!((20 * 8..=40 * 8).contains(&stale), "{stale}");
        let again = run_bytes(&device, vec![writer(FROM_THE_START, range)], 4 * MIB);
        let healed = again.streams[0].written.expect("in order");
        assert_eq!(
            read_all(&device, healed, range, 4096).faults,
            BTreeMap::new()
        );
    }
}

#[test]
fn a_lost_write_is_found_inline_by_the_next_read_of_its_block() {
    let range = contiguous(0, MIB);
    let mut device = Device::new(MIB);
    device.lost = (0..100).map(|number| 5_000 + number * 100).collect();
    let device = Arc::new(device);
    let mixed = StreamPlan {
        read_percent: 90,
        ..writer(Access::Random, range)
    };
    let found = findings(&run_bytes(&device, vec![mixed], 1024 * MIB));
    // A block is read nine times for each write: about nine of ten lost writes are read.
    let stale = found.faults[&Fault::Stale];
    assert!(stale > 70 * 8, "{stale}");
    assert_eq!(found.faults.len(), 1, "{:?}", found.faults);
}

/// Streams over one small range, so that reads and writes of a block cross all the time.
fn crossing() -> Vec<(&'static str, Vec<StreamPlan>)> {
    let range = contiguous(MIB, 2 * MIB);
    let readers = StreamPlan {
        threads: 2,
        ..reader(Vec::new(), range, 16384)
    };
    let mix = [(4096, 5), (8192, 3), (16384, 2)].map(|(block_size_bytes, weight)| BlockShare {
        block_size_bytes,
        weight,
    });
    let half = |access| StreamPlan {
        threads: 2,
        queue_depth: 32,
        read_percent: 50,
        ..writer(access, range)
    };
    let mixed = StreamPlan {
        block_size_bytes: 16384,
        blocks: mix.to_vec(),
        content: Content::Compressible { percent: 40 },
        ..half(Access::Zipf { theta: 1.1 })
    };
    let tiny = contiguous(0, 64 * KIB);
    let refilled = StreamPlan {
        content: Content::Refill,
        threads: 2,
        ..writer(SHUFFLED, range)
    };
    let wrapping = StreamPlan {
        queue_depth: 32,
        threads: 2,
        ..writer(FROM_THE_START, tiny)
    };
    let random_reader = StreamPlan {
        access: Access::Random,
        queue_depth: 32,
        ..reader(Vec::new(), tiny, 4096)
    };
    let blocks = |reads: &StreamPlan| StreamPlan {
        block_size_bytes: 4096,
        ..reads.clone()
    };
    vec![
        ("random", vec![half(Access::Random)]),
        ("sequential mix", vec![half(FROM_THE_START)]),
        ("zipf of several sizes", vec![mixed]),
        ("shuffled and readers", vec![refilled, blocks(&readers)]),
        ("wrapping at the depth", vec![wrapping, random_reader]),
        (
            "two writers",
            vec![writer(SHUFFLED, range), half(Access::Random)],
        ),
    ]
}

#[test]
fn gigabytes_of_crossing_reads_and_writes_raise_no_alarm() {
    for (name, streams) in crossing() {
        let device = Arc::new(Device::new(4 * MIB));
        let found = findings(&run_bytes(&device, streams, 1792 * MIB));
        assert_eq!(
            found.faults,
            BTreeMap::new(),
            "{name}: {:?}",
            found.examples
        );
        let judged = found.sectors as f64 / (found.sectors + found.sectors_unjudged) as f64;
        assert!(judged > 0.9, "{name}: only {judged} was judged");
    }
}

#[test]
fn writes_that_fail_half_done_are_errors_and_no_faults() {
    for (name, streams) in crossing() {
        let mut device = Device::new(4 * MIB);
        device.fails_one_in = 50;
        let device = Arc::new(device);
        let lap = run_bytes(&device, streams, 64 * MIB);
        assert_eq!(findings(&lap).faults, BTreeMap::new(), "{name}");
        let errors: u64 = lap
            .streams
            .iter()
            .filter_map(|one| one.write.errors.get(&libc::EIO))
            .sum();
        // How many of the I/Os are writes is for the threads to settle among themselves.
        assert!(errors > 0, "{name}: no write failed");
    }
}

#[test]
fn what_was_never_written_is_not_judged() {
    let range = contiguous(0, 4 * MIB);
    let device = Arc::new(Device::new(4 * MIB));
    fill_random(&mut device.bytes.lock().unwrap()[..MIB as usize], 1);
    let half = StreamPlan {
        read_percent: 50,
        ..writer(Access::Random, range)
    };
    let found = findings(&run_bytes(&device, vec![half], 2 * MIB));
    assert_eq!(found.faults, BTreeMap::new());
    assert!(found.sectors_unjudged > 1000, "{found:?}");
}

#[test]
fn a_plan_that_cannot_be_verified_is_refused_by_name() {
    use teijo_engine::crew::Crew;
    use teijo_engine::plan::Depth;
    let range = contiguous(0, MIB);
    let sound = writer(Access::Random, range);
    let cases = [
        StreamPlan {
            content: Content::Zero,
            ..sound.clone()
        },
        StreamPlan {
            content: Content::Dedupable { percent: 5 },
            ..sound.clone()
        },
        StreamPlan {
            discard_percent: 1,
            ..sound.clone()
        },
        StreamPlan {
            block_size_bytes: 1000,
            ..sound.clone()
        },
        StreamPlan {
            verify: Some(verified(0, Vec::new())),
            ..sound.clone()
        },
        StreamPlan {
            range: contiguous(100, MIB),
            ..sound.clone()
        },
    ];
    let bound = Bound::Bytes { total_bytes: MIB };
    let refusal = |streams| Crew::of(&plan(streams, bound), Depth::Queued).err();
    assert_eq!(refusal(vec![sound.clone()]), None);
    for case in cases {
        let error = refusal(vec![case]).expect("it is refused").to_string();
        assert!(error.starts_with("the plan cannot be run: "), "{error}");
    }
    let unverified = StreamPlan {
        verify: None,
        ..sound.clone()
    };
    assert!(
        refusal(vec![sound, unverified]).is_some(),
        "all streams or none"
    );
}

/// Miri sums a sector in a tenth of a second.
const BLOCKS_MOST: u64 = if cfg!(miri) { 8 } else { 900 };

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 1 } else { 24 },
        failure_persistence: None,
        ..Default::default()
    })]

    /// The formula against the memory of what was written: any range, any start, any end.
    #[test]
    fn what_an_ordered_stimulus_left_is_known_to_the_sector(
        segments in 1..4u64, sectors in 8..200u64, gap in 0..50u64, block in 1..9u64,
        start in 0..300u64, blocks in 1..BLOCKS_MOST, shuffles: bool,
    ) {
        let range = Range {
            start_bytes: 512,
            segments,
            segment_bytes: sectors * 512,
            stride_bytes: (sectors + gap) * 512,
        };
        let block_size_bytes = (block * 512) as u32;
        let access = if shuffles {
            Access::Shuffled { key: start, cursor_bytes: start * block * 512 }
        } else {
            Access::Sequential { cursor_bytes: start * 512 }
        };
        let device = Arc::new(Device::new(512 + segments * range.stride_bytes));
        let one = StreamPlan { block_size_bytes, ..writer(access, range) };
        let lap = run_bytes(&device, vec![one], blocks * block * 512);
        let written = lap.streams[0].written.expect("in order");
        let found = read_all(&device, written, range, 4096);
        prop_assert_eq!(&found.faults, &BTreeMap::new());
        let bytes = device.bytes.lock().unwrap();
        let mut stamped = 0;
        for segment in 0..segments {
            let first = (512 + segment * range.stride_bytes) as usize;
            let piece = &bytes[first..first + range.segment_bytes as usize];
            stamped += piece.chunks(512).filter(|one| one.iter().any(|&byte| byte != 0)).count();
        }
        prop_assert_eq!(found.sectors, stamped as u64);
    }
}
