//! What a worker does with data between two I/Os: it makes what is written and judges what was
//! read. That takes the host's time, not the device's: an I/O is stamped when all content of its
//! turn is made, and a completion before any read is judged. Another I/O may come back meanwhile,
//! so the worker looks for completions after `LOOK_NS`; the time it took is in the witness.

use super::staging::LIGHT_BYTES;
use super::Worker;
use crate::backend::Backend;
use crate::clock::Clock;
use crate::plan::Content;
use crate::request::{Extent, Op};

/// Work that takes longer is interrupted to look for completions.
const LOOK_NS: u64 = 2_000;

impl<B: Backend, C: Clock> Worker<B, C> {
    #[inline]
    pub(super) fn take_slot(&mut self) -> u16 {
        self.free.pop().expect("the caller saw a free slot")
    }

    /// Makes what is written to `extent`; a verified write may have to go elsewhere.
    #[inline]
    pub(super) fn make_content(&mut self, slot: u16, mut extent: Extent) -> Extent {
        let buffer = &mut self.backend.buffer(slot)[..extent.length_bytes as usize];
        let plan = &self.seat.stream.plan;
        match (&mut self.staging.verifier, plan.content) {
            (None, Content::Random) => self.stamper.stamp(buffer, extent.offset_bytes),
            (None, constant) if constant.is_constant() => {}
            (None, other) => self.stamper.write(buffer, extent.offset_bytes, other),
            (Some(verifier), _) => {
                if !plan.access.is_ordered() {
                    let (draws, length_bytes) = (&mut self.draws, extent.length_bytes);
                    extent = verifier.keep_clear(extent, || Extent {
                        length_bytes,
                        ..draws.extent()
                    });
                }
                verifier.begin_write(slot, extent, buffer);
            }
        }
        if self.staging.has_made(extent.length_bytes) {
            self.staging.is_hasty = self.has_taken_long();
        }
        extent
    }

    /// Hands over the I/Os whose content was made, stamped now that it is.
    #[inline]
    pub(super) fn send_staged(&mut self) {
        if self.staging.staged.is_empty() {
            return;
        }
        let made_bytes = std::mem::take(&mut self.staging.made_bytes);
        if made_bytes > LIGHT_BYTES || made_bytes > 0 && !self.staging.is_light {
            self.account.made_ns += self.take_time();
        }
        if let Some(op) = self.turns.op() {
            return self.launch_plain(op);
        }
        let mut staged = std::mem::take(&mut self.staging.staged);
        for slot in staged.drain(..) {
            self.launch(slot);
        }
        self.staging.staged = staged;
    }

    /// Judges the reads that came back, and notes the writes that ended.
    #[inline]
    pub(super) fn judge_returned(&mut self) {
        if !self.staging.returned.is_empty() {
            self.judge_some();
        }
    }

    fn judge_some(&mut self) {
        let mut has_judged = false;
        while let Some(slot) = self.staging.returned.pop_front() {
            self.free.push(slot);
            let flight = self.flights.get(slot);
            let Some(verifier) = &mut self.staging.verifier else {
                continue;
            };
            if flight.op != Op::Read {
                verifier.end(slot, true);
                continue;
            }
            let block = &self.backend.read_back(slot)[..flight.length_bytes as usize];
            verifier.judge(slot, block);
            has_judged = true;
            if self.staging.has_worked(flight.length_bytes) && self.has_taken_long() {
                self.staging.is_hasty = true;
                break;
            }
        }
        if has_judged {
            self.account.judged_ns += self.take_time();
        }
    }

    pub(super) fn has_taken_long(&self) -> bool {
        self.clock.now_ns() > self.now_ns + LOOK_NS
    }

    /// Moves the turn's time to what it is by now; how far that was.
    fn take_time(&mut self) -> u64 {
        let now_ns = self.clock.now_ns().max(self.now_ns);
        let taken_ns = now_ns - self.now_ns;
        self.account.add_time(taken_ns, self.in_flight() as u64);
        self.now_ns = now_ns;
        taken_ns
    }
}
