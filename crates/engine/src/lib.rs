//! The load generator. A [`plan::Plan`] says what to do, a [`worker::Worker`] does it over any
//! [`backend::Backend`] and [`clock::Clock`], a [`lap::Lap`] says what came of it. A
//! [`crew::Crew`] holds the workers of a plan together, on threads or in virtual time. The engine
//! opens no path: it is handed a [`volume::Volume`] of open descriptors, or somebody's backend.

pub mod access;
pub mod arena;
pub mod backend;
pub mod ceiling;
mod check;
pub mod clock;
pub mod content;
pub mod contention;
pub mod control;
pub mod crew;
pub mod error;
mod fit;
pub mod flight;
pub mod histogram;
pub mod interval;
pub mod lap;
mod pacing;
pub mod permutation;
pub mod place;
pub mod plan;
pub mod session;
pub mod skew;
mod tally;
pub mod technique;
mod thread;
pub mod verify;
pub mod volume;
pub mod watch;
pub mod witness;
pub mod worker;
