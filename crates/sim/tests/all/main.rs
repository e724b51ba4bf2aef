//! The simulated devices' tests from outside, one program for all: linked once they compile in
//! less time. Beside it: what counts every allocation of its process.

mod array_counts;
mod articles;
mod by_second;
mod cache;
mod common;
mod compose;
mod compression;
mod determinism;
mod disk;
mod fault;
mod files;
mod flash_page;
mod heat;
mod host;
mod host_cache;
mod hot_cold;
mod lab;
mod mixing;
mod parameters;
mod placement;
mod presets;
mod queueing;
mod raid;
mod raid_grid;
mod scale;
mod session;
mod slc_region;
mod ssd_cache;
mod tier;
mod timing;
mod truths;
mod write_amplification;
mod write_through;
mod yielding;
