//! What makes one simulated SSD, how it is changed by name, and the flash that follows from it.

use std::fmt;

use crate::quantity::{modelled_bytes, scaled_bytes};

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

/// How page times vary about what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageTimes {
    /// Evenly, within the jitter.
    Even,
    /// As queueing theory has them.
    Exponential,
}

/// When the time of cleaning is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// At once: the die is busy until the victim is clean.
    Lump,
    /// Spread over the host pages that the cleaning made room for.
    Paced,
}

/// How much cleaning in idle time does before it looks whether the host has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleStep {
    /// The whole of a block.
    Block,
    /// Moves what fills one page, or erases a block.
    Page,
}

/// Which die the next page of the host goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Each in its turn, however long it is busy.
    Turn,
    /// The one that is free first; of several that are free, the next in turn.
    Free,
}

/// Whether data goes over the host link in both directions at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplex {
    Half,
    Full,
}

/// What a write does that finds the region full which is written first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Folds a page into the main area, then takes its place.
    Fold,
    /// Goes to the main area.
    Bypass,
}

/// A region that is written first, at one bit a cell; neither a size nor a share is none.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionParams {
    pub nominal_bytes: u64,
    pub of_free_percent: f64,
    pub program_ns: u64,
    pub fold_ns: u64,
    pub when_full: WhenFull,
}

impl Default for RegionParams {
    fn default() -> Self {
        Self {
            nominal_bytes: 0,
            of_free_percent: 0.0,
            program_ns: 100_000,
            fold_ns: 0,
            when_full: WhenFull::Fold,
        }
    }
}

/// Compression inside the drive.
#[derive(Clone, Debug, PartialEq)]
pub struct CompressionParams {
    pub on: bool,
    pub least_percent: f64,
}

impl Default for CompressionParams {
    fn default() -> Self {
        Self {
            on: false,
            least_percent: 12.5,
        }
    }
}

/// What warms the drive, what cools it, and what it does against it; at 100 % there is no heat.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatParams {
    pub throttle_percent: f64,
    pub throttle_at_c: f64,
    pub throttle_until_c: f64,
    pub ambient_c: f64,
    pub idle_w: f64,
    pub program_nj_per_byte: f64,
    pub read_nj_per_byte: f64,
    pub capacity_j_per_k: f64,
    pub resistance_k_per_w: f64,
}

impl Default for HeatParams {
    fn default() -> Self {
        Self {
            throttle_percent: 100.0,
            throttle_at_c: 70.0,
            throttle_until_c: 65.0,
            ambient_c: 25.0,
            idle_w: 1.0,
            program_nj_per_byte: 2.5,
            read_nj_per_byte: 1.0,
            capacity_j_per_k: 30.0,
            resistance_k_per_w: 8.0,
        }
    }
}

/// What a drive does that nobody asked for, and what goes wrong on the way; by default nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpkeepParams {
    pub stray_percent: f64,
    pub stray_ns: u64,
    pub housekeeping_every_ns: u64,
    pub housekeeping_ns: u64,
    pub retry_percent: f64,
    /// Units programmed to each page of the map; 0 is never.
    pub map_flush_units: u64,
    /// Between two pages that a die rewrites; 0 is never.
    pub refresh_ns: u64,
}

/// The part of the map at hand; no bytes of its own is all of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapParams {
    pub own_bytes: u64,
    pub host_bytes: u64,
    pub host_ns: u64,
}

/// A die that takes `times` as long as the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowDie {
    /// `None`: drawn with the seed.
    pub die: Option<u32>,
    pub times: f64,
}

/// Erase blocks kept beyond the spare pages, per die, so that cleaning always has a destination.
pub fn reserve_blocks(frontier: Frontier) -> u32 {
    match frontier {
        Frontier::Shared => 1,
        Frontier::Separate => 2,
    }
}

/// Sizes of the flash, in mapping units and blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Logical units the host sees.
    pub units: u32,
    pub dies: u32,
    pub blocks_per_die: u32,
    /// Units in an erase block; a power of two, at most 32 768.
    pub pages_per_block: u32,
}

impl Geometry {
    /// Physical room for data over logical units: one plus the over-provisioning, the reserve
    /// blocks not counted.
    pub fn alpha(&self, frontier: Frontier) -> f64 {
        let usable = (self.blocks_per_die - reserve_blocks(frontier)) * self.dies;
        f64::from(usable) * f64::from(self.pages_per_block) / f64::from(self.units)
    }
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
    pub placement: Placement,
    pub dies: u32,
    pub pages_per_block: u32,
    pub mapping_bytes: u32,
    /// `None`: the mapping unit.
    pub page_bytes: Option<u32>,
    /// What is decoded at once; `None`: the mapping unit.
    pub codeword_bytes: Option<u32>,
    pub buffer_bytes: u64,
    pub program_ns: u64,
    pub read_ns: u64,
    pub transfer_ns: u64,
    pub erase_ns: u64,
    /// Of each page that cleaning programs, besides.
    pub move_ns: u64,
    pub read_command_ns: u64,
    pub write_command_ns: u64,
    pub unit_ns: u64,
    pub read_unit_ns: u64,
    pub read_ahead_bytes: u64,
    pub ack_ns: u64,
    pub write_ack_ns: u64,
    pub link_mb_per_second: f64,
    pub link_duplex: Duplex,
    pub turnaround_ns: u64,
    pub bus_mb_per_second: f64,
    pub read_wait_ns: u64,
    pub rmw_ns: u64,
    pub rmw_queue: u32,
    pub seq_ss_factor: f64,
    pub idle_pool_percent: f64,
    pub idle_wait_ns: u64,
    pub idle_step: IdleStep,
    pub erase_suspend_ns: u64,
    pub region: RegionParams,
    pub compression: CompressionParams,
    pub heat: HeatParams,
    pub map: MapParams,
    pub upkeep: UpkeepParams,
    /// Whether the buffer outlives a power cut, and a flush need not wait for it.
    pub power_loss_protection: bool,
    pub flush_ns: u64,
    /// Whether a flush shares the drive with no other command.
    pub flush_alone: bool,
    pub slow_die: Option<SlowDie>,
    pub purge_ns: u64,
    pub page_times: PageTimes,
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
        known: String,
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
            Self::UnknownParameter { name, known } => write!(
                f,
                "a simulated SSD has no parameter \"{name}\"; it has: {known}"
            ),
            Self::BadValue { name, value, why } => write!(f, "{name}={value}: {why}"),
            Self::Impossible { why } => write!(f, "these parameters make no drive: {why}"),
        }
    }
}

impl std::error::Error for ParamError {}

impl SsdParams {
    /// The capacity the host sees: `capacity`, or the nominal one over the scale (in whole MiB
    /// when it is scaled down, in whole mapping units of 4 KiB or more when it is not).
    pub fn simulated_capacity_bytes(&self) -> u64 {
        let unit_bytes = u64::from(self.mapping_bytes);
        let scaled = || scaled_bytes(self.nominal_capacity_bytes, self.scale, unit_bytes);
        self.capacity_bytes.unwrap_or_else(scaled)
    }

    /// Capacity of the drive that is modelled; at full size exactly the simulated one, where
    /// `nominal_capacity` is no whole number of mapping units.
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

    /// Modelled over simulated capacity; volumes beside the capacity shrink by as much.
    pub fn simulated_scale(&self) -> f64 {
        self.modelled_capacity_bytes() as f64 / self.simulated_capacity_bytes() as f64
    }

    /// Mapping units in a flash page.
    pub fn page_units(&self) -> u32 {
        let page_bytes = self.page_bytes.unwrap_or(self.mapping_bytes);
        (page_bytes / self.mapping_bytes).max(1)
    }

    /// Codewords that hold the bytes from `from` to before `to` of a unit, which are some.
    pub(crate) fn codewords(&self, from: u32, to: u32) -> u32 {
        let each = self.codeword_bytes.unwrap_or(self.mapping_bytes);
        to.div_ceil(each) - from / each
    }

    /// Mapping units that are read ahead of a sequence.
    pub(crate) fn read_ahead_units(&self) -> u64 {
        self.read_ahead_bytes
            .div_ceil(u64::from(self.mapping_bytes))
    }

    /// Mapping units that the write buffer holds.
    pub(crate) fn buffer_slots(&self) -> u64 {
        let slots = self.buffer_bytes / u64::from(self.mapping_bytes);
        slots.max(u64::from(self.page_units()))
    }

    pub fn has_region(&self) -> bool {
        self.region.nominal_bytes > 0 || self.region.of_free_percent > 0.0
    }

    /// Units of the region that are there whatever is stored, at the simulated size.
    pub fn region_units(&self) -> u64 {
        let bytes = self.region.nominal_bytes as f64 / self.simulated_scale();
        (bytes / f64::from(self.mapping_bytes)).round() as u64
    }

    /// Why these mechanisms do not go together, if they do not.
    fn contradiction(&self) -> Option<String> {
        let page_bytes = self.page_bytes.unwrap_or(self.mapping_bytes);
        let block_size_bytes = u64::from(self.mapping_bytes) * u64::from(self.pages_per_block);
        let heat = &self.heat;
        if page_bytes < self.mapping_bytes || u64::from(page_bytes) > block_size_bytes {
            return Some(format!(
                "a page of {page_bytes} B lies between the mapping unit of {} B and the block of \
                 {block_size_bytes} B",
                self.mapping_bytes
            ));
        }
        if self.compression.on && (self.page_units() > 1 || self.has_region()) {
            let why = "a drive that compresses packs units closely: it has neither pages of \
                       several units nor a region that is written first";
            return Some(why.into());
        }
        if heat.throttle_percent < 100.0 && heat.throttle_until_c >= heat.throttle_at_c {
            return Some(format!(
                "a drive that slows down at {} °C is not fast again at {} °C; take a \
                 throttle_until_c below throttle_at_c",
                heat.throttle_at_c, heat.throttle_until_c
            ));
        }
        match self.slow_die {
            Some(SlowDie { die: Some(die), .. }) if die >= self.dies => Some(format!(
                "there is no die {die}: they are 0 to {}",
                self.dies - 1
            )),
            _ => None,
        }
    }

    /// Slots of the flash: one a unit, more where units are compressed.
    fn slots(&self, blocks_per_die: u64, capacity_bytes: u64) -> u64 {
        let main = blocks_per_die * u64::from(self.dies) * u64::from(self.pages_per_block);
        if self.compression.on {
            let most = f64::from(self.pages_per_block) * 100.0 / self.compression.least_percent;
            let slots = (most.ceil() as u64).next_power_of_two();
            return main / u64::from(self.pages_per_block) * slots;
        }
        let units = capacity_bytes / u64::from(self.mapping_bytes);
        let borrowed = (units as f64 * self.region.of_free_percent / 100.0) as u64;
        let region = if self.has_region() {
            let rounded = u64::from(self.dies * self.pages_per_block);
            // A region may be given in more bytes than units can be counted.
            self.region_units().saturating_add(borrowed + rounded)
        } else {
            0
        };
        main.saturating_add(region)
    }

    /// The flash behind the capacity, or why there is no such drive.
    pub fn geometry(&self) -> Result<Geometry, ParamError> {
        let impossible = |why: String| Err(ParamError::Impossible { why });
        if let Some(why) = self.contradiction() {
            return impossible(why);
        }
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
        let pages = self.slots(blocks_per_die, capacity_bytes);
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
