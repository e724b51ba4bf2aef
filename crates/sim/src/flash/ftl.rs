//! The flash translation layer without time: which slot of the flash holds which logical unit, and
//! what cleaning costs in pages and erases. Time is added in `ssd`; the region that is written
//! first is in `region`, compressed units in `packing`, the moves of cleaning in `collect`.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::block::{Block, ByDie, Cleaned, Open, Underway, UNMAPPED};
use super::packing::Packing;
use super::pending::Pending;
use super::region::Region;
use super::valid::ValidSlots;
use super::victims::Victims;
use crate::flash::params::{reserve_blocks, Cleaning, Frontier, Geometry};
use crate::memory::zeroed;

/// Units of a map that is looked up ahead: 512 KiB of it, more than a core keeps beside its other
/// work.
const FAR_UNITS: u32 = 1 << 17;
/// Blocks whose table is: 256 KiB, and as much of their order.
const FAR_BLOCKS: u32 = 1 << 15;

#[derive(Clone, Debug)]
pub(super) struct Die {
    pub(super) host: Open,
    pub(super) relocation: Open,
    pub(super) free: Vec<u32>,
    pub(super) victims: Victims,
    /// What cleaning in idle time has begun with and not ended.
    pub(super) underway: Option<Underway>,
    pub(super) live: u32,
}

/// Unit-mapped translation over several dies, each with its own blocks, frontiers and cleaning.
#[derive(Clone, Debug)]
pub struct Ftl {
    pub(super) l2p: Vec<u32>,
    pub(super) p2l: Vec<u32>,
    /// Of units that are not packed; of those of the region it is not asked.
    pub(super) valid: ValidSlots,
    pub(super) blocks: Vec<Block>,
    pub(super) dies: Vec<Die>,
    blocks_per_die: u32,
    /// Slots of all blocks but the region's.
    main_slots: u64,
    by_die: ByDie,
    /// Units that fill a block when none is compressed.
    pub(super) pages: u32,
    /// Slots in a block, as a power of two.
    pub(super) shift: u32,
    /// Units in a flash page, less one.
    pub(super) page_mask: u32,
    pub(super) frontier: Frontier,
    pub(super) random: Xoshiro256PlusPlus,
    pub(super) live_max: u32,
    pub(super) next_die: u32,
    /// Whether the map is too large to stay in the processor's caches.
    pub(super) is_far: bool,
    /// Slots whose blocks have not heard yet that they lost their unit; of a drive whose blocks are
    /// too many to stay there.
    pub(super) pending: Option<Box<Pending>>,
    /// The die whose page the host has begun to fill, if a page holds several units.
    filling: Option<u32>,
    pub(super) region: Option<Box<Region>>,
    pub(super) packing: Option<Box<Packing>>,
    /// Units programmed, whole or as the space of packed ones.
    pub(super) programs: u64,
    pub(super) erases: u64,
}

impl Ftl {
    /// A drive fresh out of the box. `geometry` must leave every die at least two blocks of spare
    /// (asserted; `SsdParams::geometry` refuses such drives with a message).
    pub fn new(geometry: Geometry, cleaning: Cleaning, frontier: Frontier, seed: u64) -> Self {
        let Geometry {
            units,
            dies,
            blocks_per_die,
            pages_per_block: pages,
        } = geometry;
        assert!(pages.is_power_of_two() && pages <= 1 << 15);
        let live_max = (blocks_per_die - reserve_blocks(frontier) - 1) * pages;
        assert!(u64::from(live_max) * u64::from(dies) > u64::from(units));
        let die = |die| Die {
            host: Open::default(),
            relocation: Open::default(),
            free: Vec::with_capacity(blocks_per_die as usize),
            victims: Victims::new(die * blocks_per_die, blocks_per_die, cleaning),
            underway: None,
            live: 0,
        };
        let mut ftl = Self {
            l2p: zeroed(units as usize),
            p2l: Vec::new(),
            valid: ValidSlots::default(),
            blocks: Vec::new(),
            dies: (0..dies).map(die).collect(),
            blocks_per_die,
            main_slots: 0,
            by_die: ByDie::default(),
            pages,
            shift: 0,
            page_mask: 0,
            frontier,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            live_max,
            next_die: 0,
            is_far: units > FAR_UNITS,
            pending: (blocks_per_die * dies > FAR_BLOCKS).then(Box::default),
            filling: None,
            region: None,
            packing: None,
            programs: 0,
            erases: 0,
        };
        ftl.l2p.fill(UNMAPPED);
        ftl.lay_out(pages.trailing_zeros());
        ftl
    }

    /// Flash pages of `units` mapping units each, a power of two, which are programmed whole.
    #[must_use]
    pub fn with_pages_of(mut self, units: u32) -> Self {
        assert!(units.is_power_of_two() && units <= self.pages);
        self.page_mask = units - 1;
        self
    }

    /// Blocks of `1 << shift` slots each, those of the region after the others.
    pub(super) fn lay_out(&mut self, shift: u32) {
        self.shift = shift;
        self.main_slots = u64::from(self.main_blocks()) << shift;
        self.by_die = ByDie::new(self.blocks_per_die << shift);
        let dies = self.dies.len() as u32;
        let extra = self.region.as_ref().map_or(0, |region| region.blocks);
        let blocks = self.main_blocks() + dies * extra;
        self.blocks = vec![Block::FREE; blocks as usize];
        // A slot that was never written names unit 0, which lies elsewhere: it is not valid.
        // The old tables go first, that the two do not have to fit together.
        (self.p2l, self.valid) = (Vec::new(), ValidSlots::default());
        self.p2l = zeroed(self.blocks.len() << shift);
        if self.packing.is_none() {
            self.valid = ValidSlots::new(self.p2l.len());
        }
        self.clear();
    }

    /// Sizes of the flash without the region.
    pub(super) fn geometry(&self) -> Geometry {
        Geometry {
            units: self.l2p.len() as u32,
            dies: self.dies.len() as u32,
            blocks_per_die: self.blocks_per_die,
            pages_per_block: self.pages,
        }
    }

    /// Blocks that are not the region's.
    pub(super) fn main_blocks(&self) -> u32 {
        self.blocks_per_die * self.dies.len() as u32
    }

    /// Forgets all data and frees every block; the wear counters stay, as they do in a drive.
    pub fn purge(&mut self) {
        self.erases += u64::from(self.main_blocks()) - self.free_blocks();
        self.l2p.fill(UNMAPPED);
        self.clear();
    }

    fn clear(&mut self) {
        if let Some(pending) = &mut self.pending {
            pending.clear();
        }
        self.blocks.fill(Block::FREE);
        let per_die = self.blocks_per_die;
        for (index, die) in (0..).zip(&mut self.dies) {
            (die.host, die.relocation, die.live) = (Open::default(), Open::default(), 0);
            die.victims.clear();
            die.underway = None;
            die.free.clear();
            // Taken from the end, so the lowest block is used first.
            die.free
                .extend((0..per_die).rev().map(|k| index * per_die + k));
        }
        if let Some(region) = &mut self.region {
            self.erases += region.clear();
        }
        if let Some(packing) = &mut self.packing {
            packing.clear();
        }
        (self.next_die, self.filling) = (0, None);
    }

    /// Free blocks over all dies.
    pub fn free_blocks(&self) -> u64 {
        self.dies.iter().map(|die| die.free.len() as u64).sum()
    }

    /// Logical units that hold data.
    pub fn live_units(&self) -> u64 {
        self.settled()
            .dies
            .iter()
            .map(|die| u64::from(die.live))
            .sum()
    }

    /// Units programmed so far, by the host and by cleaning.
    pub fn programs(&self) -> u64 {
        self.programs
    }

    /// Memory of the maps and indexes, bytes.
    pub fn state_bytes(&self) -> usize {
        let of_die = |die: &Die| die.victims.state_bytes() + 4 * die.free.capacity();
        4 * (self.l2p.capacity() + self.p2l.capacity())
            + self.valid.state_bytes()
            + size_of::<Block>() * self.blocks.capacity()
            + self.dies.iter().map(of_die).sum::<usize>()
            + self.packing.as_ref().map_or(0, |one| one.state_bytes())
    }

    /// The die that the next host unit goes to: in turn, passing over a die that is full; while a
    /// flash page is filled, its die.
    #[inline]
    pub fn pick_die(&mut self) -> u32 {
        if self.page_mask > 0 {
            if let Some(die) = self.filling {
                return die;
            }
        }
        let count = self.dies.len() as u32;
        loop {
            let die = self.next_die;
            self.next_die = if die + 1 == count { 0 } else { die + 1 };
            // A pending slot still counts: one too many, never few.
            if self.dies[die as usize].live >= self.live_max {
                self.settle();
            }
            if self.dies[die as usize].live < self.live_max {
                return die;
            }
        }
    }

    /// The die whose page the host has begun to fill.
    #[inline]
    pub fn filling(&self) -> Option<u32> {
        self.filling
    }

    /// The die that holds `unit`, or `None` if it was never written or is trimmed.
    #[inline]
    pub fn die_of(&self, unit: u32) -> Option<u32> {
        self.place_of(unit).map(|(die, _)| die)
    }

    /// The die and the flash page that hold `unit`; two units in one page have the same number.
    #[inline]
    pub(super) fn place_of(&self, unit: u32) -> Option<(u32, u32)> {
        let slot = self.l2p[unit as usize];
        if slot == UNMAPPED {
            return None;
        }
        Some(self.place_of_slot(slot))
    }

    /// The die and the flash page of `slot`, which holds a unit.
    #[inline]
    pub(super) fn place_of_slot(&self, slot: u32) -> (u32, u32) {
        (self.die_of_slot(slot), slot | self.page_mask)
    }

    /// Writes `unit` to `die`, cleaning first when the die has no open slot.
    #[inline]
    pub fn write(&mut self, unit: u32, die: u32) -> Cleaned {
        if self.packing.is_some() {
            return self.write_packed(unit, die);
        }
        if self.pending.is_some() {
            return self.write_far(unit, die);
        }
        self.write_now(unit, die)
    }

    /// The same, and the map knows of it at once.
    #[inline]
    pub(super) fn write_now(&mut self, unit: u32, die: u32) -> Cleaned {
        self.forget(unit);
        self.dies[die as usize].live += 1;
        self.append(unit, die)
    }

    /// Puts `unit`, which no slot holds, into the open block of `die`.
    #[inline]
    pub(super) fn append(&mut self, unit: u32, die: u32) -> Cleaned {
        let mut cleaned = Cleaned::default();
        if self.dies[die as usize].host.next == self.dies[die as usize].host.end {
            cleaned = self.open_host_block(die);
        }
        let target = &mut self.dies[die as usize];
        let slot = target.host.next;
        target.host.next += 1;
        self.put(unit, slot, die);
        cleaned
    }

    /// Notes that `slot` of `die` holds `unit`, and whether its page is full.
    #[inline]
    pub(super) fn put(&mut self, unit: u32, slot: u32, die: u32) {
        self.l2p[unit as usize] = slot;
        self.fill_slot(unit, slot, die);
    }

    /// The same without the map from units to slots.
    #[inline]
    pub(super) fn fill_slot(&mut self, unit: u32, slot: u32, die: u32) {
        self.p2l[slot as usize] = unit;
        self.programs += 1;
        if self.page_mask > 0 {
            let full = (slot + 1) & self.page_mask == 0;
            self.filling = (!full).then_some(die);
        }
    }

    /// Leaves the rest of the page that is being filled empty; returns its die.
    pub fn pad(&mut self) -> Option<u32> {
        let die = self.filling.take()?;
        if self.pad_region(die) {
            return Some(die);
        }
        let open = &mut self.dies[die as usize].host;
        let id = open.next >> self.shift;
        let end = (open.next | self.page_mask) + 1;
        let empty = end - open.next;
        open.next = end;
        self.blocks[id as usize].lose(empty as u16);
        self.valid.take_out_all(end - empty, end);
        self.programs += u64::from(empty);
        Some(die)
    }

    /// Forgets `unit`; true if it held data.
    #[inline]
    pub fn trim(&mut self, unit: u32) -> bool {
        if self.packing.is_some() {
            return self.unpack(unit);
        }
        self.settle();
        self.forget(unit)
    }

    /// The same where nothing is packed.
    #[inline]
    fn forget(&mut self, unit: u32) -> bool {
        let slot = std::mem::replace(&mut self.l2p[unit as usize], UNMAPPED);
        if slot == UNMAPPED {
            return false;
        }
        self.release(slot);
        true
    }

    /// Counts `slot`, which held a unit, as valid no longer.
    #[inline]
    pub(super) fn release(&mut self, slot: u32) {
        self.valid.take_out(slot);
        let id = slot >> self.shift;
        let block = &mut self.blocks[id as usize];
        block.lose(1);
        let block = *block;
        let die = self.die_of_slot(slot) as usize;
        let die = &mut self.dies[die];
        die.live -= 1;
        if block.is_closed() {
            die.victims.note_loss(id, block);
        }
    }

    pub(super) fn set_filling(&mut self, die: Option<u32>) {
        self.filling = die;
    }

    /// The die of `slot`.
    #[inline]
    pub(super) fn die_of_slot(&self, slot: u32) -> u32 {
        if u64::from(slot) < self.main_slots {
            self.by_die.of(slot)
        } else {
            self.die_of_region_slot(slot)
        }
    }

    /// Feeds the whole state to `mix`, in a fixed order.
    pub(super) fn visit(&self, mut mix: impl FnMut(u64)) {
        let settled = self.settled();
        settled.l2p.iter().for_each(|&slot| mix(u64::from(slot)));
        for die in &settled.dies {
            let Die {
                host,
                relocation,
                live,
                underway,
                ..
            } = die;
            let underway = underway.map_or([0; 2], |one| [one.victim + 1, one.slot]);
            for &value in &underway {
                mix(u64::from(value));
            }
            for value in [host.next, host.end, relocation.next, relocation.end, *live] {
                mix(u64::from(value));
            }
            die.free.iter().for_each(|&id| mix(u64::from(id)));
            for id in die.victims.all(&settled.blocks) {
                mix(u64::from(id));
            }
        }
        if let Some(region) = &self.region {
            region.visit(&mut mix);
        }
        if let Some(packing) = &self.packing {
            packing.visit(&mut mix);
        }
        mix(u64::from(self.next_die));
        mix(self.filling.map_or(0, |die| u64::from(die) + 1));
        mix(self.random.clone().next_u64());
        mix(self.programs);
        mix(self.erases);
    }
}
