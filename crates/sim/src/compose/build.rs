//! Makes the device a text names: presets, arrays of them, and arrays that have a name.

use super::error::{ComposeError, Fault};
use super::grammar::{parse, Setting, Written};
use super::kind::{kinds, Assembly, Kind, Whole};
use super::leaf::scale_of_parts;
use super::named::named;
use super::nested::assembled;
use super::node::Node;
use crate::cache::params::{CacheParams, HostCacheParams, CACHE_PARAMETERS, HOST_CACHE_PARAMETERS};
use crate::cache::{Cache, Settings};
use crate::fault::params::{FaultParams, FAULT_PARAMETERS};
use crate::fault::Faulty;
use crate::files::params::{OsParams, OS_PARAMETERS};
use crate::files::Os;
use crate::parameters::Parameter;
use crate::raid::params::{ArrayParams, ARRAY_PARAMETERS};
use crate::tier::params::{SsdCacheParams, TierParams, SSD_CACHE_PARAMETERS, TIER_PARAMETERS};
use crate::tier::{SsdCache, Tier};

/// What every device made of parts may say about them.
pub(super) trait Shared {
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

impl Shared for OsParams {
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

/// Makes the device that `text` names, as in `raid5(4×hdd-7200)?chunk=64KiB`.
pub fn open(text: &str) -> Result<Node, ComposeError> {
    build(text, &[])
}

/// The same with `overrides` of the outermost device's parameters.
pub fn build(text: &str, overrides: &[(&str, &str)]) -> Result<Node, ComposeError> {
    build_within(text, overrides, u64::MAX)
}

/// The same, where `room_bytes` of memory are free: what needs more is refused, and nothing of it
/// is made.
pub fn build_within(
    text: &str,
    overrides: &[(&str, &str)],
    room_bytes: u64,
) -> Result<Node, ComposeError> {
    let written = with_overrides(text, overrides)?;
    let need_bytes = Whole::of(&written).need(&written)?.bytes;
    if need_bytes > room_bytes {
        return Err(ComposeError {
            place: None,
            fault: Fault::NoRoom {
                need_bytes,
                room_bytes,
            },
        });
    }
    Whole::of(&written).make(&written)
}

/// The most memory that the device takes which `build` makes, in bytes, as far as it grows with
/// capacities and sizes.
pub fn need_bytes(text: &str, overrides: &[(&str, &str)]) -> Result<u64, ComposeError> {
    let written = with_overrides(text, overrides)?;
    Ok(Whole::of(&written).need(&written)?.bytes)
}

fn with_overrides(text: &str, overrides: &[(&str, &str)]) -> Result<Written, ComposeError> {
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
    spelt_out(written)
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

impl Whole {
    /// Of the tree of `written`, of which nothing is made yet.
    fn of(written: &Written) -> Self {
        Self {
            alone: written.parts.is_empty(),
            inside: false,
            scale: None,
            scale_is_written: false,
            seed: None,
        }
    }

    fn make(&mut self, written: &Written) -> Result<Node, ComposeError> {
        let kind = kinds().into_iter().find(|kind| kind.name == written.name);
        match kind {
            Some(kind) => self.with_own_scale(|whole| whole.assemble(written, kind)),
            None => self.made(written),
        }
    }

    /// Makes or weighs a part: the scale that is written behind it is not that of what follows it.
    pub(super) fn with_own_scale<T>(&mut self, of_part: impl FnOnce(&mut Self) -> T) -> T {
        let around = (self.scale, self.scale_is_written);
        let made = of_part(self);
        (self.scale, self.scale_is_written) = around;
        made
    }

    /// A fault of `written`, at the setting `key` if it is that one's.
    pub(super) fn fault(&self, written: &Written, key: Option<&str>, fault: Fault) -> ComposeError {
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

    pub(super) fn refused(
        &self,
        written: &Written,
        key: Option<&str>,
        why: String,
    ) -> ComposeError {
        self.fault(written, key, Fault::Refused { why })
    }

    pub(super) fn set<P>(
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
                assembled(kind.name, level, group, params, members)
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
            Assembly::Os => {
                if is_part {
                    let why = "an operating system stands before a whole device: os(…) goes \
                               around all of it";
                    return Err(self.refused(written, None, why.into()));
                }
                let (params, parts) = self.parts(written, OS_PARAMETERS, OsParams::default())?;
                with_files(params, parts)
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
    pub(super) fn params<P: Shared>(
        &mut self,
        written: &Written,
        table: &[Parameter<P>],
        mut params: P,
    ) -> Result<P, ComposeError> {
        let name = &written.name;
        if written.parts.is_empty() {
            let parts = match name.as_str() {
                "ssd-cache" | "tier" => "s3700, raid5(4×hdd-7200)",
                "cache" | "host-cache" | "faulty" | "os" => "hdd-7200",
                _ => "4×hdd-7200",
            };
            let why = format!("{name} is made of parts: {name}({parts})");
            return Err(self.refused(written, None, why));
        }
        for setting in &written.settings {
            self.set(written, table, &mut params, setting)?;
        }
        if params.scale().is_some() {
            (self.scale, self.scale_is_written) = (params.scale(), true);
        }
        self.scale = self.scale.or_else(|| Some(scale_of_parts(written)));
        self.seed = self.seed.or(Some(params.seed()));
        Ok(params)
    }

    /// The parts of a device, and what each is written as by itself.
    fn members(&mut self, written: &Written) -> Result<(Vec<String>, Vec<Node>), ComposeError> {
        let each = written.parts.iter();
        let each = each.flat_map(|(count, part)| std::iter::repeat_n(part, *count as usize));
        each.map(|part| {
            let scale = part.own_scale().or(self.scale);
            Ok((part.alone(scale, self.seed), self.make(part)?))
        })
        .collect()
    }
}

/// RAM before the one of `parts`.
fn cached(name: &'static str, settings: Settings, parts: Vec<Node>) -> Result<Node, String> {
    let count = parts.len();
    let [part] = <[Node; 1]>::try_from(parts)
        .map_err(|_| format!("it stands before one device and has {count}"))?;
    let stripe_bytes = part.stripe_bytes();
    Cache::new(name, settings, part, stripe_bytes).map(|cache| Node::Cache(Box::new(cache)))
}

/// An operating system on the one of `parts`.
fn with_files(params: OsParams, parts: Vec<Node>) -> Result<Node, String> {
    let count = parts.len();
    let [part] = <[Node; 1]>::try_from(parts)
        .map_err(|_| format!("it stands before one device and has {count}"))?;
    let stripe_bytes = part.stripe_bytes();
    Os::new(params, part, stripe_bytes).map(|os| Node::Os(Box::new(os)))
}
