//! Laps and looks at running ones as dictionaries; numbers in columns of int64, as bytes.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use teijo_engine::crew::Progress;
use teijo_engine::histogram::Histogram;
use teijo_engine::interval::{Interval, IntervalPair};
use teijo_engine::lap::{DirectionLap, Lap, StreamLap};
use teijo_engine::witness::Witness;

use crate::native::word_of;
use crate::verified::{findings_dict, written_dict};

/// Numbers as the bytes of an int64 array of this machine.
pub fn column(py: Python<'_>, numbers: impl Iterator<Item = u64>) -> Bound<'_, PyBytes> {
    let bytes: Vec<u8> = numbers
        .flat_map(|n| n.cast_signed().to_ne_bytes())
        .collect();
    PyBytes::new(py, &bytes)
}

/// The lowest value of the bucket a middle stands for.
fn lowest_of_bucket(middle_ns: u64) -> u64 {
    let bits = u64::BITS - middle_ns.leading_zeros();
    middle_ns >> bits.saturating_sub(11) << bits.saturating_sub(11)
}

/// (lowest values, counts) of pairs of bucket middles and counts.
pub fn buckets<'py>(
    py: Python<'py>,
    pairs: &[(u64, u64)],
) -> (Bound<'py, PyBytes>, Bound<'py, PyBytes>) {
    let values = pairs.iter().map(|&(middle, _)| lowest_of_bucket(middle));
    let counts = pairs.iter().map(|&(_, count)| count);
    (column(py, values), column(py, counts))
}

pub fn lap_dict<'py>(py: Python<'py>, lap: &Lap) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("started_ns", lap.started_ns)?;
    dict.set_item("elapsed_ns", lap.elapsed_ns)?;
    let failure = lap.failure.as_ref().map(ToString::to_string);
    dict.set_item("failure", failure.unwrap_or_default())?;
    let streams: PyResult<Vec<_>> = lap.streams.iter().map(|s| stream_dict(py, s)).collect();
    dict.set_item("streams", streams?)?;
    dict.set_item("findings", findings_dict(py, lap)?)?;
    dict.set_item("witness", witness_dict(py, &lap.witness)?)?;
    Ok(dict)
}

fn witness_dict<'py>(py: Python<'py>, witness: &Witness) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("backend", witness.backend.map_or("", word_of))?;
    dict.set_item("wall_ns", witness.wall_ns)?;
    dict.set_item("cpu_ns", witness.cpu_ns)?;
    dict.set_item("worker_cpu_ns", witness.worker_cpu_ns)?;
    dict.set_item("worker_delay_ns", witness.worker_delay_ns)?;
    dict.set_item("busiest_worker", witness.busiest_worker)?;
    dict.set_item("workers", witness.workers)?;
    dict.set_item("in_flight_mean", witness.in_flight_mean)?;
    dict.set_item("in_flight_asked", witness.in_flight_asked)?;
    let means = witness.streams.iter().map(|one| one.mean);
    let asked = witness.streams.iter().map(|one| one.asked);
    dict.set_item("stream_in_flight_mean", tuple(py, means)?)?;
    dict.set_item("stream_in_flight_asked", tuple(py, asked)?)?;
    dict.set_item("made_ns", witness.made_ns)?;
    dict.set_item("judged_ns", witness.judged_ns)?;
    dict.set_item("turn_gap_ns_max", witness.turn_gap_ns_max)?;
    dict.set_item("turns", witness.turns)?;
    dict.set_item("submit_calls", witness.submit_calls)?;
    dict.set_item("min_complete", witness.min_complete)?;
    dict.set_item("io_wq_workers", witness.io_wq_workers)?;
    dict.set_item("techniques", tuple(py, witness.techniques.names())?)?;
    dict.set_item("drift_ppm", witness.drift_ppm)?;
    let places = witness.places.iter().map(|one| (one.cpu, one.node));
    dict.set_item("places", tuple(py, places)?)?;
    Ok(dict)
}

fn tuple<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    parts: impl Iterator<Item = T>,
) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, parts.collect::<Vec<_>>())
}

fn stream_dict<'py>(py: Python<'py>, stream: &StreamLap) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("cursor_bytes", stream.cursor_bytes)?;
    dict.set_item("read", direction_dict(py, &stream.read)?)?;
    dict.set_item("write", direction_dict(py, &stream.write)?)?;
    dict.set_item("flush", direction_dict(py, &stream.flush)?)?;
    dict.set_item("discard", direction_dict(py, &stream.discard)?)?;
    dict.set_item("written", written_dict(py, stream)?)?;
    dict.set_item("backlog_max", stream.backlog_max)?;
    dict.set_item("backlog_end", stream.backlog_end)?;
    Ok(dict)
}

fn direction_dict<'py>(py: Python<'py>, lap: &DirectionLap) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("ios", lap.ios)?;
    dict.set_item("bytes", lap.bytes)?;
    dict.set_item("errors", &lap.errors)?;
    dict.set_item("latency", histogram_dict(py, &lap.latency)?)?;
    let response = lap.response.as_ref().map(|one| histogram_dict(py, one));
    dict.set_item("response", response.transpose()?)?;
    dict.set_item("intervals", interval_columns(py, &lap.intervals)?)?;
    Ok(dict)
}

fn histogram_dict<'py>(py: Python<'py>, histogram: &Histogram) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let (values, counts) = buckets(py, &histogram.pairs());
    dict.set_item("values_ns", values)?;
    dict.set_item("counts", counts)?;
    dict.set_item("sum_ns", histogram.sum_ns())?;
    dict.set_item("min_ns", histogram.min_ns())?;
    dict.set_item("max_ns", histogram.max_ns())?;
    Ok(dict)
}

fn interval_columns<'py>(py: Python<'py>, series: &[Interval]) -> PyResult<Bound<'py, PyDict>> {
    type Field = fn(&Interval) -> u64;
    let fields: [(&str, Field); 7] = [
        ("index", |interval| u64::from(interval.index)),
        ("ios", |interval| interval.ios),
        ("bytes", |interval| interval.bytes),
        ("errors", |interval| interval.errors),
        ("latency_ns_sum", |interval| interval.latency_sum_ns),
        ("latency_ns_min", |interval| interval.latency_min_ns),
        ("latency_ns_max", |interval| interval.latency_max_ns),
    ];
    let dict = PyDict::new(py);
    for (name, field) in fields {
        dict.set_item(name, column(py, series.iter().map(field)))?;
    }
    Ok(dict)
}

pub fn progress_dict<'py>(py: Python<'py>, progress: &Progress) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("elapsed_ns", progress.elapsed_ns)?;
    dict.set_item("ios", progress.ios)?;
    dict.set_item("bytes", progress.bytes)?;
    dict.set_item("errors", progress.errors)?;
    let finished = PyList::empty(py);
    for pairs in &progress.finished {
        let side = |which: usize| -> Vec<Interval> {
            pairs
                .iter()
                .map(|pair: &IntervalPair| pair[which])
                .collect()
        };
        let both = (
            interval_columns(py, &side(0))?,
            interval_columns(py, &side(1))?,
        );
        finished.append(both)?;
    }
    dict.set_item("finished", finished)?;
    Ok(dict)
}
