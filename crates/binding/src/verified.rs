//! Verified I/O across the border: what earlier steps wrote comes in, what reads were found to
//! hold and what this step wrote goes out.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use teijo_engine::lap::Lap;
use teijo_engine::plan::{Order, Range, StreamPlan, Verify, Written};
use teijo_engine::verify::Fault;

use crate::made::{made, tuple};

#[derive(FromPyObject)]
pub struct PyVerify {
    run: u64,
    generation: u64,
    written: Vec<PyWritten>,
}

#[derive(FromPyObject)]
struct PyWritten {
    #[pyo3(from_py_with = order)]
    order: OrderOf,
    key: u64,
    block_bytes: u32,
    start_bytes: u64,
    segments: u64,
    segment_bytes: u64,
    stride_bytes: u64,
    from_bytes: u64,
    to_bytes: u64,
    generation: u64,
}

/// How the order of past writes follows from their other attributes.
type OrderOf = fn(&PyWritten) -> Order;

fn order(word: &Bound<'_, PyAny>) -> PyResult<OrderOf> {
    match word.extract::<String>()?.as_str() {
        "sequential" => Ok(|_| Order::Sequential),
        "shuffled" => Ok(|past| Order::Shuffled {
            key: past.key,
            block_size_bytes: past.block_bytes,
        }),
        other => Err(PyValueError::new_err(format!("no order {other:?}"))),
    }
}

impl From<PyVerify> for Verify {
    fn from(asked: PyVerify) -> Self {
        Self {
            run: asked.run,
            generation: asked.generation,
            written: asked.written.into_iter().map(Written::from).collect(),
        }
    }
}

impl From<PyWritten> for Written {
    fn from(past: PyWritten) -> Self {
        let order = (past.order)(&past);
        Self {
            order,
            range: Range {
                start_bytes: past.start_bytes,
                segments: past.segments,
                segment_bytes: past.segment_bytes,
                stride_bytes: past.stride_bytes,
            },
            from_bytes: past.from_bytes,
            to_bytes: past.to_bytes,
            generation: past.generation,
        }
    }
}

/// What one stream's writes left behind.
pub fn written<'py>(py: Python<'py>, written: &Written) -> PyResult<Bound<'py, PyAny>> {
    let (order, key, block_size_bytes) = match written.order {
        Order::Sequential => ("sequential", 0, 0),
        Order::Shuffled {
            key,
            block_size_bytes,
        } => ("shuffled", key, block_size_bytes),
    };
    Ok(made!(py, "teijo.terms.verification", "Written", {
        order: order,
        key: key,
        block_bytes: block_size_bytes,
        start_bytes: written.range.start_bytes,
        segments: written.range.segments,
        segment_bytes: written.range.segment_bytes,
        stride_bytes: written.range.stride_bytes,
        from_bytes: written.from_bytes,
        to_bytes: written.to_bytes,
        generation: written.generation,
    }))
}

/// What all reads of a lap were found to hold; None where none was held to anything.
pub fn verification<'py>(
    py: Python<'py>,
    streams: &[StreamPlan],
    lap: &Lap,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !streams
        .iter()
        .any(|one| one.verify.is_some() && one.read_percent > 0)
    {
        return Ok(None);
    }
    let reads = || lap.streams.iter().map(|stream| &stream.read.findings);
    let mut faults = Vec::new();
    for fault in Fault::ALL {
        let sectors: u64 = reads().filter_map(|one| one.faults.get(&fault)).sum();
        if sectors > 0 {
            let examples = reads().filter_map(|one| one.examples.get(&fault));
            let mut places: Vec<u64> = examples.flatten().copied().collect();
            places.sort_unstable();
            let class = py.import("teijo.terms.verification")?.getattr("Fault")?;
            faults.push(made!(py, "teijo.terms.verification", "Faults", {
                fault: class.call1((word(fault),))?,
                sectors: sectors,
                first_bytes: tuple(py, places)?,
            }));
        }
    }
    Ok(Some(
        made!(py, "teijo.terms.verification", "Verification", {
            sectors: reads().map(|one| one.sectors).sum::<u64>(),
            sectors_unjudged: reads().map(|one| one.sectors_unjudged).sum::<u64>(),
            faults: tuple(py, faults)?,
        }),
    ))
}

/// The words are those of the Python type.
fn word(fault: Fault) -> &'static str {
    match fault {
        Fault::BitFlip => "flipped",
        Fault::Misplaced => "misplaced",
        Fault::Stale => "stale",
        Fault::Torn => "torn",
        Fault::Foreign => "foreign",
        Fault::Zero => "zero",
    }
}
