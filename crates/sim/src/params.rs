//! Parameters of a simulated SSD: each has a name, a unit and a meaning, and can be set from text.
//! The table `PARAMETERS` is the only list; the reference page is checked against it.

use std::fmt;

use crate::flash::{reserve_blocks, Geometry};
use crate::quantity::{bytes, bytes_text, decimal, nanoseconds, whole};

/// Which closed block is cleaned next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleaning {
    /// The one with the fewest valid pages.
    Greedy,
    /// The one closed longest ago (also what strict wear levelling does).
    Fifo,
}

/// Where cleaning puts the pages it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frontier {
    /// In the block that host writes fill.
    Shared,
    /// In a block of their own.
    Separate,
}

/// When the time of cleaning is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// At once: the die is busy until the victim is clean.
    Lump,
    /// Spread over the host pages that the cleaning made room for.
    Paced,
}

/// Everything that makes one simulated SSD. Times are ns, sizes bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct SsdParams {
    pub nominal_capacity_bytes: u64,
    pub scale: f64,
    pub capacity_bytes: Option<u64>,
    pub op_percent: f64,
    pub cleaning: Cleaning,
    pub frontier: Frontier,
    pub pacing: Pacing,
    pub dies: u32,
    pub pages_per_block: u32,
    pub mapping_bytes: u32,
    pub buffer_bytes: u64,
    pub program_ns: u64,
    pub read_ns: u64,
    pub erase_ns: u64,
    pub read_command_ns: u64,
    pub write_command_ns: u64,
    pub unit_ns: u64,
    pub ack_ns: u64,
    pub link_mb_per_second: f64,
    pub read_wait_ns: u64,
    pub rmw_ns: u64,
    pub seq_ss_factor: f64,
    pub idle_pool_percent: f64,
    pub idle_wait_ns: u64,
    pub purge_ns: u64,
    pub jitter_percent: f64,
    pub seed: u64,
}

/// One settable parameter.
pub struct Parameter {
    pub name: &'static str,
    pub unit: &'static str,
    pub meaning: &'static str,
    set: fn(&mut SsdParams, &str) -> Result<(), String>,
    get: fn(&SsdParams) -> String,
}

impl Parameter {
    /// The value in `params`, as text that `SsdParams::set` accepts.
    pub fn value(&self, params: &SsdParams) -> String {
        (self.get)(params)
    }
}

/// Why parameters were refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamError {
    UnknownPreset {
        name: String,
        known: String,
    },
    UnknownParameter {
        name: String,
    },
    BadValue {
        name: &'static str,
        value: String,
        why: String,
    },
    Impossible {
        why: String,
    },
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPreset { name, known } => {
                write!(
                    f,
                    "there is no simulated device \"{name}\"; there are: {known}"
                )
            }
            Self::UnknownParameter { name } => {
                write!(f, "a simulated SSD has no parameter \"{name}\"; it has: ")?;
                for (index, parameter) in PARAMETERS.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{} ({})", parameter.name, parameter.unit)?;
                }
                Ok(())
            }
            Self::BadValue { name, value, why } => write!(f, "{name}={value}: {why}"),
            Self::Impossible { why } => write!(f, "these parameters make no drive: {why}"),
        }
    }
}

impl std::error::Error for ParamError {}

macro_rules! parameter {
    ($name:literal, $unit:literal, $meaning:literal, $field:ident, $parse:expr, $print:expr) => {
        Parameter {
            name: $name,
            unit: $unit,
            meaning: $meaning,
            set: |params, text| {
                params.$field = $parse(text)?;
                Ok(())
            },
            get: |params| $print(&params.$field),
        }
    };
}

fn positive(text: &str) -> Result<f64, String> {
    let value = decimal(text)?;
    if value > 0.0 {
        Ok(value)
    } else {
        Err("must be above 0".into())
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let value = decimal(text)?;
    if value <= 1000.0 {
        Ok(value)
    } else {
        Err("must be at most 1000".into())
    }
}

fn count(text: &str) -> Result<u32, String> {
    match u32::try_from(whole(text)?) {
        Ok(value @ 1..=65_535) => Ok(value),
        _ => Err("must be 1 to 65535".into()),
    }
}

fn power_of_two(text: &str, low: u64, high: u64) -> Result<u32, String> {
    let value = bytes(text)?;
    if value.is_power_of_two() && (low..=high).contains(&value) {
        return Ok(value as u32);
    }
    Err(format!("must be a power of two from {low} to {high}"))
}

fn one_of<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(name, _)| *name == text);
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    found
        .map(|&(_, value)| value)
        .ok_or_else(|| format!("must be {}", names.join(" or ")))
}

fn name_of<T: Copy + PartialEq>(value: T, choices: &[(&'static str, T)]) -> String {
    let found = choices.iter().find(|(_, choice)| *choice == value);
    found
        .map(|(name, _)| (*name).to_owned())
        .expect("every choice has a name")
}

const CLEANING: [(&str, Cleaning); 2] = [("greedy", Cleaning::Greedy), ("fifo", Cleaning::Fifo)];
const FRONTIER: [(&str, Frontier); 2] = [
    ("shared", Frontier::Shared),
    ("separate", Frontier::Separate),
];
const PACING: [(&str, Pacing); 2] = [("lump", Pacing::Lump), ("paced", Pacing::Paced)];

fn us_text(ns: &u64) -> String {
    (*ns as f64 / 1e3).to_string()
}

/// Every parameter of a simulated SSD, in the order they are documented.
pub const PARAMETERS: &[Parameter] =
    &[
        parameter!(
            "nominal_capacity",
            "bytes",
            "capacity of the drive that is modelled",
            nominal_capacity_bytes,
            bytes,
            bytes_text
        ),
        parameter!(
            "scale",
            "ratio",
            "nominal capacity over simulated capacity; 1 is full size",
            scale,
            positive,
            f64::to_string
        ),
        Parameter {
            name: "capacity",
            unit: "bytes",
            meaning: "simulated capacity, instead of nominal_capacity / scale",
            set: |params, text| {
                params.capacity_bytes = Some(bytes(text)?);
                Ok(())
            },
            get: |params| bytes_text(&params.simulated_capacity_bytes()),
        },
        parameter!("op_percent", "%",
        "spare flash over the capacity, reserve blocks not counted (effective over-provisioning)",
        op_percent, percent, f64::to_string),
        parameter!(
            "gc",
            "greedy or fifo",
            "which closed block is cleaned next: fewest valid pages, \
        or oldest",
            cleaning,
            |t| one_of(t, &CLEANING),
            |v: &Cleaning| name_of(*v, &CLEANING)
        ),
        parameter!(
            "frontier",
            "shared or separate",
            "whether cleaning moves pages into the host's open block or into one of its own",
            frontier,
            |t| one_of(t, &FRONTIER),
            |v: &Frontier| name_of(*v, &FRONTIER)
        ),
        parameter!(
            "pacing",
            "lump or paced",
            "whether a die cleans a whole block at once or spreads \
        the time over the host pages it made room for",
            pacing,
            |t| one_of(t, &PACING),
            |v: &Pacing| name_of(*v, &PACING)
        ),
        parameter!(
            "dies",
            "count",
            "flash dies working in parallel",
            dies,
            count,
            u32::to_string
        ),
        parameter!(
            "pages_per_block",
            "mapping units",
            "units in an erase block; a power of two",
            pages_per_block,
            |t| power_of_two(t, 8, 32_768),
            u32::to_string
        ),
        parameter!(
            "mapping",
            "bytes",
            "mapping unit and flash page slot; a power of two",
            mapping_bytes,
            |t| power_of_two(t, 512, 65_536),
            |v: &u32| bytes_text(&u64::from(*v))
        ),
        parameter!(
            "buffer",
            "bytes",
            "write buffer; a write is acknowledged when it is in",
            buffer_bytes,
            bytes,
            bytes_text
        ),
        parameter!(
            "program_us",
            "µs",
            "a die programs one unit",
            program_ns,
            nanoseconds,
            us_text
        ),
        parameter!(
            "read_us",
            "µs",
            "a die reads one unit",
            read_ns,
            nanoseconds,
            us_text
        ),
        parameter!(
            "erase_us",
            "µs",
            "a die erases one block",
            erase_ns,
            nanoseconds,
            us_text
        ),
        parameter!(
            "read_command_us",
            "µs",
            "the front end is held by each read, besides its transfer",
            read_command_ns,
            nanoseconds,
            us_text
        ),
        parameter!(
            "write_command_us",
            "µs",
            "the front end is held by each write, besides its transfer",
            write_command_ns,
            nanoseconds,
            us_text
        ),
        parameter!(
            "unit_us",
            "µs",
            "latency of each unit of a request after its first",
            unit_ns,
            nanoseconds,
            us_text
        ),
        parameter!(
            "ack_us",
            "µs",
            "latency of every request that holds nothing up",
            ack_ns,
            nanoseconds,
            us_text
        ),
        parameter!(
            "link_mb_per_second",
            "MB/s (10^6)",
            "host link, one direction at a time",
            link_mb_per_second,
            positive,
            f64::to_string
        ),
        parameter!(
            "read_wait_us",
            "µs",
            "longest a read waits for a die that programs, cleans or \
        erases before that is suspended",
            read_wait_ns,
            nanoseconds,
            us_text
        ),
        parameter!(
            "rmw_us",
            "µs",
            "the write path is held by each write that covers part of a unit \
        with data",
            rmw_ns,
            nanoseconds,
            us_text
        ),
        parameter!(
            "seq_ss_factor",
            "ratio",
            "program rate into a block that was erased without \
        moving a page, over the rate of new flash; a fitted loss, not a mechanism",
            seq_ss_factor,
            |t: &str| positive(t).and_then(|v| if v <= 1.0 {
                Ok(v)
            } else {
                Err("must be at most 1".into())
            }),
            f64::to_string
        ),
        parameter!(
            "idle_pool_percent",
            "% of capacity",
            "free blocks that a die cleans ahead while it is idle",
            idle_pool_percent,
            percent,
            f64::to_string
        ),
        parameter!(
            "idle_wait_us",
            "µs",
            "a die is idle for this long before it cleans ahead",
            idle_wait_ns,
            nanoseconds,
            us_text
        ),
        parameter!(
            "purge_us",
            "µs",
            "a purge takes this long",
            purge_ns,
            nanoseconds,
            us_text
        ),
        parameter!(
            "jitter_percent",
            "%",
            "program and read times vary by up to this much either way, uniformly",
            jitter_percent,
            |t: &str| decimal(t).and_then(|v| if v <= 100.0 {
                Ok(v)
            } else {
                Err("must be at most 100".into())
            }),
            f64::to_string
        ),
        parameter!(
            "seed",
            "whole number",
            "of the jitter",
            seed,
            whole,
            u64::to_string
        ),
    ];

impl SsdParams {
    /// Sets one parameter from text.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError> {
        let found = PARAMETERS.iter().find(|parameter| parameter.name == name);
        let parameter = found.ok_or_else(|| ParamError::UnknownParameter { name: name.into() })?;
        (parameter.set)(self, value.trim()).map_err(|why| ParamError::BadValue {
            name: parameter.name,
            value: value.into(),
            why,
        })
    }

    /// The capacity the host sees: `capacity`, or the nominal one over the scale in whole MiB.
    pub fn simulated_capacity_bytes(&self) -> u64 {
        const MIB: u64 = 1 << 20;
        match self.capacity_bytes {
            Some(capacity_bytes) => capacity_bytes,
            None if self.scale == 1.0 => self.nominal_capacity_bytes,
            None => (self.nominal_capacity_bytes as f64 / self.scale) as u64 / MIB * MIB,
        }
    }

    /// The flash behind the capacity, or why there is no such drive.
    pub fn geometry(&self) -> Result<Geometry, ParamError> {
        let impossible = |why: String| Err(ParamError::Impossible { why });
        let capacity_bytes = self.simulated_capacity_bytes();
        let unit_bytes = u64::from(self.mapping_bytes);
        if capacity_bytes == 0 || capacity_bytes % unit_bytes != 0 {
            return impossible(format!(
                "capacity {capacity_bytes} B is no multiple of the mapping unit {unit_bytes} B"
            ));
        }
        let block_units = f64::from(self.pages_per_block);
        let die_units = (capacity_bytes / unit_bytes) as f64 / f64::from(self.dies);
        let usable = (die_units * (1.0 + self.op_percent / 100.0) / block_units).round();
        let spare = usable - die_units / block_units;
        if spare < 2.0 {
            let factor = 2.0 * block_units / (die_units * self.op_percent / 100.0).max(1e-9);
            let least_mib = (capacity_bytes as f64 * factor / f64::from(1 << 20)).ceil() + 1.0;
            return impossible(format!(
                "each of {} dies needs at least 2 spare blocks of {} units and has {spare:.2}; \
                 take a capacity of about {least_mib:.0}MiB or more, a larger op_percent, fewer \
                 dies or a smaller pages_per_block",
                self.dies, self.pages_per_block,
            ));
        }
        let blocks_per_die = usable as u64 + u64::from(reserve_blocks(self.frontier));
        let pages = blocks_per_die * u64::from(self.dies) * u64::from(self.pages_per_block);
        if pages >= u64::from(u32::MAX) {
            return impossible(format!(
                "{pages} flash pages do not fit 32-bit addresses; take a larger scale"
            ));
        }
        Ok(Geometry {
            units: (capacity_bytes / unit_bytes) as u32,
            dies: self.dies,
            blocks_per_die: blocks_per_die as u32,
            pages_per_block: self.pages_per_block,
        })
    }
}
