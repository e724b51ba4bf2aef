//! `teijo.engine.plan.Plan`, read attribute by attribute.

use pyo3::prelude::*;
use teijo_engine::plan::{
    Access, BlockShare, Bound, Content, Plan, Range, Rate, Schedule, StreamPlan, Verify, Zone,
};
use teijo_engine::seed::derive_seed;

use crate::verified::PyVerify;

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
    name: String,
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
    blocks: Vec<(u32, u32)>,
    alignment_bytes: u32,
    skew: f64,
    zones: Vec<(f64, f64)>,
    content_percent: u8,
    discard_percent: u8,
    flush_every_writes: u32,
    verify: Option<PyVerify>,
}

/// A plan, and how its streams are called.
pub struct NamedPlan {
    pub plan: Plan,
    names: Vec<String>,
}

impl NamedPlan {
    /// (name, stream), in the order of the plan.
    pub fn streams(&self) -> impl Iterator<Item = (&str, &StreamPlan)> {
        self.names
            .iter()
            .map(String::as_str)
            .zip(&self.plan.streams)
    }
}

impl From<PyPlan> for NamedPlan {
    fn from(plan: PyPlan) -> Self {
        let names = plan.streams.iter().map(|stream| stream.name.clone());
        let bound = match (plan.duration_ns, plan.total_bytes) {
            (Some(duration_ns), _) => Bound::Time { duration_ns },
            (None, total_bytes) => Bound::Bytes {
                total_bytes: total_bytes.unwrap_or(0),
            },
        };
        Self {
            names: names.collect(),
            plan: Plan {
                streams: plan.streams.into_iter().map(StreamPlan::from).collect(),
                bound,
                interval_ns: plan.interval_ns,
                open_ended: plan.open_ended,
                continues: plan.continues,
            },
        }
    }
}

fn block_share((block_bytes, weight): (u32, u32)) -> BlockShare {
    BlockShare {
        block_bytes,
        weight,
    }
}

fn zone((access_share, range_share): (f64, f64)) -> Zone {
    Zone {
        access_share,
        range_share,
    }
}

/// The words are those of the Python type, which a type checker holds to its literals.
impl PyStream {
    fn access(&self) -> Access {
        let cursor_bytes = self.cursor_bytes;
        match self.access.as_str() {
            "sequential" => Access::Sequential { cursor_bytes },
            "shuffled" => Access::Shuffled {
                key: derive_seed(self.seed, 0),
                cursor_bytes,
            },
            "zoned" => Access::Zoned(self.zones.iter().copied().map(zone).collect()),
            "zipf" => Access::Zipf { theta: self.skew },
            "pareto" => Access::Pareto { h: self.skew },
            _ => Access::Random,
        }
    }

    fn content(&self) -> Content {
        let percent = self.content_percent;
        match self.content.as_str() {
            "refill" => Content::Refill,
            "compressible" => Content::Compressible { percent },
            "dedupable" => Content::Dedupable { percent },
            "zero" => Content::Zero,
            _ => Content::Random,
        }
    }
}

impl From<PyStream> for StreamPlan {
    fn from(stream: PyStream) -> Self {
        let access = stream.access();
        let content = stream.content();
        let schedule = match stream.schedule.as_str() {
            "poisson" => Schedule::Poisson,
            _ => Schedule::Fixed,
        };
        Self {
            threads: stream.threads,
            queue_depth: stream.queue_depth,
            read_percent: stream.read_percent,
            block_bytes: stream.block_bytes,
            discard_percent: stream.discard_percent,
            flush_every_writes: stream.flush_every_writes,
            blocks: stream.blocks.iter().copied().map(block_share).collect(),
            alignment_bytes: stream.alignment_bytes,
            access,
            range: Range {
                start_bytes: stream.start_bytes,
                segments: stream.segments,
                segment_bytes: stream.segment_bytes,
                stride_bytes: stream.stride_bytes,
            },
            content,
            verify: stream.verify.map(Verify::from),
            rate: stream.ios_per_second.map(|ios_per_second| Rate {
                ios_per_second,
                schedule,
            }),
            seed: stream.seed,
        }
    }
}
