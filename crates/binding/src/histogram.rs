//! Histograms between columns and the `HdrHistogram` V2 encoding that run files hold.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use teijo_engine::histogram::Histogram;

use crate::errors::raised;
use crate::lap::buckets;

/// The plain V2 encoding (3 digits) of int64 columns, as bytes: values in ns, and how many of each.
#[pyfunction]
pub fn encode_histogram<'py>(
    py: Python<'py>,
    values_ns: &[u8],
    counts: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let (values_ns, counts) = (numbers(values_ns), numbers(counts));
    if values_ns.len() != counts.len() || values_ns.iter().chain(&counts).any(|&n| n < 0) {
        let message = "a histogram is two columns of one length without negative numbers";
        return Err(PyValueError::new_err(message));
    }
    let pairs = values_ns.iter().zip(&counts);
    let pairs = pairs.map(|(&value, &count)| (value.cast_unsigned(), count.cast_unsigned()));
    Ok(PyBytes::new(py, &Histogram::from_pairs(pairs).to_v2()))
}

/// The numbers of an int64 column.
fn numbers(column: &[u8]) -> Vec<i64> {
    let (chunks, _) = column.as_chunks();
    chunks.iter().copied().map(i64::from_ne_bytes).collect()
}

/// (lowest values of the buckets, counts), two int64 columns as bytes, of a V2 encoding.
#[pyfunction]
pub fn decode_histogram<'py>(
    py: Python<'py>,
    blob: &[u8],
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let histogram = Histogram::from_v2(blob).map_err(|error| raised(py, &error))?;
    Ok(buckets(py, &histogram.pairs()))
}
