//! Arrays of devices: `layout` knows where each chunk and each parity lies, `plan` which member
//! I/Os a host I/O needs, `array` carries them out in time, `direct` what needs no plan, `mirror`
//! picks the member that is read, `in_flight` is what it waits for, `params` is what makes one array.

mod array;
mod direct;
mod in_flight;
mod layout;
mod mirror;
pub mod params;
pub mod plan;

pub use array::Array;
pub use layout::{Layout, Level};
