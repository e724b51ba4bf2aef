//! Which of many was used longest ago. All have a last use; only those that are listed can be
//! chosen. Uses are counted; when the count has gone far beyond what is remembered it begins anew,
//! in the same order.

use std::collections::BTreeSet;

use super::table::Table;
use crate::numbers::Numbers;

/// The last use of what was never used.
pub(super) const NEVER: u32 = 0;
/// Uses that are counted at least before the count begins anew; in tests that is often.
const LEAST_USES: usize = if cfg!(test) { 5 } else { 1 << 12 };

/// Where the last use of each number is kept.
pub(super) trait Uses {
    fn last_use(&mut self, number: u32) -> &mut u32;
}

impl Uses for Table<u32> {
    #[inline]
    fn last_use(&mut self, number: u32) -> &mut u32 {
        self.place(number)
    }
}

/// Uses in their order. The last use of each number is kept by who asks, and given by them.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// What was used at each count.
    users: Vec<u32>,
    /// Uses that are the last ones of what is listed.
    listed: Numbers,
    /// None of them is below this.
    least: u64,
    /// When the count begins anew.
    most_uses: usize,
}

impl Order {
    pub fn new() -> Self {
        Self {
            users: vec![0],
            listed: Numbers::new(),
            least: 0,
            most_uses: LEAST_USES,
        }
    }

    /// `number`, which is not listed, is used now.
    #[inline]
    pub fn add(&mut self, kept: &mut impl Uses, number: u32) {
        if self.users.len() == self.most_uses {
            self.count_anew(kept);
        }
        *kept.last_use(number) = self.users.len() as u32;
        self.users.push(number);
    }

    /// `number` is used now.
    #[inline]
    pub fn touch(&mut self, kept: &mut impl Uses, number: u32) {
        let was_listed = self.unlist(*kept.last_use(number));
        self.add(kept, number);
        if was_listed {
            self.listed.insert(u64::from(*kept.last_use(number)));
        }
    }

    /// Gives every last use the least count that keeps the order.
    #[cold]
    fn count_anew(&mut self, kept: &mut impl Uses) {
        let (mut users, mut listed) = (vec![0], Numbers::new());
        for (before, &number) in (1..).zip(&self.users[1..]) {
            let last_use = kept.last_use(number);
            if *last_use != before {
                continue;
            }
            let now = users.len() as u32;
            users.push(number);
            *last_use = now;
            if self.listed.contains(u64::from(before)) {
                listed.insert(u64::from(now));
            }
        }
        self.least = 0;
        self.most_uses = (4 * users.len()).max(LEAST_USES);
        (self.users, self.listed) = (users, listed);
    }

    /// From now on what was last used at `last` can be chosen.
    #[inline]
    pub fn list(&mut self, last: u32) {
        self.least = self.least.min(u64::from(last));
        self.listed.insert(u64::from(last));
    }

    /// True if it could be chosen so far.
    #[inline]
    pub fn unlist(&mut self, last: u32) -> bool {
        self.listed.remove(u64::from(last))
    }

    #[inline]
    pub fn is_listed(&self, last: u32) -> bool {
        self.listed.contains(u64::from(last))
    }

    /// How many are listed.
    pub fn len(&self) -> usize {
        self.listed.len()
    }

    /// The listed one used longest ago.
    #[inline]
    pub fn first(&mut self) -> Option<u32> {
        self.least = self.listed.next(self.least)?;
        Some(self.users[self.least as usize])
    }

    /// The listed ones from the one used longest ago.
    pub fn oldest(&self) -> impl Iterator<Item = u32> + '_ {
        self.listed.iter().map(|last| self.users[last as usize])
    }
}

/// Numbers in order of their last use, each of which may be listed before it was ever used.
#[derive(Clone, Debug)]
pub(super) struct Recency {
    /// The last use of each.
    uses: Table<u32>,
    order: Order,
    /// Those that are listed and were never used.
    unused: BTreeSet<u32>,
}

impl Recency {
    pub fn new() -> Self {
        Self {
            uses: Table::new(NEVER),
            order: Order::new(),
            unused: BTreeSet::new(),
        }
    }

    /// `number` is used now.
    pub fn touch(&mut self, number: u32) {
        let was_unused = self.unused.remove(&number);
        self.order.touch(&mut self.uses, number);
        if was_unused {
            self.order.list(self.uses.get(number));
        }
    }

    /// From now on `number` can be chosen, by the last use it has.
    pub fn list(&mut self, number: u32) {
        match self.uses.get(number) {
            NEVER => _ = self.unused.insert(number),
            last => self.order.list(last),
        }
    }

    pub fn unlist(&mut self, number: u32) {
        match self.uses.get(number) {
            NEVER => self.unused.remove(&number),
            last => self.order.unlist(last),
        };
    }

    pub fn is_listed(&self, number: u32) -> bool {
        match self.uses.get(number) {
            NEVER => self.unused.contains(&number),
            last => self.order.is_listed(last),
        }
    }

    /// How many are listed.
    pub fn len(&self) -> usize {
        self.unused.len() + self.order.len()
    }

    /// The listed one used longest ago.
    #[inline]
    pub fn first(&mut self) -> Option<u32> {
        match self.unused.first() {
            Some(&number) => Some(number),
            None => self.order.first(),
        }
    }

    /// The listed ones from the one used longest ago.
    pub fn oldest(&self) -> impl Iterator<Item = u32> + '_ {
        self.unused.iter().copied().chain(self.order.oldest())
    }

    pub fn clear(&mut self) {
        *self = Self::new();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a plain list that is searched from end to end.
        #[test]
        fn the_oldest_is_the_one_used_longest_ago(
            acts in proptest::collection::vec((0_u8..3, 0_u32..12), 0..200)
        ) {
            let mut recency = Recency::new();
            // Those that were never used come first, by number.
            let mut order: Vec<u32> = (0..12).collect();
            let mut listed = [false; 12];
            for (act, number) in acts {
                match act {
                    0 => {
                        recency.touch(number);
                        order.retain(|&other| other != number);
                        order.push(number);
                    }
                    1 => {
                        recency.list(number);
                        listed[number as usize] = true;
                    }
                    _ => {
                        recency.unlist(number);
                        listed[number as usize] = false;
                    }
                }
                let expected = order.iter().copied();
                let expected: Vec<u32> = expected.filter(|&one| listed[one as usize]).collect();
                if number % 3 > 0 {
                    prop_assert_eq!(recency.first(), expected.first().copied());
                }
                prop_assert_eq!(recency.oldest().collect::<Vec<_>>(), expected);
                prop_assert_eq!(recency.is_listed(number), listed[number as usize]);
            }
        }
    }
}
