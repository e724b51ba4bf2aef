//! How much memory a drive takes, known before any of it is allocated.

use super::block::Block;
use super::die_clock::DieClock;
use super::ftl::Die;
use super::map_cache::MapCache;
use super::packing::Packing;
use super::queue::Queue;
use super::read_ahead::ReadAhead;
use super::region::Region;
use super::ssd::Ssd;
use super::upkeep::Upkeep;
use super::valid::ValidSlots;
use super::victims::Victims;
use crate::flash::params::{ParamError, SsdParams};

impl SsdParams {
    /// Memory of a drive that these parameters make, in bytes: its maps and indexes, its buffer,
    /// and what it keeps of its upkeep.
    pub fn need_bytes(&self) -> Result<u64, ParamError> {
        let geometry = self.geometry()?;
        let [units, dies, per_die, pages] = [
            geometry.units,
            geometry.dies,
            geometry.blocks_per_die,
            geometry.pages_per_block,
        ]
        .map(u64::from);
        let region = if self.has_region() {
            let of_free = self.region.of_free_percent / 100.0;
            Region::sized(geometry, self.page_units(), self.region_units(), of_free).1
        } else {
            0
        };
        let blocks = dies * (per_die + u64::from(region));
        let (mut slots, mut valid) = (pages, 8 * ValidSlots::words(blocks * pages));
        let mut packing = 0;
        if self.compression.on {
            let least = Packing::least(self.compression.least_percent / 100.0);
            slots = u64::from(Packing::slots(geometry.pages_per_block, least));
            packing = 2 * units + 4 * dies * per_die + 16 * dies;
            valid = 0;
        }
        let maps = 4 * units + blocks * (4 * slots + size_of::<Block>() as u64) + valid + packing;
        let of_die = (size_of::<Die>() + size_of::<DieClock>()) as u64
            + 4 * per_die
            + Victims::need_bytes(per_die, self.cleaning);
        // Without power-loss protection it is known of each slot what a cut would take from it.
        let slot_bytes = if self.power_loss_protection { 8 } else { 16 };
        let own = (size_of::<Ssd>() + size_of::<Queue>()) as u64 + slot_bytes * self.buffer_slots();
        let besides = MapCache::need_bytes(self)
            + Upkeep::need_bytes(geometry.dies)
            + ReadAhead::need_bytes(self);
        Ok(own.saturating_add(maps + besides + dies * of_die))
    }
}
