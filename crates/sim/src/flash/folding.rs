//! Writes to the region that is written first, and how it is folded into the main area.

use super::ftl::Ftl;
use super::region::{Folded, Region, Ring};
use crate::flash::params::Geometry;

impl Ftl {
    /// A region of `fixed_units` over all dies, and of `of_free` (0 to 1) of the units without
    /// data besides.
    #[must_use]
    pub fn with_region(mut self, fixed_units: u64, of_free: f64) -> Self {
        let geometry = self.geometry();
        let page_units = self.page_mask + 1;
        let (fixed, blocks) = Region::sized(geometry, page_units, fixed_units, of_free);
        let Geometry { units, dies, .. } = geometry;
        self.region = Some(Box::new(Region {
            blocks,
            slots: blocks * self.pages,
            fixed,
            of_free_q16: (of_free * 65_536.0).round() as u64,
            units_per_die: units.div_ceil(dies),
            rings: vec![Ring::default(); dies as usize],
        }));
        let shift = self.shift;
        self.lay_out(shift);
        self
    }

    /// Slots in use over all dies; written in again or not, until they are folded.
    pub fn region_units(&self) -> u64 {
        let rings = self.region.iter().flat_map(|region| &region.rings);
        rings.map(|ring| ring.tail - ring.head).sum()
    }

    /// Whether `die` may take another page in its region.
    #[inline]
    pub(super) fn region_has_room(&self, die: u32) -> bool {
        let Some(region) = &self.region else {
            return false;
        };
        let empty = region
            .units_per_die
            .saturating_sub(self.dies[die as usize].live);
        let borrowed = (u64::from(empty) * region.of_free_q16) >> 16;
        let limit = (u64::from(region.fixed) + borrowed).min(u64::from(region.slots));
        region.held(die) + u64::from(self.page_mask) < limit
    }

    /// Whether the page that is being filled is one of the region.
    pub(super) fn region_is_filling(&self, die: u32) -> bool {
        let Some(region) = &self.region else {
            return false;
        };
        let begun = region.rings[die as usize].tail & u64::from(self.page_mask) != 0;
        begun && self.filling() == Some(die)
    }

    /// Writes `unit` to the region of `die`, which has room.
    pub(super) fn write_region(&mut self, unit: u32, die: u32) {
        self.trim(unit);
        self.dies[die as usize].live += 1;
        let tail =
            &mut self.region.as_mut().expect("a drive with a region").rings[die as usize].tail;
        let at = *tail;
        *tail += 1;
        let slot = self.slot_of(die, at);
        self.blocks[(slot >> self.shift) as usize].gain(1);
        self.put(unit, slot, die);
    }

    /// Leaves the rest of a page of the region empty, if one has been begun.
    pub(super) fn pad_region(&mut self, die: u32) -> bool {
        let mask = u64::from(self.page_mask);
        let Some(region) = &mut self.region else {
            return false;
        };
        let tail = &mut region.rings[die as usize].tail;
        let empty = tail.wrapping_neg() & mask;
        *tail += empty;
        self.programs += empty;
        empty > 0
    }

    /// The die of `slot`, which is one of the region.
    #[cold]
    pub(super) fn die_of_region_slot(&self, slot: u32) -> u32 {
        let region = self.region.as_ref().expect("a drive with a region");
        ((slot >> self.shift) - self.main_blocks()) / region.blocks
    }

    fn slot_of(&self, die: u32, at: u64) -> u32 {
        let region = self.region.as_ref().expect("a drive with a region");
        let first = (self.main_blocks() + die * region.blocks) << self.shift;
        first + (at % u64::from(region.slots)) as u32
    }

    /// Moves the oldest units of the region of `die` into the main area until they fill a page
    /// there; `None` when the region is empty or the host has begun a page of this die.
    pub(super) fn fold(&mut self, die: u32) -> Option<Folded> {
        let region = self.region.as_ref()?;
        if region.held(die) == 0 || self.filling() == Some(die) {
            return None;
        }
        let filling = self.filling();
        let (mut folded, mut last_page) = (Folded::default(), u32::MAX);
        while let Some(slot) = self.oldest(die, &mut folded) {
            let unit = self.p2l[slot as usize];
            if self.l2p[unit as usize] != slot {
                continue;
            }
            self.blocks[(slot >> self.shift) as usize].lose(1);
            if slot | self.page_mask != last_page {
                last_page = slot | self.page_mask;
                folded.read_pages += 1;
            }
            let cleaned = self.append(unit, die);
            folded.cleaned.read_pages += cleaned.read_pages;
            folded.cleaned.programmed_pages += cleaned.programmed_pages;
            folded.cleaned.erased_blocks += cleaned.erased_blocks;
            folded.cleaned.room_pages = cleaned.room_pages;
            if self.filling() != Some(die) {
                break;
            }
        }
        if folded.read_pages > 0 {
            if self.filling() == Some(die) {
                self.pad();
            }
            folded.programmed_pages = 1;
        }
        self.set_filling(filling);
        Some(folded)
    }

    /// Takes the oldest slot out of the ring of `die`.
    fn oldest(&mut self, die: u32, folded: &mut Folded) -> Option<u32> {
        let pages = u64::from(self.pages);
        let region = self.region.as_mut()?;
        let ring = &mut region.rings[die as usize];
        if ring.head == ring.tail {
            return None;
        }
        let at = ring.head;
        ring.head += 1;
        if ring.head.is_multiple_of(pages) {
            folded.erased_blocks += 1;
            self.erases += 1;
        }
        Some(self.slot_of(die, at))
    }
}
