//! A set of whole numbers, one bit each, with the next one from any place on at hand: above every
//! 64 words stands a word that says which of them are not empty, and so on.

const BITS: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    /// Bits of the numbers, then of the words that are not empty; the last has one word.
    levels: Vec<Vec<u64>>,
    count: usize,
}

impl Numbers {
    pub fn new() -> Self {
        Self {
            levels: vec![vec![0]],
            count: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        let (place, bit) = (number as usize / BITS, number as usize % BITS);
        let word = self.levels[0].get(place);
        word.is_some_and(|word| word >> bit & 1 == 1)
    }

    /// Puts `number` in.
    #[inline]
    pub fn insert(&mut self, number: u32) {
        let mut place = number as usize;
        if place / BITS >= self.levels[0].len() {
            self.grow(place / BITS + 1);
        }
        if self.contains(number) {
            return;
        }
        self.count += 1;
        for words in &mut self.levels {
            let word = &mut words[place / BITS];
            let was_empty = *word == 0;
            *word |= 1 << (place % BITS);
            if !was_empty {
                return;
            }
            place /= BITS;
        }
    }

    /// Takes `number` out; true if it was in.
    #[inline]
    pub fn remove(&mut self, number: u32) -> bool {
        if !self.contains(number) {
            return false;
        }
        self.count -= 1;
        let mut place = number as usize;
        for words in &mut self.levels {
            let word = &mut words[place / BITS];
            *word &= !(1 << (place % BITS));
            if *word != 0 {
                break;
            }
            place /= BITS;
        }
        true
    }

    /// The least number that is `from` or above.
    #[inline]
    pub fn next(&self, from: u32) -> Option<u32> {
        let mut place = from as usize;
        for (level, words) in self.levels.iter().enumerate() {
            let word = words.get(place / BITS).copied().unwrap_or(0);
            let above = word >> (place % BITS);
            if above != 0 {
                let found = place + above.trailing_zeros() as usize;
                let below = self.levels[..level].iter().rev();
                let down =
                    |at: usize, words: &Vec<u64>| at * BITS + words[at].trailing_zeros() as usize;
                return Some(below.fold(found, down) as u32);
            }
            place = place / BITS + 1;
        }
        None
    }

    /// All numbers, rising.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let after = |last: &u32| self.next(last.checked_add(1)?);
        std::iter::successors(self.next(0), after)
    }

    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Makes room for as many words of numbers.
    #[cold]
    fn grow(&mut self, words: usize) {
        let mut wanted = words.next_power_of_two();
        for level in 0.. {
            if level == self.levels.len() {
                // What was the highest says at its one word whether it is empty.
                let below = self.levels[level - 1][0] != 0;
                self.levels.push(vec![u64::from(below)]);
            }
            let words = &mut self.levels[level];
            words.resize(wanted.max(words.len()), 0);
            if wanted == 1 {
                return;
            }
            wanted = wanted.div_ceil(BITS);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_the_set_that_a_sorted_tree_is(
            acts in proptest::collection::vec(
                (0_u8..4, prop_oneof![0_u32..200, 0_u32..5_000, 0_u32..400_000]), 0..200)
        ) {
            let (mut numbers, mut tree) = (Numbers::new(), BTreeSet::new());
            for (act, number) in acts {
                match act {
                    0 | 1 => {
                        numbers.insert(number);
                        tree.insert(number);
                    }
                    2 => prop_assert_eq!(numbers.remove(number), tree.remove(&number)),
                    _ => if let Some(&held) = tree.range(number..).next() {
                        prop_assert!(numbers.remove(held));
                        tree.remove(&held);
                    },
                }
                prop_assert_eq!(numbers.next(number), tree.range(number..).next().copied());
                prop_assert_eq!(numbers.contains(number), tree.contains(&number));
                prop_assert_eq!(numbers.len(), tree.len());
            }
            prop_assert!(numbers.iter().eq(tree.iter().copied()));
        }
    }
}
