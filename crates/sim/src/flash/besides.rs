//! What a drive does that its host did not ask for, in time: what `upkeep` says it does and what
//! `map_cache` says is not at hand.

use rand_xoshiro::rand_core::Rng;

use super::jitter::exponential_q32;
use super::map_cache::{Found, PAGE_ENTRIES};
use super::ssd::Ssd;

impl Ssd {
    /// When the front end takes a command that comes at `at_ns`, behind housekeeping, and how much
    /// longer than others it holds it.
    #[cold]
    pub(super) fn held_up(&mut self, at_ns: u64) -> (u64, u64) {
        let Some(upkeep) = &self.upkeep else {
            return (at_ns, 0);
        };
        let from_ns = upkeep.kept_ns(at_ns.max(self.front.free_ns));
        let mut stray_ns = 0;
        if upkeep.stray_q32 > 0 && self.random.next_u64() >> 32 < upkeep.stray_q32 {
            let times_q32 = u128::from(exponential_q32(&mut self.random));
            stray_ns = ((u128::from(upkeep.stray_ns) * times_q32) >> 32) as u64;
        }
        (from_ns, stray_ns)
    }

    /// How often a page is read before what it holds can be corrected, the first time included.
    #[cold]
    pub(super) fn readings(&mut self) -> u64 {
        let Some(upkeep) = &mut self.upkeep else {
            return 1;
        };
        let mut readings = 1;
        while self.random.next_u64() >> 32 < upkeep.retry_q32 {
            readings += 1;
        }
        upkeep.retries += readings - 1;
        readings
    }

    /// Writes the pages of the map that are due, on the dies in turn.
    #[cold]
    pub(super) fn write_map(&mut self, at_ns: u64) {
        loop {
            let programs = self.ftl.programs;
            let Some(upkeep) = &mut self.upkeep else {
                return;
            };
            if upkeep.map_flush_units == 0 || programs < upkeep.map_due {
                return;
            }
            upkeep.map_due = upkeep.map_due.saturating_add(upkeep.map_flush_units);
            upkeep.map_pages += 1;
            let die = upkeep.map_die;
            upkeep.map_die = (die + 1) % self.geometry.dies;
            let page_ns = self.slow.of(die, self.times.program);
            self.dies.occupy(die, at_ns, page_ns);
        }
    }

    /// Lets `die` rewrite the pages that were due before `at_ns`; the host waits for the last one.
    #[cold]
    pub(super) fn refresh(&mut self, die: u32, at_ns: u64) {
        let Some(upkeep) = &mut self.upkeep else {
            return;
        };
        let due_ns = upkeep.refresh_ns[die as usize];
        if upkeep.refresh_every_ns == 0 || due_ns > at_ns {
            return;
        }
        let pages = (at_ns - due_ns) / upkeep.refresh_every_ns + 1;
        let last_ns = due_ns + (pages - 1) * upkeep.refresh_every_ns;
        upkeep.refresh_ns[die as usize] = last_ns + upkeep.refresh_every_ns;
        upkeep.refreshed_pages += pages;
        let page_ns = self.slow.of(die, self.times.read + self.times.program);
        // Those before the last one were over before it was due, unless the die is never done.
        let before_ns = (pages - 1) * page_ns.saturating_sub(upkeep.refresh_every_ns);
        self.dies.occupy(die, last_ns, before_ns + page_ns);
    }

    /// When the entries of the units from `first` to `last` are known to a command that is
    /// served at `at_ns`: to a read; what a write needs is read while it lies in the buffer.
    #[cold]
    pub(super) fn look_up(&mut self, first: u32, last: u32, at_ns: u64, writes: bool) -> u64 {
        let mut known_ns = at_ns;
        for page in first / PAGE_ENTRIES..=last / PAGE_ENTRIES {
            let Some(cache) = &mut self.map_cache else {
                return at_ns;
            };
            match cache.find(page, writes) {
                Found::AtHand { ns } => known_ns = known_ns.max(at_ns + ns),
                Found::OnFlash { evicts } => {
                    let die = page % self.geometry.dies;
                    known_ns = known_ns.max(self.read_page(die, at_ns));
                    if evicts {
                        let page_ns = self.slow.of(die, self.times.program);
                        self.dies.occupy(die, at_ns, page_ns);
                    }
                }
            }
        }
        known_ns
    }
}
