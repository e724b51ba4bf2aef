//! Which of many was used longest ago. All have a last use; only those that are listed can be
//! chosen.

use std::collections::BTreeSet;

use super::table::Table;

/// Numbers in order of their last use.
#[derive(Clone, Debug)]
pub(super) struct Recency {
    /// The last use of each; 0 for never.
    uses: Table<u64>,
    listed: BTreeSet<(u64, u32)>,
    last: u64,
}

impl Recency {
    pub fn new() -> Self {
        Self {
            uses: Table::new(0),
            listed: BTreeSet::new(),
            last: 0,
        }
    }

    /// `number` is used now.
    pub fn touch(&mut self, number: u32) {
        self.last += 1;
        let place = self.uses.place(number);
        let before = std::mem::replace(place, self.last);
        if self.listed.remove(&(before, number)) {
            self.listed.insert((self.last, number));
        }
    }

    /// From now on `number` can be chosen, by the last use it has.
    pub fn list(&mut self, number: u32) {
        self.listed.insert((self.uses.get(number), number));
    }

    pub fn unlist(&mut self, number: u32) {
        self.listed.remove(&(self.uses.get(number), number));
    }

    pub fn is_listed(&self, number: u32) -> bool {
        self.listed.contains(&(self.uses.get(number), number))
    }

    /// How many are listed.
    pub fn len(&self) -> usize {
        self.listed.len()
    }

    /// The listed ones from the one used longest ago.
    pub fn oldest(&self) -> impl Iterator<Item = u32> + '_ {
        self.listed.iter().map(|&(_, number)| number)
    }

    pub fn clear(&mut self) {
        self.uses.clear();
        self.listed.clear();
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
            let mut order: Vec<u32> = (0..12).collect();
            let mut listed = [false; 12];
            // A last use for all, so that the list has one order.
            (0..12).for_each(|number| recency.touch(number));
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
                prop_assert_eq!(recency.oldest().collect::<Vec<_>>(), expected);
                prop_assert_eq!(recency.is_listed(number), listed[number as usize]);
            }
        }
    }
}
