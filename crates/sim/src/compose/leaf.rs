//! A device that has no parts: what it is made of, and the names there are.

use super::error::{ComposeError, Fault};
use super::grammar::{Setting, Written};
use super::kind::{kinds, Whole};
use super::named::named;
use super::node::Node;
use crate::device::Identity;
use crate::disk::params::{disk_presets, DiskParams, DISK_PARAMETERS};
use crate::disk::Disk;
use crate::flash::params::{ParamError, SsdParams};
use crate::flash::{Ssd, PARAMETERS};
use crate::parameters::ratio_text;
use crate::presets;
use crate::raid::params::ARRAY_PARAMETERS;

/// Two scales are the same up to the rounding of capacities.
const SCALES_AGREE: f64 = 0.01;

/// What makes a device without parts.
#[allow(
    clippy::large_enum_variant,
    reason = "one at a time, and gone when it is made"
)]
pub(super) enum Leaf {
    Ssd(Identity, SsdParams),
    Disk(Identity, DiskParams),
}

impl Whole {
    /// Makes the device of `written`, which has no parts.
    pub(super) fn made(&mut self, written: &Written) -> Result<Node, ComposeError> {
        match self.leaf(written)? {
            Leaf::Ssd(identity, params) => {
                let ssd = Ssd::new(identity, params);
                let ssd = ssd.map_err(|error| self.of_ssd(written, error))?;
                Ok(Node::Ssd(Box::new(ssd)))
            }
            Leaf::Disk(identity, params) => {
                let disk = Disk::new(identity, params);
                let disk = disk.map_err(|why| self.refused(written, None, why))?;
                Ok(Node::Disk(Box::new(disk)))
            }
        }
    }

    /// What makes the device of `written`.
    pub(super) fn leaf(&mut self, written: &Written) -> Result<Leaf, ComposeError> {
        let name = written.name.as_str();
        if !written.parts.is_empty() {
            let arrays: Vec<&str> = kinds().iter().map(|kind| kind.name).collect();
            let why = format!("{name} takes no brackets; these do: {}", arrays.join(", "));
            return Err(self.refused(written, None, why));
        }
        let settings = self.settings_of(written)?;
        let disk = disk_presets()
            .into_iter()
            .find(|preset| preset.name == name);
        if let Some(mut preset) = disk {
            for setting in &settings {
                self.set(written, DISK_PARAMETERS, &mut preset.params, setting)?;
            }
            let identity = Identity {
                name: preset.name,
                label: preset.label,
            };
            self.agrees(written, preset.params.simulated_scale())?;
            return Ok(Leaf::Disk(identity, preset.params));
        }
        let pairs: Vec<(&str, &str)> = settings
            .iter()
            .map(|setting| (setting.key.as_str(), setting.value.as_str()))
            .collect();
        let chosen = presets::chosen(name, &pairs);
        let (identity, params) = chosen.map_err(|error| self.of_ssd(written, error))?;
        self.agrees(written, params.simulated_scale())?;
        Ok(Leaf::Ssd(identity, params))
    }

    /// Refuses a part whose capacity makes it a device of `scale` where another scale is written
    /// for the whole: times and sizes of the whole would be divided by one, and told as by the
    /// other.
    fn agrees(&self, written: &Written, scale: f64) -> Result<(), ComposeError> {
        let whole = self.scale.filter(|_| self.scale_is_written);
        let Some(whole) = whole else { return Ok(()) };
        let has_capacity = written.settings.iter().any(|s| s.key == "capacity");
        // An empty capacity is refused with its own words.
        if !has_capacity || !scale.is_finite() || (scale / whole - 1.0).abs() <= SCALES_AGREE {
            return Ok(());
        }
        let why = format!(
            "this capacity makes it a device of scale {}, and around it scale={whole} is \
             written: leave one away, or give nominal_capacity for a drive of another size",
            ratio_text(scale)
        );
        Err(self.refused(written, Some("capacity"), why))
    }

    /// The fault of an SSD, in its place.
    pub(super) fn of_ssd(&self, written: &Written, error: ParamError) -> ComposeError {
        let key = match &error {
            ParamError::UnknownParameter { name, .. } => Some(name.clone()),
            ParamError::BadValue { name, .. } => Some((*name).to_owned()),
            ParamError::UnknownPreset { .. } | ParamError::Impossible { .. } => None,
        };
        let fault = match error {
            ParamError::UnknownPreset { name, .. } => Fault::Unknown {
                name,
                known: known_names().join(", "),
            },
            other => Fault::Ssd(other),
        };
        self.fault(written, key.as_deref(), fault)
    }

    /// The settings of a part, with the scale and the seed that the tree gives it.
    fn settings_of(&mut self, written: &Written) -> Result<Vec<Setting>, ComposeError> {
        let mut settings = written.settings.clone();
        let given = |key: &str| written.settings.iter().any(|setting| setting.key == key);
        if given("capacity") && given("scale") {
            let why = "capacity and scale say the same thing; give one of them".into();
            return Err(self.refused(written, Some("scale"), why));
        }
        if self.alone {
            return Ok(settings);
        }
        let of_array = |setting: &&Setting| {
            let is = |name: &str| setting.key == name;
            ARRAY_PARAMETERS.iter().any(|parameter| is(parameter.name))
                && !DISK_PARAMETERS.iter().any(|parameter| is(parameter.name))
                && !PARAMETERS.iter().any(|parameter| is(parameter.name))
        };
        if let Some(setting) = settings.iter().find(of_array) {
            let Setting { key, value, .. } = setting;
            let why = format!(
                "{key} is the array's: write ?{key}={value} behind the bracket that ends it"
            );
            return Err(self.refused(written, Some(key), why));
        }
        let mut give = |key: &str, value: String| {
            settings.push(Setting {
                key: key.into(),
                value,
                at: written.at,
            });
        };
        if let Some(scale) = self.scale.filter(|_| !given("capacity") && !given("scale")) {
            give("scale", scale.to_string());
        }
        if let Some(seed) = self.seed {
            if !given("seed") {
                give("seed", seed.to_string());
            }
            self.seed = Some(seed.wrapping_add(1));
        }
        Ok(settings)
    }
}

/// The names of all devices, arrays as they are written.
fn known_names() -> Vec<String> {
    let ssds = presets::presets();
    let ssds = ssds.iter().map(|preset| preset.name.to_owned());
    let disks = disk_presets();
    let disks = disks.iter().map(|preset| preset.name.to_owned());
    let named = named().into_iter().map(|named| named.name.to_owned());
    let arrays = kinds().into_iter();
    let arrays = arrays.map(|kind| format!("{}(…)", kind.name));
    ssds.chain(disks).chain(named).chain(arrays).collect()
}

/// The largest scale among the parts that have none of their own.
pub(super) fn scale_of_parts(written: &Written) -> f64 {
    let of_leaf = |leaf: &Written| {
        let own = |setting: &Setting| setting.key == "capacity" || setting.key == "scale";
        if leaf.settings.iter().any(own) {
            return 1.0;
        }
        let ssds = presets::presets();
        let ssd = ssds.iter().find(|preset| preset.name == leaf.name);
        let disks = disk_presets();
        let disk = disks.iter().find(|preset| preset.name == leaf.name);
        let ssd = ssd.map(|preset| preset.params.scale);
        ssd.or(disk.map(|preset| preset.params.scale))
            .unwrap_or(1.0)
    };
    if written.parts.is_empty() {
        return of_leaf(written);
    }
    if written.own_scale().is_some() {
        return 1.0;
    }
    let parts = written.parts.iter().map(|(_, part)| scale_of_parts(part));
    parts.fold(1.0, f64::max)
}
