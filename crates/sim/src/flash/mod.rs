//! Solid-state drives: `ftl` knows which slot holds what (`collect` cleans, `region` is written
//! first, `packing` compresses, `pending` is what a large map is told later), `victims` which block
//! to clean next, `ssd` how long everything takes (`background` what dies do besides, `times` and
//! `heat` how fast they are, `face` the device as others see it); `table` has the parameters,
//! `need` the memory they take.

mod audit;
mod background;
mod collect;
mod face;
mod ftl;
mod heat;
mod jitter;
mod memory;
mod need;
mod packing;
mod pending;
mod region;
mod ssd;
mod table;
mod times;
mod victims;

pub use ftl::{reserve_blocks, Cleaned, Ftl, Geometry};
pub use ssd::{Identity, Ssd};
pub use table::PARAMETERS;
