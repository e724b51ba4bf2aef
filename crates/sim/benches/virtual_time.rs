//! Simulated I/Os per second of one core: the translation layer alone, and timed random writes
//! through the engine's worker. Medians of several runs; `cargo bench -p teijo-sim`. A full-size
//! drive is written once over; `cargo bench -p teijo-sim -- full-size` does six capacities of it,
//! and nothing else.

use std::time::Instant;

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{clock_gettime, ClockId};
use teijo_engine::plan::{Access, Bound, Content, Plan, Range, StreamPlan};
use teijo_sim::compose::{open, Node};
use teijo_sim::device::Device;
use teijo_sim::flash::params::{reserve_blocks, Cleaning, Frontier, Geometry};
use teijo_sim::flash::Ftl;
use teijo_sim::presets;
use teijo_sim::session::{SimSession, Unobserved};

const RUNS: usize = 5;
/// Disks are written in part: six capacities of one would take its arm a year.
const MOST_BYTES: u64 = 24 << 30;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Million host writes per second, and write amplification, in steady state.
fn translation_layer(op_percent: f64) -> (f64, f64) {
    let (units, pages_per_block) = (1 << 18, 256);
    let usable = f64::from(units) * (1.0 + op_percent / 100.0) / f64::from(pages_per_block);
    let blocks_per_die = usable.round() as u32 + reserve_blocks(Frontier::Shared);
    let geometry = Geometry {
        units,
        dies: 1,
        blocks_per_die,
        pages_per_block,
    };
    let mut ftl = Ftl::new(geometry, Cleaning::Greedy, Frontier::Shared, 1);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut write = |ftl: &mut Ftl, count: u64| {
        for _ in 0..count {
            let unit = (((random.next_u64() >> 32) * u64::from(units)) >> 32) as u32;
            let die = ftl.pick_die();
            ftl.write(unit, die);
        }
    };
    let count = 8 * u64::from(units);
    write(&mut ftl, count);
    let before = ftl.programs();
    let rates = (0..RUNS).map(|_| {
        let started = Instant::now();
        write(&mut ftl, count);
        count as f64 / started.elapsed().as_secs_f64() / 1e6
    });
    let rate = median(rates.collect());
    (
        rate,
        (ftl.programs() - before) as f64 / (count * RUNS as u64) as f64,
    )
}

fn random_writes(session: &SimSession<Node>, total_bytes: u64) -> Plan {
    let capacity_bytes = session.device().capacity_bytes();
    let range = Range {
        start_bytes: 0,
        segments: 1,
        segment_bytes: capacity_bytes,
        stride_bytes: capacity_bytes,
    };
    let stream = StreamPlan {
        threads: 1,
        queue_depth: 32,
        read_percent: 0,
        block_size_bytes: 4096,
        access: Access::Random,
        range,
        content: Content::Random,
        rate: None,
        seed: 1,
        ..StreamPlan::default()
    };
    Plan {
        streams: vec![stream],
        bound: Bound::Bytes { total_bytes },
        interval_ns: 1_000_000_000,
        open_ended: false,
        continues: false,
    }
}

/// Million simulated I/Os per second of a saturation from fresh, six capacities of an SSD.
fn saturation(text: &str) -> f64 {
    let rates = (0..RUNS).map(|_| {
        let mut session = SimSession::new(open(text).expect("a preset"));
        let capacities = 6 * session.device().capacity_bytes();
        let plan = random_writes(&session, capacities.min(MOST_BYTES));
        let started = Instant::now();
        let lap = session.run(&plan, &mut Unobserved).expect("a lap");
        lap.streams[0].write.ios as f64 / started.elapsed().as_secs_f64() / 1e6
    });
    median(rates.collect())
}

/// Prints the seconds of a full-size drive's saturation from fresh, once: of the clock and of the
/// processor, which differ where other work shares it.
fn full_size(capacities: u64) {
    let text = "s3700?scale=1";
    let mut session = SimSession::new(open(text).expect("a preset"));
    let plan = random_writes(&session, capacities * session.device().capacity_bytes());
    let (started, worked_s) = (Instant::now(), processor_s());
    session.run(&plan, &mut Unobserved).expect("a lap");
    let clock_s = started.elapsed().as_secs_f64();
    let worked_s = processor_s() - worked_s;
    println!(
        "random writes, 32 in flight, {text}, capacities: {capacities}, clock: {clock_s:.1} s, \
         processor: {worked_s:.1} s"
    );
}

/// Seconds that this process has had the processor.
fn processor_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// MB of maps and indexes per simulated GiB.
fn state_mb_per_gib(text: &str) -> f64 {
    let drive = presets::open(text).expect("a preset");
    let gib = drive.capacity_bytes() as f64 / f64::from(1 << 30);
    drive.ftl().state_bytes() as f64 / 1e6 / gib
}

fn main() {
    if std::env::args().any(|word| word == "full-size") {
        return full_size(6);
    }
    for op_percent in [7.0, 12.5, 28.0] {
        let (rate, wa) = translation_layer(op_percent);
        println!("translation layer, 1 GiB, OP {op_percent} %: {rate:.1} M writes/s, WA {wa:.2}");
    }
    for text in [
        "slc-a?capacity=1GiB",
        "slc-a?capacity=1GiB&pacing=paced",
        "slc-a?capacity=1GiB&jitter_percent=0",
        "slc-a?capacity=1GiB&jitter_percent=0&pacing=paced",
        "slc-a?capacity=4GiB",
        "mlc-a",
        "raid0(4×slc-a?capacity=1GiB)",
    ] {
        println!(
            "random writes, 32 in flight, {text}: {:.1} M I/Os/s",
            saturation(text)
        );
    }
    for text in ["slc-a", "s3700", "mlc-a", "mlc-a?compression=on"] {
        let mb = state_mb_per_gib(text);
        println!("state, {text}: {mb:.2} MB per simulated GiB");
    }
    full_size(1);
}
