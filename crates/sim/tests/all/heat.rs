//! A drive that warms with its work and is held back while it is too hot, against the exponential
//! that a capacity and a resistance give.

use crate::common::{assert_within, closed_loop, device, Random};
use teijo_engine::request::Op;
use teijo_sim::device::Device;
use teijo_sim::flash::Ssd;

const UNIT: u64 = 4096;
const SECOND: u64 = 1_000_000_000;
/// 16 dies that program 4 KiB in 200 µs: 327.68 MB/s, and with 20 nJ/B 6.55 W.
const DRIVE: &str = "mlc-b?capacity=256MiB&nominal_capacity=256MiB&jitter_percent=0&gc=greedy\
                     &program_us=200&erase_us=0&write_command_us=0&ack_us=0&op_percent=20\
                     &link_mb_per_second=100000&buffer=256KiB&program_nj_per_byte=20&idle_w=0.5\
                     &ambient_c=25&thermal_k_per_w=10&heat_j_per_k=3";
const RATE: f64 = 16.0 * 4096.0 / 200e-6;
const TAU_S: f64 = 30.0;
/// Above what the drive has at rest, 30 °C.
const REST_C: f64 = 30.0;

fn drive(more: &str) -> Ssd {
    device(&format!("{DRIVE}&{more}"))
}

/// Writes for `seconds` as fast as it goes; returns the temperature and the rate in each tenth of
/// a second, MB/s.
fn load(drive: &mut Ssd, start_ns: u64, seconds: f64) -> (Vec<(f64, f64)>, u64) {
    let units = drive.capacity_bytes() / UNIT;
    let (mut unit, mut now_ns, mut course) = (0, start_ns, Vec::new());
    let end_ns = start_ns + (seconds * 1e9) as u64;
    let step = 2_000;
    while now_ns < end_ns {
        let run = closed_loop(drive, now_ns, 32, step, || {
            unit += 1;
            (Op::Write, (unit - 1) % units * UNIT, 4096)
        });
        now_ns = run.ended_ns;
        let celsius = drive.celsius().expect("it models heat");
        course.push((celsius, run.iops() * UNIT as f64));
    }
    (course, now_ns)
}

#[test]
fn under_a_steady_load_the_drive_warms_as_the_exponential_says() {
    let mut drive = drive("throttle_percent=50&throttle_at_c=500&throttle_until_c=400");
    let power_w = RATE * 20e-9;
    let final_k = power_w * 10.0;
    let mut now_ns = 0;
    for _ in 0..6 {
        (_, now_ns) = load(&mut drive, now_ns, 10.0);
        let seconds = now_ns as f64 / 1e9;
        // At first it is as warm as the air, 5 K below what idling alone brings.
        let decay = (-seconds / TAU_S).exp();
        let truth = REST_C + final_k - (final_k + 5.0) * decay;
        let celsius = drive.celsius().expect("it models heat");
        assert_within(&format!("after {seconds:.1} s, °C"), celsius, truth, 1.0);
    }
}

#[test]
fn it_is_held_back_after_the_time_that_the_closed_form_gives() {
    for at_c in [40.0_f64, 60.0, 80.0] {
        let mut drive = drive(&format!(
            "throttle_percent=25&throttle_at_c={at_c}&throttle_until_c=35"
        ));
        let final_k = RATE * 20e-9 * 10.0;
        let truth = TAU_S * ((final_k + 5.0) / (final_k - (at_c - REST_C))).ln();
        let (course, end_ns) = load(&mut drive, 0, 1.05 * truth);
        assert_eq!(drive.counts()[0].0, "throttled_ns");
        let held_s = drive.counts()[0].1 as f64 / 1e9;
        let measured = end_ns as f64 / 1e9 - held_s;
        assert_within(
            &format!("throttled at {at_c} °C after, s"),
            measured,
            truth,
            1.0,
        );
        let last = course.last().expect("it ran").1;
        assert_within("rate then, B/s", last, 0.25 * RATE, 1.0);
    }
}

#[test]
fn it_swings_between_the_thresholds_as_the_closed_form_says() {
    let mut drive = drive("throttle_percent=20&throttle_at_c=70&throttle_until_c=60");
    let full_k = RATE * 20e-9 * 10.0;
    let held_k = 0.2 * full_k;
    let (hot_k, cool_k) = (70.0 - REST_C, 60.0 - REST_C);
    let hot_s = TAU_S * ((full_k - cool_k) / (full_k - hot_k)).ln();
    let cool_s = TAU_S * ((hot_k - held_k) / (cool_k - held_k)).ln();
    let (_, warm_ns) = load(&mut drive, 0, 80.0);
    let before = (drive.counts()[0].1, drive.health().host_writes_bytes);
    // Whole swings, as near as they come.
    let swings = 8.0;
    let (_, end_ns) = load(&mut drive, warm_ns, swings * (hot_s + cool_s));
    let seconds = (end_ns - warm_ns) as f64 / 1e9;
    let held = (drive.counts()[0].1 - before.0) as f64 / 1e9 / seconds;
    assert_within(
        "share of time held back",
        held,
        cool_s / (hot_s + cool_s),
        1.0,
    );
    let rate = (drive.health().host_writes_bytes - before.1) as f64 / seconds;
    let truth = RATE * (hot_s + 0.2 * cool_s) / (hot_s + cool_s);
    assert_within("mean rate, B/s", rate, truth, 1.0);
}

#[test]
fn idle_time_cools_it_and_reads_warm_it_too() {
    let mut drive = drive(
        "throttle_percent=50&throttle_at_c=90&throttle_until_c=80&read_us=100\
                           &read_nj_per_byte=10&bus_mb_per_second=100000&read_command_us=0",
    );
    let (course, now_ns) = load(&mut drive, 0, 20.0);
    let warm_k = course.last().expect("it ran").0 - REST_C;
    let rested_ns = now_ns + 25 * SECOND;
    drive.idle(now_ns, rested_ns);
    let units = drive.capacity_bytes() / UNIT;
    let mut random = Random(1);
    let run = closed_loop(&mut drive, rested_ns, 16, 400_000, || {
        (Op::Read, random.below(units) * UNIT, 4096)
    });
    let seconds = (run.ended_ns - rested_ns) as f64 / 1e9;
    let cooled_k = warm_k * (-25.0 / TAU_S).exp();
    let final_k = run.iops() * 4096.0 * 10e-9 * 10.0;
    let truth = REST_C + final_k + (cooled_k - final_k) * (-seconds / TAU_S).exp();
    assert_within("°C", drive.celsius().expect("it models heat"), truth, 1.0);
}

#[test]
fn a_drive_a_quarter_the_size_throttles_after_a_quarter_of_the_time() {
    let held_after = |scale: u32| {
        let mut drive = device(&format!(
            "{}&nominal_capacity=1GiB&scale={scale}&throttle_percent=25&throttle_at_c=60\
             &throttle_until_c=35",
            DRIVE.replace("capacity=256MiB&nominal_capacity=256MiB&", "")
        ));
        let (_, end_ns) = load(&mut drive, 0, 40.0 / f64::from(scale));
        (end_ns - drive.counts()[0].1) as f64 / 1e9
    };
    assert_within("s", held_after(4), held_after(1) / 4.0, 1.0);
}

#[test]
fn a_drive_without_heat_is_never_held_back() {
    let mut drive = drive("throttle_percent=100&throttle_at_c=26");
    let run = closed_loop(&mut drive, 0, 32, 100_000, || (Op::Write, 0, 4096));
    assert_eq!((drive.celsius(), drive.counts().len()), (None, 0));
    assert_within("IOPS", run.iops(), RATE / 4096.0, 1.0);
    let error = teijo_sim::presets::open("mlc-b?throttle_percent=50&throttle_until_c=70");
    let text = error.expect_err("no hysteresis").to_string();
    assert!(
        text.contains("slows down at 70 °C is not fast again at 70 °C"),
        "{text}"
    );
}
