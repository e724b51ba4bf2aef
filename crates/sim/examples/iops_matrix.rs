//! The IOPS matrix of one published client drive beside that of a simulated one: random I/O of
//! eight sizes and seven mixes, 8 in flight, in 1/15.6 of the capacity spread over the drive.
//! `cargo run --release -p teijo-sim --example iops_matrix ['mlc-a?read_wait_us=5000']`

use teijo_engine::lap::Lap;
use teijo_engine::plan::{Access, Bound, Content, Plan, Range, StreamPlan};
use teijo_sim::device::Device;
use teijo_sim::flash::Ssd;
use teijo_sim::presets;
use teijo_sim::session::{SimSession, Unobserved};

/// Read shares, % (the order in which they are run is the reverse).
const MIXES: [u8; 7] = [0, 5, 35, 50, 65, 95, 100];

/// Published IOPS by block size (KiB/2) and mix: 256 GB MLC client drive, SATA 6 Gb/s.
const PUBLISHED: [(u32, [f64; 7]); 8] = [
    (
        1,
        [1122.3, 1162.2, 1654.6, 1965.6, 2717.7, 11_970.0, 29_860.1],
    ),
    (
        8,
        [3147.0, 2896.6, 3044.4, 3454.4, 3779.3, 13_005.8, 29_876.3],
    ),
    (
        16,
        [1584.9, 1589.7, 2055.0, 2238.9, 2898.1, 11_568.2, 21_723.1],
    ),
    (32, [765.8, 786.3, 1028.1, 1272.6, 1604.9, 6208.3, 12_482.5]),
    (64, [392.7, 401.0, 525.8, 652.7, 963.8, 4129.6, 7011.6]),
    (128, [196.4, 205.9, 291.3, 352.3, 565.4, 2372.7, 3791.5]),
    (256, [92.5, 97.1, 139.9, 185.4, 377.9, 1410.2, 2015.3]),
    (2048, [16.4, 16.5, 23.3, 27.3, 90.8, 191.4, 266.7]),
];

/// Five rounds, as the published window has, are averaged.
const ROUNDS: u64 = 5;
const SECOND: u64 = 1_000_000_000;

fn run(session: &mut SimSession<Ssd>, stream: StreamPlan, bound: Bound) -> Lap {
    let plan = Plan {
        streams: vec![stream],
        bound,
        interval_ns: SECOND,
        open_ended: false,
        continues: false,
    };
    session
        .run(&plan, &mut Unobserved)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn whole(capacity_bytes: u64) -> Range {
    Range {
        start_bytes: 0,
        segments: 1,
        segment_bytes: capacity_bytes,
        stride_bytes: capacity_bytes,
    }
}

/// 16 GiB of 256 GB, scaled, in pieces of 2 MiB.
fn active_range(capacity_bytes: u64) -> Range {
    let segment_bytes = 2 << 20;
    let amount_bytes = (capacity_bytes as f64 * (16u64 << 30) as f64 / 256e9) as u64;
    let segments = amount_bytes / segment_bytes;
    let stride_bytes = capacity_bytes / segments / 4096 * 4096;
    Range {
        start_bytes: 0,
        segments,
        segment_bytes,
        stride_bytes,
    }
}

/// Random writes over the active range, to be changed as a cell needs.
fn load(session: &SimSession<Ssd>, seed: u64) -> StreamPlan {
    StreamPlan {
        threads: 1,
        queue_depth: 8,
        read_percent: 0,
        block_size_bytes: 4096,
        access: Access::Random,
        range: active_range(session.device().capacity_bytes()),
        content: Content::Random,
        rate: None,
        seed,
        ..StreamPlan::default()
    }
}

/// Fills the drive twice in order, then writes the active range at random until the log has
/// turned often enough to forget how it began.
fn precondition(session: &mut SimSession<Ssd>) {
    let capacity_bytes = session.device().capacity_bytes();
    let fill = StreamPlan {
        block_size_bytes: 128 << 10,
        access: Access::Sequential { cursor_bytes: 0 },
        range: whole(capacity_bytes),
        ..load(session, 0)
    };
    run(
        session,
        fill,
        Bound::Bytes {
            total_bytes: 2 * capacity_bytes,
        },
    );
    let random = load(session, 0);
    run(
        session,
        random,
        Bound::Bytes {
            total_bytes: 3 * capacity_bytes,
        },
    );
}

fn cell_iops(session: &mut SimSession<Ssd>, half_kib: u32, mix: u8, seed: u64) -> f64 {
    let block_size_bytes = half_kib * 512;
    let stream = StreamPlan {
        read_percent: mix,
        block_size_bytes,
        ..load(session, seed)
    };
    // One minute of the full drive, scaled as the capacity is.
    let duration_ns = (60.0 * SECOND as f64 / session.facts().scale()) as u64;
    let lap = run(session, stream, Bound::Time { duration_ns });
    let ios = lap.streams[0].read.ios + lap.streams[0].write.ios;
    ios as f64 * 1e9 / lap.elapsed_ns as f64
}

fn measure(session: &mut SimSession<Ssd>) -> [[f64; 7]; 8] {
    let mut table = [[0.0; 7]; 8];
    for round in 0..ROUNDS {
        for column in (0..MIXES.len()).rev() {
            for row in (0..PUBLISHED.len()).rev() {
                let seed = 1 + (round * 7 + column as u64) * 8 + row as u64;
                let (half_kib, mix) = (PUBLISHED[row].0, MIXES[column]);
                table[row][column] += cell_iops(session, half_kib, mix, seed) / ROUNDS as f64;
            }
        }
    }
    table
}

fn main() {
    let text = std::env::args().nth(1).unwrap_or_else(|| "mlc-a".into());
    let device = match presets::open(&text) {
        Ok(device) => device,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    };
    let mut session = SimSession::new(device);
    precondition(&mut session);
    let table = measure(&mut session);
    println!("{text}: simulated IOPS (difference from the published ones, %)");
    println!(
        "{:>6} {}",
        "KiB",
        MIXES
            .map(|mix| format!("{:>16}", format!("R{mix}")))
            .concat()
    );
    let mut errors = Vec::new();
    for (row, (half_kib, published)) in PUBLISHED.iter().enumerate() {
        print!("{:>6}", f64::from(*half_kib) / 2.0);
        for (iops, truth) in table[row].iter().zip(published) {
            let percent = (iops / truth - 1.0) * 100.0;
            errors.push(percent.abs());
            print!(" {iops:>8.0} ({percent:>+4.0})");
        }
        println!();
    }
    errors.sort_by(f64::total_cmp);
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let at = |share: f64| errors[((errors.len() - 1) as f64 * share).round() as usize];
    println!(
        "absolute error: mean {mean:.1} %, median {:.1} %, p90 {:.1} %, max {:.1} %",
        at(0.5),
        at(0.9),
        at(1.0)
    );
}
