//! The region that is written first, at one bit a cell, against the fluid model: how much a burst
//! may write, the rate after it, and what idle time gives back.

use crate::common::{assert_within, closed_loop, device, Random};
use proptest::prelude::*;
use teijo_engine::request::Op;
use teijo_sim::device::Device;
use teijo_sim::flash::Ssd;

/// 16 dies; 100 µs a page in the region, 50 µs to read and 700 µs to program it again.
const DRIVE: &str = "mlc-b?capacity=4GiB&jitter_percent=0&gc=greedy&pacing=lump\
                     &op_percent=20&program_us=700&read_us=50&erase_us=0&slc_program_us=100\
                     &buffer=256KiB&link_mb_per_second=100000&write_command_us=0&ack_us=0\
                     &nominal_capacity=4GiB";
const UNIT: u64 = 4096;
const DIES: f64 = 16.0;
const SLC_S: f64 = 100e-6;
const FOLD_S: f64 = 750e-6;

fn drive(more: &str) -> Ssd {
    device(&format!("{DRIVE}&{more}"))
}

/// Writes `count` units one after the other, from `first` on, `interval_ns` apart, whatever the
/// drive does; returns the latency of each.
fn paced_writes(drive: &mut Ssd, first: u64, count: u64, start_ns: u64, step_ns: f64) -> Vec<u64> {
    let units = drive.capacity_bytes() / UNIT;
    let one = |k: u64| {
        let at_ns = start_ns + (k as f64 * step_ns) as u64;
        let offset_bytes = (first + k) % units * UNIT;
        drive
            .serve(Op::Write, offset_bytes, UNIT as u32, at_ns)
            .done_ns
            - at_ns
    };
    (0..count).map(one).collect()
}

/// Bytes written until latency leaves the level of the buffer for good.
fn written_at_the_fall(latency_ns: &[u64]) -> f64 {
    let fast = latency_ns.iter().rposition(|&ns| ns < 500_000);
    (fast.map_or(0, |last| last + 1) as u64 * UNIT) as f64
}

fn rate_of(drive: &mut Ssd, first: u64, count: u64, start_ns: u64) -> (f64, u64) {
    let units = drive.capacity_bytes() / UNIT;
    let mut unit = first;
    let run = closed_loop(drive, start_ns, 128, count, || {
        unit += 1;
        (Op::Write, (unit - 1) % units * UNIT, UNIT as u32)
    });
    (run.iops(), run.ended_ns)
}

#[test]
fn a_burst_runs_at_the_speed_of_the_region_until_it_is_full_and_then_folds() {
    let region = 512 << 20;
    let mut drive = drive("slc_region=512MiB&idle_wait_us=1000000");
    let plateau = DIES / SLC_S;
    let folding = DIES / (SLC_S + FOLD_S);
    let burst = region / UNIT;
    let (rate, now_ns) = rate_of(&mut drive, 0, burst * 99 / 100, 0);
    assert_within("plateau, IOPS", rate, plateau, 1.0);
    let (_, now_ns) = rate_of(&mut drive, burst * 99 / 100, burst / 50, now_ns);
    let before = drive.health();
    let (rate, _) = rate_of(&mut drive, burst * 101 / 100, burst, now_ns);
    assert_within("after the fall, IOPS", rate, folding, 1.0);
    // Each unit is programmed twice: in the region, and where it is folded to.
    let wa = drive.health().since(&before).write_amplification();
    assert_within("write amplification", wa.expect("it wrote"), 2.0, 0.1);
}

#[test]
fn a_burst_that_folds_meanwhile_lasts_as_long_as_the_fluid_model_says() {
    // The dies have the time that the host leaves them: mu folds while lambda comes in.
    for share in [0.4, 0.6, 0.8] {
        let mut drive = drive("slc_region=256MiB&idle_wait_us=0");
        let lambda = share * DIES / SLC_S;
        let mu = (DIES - lambda * SLC_S) / FOLD_S;
        let truth = 256.0 * 1_048_576.0 * lambda / (lambda - mu);
        let count = (1.2 * truth) as u64 / UNIT;
        let latency_ns = paced_writes(&mut drive, 0, count, 0, 1e9 / lambda);
        let what = format!("V* at {share} of the region's rate, bytes");
        assert_within(&what, written_at_the_fall(&latency_ns), truth, 1.0);
    }
}

#[test]
fn idle_time_gives_back_what_the_dies_fold_in_it() {
    for idle_s in [0.5, 1.0, 100.0] {
        let mut drive = drive("slc_region=256MiB&idle_wait_us=1000");
        let capacity = 65_536;
        let (_, full_ns) = rate_of(&mut drive, 0, capacity * 2, 0);
        let rested_ns = full_ns + (idle_s * 1e9) as u64;
        drive.idle(full_ns, rested_ns);
        let folded = ((idle_s - 1e-3) * DIES / FOLD_S).min(capacity as f64);
        let in_use = drive.ftl().region_units() as f64;
        assert_within("room, units", capacity as f64 - in_use, folded, 1.0);
        // At the region's full rate nothing is folded meanwhile: the burst is what idling gave.
        let step_ns = 1.001 * SLC_S * 1e9 / DIES;
        let latency_ns = paced_writes(&mut drive, capacity * 2, capacity * 2, rested_ns, step_ns);
        let burst = written_at_the_fall(&latency_ns) / UNIT as f64;
        assert_within("burst after it, units", burst, folded, 1.5);
    }
}

#[test]
fn a_full_region_may_be_bypassed() {
    let mut drive = drive("slc_region=256MiB&idle_wait_us=1000000&slc_when_full=bypass");
    let (_, now_ns) = rate_of(&mut drive, 0, 70_000, 0);
    let before = drive.health();
    let (rate, _) = rate_of(&mut drive, 70_000, 70_000, now_ns);
    assert_within("main area, IOPS", rate, DIES / 700e-6, 1.0);
    let wa = drive.health().since(&before).write_amplification();
    assert_within("write amplification", wa.expect("it wrote"), 1.0, 0.1);
}

#[test]
fn a_dynamic_region_is_a_share_of_the_capacity_without_data() {
    // w units are in the region when w = fixed + share (U - w).
    let (fixed, share) = (16_384.0, 0.3);
    let mut drive =
        drive("slc_region=64MiB&slc_dynamic_percent=30&idle_wait_us=1000000&slc_when_full=bypass");
    let units = drive.capacity_bytes() / UNIT;
    let (_, now_ns) = rate_of(&mut drive, 0, units / 2, 0);
    let truth = (fixed + share * units as f64) / (1.0 + share);
    let in_region = drive.ftl().region_units() as f64;
    assert_within("fresh, units", in_region, truth, 1.0);
    // Full of data, only the fixed part is left.
    let (_, full_ns) = rate_of(&mut drive, units / 2, units, now_ns);
    drive.idle(full_ns, full_ns + 1_000_000_000_000);
    assert_eq!(drive.ftl().region_units(), 0);
    rate_of(&mut drive, 0, units / 2, full_ns + 1_000_000_000_000);
    assert_within("full, units", drive.ftl().region_units() as f64, fixed, 1.0);
}

#[test]
fn units_that_are_written_again_before_they_are_folded_are_folded_once() {
    let mut drive = drive("slc_region=256MiB&idle_wait_us=1000000");
    let mut random = Random(3);
    // 64 MiB over and over: three quarters of the region are old copies.
    let run = closed_loop(&mut drive, 0, 64, 65_536, || {
        (Op::Write, random.below(16_384) * UNIT, UNIT as u32)
    });
    let live = drive.ftl().live_units();
    let before = drive.health();
    drive.idle(run.ended_ns, run.ended_ns + 1_000_000_000_000);
    let folded = drive.health().since(&before).nand_writes_bytes / UNIT;
    assert_eq!(folded, live);
    assert_eq!(drive.ftl().region_units(), 0);
    let counts = drive.counts();
    let count = counts.iter().find(|one| one.0 == "slc_folded_bytes");
    assert_eq!(count.expect("it counts").1, live * UNIT);
}

#[test]
fn a_region_of_a_scaled_drive_is_scaled() {
    let full = device("mlc-b?nominal_capacity=64GiB&scale=16&slc_region=1GiB&idle_wait_us=1000000");
    assert_eq!(full.params().region_units() * UNIT, (1 << 30) / 16);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is written, trimmed and let rest: what was last said of a unit holds.
    #[test]
    fn every_unit_is_where_it_was_written_last(
        seed in any::<u64>(),
        page in prop::sample::select(vec!["mapping", "16KiB"]),
        fold in prop::sample::select(vec!["fold", "bypass"]),
        dynamic in prop::sample::select(vec![0, 30, 100]),
        frontier in prop::sample::select(vec!["shared", "separate"]),
        wait in prop::sample::select(vec![0, 100_000]),
    ) {
        let mut drive = device(&format!(
            "mlc-b?capacity=16MiB&dies=2&pages_per_block=64&op_percent=30&idle_pool_percent=5\
             &nominal_capacity=16MiB&slc_region=2MiB&page={page}&slc_when_full={fold}\
             &slc_dynamic_percent={dynamic}&frontier={frontier}&idle_wait_us={wait}&buffer=64KiB"
        ));
        let units = drive.capacity_bytes() / UNIT;
        let (mut random, mut now_ns) = (Random(seed), 0);
        let mut live = vec![false; units as usize];
        for _ in 0..20_000 {
            let unit = random.below(units);
            let op = match random.below(100) {
                0..=4 => Op::Discard,
                5..=9 => Op::Read,
                10 => Op::Flush,
                _ => Op::Write,
            };
            let outcome = drive.serve(op, unit * UNIT, UNIT as u32, now_ns);
            prop_assert!(outcome.done_ns >= now_ns);
            match op {
                Op::Write => live[unit as usize] = true,
                Op::Discard => live[unit as usize] = false,
                Op::Read | Op::Flush => {}
            }
            now_ns += random.below(400_000);
            if random.below(1_000) == 0 {
                drive.idle(now_ns, now_ns + 50_000_000);
                now_ns += 50_000_000;
            }
        }
        for unit in 0..units as u32 {
            prop_assert_eq!(drive.ftl().die_of(unit).is_some(), live[unit as usize]);
        }
        prop_assert_eq!(
            drive.ftl().live_units(),
            live.iter().filter(|&&one| one).count() as u64
        );
        drive.ftl().check();
    }
}
