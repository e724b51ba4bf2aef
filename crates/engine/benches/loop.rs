//! ns per I/O of the loop: over the null backend (the price of the loop itself), and reading a
//! hole with direct I/O (the price of the kernel's file path, without a device).
//!
//! `cargo bench -p teijo-engine --bench loop`; a figure is the median of several short slices.
//! CPU ns per I/O is the one that survives a shared machine.

use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;

use teijo_engine::clock::{Clock, CpuClock};
use teijo_engine::plan::{Access, Bound, Content, Plan, Range, StreamPlan};
use teijo_engine::session::{BackendKind, Session};

const HOLE_BYTES: u64 = 2 << 30;
const SLICES: usize = 9;
const SLICE_NS: u64 = 150_000_000;

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
        block_bytes: 4096,
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

fn main() {
    let null: OwnedFd = OpenOptions::new()
        .write(true)
        .open("/dev/null")
        .expect("opens")
        .into();
    let null = std::sync::Arc::new(null);
    report(
        "null backend",
        &mut Session::with_backend(null.clone(), BackendKind::Null),
        100,
    );
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
