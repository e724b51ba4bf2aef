//! Makes the device a text names: presets, arrays of them, and arrays that have a name.

use super::error::{ComposeError, Fault};
use super::grammar::{parse, Setting, Written};
use super::node::Node;
use crate::disk::params::{disk_presets, DISK_PARAMETERS};
use crate::disk::Disk;
use crate::flash::Identity;
use crate::params::{ParamError, Parameter, PARAMETERS};
use crate::presets;
use crate::raid::params::{ArrayParams, ARRAY_PARAMETERS};
use crate::raid::{Array, Level};

/// A way to put devices together.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub name: &'static str,
    pub about: &'static str,
    level: Level,
    /// Members in each group that is striped over; 0 for as `groups` says. `None`: not nested.
    group: Option<u32>,
}

const RAID5: Level = Level::Parity { parities: 1 };
const RAID6: Level = Level::Parity { parities: 2 };

/// Every way to put devices together.
#[rustfmt::skip]
pub fn kinds() -> [Kind; 7] {
    let kind = |name, about, level, group| Kind { name, about, level, group };
    [
        kind("raid0", "stripes, nothing twice", Level::Striped, None),
        kind("raid1", "mirrors, everything on each", Level::Mirrored, None),
        kind("raid5", "stripes with one parity chunk", RAID5, None),
        kind("raid6", "stripes with two parity chunks", RAID6, None),
        kind("raid10", "stripes over mirrored pairs", Level::Mirrored, Some(2)),
        kind("raid50", "stripes over raid5 groups", RAID5, Some(0)),
        kind("raid60", "stripes over raid6 groups", RAID6, Some(0)),
    ]
}

/// An array that has a name of its own.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    pub name: &'static str,
    pub about: &'static str,
    /// What it stands for.
    pub text: &'static str,
}

/// Every array that has a name.
pub fn named() -> [Named; 2] {
    [
        Named {
            name: "raid5-4x2tb",
            about: "RAID 5 of four 2 TB disks, chunk 128 KiB; the disks' write caches are off",
            text: "raid5(4×hdd-7200?write_cache=0)?chunk=128KiB",
        },
        Named {
            name: "raid50-36",
            about: "RAID 50 of 36 disks of 10 TB and 200 MB/s in six groups, chunk 256 KiB",
            text: "raid50(36×hdd-7200?nominal_capacity=10TB&outer_mb_per_second=200\
                   &inner_mb_per_second=100&link_mb_per_second=1100)?groups=6&chunk=256KiB",
        },
    ]
}

/// Makes the device that `text` names, as in `raid5(4×hdd-7200)?chunk=64KiB`.
pub fn open(text: &str) -> Result<Node, ComposeError> {
    build(text, &[])
}

/// The same with `overrides` of the outermost device's parameters.
pub fn build(text: &str, overrides: &[(&str, &str)]) -> Result<Node, ComposeError> {
    let mut written = parse(text)?;
    for (key, value) in overrides {
        let at = written.at;
        written.settings.retain(|setting| setting.key != *key);
        written.settings.push(Setting {
            key: (*key).into(),
            value: (*value).into(),
            at,
        });
    }
    let written = spelt_out(written)?;
    let mut whole = Whole {
        alone: written.parts.is_empty(),
        scale: None,
        seed: None,
    };
    whole.make(&written)
}

/// `written`, or what it stands for if it is an array with a name.
fn spelt_out(written: Written) -> Result<Written, ComposeError> {
    let found = named().into_iter().find(|named| named.name == written.name);
    let Some(named) = found.filter(|_| written.parts.is_empty()) else {
        let parts = written.parts.into_iter();
        let parts = parts.map(|(count, part)| Ok((count, spelt_out(part)?)));
        return Ok(Written {
            parts: parts.collect::<Result<_, _>>()?,
            ..written
        });
    };
    let mut spelt = parse(named.text)?;
    for setting in written.settings {
        spelt.settings.retain(|given| given.key != setting.key);
        spelt.settings.push(setting);
    }
    Ok(spelt)
}

/// What the parts of one tree share.
struct Whole {
    /// The device is no array.
    alone: bool,
    /// Of the parts that have none of their own.
    scale: Option<f64>,
    /// Of the next part.
    seed: Option<u64>,
}

impl Whole {
    fn make(&mut self, written: &Written) -> Result<Node, ComposeError> {
        let kind = kinds().into_iter().find(|kind| kind.name == written.name);
        match kind {
            Some(kind) => self.array(written, kind),
            None => self.leaf(written),
        }
    }

    /// A fault of `written`, at the setting `key` if it is that one's.
    fn fault(&self, written: &Written, key: Option<&str>, fault: Fault) -> ComposeError {
        let setting = written
            .settings
            .iter()
            .find(|s| Some(s.key.as_str()) == key);
        let place = setting.map_or_else(
            || (written.at, written.name.clone()),
            |setting| (setting.at, format!("{}={}", setting.key, setting.value)),
        );
        ComposeError {
            place: (!self.alone).then_some(place),
            fault,
        }
    }

    fn refused(&self, written: &Written, key: Option<&str>, why: String) -> ComposeError {
        self.fault(written, key, Fault::Refused { why })
    }

    fn set<P>(
        &self,
        written: &Written,
        table: &[Parameter<P>],
        params: &mut P,
        setting: &Setting,
    ) -> Result<(), ComposeError> {
        let Setting { key, value, .. } = setting;
        let refused = |why| self.refused(written, Some(key), why);
        let found = table.iter().find(|parameter| parameter.name == key);
        let parameter = found.ok_or_else(|| {
            let has: Vec<String> = table
                .iter()
                .map(|p| format!("{} ({})", p.name, p.unit))
                .collect();
            let (name, has) = (&written.name, has.join(", "));
            refused(format!("{name} has no parameter \"{key}\"; it has: {has}"))
        })?;
        parameter
            .set(params, value)
            .map_err(|why| refused(format!("{key}={value}: {why}")))
    }

    fn array(&mut self, written: &Written, kind: Kind) -> Result<Node, ComposeError> {
        let name = &written.name;
        if written.parts.is_empty() {
            let why = format!("{name} is made of parts: {name}(4×hdd-7200)");
            return Err(self.refused(written, None, why));
        }
        let mut params = ArrayParams::default();
        for setting in &written.settings {
            self.set(written, ARRAY_PARAMETERS, &mut params, setting)?;
        }
        self.scale = self
            .scale
            .or(params.scale)
            .or(Some(scale_of_parts(written)));
        self.seed = self.seed.or(Some(params.seed));
        let mut members = Vec::new();
        for (count, part) in &written.parts {
            for _ in 0..*count {
                members.push(self.make(part)?);
            }
        }
        let array = assembled(kind, params, members);
        array.map_err(|why| self.refused(written, None, format!("there is no such {name}: {why}")))
    }

    fn leaf(&mut self, written: &Written) -> Result<Node, ComposeError> {
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
            let disk = Disk::new(identity, preset.params);
            let disk = disk.map_err(|why| self.refused(written, None, why))?;
            return Ok(Node::Disk(Box::new(disk)));
        }
        let pairs: Vec<(&str, &str)> = settings
            .iter()
            .map(|setting| (setting.key.as_str(), setting.value.as_str()))
            .collect();
        let ssd = presets::build(name, &pairs).map_err(|error| {
            let key = match &error {
                ParamError::UnknownParameter { name } => Some(name.clone()),
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
        })?;
        Ok(Node::Ssd(Box::new(ssd)))
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
    let named = named().map(|named| named.name.to_owned());
    let arrays = kinds().map(|kind| format!("{}(…)", kind.name));
    ssds.chain(disks).chain(named).chain(arrays).collect()
}

/// The largest scale among the parts that have none of their own.
fn scale_of_parts(written: &Written) -> f64 {
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
    let parts = written.parts.iter().map(|(_, part)| scale_of_parts(part));
    parts.fold(1.0, f64::max)
}

/// The array of `kind`, with a stripe over groups where it is nested.
fn assembled(kind: Kind, params: ArrayParams, members: Vec<Node>) -> Result<Node, String> {
    let boxed = |array: Array| Node::Array(Box::new(array));
    let Some(group) = kind.group else {
        return Array::new(kind.name, kind.level, params, members).map(boxed);
    };
    let count = members.len() as u32;
    let wished = || params.groups.unwrap_or_else(|| groups_of(count));
    let groups = count.checked_div(group).unwrap_or_else(wished);
    if groups < 2 || !count.is_multiple_of(groups) || (group > 0 && count != groups * group) {
        return Err(format!(
            "{count} members make no {groups} equal groups, and it needs 2 at least"
        ));
    }
    if let Some(member) = params.failed.iter().find(|&&member| member >= count) {
        return Err(format!(
            "there is no member {member}: they are 0 to {}",
            count - 1
        ));
    }
    let size = count / groups;
    let inner_name = match kind.level {
        Level::Striped => "raid0",
        Level::Mirrored => "raid1",
        Level::Parity { parities: 1 } => "raid5",
        Level::Parity { .. } => "raid6",
    };
    let mut arrays = Vec::new();
    let mut members = members.into_iter();
    for group in 0..groups {
        let first = group * size;
        let own = params
            .failed
            .iter()
            .filter(|&&member| member / size == group);
        let inner = ArrayParams {
            failed: own.map(|member| member - first).collect(),
            ..params.clone()
        };
        let members = members.by_ref().take(size as usize).collect();
        arrays.push(boxed(Array::new(inner_name, kind.level, inner, members)?));
    }
    let width = match kind.level {
        Level::Parity { parities } => size - parities,
        Level::Striped | Level::Mirrored => 1,
    };
    let outer = ArrayParams {
        chunk_bytes: params.chunk_bytes * width,
        groups: Some(groups),
        failed: Vec::new(),
        ..params
    };
    Array::new(kind.name, Level::Striped, outer, arrays).map(boxed)
}

/// The divisor of `count` nearest to its root that leaves groups of three or more.
fn groups_of(count: u32) -> u32 {
    let root = f64::from(count).sqrt();
    let fits = |groups: &u32| count.is_multiple_of(*groups) && count / groups >= 3;
    let off = |groups: u32| (f64::from(groups) - root).abs();
    let nearest = (1..=count)
        .filter(fits)
        .min_by(|&one, &next| off(one).total_cmp(&off(next)));
    nearest.unwrap_or(1)
}
