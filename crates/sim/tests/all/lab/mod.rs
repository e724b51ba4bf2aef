//! What tests of whole devices share: any device a text names, loads on part of it through the
//! engine's own worker, and rates of what came back.

use teijo_engine::lap::{DirectionLap, Lap};
use teijo_engine::plan::{Access, Bound, Content, Plan, Range, StreamPlan};
use teijo_sim::compose::{open, Node};
use teijo_sim::device::Device;
use teijo_sim::session::{SimSession, Unobserved};

pub type Session = SimSession<Node>;

pub const SECOND: u64 = 1_000_000_000;
pub const KIB: u32 = 1 << 10;
pub const MIB: u32 = 1 << 20;

pub fn session(text: &str) -> Session {
    SimSession::new(open(text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

pub fn capacity_bytes(session: &Session) -> u64 {
    session.device().capacity_bytes()
}

/// A load in the field's words; offsets are random unless `sequential`.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub read_percent: u8,
    pub block_size_bytes: u32,
    pub threads: u32,
    pub queue_depth: u32,
    pub sequential: bool,
    /// Of zeros, else of data that does not compress.
    pub zeros: bool,
    pub seed: u64,
}

pub fn random(read_percent: u8, block_size_bytes: u32, queue_depth: u32) -> Load {
    Load {
        read_percent,
        block_size_bytes,
        threads: 1,
        queue_depth,
        sequential: false,
        zeros: false,
        seed: 1,
    }
}

pub fn sequential(read_percent: u8, block_size_bytes: u32, queue_depth: u32) -> Load {
    Load {
        sequential: true,
        ..random(read_percent, block_size_bytes, queue_depth)
    }
}

/// The plan of `load` on the first `range_bytes` of a device.
pub fn plan(load: Load, range_bytes: u64, bound: Bound) -> Plan {
    let block = u64::from(load.block_size_bytes);
    let segment_bytes = range_bytes / block * block;
    let access = if load.sequential {
        Access::Sequential { cursor_bytes: 0 }
    } else {
        Access::Random
    };
    let stream = StreamPlan {
        threads: load.threads,
        queue_depth: load.queue_depth,
        read_percent: load.read_percent,
        block_size_bytes: load.block_size_bytes,
        access,
        range: Range {
            start_bytes: 0,
            segments: 1,
            segment_bytes,
            stride_bytes: segment_bytes,
        },
        content: if load.zeros {
            Content::Zero
        } else {
            Content::Random
        },
        seed: load.seed,
        ..StreamPlan::default()
    };
    Plan {
        streams: vec![stream],
        bound,
        interval_ns: SECOND,
        open_ended: false,
        continues: false,
    }
}

/// Runs `load` on the first `range_bytes`.
pub fn run_within(session: &mut Session, load: Load, range_bytes: u64, bound: Bound) -> Lap {
    let lap = session.run(&plan(load, range_bytes, bound), &mut Unobserved);
    let lap = lap.unwrap_or_else(|error| panic!("{load:?}: {error}"));
    assert_eq!(lap.failure, None, "{load:?}");
    lap
}

/// Runs `load` on the whole device.
pub fn run(session: &mut Session, load: Load, bound: Bound) -> Lap {
    let range_bytes = capacity_bytes(session);
    run_within(session, load, range_bytes, bound)
}

/// Writes the first `range_bytes` once from end to end, and lets the device rest.
pub fn fill(session: &mut Session, range_bytes: u64) {
    let whole_bytes = range_bytes / u64::from(128 * KIB) * u64::from(128 * KIB);
    let load = sequential(0, 128 * KIB, 8);
    run_within(session, load, whole_bytes, bytes(whole_bytes));
    session.idle(SECOND);
}

pub fn seconds(seconds: f64) -> Bound {
    Bound::Time {
        duration_ns: (seconds * 1e9) as u64,
    }
}

pub fn bytes(total_bytes: u64) -> Bound {
    Bound::Bytes { total_bytes }
}

fn sum(lap: &Lap, of: impl Fn(&DirectionLap) -> u64) -> f64 {
    let streams = lap.streams.iter();
    streams
        .map(|one| of(&one.read) + of(&one.write))
        .sum::<u64>() as f64
}

pub fn iops(lap: &Lap) -> f64 {
    sum(lap, |one| one.ios) * 1e9 / lap.elapsed_ns as f64
}

pub fn mb_per_second(lap: &Lap) -> f64 {
    sum(lap, |one| one.bytes) * 1e3 / lap.elapsed_ns as f64
}

pub fn mean_ms(lap: &Lap) -> f64 {
    sum(lap, |one| one.latency.sum_ns()) / sum(lap, |one| one.ios) / 1e6
}
