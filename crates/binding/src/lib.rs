//! The Python door to the engine and the simulated devices: `teijo.engine._native`.
//!
//! Thin on purpose: it turns attributes into plans and laps into results, lets other Python
//! threads run meanwhile, and knows nothing of storage. `_native.pyi` is its description.

mod ceiling;
mod errors;
mod lap;
mod made;
mod memory;
mod native;
mod observer;
mod plan;
mod simulated;
mod verified;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::ceiling::ceilings;
    #[pymodule_export]
    use crate::native::NativeSession;
    #[pymodule_export]
    use crate::simulated::{
        simulated_kinds, simulated_parameters, simulated_presets, SimulatedSession,
    };
}
