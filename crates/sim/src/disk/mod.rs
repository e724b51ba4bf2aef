//! Hard disks: `mechanics` knows where everything is and how long the arm and the platter take,
//! `reach` how the arm gets to the data of a command, `write_cache` what waits there, `sectors`
//! what a write of a part of one costs, `disk` what is served next, `params` what makes one disk.

#[allow(
    clippy::module_inception,
    reason = "the room is named after what it makes"
)]
mod disk;
mod mechanics;
pub mod params;
mod reach;
mod sectors;
mod write_cache;

pub use disk::Disk;
pub use mechanics::Mechanics;
