//! Host writes to maps that no cache holds. What will be asked of the map is fetched before. Where
//! the blocks are too many as well, those that lose a unit by them hear of it some writes later.
//! Whatever asks blocks or victims settles first, so that nothing can see the difference.

use std::borrow::Cow;

use super::block::{Cleaned, UNMAPPED};
use super::ftl::Ftl;
use crate::memory::{prefetch, LINE_ENTRIES};

impl Ftl {
    /// Writes `unit` to `die`; the block that held it hears of it later if the die has an open
    /// slot.
    #[inline]
    pub(super) fn write_far(&mut self, unit: u32, die: u32) -> Cleaned {
        let state = &mut self.dies[die as usize];
        let slot = state.host.next;
        if slot == state.host.end || self.region.is_some() {
            self.settle();
            return self.write_now(unit, die);
        }
        state.host.next += 1;
        state.live += 1;
        let old = std::mem::replace(&mut self.l2p[unit as usize], slot);
        self.fill_slot(unit, slot, die);
        if old != UNMAPPED {
            self.release_later(old);
        }
        Cleaned::default()
    }

    /// Counts `slot`, which held a unit, as valid no longer, at the latest when somebody asks.
    #[inline]
    pub(super) fn release_later(&mut self, slot: u32) {
        let Some(pending) = &mut self.pending else {
            return self.release(slot);
        };
        prefetch(&self.blocks, slot >> self.shift);
        self.valid.look_up(slot);
        if let Some(first) = pending.push(slot) {
            self.release(first);
        }
    }

    /// Counts all pending slots as valid no longer.
    #[inline]
    pub(super) fn settle(&mut self) {
        if self.pending.is_some() {
            self.release_pending();
        }
    }

    #[inline(never)]
    fn release_pending(&mut self) {
        while let Some(slot) = self.pending.as_mut().and_then(|pending| pending.pop()) {
            self.release(slot);
        }
    }

    /// The same state without pending slots.
    pub(super) fn settled(&self) -> Cow<'_, Self> {
        match &self.pending {
            Some(pending) if !pending.is_empty() => {
                let mut settled = self.clone();
                settled.settle();
                Cow::Owned(settled)
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// Asks for the map of the units from `first` to `last`, soon to be read or written.
    #[inline]
    pub(super) fn foresee(&self, first: u32, last: u32) {
        let mut unit = first;
        loop {
            prefetch(&self.l2p, unit);
            if unit >= last {
                return;
            }
            unit = last.min(unit + LINE_ENTRIES);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use teijo_engine::request::Op;

    use crate::device::Device;
    use crate::flash::params::{Cleaning, Frontier, Geometry};
    use crate::flash::{Ftl, Ssd};
    use crate::presets;

    const UNIT_BYTES: u64 = 4096;

    /// Drives of 64 MiB that clean in every way there is.
    const DRIVES: &[&str] = &[
        "slc-a",
        "mlc-a?pacing=paced&gc=fifo",
        "mlc-b?gc=random:3&frontier=separate",
        "s3700?frontier=separate&pacing=paced",
        "s3700?frontier=shared&idle_pool_percent=2",
        "s3700?frontier=shared&idle_pool_percent=2&idle_step=page",
        "slc-b?frontier=separate&page=16KiB&idle_pool_percent=2&idle_step=page",
        "slc-b?page_times=exponential&page=16KiB",
        "slc-a?slc_region=8MiB&idle_pool_percent=1",
        "mlc-a?compression=on",
    ];

    /// Blocks shorter and longer than cleaning looks ahead.
    const LAYOUTS: &[&str] = &["dies=7&pages_per_block=8", "dies=3&pages_per_block=64"];

    fn drive(text: &str, layout: &str) -> Ssd {
        let mark = if text.contains('?') { '&' } else { '?' };
        let text = format!("{text}{mark}capacity=64MiB&{layout}");
        presets::open(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// One host command of any kind, most of them writes of a unit to half of the drive.
    fn command(random: &mut impl Rng, capacity_bytes: u64) -> (Op, u64, u32) {
        let mut below = |limit: u64| ((random.next_u64() >> 32) * limit) >> 32;
        let units = capacity_bytes / UNIT_BYTES;
        let unit = if below(2) == 0 {
            below(units)
        } else {
            below(64)
        };
        let offset_bytes = unit * UNIT_BYTES;
        match below(256) {
            0 => (Op::Flush, 0, 0),
            1..4 => (Op::Discard, offset_bytes, 16 * UNIT_BYTES as u32),
            4..16 => (Op::Read, offset_bytes, 4 * UNIT_BYTES as u32),
            16..20 => (Op::Write, offset_bytes + 512, 512),
            20..30 => (Op::Write, offset_bytes, 3 * UNIT_BYTES as u32),
            _ => (Op::Write, offset_bytes, UNIT_BYTES as u32),
        }
    }

    #[test]
    fn nothing_can_tell_that_blocks_hear_of_it_later() {
        for text in DRIVES {
            for layout in LAYOUTS {
                let waited = slots_that_waited(drive(text, layout), drive(text, layout));
                let defers = !text.contains("slc_region") && !text.contains("compression");
                assert_eq!(waited > 0, defers, "{text}: {waited} slots waited");
            }
        }
    }

    /// Gives both drives the same commands, idle times and purges, and compares all that shows.
    fn slots_that_waited(mut at_once: Ssd, mut later: Ssd) -> u32 {
        let name = format!("{:?}", at_once.params());
        assert!(at_once.ftl.pending.is_none());
        later.ftl.pending = Some(Box::default());
        later.ftl.is_far = true;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let (mut at_ns, mut waited) = (0, 0);
        for number in 0..100_000 {
            let (op, offset_bytes, length_bytes) = command(&mut random, later.capacity_bytes());
            let known = at_once.serve(op, offset_bytes, length_bytes, at_ns);
            let seen = later.serve(op, offset_bytes, length_bytes, at_ns);
            assert_eq!(seen, known, "{op:?} {number} {name}");
            let pending = later.ftl.pending.as_ref();
            waited += u32::from(pending.is_some_and(|pending| !pending.is_empty()));
            if number % 8 == 0 {
                at_ns = at_ns.max(known.done_ns);
            }
            if number % 10_000 == 5_000 {
                later.ftl.check();
                assert_eq!(later.digest(), at_once.digest(), "{number} {name}");
                assert_eq!(later.health(), at_once.health(), "{number} {name}");
                assert_eq!(later.ftl.live_units(), at_once.ftl.live_units());
                later = later.clone();
                at_once.idle(at_ns, at_ns + 1_000_000_000);
                later.idle(at_ns, at_ns + 1_000_000_000);
                at_ns += 1_000_000_000;
            }
            if number == 75_000 {
                let purged_ns = at_once.purge(at_ns);
                assert_eq!(later.purge(at_ns), purged_ns, "{name}");
                assert_eq!(later.ftl.live_units(), 0);
                at_ns = purged_ns;
            }
        }
        waited
    }

    #[test]
    fn a_full_die_is_passed_over_at_the_same_write() {
        let geometry = Geometry {
            units: 63,
            dies: 2,
            blocks_per_die: 6,
            pages_per_block: 8,
        };
        let mut at_once = Ftl::new(geometry, Cleaning::Greedy, Frontier::Shared, 1);
        let mut later = at_once.clone();
        later.pending = Some(Box::default());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for number in 0..10_000 {
            let unit = (random.next_u64() % 63) as u32;
            let (known, seen) = (at_once.pick_die(), later.pick_die());
            assert_eq!(seen, known, "write {number}");
            assert_eq!(later.write(unit, seen), at_once.write(unit, known));
        }
    }

    #[test]
    fn a_unit_written_twice_in_a_row_lies_where_it_was_written_last() {
        let mut ftl = drive("slc-a", LAYOUTS[0]).ftl;
        ftl.pending = Some(Box::default());
        for die in [0, 1, 2, 3, 2] {
            ftl.write(9, die);
        }
        assert_eq!((ftl.die_of(9), ftl.live_units()), (Some(2), 1));
        assert_eq!(
            (ftl.die_of(8), ftl.trim(9), ftl.trim(9)),
            (None, true, false)
        );
        assert_eq!(ftl.live_units(), 0);
        ftl.check();
    }
}
