//! The simulated drives that have a name, and from whose numbers theirs come.

mod cells;
mod consumer;
mod enterprise;
mod mlc;
mod pcie;
mod preset;
mod slc;

use crate::device::Identity;
use crate::flash::params::{ParamError, SsdParams};
use crate::flash::Ssd;

pub use preset::{base, Preset};

/// Presets that have most in common.
#[derive(Clone, Debug)]
pub struct Family {
    pub name: &'static str,
    pub presets: Vec<Preset>,
}

/// Every preset, by family.
pub fn families() -> [Family; 6] {
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
                consumer::vertex3(),
            ],
        },
        Family {
            name: "On PCI Express",
            presets: vec![
                pcie::iodrive(),
                pcie::iodrive_duo(),
                pcie::p3700(),
                pcie::nvme_2tb(),
            ],
        },
        Family {
            name: "Three and four bits a cell",
            presets: vec![
                cells::pm863a(),
                cells::su800(),
                cells::tlc_hmb(),
                cells::qlc(),
            ],
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
