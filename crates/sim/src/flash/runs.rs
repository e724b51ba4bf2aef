//! Commands of many whole units, of a drive that does nothing besides (as in `plain`): what is the
//! same for all units is asked once. The results are those of one unit after the other.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::block::UNMAPPED;
use super::die_clock::{Choice, Dies, FreeFirst, InTurn};
use super::ftl::Ftl;
use super::held::Held;
use super::jitter::{Jitter, Varied};
use super::reading::Fetched;
use super::ssd::Ssd;
use super::times::{Slow, Times};
use crate::flash::params::Placement;

/// From so many units on the dies are put in order for a command.
const LEAST_IN_ORDER: u32 = 4;

/// Units that are being written, and how far that is.
struct Run<'a> {
    ftl: &'a mut Ftl,
    buffer: &'a mut [u64],
    held: Option<&'a mut Held>,
    jitter: Jitter,
    slow: Slow,
    times: &'a Times,
    random: &'a mut Xoshiro256PlusPlus,
    unit_shift: u32,
    /// The next place of the buffer.
    place: usize,
    admitted_ns: u64,
    drained_ns: u64,
}

impl Run<'_> {
    /// Admits and programs one unit; false, and nothing happens, where there is more to do for it.
    /// `usual` is how long that takes on a die as any other, if it is known.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each unit comes through here")]
    fn write(&mut self, dies: &mut impl Choice, unit: u32, usual: Option<Varied>) -> bool {
        let begin_ns = self.admitted_ns.max(self.buffer[self.place]);
        let die = dies.die(self.ftl.next_die, begin_ns);
        if !self.ftl.write_plainly(unit, die) {
            return false;
        }
        self.admitted_ns = begin_ns;
        if let Some(held) = &mut self.held {
            let start_bytes = u64::from(unit) << self.unit_shift;
            let stop_bytes = start_bytes + (1 << self.unit_shift);
            held.put(self.place, start_bytes, stop_bytes);
        }
        let program_ns = match usual {
            Some(usual) if die != self.slow.die => usual.draw(self.random),
            _ => {
                let program_ns = self.slow.of(die, self.times.host_program);
                self.jitter.of(program_ns, self.random)
            }
        };
        let done_ns = dies.program(die, begin_ns, program_ns);
        self.buffer[self.place] = done_ns;
        self.drained_ns = self.drained_ns.max(done_ns);
        self.place += 1;
        if self.place == self.buffer.len() {
            self.place = 0;
        }
        true
    }

    /// Writes units from `first` on; returns the one at which it stops, at the latest `end`.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "its numbers stay in registers")]
    fn write_all(&mut self, dies: &mut impl Choice, first: u32, end: u32) -> u32 {
        let usual = Some(self.jitter.varied(self.times.host_program));
        let mut units = first..end;
        let stop = units.find(|&unit| !self.write(dies, unit, usual));
        stop.unwrap_or(end)
    }
}

impl Ssd {
    /// What units that are in the drive at `sent_ns` are written with, and the dies.
    #[inline]
    fn run(&mut self, sent_ns: u64) -> (Run<'_>, &mut Dies) {
        let run = Run {
            ftl: &mut self.ftl,
            buffer: &mut self.buffer,
            held: self.held.as_mut(),
            jitter: self.jitter,
            slow: self.slow,
            times: &self.times,
            random: &mut self.random,
            unit_shift: self.unit_shift,
            place: self.buffer_next,
            admitted_ns: sent_ns.max(self.admitted_ns),
            drained_ns: self.drained_ns,
        };
        (run, &mut self.dies)
    }

    /// Writes a unit which is in the drive at `sent_ns`; false, and nothing happens, where there is
    /// more to do for it.
    #[inline]
    pub(super) fn write_alone(&mut self, unit: u32, sent_ns: u64) -> bool {
        let placement = self.params.placement;
        let (mut run, dies) = self.run(sent_ns);
        let is_written = match placement {
            Placement::Turn => run.write(&mut InTurn(dies), unit, None),
            Placement::Free => run.write(&mut FreeFirst(dies), unit, None),
        };
        if is_written {
            let (place, admitted_ns, drained_ns) = (run.place, run.admitted_ns, run.drained_ns);
            (self.buffer_next, self.admitted_ns, self.drained_ns) =
                (place, admitted_ns, drained_ns);
        }
        is_written
    }

    /// The same of the units from `first` to before `end`; returns the one at which it stops, or
    /// `end`.
    pub(super) fn write_many(&mut self, first: u32, end: u32, sent_ns: u64) -> u32 {
        let placement = self.params.placement;
        let (mut run, dies) = self.run(sent_ns);
        let is_short = end - first < LEAST_IN_ORDER;
        let done = match placement {
            Placement::Turn => run.write_all(&mut InTurn(dies), first, end),
            Placement::Free if is_short => run.write_all(&mut FreeFirst(dies), first, end),
            Placement::Free => match dies.in_order() {
                Some(mut dies) => run.write_all(&mut dies, first, end),
                None => run.write_all(&mut FreeFirst(dies), first, end),
            },
        };
        if done > first {
            let (place, admitted_ns, drained_ns) = (run.place, run.admitted_ns, run.drained_ns);
            (self.buffer_next, self.admitted_ns, self.drained_ns) =
                (place, admitted_ns, drained_ns);
        }
        done
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
        // A copy stays in registers.
        let mut drawing = random.clone();
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
                jitter.of(slow.of(die, times.read), &mut drawing)
            } else {
                usual.draw(&mut drawing)
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
        *random = drawing;
        self.counters.page_reads += fetched.pages;
        self.counters.unwritten_bytes += unwritten_bytes;
        fetched.data_ns = (fetched.pages > 0).then_some(last_ns);
        fetched
    }
}
