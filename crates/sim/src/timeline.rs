//! What happens at known times, the earliest first.

use std::collections::VecDeque;

/// So many events are looked at one after the other before the place is sought by halves.
const NEAR: usize = 16;

/// Values in order of their time; equal times in order of coming in.
#[derive(Clone, Debug)]
pub(crate) struct Timeline<T> {
    events: VecDeque<(u64, T)>,
}

impl<T> Timeline<T> {
    /// With room for `count` at first.
    pub fn with_capacity(count: usize) -> Self {
        Self {
            events: VecDeque::with_capacity(count),
        }
    }

    /// Most come in in order of time, and the place of another is near the end.
    #[inline]
    pub fn put(&mut self, at_ns: u64, value: T) {
        if self.events.back().is_none_or(|last| last.0 <= at_ns) {
            self.events.push_back((at_ns, value));
        } else {
            self.put_between((at_ns, value));
        }
    }

    #[inline(never)]
    fn put_between(&mut self, event: (u64, T)) {
        let after = self.events.iter().rev().take(NEAR);
        let after = after.take_while(|one| one.0 > event.0).count();
        let place = if after < NEAR {
            self.events.len() - after
        } else {
            self.events.partition_point(|one| one.0 <= event.0)
        };
        self.events.insert(place, event);
    }

    /// The time of the event that has `index` before it; `u64::MAX` where there is none.
    #[inline]
    pub fn time_ns(&self, index: usize) -> u64 {
        self.events.get(index).map_or(u64::MAX, |event| event.0)
    }

    /// Takes the first event if its time is `until_ns` or before.
    #[inline]
    pub fn take_until(&mut self, until_ns: u64) -> Option<(u64, T)> {
        if self.events.front()?.0 > until_ns {
            return None;
        }
        self.events.pop_front()
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
