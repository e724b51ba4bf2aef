//! A drive that compresses, against the closed form of cleaning with the room that it gains.

use crate::common::{
    assert_within, closed_loop, device, fill_device, greedy_wa, random_writes, Random,
};
use proptest::prelude::*;
use teijo_engine::plan::{Access, Bound, Content, Plan, Range, StreamPlan};
use teijo_engine::request::Op;
use teijo_sim::device::Device;
use teijo_sim::flash::params::Frontier;
use teijo_sim::flash::Ssd;
use teijo_sim::session::{SimSession, Unobserved};

const UNIT: u64 = 4096;
const WHOLE_Q16: u32 = 1 << 16;

fn left(share: f64) -> u32 {
    (share * f64::from(WHOLE_Q16)).round() as u32
}

fn steady_wa(drive: &mut Ssd) -> f64 {
    let units = drive.capacity_bytes() / UNIT;
    let now_ns = fill_device(drive, 0);
    let mut random = Random(1);
    let warm = random_writes(drive, now_ns, 32, 4 * units, 4096, &mut random);
    let before = drive.health();
    random_writes(drive, warm.ended_ns, 32, 2 * units, 4096, &mut random);
    let wa = drive.health().since(&before).write_amplification();
    wa.expect("it wrote")
}

#[test]
fn nand_bytes_are_the_share_times_the_closed_form_with_the_room_gained() {
    for share in [0.35, 0.5, 0.95] {
        for frontier in ["shared", "separate"] {
            let mut drive = device(&format!(
                "mlc-b?capacity=1GiB&dies=1&pages_per_block=128&op_percent=7&gc=greedy\
                 &frontier={frontier}&compression=on"
            ));
            drive.content(left(share));
            let wa = steady_wa(&mut drive);
            let which = drive.params().frontier;
            let alpha = drive.geometry().alpha(which) / share;
            // As many more units lie in a block as they are smaller.
            let truth = share * greedy_wa(alpha, (128.0 / share) as u32);
            assert_within(&format!("{share} left, {frontier}"), wa, truth, 2.0);
        }
    }
}

#[test]
fn incompressible_data_leaves_no_trace_of_compression() {
    let run = |compression: &str| {
        let mut drive = device(&format!("mlc-a?capacity=1GiB&compression={compression}"));
        let mut random = Random(4);
        let now_ns = fill_device(&mut drive, 0);
        let blocks = drive.capacity_bytes() / 8192;
        let run = closed_loop(&mut drive, now_ns, 8, 400_000, || {
            let op = if random.chance(0.3) {
                Op::Read
            } else {
                Op::Write
            };
            (op, random.below(blocks) * 8192 + 2048, 4096)
        });
        (run.latency_ns, run.ended_ns, drive.health())
    };
    assert!(run("on") == run("off"));
}

#[test]
fn sequential_writes_are_as_much_faster_as_the_data_is_smaller() {
    let rate = |share: f64| {
        let mut drive = device(
            "mlc-b?capacity=1GiB&jitter_percent=0&compression=on&link_mb_per_second=100000\
             &write_command_us=0&compression_least_percent=10",
        );
        drive.content(left(share));
        let ns = fill_device(&mut drive, 0);
        drive.capacity_bytes() as f64 / ns as f64
    };
    let random = rate(1.0);
    for share in [0.5, 0.25, 0.1] {
        assert_within(&format!("{share} left"), rate(share), random / share, 1.0);
    }
    // Zeros take the least that the drive can do with.
    assert_within("zeros", rate(0.0), random / 0.1, 1.0);
}

#[test]
fn data_that_is_written_again_takes_its_new_size() {
    // Filled with data that does not compress, then written over with data that halves.
    let mut drive = device(
        "mlc-b?capacity=1GiB&dies=1&pages_per_block=256&op_percent=7&gc=greedy&compression=on",
    );
    let units = drive.capacity_bytes() / UNIT;
    let now_ns = fill_device(&mut drive, 0);
    drive.content(left(0.5));
    let mut random = Random(1);
    let all = random_writes(&mut drive, now_ns, 32, 8 * units, 4096, &mut random);
    let before = drive.health();
    random_writes(&mut drive, all.ended_ns, 32, 2 * units, 4096, &mut random);
    let wa = drive.health().since(&before).write_amplification();
    let alpha = drive.geometry().alpha(Frontier::Shared) / 0.5;
    let truth = 0.5 * greedy_wa(alpha, 512);
    assert_within("all written again", wa.expect("it wrote"), truth, 2.0);
}

#[test]
fn a_plan_tells_the_drive_what_its_data_is_like() {
    let nand_per_host = |content: Content| {
        let drive = device("mlc-b?capacity=1GiB&compression=on&compression_least_percent=20");
        let capacity_bytes = drive.capacity_bytes();
        let mut session = SimSession::new(drive);
        let stream = StreamPlan {
            threads: 1,
            queue_depth: 8,
            read_percent: 0,
            block_size_bytes: 65_536,
            access: Access::Random,
            range: Range {
                start_bytes: 0,
                segments: 1,
                segment_bytes: capacity_bytes,
                stride_bytes: capacity_bytes,
            },
            content,
            seed: 1,
            ..StreamPlan::default()
        };
        let plan = Plan {
            streams: vec![stream],
            bound: Bound::Bytes {
                total_bytes: 256 << 20,
            },
            interval_ns: 1_000_000_000,
            open_ended: false,
            continues: false,
        };
        let lap = session.run(&plan, &mut Unobserved);
        lap.unwrap_or_else(|error| panic!("{error}"));
        session.health().write_amplification().expect("it wrote")
    };
    let cases = [
        (Content::Random, 1.0),
        (Content::Refill, 1.0),
        (Content::Zero, 0.2),
        (Content::Compressible { percent: 60 }, 0.4),
        (Content::Compressible { percent: 100 }, 0.2),
    ];
    for (content, truth) in cases {
        assert_within(&format!("{content:?}"), nand_per_host(content), truth, 0.1);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for more in ["page=16KiB", "slc_region=1GiB", "slc_dynamic_percent=10"] {
        let text = format!("mlc-a?compression=on&{more}");
        let error = teijo_sim::presets::open(&text).expect_err("packs closely");
        assert!(error.to_string().contains("packs units closely"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Sizes that change all the time, trims, small drives: nothing is lost and the space adds up.
    #[test]
    fn space_adds_up_whatever_the_data_is_like(
        seed in any::<u64>(),
        gc in prop::sample::select(vec!["greedy", "fifo", "random", "random:4"]),
        frontier in prop::sample::select(vec!["shared", "separate"]),
        pages in prop::sample::select(vec![8, 64]),
        least in prop::sample::select(vec![5, 30, 97]),
    ) {
        let mut drive = device(&format!(
            "mlc-b?capacity=8MiB&dies=2&pages_per_block={pages}&op_percent=20&gc={gc}\
             &frontier={frontier}&compression=on&compression_least_percent={least}\
             &idle_pool_percent=3&idle_wait_us=100"
        ));
        let units = drive.capacity_bytes() / UNIT;
        let (mut random, mut now_ns) = (Random(seed), 0);
        let mut live = vec![false; units as usize];
        for _ in 0..8_000 {
            let unit = random.below(units);
            if random.below(50) == 0 {
                drive.content(random.below(u64::from(WHOLE_Q16) + 1) as u32);
            }
            let trim = random.below(20) == 0;
            let op = if trim { Op::Discard } else { Op::Write };
            drive.serve(op, unit * UNIT, UNIT as u32, now_ns);
            live[unit as usize] = !trim;
            now_ns += random.below(300_000);
        }
        prop_assert_eq!(
            drive.ftl().live_units(),
            live.iter().filter(|&&one| one).count() as u64
        );
        drive.ftl().check();
    }
}
