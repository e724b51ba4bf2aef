//! What a drive does that nobody asked for, and what goes wrong on the way: commands that stray,
//! housekeeping, pages that are read again, the map that is written, pages that are refreshed.

use rand_xoshiro::rand_core::Rng;

use super::jitter::exponential_q32;
use super::ssd::Ssd;
use crate::flash::params::UpkeepParams;

/// Chances are numbers of 32 bits.
const WHOLE_Q32: f64 = 4_294_967_296.0;

/// The parameters as they are drawn from, and how far the upkeep of each die has come.
#[derive(Clone, Debug)]
pub(super) struct Upkeep {
    stray_q32: u64,
    stray_ns: u64,
    housekeeping_every_ns: u64,
    housekeeping_ns: u64,
    retry_q32: u64,
    map_flush_units: u64,
    /// Units programmed when the next page of the map is due.
    map_due: u64,
    map_die: u32,
    refresh_every_ns: u64,
    /// When each die is due to rewrite its next page.
    refresh_ns: Vec<u64>,
    /// Pages of the map that were written, and pages rewritten to keep them readable.
    pub(super) map_pages: u64,
    pub(super) refreshed_pages: u64,
    pub(super) retries: u64,
}

impl Upkeep {
    /// `None` for a drive that does nothing of it.
    pub(super) fn new(params: &UpkeepParams, dies: u32) -> Option<Box<Self>> {
        let chance = |percent: f64| (percent / 100.0 * WHOLE_Q32) as u64;
        let upkeep = Self {
            stray_q32: chance(params.stray_percent),
            stray_ns: params.stray_ns,
            housekeeping_every_ns: params.housekeeping_every_ns,
            housekeeping_ns: params.housekeeping_ns.min(params.housekeeping_every_ns),
            retry_q32: chance(params.retry_percent),
            map_flush_units: params.map_flush_units,
            map_due: params.map_flush_units,
            map_die: 0,
            refresh_every_ns: params.refresh_ns,
            // Not all at once.
            refresh_ns: (1..=u64::from(dies))
                .map(|place| params.refresh_ns * place / u64::from(dies))
                .collect(),
            map_pages: 0,
            refreshed_pages: 0,
            retries: 0,
        };
        let is_any = upkeep.stray_q32 > 0
            || upkeep.housekeeping_ns > 0
            || upkeep.retry_q32 > 0
            || upkeep.map_flush_units > 0
            || upkeep.refresh_every_ns > 0;
        is_any.then(|| Box::new(upkeep))
    }

    /// When the front end is free of housekeeping, of a command that comes at `at_ns`.
    fn kept_ns(&self, at_ns: u64) -> u64 {
        if self.housekeeping_ns == 0 {
            return at_ns;
        }
        let since_ns = at_ns % self.housekeeping_every_ns;
        at_ns + self.housekeeping_ns.saturating_sub(since_ns)
    }

    /// A purge leaves nothing to write or to refresh before `at_ns`.
    pub(super) fn rest(&mut self, at_ns: u64, programs: u64) {
        self.map_due = programs + self.map_flush_units;
        let dies = self.refresh_ns.len() as u64;
        for (place, due_ns) in (1..).zip(&mut self.refresh_ns) {
            *due_ns = at_ns + self.refresh_every_ns * place / dies;
        }
    }

    pub(super) fn visit(&self, mix: impl FnMut(u64)) {
        let own = [self.map_due, u64::from(self.map_die), self.map_pages];
        own.into_iter()
            .chain([self.refreshed_pages, self.retries])
            .chain(self.refresh_ns.iter().copied())
            .for_each(mix);
    }
}

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
            upkeep.map_due += upkeep.map_flush_units;
            upkeep.map_pages += 1;
            let die = upkeep.map_die;
            upkeep.map_die = (die + 1) % self.geometry.dies;
            let page_ns = self.slow.of(die, self.times.program);
            let clock = &mut self.dies[die as usize];
            clock.busy_until_ns = clock.busy_until_ns.max(at_ns) + page_ns;
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
        let clock = &mut self.dies[die as usize];
        // Those before the last one were over before it was due, unless the die is never done.
        let before_ns = (pages - 1) * page_ns.saturating_sub(upkeep.refresh_every_ns);
        clock.busy_until_ns = clock.busy_until_ns.max(last_ns) + before_ns + page_ns;
    }
}
