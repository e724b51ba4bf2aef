//! Arrays of devices: `layout` knows where each chunk and each parity lies, `plan` which member
//! I/Os a host I/O needs, `array` takes it and tells its end, `working` carries a plan out and has
//! others give back what a member failed to read, `direct` carries out what needs no plan, `mirror`
//! picks the member that is read, `in_flight` is what is waited for, `params` what makes one array.

mod array;
mod at_risk;
mod direct;
mod in_flight;
mod layout;
mod mirror;
pub mod params;
pub mod plan;
mod working;

pub use array::Array;
pub use layout::{Layout, Level};
