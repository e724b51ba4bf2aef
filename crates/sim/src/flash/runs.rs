//! Commands of many whole units, of a drive that does nothing besides (as in `plain`): what is the
//! same for all units is asked once. The results are those of one unit after the other.

use super::block::UNMAPPED;
use super::reading::Fetched;
use super::ssd::Ssd;
use crate::flash::params::Placement;

/// From so many units on the dies are put in order for a command.
const LEAST_IN_ORDER: u32 = 4;

impl Ssd {
    /// Writes units from `first` on, as `write_run` does; returns the one at which it stops, at
    /// the latest `end`.
    #[inline]
    pub(super) fn write_many(&mut self, first: u32, end: u32, sent_ns: u64) -> u32 {
        match self.params.placement {
            Placement::Turn => self.write_run::<false>(first, end, sent_ns),
            Placement::Free if end - first >= LEAST_IN_ORDER => {
                let done = self.write_in_order(first, end, sent_ns);
                done.unwrap_or_else(|| self.write_run::<true>(first, end, sent_ns))
            }
            Placement::Free => self.write_run::<true>(first, end, sent_ns),
        }
    }

    /// The same, each unit on the die that is free first, of dies in order; `None` where they are
    /// too many.
    fn write_in_order(&mut self, first: u32, end: u32, sent_ns: u64) -> Option<u32> {
        let Self {
            ftl,
            jitter,
            slow,
            times,
            buffer,
            held,
            unit_shift,
            random,
            ..
        } = self;
        let mut dies = self.dies.in_order()?;
        let usual = jitter.varied(times.host_program);
        let mut place = self.buffer_next;
        let mut admitted_ns = sent_ns.max(self.admitted_ns);
        let mut drained_ns = self.drained_ns;
        let mut unit = first;
        while unit < end {
            let begin_ns = admitted_ns.max(buffer[place]);
            let die = dies.free_first(ftl.next_die, begin_ns);
            if !ftl.write_plainly(unit, die) {
                break;
            }
            admitted_ns = begin_ns;
            if let Some(held) = held {
                let start_bytes = u64::from(unit) << *unit_shift;
                held.put(place, start_bytes, start_bytes + (1 << *unit_shift));
            }
            let program_ns = if die == slow.die {
                jitter.of(slow.of(die, times.host_program), random)
            } else {
                usual.draw(random)
            };
            let done_ns = dies.program(die, admitted_ns, program_ns);
            buffer[place] = done_ns;
            drained_ns = drained_ns.max(done_ns);
            place += 1;
            if place == buffer.len() {
                place = 0;
            }
            unit += 1;
        }
        if unit > first {
            self.buffer_next = place;
            (self.admitted_ns, self.drained_ns) = (admitted_ns, drained_ns);
        }
        Some(unit)
    }

    /// Reads what a command from `start_bytes` to `end_bytes` asks for, as `fetch_unit` does.
    pub(super) fn fetch_plainly(
        &mut self,
        start_bytes: u64,
        end_bytes: u64,
        ready_ns: u64,
    ) -> Fetched {
        let shift = self.unit_shift;
        let first = (start_bytes >> shift) as u32;
        let last = ((end_bytes - 1) >> shift) as u32;
        let unit_transfer_ns = self.times.unit_transfer;
        let first_transfer_ns = self.transfer_ns(first, start_bytes, end_bytes);
        let last_transfer_ns = self.transfer_ns(last, start_bytes, end_bytes);
        let Self {
            ftl,
            dies,
            jitter,
            slow,
            times,
            waits,
            random,
            ..
        } = self;
        let (usual, waits) = (jitter.varied(times.read), *waits);
        let mut fetched = Fetched::default();
        let (mut last_ns, mut unwritten_bytes) = (0, 0);
        for (unit, &slot) in (first..).zip(&ftl.l2p[first as usize..=last as usize]) {
            if slot == UNMAPPED {
                let from_bytes = start_bytes.max(u64::from(unit) << shift);
                let to_bytes = end_bytes.min((u64::from(unit) + 1) << shift);
                unwritten_bytes += to_bytes - from_bytes;
                continue;
            }
            let (die, _) = ftl.place_of_slot(slot);
            let page_ns = if die == slow.die {
                jitter.of(slow.of(die, times.read), random)
            } else {
                usual.draw(random)
            };
            let transfer_ns = if unit == first {
                first_transfer_ns
            } else if unit == last {
                last_transfer_ns
            } else {
                unit_transfer_ns
            };
            if fetched.pages == 0 {
                fetched.lead_ns = transfer_ns;
            }
            let there_ns = dies.read(die, ready_ns, page_ns, waits) + transfer_ns;
            last_ns = last_ns.max(there_ns);
            fetched.pages += 1;
        }
        self.counters.page_reads += fetched.pages;
        self.counters.unwritten_bytes += unwritten_bytes;
        fetched.data_ns = (fetched.pages > 0).then_some(last_ns);
        fetched
    }
}
