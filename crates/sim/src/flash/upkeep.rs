//! What a drive does that nobody asked for, and what goes wrong on the way: commands that stray,
//! housekeeping, pages that are read again, the map that is written, pages that are refreshed.

use crate::flash::params::UpkeepParams;

/// Chances are numbers of 32 bits.
const WHOLE_Q32: f64 = 4_294_967_296.0;

/// The parameters as they are drawn from, and how far the upkeep of each die has come.
#[derive(Clone, Debug)]
pub(super) struct Upkeep {
    pub(super) stray_q32: u64,
    pub(super) stray_ns: u64,
    pub(super) housekeeping_every_ns: u64,
    pub(super) housekeeping_ns: u64,
    pub(super) retry_q32: u64,
    pub(super) map_flush_units: u64,
    /// Units programmed when the next page of the map is due.
    pub(super) map_due: u64,
    pub(super) map_die: u32,
    pub(super) refresh_every_ns: u64,
    /// When each die is due to rewrite its next page.
    pub(super) refresh_ns: Vec<u64>,
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
                .map(|place| params.refresh_ns / u64::from(dies) * place)
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

    /// Memory that it takes, known before.
    pub(super) fn need_bytes(dies: u32) -> u64 {
        size_of::<Self>() as u64 + size_of::<u64>() as u64 * u64::from(dies)
    }

    /// When the front end is free of housekeeping, of a command that comes at `at_ns`.
    pub(super) fn kept_ns(&self, at_ns: u64) -> u64 {
        if self.housekeeping_ns == 0 {
            return at_ns;
        }
        let since_ns = at_ns % self.housekeeping_every_ns;
        at_ns + self.housekeeping_ns.saturating_sub(since_ns)
    }

    /// A purge leaves nothing to write or to refresh before `at_ns`.
    pub(super) fn rest(&mut self, at_ns: u64, programs: u64) {
        self.map_due = programs.saturating_add(self.map_flush_units);
        let dies = self.refresh_ns.len() as u64;
        for (place, due_ns) in (1..).zip(&mut self.refresh_ns) {
            *due_ns = at_ns + self.refresh_every_ns / dies * place;
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
