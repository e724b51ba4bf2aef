//! A Python function that looks on while a lap runs, and the signals that wait for Python.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use teijo_engine::crew::Progress;
use teijo_engine::watch::Verdict;

use crate::lap::py_progress;
use crate::plan::NamedPlan;

/// Calls the function with the totals; it stops the lap by returning False or by raising. A signal
/// handler that raises `KeyboardInterrupt` leaves the lap, and so does one that raises anything
/// while a stopped lap waits for its I/Os. The exception waits here until the lap is over.
pub struct PyObserver<'plan> {
    function: Option<(Py<PyAny>, &'plan NamedPlan)>,
    stopped: bool,
    raised: Option<PyErr>,
}

impl<'plan> PyObserver<'plan> {
    /// A function, if there is one, and the plan that it looks on at.
    pub fn new(function: Option<(Py<PyAny>, &'plan NamedPlan)>) -> Self {
        Self {
            function,
            stopped: false,
            raised: None,
        }
    }

    pub fn look(&mut self, progress: &Progress) -> Verdict {
        Python::attach(|py| {
            let asked = self.ask(py, progress);
            self.judge(py, asked)
        })
    }

    /// Only the signals: there is nothing to look at.
    pub fn listen(&mut self) -> Verdict {
        Python::attach(|py| {
            let asked = py.check_signals().map(|()| true);
            self.judge(py, asked)
        })
    }

    fn judge(&mut self, py: Python<'_>, asked: PyResult<bool>) -> Verdict {
        let was_stopped = self.stopped;
        self.stopped |= !matches!(asked, Ok(true));
        match asked {
            Err(error) => {
                let leaves = was_stopped || error.is_instance_of::<PyKeyboardInterrupt>(py);
                self.raised = Some(error);
                if leaves {
                    Verdict::Leave
                } else {
                    Verdict::Stop
                }
            }
            Ok(_) if self.stopped => Verdict::Stop,
            Ok(_) => Verdict::GoOn,
        }
    }

    fn ask(&self, py: Python<'_>, progress: &Progress) -> PyResult<bool> {
        py.check_signals()?;
        match &self.function {
            // What raised once is not asked again.
            Some((function, asked)) if self.raised.is_none() => function
                .bind(py)
                .call1((py_progress(py, asked, progress)?,))?
                .is_truthy(),
            _ => Ok(true),
        }
    }

    /// What the function raised, if it did.
    pub fn into_raised(self) -> Option<PyErr> {
        self.raised
    }
}
