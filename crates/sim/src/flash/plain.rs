//! Writes of whole units to a drive that does nothing besides: no region, no pool of free blocks,
//! no upkeep. They do what `write_unit` does for one unit after the other, in the same order and
//! with the same draws, but leave out what such a drive does not need.

use super::block::UNMAPPED;
use super::ftl::Ftl;
use super::ssd::Ssd;
use crate::flash::params::Placement;

impl Ftl {
    /// Writes `unit` to the next die in turn, and says which; `None`, and nothing happens, where
    /// that has more to do for it.
    #[inline]
    fn write_in_turn(&mut self, unit: u32) -> Option<u32> {
        let die = self.next_die;
        let state = &mut self.dies[die as usize];
        let slot = state.host.next;
        if slot == state.host.end || state.live >= self.live_max {
            return None;
        }
        state.host.next += 1;
        state.live += 1;
        let next = die + 1;
        self.next_die = if next as usize == self.dies.len() {
            0
        } else {
            next
        };
        self.p2l[slot as usize] = unit;
        self.programs += 1;
        let old = std::mem::replace(&mut self.l2p[unit as usize], slot);
        if old != UNMAPPED {
            self.release_later(old);
        }
        Some(die)
    }
}

impl Ssd {
    /// Whether a whole unit is written by nothing but the map, the buffer and the next die in turn.
    pub(super) fn writes_plainly(&self) -> bool {
        self.params.placement == Placement::Turn
            && self.params.page_units() == 1
            && !self.params.compression.on
            && self.upkeep.is_none()
            && self.pool_blocks == 0
            && !self.has_region
    }

    /// Writes the units from `first` to before `end`, which are whole and in the drive at
    /// `sent_ns`, if the drive is plain; returns the first that is left to do.
    #[inline]
    pub(super) fn write_wholes(&mut self, first: u64, end: u64, sent_ns: u64) -> u64 {
        if !self.is_plain || end <= first {
            return first;
        }
        let mut unit = first as u32;
        loop {
            unit = self.write_run(unit, end as u32, sent_ns);
            if u64::from(unit) == end {
                return end;
            }
            self.write_between(unit, sent_ns);
            unit += 1;
        }
    }

    /// Writes a unit for which a block is opened or a die passed over.
    #[cold]
    fn write_between(&mut self, unit: u32, sent_ns: u64) {
        self.write_unit(unit, true, sent_ns);
    }

    /// Admits and programs units from `first` on; returns the one at which it stops, at the latest
    /// `end`.
    #[inline(never)]
    fn write_run(&mut self, first: u32, end: u32, sent_ns: u64) -> u32 {
        let Self {
            ftl,
            dies,
            jitter,
            slow,
            times,
            buffer,
            held,
            unit_shift,
            random,
            ..
        } = self;
        let mut place = self.buffer_next;
        let mut admitted_ns = sent_ns.max(self.admitted_ns);
        let mut drained_ns = self.drained_ns;
        let mut unit = first;
        while unit < end {
            let Some(die) = ftl.write_in_turn(unit) else {
                break;
            };
            if let Some(held) = held {
                let start_bytes = u64::from(unit) << *unit_shift;
                held.put(place, start_bytes, start_bytes + (1 << *unit_shift));
            }
            admitted_ns = admitted_ns.max(buffer[place]);
            let program_ns = jitter.of(slow.of(die, times.host_program), random);
            let done_ns = dies[die as usize].program(admitted_ns, program_ns);
            buffer[place] = done_ns;
            drained_ns = drained_ns.max(done_ns);
            place = if place + 1 == buffer.len() {
                0
            } else {
                place + 1
            };
            unit += 1;
        }
        if unit > first {
            self.buffer_next = place;
            (self.admitted_ns, self.drained_ns) = (admitted_ns, drained_ns);
        }
        unit
    }
}
