//! Laps of the engine's own worker on any device that a text names, and what they say.
#![allow(dead_code, reason = "each test binary uses its own part")]

use teijo_engine::lap::Lap;
use teijo_engine::plan::{Access, Bound, Plan, Range, StreamPlan};
use teijo_sim::compose::{open, Node};
use teijo_sim::device::Device;
use teijo_sim::session::{SimSession, Unobserved};

pub const SECOND: u64 = 1_000_000_000;
pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;

pub fn session(text: &str) -> SimSession<Node> {
    SimSession::new(open(text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

/// Random blocks of a range that `run` names.
pub fn random(read_percent: u8, block_bytes: u64, queue_depth: u32) -> StreamPlan {
    StreamPlan {
        queue_depth,
        read_percent,
        block_bytes: block_bytes as u32,
        seed: 1,
        ..StreamPlan::default()
    }
}

/// Blocks of a range in order.
pub fn in_order(read_percent: u8, block_bytes: u64, queue_depth: u32) -> StreamPlan {
    StreamPlan {
        access: Access::Sequential { cursor_bytes: 0 },
        ..random(read_percent, block_bytes, queue_depth)
    }
}

pub fn seconds(seconds: f64) -> Bound {
    Bound::Time {
        duration_ns: (seconds * 1e9) as u64,
    }
}

pub fn bytes(total_bytes: u64) -> Bound {
    Bound::Bytes { total_bytes }
}

/// Runs `stream` on the first `set_bytes` of the device.
pub fn run(
    session: &mut SimSession<Node>,
    stream: StreamPlan,
    set_bytes: u64,
    bound: Bound,
) -> Lap {
    run_in(session, stream, 0, set_bytes, bound)
}

/// Runs `stream` on the `set_bytes` from `start_bytes` on.
pub fn run_in(
    session: &mut SimSession<Node>,
    stream: StreamPlan,
    start_bytes: u64,
    set_bytes: u64,
    bound: Bound,
) -> Lap {
    let range = Range {
        start_bytes,
        segments: 1,
        segment_bytes: set_bytes,
        stride_bytes: set_bytes,
    };
    let plan = Plan {
        streams: vec![StreamPlan { range, ..stream }],
        bound,
        interval_ns: SECOND,
        open_ended: false,
        continues: false,
    };
    let lap = session.run(&plan, &mut Unobserved).expect("a lap");
    assert_eq!(lap.failure, None);
    lap
}

/// Writes the first `set_bytes` once, in order.
pub fn fill(session: &mut SimSession<Node>, set_bytes: u64) {
    run(session, in_order(0, MIB, 8), set_bytes, bytes(set_bytes));
}

pub fn ios(lap: &Lap) -> u64 {
    lap.streams[0].read.ios + lap.streams[0].write.ios
}

pub fn iops(lap: &Lap) -> f64 {
    ios(lap) as f64 * 1e9 / lap.elapsed_ns as f64
}

pub fn mb_per_second(lap: &Lap) -> f64 {
    let moved = lap.streams[0].read.bytes + lap.streams[0].write.bytes;
    moved as f64 * 1e3 / lap.elapsed_ns as f64
}

/// One of the counts that the model keeps.
pub fn count(session: &SimSession<Node>, name: &str) -> u64 {
    let counts = session.device().counts();
    let found = counts.iter().find(|(known, _)| known == name);
    found.unwrap_or_else(|| panic!("{name} is not counted")).1
}
