//! `teijo.engine.plan.Plan`, read attribute by attribute.

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use teijo_engine::plan::{
    Access, BlockShare, Bound, Content, Plan, Range, Rate, Schedule, StreamPlan, Verify, Zone,
};
use teijo_engine::sample::written_by;
use teijo_engine::seed::derive_seed;

use crate::made::tuple;
use crate::verified::PyVerify;

type Any<'py> = pyo3::Bound<'py, PyAny>;

/// The first bytes of each of the first writes of a `teijo.engine.plan.StreamPlan`.
#[pyfunction]
pub fn content_sample<'py>(
    placed: &Any<'py>,
    writes: usize,
    most_bytes: usize,
) -> PyResult<pyo3::Bound<'py, PyTuple>> {
    let plan = stream_plan(placed, &placed.getattr("stream")?)?;
    let written = written_by(&plan, writes, most_bytes);
    let parts = written.iter().map(|one| PyBytes::new(placed.py(), one));
    tuple(placed.py(), parts)
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

impl NamedPlan {
    /// A `teijo.engine.plan.Plan`.
    pub fn read(plan: &Any) -> PyResult<Self> {
        let bound = match get(plan, "duration_ns")? {
            Some(duration_ns) => Bound::Time { duration_ns },
            None => Bound::Bytes {
                total_bytes: get(plan, "total_bytes")?,
            },
        };
        let (mut names, mut streams) = (Vec::new(), Vec::new());
        for placed in plan.getattr("streams")?.try_iter()? {
            let placed = placed?;
            let stream = placed.getattr("stream")?;
            names.push(get(&stream, "name")?);
            streams.push(stream_plan(&placed, &stream)?);
        }
        let plan = Plan {
            streams,
            bound,
            interval_ns: get(plan, "interval_ns")?,
            open_ended: get(plan, "open_ended")?,
            continues: get(plan, "continues")?,
        };
        Ok(Self { plan, names })
    }
}

fn get<'py, T: FromPyObjectOwned<'py>>(object: &Any<'py>, name: &str) -> PyResult<T> {
    object.getattr(name)?.extract().map_err(Into::into)
}

/// A `teijo.terms.workload.Stream` where it is placed.
fn stream_plan<'py>(placed: &Any<'py>, stream: &Any<'py>) -> PyResult<StreamPlan> {
    let sizes: Vec<(u32, u32)> = get(stream, "block_mix")?;
    let share = |(block_size_bytes, weight)| BlockShare {
        block_size_bytes,
        weight,
    };
    Ok(StreamPlan {
        threads: get(stream, "threads")?,
        queue_depth: get(stream, "queue_depth")?,
        read_percent: get(stream, "read_percent")?,
        block_size_bytes: get(stream, "block_size_bytes")?,
        discard_percent: get(stream, "discard_percent")?,
        flush_every_writes: get(stream, "flush_every_writes")?,
        blocks: sizes.into_iter().map(share).collect(),
        alignment_bytes: get(stream, "alignment_bytes")?,
        access: access(placed, stream)?,
        thread_stride_bytes: get(stream, "thread_stride_bytes")?,
        range: Range {
            start_bytes: get(placed, "start_bytes")?,
            segments: get(placed, "segments")?,
            segment_bytes: get(placed, "segment_bytes")?,
            stride_bytes: get(placed, "stride_bytes")?,
        },
        content: content(stream)?,
        write_through: get(stream, "write_through")?,
        census: get(stream, "census")?,
        verify: get::<Option<PyVerify>>(placed, "verify")?.map(Verify::from),
        rate: rate(stream)?,
        seed: get(placed, "seed")?,
    })
}

/// The words are those of the Python types, here and below.
fn access<'py>(placed: &Any<'py>, stream: &Any<'py>) -> PyResult<Access> {
    let cursor_bytes = get(placed, "cursor_bytes")?;
    Ok(match get::<String>(stream, "access")?.as_str() {
        "random" => Access::Random,
        "sequential" => Access::Sequential { cursor_bytes },
        "shuffled" => Access::Shuffled {
            key: derive_seed(get(placed, "seed")?, 0),
            cursor_bytes,
        },
        "zoned" => {
            let zones: Vec<(f64, f64)> = get(stream, "zones")?;
            let zone = |(access_share, range_share)| Zone {
                access_share,
                range_share,
            };
            Access::Zoned(zones.into_iter().map(zone).collect())
        }
        "zipf" => Access::Zipf {
            theta: get(stream, "skew")?,
        },
        "pareto" => Access::Pareto {
            h: get(stream, "skew")?,
        },
        other => return Err(PyValueError::new_err(format!("no access {other:?}"))),
    })
}

fn content(stream: &Any) -> PyResult<Content> {
    let percent = get(stream, "content_percent")?;
    Ok(match get::<String>(stream, "content")?.as_str() {
        "random" => Content::Random,
        "refill" => Content::Refill,
        "compressible" => Content::Compressible { percent },
        "dedupable" => Content::Dedupable { percent },
        "zero" => Content::Zero,
        "one-block" => Content::OneBlock,
        "counting" => Content::Counting,
        other => return Err(PyValueError::new_err(format!("no content {other:?}"))),
    })
}

fn rate(stream: &Any) -> PyResult<Option<Rate>> {
    let rate = stream.getattr("rate")?;
    if rate.is_none() {
        return Ok(None);
    }
    let schedule = match get::<String>(&rate, "schedule")?.as_str() {
        "fixed" => Schedule::Fixed,
        "poisson" => Schedule::Poisson,
        other => return Err(PyValueError::new_err(format!("no schedule {other:?}"))),
    };
    Ok(Some(Rate {
        ios_per_second: get(&rate, "ios_per_second")?,
        schedule,
    }))
}
