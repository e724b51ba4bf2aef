//! What makes a simulated operating system, and its table of parameters.

use crate::cache::params::{io_size, io_size_text, scale, scale_text, share, HostCacheParams};
use crate::parameters::{
    count, name_of, one_of, parameter, positive, power_of_two, text, us_text, Parameter,
};
use crate::quantity::{bytes, bytes_text, nanoseconds, whole};

const SWITCH: [(&str, bool); 2] = [("yes", true), ("no", false)];

/// Everything about an operating system but the device below.
#[derive(Clone, Debug, PartialEq)]
pub struct OsParams {
    pub memory_bytes: u64,
    pub page_bytes: u32,
    pub dirty_background_percent: f64,
    pub dirty_percent: f64,
    pub expire_ns: u64,
    pub write_size_bytes: Option<u64>,
    pub write_in_flight: u32,
    pub read_ahead_bytes: u64,
    /// Of one program; each has a processor of its own.
    pub copy_mb_per_second: f64,
    pub write_call_ns: u64,
    pub read_call_ns: u64,
    pub open_ns: u64,
    pub create_ns: u64,
    pub stat_ns: u64,
    pub unlink_ns: u64,
    pub fsync_ns: u64,
    pub fault_ns: u64,
    pub barriers: bool,
    pub journal_bytes: u64,
    pub commit_ns: u64,
    pub scale: Option<f64>,
    pub seed: u64,
}

impl Default for OsParams {
    fn default() -> Self {
        Self {
            memory_bytes: 4 << 30,
            page_bytes: 4096,
            dirty_background_percent: 10.0,
            dirty_percent: 20.0,
            expire_ns: 30_000_000_000,
            write_size_bytes: None,
            write_in_flight: 32,
            read_ahead_bytes: 128 << 10,
            copy_mb_per_second: 2_700.0,
            write_call_ns: 800,
            read_call_ns: 165,
            open_ns: 1_500,
            create_ns: 12_000,
            stat_ns: 700,
            unlink_ns: 10_000,
            fsync_ns: 1_000,
            fault_ns: 500,
            barriers: true,
            journal_bytes: 128 << 20,
            commit_ns: 5_000_000_000,
            scale: None,
            seed: 1,
        }
    }
}

impl OsParams {
    /// Its page cache.
    pub(crate) fn host_cache(&self) -> HostCacheParams {
        HostCacheParams {
            memory_bytes: self.memory_bytes,
            page_bytes: self.page_bytes,
            dirty_background_percent: self.dirty_background_percent,
            dirty_percent: self.dirty_percent,
            expire_ns: self.expire_ns,
            write_size_bytes: self.write_size_bytes,
            write_in_flight: self.write_in_flight,
            read_ahead_bytes: self.read_ahead_bytes,
            seed: self.seed,
            ..HostCacheParams::default()
        }
    }

    /// ns of copying so much between a page and a program.
    pub(super) fn copy_ns(&self, length_bytes: u64) -> u64 {
        (length_bytes as f64 * 1e3 / self.copy_mb_per_second).round() as u64
    }
}

/// Every parameter of an operating system, in the order they are documented.
#[rustfmt::skip]
pub const OS_PARAMETERS: &[Parameter<OsParams>] = &[
    parameter!("memory", "bytes", "RAM for pages; as files it is never scaled",
        memory_bytes, bytes, bytes_text),
    parameter!("page", "bytes", "unit of the page cache; a power of two; a coarser one is \
         simulated faster", page_bytes, |t| power_of_two(t, 4096, 1 << 20),
        |value| bytes_text(u64::from(value))),
    parameter!("dirty_background_percent", "% of memory",
        "above this much dirty data, or dirty_percent if that is lower, it is written back",
        dirty_background_percent, share, text),
    parameter!("dirty_percent", "% of memory",
        "above this much dirty data writers go at the pace of the write-back",
        dirty_percent, share, text),
    parameter!("expire_us", "µs", "dirty data is written back when the oldest of it is this old",
        expire_ns, nanoseconds, us_text),
    parameter!("write_size", "bytes or auto",
        "neighbours are written back as one up to this, on its multiples; auto as drain_size of a \
         cache", write_size_bytes, io_size, io_size_text),
    parameter!("write_in_flight", "count", "writes to the device below at once",
        write_in_flight, count, text),
    parameter!("read_ahead", "bytes", "read ahead of a sequential reader; 0 is off",
        read_ahead_bytes, bytes, bytes_text),
    parameter!("copy_mb_per_second", "MB/s (10^6)",
        "copies between pages and one program; programs do not hold each other up",
        copy_mb_per_second, positive, text),
    parameter!("write_call_us", "µs", "a call that writes, without the copy",
        write_call_ns, nanoseconds, us_text),
    parameter!("read_call_us", "µs", "a call that reads, without the copy",
        read_call_ns, nanoseconds, us_text),
    parameter!("open_us", "µs", "opening or closing a file that is there",
        open_ns, nanoseconds, us_text),
    parameter!("create_us", "µs", "making a file, without the device",
        create_ns, nanoseconds, us_text),
    parameter!("stat_us", "µs", "asking for a file that is known",
        stat_ns, nanoseconds, us_text),
    parameter!("unlink_us", "µs", "deleting a file, without the device",
        unlink_ns, nanoseconds, us_text),
    parameter!("fsync_us", "µs", "flushing a file of which nothing is dirty, without the device",
        fsync_ns, nanoseconds, us_text),
    parameter!("fault_us", "µs", "a page of a mapped file that is touched first",
        fault_ns, nanoseconds, us_text),
    parameter!("barriers", "yes or no",
        "the journal and fsync flush the device's write cache; no is the mount option barrier=0",
        barriers, |t| one_of(t, &SWITCH), |value| name_of(value, &SWITCH)),
    parameter!("journal", "bytes", "of the file system, at most an eighth of the device",
        journal_bytes, bytes, bytes_text),
    parameter!("commit_us", "µs", "an open transaction is committed when it is this old",
        commit_ns, nanoseconds, us_text),
    parameter!("scale", "ratio or auto",
        "of every part that has none of its own; auto is the largest of theirs",
        scale, scale, scale_text),
    parameter!("seed", "whole number", "of the first part; each next one has one more",
        seed, whole, text),
];
