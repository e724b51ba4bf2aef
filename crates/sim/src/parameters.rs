//! Parameters: each has a name, a unit and a meaning, is set from text and printed as text. Here
//! is the table of a simulated SSD, the only list of them; its reference page is checked against
//! it.

use std::fmt::Display;

use crate::params::{Cleaning, Frontier, Pacing, SsdParams};
use crate::quantity::{bytes, bytes_text, decimal, nanoseconds, whole};

/// One settable parameter of what `P` describes.
pub struct Parameter<P = SsdParams> {
    pub name: &'static str,
    pub unit: &'static str,
    pub meaning: &'static str,
    pub(crate) set: fn(&mut P, &str) -> Result<(), String>,
    pub(crate) get: fn(&P) -> String,
}

impl<P> Parameter<P> {
    pub(crate) fn set(&self, params: &mut P, text: &str) -> Result<(), String> {
        (self.set)(params, text)
    }

    /// The value in `params`, as text that `set` accepts.
    pub fn value(&self, params: &P) -> String {
        (self.get)(params)
    }
}

macro_rules! parameter {
    ($name:literal, $unit:literal, $meaning:literal, $field:ident, $parse:expr, $print:expr) => {
        $crate::parameters::Parameter {
            name: $name,
            unit: $unit,
            meaning: $meaning,
            set: |params, text| {
                params.$field = $parse(text)?;
                Ok(())
            },
            get: |params| $print(params.$field),
        }
    };
}
pub(crate) use parameter;

pub(crate) fn positive(text: &str) -> Result<f64, String> {
    let value = decimal(text)?;
    if value > 0.0 {
        Ok(value)
    } else {
        Err("must be above 0".into())
    }
}

pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let value = decimal(text)?;
    if value <= 1000.0 {
        Ok(value)
    } else {
        Err("must be at most 1000".into())
    }
}

pub(crate) fn count(text: &str) -> Result<u32, String> {
    match u32::try_from(whole(text)?) {
        Ok(value @ 1..=65_535) => Ok(value),
        _ => Err("must be 1 to 65535".into()),
    }
}

fn queue(text: &str) -> Result<u32, String> {
    match u32::try_from(whole(text)?) {
        Ok(value @ 0..=65_535) => Ok(value),
        _ => Err("must be at most 65535".into()),
    }
}

pub(crate) fn power_of_two(text: &str, low: u64, high: u64) -> Result<u32, String> {
    let value = bytes(text)?;
    if value.is_power_of_two() && (low..=high).contains(&value) {
        return Ok(value as u32);
    }
    Err(format!("must be a power of two from {low} to {high}"))
}

pub(crate) fn one_of<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(name, _)| *name == text);
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    found
        .map(|&(_, value)| value)
        .ok_or_else(|| format!("must be {}", names.join(" or ")))
}

pub(crate) fn name_of<T: Copy + PartialEq>(value: T, choices: &[(&'static str, T)]) -> String {
    let found = choices.iter().find(|(_, choice)| *choice == value);
    found
        .map(|(name, _)| (*name).to_owned())
        .expect("every choice has a name")
}

const FRONTIER: [(&str, Frontier); 2] = [
    ("shared", Frontier::Shared),
    ("separate", Frontier::Separate),
];
const PACING: [(&str, Pacing); 2] = [("lump", Pacing::Lump), ("paced", Pacing::Paced)];

fn cleaning(text: &str) -> Result<Cleaning, String> {
    match text.split_once(':') {
        None if text == "greedy" => Ok(Cleaning::Greedy),
        None if text == "fifo" => Ok(Cleaning::Fifo),
        None if text == "random" => Ok(Cleaning::Sampled { choices: 1 }),
        Some(("random", choices)) => Ok(Cleaning::Sampled {
            choices: count(choices)?,
        }),
        _ => Err("must be greedy, fifo, random or random:CHOICES".into()),
    }
}

fn cleaning_text(cleaning: Cleaning) -> String {
    match cleaning {
        Cleaning::Greedy => "greedy".into(),
        Cleaning::Fifo => "fifo".into(),
        Cleaning::Sampled { choices: 1 } => "random".into(),
        Cleaning::Sampled { choices } => format!("random:{choices}"),
    }
}

pub(crate) fn text(value: impl Display + Copy) -> String {
    value.to_string()
}

pub(crate) fn us_text(ns: u64) -> String {
    (ns as f64 / 1e3).to_string()
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
            text
        ),
        Parameter {
            name: "capacity",
            unit: "bytes",
            meaning: "simulated capacity, instead of nominal_capacity / scale",
            set: |params, text| {
                params.capacity_bytes = Some(bytes(text)?);
                Ok(())
            },
            get: |params| bytes_text(params.simulated_capacity_bytes()),
        },
        parameter!("op_percent", "%",
        "spare flash over the capacity, reserve blocks not counted (effective over-provisioning)",
        op_percent, percent, text),
        parameter!(
            "gc",
            "greedy, fifo, random or random:CHOICES",
            "which closed block is cleaned next: fewest valid pages, oldest, or fewest valid \
             pages of CHOICES drawn at random",
            cleaning,
            cleaning,
            cleaning_text
        ),
        parameter!(
            "frontier",
            "shared or separate",
            "whether cleaning moves pages into the host's open block or into one of its own",
            frontier,
            |t| one_of(t, &FRONTIER),
            |value| name_of(value, &FRONTIER)
        ),
        parameter!(
            "pacing",
            "lump or paced",
            "whether a die cleans a whole block at once or spreads \
        the time over the host pages it made room for",
            pacing,
            |t| one_of(t, &PACING),
            |value| name_of(value, &PACING)
        ),
        parameter!(
            "dies",
            "count",
            "flash dies working in parallel",
            dies,
            count,
            text
        ),
        parameter!(
            "pages_per_block",
            "mapping units",
            "units in an erase block; a power of two",
            pages_per_block,
            |t| power_of_two(t, 8, 32_768),
            text
        ),
        parameter!(
            "mapping",
            "bytes",
            "mapping unit and flash page slot; a power of two",
            mapping_bytes,
            |t| power_of_two(t, 512, 65_536),
            |value| bytes_text(u64::from(value))
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
            text
        ),
        parameter!(
            "bus_mb_per_second",
            "MB/s (10^6)",
            "all flash channels together, which carry whole units when reading",
            bus_mb_per_second,
            positive,
            text
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
            "each write that covers part of a unit with data is merged with the rest for this \
             long, one after another",
            rmw_ns,
            nanoseconds,
            us_text
        ),
        parameter!(
            "rmw_queue",
            "writes",
            "acknowledged before they are merged, at most; 0: the write path waits for each merge",
            rmw_queue,
            queue,
            text
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
            text
        ),
        parameter!(
            "idle_pool_percent",
            "% of capacity",
            "free blocks that a die cleans ahead while it is idle",
            idle_pool_percent,
            percent,
            text
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
            text
        ),
        parameter!(
            "seed",
            "whole number",
            "of the jitter and of random cleaning",
            seed,
            whole,
            text
        ),
    ];
