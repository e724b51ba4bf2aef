//! What happens at known times, the earliest first.

/// So many events are looked at one after the other before the place is sought by halves.
const NEAR: usize = 16;

/// Values in order of their time; equal times in order of coming in.
#[derive(Clone, Debug)]
pub(crate) struct Timeline<T> {
    /// In order, and before `head` those that were taken.
    events: Vec<(u64, T)>,
    head: usize,
}

impl<T: Copy> Timeline<T> {
    /// With room for `count` at first.
    pub fn with_capacity(count: usize) -> Self {
        Self {
            events: Vec::with_capacity(4 * count),
            head: 0,
        }
    }

    /// Most come in in order of time, and the place of another is near the end.
    #[inline]
    pub fn put(&mut self, at_ns: u64, value: T) {
        if self.events.len() == self.events.capacity() {
            self.make_room();
        }
        let is_last = self.events[self.head..]
            .last()
            .is_none_or(|last| last.0 <= at_ns);
        if is_last {
            self.events.push((at_ns, value));
        } else {
            self.put_between((at_ns, value));
        }
    }

    /// Gives up the places of those that were taken; where they are few, more are reserved.
    #[cold]
    fn make_room(&mut self) {
        self.events.drain(..self.head);
        self.head = 0;
        let free = self.events.capacity() - self.events.len();
        if free <= self.events.len() {
            self.events.reserve(3 * self.events.len() + NEAR);
        }
    }

    #[inline(never)]
    fn put_between(&mut self, event: (u64, T)) {
        let near = self.head.max(self.events.len().saturating_sub(NEAR));
        if near > self.head && self.events[near - 1].0 > event.0 {
            return self.put_far(event);
        }
        // Those after it move up one by one: they are few.
        self.events.push(event);
        let late = &mut self.events[near..];
        let mut place = late.len() - 1;
        while place > 0 && late[place - 1].0 > event.0 {
            late[place] = late[place - 1];
            place -= 1;
        }
        late[place] = event;
    }

    /// The same for a place that is far from the end.
    #[inline(never)]
    fn put_far(&mut self, event: (u64, T)) {
        let live = &self.events[self.head..];
        let before = live.partition_point(|one| one.0 <= event.0);
        let place = self.head + before;
        if self.head > 0 && before < live.len() / 2 {
            self.events.copy_within(self.head..place, self.head - 1);
            self.head -= 1;
            self.events[place - 1] = event;
        } else {
            self.events.insert(place, event);
        }
    }

    /// The time of the event that has `index` before it; `u64::MAX` where there is none.
    #[inline]
    pub fn time_ns(&self, index: usize) -> u64 {
        let event = self.events.get(self.head + index);
        event.map_or(u64::MAX, |event| event.0)
    }

    /// The first event, if no other has its time.
    #[inline]
    pub fn first_alone(&self) -> Option<(u64, T)> {
        match self.events[self.head..] {
            [first] => Some(first),
            [first, second, ..] if first.0 != second.0 => Some(first),
            _ => None,
        }
    }

    /// How many events there are at `at_ns`, the time of the first, if `is_wanted` says so of each.
    #[inline]
    pub fn together(&self, at_ns: u64, is_wanted: impl Fn(T) -> bool) -> Option<usize> {
        let mut count = 0;
        for &(time_ns, value) in &self.events[self.head..] {
            if time_ns != at_ns {
                break;
            }
            if !is_wanted(value) {
                return None;
            }
            count += 1;
        }
        Some(count)
    }

    /// Takes the first `count` events, which are there.
    #[inline]
    pub fn take(&mut self, count: usize) -> &[(u64, T)] {
        let from = self.head;
        self.head += count;
        &self.events[from..self.head]
    }

    /// Takes the first event if its time is `until_ns` or before.
    #[inline]
    pub fn take_until(&mut self, until_ns: u64) -> Option<(u64, T)> {
        let event = *self.events.get(self.head)?;
        if event.0 > until_ns {
            return None;
        }
        self.head += 1;
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a list that is sorted anew, equal times in order of coming in.
        #[test]
        fn events_come_in_order_of_time_and_of_coming_in(
            acts in proptest::collection::vec((any::<bool>(), 0_u64..20), 0..200)
        ) {
            let (mut timeline, mut list) = (Timeline::with_capacity(4), Vec::new());
            for (number, (puts, at_ns)) in acts.into_iter().enumerate() {
                if puts {
                    timeline.put(at_ns, number);
                    list.push((at_ns, number));
                    list.sort_unstable();
                } else {
                    let due = list.first().is_some_and(|&(first_ns, _)| first_ns <= at_ns);
                    let expected = due.then(|| list.remove(0));
                    prop_assert_eq!(timeline.take_until(at_ns), expected);
                }
                for index in 0..=list.len() {
                    let expected = list.get(index).map_or(u64::MAX, |event| event.0);
                    prop_assert_eq!(timeline.time_ns(index), expected);
                }
            }
        }
    }
}
