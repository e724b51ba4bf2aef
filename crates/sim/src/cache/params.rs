//! What makes a cache in front of a device, and what makes the page cache of a host; their tables
//! of parameters. Volumes are those of the full-size tree.

use crate::parameters::{
    count, name_of, one_of, parameter, positive, power_of_two, text, us_text, Parameter,
};
use crate::quantity::{bytes, bytes_text, decimal, nanoseconds, whole};

/// What a write waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is in the cache.
    WriteBack,
    /// The device below has it.
    WriteThrough,
    /// The same, and nothing is kept either: every I/O goes by.
    Off,
}

const MODES: [(&str, Mode); 3] = [
    ("write-back", Mode::WriteBack),
    ("write-through", Mode::WriteThrough),
    ("off", Mode::Off),
];
const FLUSHES: [(&str, bool); 2] = [("honour", true), ("ignore", false)];
const SWITCH: [(&str, bool); 2] = [("on", true), ("off", false)];

/// Everything about a cache but the device below.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheParams {
    pub mode: Mode,
    pub size_bytes: u64,
    pub start_percent: f64,
    pub stop_percent: f64,
    pub high_percent: f64,
    pub low_percent: f64,
    /// `None` for as the device below likes it.
    pub drain_size_bytes: Option<u64>,
    pub drain_in_flight: u32,
    /// 0 for as fast as the device below takes it.
    pub drain_mb_per_second: f64,
    pub idle_wait_ns: u64,
    pub honours_flush: bool,
    pub battery: bool,
    pub read_cache: bool,
    pub unit_bytes: u32,
    pub ram_mb_per_second: f64,
    pub ram_ns: u64,
    /// Of every part that has none of its own; `None` for the largest of theirs.
    pub scale: Option<f64>,
    pub seed: u64,
}

impl Default for CacheParams {
    fn default() -> Self {
        Self {
            mode: Mode::WriteBack,
            size_bytes: 1 << 30,
            start_percent: 10.0,
            stop_percent: 5.0,
            high_percent: 100.0,
            low_percent: 95.0,
            drain_size_bytes: None,
            drain_in_flight: 32,
            drain_mb_per_second: 0.0,
            idle_wait_ns: 1_000_000_000,
            honours_flush: true,
            battery: false,
            read_cache: false,
            unit_bytes: 4096,
            ram_mb_per_second: 4000.0,
            ram_ns: 10_000,
            scale: None,
            seed: 1,
        }
    }
}

/// Everything about the page cache of a host but the device below.
#[derive(Clone, Debug, PartialEq)]
pub struct HostCacheParams {
    pub memory_bytes: u64,
    pub page_bytes: u32,
    pub dirty_background_percent: f64,
    pub dirty_percent: f64,
    pub expire_ns: u64,
    pub write_size_bytes: Option<u64>,
    pub write_in_flight: u32,
    pub read_ahead_bytes: u64,
    pub copy_mb_per_second: f64,
    pub call_ns: u64,
    pub honours_flush: bool,
    pub scale: Option<f64>,
    pub seed: u64,
}

impl Default for HostCacheParams {
    fn default() -> Self {
        Self {
            memory_bytes: 16 << 30,
            page_bytes: 4096,
            dirty_background_percent: 10.0,
            dirty_percent: 20.0,
            expire_ns: 30_000_000_000,
            write_size_bytes: None,
            write_in_flight: 32,
            read_ahead_bytes: 128 << 10,
            copy_mb_per_second: 25_000.0,
            call_ns: 1_550,
            honours_flush: true,
            scale: None,
            seed: 1,
        }
    }
}

pub(crate) fn share(text: &str) -> Result<f64, String> {
    match decimal(text)? {
        value if value <= 100.0 => Ok(value),
        _ => Err("must be at most 100".into()),
    }
}

pub(crate) fn io_size(text: &str) -> Result<Option<u64>, String> {
    if text == "auto" {
        return Ok(None);
    }
    match bytes(text)? {
        value if value.is_multiple_of(4096) && (4096..=64 << 20).contains(&value) => {
            Ok(Some(value))
        }
        _ => Err("must be auto, or a multiple of 4096 up to 64 MiB".into()),
    }
}

pub(crate) fn io_size_text(value: Option<u64>) -> String {
    value.map_or("auto".into(), bytes_text)
}

pub(crate) fn scale(text: &str) -> Result<Option<f64>, String> {
    if text == "auto" {
        return Ok(None);
    }
    positive(text).map(Some)
}

pub(crate) fn scale_text(value: Option<f64>) -> String {
    value.map_or("auto".into(), |value| value.to_string())
}

/// Every parameter of a cache, in the order they are documented.
#[rustfmt::skip]
pub const CACHE_PARAMETERS: &[Parameter<CacheParams>] = &[
    parameter!("mode", "write-back, write-through or off",
        "a write is acknowledged when the cache has it, or when the device below has it; off lets \
         everything go by", mode, |t| one_of(t, &MODES), |value| name_of(value, &MODES)),
    parameter!("size", "bytes", "RAM, of the full-size tree; the scale divides it",
        size_bytes, bytes, bytes_text),
    parameter!("start_percent", "% of size", "above this much dirty data the cache drains",
        start_percent, share, text),
    parameter!("stop_percent", "% of size",
        "and it goes on down to this, or to start_percent if that is lower",
        stop_percent, share, text),
    parameter!("high_percent", "% of size", "a write that would make more dirty data than this \
         waits, and all behind it", high_percent, share, text),
    parameter!("low_percent", "% of size", "until so little is left; from high_percent on, \
         writes trickle in at the pace of the drain", low_percent, share, text),
    parameter!("drain_size", "bytes or auto",
        "neighbours are drained as one up to this, on its multiples; auto is whole stripes of an \
         array up to 1 MiB or one stripe, else 1 MiB",
        drain_size_bytes, io_size, io_size_text),
    parameter!("drain_in_flight", "count", "writes to the device below at once",
        drain_in_flight, count, text),
    parameter!("drain_mb_per_second", "MB/s (10^6)",
        "most that is drained; 0 is what the device below takes", drain_mb_per_second, decimal,
        text),
    parameter!("idle_wait_us", "µs",
        "after so long without a host I/O it drains whatever is dirty", idle_wait_ns, nanoseconds,
        us_text),
    parameter!("flush", "honour or ignore",
        "a flush waits for what was dirty and goes on below, or is acknowledged at once",
        honours_flush, |t| one_of(t, &FLUSHES), |value| name_of(value, &FLUSHES)),
    parameter!("battery", "on or off", "dirty data outlives a power cut",
        battery, |t| one_of(t, &SWITCH), |value| name_of(value, &SWITCH)),
    parameter!("read_cache", "on or off",
        "what was read or drained is kept in the room that dirty data leaves; the one used \
         longest ago goes first", read_cache, |t| one_of(t, &SWITCH),
        |value| name_of(value, &SWITCH)),
    parameter!("unit", "bytes", "clean data is kept in units of this; a power of two",
        unit_bytes, |t| power_of_two(t, 4096, 1 << 20), |value| bytes_text(u64::from(value))),
    parameter!("ram_mb_per_second", "MB/s (10^6)",
        "data into and out of the RAM, one I/O at a time",
        ram_mb_per_second, positive, text),
    parameter!("ram_us", "µs", "latency of an I/O that the RAM answers; holds nothing up",
        ram_ns, nanoseconds, us_text),
    parameter!("scale", "ratio or auto",
        "of every part that has none of its own; auto is the largest of theirs",
        scale, scale, scale_text),
    parameter!("seed", "whole number", "of the first part; each next one has one more",
        seed, whole, text),
];

/// Every parameter of the page cache of a host, in the order they are documented.
#[rustfmt::skip]
pub const HOST_CACHE_PARAMETERS: &[Parameter<HostCacheParams>] = &[
    parameter!("memory", "bytes", "RAM for pages, of the full-size tree; the scale divides it",
        memory_bytes, bytes, bytes_text),
    parameter!("page", "bytes", "unit of clean data; a power of two; a coarser one is simulated \
         faster", page_bytes, |t| power_of_two(t, 4096, 1 << 20),
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
        "copies between pages and programs, all together",
        copy_mb_per_second, positive, text),
    parameter!("call_us", "µs", "latency of a system call; holds nothing up",
        call_ns, nanoseconds, us_text),
    parameter!("flush", "honour or ignore",
        "fsync waits for what was dirty and goes on below, or returns at once",
        honours_flush, |t| one_of(t, &FLUSHES), |value| name_of(value, &FLUSHES)),
    parameter!("scale", "ratio or auto",
        "of every part that has none of its own; auto is the largest of theirs",
        scale, scale, scale_text),
    parameter!("seed", "whole number", "of the first part; each next one has one more",
        seed, whole, text),
];
