//! What the matrix of `pts.iops` on a full-size drive costs: it is written twice over in order,
//! then each cell works at random. Prints the processor time of each cell, and a number over all
//! results and the whole state of the drive: runs that print the same were the same bit for bit.
//! Arguments are virtual seconds of a cell (the standard has 60), and of the cells that are wanted
//! the percentage of reads and the bytes of a block; another drive has a `?` in its name.

use rustix::time::{clock_gettime, ClockId};
use teijo_engine::lap::{DirectionLap, Lap};
use teijo_engine::plan::{Access, Bound, Content, Plan, Range, StreamPlan};
use teijo_sim::compose::{open, Node};
use teijo_sim::device::Device;
use teijo_sim::session::{SimSession, Unobserved};

const DRIVE: &str = "s3700?scale=1";
const READ_PERCENTS: [u8; 7] = [100, 95, 65, 50, 35, 5, 0];
const BLOCK_SIZES_BYTES: [u32; 8] = [
    1 << 20,
    128 << 10,
    64 << 10,
    32 << 10,
    16 << 10,
    8 << 10,
    4 << 10,
    512,
];
const NS_PER_SECOND: u64 = 1_000_000_000;
/// Virtual seconds of a cell where nothing else is asked for.
const CELL_S: u64 = 4;

/// A number over numbers, in their order.
struct Fingerprint(u64);

impl Fingerprint {
    fn mix(&mut self, values: impl IntoIterator<Item = u64>) {
        for value in values {
            self.0 = (self.0 ^ value)
                .wrapping_mul(0x0000_0100_0000_01b3)
                .rotate_left(23);
        }
    }

    fn direction(&mut self, lap: &DirectionLap) {
        let latency = &lap.latency;
        self.mix([lap.ios, lap.bytes]);
        self.mix([latency.sum_ns(), latency.min_ns(), latency.max_ns()]);
        for (middle_ns, count) in latency.pairs() {
            self.mix([middle_ns, count]);
        }
        for one in &lap.intervals {
            self.mix([u64::from(one.index), one.ios, one.bytes]);
            self.mix([one.latency_sum_ns, one.latency_min_ns, one.latency_max_ns]);
        }
    }

    fn lap(&mut self, lap: &Lap) {
        for stream in &lap.streams {
            self.direction(&stream.read);
            self.direction(&stream.write);
        }
        let witness = &lap.witness;
        self.mix([witness.in_flight_mean.to_bits(), witness.turns]);
        self.mix([witness.turn_gap_ns_max, lap.elapsed_ns]);
    }
}

/// Two threads with 16 in flight each, as the standard's client test has them.
fn plan(session: &SimSession<Node>, access: Access, seed: u64, bound: Bound) -> Plan {
    let range_bytes = session.device().capacity_bytes() / 4 * 3 / (1 << 20) * (1 << 20);
    let range = Range {
        start_bytes: 0,
        segments: 1,
        segment_bytes: range_bytes,
        stride_bytes: range_bytes,
    };
    let stream = StreamPlan {
        threads: 2,
        queue_depth: 16,
        read_percent: 0,
        block_size_bytes: 128 << 10,
        access,
        range,
        content: Content::Random,
        rate: None,
        seed,
        ..StreamPlan::default()
    };
    Plan {
        streams: vec![stream],
        bound,
        interval_ns: NS_PER_SECOND,
        open_ended: false,
        continues: false,
    }
}

fn processor_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let drive = words.iter().find(|word| word.contains('?'));
    let drive = drive.map_or(DRIVE, String::as_str);
    let asked: Vec<u64> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let cell_s = asked.first().copied().unwrap_or(CELL_S);
    let is_wanted = |percent: u8, size_bytes: u32| match asked[..] {
        [_, wanted, ref sizes @ ..] => {
            wanted == u64::from(percent) && (sizes.is_empty() || sizes.contains(&size_bytes.into()))
        }
        _ => true,
    };
    let mut session = SimSession::new(open(drive).expect("a preset"));
    let mut print = Fingerprint(0);
    let order = Access::Sequential { cursor_bytes: 0 };
    let total_bytes = 2 * session.device().capacity_bytes();
    let filling = plan(&session, order, 1, Bound::Bytes { total_bytes });
    let started_s = processor_s();
    print.lap(&session.run(&filling, &mut Unobserved).expect("a lap"));
    let filled_s = processor_s();
    println!("written twice over: {:.2} s", filled_s - started_s);
    for (row, read_percent) in (0..).zip(READ_PERCENTS) {
        for (column, block_size_bytes) in (0..).zip(BLOCK_SIZES_BYTES) {
            if !is_wanted(read_percent, block_size_bytes) {
                continue;
            }
            let duration_ns = cell_s * NS_PER_SECOND;
            let bound = Bound::Time { duration_ns };
            let mut cell = plan(&session, Access::Random, 2 + 8 * row + column, bound);
            cell.streams[0].read_percent = read_percent;
            cell.streams[0].block_size_bytes = block_size_bytes;
            let started_s = processor_s();
            let lap = session.run(&cell, &mut Unobserved).expect("a lap");
            let worked_s = processor_s() - started_s;
            let ios = lap.streams[0].read.ios + lap.streams[0].write.ios;
            println!(
                "{read_percent:3} % reads, {block_size_bytes:7} B: {worked_s:6.3} s, {:5.0} ns an \
                 I/O, {:5.1} ns a unit",
                worked_s * 1e9 / ios as f64,
                worked_s * 1e9 / ios as f64 / (f64::from(block_size_bytes) / 4096.0).max(1.0),
            );
            print.lap(&lap);
        }
    }
    println!("cells: {:.2} s", processor_s() - filled_s);
    print.mix([session.device().digest()]);
    println!("equal runs print {:016x}", print.0);
}
