//! How much memory a device takes at the most, summed over its tree before any of it is made.

use super::error::ComposeError;
use super::grammar::Written;
use super::kind::{kinds, Assembly, Kind, Whole};
use super::leaf::Leaf;
use super::node::Node;
use crate::cache::params::{
    CacheParams, HostCacheParams, Mode, CACHE_PARAMETERS, HOST_CACHE_PARAMETERS,
};
use crate::cache::{Extents, Lru};
use crate::disk::Disk;
use crate::fault::params::{FaultParams, FAULT_PARAMETERS};
use crate::fault::Faulty;
use crate::files::params::{OsParams, OS_PARAMETERS};
use crate::raid::params::{ArrayParams, ARRAY_PARAMETERS};
use crate::tier::params::{SsdCacheParams, TierParams, SSD_CACHE_PARAMETERS, TIER_PARAMETERS};

/// Of each device, besides what grows with it: its names, its queues.
const EACH_BYTES: u64 = 8 << 10;
/// What a disk knows of a zone.
const ZONE_BYTES: u64 = 24;
/// Thin provisioning has a bit for this.
const THIN_BYTES: u64 = 4096 * 8;
/// Dirty data is in two tables: what is flushed, and what came after it.
const DIRTY_TABLES: u64 = 2;
/// Of each slot of an SSD cache: masks, order, and what waits; and of each chunk behind it.
const SLOT_BYTES: u64 = 240;
const CACHED_CHUNK_BYTES: u64 = 12;
/// Of each chunk of a pair of tiers: place, heat and rank; and of each one on the fast tier.
const TIERED_CHUNK_BYTES: u64 = 24;
const FAST_CHUNK_BYTES: u64 = 56;

/// What a device needs, and how large it is at the most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Need {
    pub bytes: u64,
    nominal_bytes: u64,
    capacity_bytes: u64,
}

impl Need {
    fn and(self, more_bytes: u64) -> Self {
        Self {
            bytes: self.bytes.saturating_add(more_bytes),
            ..self
        }
    }

    fn with(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            nominal_bytes: self.nominal_bytes.saturating_add(other.nominal_bytes),
            capacity_bytes: self.capacity_bytes.saturating_add(other.capacity_bytes),
        }
    }

    fn times(self, count: u64) -> Self {
        Self {
            bytes: self.bytes.saturating_mul(count),
            nominal_bytes: self.nominal_bytes.saturating_mul(count),
            capacity_bytes: self.capacity_bytes.saturating_mul(count),
        }
    }

    /// `volume_bytes` of the nominal device at its size here, no more than all of it.
    fn scaled(self, volume_bytes: u64) -> u64 {
        let scale = self.nominal_bytes as f64 / self.capacity_bytes.max(1) as f64;
        ((volume_bytes as f64 / scale) as u64).min(self.capacity_bytes)
    }
}

impl Whole {
    /// What the device of `written` needs.
    pub(super) fn need(&mut self, written: &Written) -> Result<Need, ComposeError> {
        let kind = kinds().into_iter().find(|kind| kind.name == written.name);
        match kind {
            Some(kind) => self.with_own_scale(|whole| whole.need_of_kind(written, kind)),
            None => self.need_of_leaf(written),
        }
    }

    fn need_of_kind(&mut self, written: &Written, kind: Kind) -> Result<Need, ComposeError> {
        match kind.assembly {
            Assembly::Array { .. } => {
                self.params(written, ARRAY_PARAMETERS, ArrayParams::default())?;
                self.need_of_parts(written)
            }
            Assembly::Faulty => {
                let params = self.params(written, FAULT_PARAMETERS, FaultParams::default())?;
                let part = self.need_of_parts(written)?;
                let is_thin = params.enospc_after_bytes.is_some();
                let thin = part.capacity_bytes / THIN_BYTES * u64::from(is_thin);
                Ok(part.and(thin + size_of::<Faulty<Node>>() as u64))
            }
            Assembly::Cache => {
                let params = self.params(written, CACHE_PARAMETERS, CacheParams::default())?;
                let part = self.need_of_parts(written)?;
                Ok(part.and(cache_bytes(&params, part)))
            }
            Assembly::HostCache => {
                let params = HostCacheParams::default();
                let params = self.params(written, HOST_CACHE_PARAMETERS, params)?;
                let part = self.need_of_parts(written)?;
                Ok(part.and(host_cache_bytes(&params, part)))
            }
            Assembly::Os => {
                let params = self.params(written, OS_PARAMETERS, OsParams::default())?;
                let part = self.need_of_parts(written)?;
                // Its memory is not scaled, and no more of it is used than the device has.
                let memory_bytes = params.memory_bytes.min(part.capacity_bytes);
                let clean = clean_need(memory_bytes, params.page_bytes, part);
                let dirty_bytes = memory_bytes as f64 * params.dirty_percent / 100.0;
                Ok(part.and(clean + dirty_need(dirty_bytes as u64, part)))
            }
            Assembly::SsdCache => {
                let params = SsdCacheParams::default();
                let params = self.params(written, SSD_CACHE_PARAMETERS, params)?;
                let chunk_bytes = u64::from(params.chunk_bytes);
                let (fast, both) = (self.need_of_first(written)?, self.need_of_parts(written)?);
                let size = params.size_bytes.map_or(u64::MAX, |size| fast.scaled(size));
                let slots = size.min(fast.capacity_bytes) / chunk_bytes;
                let chunks = both.capacity_bytes / chunk_bytes;
                Ok(both.and(slots * SLOT_BYTES + chunks * CACHED_CHUNK_BYTES))
            }
            Assembly::Tier => {
                let params = self.params(written, TIER_PARAMETERS, TierParams::default())?;
                let chunk_bytes = u64::from(params.chunk_bytes);
                let (fast, both) = (self.need_of_first(written)?, self.need_of_parts(written)?);
                let chunks = both.capacity_bytes / chunk_bytes;
                let fast = fast.capacity_bytes / chunk_bytes;
                Ok(both.and(chunks * TIERED_CHUNK_BYTES + fast * FAST_CHUNK_BYTES))
            }
        }
    }

    fn need_of_leaf(&mut self, written: &Written) -> Result<Need, ComposeError> {
        let need = match self.leaf(written)? {
            Leaf::Ssd(_, params) => Need {
                bytes: params
                    .need_bytes()
                    .map_err(|error| self.of_ssd(written, error))?,
                nominal_bytes: params.modelled_capacity_bytes(),
                capacity_bytes: params.simulated_capacity_bytes(),
            },
            Leaf::Disk(_, params) => Need {
                bytes: (size_of::<Disk>() as u64 + ZONE_BYTES * u64::from(params.zones))
                    .saturating_add(Disk::cached_need_bytes(&params)),
                nominal_bytes: params.modelled_capacity_bytes(),
                capacity_bytes: params.simulated_capacity_bytes(),
            },
        };
        Ok(need.and(EACH_BYTES))
    }

    /// Of all parts together; like ones are looked at once.
    fn need_of_parts(&mut self, written: &Written) -> Result<Need, ComposeError> {
        let mut all = Need::default().and(EACH_BYTES);
        for (count, part) in &written.parts {
            all = all.with(self.need(part)?.times(u64::from(*count)));
        }
        Ok(all)
    }

    /// Of the first part alone.
    fn need_of_first(&mut self, written: &Written) -> Result<Need, ComposeError> {
        let first = written.parts.first();
        first.map_or(Ok(Need::default()), |(_, part)| self.need(part))
    }
}

fn cache_bytes(params: &CacheParams, part: Need) -> u64 {
    let size_bytes = part.scaled(params.size_bytes);
    let is_dirty = params.mode == Mode::WriteBack;
    let is_clean = params.mode != Mode::Off && params.read_cache;
    dirty_need(size_bytes, part) * u64::from(is_dirty)
        + clean_need(size_bytes, params.unit_bytes, part) * u64::from(is_clean)
}

/// What the tables take of up to `dirty_bytes` that are dirty.
fn dirty_need(dirty_bytes: u64, part: Need) -> u64 {
    DIRTY_TABLES.saturating_mul(Extents::need_bytes(part.capacity_bytes, dirty_bytes))
}

/// The same of `size_bytes` that are clean, in units of `unit_bytes`.
fn clean_need(size_bytes: u64, unit_bytes: u32, part: Need) -> u64 {
    let unit_bytes = u64::from(unit_bytes);
    Lru::need_bytes(
        part.capacity_bytes.div_ceil(unit_bytes),
        size_bytes / unit_bytes,
    )
}

fn host_cache_bytes(params: &HostCacheParams, part: Need) -> u64 {
    let size_bytes = part.scaled(params.memory_bytes);
    let dirty_bytes = (size_bytes as f64 * params.dirty_percent / 100.0) as u64;
    dirty_need(dirty_bytes, part) + clean_need(size_bytes, params.page_bytes, part)
}
