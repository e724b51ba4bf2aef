//! Solid-state drives: `ftl` knows which slot holds what; its methods are also in `collect`
//! (cleaning), `packed` (compression), `folding` (the region written first), `far_map` and `audit`.
//! `ssd` knows how long everything takes; its methods are also in `reading`, `background`,
//! `besides`, `plain`, `runs` (many units at once), `placing` and `face` (as others see the drive).
//! `front` is the way in. `params` and `table` have the parameters, `need` the memory they take.

mod audit;
mod background;
mod besides;
mod block;
mod by_second;
mod collect;
mod die_clock;
mod face;
mod far_map;
mod flushing;
mod folding;
mod front;
mod ftl;
mod heat;
mod held;
mod jitter;
mod map_cache;
mod need;
mod packed;
mod packing;
pub mod params;
mod pending;
mod placing;
mod plain;
mod queue;
mod read_ahead;
mod reading;
mod region;
mod runs;
mod soonest;
mod ssd;
mod table;
mod times;
mod upkeep;
mod valid;
mod victims;

pub use block::Cleaned;
pub use ftl::Ftl;
pub use ssd::Ssd;
pub use table::PARAMETERS;
