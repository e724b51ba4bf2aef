//! Which worker of a simulated session goes on next.

/// When each worker goes on: the earliest first, of equals the first in order.
pub(super) struct Agenda {
    /// `u64::MAX` for a worker that has no event.
    pub due_ns: Vec<u64>,
    /// Whether it waits for something that only the device can bring.
    waits: Vec<bool>,
    /// A tournament: the children of place `n` are at `2 n` and `2 n + 1`, each place but a leaf
    /// has the earlier of its children, and place 1 the earliest of all.
    earliest: Vec<usize>,
}

impl Agenda {
    pub fn new(workers: usize) -> Self {
        let leaves = workers.next_power_of_two();
        let mut agenda = Self {
            due_ns: vec![u64::MAX; leaves],
            waits: vec![false; workers],
            earliest: (0..leaves).chain(0..leaves).collect(),
        };
        (0..leaves).for_each(|index| agenda.set(index, u64::MAX));
        agenda
    }

    #[inline]
    fn set(&mut self, index: usize, at_ns: u64) {
        self.due_ns[index] = at_ns;
        let mut place = self.due_ns.len() + index;
        while place > 1 {
            place /= 2;
            let (left, right) = (self.earliest[2 * place], self.earliest[2 * place + 1]);
            let is_right = self.due_ns[right] < self.due_ns[left];
            self.earliest[place] = if is_right { right } else { left };
        }
    }

    #[inline]
    fn first(&self) -> usize {
        self.earliest[1]
    }

    #[inline]
    pub fn put(&mut self, index: usize, at_ns: u64) {
        self.waits[index] = at_ns == u64::MAX;
        self.set(index, at_ns);
    }

    #[inline]
    pub fn first_ns(&self) -> u64 {
        self.due_ns[self.first()]
    }

    /// The earliest event of all other workers, and whose it is; `u64::MAX` where there is none.
    #[inline]
    pub fn rival(&self, index: usize) -> (u64, usize) {
        let mut earliest = (u64::MAX, index);
        let mut place = self.due_ns.len() + index;
        while place > 1 {
            let other = self.earliest[place ^ 1];
            earliest = earliest.min((self.due_ns[other], other));
            place /= 2;
        }
        earliest
    }

    /// The worker whose event is first; where there is no event, one that waits for the device.
    #[inline]
    pub fn begin(&mut self) -> usize {
        let index = self.first();
        if self.due_ns[index] < u64::MAX {
            return index;
        }
        let waiting = self.waits.iter().position(|&waits| waits);
        let index = waiting.expect("a worker without a share has an event");
        self.waits[index] = false;
        index
    }

    /// The worker has no event any more.
    pub fn retire(&mut self, index: usize) {
        self.waits[index] = false;
        self.set(index, u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a search through all, and a worker takes its turn only once.
        #[test]
        fn the_earliest_goes_first_and_of_equals_the_first_in_order(
            workers in 1_usize..20,
            acts in proptest::collection::vec((0_usize..20, 0_u64..30), 0..200)
        ) {
            let (mut agenda, mut due_ns) = (Agenda::new(workers), vec![u64::MAX; workers]);
            for (number, at_ns) in acts {
                let index = number % workers;
                let first = (0..workers).min_by_key(|&one| due_ns[one]).unwrap();
                prop_assert_eq!(agenda.first_ns(), due_ns[first]);
                let others = (0..workers).filter(|&one| one != index);
                let rival = others.map(|one| (due_ns[one], one)).min();
                let seen = agenda.rival(index);
                let seen = (seen.0 < u64::MAX).then_some(seen);
                prop_assert_eq!(seen, rival.filter(|rival| rival.0 < u64::MAX));
                if at_ns % 3 > 0 {
                    agenda.put(index, at_ns);
                    due_ns[index] = at_ns;
                } else if due_ns[first] < u64::MAX {
                    prop_assert_eq!(agenda.begin(), first);
                    agenda.retire(first);
                    due_ns[first] = u64::MAX;
                }
            }
        }

        #[test]
        fn without_an_event_one_that_waits_is_taken(workers in 1_usize..20) {
            let mut agenda = Agenda::new(workers);
            agenda.put(workers - 1, u64::MAX);
            prop_assert_eq!(agenda.first_ns(), u64::MAX);
            prop_assert_eq!(agenda.begin(), workers - 1);
        }
    }
}
