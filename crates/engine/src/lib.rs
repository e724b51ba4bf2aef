//! The load generator. A [`plan::Plan`] says what to do, a [`worker::Worker`] does it over any
//! [`backend::Backend`] and [`clock::Clock`], a [`lap::Lap`] says what came of it.
//!
//! The engine opens no path: it is handed an open descriptor, or a backend of somebody else's.

pub mod backend;
pub mod clock;
pub mod lap;
pub mod plan;
