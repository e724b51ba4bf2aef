//! Work on files below an open folder.

use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use teijo_engine::error::EngineError;
use teijo_engine::files::books::Ledger;
use teijo_engine::files::crew::{Done, Look};
use teijo_engine::files::folder::Folder;
use teijo_engine::files::plan::{
    Content, LargePlan, Links, NameStyle, Operation, Order, SmallOperation, SmallPlan, Style,
};
use teijo_engine::files::sample::written_by;

use crate::errors::{not_free, raised};
use crate::lap::{histogram, intervals, py_census};
use crate::made::{made, tuple};
use crate::native::duplicate;
use crate::observer::{PyObserver, Show};

const STREAM: &str = "files";

/// `teijo.terms.work.FileIo`, read attribute by attribute.
#[derive(FromPyObject)]
#[allow(clippy::struct_excessive_bools)] // as the Python type
pub(crate) struct PyFileIo {
    operation: String,
    file_bytes: u64,
    chunk_bytes: u32,
    calls: u64,
    workers: u32,
    share: bool,
    processes: bool,
    in_turn: bool,
    fresh: bool,
    sparse: bool,
    fsync: bool,
    timed_fsync: bool,
    direct: bool,
    synchronous: bool,
    positioned: bool,
    timed_calls: u32,
    fsync_rewrites: bool,
    style: String,
    content: String,
    rewrite_percent: u8,
    each_once: bool,
    census: bool,
}

/// `teijo.terms.work.Files`, read attribute by attribute.
#[derive(FromPyObject)]
#[allow(clippy::struct_excessive_bools)] // as the Python type
pub(crate) struct PyFiles {
    operation: String,
    count: u64,
    size_bytes: u64,
    size_least_bytes: Option<u64>,
    chunk_bytes: u64,
    directories: u32,
    names: String,
    links: String,
    order: String,
    content: String,
    fsync: bool,
    fsync_directory: bool,
    timed_fsync: bool,
    sync_at_end: bool,
    read: bool,
}

/// The value that a word of the Python types stands for.
fn chosen<T: Copy>(word: &str, choices: &[(&str, T)]) -> PyResult<T> {
    let found = choices.iter().find(|(name, _)| *name == word);
    let unknown = || PyValueError::new_err(format!("no {word:?} here"));
    found.map(|(_, value)| *value).ok_or_else(unknown)
}

fn content(word: &str) -> PyResult<Content> {
    chosen(
        word,
        &[
            ("random", Content::Random),
            ("zero", Content::Zero),
            ("one-block", Content::OneBlock),
            ("cumulative", Content::Cumulative),
        ],
    )
}

impl PyFileIo {
    pub fn plan(&self, seed: u64, offset_seed: u64, interval_ns: u64) -> PyResult<LargePlan> {
        let operations = [
            Operation::Write,
            Operation::Rewrite,
            Operation::Read,
            Operation::RandomWrite,
            Operation::RandomRead,
            Operation::Seek,
        ];
        let operations = operations.map(|one| (one.name(), one));
        let styles = [
            ("system-call", Style::SystemCall),
            ("stdio", Style::Stdio),
            ("mmap", Style::Mmap),
        ];
        Ok(LargePlan {
            operation: chosen(&self.operation, &operations)?,
            file_bytes: self.file_bytes,
            chunk_bytes: self.chunk_bytes,
            calls: self.calls,
            workers: self.workers,
            share: self.share,
            tickets_by_pipe: self.processes,
            in_turn: self.in_turn,
            fresh: self.fresh,
            sparse: self.sparse,
            fsync: self.fsync,
            timed_fsync: self.timed_fsync,
            direct: self.direct,
            synchronous: self.synchronous,
            positioned: self.positioned,
            timed_calls: self.timed_calls,
            fsync_rewrites: self.fsync_rewrites,
            style: chosen(&self.style, &styles)?,
            content: content(&self.content)?,
            rewrite_percent: self.rewrite_percent,
            seed,
            offset_seed,
            each_once: self.each_once,
            census: self.census,
            interval_ns,
        })
    }
}

impl PyFiles {
    pub fn plan(&self, seed: u64, interval_ns: u64) -> PyResult<SmallPlan> {
        let operations = [
            SmallOperation::Create,
            SmallOperation::Stat,
            SmallOperation::Delete,
        ];
        let names = [
            ("numbers", NameStyle::Numbers),
            ("number-first", NameStyle::NumberFirst),
            ("number-last", NameStyle::NumberLast),
        ];
        let links = [
            ("none", Links::None),
            ("hard", Links::Hard),
            ("symbolic", Links::Symbolic),
        ];
        let orders = [
            ("sequential", Order::Sequential),
            ("random", Order::Random),
            ("listed", Order::Listed),
        ];
        Ok(SmallPlan {
            operation: chosen(&self.operation, &operations.map(|one| (one.name(), one)))?,
            count: self.count,
            size_least_bytes: self.size_least_bytes.unwrap_or(self.size_bytes),
            size_bytes: self.size_bytes,
            chunk_bytes: self.chunk_bytes,
            directories: self.directories,
            names: chosen(&self.names, &names)?,
            links: chosen(&self.links, &links)?,
            order: chosen(&self.order, &orders)?,
            content: content(&self.content)?,
            fsync: self.fsync,
            fsync_directory: self.fsync_directory,
            timed_fsync: self.timed_fsync,
            sync_at_end: self.sync_at_end,
            read: self.read,
            seed,
            interval_ns,
        })
    }
}

/// How a step is named in what it answers.
#[derive(Clone, Copy)]
pub(crate) struct Named {
    operation: &'static str,
    interval_ns: u64,
    /// Whether the operation moves bytes; a flush is one of its own; a close is.
    moves: bool,
    flushes: bool,
    closes: bool,
}

impl Show<Look> for Named {
    fn show<'py>(&self, py: Python<'py>, look: &Look) -> PyResult<Bound<'py, PyAny>> {
        let mut finished = Vec::new();
        if !look.finished.is_empty() {
            let series = intervals(py, self.interval_ns, &look.finished)?;
            finished.push((STREAM, self.operation, series));
        }
        Ok(made!(py, "teijo.engine.session", "Progress", {
            elapsed_ns: look.elapsed_ns,
            ios: look.totals.done,
            bytes: look.totals.bytes,
            errors: look.totals.errors,
            finished: tuple(py, finished)?,
        }))
    }
}

impl Named {
    pub fn large(plan: &LargePlan) -> Self {
        Self {
            operation: plan.operation.name(),
            interval_ns: plan.interval_ns,
            moves: true,
            flushes: plan.fsync,
            closes: true,
        }
    }

    pub fn small(plan: &SmallPlan) -> Self {
        let is_create = plan.operation == SmallOperation::Create;
        Self {
            operation: plan.operation.name(),
            interval_ns: plan.interval_ns,
            moves: is_create || plan.read,
            flushes: (plan.fsync && is_create)
                || (plan.fsync_directory && plan.operation != SmallOperation::Stat),
            closes: false,
        }
    }

    /// What came of a step, or why it could not be done.
    pub fn outcome(
        self,
        py: Python<'_>,
        done: Result<Done, EngineError>,
    ) -> PyResult<Bound<'_, PyAny>> {
        match done {
            Ok(Done {
                failure: Some(error @ EngineError::DiskFull),
                ..
            })
            | Err(error) => Err(raised(py, &error)),
            Ok(done) => self.answer(py, &done),
        }
    }

    fn answer<'py>(self, py: Python<'py>, done: &Done) -> PyResult<Bound<'py, PyAny>> {
        let result = |operation: &str, ledger: &Ledger, bytes: Option<u64>, series| {
            PyResult::Ok(made!(py, "teijo.terms.result", "OperationResult", {
                stream: STREAM,
                operation: operation,
                count: ledger.times.count(),
                bytes: bytes,
                errors: &ledger.errors,
                latency: histogram(py, &ledger.times)?,
                intervals: series,
            }))
        };
        let main = &done.main;
        let series = intervals(py, self.interval_ns, &done.intervals)?;
        let bytes = self.moves.then_some(main.bytes);
        let mut results = vec![result(self.operation, main, bytes, Some(series))?];
        for (operation, ledger, is_asked) in [
            ("fsync", &done.flush, self.flushes),
            ("close", &done.close, self.closes),
        ] {
            if is_asked {
                results.push(result(operation, ledger, None, None)?);
            }
        }
        let touched = done.touched.as_ref();
        let touched = touched.map(|census| py_census(py, STREAM, self.operation, census));
        let detail = PyDict::new(py);
        detail.set_item("cpu_user_ns", done.cpu_user_ns.to_string())?;
        detail.set_item("cpu_system_ns", done.cpu_system_ns.to_string())?;
        let failure = done.failure.as_ref().map(ToString::to_string);
        Ok(made!(py, "teijo.terms.result", "Performed", {
            elapsed_ns: done.elapsed_ns,
            results: tuple(py, results)?,
            census: tuple(py, touched.transpose()?)?,
            detail: detail,
            failure: failure.unwrap_or_default(),
        }))
    }
}

/// The first bytes of each of the first writes of a `teijo.terms.work.FileIo`.
#[pyfunction]
pub fn file_content_sample<'py>(
    py: Python<'py>,
    work: &Bound<'py, PyAny>,
    seed: u64,
    writes: usize,
    most_bytes: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    // Nothing takes any time here: the intervals may be as short as they can.
    let plan = work.extract::<PyFileIo>()?.plan(seed, seed, 1)?;
    plan.check().map_err(|error| raised(py, &error))?;
    let written = written_by(&plan, writes, most_bytes);
    tuple(py, written.iter().map(|one| PyBytes::new(py, one)))
}

#[pyclass(frozen, module = "teijo.engine._native")]
pub struct NativeFolder {
    folder: Mutex<Option<Folder>>,
}

#[pymethods]
impl NativeFolder {
    #[new]
    fn new(descriptor: i32) -> PyResult<Self> {
        let folder = Folder::new(duplicate(descriptor)?);
        Ok(Self {
            folder: Mutex::new(Some(folder)),
        })
    }

    /// Leaves a step when a call takes longer.
    fn limit_io(&self, io_timeout_ns: u64) -> PyResult<()> {
        self.with(|folder| folder.limit_io(io_timeout_ns))
    }

    /// Makes calls on large files: a `teijo.terms.work.FileIo`.
    #[pyo3(signature = (work, seed, offset_seed, interval_ns, observer))]
    fn run_large<'py>(
        &self,
        py: Python<'py>,
        work: &Bound<'py, PyAny>,
        seed: u64,
        offset_seed: u64,
        interval_ns: u64,
        observer: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let plan = work.extract::<PyFileIo>()?;
        let plan = plan.plan(seed, offset_seed, interval_ns)?;
        let named = Named::large(&plan);
        self.run(py, named, observer, |folder, observer| {
            folder.run_large(&plan, |look| observer.look(look))
        })
    }

    /// Creates small files, looks at them or deletes them: a `teijo.terms.work.Files`.
    #[pyo3(signature = (work, seed, interval_ns, observer))]
    fn run_small<'py>(
        &self,
        py: Python<'py>,
        work: &Bound<'py, PyAny>,
        seed: u64,
        interval_ns: u64,
        observer: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let plan = work.extract::<PyFiles>()?.plan(seed, interval_ns)?;
        let named = Named::small(&plan);
        self.run(py, named, observer, |folder, observer| {
            folder.run_small(&plan, |look| observer.look(look))
        })
    }

    /// Removes what is left of what was made.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.with(Folder::clear))
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            let mut folder = self.folder.try_lock().map_err(|_| not_free())?;
            drop(folder.take());
            Ok(())
        })
    }
}

impl NativeFolder {
    fn with<R>(&self, work: impl FnOnce(&mut Folder) -> R) -> PyResult<R> {
        let mut folder = self.folder.try_lock().map_err(|_| not_free())?;
        Ok(work(folder.as_mut().ok_or_else(not_free)?))
    }

    fn run<'py>(
        &self,
        py: Python<'py>,
        named: Named,
        observer: Py<PyAny>,
        work: impl FnOnce(&mut Folder, &mut PyObserver<Named>) -> Result<Done, EngineError> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut observer = PyObserver::new(Some((observer, named)));
        let done = py.detach(|| self.with(|folder| work(folder, &mut observer)))?;
        if let Some(exception) = observer.into_raised() {
            return Err(exception);
        }
        named.outcome(py, done)
    }
}
