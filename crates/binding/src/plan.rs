//! `teijo.engine.plan.Plan`, read attribute by attribute.

use pyo3::prelude::*;
use teijo_engine::plan::{Access, Bound, Content, Plan, Range, Rate, Schedule, StreamPlan};

#[derive(FromPyObject)]
pub struct PyPlan {
    streams: Vec<PyStream>,
    duration_ns: Option<u64>,
    total_bytes: Option<u64>,
    interval_ns: u64,
    open_ended: bool,
    continues: bool,
}

#[derive(FromPyObject)]
struct PyStream {
    threads: u32,
    queue_depth: u32,
    read_percent: u8,
    block_bytes: u32,
    access: String,
    cursor_bytes: u64,
    start_bytes: u64,
    segments: u64,
    segment_bytes: u64,
    stride_bytes: u64,
    content: String,
    seed: u64,
    ios_per_second: Option<f64>,
    schedule: String,
}

impl From<PyPlan> for Plan {
    fn from(plan: PyPlan) -> Self {
        let bound = match (plan.duration_ns, plan.total_bytes) {
            (Some(duration_ns), _) => Bound::Time { duration_ns },
            (None, total_bytes) => Bound::Bytes {
                total_bytes: total_bytes.unwrap_or(0),
            },
        };
        Self {
            streams: plan.streams.into_iter().map(StreamPlan::from).collect(),
            bound,
            interval_ns: plan.interval_ns,
            open_ended: plan.open_ended,
            continues: plan.continues,
        }
    }
}

impl From<PyStream> for StreamPlan {
    fn from(stream: PyStream) -> Self {
        let cursor_bytes = stream.cursor_bytes;
        let schedule = match stream.schedule.as_str() {
            "poisson" => Schedule::Poisson,
            _ => Schedule::Fixed,
        };
        Self {
            threads: stream.threads,
            queue_depth: stream.queue_depth,
            read_percent: stream.read_percent,
            block_bytes: stream.block_bytes,
            access: match stream.access.as_str() {
                "sequential" => Access::Sequential { cursor_bytes },
                _ => Access::Random,
            },
            range: Range {
                start_bytes: stream.start_bytes,
                segments: stream.segments,
                segment_bytes: stream.segment_bytes,
                stride_bytes: stream.stride_bytes,
            },
            content: match stream.content.as_str() {
                "zero" => Content::Zero,
                _ => Content::Random,
            },
            rate: stream.ios_per_second.map(|ios_per_second| Rate {
                ios_per_second,
                schedule,
            }),
            seed: stream.seed,
            ..Self::default()
        }
    }
}
