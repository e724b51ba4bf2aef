//! ns per I/O of the loop: over the null backend (the price of the loop itself), and reading a
//! hole with direct I/O (the price of the kernel's file path, without a device).
//!
//! `cargo bench -p teijo-engine --bench loop`; a figure is the median of several short slices.
//! CPU ns per I/O is the one that survives a shared machine.

use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;

use teijo_engine::backend::BackendKind;
use teijo_engine::clock::{Clock, CpuClock, HostClock};
use teijo_engine::histogram::Histogram;
use teijo_engine::plan::{Access, Bound, Content, Plan, Range, Rate, Schedule, StreamPlan};
use teijo_engine::seed::derive_seed;
use teijo_engine::session::Session;

const HOLE_BYTES: u64 = 2 << 30;
const SLICES: usize = 9;
const SLICE_NS: u64 = 150_000_000;
const DEPTH_ONE_PAIRS: u64 = 21;

fn plan(queue_depth: u32, read_percent: u8) -> Plan {
    let range = Range {
        start_bytes: 0,
        segments: 1,
        segment_bytes: HOLE_BYTES,
        stride_bytes: HOLE_BYTES,
    };
    let stream = StreamPlan {
        threads: 1,
        queue_depth,
        read_percent,
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
        bound: Bound::Time {
            duration_ns: SLICE_NS,
        },
        interval_ns: 1_000_000_000,
        open_ended: false,
        continues: false,
    }
}

/// What an I/O cost: medians over the slices.
struct Cost {
    cpu_ns: f64,
    wall_ns: f64,
    p50_ns: u64,
}

fn median(mut costs: Vec<f64>) -> f64 {
    costs.sort_by(f64::total_cmp);
    costs[costs.len() / 2]
}

fn measure(session: &mut Session, plan: &Plan) -> Cost {
    let mut p50_ns = 0;
    let mut slice = || {
        let before_ns = CpuClock.now_ns();
        let lap = session.run(plan).expect("the slice runs");
        let cpu_ns = (CpuClock.now_ns() - before_ns) as f64;
        let [read, write] = [&lap.streams[0].read, &lap.streams[0].write];
        let side = if read.ios > 0 { read } else { write };
        assert!(side.errors.is_empty(), "{:?}", side.errors);
        p50_ns = side.latency.quantile_ns(0.5);
        (
            cpu_ns / side.ios as f64,
            lap.elapsed_ns as f64 / side.ios as f64,
        )
    };
    let (cpu, wall) = (0..SLICES).map(|_| slice()).unzip();
    Cost {
        cpu_ns: median(cpu),
        wall_ns: median(wall),
        p50_ns,
    }
}

fn report(name: &str, session: &mut Session, read_percent: u8) {
    for queue_depth in [1, 32, 128] {
        let cost = measure(session, &plan(queue_depth, read_percent));
        println!(
            "{name:<20} QD {queue_depth:>3}: CPU {:7.1} ns/IO, wall {:7.1} ns/IO, p50 {} ns",
            cost.cpu_ns, cost.wall_ns, cost.p50_ns
        );
    }
}

/// Whether arrivals come as often as they are asked to, with no device to wait for.
fn report_arrivals(session: &mut Session) {
    for ios_per_second in [600_000.0, 1_100_000.0] {
        let mut open = plan(64, 100);
        open.bound = Bound::Time {
            duration_ns: 2_000_000_000,
        };
        open.streams[0].rate = Some(Rate {
            ios_per_second,
            schedule: Schedule::Poisson,
        });
        let lap = session.run(&open).expect("the lap runs");
        let achieved = lap.streams[0].read.ios as f64 * 1e9 / lap.elapsed_ns as f64;
        println!(
            "Poisson arrivals at {ios_per_second} per second: {achieved:.0} achieved, {:+.2} %",
            (achieved / ios_per_second - 1.0) * 100.0
        );
    }
}

/// What is between two laps: warm threads and rings are told, not made anew.
fn report_gaps(session: &mut Session) {
    let mut short = plan(32, 100);
    short.bound = Bound::Time {
        duration_ns: 5_000_000,
    };
    let mut ended_ns = None;
    let gaps = (0..50).filter_map(|_| {
        let lap = session.run(&short).expect("the lap runs");
        let before_ns = ended_ns.replace(lap.started_ns + lap.elapsed_ns);
        before_ns.map(|before_ns| (lap.started_ns - before_ns) as f64 / 1000.0)
    });
    println!(
        "gap between two laps: median {:.1} us",
        median(gaps.collect())
    );
}

/// From nothing to 512 threads at work, and back.
fn report_start(file: &std::sync::Arc<OwnedFd>) {
    let mut many = plan(1, 100);
    many.streams[0].threads = 512;
    many.bound = Bound::Time {
        duration_ns: 50_000_000,
    };
    let mut session = Session::with_backend(file.clone(), BackendKind::Uring);
    let before_ns = session.now_ns();
    let lap = session.run(&many).expect("the lap runs");
    let started_ms = (lap.started_ns - before_ns) / 1_000_000;
    println!("512 threads with a ring each: at the gate after {started_ms} ms");
}

/// Median ns of a `pread` of a random block, timed around the call: what one I/O at a time is
/// to cost.
fn bare_read_ns(file: &OwnedFd, slice: u64) -> u64 {
    let clock = HostClock::best();
    let mut buffer = vec![0u8; 8192];
    let skip = buffer.as_ptr().align_offset(4096);
    let page = &mut buffer[skip..skip + 4096];
    let mut latencies = Histogram::new();
    let begin_ns = clock.now_ns();
    for number in 0u64.. {
        let block = derive_seed(slice, number) % (HOLE_BYTES / 4096);
        let before_ns = clock.now_ns();
        rustix::io::pread(file, &mut *page, block * 4096).expect("the hole is read");
        let after_ns = clock.now_ns();
        latencies.record(after_ns - before_ns);
        if after_ns > begin_ns + SLICE_NS {
            break;
        }
    }
    latencies.quantile_ns(0.5)
}

/// The latency of one read at a time beside a bare `pread`, in turns; ratios of neighbours.
fn report_depth_one(file: &std::sync::Arc<OwnedFd>) {
    let open: [(&str, Session); 2] = [
        (
            "io_uring",
            Session::with_backend(file.clone(), BackendKind::Uring),
        ),
        (
            "of its own choice",
            Session::new(file.try_clone().expect("a descriptor more")),
        ),
    ];
    for (name, mut session) in open {
        let pairs = (0..DEPTH_ONE_PAIRS).map(|slice| {
            let bare_ns = bare_read_ns(file, slice) as f64;
            let lap = session.run(&plan(1, 100)).expect("the slice runs");
            let own_ns = lap.streams[0].read.latency.quantile_ns(0.5) as f64;
            (bare_ns, own_ns)
        });
        let (bare, own): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let ratios = bare.iter().zip(&own).map(|(bare, own)| own / bare);
        println!(
            "one read at a time, {name}: p50 {:.0} ns, bare pread {:.0} ns, ratio {:.3}",
            median(own.clone()),
            median(bare.clone()),
            median(ratios.collect())
        );
    }
}

fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_ascii_whitespace().nth(1));
    number.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Resident memory over ten million I/Os.
fn report_memory(session: &mut Session) {
    let mut million = plan(32, 100);
    million.bound = Bound::Bytes {
        total_bytes: 1_000_000 * 4096,
    };
    session.run(&million).expect("the lap runs");
    let first_kb = resident_kb();
    for _ in 0..9 {
        session.run(&million).expect("the lap runs");
    }
    let last_kb = resident_kb();
    println!("resident after 1 and 10 million I/Os: {first_kb} and {last_kb} kB");
}

fn main() {
    let null: OwnedFd = OpenOptions::new()
        .write(true)
        .open("/dev/null")
        .expect("opens")
        .into();
    let null = std::sync::Arc::new(null);
    let mut nothing = Session::with_backend(null.clone(), BackendKind::Null);
    report("null backend", &mut nothing, 100);
    report_gaps(&mut nothing);
    report_memory(&mut nothing);
    report_arrivals(&mut nothing);
    report(
        "/dev/null write",
        &mut Session::with_backend(null, BackendKind::Uring),
        0,
    );

    let path = std::env::temp_dir().join(format!("teijo-hole-{}", std::process::id()));
    File::create(&path)
        .and_then(|file| file.set_len(HOLE_BYTES))
        .expect("a sparse file");
    let direct = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_DIRECT)
        .open(&path);
    std::fs::remove_file(&path).expect("its name is not needed any more");
    match direct {
        Ok(file) => {
            let file = std::sync::Arc::new(OwnedFd::from(file));
            report_start(&file);
            report_depth_one(&file);
            report(
                "hole read io_uring",
                &mut Session::with_backend(file.clone(), BackendKind::Uring),
                100,
            );
            report(
                "hole read sync",
                &mut Session::with_backend(file, BackendKind::Sync),
                100,
            );
        }
        Err(error) => println!("hole read: skipped, no direct I/O here: {error}"),
    }
}
