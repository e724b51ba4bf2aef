//! A fast device and a slow one as one: `ssd_cache` keeps copies of the slow one's chunks on the
//! fast one, `tiers` keeps each chunk on one of the two. They share `table` (what is known of each
//! chunk), `recency` (which was used last), `pair` and `requests` (I/O below and above), `params`.

mod pair;
pub mod params;
mod recency;
mod requests;
mod ssd_cache;
mod table;
mod tiers;

pub use ssd_cache::SsdCache;
pub use tiers::Tier;
