//! A region of the flash that host writes fill first, at the speed of one bit a cell. Each die has
//! its own ring: the oldest units are folded into the main area. The region's blocks lie
//! behind those of the main area in the same map and are never cleaned.

use super::block::Cleaned;
use crate::flash::params::Geometry;

/// Where a ring begins and what it holds, in slots counted on and on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ring {
    /// The oldest slot that has not been folded, and the next to be written.
    pub(super) head: u64,
    pub(super) tail: u64,
}

/// The rings, and how much of them may be used.
#[derive(Clone, Debug)]
pub(super) struct Region {
    /// Blocks of each die.
    pub(super) blocks: u32,
    /// Slots of each die, and those of them that are there whatever is stored.
    pub(super) slots: u32,
    pub(super) fixed: u32,
    /// Share of the units without data that may be used besides, in 2^-16.
    pub(super) of_free_q16: u64,
    pub(super) units_per_die: u32,
    pub(super) rings: Vec<Ring>,
}

/// What folding took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Folded {
    pub(super) read_pages: u32,
    /// Pages of the main area that are full now.
    pub(super) programmed_pages: u32,
    /// Blocks of the region that were emptied by it.
    pub(super) erased_blocks: u32,
    pub(super) cleaned: Cleaned,
}

impl Region {
    /// Units of each die that are there whatever is stored, and the blocks of each die.
    pub(super) fn sized(
        geometry: Geometry,
        page_units: u32,
        fixed_units: u64,
        of_free: f64,
    ) -> (u32, u32) {
        let Geometry { units, dies, .. } = geometry;
        let page = u64::from(page_units);
        let fixed = (fixed_units / u64::from(dies) / page * page) as u32;
        let most = f64::from(fixed) + f64::from(units.div_ceil(dies)) * of_free;
        let blocks = (most as u32).div_ceil(geometry.pages_per_block).max(1);
        (fixed, blocks)
    }

    /// Empties the rings; returns the blocks that were in use.
    pub(super) fn clear(&mut self) -> u64 {
        let per_block = u64::from(self.slots / self.blocks);
        let used = |ring: &Ring| ring.tail.div_ceil(per_block) - ring.head / per_block;
        let used = self.rings.iter().map(used).sum();
        self.rings.fill(Ring::default());
        used
    }

    pub(super) fn visit(&self, mut mix: impl FnMut(u64)) {
        for ring in &self.rings {
            mix(ring.head);
            mix(ring.tail);
        }
    }

    pub(super) fn held(&self, die: u32) -> u64 {
        let Ring { head, tail } = self.rings[die as usize];
        tail - head
    }
}
