//! Objects of Python's own classes, made here field by field: what the engine answers is said once.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// Calls a class of a module with named arguments: `made!(py, "teijo.x", "Class", { field: … })`.
macro_rules! made {
    ($py:expr, $module:literal, $class:literal, { $($field:ident: $value:expr),* $(,)? }) => {{
        let fields = pyo3::types::PyDict::new($py);
        $(fields.set_item(pyo3::intern!($py, stringify!($field)), $value)?;)*
        let class = $py.import($module)?.getattr(pyo3::intern!($py, $class))?;
        class.call((), Some(&fields))?
    }};
}
pub(crate) use made;

/// Numbers as an int64 array of `NumPy`, which nobody can write to.
pub fn column(py: Python<'_>, numbers: impl Iterator<Item = u64>) -> PyResult<Bound<'_, PyAny>> {
    let bytes: Vec<u8> = numbers
        .flat_map(|number| number.cast_signed().to_ne_bytes())
        .collect();
    let bytes = PyBytes::new(py, &bytes);
    py.import("numpy")?
        .call_method1("frombuffer", (bytes, "int64"))
}

pub fn tuple<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    parts: impl IntoIterator<Item = T>,
) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, parts.into_iter().collect::<Vec<_>>())
}
