//! Simulated storage in virtual time: a device is a pure function of its parameters and of the
//! I/O it was given, and the engine's own worker drives it. The engine never names this crate.

pub mod backend;
pub mod device;
pub mod flash;
mod parameters;
pub mod params;
pub mod presets;
mod quantity;
pub mod session;
