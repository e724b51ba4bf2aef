//! Dies in order of when they are free, for commands whose many pages each go to the one that is
//! free first. A page keeps its die busy until about when the page before it does, whatever other
//! dies are cleaned and free much later: so its place in the order is sought from there.

use super::soonest::Soonest;

/// Dies that one word has a bit for each of, and that a queue has at the most.
const WORD: usize = u64::BITS as usize;
/// Stands before the first die in order and after the last.
const END: u8 = u64::BITS as u8;
/// As many places as a number of one byte can name: none is outside.
const PLACES: usize = 1 << u8::BITS;

/// The dies of a drive. Between two commands nothing is known but an order that was right once.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    /// When each die is free, `END` never.
    free_ns: [u64; PLACES],
    /// Which stands before each, and after it.
    before: [u8; PLACES],
    after: [u8; PLACES],
    /// What was put in last and is still there, or `END`.
    last: u8,
    /// One bit for each die that is not in order: it is free by `by_ns`.
    due: u64,
    by_ns: u64,
}

impl Queue {
    /// `None` where there are too many dies.
    pub(super) fn new(count: usize) -> Option<Box<Self>> {
        let empty = Self {
            free_ns: [u64::MAX; PLACES],
            before: [END; PLACES],
            after: [END; PLACES],
            last: END,
            due: u64::MAX >> (WORD - count.clamp(1, WORD)),
            by_ns: 0,
        };
        (count <= WORD).then(|| Box::new(empty))
    }

    /// `before` and `after` are neighbours from now on.
    #[inline]
    fn join(&mut self, before: u8, after: u8) {
        self.after[usize::from(before)] = after;
        self.before[usize::from(after)] = before;
    }

    /// Puts all dies in order by when they are free now.
    pub(super) fn begin(&mut self, free_ns: &Soonest) {
        let mut moved = self.due;
        self.by_ns = 0;
        let mut die = self.after[usize::from(END)];
        while die != END {
            let place = usize::from(die);
            let after = self.after[place];
            if self.free_ns[place] != free_ns.get(u32::from(die)) {
                let before = self.before[place];
                self.join(before, after);
                moved |= 1 << die;
                if die == self.last {
                    self.last = before;
                }
            }
            die = after;
        }
        while moved != 0 {
            let die = moved.trailing_zeros();
            self.put(die, free_ns.get(die));
            moved &= moved - 1;
        }
    }

    /// As `Soonest::first`, where `at_ns` never falls.
    #[inline]
    pub(super) fn first(&mut self, turn: u32, at_ns: u64) -> u32 {
        let first = self.after[usize::from(END)];
        let first_ns = self.free_ns[usize::from(first)];
        self.by_ns = self.by_ns.max(at_ns);
        if self.due == 0 {
            self.by_ns = self.by_ns.max(first_ns);
        }
        if first_ns <= self.by_ns {
            self.take_due(first);
        }
        let from = self.due >> turn << turn;
        let due = if from == 0 { self.due } else { from };
        due.trailing_zeros()
    }

    /// Takes out those that are free, `die` before all.
    #[inline]
    fn take_due(&mut self, mut die: u8) {
        loop {
            self.due |= 1 << die;
            if die == self.last {
                self.last = END;
            }
            die = self.after[usize::from(die)];
            if self.free_ns[usize::from(die)] > self.by_ns {
                return self.join(END, die);
            }
        }
    }

    /// The die that was found last is free again at `free_ns`.
    #[inline]
    pub(super) fn put(&mut self, die: u32, free_ns: u64) {
        self.due &= !(1 << die);
        let mut before = self.last;
        while before != END && self.free_ns[usize::from(before)] > free_ns {
            before = self.before[usize::from(before)];
        }
        let mut after = self.after[usize::from(before)];
        while self.free_ns[usize::from(after)] <= free_ns {
            (before, after) = (after, self.after[usize::from(after)]);
        }
        let die = die as u8;
        self.free_ns[usize::from(die)] = free_ns;
        self.join(before, die);
        self.join(die, after);
        self.last = die;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against the search over all dies, in commands of several pages; between them dies are
        /// kept busy by other things.
        #[test]
        fn the_die_is_the_one_that_a_search_finds(
            count in 1_usize..=64,
            commands in proptest::collection::vec(
                (
                    proptest::collection::vec((0_u32..64, 0_u64..40), 0..4),
                    proptest::collection::vec((0_u64..3, 0_u64..30), 1..40),
                    0_u32..64,
                ),
                1..12,
            ),
        ) {
            let mut queue = Queue::new(count).unwrap();
            let mut free_ns = Soonest::new(count);
            let mut at_ns = 0;
            for (besides, pages, turn) in commands {
                for (die, busy_ns) in besides {
                    let die = die % count as u32;
                    free_ns.set(die, free_ns.get(die) + busy_ns);
                }
                queue.begin(&free_ns);
                let mut turn = turn % count as u32;
                for (later_ns, program_ns) in pages {
                    at_ns += later_ns;
                    let die = queue.first(turn, at_ns);
                    prop_assert_eq!(die, free_ns.first(turn, at_ns));
                    free_ns.set(die, free_ns.get(die).max(at_ns) + program_ns);
                    queue.put(die, free_ns.get(die));
                    turn = (die + 1) % count as u32;
                }
                // A page for which there was no room.
                queue.first(turn, at_ns);
            }
        }
    }
}
