//! Stimuli with everything a plan can say (where, how fast, in what order), beside the plainer
//! loads of `lab`, and what a model has counted.

use teijo_engine::lap::Lap;
use teijo_engine::plan::{Access, Bound, Plan, Range, StreamPlan};
use teijo_sim::device::Device;
use teijo_sim::session::Unobserved;

use crate::lab::{bytes, Session, SECOND};

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;

/// Random blocks of a range that `run` names.
pub fn random(read_percent: u8, block_size_bytes: u64, queue_depth: u32) -> StreamPlan {
    StreamPlan {
        queue_depth,
        read_percent,
        block_size_bytes: block_size_bytes as u32,
        seed: 1,
        ..StreamPlan::default()
    }
}

/// Blocks of a range in order.
pub fn in_order(read_percent: u8, block_size_bytes: u64, queue_depth: u32) -> StreamPlan {
    StreamPlan {
        access: Access::Sequential { cursor_bytes: 0 },
        ..random(read_percent, block_size_bytes, queue_depth)
    }
}

/// Runs `stream` on the first `set_bytes` of the device.
pub fn run(session: &mut Session, stream: StreamPlan, set_bytes: u64, bound: Bound) -> Lap {
    run_in(session, stream, 0, set_bytes, bound)
}

/// Runs `stream` on the `set_bytes` from `start_bytes` on.
pub fn run_in(
    session: &mut Session,
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
pub fn fill(session: &mut Session, set_bytes: u64) {
    run(session, in_order(0, MIB, 8), set_bytes, bytes(set_bytes));
}

/// One of the counts that the model keeps.
pub fn count(session: &Session, name: &str) -> u64 {
    let counts = session.device().counts();
    let found = counts.iter().find(|(known, _)| known == name);
    found.unwrap_or_else(|| panic!("{name} is not counted")).1
}
