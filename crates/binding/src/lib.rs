//! The Python door to the engine and the simulated devices: `teijo.engine._native`.
//!
//! Thin on purpose: it turns attributes into plans and laps into results, lets other Python
//! threads run meanwhile, and knows nothing of storage. `_native.pyi` is its description.

// Each group below is a layer: a file uses its own layer and those under it, without circles
// (tests/house/test_layers.py).

// What Python calls.
mod ceiling;
mod files;
mod native;
mod simulated;

// What comes out.
mod lap;

// Who looks on while a lap runs.
mod observer;

// What goes in.
mod plan;
mod verified;

// The ground.
mod errors;
mod made;
mod memory;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::ceiling::ceilings;
    #[pymodule_export]
    use crate::files::{file_content_sample, NativeFolder};
    #[pymodule_export]
    use crate::native::NativeSession;
    #[pymodule_export]
    use crate::plan::content_sample;
    #[pymodule_export]
    use crate::simulated::{
        simulated_kinds, simulated_parameters, simulated_presets, SimulatedSession,
    };
}
