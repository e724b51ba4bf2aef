//! A Python function that looks on while a lap runs, and the signals that wait for Python.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use teijo_engine::crew::Progress;

use crate::lap::progress_dict;

/// Calls the function with the totals; it stops the lap by returning False or by raising, and so
/// does a signal handler that raises (Ctrl-C). The exception waits here until the lap is over.
pub struct PyObserver {
    function: Option<Py<PyAny>>,
    stopped: bool,
    raised: Option<PyErr>,
}

impl PyObserver {
    pub fn new(function: Option<Py<PyAny>>) -> Self {
        Self {
            function,
            stopped: false,
            raised: None,
        }
    }

    pub fn look(&mut self, progress: &Progress) -> ControlFlow<()> {
        if !self.stopped {
            let goes_on = Python::attach(|py| self.ask(py, progress));
            self.stopped = !matches!(goes_on, Ok(true));
            self.raised = goes_on.err();
        }
        if self.stopped {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn ask(&self, py: Python<'_>, progress: &Progress) -> PyResult<bool> {
        py.check_signals()?;
        let Some(function) = &self.function else {
            return Ok(true);
        };
        function
            .bind(py)
            .call1((progress_dict(py, progress)?,))?
            .is_truthy()
    }

    /// What the function raised, if it did.
    pub fn into_raised(self) -> Option<PyErr> {
        self.raised
    }
}
