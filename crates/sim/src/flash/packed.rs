//! Writes and moves of a drive that compresses its units.

use super::block::{Cleaned, Underway, UNMAPPED};
use super::ftl::Ftl;
use super::packing::{Packing, WHOLE_Q15};
use crate::flash::params::Frontier;

impl Ftl {
    /// Units that take as little as `least` (above 0, to 1) of their size when they compress well.
    #[must_use]
    pub fn with_packing(mut self, least: f64) -> Self {
        assert!(self.region.is_none() && self.page_mask == 0);
        let least = Packing::least(least);
        let slots = Packing::slots(self.pages, least);
        self.packing = Some(Box::new(Packing {
            least,
            left: WHOLE_Q15,
            budget: u64::from(self.pages) * u64::from(WHOLE_Q15),
            valid: vec![0; self.blocks.len()],
            share: vec![0; self.l2p.len()],
            used: vec![[0; 2]; self.dies.len()],
            programmed_rest: 0,
            moved_rest: 0,
        }));
        self.lay_out(slots.trailing_zeros());
        self
    }

    /// Says what share of coming writes compression leaves, in 2^-16; returns what they take of
    /// their size then, in 2^-15.
    pub fn set_content(&mut self, left_q16: u32) -> u32 {
        let packing = self.packing.as_mut();
        packing.map_or(WHOLE_Q15, |packing| packing.set_left(left_q16 / 2))
    }

    /// Writes `unit` to `die` in as much space as it needs.
    pub(super) fn write_packed(&mut self, unit: u32, die: u32) -> Cleaned {
        self.trim(unit);
        let mut cleaned = Cleaned::default();
        let state = &mut self.dies[die as usize];
        state.live += 1;
        if state.host.next == state.host.end {
            cleaned = self.open_host_block(die);
        }
        let packing = self.packing.as_mut().expect("a drive that compresses");
        let space = packing.left;
        packing.share[unit as usize] = space as u16;
        self.programs += Packing::whole(&mut packing.programmed_rest, u64::from(space));
        self.pack(unit, die, Frontier::Shared);
        cleaned
    }

    /// Puts `unit` at the end of an open block, which is full when its budget is used up.
    fn pack(&mut self, unit: u32, die: u32, which: Frontier) {
        let packing = self.packing.as_mut().expect("a drive that compresses");
        let state = &mut self.dies[die as usize];
        let open = match which {
            Frontier::Shared => &mut state.host,
            Frontier::Separate => &mut state.relocation,
        };
        let slot = open.next;
        open.next += 1;
        let space = u32::from(packing.share[unit as usize]);
        packing.valid[(slot >> self.shift) as usize] += space;
        let used = &mut packing.used[die as usize][which as usize];
        *used += u64::from(space);
        if *used >= packing.budget {
            open.end = open.next;
        }
        self.p2l[slot as usize] = unit;
        self.l2p[unit as usize] = slot;
    }

    /// Takes `unit` and its space out of the block that held it; false if none did.
    pub(super) fn unpack(&mut self, unit: u32) -> bool {
        let slot = std::mem::replace(&mut self.l2p[unit as usize], UNMAPPED);
        if slot == UNMAPPED {
            return false;
        }
        let id = slot >> self.shift;
        let die = self.die_of_slot(slot) as usize;
        let packing = self.packing.as_mut().expect("a drive that compresses");
        packing.valid[id as usize] -= u32::from(packing.share[unit as usize]);
        let now = packing.close(id, self.pages);
        let state = &mut self.dies[die];
        state.live -= 1;
        let block = &mut self.blocks[id as usize];
        block.set_valid(now);
        // While the block is open its level is taken when it closes.
        if block.is_closed() {
            state.victims.note_loss(id, *block);
        }
        true
    }

    /// Moves valid units of a victim, as much as at least `most` whole ones take or all there are;
    /// returns the slot to go on from. Space is counted in whole units.
    pub(super) fn move_packed(
        &mut self,
        die: u32,
        Underway { victim, mut slot }: Underway,
        most: u32,
        cleaned: &mut Cleaned,
    ) -> u32 {
        let mut may_open = !self.dies[die as usize].free.is_empty();
        let packing = self.packing.as_mut().expect("a drive that compresses");
        let all = packing.valid[victim as usize];
        let mut left = all;
        let rest = all.saturating_sub(most.saturating_mul(WHOLE_Q15));
        while left > rest {
            let unit = self.p2l[slot as usize];
            if self.l2p[unit as usize] == slot {
                let packing = self.packing.as_ref().expect("a drive that compresses");
                left -= u32::from(packing.share[unit as usize]);
                let open = *self.frontier_of_moves(die);
                // Without a free block, what is too much is taken from the next one.
                if open.next == open.end && may_open {
                    self.open(die, self.frontier);
                    may_open = false;
                }
                self.pack(unit, die, self.frontier);
            }
            slot += 1;
        }
        let packing = self.packing.as_mut().expect("a drive that compresses");
        packing.valid[victim as usize] = left;
        self.blocks[victim as usize].set_valid(packing.close(victim, self.pages));
        let space = u64::from(all - left);
        let moved = Packing::whole(&mut packing.moved_rest, space);
        self.programs += Packing::whole(&mut packing.programmed_rest, space);
        cleaned.read_pages += moved as u32;
        cleaned.programmed_pages += moved as u32;
        slot
    }
}
