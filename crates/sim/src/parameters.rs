//! Parameters: each has a name, a unit and a meaning, is set from text and printed as text. What a
//! device has of them is a table beside it (`flash::table` for an SSD); here is what tables share.

use std::fmt::Display;

use crate::quantity::{bytes, decimal, whole};

/// One settable parameter of what `P` describes.
pub struct Parameter<P> {
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
    ($name:literal, $unit:literal, $meaning:literal, $($field:ident).+, $parse:expr,
     $print:expr) => {
        $crate::parameters::Parameter {
            name: $name,
            unit: $unit,
            meaning: $meaning,
            set: |params, text| {
                params.$($field).+ = $parse(text)?;
                Ok(())
            },
            get: |params| $print(params.$($field).+),
        }
    };
}
pub(crate) use parameter;

/// The row of `scale`, of parameters that also have a `capacity`: one of its own is a scale of its
/// own.
macro_rules! scale_parameter {
    ($meaning:literal) => {
        $crate::parameters::Parameter {
            name: "scale",
            unit: "ratio",
            meaning: $meaning,
            set: |params, text| {
                params.scale = $crate::parameters::positive(text)?;
                Ok(())
            },
            get: |params| match params.capacity_bytes {
                Some(_) => $crate::parameters::ratio_text(params.simulated_scale()),
                None => $crate::parameters::text(params.scale),
            },
        }
    };
}
pub(crate) use scale_parameter;

/// The row of `capacity`, beside that of `scale`.
macro_rules! capacity_parameter {
    () => {
        $crate::parameters::Parameter {
            name: "capacity",
            unit: "bytes",
            meaning: "simulated capacity, instead of nominal_capacity / scale",
            set: |params, text| {
                params.capacity_bytes = Some($crate::quantity::bytes(text)?);
                Ok(())
            },
            get: |params| $crate::quantity::bytes_text(params.simulated_capacity_bytes()),
        }
    };
}
pub(crate) use capacity_parameter;

pub(crate) fn positive(text: &str) -> Result<f64, String> {
    let value = decimal(text)?;
    if value <= 0.0 {
        Err("must be above 0".into())
    } else if (1e-6..=1e12).contains(&value) {
        Ok(value)
    } else {
        Err("must be 10^-6 to 10^12".into())
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

pub(crate) fn text(value: impl Display + Copy) -> String {
    value.to_string()
}

/// A ratio to four decimals.
pub(crate) fn ratio_text(value: f64) -> String {
    ((value * 1e4).round() / 1e4).to_string()
}

pub(crate) fn us_text(ns: u64) -> String {
    (ns as f64 / 1e3).to_string()
}
