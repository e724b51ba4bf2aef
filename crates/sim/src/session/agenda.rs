//! Which worker of a simulated session goes on next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// When each worker goes on: the earliest first, of equals the first in order.
pub(super) struct Agenda {
    events: BinaryHeap<Reverse<(u64, usize)>>,
    /// The entry that counts, where an earlier one came after it; `u64::MAX` for none.
    pub due_ns: Vec<u64>,
    /// Whether it waits for something that only the device can bring.
    waits: Vec<bool>,
}

impl Agenda {
    pub fn new(workers: usize) -> Self {
        Self {
            events: BinaryHeap::with_capacity(workers),
            due_ns: vec![u64::MAX; workers],
            waits: vec![false; workers],
        }
    }

    #[inline]
    pub fn put(&mut self, index: usize, at_ns: u64) {
        self.due_ns[index] = at_ns;
        self.waits[index] = at_ns == u64::MAX;
        if at_ns < u64::MAX {
            self.events.push(Reverse((at_ns, index)));
        }
    }

    #[inline]
    pub fn first_ns(&self) -> u64 {
        self.events.peek().map_or(u64::MAX, |Reverse((ns, _))| *ns)
    }

    /// Whether another worker's event comes before that of `index` at `at_ns`.
    #[inline]
    pub fn precedes(&self, index: usize, at_ns: u64) -> bool {
        let first = self.events.peek();
        first.is_some_and(|Reverse(first)| *first < (at_ns, index))
    }

    /// The worker whose event is first, one that waits for the device where there is no event;
    /// `None` where an earlier one took its place.
    #[inline]
    pub fn take(&mut self) -> Option<usize> {
        let Some(Reverse((at_ns, index))) = self.events.pop() else {
            let waiting = self.waits.iter().position(|&waits| waits);
            let index = waiting.expect("a worker without a share has an event");
            self.waits[index] = false;
            return Some(index);
        };
        if self.due_ns[index] != at_ns {
            return None;
        }
        self.due_ns[index] = u64::MAX;
        Some(index)
    }
}
