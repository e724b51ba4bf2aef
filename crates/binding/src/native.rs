//! The engine on open descriptors.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use teijo_engine::backend::BackendKind;
use teijo_engine::contention::{waited_percent, CONTENDED_PERCENT};
use teijo_engine::place::Pins;
use teijo_engine::session::Session;
use teijo_engine::volume::{Layout, Volume};

use crate::errors::{not_free, raised};
use crate::lap::{py_lap, py_stuck};
use crate::made::tuple;
use crate::observer::PyObserver;
use crate::plan::NamedPlan;

/// `teijo.engine.plan.Layout`, read attribute by attribute.
#[derive(FromPyObject)]
struct PyLayout {
    kind: String,
    member_bytes: Vec<u64>,
    chunk_bytes: u64,
}

impl PyLayout {
    fn layout(self) -> PyResult<Layout> {
        let Self {
            kind,
            member_bytes,
            chunk_bytes,
        } = self;
        Ok(match kind.as_str() {
            "single" => Layout::Single,
            "concatenated" => Layout::Concatenated { member_bytes },
            "striped" => Layout::Striped {
                member_bytes,
                chunk_bytes,
            },
            other => return Err(PyValueError::new_err(format!("no layout {other:?}"))),
        })
    }
}

#[pyclass(frozen, module = "teijo.engine._native")]
pub struct NativeSession {
    session: Mutex<Option<Session>>,
}

#[pymethods]
impl NativeSession {
    #[new]
    fn new(descriptors: Vec<i32>, backend: &str, layout: PyLayout) -> PyResult<Self> {
        let files = descriptors.into_iter().map(duplicate);
        let files: Vec<OwnedFd> = files.collect::<PyResult<_>>()?;
        let volume = Volume::new(files, layout.layout()?);
        let volume = volume.map_err(|error| Python::attach(|py| raised(py, &error)))?;
        let session = match backend {
            "auto" => Session::new(volume),
            "io_uring" => Session::with_backend(volume, BackendKind::Uring),
            "sync" => Session::with_backend(volume, BackendKind::Sync),
            "null" => Session::with_backend(volume, BackendKind::Null),
            "nop" => Session::with_backend(volume, BackendKind::NopRing),
            "nop-call" => Session::with_backend(volume, BackendKind::NopCall),
            other => return Err(PyValueError::new_err(format!("no backend {other:?}"))),
        };
        Ok(Self {
            session: Mutex::new(Some(session)),
        })
    }

    #[getter]
    fn backend(&self) -> PyResult<&'static str> {
        self.with(|session| session.kind().name())
    }

    #[getter]
    fn refusal(&self) -> PyResult<String> {
        self.with(|session| session.refusal().unwrap_or_default())
    }

    /// Percent of ten seconds in which somebody on this host waited for a processor, when this
    /// process began, and the percentage from which on completions are not deferred.
    #[staticmethod]
    fn contention() -> (Option<f64>, f64) {
        (waited_percent(), CONTENDED_PERCENT)
    }

    #[pyo3(signature = (plan, observer=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        plan: &Bound<'py, PyAny>,
        observer: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let plan = NamedPlan::read(plan)?;
        let mut observer = PyObserver::new(observer.map(|function| (function, &plan)));
        let result = py.detach(|| {
            self.with(|session| {
                let lap = session.run_observed(&plan.plan, |progress| observer.look(progress));
                if lap.is_err() {
                    // Whatever else goes wrong now is told by the lap's own error.
                    let _ = session.finish();
                }
                lap
            })
        })?;
        if let Some(exception) = observer.into_raised() {
            return Err(exception);
        }
        py_lap(py, &plan, &result.map_err(|error| raised(py, &error))?)
    }

    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let mut observer = PyObserver::<&NamedPlan>::new(None);
        let finished =
            py.detach(|| self.with(|session| session.finish_observed(|| observer.listen())))?;
        match observer.into_raised() {
            Some(exception) => Err(exception),
            None => finished.map_err(|error| raised(py, &error)),
        }
    }

    /// Lets a lap be left when an I/O is older than that.
    fn limit_io(&self, io_timeout_ns: u64) -> PyResult<()> {
        self.with(|session| session.limit_io(io_timeout_ns))
    }

    /// Keeps each worker on one of these processors from now on; on any of none.
    fn pin(&self, py: Python<'_>, cpus: Vec<u32>) -> PyResult<()> {
        let pinned = py.detach(|| self.with(|session| session.pin(Pins::new(cpus))))?;
        pinned.map_err(|error| raised(py, &error))
    }

    /// What did not come back, the oldest first.
    fn stuck<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let stuck = self.with(|session| session.stuck().to_vec())?;
        let stuck: PyResult<Vec<_>> = stuck.iter().map(|one| py_stuck(py, one)).collect();
        tuple(py, stuck?)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            let mut session = self.session.try_lock().map_err(|_| not_free())?;
            drop(session.take());
            Ok(())
        })
    }
}

pub fn duplicate(descriptor: i32) -> PyResult<OwnedFd> {
    if descriptor < 0 {
        return Err(PyValueError::new_err("a descriptor is not negative"));
    }
    // SAFETY: the caller's descriptor is open during this call, which only duplicates it; if it
    // is not, the kernel says so (EBADF).
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(borrowed.try_clone_to_owned()?)
}

impl NativeSession {
    /// Uses the session, which one thread has at a time.
    fn with<R>(&self, work: impl FnOnce(&mut Session) -> R) -> PyResult<R> {
        let mut session = self.session.try_lock().map_err(|_| not_free())?;
        Ok(work(session.as_mut().ok_or_else(not_free)?))
    }
}
