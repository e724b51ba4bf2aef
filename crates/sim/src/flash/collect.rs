//! Cleaning: takes the next victim of a die, moves what is valid in it to the frontier, and erases
//! it. What a block is opened for, and when, is here as well.

use super::block::{Block, Cleaned, Open, Underway};
use super::ftl::Ftl;
use super::valid::WORD_SLOTS;
use crate::flash::params::{reserve_blocks, Frontier};
use crate::memory::prefetch;

impl Ftl {
    /// Cleans one block of `die` in the background if it has fewer than `pool_blocks` free ones
    /// beyond the reserve and cleaning gains a page; `None` when there is nothing to do.
    pub fn clean_ahead(&mut self, die: u32, pool_blocks: u32) -> Option<Cleaned> {
        if !self.wants_room(die, pool_blocks) {
            return None;
        }
        // A shared frontier has no block of its own for old pages: they join the host's.
        let mut cleaned = Cleaned::default();
        self.collect(die, &mut cleaned);
        cleaned.room_pages = self.room_pages(die);
        Some(cleaned)
    }

    /// The same in steps: moves what fills one page of the frontier, or erases the block that has
    /// nothing valid any more. What is begun is gone on with later, by whoever cleans next.
    pub fn clean_step(&mut self, die: u32, pool_blocks: u32) -> Option<Cleaned> {
        if self.dies[die as usize].underway.is_none() && !self.wants_room(die, pool_blocks) {
            return None;
        }
        self.settle();
        let underway = self.take_victim(die);
        let mut cleaned = Cleaned::default();
        if self.is_empty(underway.victim) {
            self.erase(die, underway.victim, &mut cleaned);
            return Some(cleaned);
        }
        let Open { next, end } = *self.frontier_of_moves(die);
        let valid = u32::from(self.blocks[underway.victim as usize].valid());
        let last = self.dies[die as usize].free.len() < 2;
        if self.frontier == Frontier::Shared && last && end - next < valid {
            // The host would fill the last free block, and nothing could take the rest.
            self.move_from(die, underway, u32::MAX, &mut cleaned);
            self.erase(die, underway.victim, &mut cleaned);
            return Some(cleaned);
        }
        let page = self.page_mask + 1 - (next & self.page_mask);
        let underway = self.move_from(die, underway, page, &mut cleaned);
        self.dies[die as usize].underway = Some(underway);
        Some(cleaned)
    }

    /// Whether `die` has fewer free blocks than its pool asks for, and cleaning gains a page.
    fn wants_room(&mut self, die: u32, pool_blocks: u32) -> bool {
        let state = &self.dies[die as usize];
        let wanted = pool_blocks + reserve_blocks(self.frontier);
        if state.free.len() as u32 >= wanted || state.free.is_empty() {
            return false;
        }
        self.settle();
        let victim = self.dies[die as usize].victims.peek(&self.blocks);
        victim.is_some_and(|id| u32::from(self.blocks[id as usize].valid()) < self.pages)
    }

    /// Cleans until the host has an open slot on `die`, whose work it returns; `None` if it has
    /// one already.
    pub(super) fn make_room(&mut self, die: u32) -> Option<Cleaned> {
        let Open { next, end } = self.dies[die as usize].host;
        if next < end {
            return None;
        }
        self.settle();
        Some(self.open_host_block(die))
    }

    /// Closes the full host block and opens another, cleaning until one may be taken.
    pub(super) fn open_host_block(&mut self, die: u32) -> Cleaned {
        let mut cleaned = Cleaned::default();
        match self.frontier {
            Frontier::Shared => loop {
                self.open(die, Frontier::Shared);
                if !self.dies[die as usize].free.is_empty() {
                    break;
                }
                self.collect(die, &mut cleaned);
                let Open { next, end } = self.dies[die as usize].host;
                if next < end {
                    break;
                }
            },
            Frontier::Separate => {
                while self.dies[die as usize].free.len() < 2 {
                    self.collect(die, &mut cleaned);
                }
                self.open(die, Frontier::Shared);
            }
        }
        cleaned.room_pages = self.room_pages(die);
        cleaned
    }

    /// Pages that the host can fill before `die` opens its next block.
    fn room_pages(&self, die: u32) -> u32 {
        if let Some(packing) = &self.packing {
            return packing.room_units(die);
        }
        let Open { next, end } = self.dies[die as usize].host;
        (end - next).div_ceil(self.page_mask + 1)
    }

    /// Closes the open block (`Shared`: the host's, `Separate`: the one for moved pages) and
    /// takes a free one in its place.
    pub(super) fn open(&mut self, die: u32, which: Frontier) {
        let state = &mut self.dies[die as usize];
        let open = match which {
            Frontier::Shared => &mut state.host,
            Frontier::Separate => &mut state.relocation,
        };
        let id = state
            .free
            .pop()
            .expect("the reserve keeps a free block for every frontier");
        let full = std::mem::replace(
            open,
            Open {
                next: id << self.shift,
                end: (id + 1) << self.shift,
            },
        );
        self.blocks[id as usize].open(self.pages as u16);
        if self.packing.is_none() {
            self.valid.put_in_block(id, self.shift);
        }
        if full.end > 0 {
            let old = (full.end - 1) >> self.shift;
            if let Some(packing) = &mut self.packing {
                self.blocks[old as usize].set_valid(packing.close(old, self.pages));
            }
            state.victims.push(&mut self.blocks, old);
        }
        if let Some(packing) = &mut self.packing {
            packing.open(die, which, id);
        }
    }

    /// Moves the valid units of the next victim to the frontier, erases it and adds the work.
    fn collect(&mut self, die: u32, cleaned: &mut Cleaned) {
        let underway = self.take_victim(die);
        self.move_from(die, underway, u32::MAX, cleaned);
        self.erase(die, underway.victim, cleaned);
    }

    /// The block that is cleaned next: one that was begun with, or else the next victim.
    fn take_victim(&mut self, die: u32) -> Underway {
        if let Some(underway) = self.dies[die as usize].underway.take() {
            return underway;
        }
        let victims = &mut self.dies[die as usize].victims;
        let victim = victims.take(&mut self.blocks, &mut self.random);
        Underway {
            victim,
            slot: victim << self.shift,
        }
    }

    /// Moves at most `most` valid units of a victim and adds the work; of packed units, what is as
    /// large as so many.
    fn move_from(
        &mut self,
        die: u32,
        underway: Underway,
        most: u32,
        cleaned: &mut Cleaned,
    ) -> Underway {
        let slot = if self.packing.is_some() {
            self.move_packed(die, underway, most, cleaned)
        } else if self.page_mask == 0 {
            self.move_units::<false>(die, underway, most, cleaned)
        } else {
            self.move_units::<true>(die, underway, most, cleaned)
        };
        Underway { slot, ..underway }
    }

    /// Whether nothing in the block `id` is valid.
    fn is_empty(&self, id: u32) -> bool {
        let packing = self.packing.as_ref();
        packing.map_or(self.blocks[id as usize].valid() == 0, |packing| {
            packing.space_in(id) == 0
        })
    }

    /// Frees a block that holds nothing valid any more.
    fn erase(&mut self, die: u32, victim: u32, cleaned: &mut Cleaned) {
        debug_assert!(self.is_empty(victim));
        self.blocks[victim as usize] = Block::FREE;
        self.dies[die as usize].free.push(victim);
        self.erases += 1;
        cleaned.erased_blocks += 1;
    }

    /// Moves at most `most` valid units of a victim; returns the slot to go on from. `GATHERED`: a
    /// page holds several, is read once for all that are valid in it, and programmed when it is
    /// full.
    fn move_units<const GATHERED: bool>(
        &mut self,
        die: u32,
        Underway { victim, mut slot }: Underway,
        most: u32,
        cleaned: &mut Cleaned,
    ) -> u32 {
        let page_shift = self.page_mask.trailing_ones();
        let mut left = u32::from(self.blocks[victim as usize].valid()).min(most);
        self.blocks[victim as usize].lose(left as u16);
        let mut last_page = u32::MAX;
        if self.is_far {
            self.ask_for(victim, slot);
        }
        self.programs += u64::from(left);
        while left > 0 {
            let (first, end) = self.destination(die);
            let stop = end.min(first + left);
            left -= stop - first;
            let mut next = first;
            while next < stop {
                let (mut valid, base) = self.valid.from(slot);
                slot = base + WORD_SLOTS;
                if self.is_far {
                    self.ask_for(victim, slot);
                }
                while valid != 0 {
                    let from = base + valid.trailing_zeros();
                    valid &= valid - 1;
                    let unit = self.p2l[from as usize];
                    self.l2p[unit as usize] = next;
                    self.p2l[next as usize] = unit;
                    next += 1;
                    if GATHERED && from >> page_shift != last_page {
                        last_page = from >> page_shift;
                        cleaned.read_pages += 1;
                    }
                    if next == stop {
                        slot = from + 1;
                        break;
                    }
                }
            }
            if !GATHERED {
                cleaned.read_pages += stop - first;
            }
            cleaned.programmed_pages += (stop >> page_shift) - (first >> page_shift);
            self.frontier_of_moves(die).next = stop;
        }
        slot
    }

    /// Asks for the map of the units that are valid in the block `victim`, of `slot` and those that
    /// share its word.
    #[inline]
    fn ask_for(&self, victim: u32, slot: u32) {
        if slot >> self.shift != victim {
            return;
        }
        let (mut valid, base) = self.valid.from(slot);
        while valid != 0 {
            let unit = self.p2l[(base + valid.trailing_zeros()) as usize];
            prefetch(&self.l2p, unit);
            valid &= valid - 1;
        }
    }

    pub(super) fn frontier_of_moves(&mut self, die: u32) -> &mut Open {
        let state = &mut self.dies[die as usize];
        match self.frontier {
            Frontier::Shared => &mut state.host,
            Frontier::Separate => &mut state.relocation,
        }
    }

    /// Open slots for moved units, the first and the end, opening a block if there is none.
    fn destination(&mut self, die: u32) -> (u32, u32) {
        let Open { next, end } = *self.frontier_of_moves(die);
        if next < end {
            return (next, end);
        }
        self.open(die, self.frontier);
        let Open { next, end } = *self.frontier_of_moves(die);
        (next, end)
    }
}
