//! What makes an SSD cache and a pair of tiers, and their tables of parameters.

use crate::parameters::{count, name_of, one_of, parameter, positive, power_of_two, Parameter};
use crate::quantity::{bytes, bytes_text, decimal, whole};

/// When the host hears of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// When it is on the slow device.
    WriteThrough,
    /// When it is on the fast device.
    WriteBack,
}

/// At which access a chunk that is not there is taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promote {
    Never,
    First,
    /// At the second one while the first is remembered: as many are as the cache has slots.
    Second,
}

/// Where a chunk goes when it is first written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// To the fast tier while it has room.
    Fast,
    /// To the slow tier while it has room.
    Slow,
}

const MODES: [(&str, Mode); 2] = [
    ("write-through", Mode::WriteThrough),
    ("write-back", Mode::WriteBack),
];
const PROMOTE: [(&str, Promote); 3] = [
    ("never", Promote::Never),
    ("first", Promote::First),
    ("second", Promote::Second),
];
const PLACEMENT: [(&str, Placement); 2] = [("fast", Placement::Fast), ("slow", Placement::Slow)];

/// Everything about an SSD cache but its two devices.
#[derive(Clone, Debug, PartialEq)]
pub struct SsdCacheParams {
    pub mode: Mode,
    pub chunk_bytes: u32,
    /// Nominal; `None` for all of the fast device.
    pub size_bytes: Option<u64>,
    pub promote_reads: Promote,
    pub promote_writes: Promote,
    pub bypass_bytes: u64,
    /// Nominal; `None` for half of the cache.
    pub dirty_limit_bytes: Option<u64>,
    /// Nominal.
    pub drain_from_bytes: u64,
    pub drain_bytes: u64,
    pub drain_in_flight: u32,
    /// 0 for as fast as the devices.
    pub drain_mb_per_second: f64,
    pub scale: Option<f64>,
    pub seed: u64,
}

impl Default for SsdCacheParams {
    fn default() -> Self {
        Self {
            mode: Mode::WriteThrough,
            chunk_bytes: 64 << 10,
            size_bytes: None,
            promote_reads: Promote::First,
            promote_writes: Promote::First,
            bypass_bytes: 0,
            dirty_limit_bytes: None,
            drain_from_bytes: 0,
            drain_bytes: 1 << 20,
            drain_in_flight: 4,
            drain_mb_per_second: 0.0,
            scale: None,
            seed: 1,
        }
    }
}

/// Everything about a pair of tiers but its two devices.
#[derive(Clone, Debug, PartialEq)]
pub struct TierParams {
    pub chunk_bytes: u32,
    pub placement: Placement,
    /// Accesses since the last migration at which a chunk moves up at once; 0 for never.
    pub promote_at: u32,
    /// Nominal; 0 for never.
    pub migrate_every_s: f64,
    pub migrate_in_flight: u32,
    pub scale: Option<f64>,
    pub seed: u64,
}

impl Default for TierParams {
    fn default() -> Self {
        Self {
            chunk_bytes: 1 << 20,
            placement: Placement::Fast,
            promote_at: 0,
            migrate_every_s: 86_400.0,
            migrate_in_flight: 4,
            scale: None,
            seed: 1,
        }
    }
}

fn maybe<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    match text {
        "auto" => Ok(None),
        _ => parse(text).map(Some),
    }
}

fn above_zero(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        0 => Err("must be above 0".into()),
        value => Ok(value),
    }
}

fn at_most(text: &str, most: u64) -> Result<u64, String> {
    match bytes(text)? {
        value if (1..=most).contains(&value) => Ok(value),
        _ => Err(format!("must be 1 to {most}")),
    }
}

fn accesses(text: &str) -> Result<u32, String> {
    match u32::try_from(whole(text)?) {
        Ok(value @ 0..=65_535) => Ok(value),
        _ => Err("must be 0 to 65535".into()),
    }
}

fn auto_text<T>(value: Option<T>, print: impl Fn(T) -> String) -> String {
    value.map_or("auto".into(), print)
}

/// Every parameter of an SSD cache, in the order they are documented.
#[rustfmt::skip]
pub const SSD_CACHE_PARAMETERS: &[Parameter<SsdCacheParams>] = &[
    parameter!("mode", "write-through or write-back",
        "a write has ended when it is on the slow device (and in the cache, if it goes there), or \
         when it is in the cache",
        mode, |t| one_of(t, &MODES), |value| name_of(value, &MODES)),
    parameter!("chunk", "bytes", "what has a place in the cache; a power of two",
        chunk_bytes, |t| power_of_two(t, 4096, 64 << 10), |value| bytes_text(u64::from(value))),
    parameter!("size", "bytes or auto",
        "nominal, of the fast device that is used; auto is all of it",
        size_bytes, |t| maybe(t, above_zero), |value| auto_text(value, bytes_text)),
    parameter!("promote_reads", "never, first or second",
        "at which read a chunk is taken in; whole",
        promote_reads, |t| one_of(t, &PROMOTE), |value| name_of(value, &PROMOTE)),
    parameter!("promote_writes", "never, first or second",
        "at which write; what is written of it is taken in, the rest when it is read",
        promote_writes, |t| one_of(t, &PROMOTE), |value| name_of(value, &PROMOTE)),
    parameter!("bypass", "bytes",
        "a sequential run longer than this takes nothing in; not scaled; 0 is off",
        bypass_bytes, bytes, bytes_text),
    parameter!("dirty_limit", "bytes or auto",
        "nominal, of chunks with something dirty in them: beyond it writes that make one more \
         dirty wait for the drain; auto is half the cache",
        dirty_limit_bytes, |t| maybe(t, above_zero), |value| auto_text(value, bytes_text)),
    parameter!("drain_from", "bytes", "nominal; dirty chunks up to this are left in the cache",
        drain_from_bytes, bytes, bytes_text),
    parameter!("drain_size", "bytes", "neighbours drained together at most",
        drain_bytes, |t| at_most(t, 64 << 20), bytes_text),
    parameter!("drain_in_flight", "count", "such runs drained at a time",
        drain_in_flight, count, |value: u32| value.to_string()),
    parameter!("drain_mb_per_second", "MB/s (10^6)",
        "at most; a rate of the cache's own; 0 is as fast as the devices are",
        drain_mb_per_second, decimal, |value: f64| value.to_string()),
    parameter!("scale", "ratio or auto",
        "of every part that has none of its own; auto is the largest of theirs",
        scale, |t| maybe(t, positive), |value: Option<f64>| auto_text(value, |v| v.to_string())),
    parameter!("seed", "whole number", "of the first part; each next one has one more",
        seed, whole, |value: u64| value.to_string()),
];

/// Every parameter of a pair of tiers, in the order they are documented.
#[rustfmt::skip]
pub const TIER_PARAMETERS: &[Parameter<TierParams>] = &[
    parameter!("chunk", "bytes", "what moves between the tiers; a power of two",
        chunk_bytes, |t| power_of_two(t, 64 << 10, 64 << 20), |value| bytes_text(u64::from(value))),
    parameter!("placement", "fast or slow",
        "the tier a chunk goes to when it is first written, while there is room",
        placement, |t| one_of(t, &PLACEMENT), |value| name_of(value, &PLACEMENT)),
    parameter!("promote_at", "accesses",
        "since the last migration, at which a chunk moves up at once; 0 is never",
        promote_at, accesses, |value: u32| value.to_string()),
    parameter!("migrate_every_s", "s",
        "nominal: between two migrations, after which the hottest chunks are in the fast tier; \
         0 is never",
        migrate_every_s, decimal, |value: f64| value.to_string()),
    parameter!("migrate_in_flight", "count", "chunks moved, or exchanged, at a time",
        migrate_in_flight, count, |value: u32| value.to_string()),
    parameter!("scale", "ratio or auto",
        "of every part that has none of its own; auto is the largest of theirs",
        scale, |t| maybe(t, positive), |value: Option<f64>| auto_text(value, |v| v.to_string())),
    parameter!("seed", "whole number", "of the first part; each next one has one more",
        seed, whole, |value: u64| value.to_string()),
];
