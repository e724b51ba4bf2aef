//! The settings of a cache, in bytes of the simulated tree and ns.

use super::params::{CacheParams, HostCacheParams, Mode, CACHE_PARAMETERS, HOST_CACHE_PARAMETERS};
use crate::parameters::Parameter;

/// Neighbours are drained as one up to about this, unless a size is given.
const USUAL_DRAIN_BYTES: u64 = 1 << 20;
/// And never more than this, whatever the stripe.
const MOST_DRAIN_BYTES: u64 = 64 << 20;
const NEVER_NS: u64 = u64::MAX;

/// Which of the two it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Settings {
    Cache(CacheParams),
    Host(HostCacheParams),
}

/// What becomes of a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flushes {
    /// It is acknowledged at once.
    Ignored,
    /// It waits for what was dirty.
    Drained,
    /// It goes on below then.
    Passed,
}

impl Flushes {
    fn honoured(honours: bool) -> Self {
        if honours {
            Self::Passed
        } else {
            Self::Ignored
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Policy {
    pub mode: Mode,
    pub size_bytes: u64,
    /// Dirty data above which draining begins, and down to which it goes on.
    pub start_bytes: u64,
    pub stop_bytes: u64,
    /// Dirty data above which writes wait, and down to which they do.
    pub high_bytes: u64,
    pub low_bytes: u64,
    /// What is drained as one lies between two multiples of this.
    pub window_bytes: u64,
    pub in_flight: u32,
    /// Least time from one drained byte to the next, in 2^-24 ns.
    pub drain_ns_q24: u64,
    pub idle_ns: u64,
    pub expire_ns: u64,
    pub flushes: Flushes,
    pub battery: bool,
    pub keeps_clean: bool,
    pub unit_bytes: u64,
    pub read_ahead_bytes: u64,
    /// Time of one byte in the RAM, in 2^-24 ns.
    pub ram_ns_q24: u64,
    pub ram_ns: u64,
}

impl Policy {
    /// About how much is dirty at the most.
    pub fn most_dirty_bytes(&self) -> u64 {
        match self.mode {
            Mode::WriteBack => self.high_bytes,
            _ => 0,
        }
    }

    /// Units of a device, and how many of them are kept clean at the most.
    pub fn clean_units(&self, capacity_bytes: u64) -> (u64, u64) {
        if !self.keeps_clean {
            return (0, 0);
        }
        let units = capacity_bytes.div_ceil(self.unit_bytes);
        (units, self.size_bytes / self.unit_bytes)
    }
}

/// ns in 2^-24 of a byte at `mb_per_second`; 0 for no limit.
fn byte_ns_q24(mb_per_second: f64) -> u64 {
    if mb_per_second == 0.0 {
        return 0;
    }
    ((1u64 << 24) as f64 * 1e3 / mb_per_second).round() as u64
}

/// `length_bytes` at a rate from `byte_ns_q24`, ns.
#[inline]
pub(crate) fn time_ns(length_bytes: u64, ns_q24: u64) -> u64 {
    ((u128::from(length_bytes) * u128::from(ns_q24)) >> 24) as u64
}

/// Whole stripes up to the usual size, or one that is larger.
fn window_of(stripe_bytes: u64) -> u64 {
    if stripe_bytes > MOST_DRAIN_BYTES {
        return USUAL_DRAIN_BYTES;
    }
    stripe_bytes * (USUAL_DRAIN_BYTES / stripe_bytes).max(1)
}

impl Settings {
    /// What to do in a tree of `scale` whose part likes writes of whole `stripe_bytes`; `Err` says
    /// why there is no such cache.
    pub fn policy(&self, scale: f64, stripe_bytes: u64) -> Result<Policy, String> {
        let policy = match self {
            Self::Cache(params) => of_cache(params, scale, stripe_bytes),
            Self::Host(params) => of_host(params, scale, stripe_bytes),
        };
        if policy.size_bytes < policy.unit_bytes {
            return Err(format!(
                "{} B of RAM are less than a unit of {} B (at scale {scale})",
                policy.size_bytes, policy.unit_bytes
            ));
        }
        Ok(policy)
    }

    /// Every parameter as (name, value, unit).
    pub fn rows(&self) -> Vec<(&'static str, String, &'static str)> {
        fn rows<P>(
            table: &[Parameter<P>],
            params: &P,
        ) -> Vec<(&'static str, String, &'static str)> {
            let row = |one: &Parameter<P>| (one.name, one.value(params), one.unit);
            table.iter().map(row).collect()
        }
        match self {
            Self::Cache(params) => rows(CACHE_PARAMETERS, params),
            Self::Host(params) => rows(HOST_CACHE_PARAMETERS, params),
        }
    }

    pub fn seed(&self) -> u64 {
        match self {
            Self::Cache(params) => params.seed,
            Self::Host(params) => params.seed,
        }
    }
}

fn of_cache(params: &CacheParams, scale: f64, stripe_bytes: u64) -> Policy {
    let size = params.size_bytes as f64 / scale;
    let share = |percent: f64| (size * percent / 100.0) as u64;
    Policy {
        mode: params.mode,
        size_bytes: size as u64,
        start_bytes: share(params.start_percent),
        stop_bytes: share(params.stop_percent.min(params.start_percent)),
        high_bytes: share(params.high_percent),
        low_bytes: share(params.low_percent.min(params.high_percent)),
        window_bytes: params.drain_size_bytes.unwrap_or(window_of(stripe_bytes)),
        in_flight: params.drain_in_flight,
        drain_ns_q24: byte_ns_q24(params.drain_mb_per_second),
        idle_ns: params.idle_wait_ns,
        expire_ns: NEVER_NS,
        flushes: Flushes::honoured(params.honours_flush),
        battery: params.battery,
        keeps_clean: params.read_cache && params.mode != Mode::Off,
        unit_bytes: u64::from(params.unit_bytes),
        read_ahead_bytes: 0,
        ram_ns_q24: byte_ns_q24(params.ram_mb_per_second),
        ram_ns: params.ram_ns,
    }
}

fn of_host(params: &HostCacheParams, scale: f64, stripe_bytes: u64) -> Policy {
    let size = params.memory_bytes as f64 / scale;
    let share = |percent: f64| (size * percent / 100.0) as u64;
    let limit_bytes = share(params.dirty_percent);
    let background_bytes = share(params.dirty_background_percent).min(limit_bytes);
    Policy {
        mode: Mode::WriteBack,
        size_bytes: size as u64,
        start_bytes: background_bytes,
        stop_bytes: background_bytes,
        high_bytes: limit_bytes,
        low_bytes: limit_bytes,
        window_bytes: params.write_size_bytes.unwrap_or(window_of(stripe_bytes)),
        in_flight: params.write_in_flight,
        drain_ns_q24: 0,
        idle_ns: NEVER_NS,
        expire_ns: params.expire_ns,
        flushes: Flushes::honoured(params.honours_flush),
        battery: false,
        keeps_clean: true,
        unit_bytes: u64::from(params.page_bytes),
        read_ahead_bytes: params.read_ahead_bytes,
        ram_ns_q24: byte_ns_q24(params.copy_mb_per_second),
        ram_ns: params.call_ns,
    }
}
