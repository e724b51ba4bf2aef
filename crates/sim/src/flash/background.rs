//! What the dies do besides host I/O: cleaning, at once or in shares, ahead of need in idle time,
//! and folding the region that is written first into the main area.

use super::block::Cleaned;
use super::ssd::Ssd;
use crate::flash::params::{IdleStep, Pacing};

impl Ssd {
    /// Time of moving and erasing, without what the host sees of it.
    fn cleaning_ns(&mut self, die: u32, cleaned: Cleaned) -> u64 {
        self.counters.page_reads += u64::from(cleaned.read_pages);
        let ns = u64::from(cleaned.read_pages) * self.times.read
            + u64::from(cleaned.programmed_pages) * (self.times.program + self.times.moved)
            + u64::from(cleaned.erased_blocks) * self.times.erase;
        self.slow.of(die, ns)
    }

    /// Makes `die` pay for cleaning: at once, or with each of the pages it made room for.
    pub(super) fn charge(&mut self, die: u32, cleaned: Cleaned, at_ns: u64) {
        let cost_ns = self.cleaning_ns(die, cleaned);
        let room = u64::from(cleaned.room_pages.max(1));
        let loss_ns = if cleaned.read_pages == 0 {
            self.slow.of(die, self.times.seq_extra) * room
        } else {
            0
        };
        let owed_ns = match self.params.pacing {
            Pacing::Lump => {
                self.dies.occupy(die, at_ns, cost_ns);
                loss_ns
            }
            Pacing::Paced => cost_ns + loss_ns,
        };
        let clock = self.dies.clock_mut(die);
        clock.debt_ns += owed_ns;
        clock.share_ns = clock.debt_ns.div_ceil(room);
    }

    /// Lets `die` fold and clean ahead in the idle time before `until_ns`, if it has a region or
    /// keeps a pool.
    #[inline]
    pub(super) fn work_while_idle(&mut self, die: u32, until_ns: u64) {
        if self.pool_blocks > 0 || self.has_region {
            self.work_ahead(die, until_ns);
        }
    }

    fn work_ahead(&mut self, die: u32, until_ns: u64) {
        let free_ns = self.dies.busy_until_ns(die);
        let mut free_ns = free_ns.saturating_add(self.params.idle_wait_ns);
        while free_ns < until_ns && self.fold(die, free_ns) {
            free_ns = free_ns.max(self.dies.busy_until_ns(die));
        }
        // A page that is being filled lies at the frontier that moved units would go to.
        while free_ns < until_ns && self.ftl.filling() != Some(die) {
            let cleaned = match self.params.idle_step {
                IdleStep::Block => self.ftl.clean_ahead(die, self.pool_blocks),
                IdleStep::Page => self.ftl.clean_step(die, self.pool_blocks),
            };
            let Some(cleaned) = cleaned else {
                return;
            };
            free_ns += self.cleaning_ns(die, cleaned);
            self.dies.set_busy_until(die, free_ns);
            if self.params.idle_step == IdleStep::Page && cleaned.is_erase_alone() {
                self.dies.clock_mut(die).erase_until_ns = free_ns;
            }
        }
    }

    /// Folds as much of the region as fills one page of the main area; false if there is nothing.
    pub(super) fn fold(&mut self, die: u32, at_ns: u64) -> bool {
        let Some(folded) = self.ftl.fold(die) else {
            return false;
        };
        if folded.cleaned.erased_blocks > 0 {
            self.charge(die, folded.cleaned, at_ns);
        }
        self.counters.page_reads += u64::from(folded.read_pages);
        self.counters.folded_pages += u64::from(folded.programmed_pages);
        let ns = u64::from(folded.read_pages) * self.times.read
            + u64::from(folded.programmed_pages) * self.times.fold
            + u64::from(folded.erased_blocks) * self.times.erase;
        self.dies.occupy(die, at_ns, self.slow.of(die, ns));
        if folded.programmed_pages > 0 {
            self.program(die, self.times.program, at_ns);
        }
        true
    }
}
