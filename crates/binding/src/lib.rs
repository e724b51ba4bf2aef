//! The Python door to the engine and the simulated devices.
