//! Virtual time against truths: fluid limits, the fall from fresh to steady, scaling, pacing,
//! parallel dies, and what size and alignment cost.

use crate::common::{
    assert_within, closed_loop, device, fill_device, greedy_wa, random_writes, Random, Run,
};
use teijo_engine::request::Op;
use teijo_sim::device::Device;
use teijo_sim::flash::params::Frontier;
use teijo_sim::flash::Ssd;

const EXACT: &str = "jitter_percent=0";

/// Seconds of die time a host page costs at write amplification `wa`.
fn die_seconds(drive: &Ssd, wa: f64) -> f64 {
    let params = drive.params();
    let pages = f64::from(params.pages_per_block);
    let ns = wa * params.program_ns as f64
        + (wa - 1.0) * (params.read_ns + params.move_ns) as f64
        + wa * params.erase_ns as f64 / pages;
    ns / 1e9
}

fn alpha(drive: &Ssd) -> f64 {
    drive.geometry().alpha(Frontier::Shared)
}

#[test]
fn what_is_read_and_was_never_written_is_counted_to_the_byte() {
    let mut drive = device("mlc-b?capacity=64MiB&dies=2&pages_per_block=64");
    let counted = |drive: &Ssd| {
        let counts = drive.counts();
        let found = counts
            .iter()
            .find(|(name, _)| name == "unwritten_read_bytes");
        found.map_or(0, |found| found.1)
    };
    drive.serve(Op::Write, 0, 8192, 0);
    drive.serve(Op::Read, 0, 8192, 1_000_000);
    assert_eq!(counted(&drive), 0);
    // Of these 8 KiB from 6 KiB on, the first 2 KiB were written.
    drive.serve(Op::Read, 6144, 8192, 2_000_000);
    assert_eq!(counted(&drive), 6144);
    drive.serve(Op::Read, 1 << 20, 512, 3_000_000);
    assert_eq!(counted(&drive), 6656);
    // What was trimmed is as what was never written.
    drive.serve(Op::Discard, 4096, 4096, 4_000_000);
    drive.serve(Op::Read, 0, 8192, 5_000_000);
    assert_eq!(counted(&drive), 6656 + 4096);
}

#[test]
fn steady_iops_are_the_fluid_limit_of_the_dies() {
    for text in [
        "slc-a?capacity=4GiB",
        "slc-a?capacity=4GiB&pacing=paced&op_percent=12.5",
        "slc-a?capacity=4GiB&move_us=500",
    ] {
        let mut drive = device(&format!("{text}&{EXACT}"));
        let units = drive.capacity_bytes() / 4096;
        let filled_ns = fill_device(&mut drive, 0);
        let mut random = Random(1);
        let warm = random_writes(&mut drive, filled_ns, 32, 4 * units, 4096, &mut random);
        let run = random_writes(&mut drive, warm.ended_ns, 32, units, 4096, &mut random);
        let wa = greedy_wa(alpha(&drive), 256);
        let fluid = f64::from(drive.params().dies) / die_seconds(&drive, wa);
        assert_within(&format!("{text}: IOPS"), run.iops(), fluid, 4.0);
    }
}

#[test]
fn fresh_iops_are_the_fluid_limit_without_cleaning() {
    for (text, limit) in [
        ("slc-a?capacity=1GiB", 56_140.0),
        ("s3700?capacity=1GiB", 89_136.0),
    ] {
        let mut drive = device(&format!("{text}&{EXACT}"));
        let units = drive.capacity_bytes() / 4096;
        let run = random_writes(&mut drive, 0, 32, units, 4096, &mut Random(1));
        assert_within(text, run.iops(), limit, 1.0);
    }
}

/// IOPS of each eighth of the capacity, written at random from fresh.
fn saturation(drive: &mut Ssd, capacities: u64) -> Vec<f64> {
    let eighth = drive.capacity_bytes() / 4096 / 8;
    let (mut random, mut now_ns) = (Random(1), 0);
    let mut lap = || {
        let run = random_writes(drive, now_ns, 32, eighth, 4096, &mut random);
        now_ns = run.ended_ns;
        run.iops()
    };
    (0..8 * capacities).map(|_| lap()).collect()
}

#[test]
fn the_fall_to_steady_state_is_quasi_static_from_three_capacities_on() {
    let mut drive = device(&format!("slc-a?capacity=4GiB&{EXACT}"));
    let curve = saturation(&mut drive, 6);
    for (index, iops) in curve.iter().enumerate().skip(24) {
        let x = (index as f64 + 0.5) / 8.0;
        let wa = greedy_wa(alpha(&drive) / (1.0 - (-x).exp()), 256);
        let truth = f64::from(drive.params().dies) / die_seconds(&drive, wa);
        assert_within(&format!("after {x} capacities"), *iops, truth, 3.0);
    }
}

#[test]
fn a_drive_a_quarter_the_size_gives_the_same_curve() {
    let curve = |capacity: &str| {
        let text = format!("slc-a?capacity={capacity}&pacing=paced&pages_per_block=64&{EXACT}");
        saturation(&mut device(&text), 6)
    };
    let (large, small) = (curve("4GiB"), curve("1GiB"));
    // Whole capacities: the knee itself moves by a fraction of a block.
    for (whole, (large, small)) in large.chunks(8).zip(small.chunks(8)).enumerate() {
        let mean = |part: &[f64]| part.iter().sum::<f64>() / 8.0;
        assert_within(&format!("capacity {whole}"), mean(small), mean(large), 3.0);
    }
}

#[test]
fn pacing_changes_the_tail_and_not_the_rate() {
    let steady = |pacing: &str| {
        let placement = "placement=turn";
        let text = format!("slc-a?capacity=2GiB&pacing={pacing}&{placement}&{EXACT}");
        let mut drive = device(&text);
        let units = drive.capacity_bytes() / 4096;
        let filled_ns = fill_device(&mut drive, 0);
        let mut random = Random(1);
        let warm = random_writes(&mut drive, filled_ns, 32, 4 * units, 4096, &mut random);
        random_writes(&mut drive, warm.ended_ns, 32, units, 4096, &mut random)
    };
    let (mut lump, mut paced) = (steady("lump"), steady("paced"));
    assert_within("paced over lump: IOPS", paced.iops(), lump.iops(), 2.0);
    let tails = [&mut lump, &mut paced].map(|run: &mut Run| run.latency_ns_at(0.999));
    println!("p99.9 lump {} ns, paced {} ns", tails[0], tails[1]);
    assert!(tails[0] > 5 * tails[1], "{tails:?}");
}

#[test]
fn random_reads_at_depth_n_keep_as_many_dies_busy_as_theory_says() {
    // Shares of 16 dies busy; truth lies between exponential service (balanced MVA) and n
    // independent draws. The last column is a simulation of deterministic service by others.
    let text = format!(
        "slc-a?capacity=1GiB&{EXACT}&read_command_us=0&ack_us=0&link_mb_per_second=1000000\
         &bus_mb_per_second=1000000"
    );
    let mut drive = device(&text);
    let start_ns = fill_device(&mut drive, 0) + 1_000_000_000;
    let blocks = drive.capacity_bytes() / 4096;
    let dies = f64::from(drive.params().dies);
    let most = dies / (drive.params().read_ns as f64 / 1e9);
    let mut now_ns = start_ns;
    for (depth, published) in [(1, 1.0 / 16.0), (16, 0.601), (32, 0.776), (64, 0.884)] {
        let mut random = Random(depth);
        let run = closed_loop(&mut drive, now_ns, depth as usize, 200_000, || {
            (Op::Read, random.below(blocks) * 4096, 4096)
        });
        now_ns = run.ended_ns;
        let busy = run.iops() / most;
        let n = depth as f64;
        assert!(
            busy > n / (n + dies - 1.0) - 1e-3,
            "below exponential service: {busy}"
        );
        assert!(
            busy < 1.0 - (1.0 - 1.0 / dies).powf(n) + 2e-3,
            "above independent: {busy}"
        );
        assert_within(&format!("depth {depth}"), busy, published, 1.0);
    }
}

#[test]
fn little_holds_for_reads_and_writes_of_several_sizes() {
    for block_size_bytes in [512, 4096, 65_536] {
        let mut drive = device("mlc-a?capacity=1GiB");
        let start_ns = fill_device(&mut drive, 0);
        let blocks = drive.capacity_bytes() / u64::from(block_size_bytes);
        let mut random = Random(2);
        let run = closed_loop(&mut drive, start_ns, 8, 20_000, || {
            let op = if random.chance(0.5) {
                Op::Read
            } else {
                Op::Write
            };
            (
                op,
                random.below(blocks) * u64::from(block_size_bytes),
                block_size_bytes,
            )
        });
        let in_flight = run.iops() * run.mean_latency_ns() / 1e9;
        assert_within(
            &format!("{block_size_bytes} B: in flight"),
            in_flight,
            8.0,
            0.5,
        );
    }
}

#[test]
fn the_client_drive_is_filled_as_fast_ever_after_as_after_a_purge() {
    // What XSR asks of it: a first capacity without erases would be 1 % faster than the others.
    let mut drive = device("mlc-a");
    let fresh_ns = fill_device(&mut drive, 0);
    let filled_ns = fill_device(&mut drive, fresh_ns) - fresh_ns;
    assert_within("second fill, ns", filled_ns as f64, fresh_ns as f64, 0.3);
}

fn sequential_mb_per_second(drive: &mut Ssd, start_ns: u64, op: Op, block_size_bytes: u32) -> f64 {
    let block = u64::from(block_size_bytes);
    let count = drive.capacity_bytes() / block;
    let mut index = 0;
    let run = closed_loop(drive, start_ns, 8, count, || {
        index += 1;
        (op, (index - 1) * block, block_size_bytes)
    });
    run.iops() * block as f64 / 1e6
}

#[test]
fn large_transfers_reach_the_published_rates() {
    let cases = [
        ("mlc-a", Op::Read, 1 << 20, 279.7, 8.0),
        ("slc-a", Op::Read, 1 << 20, 514.3, 3.0),
        ("slc-a", Op::Write, 128 << 10, 144.5, 3.0),
    ];
    for (name, op, block_size_bytes, published, percent) in cases {
        let mut drive = device(&format!("{name}?capacity=2GiB"));
        let mut now_ns = 0;
        for _ in 0..3 {
            now_ns = fill_device(&mut drive, now_ns);
        }
        let rate = sequential_mb_per_second(&mut drive, now_ns, op, block_size_bytes);
        assert_within(&format!("{name} {op:?} MB/s"), rate, published, percent);
    }
}

#[test]
fn a_write_of_part_of_a_unit_reads_the_rest_first() {
    let mut drive = device(&format!("mlc-a?capacity=1GiB&{EXACT}"));
    let now_ns = fill_device(&mut drive, 0) + 1_000_000_000;
    let before = drive.health();
    let whole = drive.serve(Op::Write, 0, 4096, now_ns);
    assert_eq!(drive.health().since(&before).nand_reads_bytes, 0);
    let later_ns = now_ns + 1_000_000_000;
    let part = drive.serve(Op::Write, 512, 512, later_ns);
    assert_eq!(drive.health().since(&before).nand_reads_bytes, 4096);
    assert!(part.done_ns - later_ns > whole.done_ns - now_ns + 500_000);
    // Across two units, both in part.
    drive.serve(Op::Write, 8192 + 2048, 4096, later_ns + 1_000_000_000);
    assert_eq!(drive.health().since(&before).nand_reads_bytes, 3 * 4096);
    // Never written or trimmed: nothing to read.
    drive.serve(Op::Discard, 1 << 20, 4096, later_ns + 2_000_000_000);
    drive.serve(Op::Write, (1 << 20) + 512, 512, later_ns + 2_000_000_000);
    assert_eq!(drive.health().since(&before).nand_reads_bytes, 3 * 4096);
}

#[test]
fn a_flush_waits_for_the_buffer_and_refused_requests_say_why() {
    let mut drive = device(&format!("slc-a?capacity=1GiB&{EXACT}"));
    let write = drive.serve(Op::Write, 0, 4096, 0);
    let flush = drive.serve(Op::Flush, 0, 0, write.done_ns);
    assert!(
        flush.done_ns >= write.done_ns + 250_000,
        "a page takes 285 µs to program"
    );
    let capacity_bytes = drive.capacity_bytes();
    let results = [
        (Op::Write, capacity_bytes, 4096, -28),
        (Op::Read, capacity_bytes, 4096, 0),
        (Op::Write, 100, 512, -22),
        (Op::Read, 0, 100, -22),
        (Op::Read, capacity_bytes - 512, 4096, 512),
    ];
    for (op, offset_bytes, length_bytes, result) in results {
        let outcome = drive.serve(op, offset_bytes, length_bytes, flush.done_ns);
        assert_eq!(outcome.result, result, "{op:?} at {offset_bytes}");
    }
}
