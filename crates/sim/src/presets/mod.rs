//! The simulated drives that have a name, and from whose numbers theirs come.

mod consumer;
mod enterprise;
mod mlc;
mod pcie;
mod slc;

use crate::device::Label;
use crate::flash::{Identity, Ssd};
use crate::params::{
    Cleaning, CompressionParams, Frontier, HeatParams, Pacing, PageTimes, ParamError, RegionParams,
    SsdParams,
};

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

/// What the presets have in common; where one differs, its file says so.
pub fn base() -> SsdParams {
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
        page_bytes: None,
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
        rmw_queue: 0,
        seq_ss_factor: 1.0,
        idle_pool_percent: 0.0,
        idle_wait_ns: 10_000 * US,
        region: RegionParams::default(),
        compression: CompressionParams::default(),
        heat: HeatParams::default(),
        slow_die: None,
        purge_ns: 1_000_000 * US,
        page_times: PageTimes::Even,
        jitter_percent: 3.0,
        seed: 1,
    }
}

/// Presets that have most in common.
#[derive(Clone, Debug)]
pub struct Family {
    pub name: &'static str,
    pub presets: Vec<Preset>,
}

/// Every preset, by family.
pub fn families() -> [Family; 5] {
    [
        Family {
            name: "Client drives that compress nothing",
            presets: vec![mlc::mlc_a(), mlc::mlc_b()],
        },
        Family {
            name: "Single-level cells",
            presets: vec![slc::slc_a(), slc::slc_b()],
        },
        Family {
            name: "Enterprise drives with multi-level cells",
            presets: vec![
                enterprise::s3700(),
                enterprise::s3700_100(),
                enterprise::s3700_400(),
                enterprise::s3700_800(),
                enterprise::s3500(),
            ],
        },
        Family {
            name: "Client drives that compress",
            presets: vec![
                consumer::intel_330(),
                consumer::intel_530(),
                consumer::sp900(),
            ],
        },
        Family {
            name: "On PCI Express",
            presets: vec![pcie::iodrive(), pcie::nvme_2tb()],
        },
    ]
}

/// Every preset.
pub fn presets() -> Vec<Preset> {
    let presets = families().into_iter().map(|family| family.presets);
    presets.flatten().collect()
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
    let (identity, params) = chosen(name, overrides)?;
    Ssd::new(identity, params)
}

/// What makes the preset `name` with `overrides` of its parameters.
pub(crate) fn chosen(
    name: &str,
    overrides: &[(&str, &str)],
) -> Result<(Identity, SsdParams), ParamError> {
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
    let identity = Identity {
        name: preset.name,
        label: preset.label,
    };
    Ok((identity, preset.params))
}
