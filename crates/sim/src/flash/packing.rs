//! Units that a drive compresses: a block holds a budget of space instead of a count of units. A
//! unit that begins in a block is counted to it whole; what it needs beyond the end is taken from
//! the next one, so that nothing is lost between blocks.

use crate::flash::params::Frontier;

/// Space of a unit that compression leaves as it is.
pub(super) const WHOLE_Q15: u32 = 1 << 15;

/// Space is in 2^-15 of a unit.
#[derive(Clone, Debug)]
pub(super) struct Packing {
    pub(super) least: u32,
    /// What the host's units take from now on.
    pub(super) left: u32,
    pub(super) budget: u64,
    /// Valid space of each block.
    pub(super) valid: Vec<u32>,
    /// Space of each logical unit.
    pub(super) share: Vec<u16>,
    /// Space taken of the host's open block and of the one for moved units, of each die.
    pub(super) used: Vec<[u64; 2]>,
    /// Space programmed, and moved, that does not make a whole unit yet.
    pub(super) programmed_rest: u64,
    pub(super) moved_rest: u64,
}

impl Packing {
    /// The least that a unit takes, of its size (above 0, to 1).
    pub(super) fn least(share: f64) -> u32 {
        ((share * f64::from(WHOLE_Q15)).round() as u32).clamp(1, WHOLE_Q15)
    }

    /// Slots of a block that holds `pages` whole units.
    pub(super) fn slots(pages: u32, least: u32) -> u32 {
        (pages * WHOLE_Q15).div_ceil(least).next_power_of_two()
    }

    pub(super) fn clear(&mut self) {
        self.valid.fill(0);
        // As if full: the first block that is opened owes nothing.
        self.used.fill([self.budget; 2]);
    }

    /// What the writes from now on take, at least the least; 2^-15 of a unit.
    pub(super) fn set_left(&mut self, left: u32) -> u32 {
        self.left = left.clamp(self.least, WHOLE_Q15);
        self.left
    }

    pub(super) fn open(&mut self, die: u32, which: Frontier, id: u32) {
        let used = &mut self.used[die as usize][which as usize];
        *used -= self.budget;
        self.valid[id as usize] = 0;
    }

    /// Space of block `id` that is valid, in whole units, as it is closed.
    pub(super) fn close(&self, id: u32, pages: u32) -> u16 {
        self.valid[id as usize].div_ceil(WHOLE_Q15).min(pages) as u16
    }

    /// Space of `unit`, and what is valid in block `id`.
    pub(super) fn space_of(&self, unit: u32) -> u64 {
        u64::from(self.share[unit as usize])
    }

    pub(super) fn space_in(&self, id: u32) -> u64 {
        u64::from(self.valid[id as usize])
    }

    /// Units that the host can write before `die` opens its next block.
    pub(super) fn room_units(&self, die: u32) -> u32 {
        let used = self.used[die as usize][Frontier::Shared as usize];
        let room = self.budget.saturating_sub(used);
        room.div_ceil(u64::from(self.left)) as u32
    }

    pub(super) fn state_bytes(&self) -> usize {
        2 * self.share.capacity() + 4 * self.valid.capacity() + 16 * self.used.capacity()
    }

    pub(super) fn visit(&self, mut mix: impl FnMut(u64)) {
        self.valid.iter().for_each(|&space| mix(u64::from(space)));
        self.share.iter().for_each(|&space| mix(u64::from(space)));
        self.used.iter().flatten().for_each(|&space| mix(space));
        [u64::from(self.left), self.programmed_rest, self.moved_rest]
            .into_iter()
            .for_each(mix);
    }

    /// Whole units that `space` and the rest make; the rest stays in `rest`.
    pub(super) fn whole(rest: &mut u64, space: u64) -> u64 {
        *rest += space;
        let whole = *rest / u64::from(WHOLE_Q15);
        *rest %= u64::from(WHOLE_Q15);
        whole
    }
}
