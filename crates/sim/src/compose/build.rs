//! Makes the device a text names: presets, arrays of them, and arrays that have a name.

use super::error::{ComposeError, Fault};
use super::grammar::{parse, Setting, Written};
use super::named::named;
use super::node::Node;
use crate::cache::params::{CacheParams, HostCacheParams, CACHE_PARAMETERS, HOST_CACHE_PARAMETERS};
use crate::cache::{Cache, Settings};
use crate::disk::params::{disk_presets, DISK_PARAMETERS};
use crate::disk::Disk;
use crate::fault::params::{FaultParams, FAULT_PARAMETERS};
use crate::fault::Faulty;
use crate::flash::Identity;
use crate::params::{ParamError, Parameter, PARAMETERS};
use crate::presets;
use crate::raid::params::{ArrayParams, ARRAY_PARAMETERS};
use crate::raid::{self, Level};
use crate::tier::params::{SsdCacheParams, TierParams, SSD_CACHE_PARAMETERS, TIER_PARAMETERS};
use crate::tier::{SsdCache, Tier};

/// A way to put devices together.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub name: &'static str,
    pub about: &'static str,
    assembly: Assembly,
}

/// What is made of the parts.
#[derive(Clone, Copy, Debug)]
enum Assembly {
    /// `group`: members in each group that is striped over; 0 for as `groups` says. `None`: not
    /// nested.
    Array {
        level: Level,
        group: Option<u32>,
    },
    /// One part, and what goes wrong with it.
    Faulty,
    /// RAM before one part.
    Cache,
    HostCache,
    /// A fast device that caches a slow one.
    SsdCache,
    /// A fast device beside a slow one.
    Tier,
}

/// What every device made of parts may say about them.
trait Shared {
    /// Of every part that has none of its own; `None` for the largest of theirs.
    fn scale(&self) -> Option<f64>;
    /// Of the first part; each next one has one more.
    fn seed(&self) -> u64;
}

impl Shared for ArrayParams {
    fn scale(&self) -> Option<f64> {
        self.scale
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}

impl Shared for CacheParams {
    fn scale(&self) -> Option<f64> {
        self.scale
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}

impl Shared for HostCacheParams {
    fn scale(&self) -> Option<f64> {
        self.scale
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}

impl Shared for FaultParams {
    fn scale(&self) -> Option<f64> {
        self.scale
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}

impl Shared for SsdCacheParams {
    fn scale(&self) -> Option<f64> {
        self.scale
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}

impl Shared for TierParams {
    fn scale(&self) -> Option<f64> {
        self.scale
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}

const RAID5: Level = Level::Parity { parities: 1 };
const RAID6: Level = Level::Parity { parities: 2 };

/// Every way to put devices together.
#[rustfmt::skip]
pub fn kinds() -> Vec<Kind> {
    let kind = |name, about, level, group| Kind {
        name, about, assembly: Assembly::Array { level, group },
    };
    let other = |name, about, assembly| Kind { name, about, assembly };
    vec![
        kind("raid0", "stripes, nothing twice", Level::Striped, None),
        kind("raid1", "mirrors, everything on each", Level::Mirrored, None),
        kind("raid5", "stripes with one parity chunk", RAID5, None),
        kind("raid6", "stripes with two parity chunks", RAID6, None),
        kind("raid10", "stripes over mirrored pairs", Level::Mirrored, Some(2)),
        kind("raid50", "stripes over raid5 groups", RAID5, Some(0)),
        kind("raid60", "stripes over raid6 groups", RAID6, Some(0)),
        other("faulty", "one device that fails as it is told to", Assembly::Faulty),
        other("cache", "RAM of a controller or a driver before one device", Assembly::Cache),
        other("host-cache", "page cache of a host before one device", Assembly::HostCache),
        other("ssd-cache", "a fast device that caches a slow one", Assembly::SsdCache),
        other("tier", "a fast device beside a slow one; each chunk is on one of them",
            Assembly::Tier),
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
        inside: false,
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
    let mut spelt = spelt_out(parse(named.text)?)?;
    spelt.label = named.label;
    spelt.named = Some(Box::new(written.clone()));
    for setting in written.settings {
        let settings = if named.inner.contains(&setting.key.as_str()) {
            &mut spelt.parts[0].1.settings
        } else {
            &mut spelt.settings
        };
        settings.retain(|given| given.key != setting.key);
        settings.push(setting);
    }
    Ok(spelt)
}

/// What the parts of one tree share.
struct Whole {
    /// The device is no array.
    alone: bool,
    /// What is made now is part of another device.
    inside: bool,
    /// Of the parts that have none of their own.
    scale: Option<f64>,
    /// Of the next part.
    seed: Option<u64>,
}

impl Whole {
    fn make(&mut self, written: &Written) -> Result<Node, ComposeError> {
        let kind = kinds().into_iter().find(|kind| kind.name == written.name);
        match kind {
            Some(kind) => self.assemble(written, kind),
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

    fn assemble(&mut self, written: &Written, kind: Kind) -> Result<Node, ComposeError> {
        let is_part = std::mem::replace(&mut self.inside, true);
        let made = match kind.assembly {
            Assembly::Array { level, group } => {
                let params = ArrayParams::default();
                let (params, members) = self.parts(written, ARRAY_PARAMETERS, params)?;
                raid::assembled(kind.name, level, group, params, members)
            }
            Assembly::Faulty => {
                let (params, parts) =
                    self.parts(written, FAULT_PARAMETERS, FaultParams::default())?;
                if let Some(key) = params.of_data().filter(|_| is_part) {
                    let why = format!(
                        "{key} is about data, which only the outermost device has: put faulty(…) \
                         around the whole"
                    );
                    return Err(self.refused(written, Some(key), why));
                }
                Self::faulty(&params, parts)
            }
            Assembly::Cache => {
                let params = CacheParams::default();
                let (params, parts) = self.parts(written, CACHE_PARAMETERS, params)?;
                cached(kind.name, Settings::Cache(params), parts)
            }
            Assembly::HostCache => {
                let params = HostCacheParams::default();
                let (params, parts) = self.parts(written, HOST_CACHE_PARAMETERS, params)?;
                cached(kind.name, Settings::Host(params), parts)
            }
            Assembly::SsdCache => {
                let params = SsdCacheParams::default();
                let params = self.params(written, SSD_CACHE_PARAMETERS, params)?;
                let (texts, parts) = self.members(written)?;
                SsdCache::new(params, parts)
                    .map(|cache| Node::SsdCache(Box::new(cache.written_as(texts))))
            }
            Assembly::Tier => {
                let params = TierParams::default();
                let params = self.params(written, TIER_PARAMETERS, params)?;
                let (texts, parts) = self.members(written)?;
                Tier::new(params, parts).map(|tier| Node::Tier(Box::new(tier.written_as(texts))))
            }
        };
        let mut made = made.map_err(|why| {
            let name = kind.name;
            self.refused(written, None, format!("there is no such {name}: {why}"))
        })?;
        if let Some(label) = written.label {
            made.relabel(label);
        }
        Ok(made)
    }

    fn faulty(params: &FaultParams, parts: Vec<Node>) -> Result<Node, String> {
        let [part] = <[Node; 1]>::try_from(parts)
            .map_err(|parts| format!("it has one part, and here are {}", parts.len()))?;
        Ok(Node::Faulty(Box::new(Faulty::new(params, part))))
    }

    /// The parameters of a device made of parts, from `params` on, and its parts.
    fn parts<P: Shared>(
        &mut self,
        written: &Written,
        table: &[Parameter<P>],
        params: P,
    ) -> Result<(P, Vec<Node>), ComposeError> {
        let params = self.params(written, table, params)?;
        Ok((params, self.members(written)?.1))
    }

    /// The parameters of a device made of parts, from `params` on; what its parts share is kept.
    fn params<P: Shared>(
        &mut self,
        written: &Written,
        table: &[Parameter<P>],
        mut params: P,
    ) -> Result<P, ComposeError> {
        let name = &written.name;
        if written.parts.is_empty() {
            let parts = match name.as_str() {
                "ssd-cache" | "tier" => "s3700, raid5(4×hdd-7200)",
                "cache" | "host-cache" | "faulty" => "hdd-7200",
                _ => "4×hdd-7200",
            };
            let why = format!("{name} is made of parts: {name}({parts})");
            return Err(self.refused(written, None, why));
        }
        for setting in &written.settings {
            self.set(written, table, &mut params, setting)?;
        }
        self.scale = self
            .scale
            .or(params.scale())
            .or(Some(scale_of_parts(written)));
        self.seed = self.seed.or(Some(params.seed()));
        Ok(params)
    }

    /// The parts of a device, and what each is written as by itself.
    fn members(&mut self, written: &Written) -> Result<(Vec<String>, Vec<Node>), ComposeError> {
        let each = written.parts.iter();
        let each = each.flat_map(|(count, part)| std::iter::repeat_n(part, *count as usize));
        each.map(|part| Ok((part.alone(self.scale, self.seed), self.make(part)?)))
            .collect()
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

/// RAM before the one of `parts`.
fn cached(name: &'static str, settings: Settings, parts: Vec<Node>) -> Result<Node, String> {
    let count = parts.len();
    let [part] = <[Node; 1]>::try_from(parts)
        .map_err(|_| format!("it stands before one device and has {count}"))?;
    Cache::new(name, settings, part).map(|cache| Node::Cache(Box::new(cache)))
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
