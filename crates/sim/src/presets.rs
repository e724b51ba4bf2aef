//! The simulated drives that have a name, and from whose numbers theirs come.

use crate::device::Label;
use crate::flash::{Identity, Ssd};
use crate::params::{Cleaning, Frontier, Pacing, ParamError, SsdParams};

/// A named drive.
#[derive(Clone, Debug)]
pub struct Preset {
    pub name: &'static str,
    pub about: &'static str,
    pub label: Label,
    pub params: SsdParams,
}

const GB: u64 = 1_000_000_000;
const US: u64 = 1_000;

/// What the presets have in common.
fn base() -> SsdParams {
    SsdParams {
        nominal_capacity_bytes: 256 * GB,
        scale: 30.0,
        capacity_bytes: None,
        op_percent: 7.37,
        cleaning: Cleaning::Greedy,
        frontier: Frontier::Shared,
        pacing: Pacing::Lump,
        dies: 16,
        pages_per_block: 256,
        mapping_bytes: 4096,
        buffer_bytes: 4 << 20,
        program_ns: 490 * US,
        read_ns: 50 * US,
        erase_ns: 3_000 * US,
        read_command_ns: 20 * US,
        write_command_ns: 2 * US,
        unit_ns: 0,
        ack_ns: 10 * US,
        link_mb_per_second: 550.0,
        bus_mb_per_second: 1_000.0,
        read_wait_ns: 500 * US,
        rmw_ns: 50 * US,
        seq_ss_factor: 1.0,
        idle_pool_percent: 0.0,
        idle_wait_ns: 10_000 * US,
        purge_ns: 1_000_000 * US,
        jitter_percent: 3.0,
        seed: 1,
    }
}

fn mlc_a() -> Preset {
    Preset {
        name: "mlc-a",
        about: "256 GB MLC client drive, SATA 6 Gb/s; recovers its sequential rate",
        label: Label::Calibrated {
            to: "the published IOPS matrix of one drive, 8 sizes by 7 mixes, random in 16 GiB: \
                 median difference 6 to 11 %, mean 12 to 15 % over thirteen seeds (sequential \
                 and fresh writes are not calibrated)",
        },
        params: SsdParams {
            cleaning: Cleaning::Sampled { choices: 7 },
            frontier: Frontier::Separate,
            pacing: Pacing::Paced,
            program_ns: 1_150 * US,
            // In the fitted page time. On its own it would make the first capacity after a purge,
            // which needs no erases, 1 % faster than later ones: a mean XSR never sees again.
            erase_ns: 0,
            read_command_ns: 19 * US,
            bus_mb_per_second: 282.0,
            read_wait_ns: 5_000 * US,
            rmw_ns: 890 * US,
            idle_pool_percent: 0.4,
            idle_wait_ns: 10_000 * US,
            ..base()
        },
    }
}

fn mlc_b() -> Preset {
    Preset {
        name: "mlc-b",
        about: "256 GB MLC client drive, SATA 6 Gb/s; never recovers its sequential rate",
        label: Label::Plausible {
            why: "program time chosen so that 4 KiB random writes in 16 GiB of a full drive come \
                  near the 1,660 IOPS of one published window, which may be another drive's; its \
                  curves were never published as numbers",
        },
        params: SsdParams {
            op_percent: 5.0,
            cleaning: Cleaning::Sampled { choices: 2 },
            program_ns: 400 * US,
            read_ns: 60 * US,
            read_command_ns: 19 * US,
            bus_mb_per_second: 282.0,
            read_wait_ns: 5_000 * US,
            rmw_ns: 890 * US,
            ..base()
        },
    }
}

fn slc_a() -> Preset {
    Preset {
        name: "slc-a",
        about: "100 GB SLC enterprise drive, SATA",
        label: Label::Calibrated {
            to: "WSAT of one published drive, 4 KiB random writes: 56,000 IOPS fresh and about \
                 19,000 in steady state (the length of the plateau is not calibrated)",
        },
        params: SsdParams {
            nominal_capacity_bytes: 100 * GB,
            op_percent: 24.5,
            program_ns: 285 * US,
            read_ns: 30 * US,
            erase_ns: 1_000 * US,
            read_command_ns: 30 * US,
            write_command_ns: 1_330,
            ack_ns: 20 * US,
            link_mb_per_second: 534.0,
            read_wait_ns: 285 * US,
            rmw_ns: 30 * US,
            seq_ss_factor: 0.637,
            ..base()
        },
    }
}

fn s3700() -> Preset {
    Preset {
        name: "s3700",
        about: "200 GB HET-MLC enterprise drive, SATA 6 Gb/s",
        label: Label::Calibrated {
            to: "data sheet of the 200 GB drive, 4 KiB random: 75,000 IOPS of reads, 32,000 of \
                 writes in steady state (over-provisioning and page times are fitted)",
        },
        params: SsdParams {
            nominal_capacity_bytes: 200 * GB,
            op_percent: 26.2,
            pacing: Pacing::Paced,
            dies: 32,
            pages_per_block: 512,
            program_ns: 359 * US,
            read_ns: 25 * US,
            read_command_ns: 5_890,
            write_command_ns: 3 * US,
            unit_ns: 15 * US,
            ack_ns: 23 * US,
            read_wait_ns: 100 * US,
            rmw_ns: 25 * US,
            ..base()
        },
    }
}

/// Every preset.
pub fn presets() -> Vec<Preset> {
    vec![mlc_a(), mlc_b(), slc_a(), s3700()]
}

/// Makes the drive `text` names: a preset, then overrides as in `mlc-a?capacity=16GiB&seed=7`.
pub fn open(text: &str) -> Result<Ssd, ParamError> {
    let (name, overrides) = text.split_once('?').unwrap_or((text, ""));
    let pairs = overrides.split('&').filter(|pair| !pair.is_empty());
    let pairs: Vec<(&str, &str)> = pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .collect();
    build(name, &pairs)
}

/// Makes the preset `name` with `overrides` of its parameters.
pub fn build(name: &str, overrides: &[(&str, &str)]) -> Result<Ssd, ParamError> {
    let all = presets();
    let known = all
        .iter()
        .map(|preset| preset.name)
        .collect::<Vec<_>>()
        .join(", ");
    let found = all.into_iter().find(|preset| preset.name == name);
    let mut preset = found.ok_or_else(|| ParamError::UnknownPreset {
        name: name.into(),
        known,
    })?;
    for (key, value) in overrides {
        preset.params.set(key, value)?;
    }
    let given = |key: &str| overrides.iter().any(|(name, _)| *name == key);
    if given("capacity") && given("scale") {
        let why = "capacity and scale say the same thing; give one of them".into();
        return Err(ParamError::Impossible { why });
    }
    Ssd::new(
        Identity {
            name: preset.name,
            label: preset.label,
        },
        preset.params,
    )
}
