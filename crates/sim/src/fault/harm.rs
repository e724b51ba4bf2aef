//! What a faulty device does to data: reads that bring what is old or wrong, writes that are not
//! stored, or not wholly, and what a power cut would take.

use teijo_engine::request::Op;

use super::faulty::Faulty;
use super::lottery::Draw;
use super::requests::{Io, Request};
use crate::clip::LOGICAL_BLOCK_BYTES;
use crate::device::{Damage, Device};

impl<D: Device> Faulty<D> {
    /// What becomes of the data of an I/O that succeeded.
    pub(super) fn harm(&mut self, io: Io, result: i32) {
        let Some(&request) = self.requests.get(io) else {
            return;
        };
        let Request {
            ticket,
            op,
            offset_bytes,
            length_bytes,
            mark,
            ..
        } = request;
        let is_whole = result == length_bytes.cast_signed();
        let falls = |draw, percent| is_whole && self.lottery.falls(draw, io, percent);
        let sectors = u64::from(length_bytes / LOGICAL_BLOCK_BYTES);
        match op {
            Op::Read if falls(Draw::Stale, self.params.stale_percent) => {
                self.injected.stale += 1;
                self.damage.push(Damage::Stale { ticket });
            }
            Op::Read if falls(Draw::Flipped, self.params.flip_percent) => {
                self.injected.flipped += 1;
                let bits = u64::from(length_bytes) * 8;
                let bit = self.lottery.below(Draw::Bit, io, bits);
                self.damage.push(Damage::Flipped { ticket, bit });
            }
            Op::Read | Op::Discard => {}
            Op::Flush => self.window.flush(mark),
            Op::Write if result < 0 => {}
            Op::Write => {
                let mut kept_bytes = result.cast_unsigned();
                if falls(Draw::Dropped, self.params.drop_percent) {
                    self.injected.dropped += 1;
                    kept_bytes = 0;
                } else if sectors > 1 && falls(Draw::Torn, self.params.torn_percent) {
                    self.injected.torn += 1;
                    let kept = 1 + self.lottery.below(Draw::Kept, io, sectors - 1);
                    kept_bytes = kept as u32 * LOGICAL_BLOCK_BYTES;
                }
                if kept_bytes < length_bytes {
                    self.damage.push(Damage::Kept {
                        ticket,
                        bytes: kept_bytes,
                    });
                }
                self.window.put((offset_bytes, u64::from(kept_bytes)));
                self.written_bytes += u64::from(length_bytes);
                if self
                    .cut_after_bytes
                    .is_some_and(|bytes| bytes <= self.written_bytes)
                {
                    self.cut_after_bytes = None;
                    self.cut_at_ns = Some(self.now_ns);
                }
            }
        }
    }
}
