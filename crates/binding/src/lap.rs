//! Laps and looks at running ones as `teijo.terms.result` and `teijo.engine.session` have them.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use teijo_engine::backend::BackendKind;
use teijo_engine::census::Census;
use teijo_engine::crew::Progress;
use teijo_engine::error::Stuck;
use teijo_engine::histogram::Histogram;
use teijo_engine::interval::Interval;
use teijo_engine::lap::{DirectionLap, Lap, StreamLap};
use teijo_engine::plan::StreamPlan;
use teijo_engine::request::Op;
use teijo_engine::witness::Witness;

use crate::made::{column, made, tuple};
use crate::observer::Show;
use crate::plan::NamedPlan;
use crate::verified::{verification, written};

type Object<'py> = PyResult<Bound<'py, PyAny>>;

/// A lap, its times on the session's clock.
pub fn py_lap<'py>(py: Python<'py>, asked: &NamedPlan, lap: &Lap) -> Object<'py> {
    let cursors = PyDict::new(py);
    let (mut results, mut commands, mut touched) = (Vec::new(), Vec::new(), Vec::new());
    for ((name, stream), part) in asked.streams().zip(&lap.streams) {
        cursors.set_item(name, part.cursor_bytes)?;
        for op in [Op::Read, Op::Write]
            .into_iter()
            .filter(|&op| does(stream, op))
        {
            results.push(result(py, asked, (name, stream), op, part)?);
            let direction = if op == Op::Read {
                &part.read
            } else {
                &part.write
            };
            if let Some(census) = &direction.census {
                touched.push(py_census(py, name, op.name(), census)?);
            }
        }
        for op in [Op::Flush, Op::Discard]
            .into_iter()
            .filter(|&op| does(stream, op))
        {
            commands.push(result(py, asked, (name, stream), op, part)?);
        }
    }
    let left = lap.streams.iter().filter_map(|part| part.written.as_ref());
    let left: PyResult<Vec<_>> = left.map(|one| written(py, one)).collect();
    let result = made!(py, "teijo.terms.result", "StepResult", {
        started_ns: lap.started_ns,
        elapsed_ns: lap.elapsed_ns,
        results: tuple(py, results)?,
        commands: tuple(py, commands)?,
        cursors: cursors,
        witness: witness(py, &lap.witness)?,
        verification: verification(py, &asked.plan.streams, lap)?,
        written: tuple(py, left?)?,
        census: tuple(py, touched)?,
    });
    let failure = lap.failure.as_ref().map(ToString::to_string);
    Ok(made!(py, "teijo.engine.session", "Lap", {
        result: result,
        failure: failure.unwrap_or_default(),
    }))
}

/// Which blocks one operation of a stream touched.
pub fn py_census<'py>(
    py: Python<'py>,
    stream: &str,
    operation: &str,
    census: &Census,
) -> Object<'py> {
    Ok(made!(py, "teijo.terms.census", "Census", {
        stream: stream,
        operation: operation,
        ios: census.ios(),
        hashes: tuple(py, census.sample().map(|one| one.0))?,
        counts: tuple(py, census.sample().map(|one| one.1))?,
    }))
}

/// Whether any I/O of a stream is such a one.
fn does(stream: &StreamPlan, op: Op) -> bool {
    match op {
        Op::Read => stream.read_percent > 0,
        Op::Write => stream.read_percent < 100,
        Op::Flush => stream.flush_every_writes > 0 && stream.read_percent < 100,
        Op::Discard => stream.discard_percent > 0,
    }
}

fn result<'py>(
    py: Python<'py>,
    asked: &NamedPlan,
    (name, stream): (&str, &StreamPlan),
    op: Op,
    lap: &StreamLap,
) -> Object<'py> {
    let (part, is_io): (&DirectionLap, bool) = match op {
        Op::Read => (&lap.read, true),
        Op::Write => (&lap.write, true),
        Op::Flush => (&lap.flush, false),
        Op::Discard => (&lap.discard, false),
    };
    let is_open = is_io && stream.rate.is_some();
    let series = is_io.then(|| intervals(py, asked.plan.interval_ns, &part.intervals));
    let response = part.response.as_ref().filter(|_| is_open);
    Ok(made!(py, "teijo.terms.result", "OperationResult", {
        stream: name,
        operation: op.name(),
        count: part.ios,
        bytes: part.bytes,
        errors: &part.errors,
        latency: histogram(py, &part.latency)?,
        intervals: series.transpose()?,
        response: response.map(|one| histogram(py, one)).transpose()?,
        backlog_max: is_open.then_some(lap.backlog_max),
        backlog_end: is_open.then_some(lap.backlog_end),
    }))
}

pub fn histogram<'py>(py: Python<'py>, histogram: &Histogram) -> Object<'py> {
    Ok(made!(py, "teijo.terms.histogram", "Histogram", {
        made_of: PyBytes::new(py, &histogram.to_v2()),
        sum_ns: histogram.sum_ns(),
        min_ns: histogram.min_ns(),
        max_ns: histogram.max_ns(),
    }))
}

pub fn intervals<'py>(py: Python<'py>, length_ns: u64, series: &[Interval]) -> Object<'py> {
    let of = |field: fn(&Interval) -> u64| column(py, series.iter().map(field));
    Ok(made!(py, "teijo.terms.result", "Intervals", {
        length_ns: length_ns,
        index: of(|one| u64::from(one.index))?,
        ios: of(|one| one.ios)?,
        bytes: of(|one| one.bytes)?,
        errors: of(|one| one.errors)?,
        latency_ns_sum: of(|one| one.latency_sum_ns)?,
        latency_ns_min: of(|one| one.latency_min_ns)?,
        latency_ns_max: of(|one| one.latency_max_ns)?,
    }))
}

fn witness<'py>(py: Python<'py>, witness: &Witness) -> Object<'py> {
    let places = witness.places.iter().map(|one| (one.cpu, one.node));
    let streams = &witness.streams;
    Ok(made!(py, "teijo.terms.result", "Witness", {
        backend: witness.backend.map_or("", BackendKind::name),
        wall_ns: witness.wall_ns,
        cpu_ns: witness.cpu_ns,
        worker_cpu_ns: witness.worker_cpu_ns,
        worker_delay_ns: witness.worker_delay_ns,
        busiest_worker: witness.busiest_worker,
        workers: witness.workers,
        in_flight_mean: witness.in_flight_mean,
        in_flight_asked: witness.in_flight_asked,
        stream_in_flight_mean: tuple(py, streams.iter().map(|one| one.mean))?,
        stream_in_flight_asked: tuple(py, streams.iter().map(|one| one.asked))?,
        made_ns: witness.made_ns,
        judged_ns: witness.judged_ns,
        look_gap_ns_max: 0, // who looks on can tell
        turn_gap_ns_max: witness.turn_gap_ns_max,
        turns: witness.turns,
        submit_calls: witness.submit_calls,
        min_complete: witness.min_complete,
        io_wq_workers: witness.io_wq_workers,
        techniques: tuple(py, witness.techniques.names())?,
        drift_ppm: witness.drift_ppm,
        places: tuple(py, places)?,
    }))
}

impl Show<Progress> for &NamedPlan {
    fn show<'py>(&self, py: Python<'py>, look: &Progress) -> Object<'py> {
        py_progress(py, self, look)
    }
}

/// A look at a running lap.
fn py_progress<'py>(py: Python<'py>, asked: &NamedPlan, now: &Progress) -> Object<'py> {
    let mut finished = Vec::new();
    for ((name, stream), pairs) in asked.streams().zip(&now.finished) {
        for (place, op) in [Op::Read, Op::Write].into_iter().enumerate() {
            if does(stream, op) && !pairs.is_empty() {
                let series: Vec<_> = pairs.iter().map(|pair| pair[place]).collect();
                let series = intervals(py, asked.plan.interval_ns, &series)?;
                finished.push((name, op.name(), series));
            }
        }
    }
    Ok(made!(py, "teijo.engine.session", "Progress", {
        elapsed_ns: now.elapsed_ns,
        ios: now.ios,
        bytes: now.bytes,
        errors: now.errors,
        finished: tuple(py, finished)?,
    }))
}

/// An I/O that the device does not answer.
pub fn py_stuck<'py>(py: Python<'py>, stuck: &Stuck) -> Object<'py> {
    Ok(made!(py, "teijo.engine.session", "StuckIo", {
        operation: stuck.op.name(),
        offset_bytes: stuck.offset_bytes,
        length_bytes: stuck.length_bytes,
        age_ns: stuck.age_ns,
    }))
}
