//! Verified I/O across the border: what earlier steps wrote comes in, what reads were found to
//! hold and what this step wrote goes out.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use teijo_engine::lap::{Lap, StreamLap};
use teijo_engine::plan::{Order, Range, Verify, Written};
use teijo_engine::verify::{Fault, Findings};

#[derive(FromPyObject)]
pub struct PyVerify {
    run: u64,
    generation: u64,
    written: Vec<PyWritten>,
}

#[derive(FromPyObject)]
struct PyWritten {
    order: String,
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
        let order = match past.order.as_str() {
            "shuffled" => Order::Shuffled {
                key: past.key,
                block_bytes: past.block_bytes,
            },
            _ => Order::Sequential,
        };
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

/// What one stream's writes left behind, None where they had no order.
pub fn written_dict<'py>(py: Python<'py>, lap: &StreamLap) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(written) = &lap.written else {
        return Ok(None);
    };
    let (order, key, block_bytes) = match written.order {
        Order::Sequential => ("sequential", 0, 0),
        Order::Shuffled { key, block_bytes } => ("shuffled", key, block_bytes),
    };
    let dict = PyDict::new(py);
    dict.set_item("order", order)?;
    dict.set_item("key", key)?;
    dict.set_item("block_bytes", block_bytes)?;
    dict.set_item("start_bytes", written.range.start_bytes)?;
    dict.set_item("segments", written.range.segments)?;
    dict.set_item("segment_bytes", written.range.segment_bytes)?;
    dict.set_item("stride_bytes", written.range.stride_bytes)?;
    dict.set_item("from_bytes", written.from_bytes)?;
    dict.set_item("to_bytes", written.to_bytes)?;
    dict.set_item("generation", written.generation)?;
    Ok(Some(dict))
}

/// What all reads of a lap were found to hold.
pub fn findings_dict<'py>(py: Python<'py>, lap: &Lap) -> PyResult<Bound<'py, PyDict>> {
    let reads = || lap.streams.iter().map(|stream| &stream.read.findings);
    let dict = PyDict::new(py);
    let judged: u64 = reads().map(|one| one.sectors).sum();
    let unjudged: u64 = reads().map(|one| one.sectors_unjudged).sum();
    dict.set_item("sectors", judged)?;
    dict.set_item("sectors_unjudged", unjudged)?;
    let faults = PyList::empty(py);
    for fault in Fault::ALL {
        let sectors: u64 = reads().filter_map(|one| one.faults.get(&fault)).sum();
        if sectors > 0 {
            let places: Vec<u64> = reads().flat_map(|one| examples(one, fault)).collect();
            faults.append((word(fault), sectors, places))?;
        }
    }
    dict.set_item("faults", faults)?;
    Ok(dict)
}

fn examples(findings: &Findings, fault: Fault) -> impl Iterator<Item = u64> + '_ {
    findings.examples.get(&fault).into_iter().flatten().copied()
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
