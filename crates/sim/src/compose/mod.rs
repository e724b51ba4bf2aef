//! Devices put together of devices, from a text such as `raid5(4×hdd-7200)?chunk=64KiB`: `grammar`
//! reads it, `need` says how much memory it takes, `build` makes it (`leaf` what has no parts),
//! `node` is any device there is.

mod build;
mod error;
mod grammar;
mod kind;
mod leaf;
mod named;
mod need;
mod nested;
mod node;

pub use build::{build, build_within, need_bytes, open};
pub use error::{ComposeError, Fault};
pub use grammar::{parse, Setting, Written};
pub use kind::{kinds, Kind};
pub use named::{named, Named};
pub use node::Node;
