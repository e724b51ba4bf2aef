//! A simulated device and its session in virtual time.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use teijo_engine::crew::Progress;
use teijo_engine::error::EngineError;
use teijo_engine::files::crew::{Done, Look};
use teijo_engine::watch::Verdict;
use teijo_sim::compose::{build_within, kinds, named, Node};
use teijo_sim::device::{Device, Facts, Label};
use teijo_sim::disk::params::disk_presets;
use teijo_sim::flash::PARAMETERS;
use teijo_sim::presets::presets;
use teijo_sim::session::{Observer, SimSession};

use crate::errors::{not_free, raised};
use crate::files::{Named, PyFileIo, PyFiles};
use crate::lap::{py_lap, py_stuck};
use crate::made::{made, tuple};
use crate::memory::room_bytes;
use crate::observer::PyObserver;
use crate::plan::NamedPlan;

/// Wall time between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl Observer for PyObserver<&NamedPlan> {
    fn period(&self) -> Duration {
        LOOK_EVERY
    }

    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        match self.look(progress) {
            Verdict::GoOn => ControlFlow::Continue(()),
            Verdict::Stop | Verdict::Leave => ControlFlow::Break(()),
        }
    }
}

#[pyclass(frozen, module = "teijo.engine._native")]
pub struct SimulatedSession {
    session: Mutex<Option<SimSession<Node>>>,
}

#[pymethods]
impl SimulatedSession {
    #[new]
    fn new(py: Python<'_>, preset: &str, overrides: &Bound<'_, PyDict>) -> PyResult<Self> {
        let overrides: BTreeMap<String, String> = overrides.extract()?;
        let pairs: Vec<(&str, &str)> = overrides
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let device = py.detach(|| build_within(preset, &pairs, room_bytes()));
        let device = device.map_err(|error| raised(py, &error))?;
        Ok(Self {
            session: Mutex::new(Some(SimSession::new(device))),
        })
    }

    fn now_ns(&self) -> PyResult<u64> {
        self.with(|session| session.now_ns())
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
        let result = py.detach(|| self.with(|session| session.run(&plan.plan, &mut observer)))?;
        if let Some(exception) = observer.into_raised() {
            return Err(exception);
        }
        py_lap(py, &plan, &result.map_err(|error| raised(py, &error))?)
    }

    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, SimSession::finish)
    }

    /// Lets a lap be left when the device is silent for longer than that.
    fn limit_io(&self, io_timeout_ns: u64) -> PyResult<()> {
        self.with(|session| session.limit_io(io_timeout_ns))
    }

    /// What did not come back, the oldest first.
    fn stuck<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let stuck = self.with(|session| session.stuck().to_vec())?;
        let stuck: PyResult<Vec<_>> = stuck.iter().map(|one| py_stuck(py, one)).collect();
        tuple(py, stuck?)
    }

    fn purge(&self, py: Python<'_>) -> PyResult<u64> {
        self.work(py, SimSession::purge)
    }

    fn idle(&self, py: Python<'_>, duration_ns: u64) -> PyResult<()> {
        self.work(py, |session| session.idle(duration_ns))
    }

    /// Makes calls on large files: a `teijo.terms.work.FileIo`.
    #[allow(clippy::too_many_arguments)] // as the Python method
    #[pyo3(signature = (work, seed, offset_seed, interval_ns, drop_caches, observer))]
    fn run_large<'py>(
        &self,
        py: Python<'py>,
        work: &Bound<'py, PyAny>,
        seed: u64,
        offset_seed: u64,
        interval_ns: u64,
        drop_caches: bool,
        observer: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let plan = work.extract::<PyFileIo>()?;
        let plan = plan.plan(seed, offset_seed, interval_ns)?;
        self.on_files(py, Named::large(&plan), observer, |session, observe| {
            session.run_large(&plan, drop_caches, observe)
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
        self.on_files(py, Named::small(&plan), observer, |session, observe| {
            session.run_small(&plan, observe)
        })
    }

    /// What the device counts: what flash counts is absent where not all of it is flash, for
    /// what a disk reads and writes would be missing in it.
    fn health(&self) -> PyResult<BTreeMap<&'static str, u64>> {
        let (health, is_flash) =
            self.with(|session| (session.health(), session.device().is_flash()))?;
        let mut counters = BTreeMap::from([
            ("host_reads_bytes", health.host_reads_bytes),
            ("host_writes_bytes", health.host_writes_bytes),
        ]);
        if is_flash {
            counters.extend([
                ("trims_bytes", health.trims_bytes),
                ("nand_reads_bytes", health.nand_reads_bytes),
                ("nand_writes_bytes", health.nand_writes_bytes),
                ("erases", health.erases),
            ]);
        }
        Ok(counters)
    }

    /// What the model knows and a real device would not tell.
    fn counts(&self) -> PyResult<Vec<(String, u64)>> {
        let counts = self.with(|session| session.counts())?;
        Ok(counts
            .into_iter()
            .map(|(name, count)| (name.into_owned(), count))
            .collect())
    }

    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let facts = self.with(|session| session.facts())?;
        let (label, label_text) = words_of(facts.label);
        Ok(made!(py, "teijo.engine.session", "SimulatedFacts", {
            model: facts.model,
            serial: facts.serial,
            firmware: facts.firmware,
            nominal_capacity_bytes: facts.nominal_capacity_bytes,
            capacity_bytes: facts.capacity_bytes,
            logical_block_bytes: facts.logical_block_bytes,
            physical_block_bytes: facts.physical_block_bytes,
            label: label,
            label_text: label_text,
            parameters: tuple(py, facts.parameters)?,
        }))
    }

    fn digest(&self) -> PyResult<u64> {
        self.with(|session| session.device().digest())
    }

    fn close(&self) -> PyResult<()> {
        let mut session = self.session.try_lock().map_err(|_| not_free())?;
        drop(session.take());
        Ok(())
    }
}

impl SimulatedSession {
    /// Uses the session, which one thread has at a time.
    fn with<R>(&self, work: impl FnOnce(&mut SimSession<Node>) -> R) -> PyResult<R> {
        let mut session = self.session.try_lock().map_err(|_| not_free())?;
        Ok(work(session.as_mut().ok_or_else(not_free)?))
    }

    fn on_files<'py>(
        &self,
        py: Python<'py>,
        named: Named,
        observer: Py<PyAny>,
        work: impl FnOnce(
                &mut SimSession<Node>,
                &mut dyn FnMut(&Look) -> Verdict,
            ) -> Result<Done, EngineError>
            + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut observer = PyObserver::new(Some((observer, named)));
        let done = py.detach(|| {
            self.with(|session| work(session, &mut |look: &Look| observer.look(look)))
        })?;
        if let Some(exception) = observer.into_raised() {
            return Err(exception);
        }
        named.outcome(py, done)
    }

    fn work<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut SimSession<Node>) -> R + Send,
    ) -> PyResult<R> {
        py.detach(|| self.with(work))
    }
}

/// (calibrated or plausible, to what or why).
fn words_of(label: Label) -> (&'static str, &'static str) {
    match label {
        Label::Calibrated { to } => ("calibrated", to),
        Label::Plausible { why } => ("plausible", why),
    }
}

/// Up to which scale the drive `name` may be read by the second; of other devices nothing is known.
fn by_second_scale(name: &str) -> Option<f64> {
    let drive = presets().into_iter().find(|preset| preset.name == name)?;
    drive.params.by_second_scale()
}

/// Every named device with its label and its parameters: drives, disks, arrays.
#[pyfunction]
pub fn simulated_presets(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let drives = presets();
    let drives = drives.iter().map(|preset| (preset.name, preset.about));
    let disks = disk_presets();
    let disks = disks.iter().map(|preset| (preset.name, preset.about));
    let arrays = named().into_iter().map(|named| (named.name, named.about));
    let describe = |(name, about): (&'static str, &'static str)| {
        let device = py.detach(|| build_within(name, &[], room_bytes()));
        let facts: Facts = device.map_err(|error| raised(py, &error))?.facts();
        let (label, label_text) = words_of(facts.label);
        Ok(made!(py, "teijo.engine.session", "SimulatedPreset", {
            name: name,
            about: about,
            label: label,
            label_text: label_text,
            nominal_capacity_bytes: facts.nominal_capacity_bytes,
            capacity_bytes: facts.capacity_bytes,
            by_second_scale: by_second_scale(name),
            parameters: tuple(py, facts.parameters)?,
        }))
    };
    drives.chain(disks).chain(arrays).map(describe).collect()
}

/// Every way to put simulated devices together: (name, what it is).
#[pyfunction]
pub fn simulated_kinds() -> Vec<(&'static str, &'static str)> {
    kinds().iter().map(|kind| (kind.name, kind.about)).collect()
}

/// Every parameter of a simulated SSD: (name, unit, meaning).
#[pyfunction]
pub fn simulated_parameters() -> Vec<(&'static str, &'static str, &'static str)> {
    PARAMETERS
        .iter()
        .map(|parameter| (parameter.name, parameter.unit, parameter.meaning))
        .collect()
}
