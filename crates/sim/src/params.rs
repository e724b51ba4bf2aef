//! What makes one simulated SSD, how it is changed by name, and the flash that follows from it.

use std::fmt;

use crate::flash::{reserve_blocks, Geometry};
pub use crate::parameters::{Parameter, PARAMETERS};

/// Which closed block is cleaned next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleaning {
    /// The one with the fewest valid pages.
    Greedy,
    /// The one closed longest ago (also what strict wear levelling does).
    Fifo,
    /// The one with the fewest valid pages of `choices` closed blocks drawn at random; a block
    /// without a valid page goes first.
    Sampled { choices: u32 },
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
    pub bus_mb_per_second: f64,
    pub read_wait_ns: u64,
    pub rmw_ns: u64,
    pub rmw_queue: u32,
    pub seq_ss_factor: f64,
    pub idle_pool_percent: f64,
    pub idle_wait_ns: u64,
    pub purge_ns: u64,
    pub jitter_percent: f64,
    pub seed: u64,
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

impl SsdParams {
    /// Sets one parameter from text.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError> {
        let found = PARAMETERS.iter().find(|parameter| parameter.name == name);
        let parameter = found.ok_or_else(|| ParamError::UnknownParameter { name: name.into() })?;
        parameter
            .set(self, value.trim())
            .map_err(|why| ParamError::BadValue {
                name: parameter.name,
                value: value.into(),
                why,
            })
    }

    /// The capacity the host sees: `capacity`, or the nominal one over the scale (in whole MiB
    /// when it is scaled down).
    pub fn simulated_capacity_bytes(&self) -> u64 {
        const MIB: u64 = 1 << 20;
        match self.capacity_bytes {
            Some(capacity_bytes) => capacity_bytes,
            None if self.scale > 1.0 => {
                (self.nominal_capacity_bytes as f64 / self.scale) as u64 / MIB * MIB
            }
            None => (self.nominal_capacity_bytes as f64 / self.scale) as u64,
        }
    }

    /// The flash behind the capacity, or why there is no such drive.
    pub fn geometry(&self) -> Result<Geometry, ParamError> {
        let impossible = |why: String| Err(ParamError::Impossible { why });
        let capacity_bytes = self.simulated_capacity_bytes();
        let unit_bytes = u64::from(self.mapping_bytes);
        if capacity_bytes == 0 || !capacity_bytes.is_multiple_of(unit_bytes) {
            return impossible(format!(
                "capacity {capacity_bytes} B is no multiple of the mapping unit {unit_bytes} B"
            ));
        }
        let block_units = f64::from(self.pages_per_block);
        let die_units = (capacity_bytes / unit_bytes) as f64 / f64::from(self.dies);
        let usable = (die_units * (1.0 + self.op_percent / 100.0) / block_units).round();
        let spare = usable - die_units / block_units;
        if spare < 2.0 {
            // Half a block more than needed, for the rounding to whole blocks.
            let factor = 2.5 * block_units / (die_units * self.op_percent / 100.0).max(1e-9);
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
