//! What makes one simulated disk, its table of parameters, and the disks that have a name.

use crate::device::Label;
use crate::parameters::{
    capacity_parameter, count, parameter, percent, positive, power_of_two, scale_parameter, text,
    us_text, Parameter,
};
use crate::quantity::{
    bytes, bytes_text, decimal, modelled_bytes, nanoseconds, scaled_bytes, whole,
};

/// Everything that makes one simulated disk. Times are ns, sizes bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskParams {
    pub nominal_capacity_bytes: u64,
    pub scale: f64,
    pub capacity_bytes: Option<u64>,
    pub sector_bytes: u32,
    pub rpm: f64,
    pub seek_least_ns: u64,
    pub seek_root_ns: u64,
    pub seek_knee: f64,
    pub outer_mb_per_second: f64,
    pub inner_mb_per_second: f64,
    pub zones: u32,
    pub write_rate_percent: f64,
    pub queue: u32,
    pub age_percent: f64,
    pub write_cache_bytes: u64,
    pub destage: u32,
    pub destage_percent: f64,
    pub destage_wait_ns: u64,
    pub read_ahead_bytes: u64,
    pub read_ahead_segments: u32,
    pub link_mb_per_second: f64,
    pub command_ns: u64,
    pub write_settle_ns: u64,
    pub seed: u64,
}

impl DiskParams {
    /// The capacity the host sees: `capacity`, or the nominal one over the scale.
    pub fn simulated_capacity_bytes(&self) -> u64 {
        self.capacity_bytes
            .unwrap_or_else(|| scaled_bytes(self.nominal_capacity_bytes, self.scale, 0))
    }

    /// Capacity of the disk that is modelled; at full size exactly the simulated one, where
    /// `nominal_capacity` is no whole number of blocks.
    pub fn modelled_capacity_bytes(&self) -> u64 {
        let simulated_bytes = self.simulated_capacity_bytes();
        let is_given = self.capacity_bytes.is_some();
        modelled_bytes(
            self.nominal_capacity_bytes,
            self.scale,
            simulated_bytes,
            is_given,
        )
    }

    /// Modelled over simulated capacity.
    pub fn simulated_scale(&self) -> f64 {
        self.modelled_capacity_bytes() as f64 / self.simulated_capacity_bytes() as f64
    }
}

/// A named disk.
#[derive(Clone, Debug)]
pub struct DiskPreset {
    pub name: &'static str,
    pub about: &'static str,
    pub label: Label,
    pub params: DiskParams,
}

const US: u64 = 1_000;

fn hdd_7200() -> DiskPreset {
    DiskPreset {
        name: "hdd-7200",
        about: "2 TB disk, 7,200 rpm, SATA 3 Gb/s",
        label: Label::Calibrated {
            to: "sequential rates of the published server disk: 142 to 159 MB/s read, 84 to 102 \
                 MB/s written (seek curve and command queue are textbook values: mean seek 8.0 \
                 ms, 82 random reads a second at one in flight)",
        },
        params: DiskParams {
            nominal_capacity_bytes: 2_000_000_000_000,
            scale: 1.0,
            capacity_bytes: None,
            sector_bytes: 512,
            rpm: 7_200.0,
            seek_least_ns: 800 * US,
            seek_root_ns: 13_000 * US,
            seek_knee: 0.3,
            outer_mb_per_second: 155.0,
            inner_mb_per_second: 78.0,
            zones: 16,
            write_rate_percent: 65.0,
            queue: 32,
            age_percent: 5.0,
            write_cache_bytes: 32 << 20,
            destage: 64,
            destage_percent: 50.0,
            destage_wait_ns: 30_000 * US,
            read_ahead_bytes: 8 << 20,
            read_ahead_segments: 4,
            link_mb_per_second: 270.0,
            command_ns: 0,
            write_settle_ns: 0,
            seed: 1,
        },
    }
}

fn hdd_5400() -> DiskPreset {
    let fast = hdd_7200();
    DiskPreset {
        name: "hdd-5400",
        about: "2 TB disk, 5,400 rpm, SATA 3 Gb/s",
        label: Label::Plausible {
            why: "a quiet disk of the kind one published array mixed in: outer rate and mean seek \
                  (12 ms) as its kind has them, never held against one",
        },
        params: DiskParams {
            rpm: 5_400.0,
            seek_least_ns: 1_200 * US,
            seek_root_ns: 19_600 * US,
            outer_mb_per_second: 110.0,
            inner_mb_per_second: 55.0,
            write_rate_percent: 100.0,
            ..fast.params
        },
    }
}

fn wd20ears() -> DiskPreset {
    let quiet = hdd_5400();
    DiskPreset {
        name: "wd20ears",
        about: "WD20EARS, 2 TB disk of 4 KiB sectors, SATA 3 Gb/s",
        label: Label::Calibrated {
            to: "32,768 writes of 4 KiB at every fourth place in 19.5 s, 20.7 here (rates and \
                 seeks as its kind has them; of its 64 MiB of cache as much as such writes are \
                 likely to find)",
        },
        params: DiskParams {
            sector_bytes: 4_096,
            write_cache_bytes: 8 << 20,
            write_settle_ns: 450 * US,
            ..quiet.params
        },
    }
}

/// Every disk that has a name.
pub fn disk_presets() -> Vec<DiskPreset> {
    vec![hdd_7200(), hdd_5400(), wd20ears()]
}

fn share(text: &str) -> Result<f64, String> {
    match positive(text)? {
        value if value <= 1.0 => Ok(value),
        _ => Err("must be at most 1".into()),
    }
}

/// Turns a minute: a turn takes between a minute and 60 µs, never no time at all.
fn turns(text: &str) -> Result<f64, String> {
    match positive(text)? {
        value if (1.0..=1e6).contains(&value) => Ok(value),
        _ => Err("must be 1 to 1000000".into()),
    }
}

fn sector(text: &str) -> Result<u32, String> {
    power_of_two(text, 512, 65_536)
}

fn rate_percent(text: &str) -> Result<f64, String> {
    match positive(text)? {
        value if value <= 100.0 => Ok(value),
        _ => Err("must be at most 100".into()),
    }
}

/// Every parameter of a simulated disk, in the order they are documented.
#[rustfmt::skip]
pub const DISK_PARAMETERS: &[Parameter<DiskParams>] = &[
    parameter!("nominal_capacity", "bytes", "capacity of the disk that is modelled",
        nominal_capacity_bytes, bytes, bytes_text),
    scale_parameter!("nominal capacity over simulated capacity; the seek curve is over shares of \
         the stroke"),
    capacity_parameter!(),
    parameter!("sector", "bytes",
        "physical sector; a part of one is written by reading it and writing it a turn later",
        sector_bytes, sector, text),
    parameter!("rpm", "1/min", "turns of the platter", rpm, turns, text),
    parameter!("seek_least_us", "µs", "a seek to the next track, t in t + r √d",
        seek_least_ns, nanoseconds, us_text),
    parameter!("seek_root_us", "µs", "r in t + r √d, d a share of the stroke",
        seek_root_ns, nanoseconds, us_text),
    parameter!("seek_knee", "share of the stroke",
        "beyond this distance the seek curve is linear, with the slope it has there",
        seek_knee, share, text),
    parameter!("outer_mb_per_second", "MB/s (10^6)", "sustained media rate of the outermost zone",
        outer_mb_per_second, positive, text),
    parameter!("inner_mb_per_second", "MB/s (10^6)", "the same of the innermost zone",
        inner_mb_per_second, positive, text),
    parameter!("zones", "count", "zones of equal size; their rates fall evenly inwards",
        zones, count, text),
    parameter!("write_rate_percent", "%",
        "media rate of writes over that of reads; a fitted loss, not a mechanism",
        write_rate_percent, rate_percent, text),
    parameter!("queue", "commands",
        "commands among which the disk chooses the nearest in time (NCQ); 1 is none",
        queue, count, text),
    parameter!("age_percent", "%",
        "of the time it has waited is taken off a command's distance; 0 lets the far ones starve",
        age_percent, decimal, text),
    parameter!("write_cache", "bytes",
        "cache that acknowledges writes before they are on the platter; 0 is off",
        write_cache_bytes, bytes, bytes_text),
    parameter!("destage", "extents",
        "cached writes among which the disk chooses the nearest in time",
        destage, count, text),
    parameter!("destage_percent", "% of the write cache",
        "above this it is emptied beside reads, down to half of it; below only when none wait",
        destage_percent, percent, text),
    parameter!("destage_wait_us", "µs",
        "after a read, before cached writes are put on the platter that nobody waits for",
        destage_wait_ns, nanoseconds, us_text),
    parameter!("read_ahead", "bytes",
        "read on behind a read, over gaps too, for those that follow it; 0 is off",
        read_ahead_bytes, bytes, bytes_text),
    parameter!("read_ahead_segments", "count",
        "stretches of what was read that are kept, the one being read among them",
        read_ahead_segments, count, text),
    parameter!("link_mb_per_second", "MB/s (10^6)", "host link",
        link_mb_per_second, positive, text),
    parameter!("command_us", "µs", "between the end of a command and the choice of the next",
        command_ns, nanoseconds, us_text),
    parameter!("write_settle_us", "µs",
        "after a write on the platter, before the next command is chosen",
        write_settle_ns, nanoseconds, us_text),
    parameter!("seed", "whole number", "of the angle the platter starts at", seed, whole, text),
];
