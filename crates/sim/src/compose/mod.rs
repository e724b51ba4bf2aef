//! Devices put together of devices, from a text such as `raid5(4×hdd-7200)?chunk=64KiB`: `grammar`
//! reads it, `build` makes it, `node` is any device there is.

mod build;
mod error;
mod grammar;
mod node;

pub use build::{build, kinds, named, open, Kind, Named};
pub use error::{ComposeError, Fault};
pub use grammar::{parse, Setting, Written};
pub(crate) use node::members_facts;
pub use node::Node;
