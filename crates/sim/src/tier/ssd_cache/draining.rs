//! What an SSD cache sends for its drain, and what it does when that has ended.

use teijo_engine::request::Op;

use super::super::pair::{Range, Side};
use super::drain::Load;
use super::{IoPurpose, SsdCache};
use crate::device::{Device, Ended, Outcome};

impl<D: Device> SsdCache<D> {
    /// Begins what the drain may begin now.
    #[inline]
    pub(super) fn drain(&mut self, at_ns: u64) {
        self.drain_ns = self.drain.next_ns(&self.slots);
        if self.drain_ns <= at_ns {
            self.drain_more(at_ns);
        }
    }

    fn drain_more(&mut self, at_ns: u64) {
        while self.drain_ns <= at_ns {
            let Some(job) = self.drain.begin(&mut self.slots, at_ns) else {
                return;
            };
            for place in 0..self.drain.job(job).loads.len() {
                let Load { slot, sectors } = self.drain.job(job).loads[place];
                let piece = self.stretch(Side::Fast, slot, sectors);
                let why = IoPurpose::Collect { job: job as u32 };
                self.pair.send(why, Op::Read, piece, at_ns);
            }
            if let Some((chunk, slot)) = self.slots.foresee_waiting(self.drain.cursor()) {
                let mask = self.whole(chunk);
                self.pair.foresee(self.piece(Side::Fast, slot, mask));
                self.pair.foresee(self.piece(Side::Slow, chunk, mask));
            }
            self.drain_ns = self.drain.next_ns(&self.slots);
        }
    }

    /// One I/O of a drain has ended: the next extent is written, or the job is done.
    pub(super) fn drained(
        &mut self,
        job: usize,
        was_read: bool,
        outcome: Outcome,
        ended: &mut Vec<Ended>,
    ) {
        let at_ns = outcome.done_ns;
        let place = self.drain.job(job);
        place.has_failed |= outcome.result < 0;
        place.reads -= u32::from(was_read);
        if place.reads > 0 {
            return;
        }
        let next = if place.has_failed {
            None
        } else {
            place.extents.pop()
        };
        if let Some((offset_bytes, length_bytes)) = next {
            let range = Range {
                offset_bytes,
                length_bytes,
            };
            self.pair.send(
                IoPurpose::Drain { job: job as u32 },
                Op::Write,
                range.on_slow(),
                at_ns,
            );
            return;
        }
        self.drain.end(job, &mut self.slots, at_ns);
        if !self.stalled.is_empty() {
            self.resume(at_ns, ended);
        }
    }
}
