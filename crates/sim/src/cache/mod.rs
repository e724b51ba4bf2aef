//! RAM in front of a device: the write cache of a controller or a driver, and the page cache of a
//! host. `ram` is the device, `front` what it does with host I/Os, `drain` how dirty data gets
//! below, `around` what a file system asks of it besides, `policy` its settings; `extents` (of
//! `sectors` and `places`), `flying`, `lru` (of `uses`), `slab` and `streams` are its memory.

mod around;
mod drain;
mod extents;
mod flying;
mod front;
mod in_flight;
mod lru;
pub mod params;
mod places;
mod policy;
mod ram;
mod sectors;
mod slab;
mod streams;
mod uses;

pub(crate) use extents::Extents;
pub(crate) use lru::Lru;
pub(crate) use policy::Settings;
pub use ram::Cache;
