//! Solid-state drives: `ftl` knows which page holds what, `victims` which block to clean next,
//! `ssd` how long everything takes.

mod ftl;
mod ssd;
mod victims;

pub use ftl::{reserve_blocks, Cleaned, Ftl, Geometry};
pub use ssd::{Identity, Ssd};
