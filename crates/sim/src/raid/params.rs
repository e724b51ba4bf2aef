//! What makes one simulated array beside its members, and its table of parameters.

use crate::parameters::{count, name_of, one_of, parameter, positive, power_of_two, Parameter};
use crate::quantity::{bytes_text, whole};

/// How parity follows a write of part of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Whichever takes fewer member I/Os; read-modify-write if they take as many.
    Least,
    /// Old data and old parity are read.
    Modify,
    /// What is not overwritten of the stripe is read.
    Rebuild,
}

const UPDATES: [(&str, Update); 3] = [
    ("least", Update::Least),
    ("modify", Update::Modify),
    ("rebuild", Update::Rebuild),
];

/// Everything about an array but its members.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayParams {
    pub chunk_bytes: u32,
    /// Groups of a nested array; `None` for as many as suit the members.
    pub groups: Option<u32>,
    /// Members that have failed, from 0.
    pub failed: Vec<u32>,
    pub update: Update,
    /// Of every member that does not say its own; `None` for the largest of theirs.
    pub scale: Option<f64>,
    pub seed: u64,
}

impl Default for ArrayParams {
    fn default() -> Self {
        Self {
            chunk_bytes: 128 << 10,
            groups: None,
            failed: Vec::new(),
            update: Update::Least,
            scale: None,
            seed: 1,
        }
    }
}

fn members(text: &str) -> Result<Vec<u32>, String> {
    let numbers = text.split('+').map(|number| number.trim().parse().ok());
    match text {
        "none" => Ok(Vec::new()),
        _ => numbers
            .collect::<Option<Vec<u32>>>()
            .ok_or_else(|| "must be none, or members counted from 0, as in 0+3".into()),
    }
}

fn members_text(failed: &[u32]) -> String {
    if failed.is_empty() {
        return "none".into();
    }
    let numbers: Vec<String> = failed.iter().map(u32::to_string).collect();
    numbers.join("+")
}

/// Every parameter of a simulated array, in the order they are documented.
#[rustfmt::skip]
pub const ARRAY_PARAMETERS: &[Parameter<ArrayParams>] = &[
    parameter!("chunk", "bytes", "on one member before the next one's turn; a power of two",
        chunk_bytes, |t| power_of_two(t, 4096, 16 << 20), |value| bytes_text(u64::from(value))),
    Parameter {
        name: "groups",
        unit: "count or auto",
        meaning: "arrays that raid50 and raid60 stripe over; auto is near the root of the members",
        set: |params, text| {
            params.groups = if text == "auto" { None } else { Some(count(text)?) };
            Ok(())
        },
        get: |params| params.groups.map_or("auto".into(), |groups| groups.to_string()),
    },
    Parameter {
        name: "failed",
        unit: "none or members",
        meaning: "members that are gone, counted from 0, as in 0+3",
        set: |params, text| {
            params.failed = members(text)?;
            Ok(())
        },
        get: |params| members_text(&params.failed),
    },
    parameter!("update", "least, modify or rebuild",
        "how parity follows a write of part of a stripe: fewest member I/Os (modify if equal), \
         read-modify-write, or reconstruct-write",
        update, |t| one_of(t, &UPDATES), |value| name_of(value, &UPDATES)),
    Parameter {
        name: "scale",
        unit: "ratio or auto",
        meaning: "of every part that has none of its own; auto is the largest of theirs",
        set: |params, text| {
            params.scale = if text == "auto" { None } else { Some(positive(text)?) };
            Ok(())
        },
        get: |params| params.scale.map_or("auto".into(), |scale| scale.to_string()),
    },
    parameter!("seed", "whole number", "of the first part; each next one has one more",
        seed, whole, |value: u64| value.to_string()),
];
