//! Devices put together of devices, from a text such as `raid5(4×hdd-7200)?chunk=64KiB`: `grammar`
//! reads it, `need` says how much memory it takes, `build` makes it (`leaf` what has no parts),
//! `node` is any device there is.

mod build;
mod error;
mod grammar;
mod leaf;
mod named;
mod need;
mod node;

pub use build::{build, build_within, kinds, need_bytes, open, Kind};
pub use error::{ComposeError, Fault};
pub use grammar::{parse, Setting, Written};
pub use named::{named, Named};
pub use node::Node;
pub(crate) use node::{members_counts, members_facts};
