//! A simulated operating system between the calls of programs and a simulated device: `params` are
//! its settings, `space` where files lie, `journal` what makes metadata durable, `call` what is
//! asked for, `os` how it goes on, `names` and `pages` what it does to files, `commit` how a
//! transaction gets below, `face` the whole as a device, `crowd` the programs that call it, `hands`
//! and `work` those that carry out a plan.

mod call;
mod commit;
pub mod crowd;
mod face;
mod hands;
mod journal;
mod names;
mod os;
mod pages;
pub mod params;
mod space;
pub mod work;

pub use call::{Call, Done, FileId, How};
pub use os::Os;
