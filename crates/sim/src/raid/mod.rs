//! Arrays of devices: `layout` knows where each chunk and each parity lies, `plan` which member
//! I/Os a host I/O needs, `array` carries them out in time, `direct` what needs no plan, `mirror`
//! picks the member that is read, `slab` keeps what is in flight, `params` is what makes one array.

mod array;
mod direct;
mod layout;
mod mirror;
pub mod params;
pub mod plan;
mod slab;

pub use array::Array;
pub use layout::{Layout, Level};
