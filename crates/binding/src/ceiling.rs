//! What the host can do at best.

use std::os::fd::BorrowedFd;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use teijo_engine::ceiling::measure;

use crate::errors::raised;
use crate::made::made;

#[pyfunction]
pub fn ceilings(py: Python<'_>, descriptor: i32, each_ns: u64) -> PyResult<Bound<'_, PyAny>> {
    if descriptor < 0 {
        return Err(PyValueError::new_err("a descriptor is not negative"));
    }
    // SAFETY: the caller's descriptor is open during this call, which only duplicates it; if it
    // is not, the kernel says so (EBADF).
    let file = unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned()?;
    let found = py.detach(|| measure(file, each_ns));
    let found = found.map_err(|error| raised(py, &error))?;
    Ok(made!(py, "teijo.engine.session", "Ceilings", {
        nop_ns: found.nop_ns,
        nop_ns_deep: found.nop_ns_deep,
        loop_ns: found.loop_ns,
        loop_ns_deep: found.loop_ns_deep,
        copy_bytes_per_second: found.copy_bytes_per_second,
    }))
}
