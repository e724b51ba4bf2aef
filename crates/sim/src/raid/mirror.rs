//! Which mirror a read goes to.

use super::array::Array;
use crate::device::Device;

impl<D: Device> Array<D> {
    /// The living mirror that a read of [offset, offset + length) goes to: the one that has just
    /// read what is before it, if that is faster, as in Linux md; else the one with the fewest
    /// I/Os in flight, in turn if they have as many.
    pub(super) fn pick_mirror(&mut self, offset_bytes: u64, length_bytes: u64) -> u32 {
        let goes_on = |member: &u32| {
            let place = *member as usize;
            self.read_to_bytes[place] == offset_bytes
                && !self.failed[place]
                && self.members[place].is_rotational()
        };
        let goes_on = (0..self.layout.members).find(goes_on);
        let picked = goes_on.unwrap_or_else(|| self.least_busy_mirror());
        self.read_to_bytes[picked as usize] = offset_bytes + length_bytes;
        picked
    }

    fn least_busy_mirror(&mut self) -> u32 {
        let count = self.layout.members;
        let turn = |step: u32| (self.mirror + step) % count;
        let living = (0..count)
            .map(turn)
            .filter(|&member| !self.failed[member as usize]);
        let picked = living.min_by_key(|&member| self.waiting[member as usize]);
        self.mirror = picked.map_or(0, |member| (member + 1) % count);
        picked.unwrap_or(0)
    }
}
