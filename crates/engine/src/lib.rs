//! The load generator. A [`plan::Plan`] says what to do, a [`worker::Worker`] does it over any
//! [`backend::Backend`] and [`clock::Clock`], a [`lap::Lap`] says what came of it. A
//! [`crew::Crew`] holds the workers of a plan together, on threads or in virtual time. The engine
//! opens no path: it is handed a [`volume::Volume`] of open descriptors, or somebody's backend.

// Each group below is a layer: a file uses its own layer and those under it, without circles
// (tests/house/test_layers.py).

// A target under measurement, and what the host could do at best.
pub mod ceiling;
pub mod files;
pub mod session;

// The threads of a session, and the watch over a lap.
mod fit;
mod thread;
pub mod watch;

// All workers of a plan together.
pub mod crew;

// The loop of one worker.
pub mod worker;

// What the workers of a stream share, and what they count.
pub mod census;
pub mod control;
pub mod flight;
pub mod interval;
pub mod lap;
pub mod stream;
mod tally;
pub mod witness;

// What carries the I/O.
pub mod arena;
pub mod backend;
pub mod contention;
pub mod volume;

// Whether a plan can be run; offsets, content, arrivals and verification.
pub mod access;
mod check;
pub mod content;
mod draws;
mod pacing;
pub mod permutation;
pub mod sample;
pub mod skew;
pub mod verify;

// The ground: the plan, one I/O, errors, time and numbers.
pub mod clock;
pub mod error;
pub mod histogram;
pub mod place;
pub mod plan;
pub mod request;
pub mod seed;
pub mod technique;
