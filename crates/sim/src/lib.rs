//! Simulated storage in virtual time: a device is a pure function of its parameters and of the
//! I/O it was given, and the engine's own worker drives it. The engine never names this crate.

pub mod backend;
pub mod cache;
mod clip;
pub mod compose;
pub mod content;
mod data_backend;
pub mod device;
mod digest;
pub mod disk;
mod downstream;
pub mod fault;
pub mod flash;
mod parameters;
pub mod params;
pub mod presets;
mod quantity;
pub mod raid;
pub mod session;
pub mod tier;
