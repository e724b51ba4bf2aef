//! A Python function that looks on while a lap runs, and the signals that wait for Python.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use teijo_engine::watch::Verdict;

/// What knows how a look of its kind is to be shown to Python.
pub trait Show<L> {
    fn show<'py>(&self, py: Python<'py>, look: &L) -> PyResult<Bound<'py, PyAny>>;
}

/// Calls the function with the totals; it stops the lap by returning False or by raising. A signal
/// handler that raises `KeyboardInterrupt` leaves the lap, and so does one that raises anything
/// while a stopped lap waits for its I/Os. The exception waits here until the lap is over.
pub struct PyObserver<S> {
    function: Option<(Py<PyAny>, S)>,
    stopped: bool,
    raised: Option<PyErr>,
}

impl<S> PyObserver<S> {
    /// A function, if there is one, and what shows it what it looks on at.
    pub fn new(function: Option<(Py<PyAny>, S)>) -> Self {
        Self {
            function,
            stopped: false,
            raised: None,
        }
    }

    pub fn look<L>(&mut self, look: &L) -> Verdict
    where
        S: Show<L>,
    {
        Python::attach(|py| {
            let asked = self.ask(py, look);
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

    fn ask<L>(&self, py: Python<'_>, look: &L) -> PyResult<bool>
    where
        S: Show<L>,
    {
        py.check_signals()?;
        match &self.function {
            // What raised once is not asked again.
            Some((function, shows)) if self.raised.is_none() => function
                .bind(py)
                .call1((shows.show(py, look)?,))?
                .is_truthy(),
            _ => Ok(true),
        }
    }

    /// What the function raised, if it did.
    pub fn into_raised(self) -> Option<PyErr> {
        self.raised
    }
}
