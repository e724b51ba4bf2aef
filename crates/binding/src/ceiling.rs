//! What the host can do at best.

use std::os::fd::BorrowedFd;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use teijo_engine::ceiling::measure;

use crate::errors::raised;

#[pyfunction]
pub fn ceilings(py: Python<'_>, descriptor: i32, each_ns: u64) -> PyResult<Bound<'_, PyDict>> {
    if descriptor < 0 {
        return Err(PyValueError::new_err("a descriptor is not negative"));
    }
    // SAFETY: the caller's descriptor is open during this call, which only duplicates it; if it
    // is not, the kernel says so (EBADF).
    let file = unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned()?;
    let found = py.detach(|| measure(file, each_ns));
    let found = found.map_err(|error| raised(py, &error))?;
    let dict = PyDict::new(py);
    dict.set_item("nop_ns", found.nop_ns)?;
    dict.set_item("nop_ns_deep", found.nop_ns_deep)?;
    dict.set_item("loop_ns", found.loop_ns)?;
    dict.set_item("loop_ns_deep", found.loop_ns_deep)?;
    dict.set_item("copy_bytes_per_second", found.copy_bytes_per_second)?;
    Ok(dict)
}
