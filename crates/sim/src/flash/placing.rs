//! Which die the next page of the host goes to, where it is not the next in turn.

use super::ftl::Ftl;
use super::ssd::Ssd;
use crate::flash::params::{Placement, WhenFull};

impl Ftl {
    /// Whether `die` may take another live unit.
    fn takes(&mut self, die: u32) -> bool {
        if self.dies[die as usize].live >= self.live_max {
            self.settle();
        }
        self.dies[die as usize].live < self.live_max
    }
}

impl Ssd {
    /// The die that the next unit of the host goes to, at `at_ns`.
    #[inline]
    pub(super) fn pick_die(&mut self, at_ns: u64) -> u32 {
        match self.params.placement {
            Placement::Turn => self.ftl.pick_die(),
            Placement::Free => self.pick_free(at_ns),
        }
    }

    /// The die that is free first. One that has to clean before it takes a page begins to, and the
    /// page goes to whichever is free first then.
    #[inline(never)]
    fn pick_free(&mut self, at_ns: u64) -> u32 {
        if let Some(die) = self.ftl.filling() {
            return die;
        }
        loop {
            let die = self.free_first(at_ns);
            let next = die + 1;
            self.ftl.next_die = if next == self.geometry.dies { 0 } else { next };
            if self.goes_to_region(die) {
                return die;
            }
            let Some(cleaned) = self.ftl.make_room(die) else {
                return die;
            };
            if cleaned.erased_blocks > 0 {
                self.charge(die, cleaned, at_ns);
            }
        }
    }

    /// Of the dies that are not full: the first in turn that is free at `at_ns`, or else the one
    /// that is free before all others.
    fn free_first(&mut self, at_ns: u64) -> u32 {
        let die = self.dies.free_first(self.ftl.next_die, at_ns);
        if self.ftl.takes(die) {
            debug_assert_eq!(die, self.free_of_those_that_take(at_ns));
            return die;
        }
        self.free_of_those_that_take(at_ns)
    }

    /// The same where the die that is free first is full: all are looked at.
    #[cold]
    fn free_of_those_that_take(&mut self, at_ns: u64) -> u32 {
        let turn = self.ftl.next_die;
        let mut first = (u64::MAX, turn);
        for die in (turn..self.geometry.dies).chain(0..turn) {
            let free_ns = self.dies.busy_until_ns(die).max(at_ns);
            if free_ns < first.0 && self.ftl.takes(die) {
                first = (free_ns, die);
            }
        }
        first.1
    }

    fn goes_to_region(&self, die: u32) -> bool {
        let folds = self.params.region.when_full == WhenFull::Fold;
        self.has_region && (folds || self.ftl.region_has_room(die))
    }
}
