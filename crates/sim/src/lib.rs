//! Simulated storage in virtual time: a device is a pure function of its parameters and of the
//! I/O it was given, and the engine's own worker drives it. The engine never names this crate.

// Each group below is a layer: a file uses its own layer and those under it, without circles
// (tests/house/test_layers.py).

// The engine's workers on a simulated device.
pub mod backend;
pub mod content;
mod data_backend;
pub mod session;

// A device made from the text that names it.
pub mod compose;

// The drives that have a name.
pub mod presets;

// What stands between programs and a device: an operating system.
pub mod files;

// The kinds of device.
pub mod cache;
pub mod disk;
pub mod fault;
pub mod flash;
pub mod raid;
pub mod tier;

// The ground: what every device is, and what several kinds share.
mod clip;
pub mod device;
mod digest;
mod downstream;
mod members;
mod memory;
mod numbers;
mod paged;
pub mod parameters;
mod quantity;
mod short_path;
mod stretches;
mod timeline;
