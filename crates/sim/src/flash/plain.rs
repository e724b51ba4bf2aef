//! Short paths for whole units, of a drive that does nothing besides: no region, no pool of free
//! blocks, no upkeep. They do what `write_unit` and `read` do for one unit after the other, in the
//! same order and with the same draws, but leave out what such a drive does not need.

use teijo_engine::request::Op;

use super::block::UNMAPPED;
use super::ftl::Ftl;
use super::ssd::Ssd;
use crate::clip::LOGICAL_BLOCK_BYTES;
use crate::device::Outcome;

impl Ftl {
    /// Writes `unit` to `die`; false, and nothing happens, where that has more to do for it.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each unit comes through here")]
    pub(super) fn write_plainly(&mut self, unit: u32, die: u32) -> bool {
        let state = &mut self.dies[die as usize];
        let slot = state.host.next;
        if slot == state.host.end || state.live >= self.live_max {
            return false;
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
        true
    }
}

impl Ssd {
    /// Whether a whole unit is written by nothing but the map, the buffer and a die.
    pub(super) fn writes_plainly(&self) -> bool {
        self.params.page_units() == 1
            && !self.params.compression.on
            && self.upkeep.is_none()
            && self.pool_blocks == 0
            && !self.has_region
    }

    /// Whether a command has besides nothing to do with the map, with flushes or with heat.
    pub(super) fn serves_barely(&self) -> bool {
        self.is_plain && self.map_cache.is_none() && self.flushing.is_none() && self.heat.is_none()
    }

    /// Serves a command that reads from one unit or writes a whole one, of a drive that has nothing
    /// else to do for it. `None`, and nothing happens, for any other.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "half of all calls would be this one")]
    pub(crate) fn serve_unit(
        &mut self,
        op: Op,
        offset_bytes: u64,
        length_bytes: u32,
        at_ns: u64,
    ) -> Option<Outcome> {
        let unit_bytes = 1 << self.unit_shift;
        let length = u64::from(length_bytes);
        let is_aligned = (offset_bytes | length) & u64::from(LOGICAL_BLOCK_BYTES - 1) == 0;
        let is_within = (offset_bytes & (unit_bytes - 1)) + length <= unit_bytes && length > 0;
        if !is_aligned || !is_within || !self.is_bare || offset_bytes + length > self.capacity_bytes
        {
            return None;
        }
        let done_ns = match op {
            Op::Read => self.read_one(offset_bytes, length, at_ns),
            Op::Write if length == unit_bytes => self.write_one(offset_bytes, at_ns),
            Op::Write | Op::Flush | Op::Discard => return None,
        };
        let result = length_bytes.cast_signed();
        Some(Outcome { done_ns, result })
    }

    /// Reads from one unit, as `read` does.
    #[inline]
    fn read_one(&mut self, offset_bytes: u64, length_bytes: u64, at_ns: u64) -> u64 {
        let command_ns = self.times.read_command;
        let front = &mut self.front;
        let ready_ns = front.serve(Op::Read, at_ns, command_ns, self.times.turnaround);
        let link_ns = (length_bytes * self.times.link_q24) >> 24;
        let transfer_ns = link_ns.max(self.times.bus_unit);
        let sent_ns = front.transfer(Op::Read, ready_ns, transfer_ns);
        self.counters.read_bytes += length_bytes;
        let data_ns = match self.goes_on(offset_bytes, length_bytes) {
            None => self.fetch_one(offset_bytes, length_bytes, ready_ns),
            Some(stream) => {
                let fetched = self.fetch_in_sequence(stream, offset_bytes, length_bytes, ready_ns);
                fetched.data_ns
            }
        };
        let moved_ns = data_ns.map_or(sent_ns, |data_ns| (data_ns + transfer_ns).max(sent_ns));
        moved_ns + self.times.ack
    }

    /// Reads from one unit, as `fetch_unit` does; when what was read is there.
    #[inline]
    fn fetch_one(&mut self, offset_bytes: u64, length_bytes: u64, ready_ns: u64) -> Option<u64> {
        let unit = (offset_bytes >> self.unit_shift) as u32;
        let Some((die, _)) = self.ftl.place_of(unit) else {
            self.counters.unwritten_bytes += length_bytes;
            return None;
        };
        let page_ns = self.jittered(die, self.times.read);
        let page_ns = self.dies.read(die, ready_ns, page_ns, self.waits);
        self.counters.page_reads += 1;
        let transfer_ns = if length_bytes == 1 << self.unit_shift {
            self.times.unit_transfer
        } else {
            self.transfer_ns(unit, offset_bytes, offset_bytes + length_bytes)
        };
        Some(page_ns + transfer_ns)
    }

    /// Writes a whole unit, as `write` does.
    #[inline]
    fn write_one(&mut self, offset_bytes: u64, at_ns: u64) -> u64 {
        let (unit, unit_bytes) = (
            (offset_bytes >> self.unit_shift) as u32,
            1 << self.unit_shift,
        );
        let command_ns = self.times.write_command;
        let front = &mut self.front;
        let served_ns = front.serve(Op::Write, at_ns, command_ns, self.times.turnaround);
        let link_ns = (unit_bytes * self.times.link_q24) >> 24;
        let sent_ns = front.transfer(Op::Write, served_ns, link_ns);
        if let Some(ahead) = &mut self.read_ahead {
            ahead.forget(unit, unit);
        }
        if !self.write_alone(unit, sent_ns) {
            self.write_between(unit, sent_ns);
        }
        self.counters.written_bytes += unit_bytes;
        self.admitted_ns + self.times.write_ack
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
            unit = self.write_many(unit, end as u32, sent_ns);
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
        if let Some(held) = &mut self.held {
            let start_bytes = u64::from(unit) << self.unit_shift;
            held.put(
                self.buffer_next,
                start_bytes,
                start_bytes + (1 << self.unit_shift),
            );
        }
        self.write_unit(unit, true, sent_ns);
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::device::Device;
    use crate::presets;

    const UNIT_BYTES: u64 = 4096;

    /// One unit and fewer, and many, of which the last is not always whole; one is refused.
    const LENGTHS_BYTES: &[u32] = &[
        4096, 4096, 4096, 8192, 512, 2560, 16_384, 65_536, 61_952, 303_104, 1_048_576, 700,
    ];

    /// Drives of 64 MiB and what of their commands goes a short way.
    const DRIVES: &[(&str, bool)] = &[
        ("slc-a", true),
        ("slc-a?placement=turn&gc=fifo", true),
        (
            "slc-a?pacing=paced&frontier=separate&jitter_percent=0",
            true,
        ),
        ("slc-a?dies=23&slow_die=3:2.5&page_times=exponential", true),
        ("slc-a?dies=1&buffer=64KiB", true),
        ("slc-a?dies=64&jitter_percent=100&pacing=paced", true),
        ("slc-a?dies=65&slow_die=64:3", true),
        ("slc-a?power_loss_protection=on&link_duplex=full", true),
        ("slc-a?compression=on", false),
        ("slc-a?page=16KiB", false),
        ("slc-a?slc_region=8MiB", false),
        ("slc-a?idle_pool_percent=2", false),
        ("s3700", true),
        ("s3700?codeword=512&read_ahead=64KiB", true),
        ("s3700?idle_pool_percent=2", false),
    ];

    fn drive(text: &str) -> Ssd {
        let mark = if text.contains('?') { '&' } else { '?' };
        let text = format!("{text}{mark}capacity=64MiB&pages_per_block=16");
        presets::open(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn the_short_way_ends_where_the_long_way_does() {
        for &(text, is_short) in DRIVES {
            let (mut short, mut long) = (drive(text), drive(text));
            assert_eq!(short.is_bare, is_short, "{text}");
            (long.is_bare, long.is_plain) = (false, false);
            let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
            let units = short.capacity_bytes() / UNIT_BYTES;
            let (mut at_ns, mut end_bytes) = (0, 0);
            for number in 0..50_000 {
                let mut below = |limit: u64| ((random.next_u64() >> 32) * limit) >> 32;
                let mut length_bytes = LENGTHS_BYTES[below(LENGTHS_BYTES.len() as u64) as usize];
                let (op, offset_bytes) = match below(8) {
                    // Reads go on where the command before ended, and what lies ahead is written.
                    0..2 => (Op::Read, end_bytes),
                    2 => {
                        length_bytes = UNIT_BYTES as u32;
                        let ahead = 1 + below(4);
                        (Op::Write, (end_bytes / UNIT_BYTES + ahead) * UNIT_BYTES)
                    }
                    _ => {
                        let op = [Op::Read, Op::Write, Op::Write, Op::Discard, Op::Flush];
                        let op = op[[0, 1, 2, 0, 1, 2, 3, 4][below(8) as usize]];
                        let astray_bytes = 512 * below(64).saturating_sub(61);
                        (op, below(units + 1) * UNIT_BYTES + astray_bytes)
                    }
                };
                if op != Op::Write {
                    end_bytes = offset_bytes + u64::from(length_bytes);
                }
                let known = long.serve(op, offset_bytes, length_bytes, at_ns);
                let seen = short.serve(op, offset_bytes, length_bytes, at_ns);
                assert_eq!(seen, known, "{text}: {op:?} {number}");
                assert_eq!(
                    short.volatile(at_ns),
                    long.volatile(at_ns),
                    "{text}: {number}"
                );
                if number % 8 == 0 {
                    at_ns = at_ns.max(known.done_ns);
                }
                if number % 10_000 == 9_999 {
                    assert_eq!(short.power_cut(at_ns), long.power_cut(at_ns), "{text}");
                }
            }
            assert_eq!(short.digest(), long.digest(), "{text}");
            assert_eq!(short.health(), long.health(), "{text}");
        }
    }
}
