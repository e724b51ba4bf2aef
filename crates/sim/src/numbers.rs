//! A set of whole numbers, one bit each, with the next one from any place on at hand: above every
//! 64 words stands a word that says which of them are not empty, and so on.

const BITS: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    /// Bits of the numbers.
    words: Vec<u64>,
    /// Bits of the words that are not empty, and so on; the last has one word.
    above: Vec<Vec<u64>>,
    count: usize,
}

impl Numbers {
    pub fn new() -> Self {
        Self {
            words: vec![0],
            above: Vec::new(),
            count: 0,
        }
    }

    /// What such a one takes at the most for numbers below `count`: as it grows it is copied.
    pub fn need_bytes(count: u64) -> u64 {
        let words = count.div_ceil(BITS as u64).max(1);
        let bytes = words.checked_next_power_of_two().unwrap_or(words);
        bytes.saturating_mul(size_of::<u64>() as u64 * 3 / 2 + 1)
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// Where `number` stands: its word, and its bit there.
    #[inline]
    fn split(number: u64) -> (usize, u32) {
        (
            (number / BITS as u64) as usize,
            (number % BITS as u64) as u32,
        )
    }

    #[inline]
    pub fn contains(&self, number: u64) -> bool {
        let (place, bit) = Self::split(number);
        let word = self.words.get(place);
        word.is_some_and(|word| word >> bit & 1 == 1)
    }

    /// The bits of the numbers from `64 × place` on.
    #[inline]
    pub fn word(&self, place: usize) -> u64 {
        self.words.get(place).copied().unwrap_or(0)
    }

    /// Puts `number` in.
    #[inline]
    pub fn insert(&mut self, number: u64) {
        let (place, bit) = Self::split(number);
        if place >= self.words.len() {
            self.grow(place + 1);
        }
        let word = &mut self.words[place];
        let was = std::mem::replace(word, *word | 1 << bit);
        if was >> bit & 1 == 0 {
            self.count += 1;
            if was == 0 {
                self.fill(place);
            }
        }
    }

    /// The word at `place` is empty no longer.
    fn fill(&mut self, mut place: usize) {
        for words in &mut self.above {
            let word = &mut words[place / BITS];
            let was = std::mem::replace(word, *word | 1 << (place % BITS));
            if was != 0 {
                return;
            }
            place /= BITS;
        }
    }

    /// Takes `number` out; true if it was in.
    #[inline]
    pub fn remove(&mut self, number: u64) -> bool {
        let (place, bit) = Self::split(number);
        if self.word(place) >> bit & 1 == 0 {
            return false;
        }
        self.count -= 1;
        self.words[place] &= !(1 << bit);
        if self.words[place] == 0 {
            self.empty(place);
        }
        true
    }

    /// The word at `place` is empty from now on.
    fn empty(&mut self, mut place: usize) {
        for words in &mut self.above {
            let word = &mut words[place / BITS];
            *word &= !(1 << (place % BITS));
            if *word != 0 {
                return;
            }
            place /= BITS;
        }
    }

    /// The least number that is `from` or above.
    #[inline]
    pub fn next(&self, from: u64) -> Option<u64> {
        let (place, bit) = Self::split(from);
        let here = self.word(place) >> bit;
        if here != 0 {
            return Some(from + u64::from(here.trailing_zeros()));
        }
        self.next_word(place + 1)
    }

    /// The least number in the words from `place` on.
    fn next_word(&self, mut place: usize) -> Option<u64> {
        let lowest =
            |words: &[u64], place: usize| place * BITS + words[place].trailing_zeros() as usize;
        for (level, words) in self.above.iter().enumerate() {
            let word = words.get(place / BITS).copied().unwrap_or(0);
            let above = word >> (place % BITS);
            if above != 0 {
                let found = place + above.trailing_zeros() as usize;
                let below = self.above[..level].iter().rev();
                let word = below.fold(found, |at, words| lowest(words, at));
                return Some(lowest(&self.words, word) as u64);
            }
            place = place / BITS + 1;
        }
        None
    }

    /// All numbers, rising.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let after = |last: &u64| self.next(last.checked_add(1)?);
        std::iter::successors(self.next(0), after)
    }

    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Makes room for as many words of numbers.
    #[cold]
    fn grow(&mut self, words: usize) {
        let mut wanted = words.next_power_of_two();
        let mut below = self.words[0] != 0;
        self.words.resize(wanted, 0);
        for level in 0.. {
            if wanted == 1 {
                return;
            }
            wanted = wanted.div_ceil(BITS);
            if level == self.above.len() {
                // What was the highest says at its one word whether it is empty.
                self.above.push(vec![u64::from(below)]);
            }
            let words = &mut self.above[level];
            below = words[0] != 0;
            words.resize(wanted.max(words.len()), 0);
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
                (0_u8..4, prop_oneof![0_u64..200, 0_u64..5_000, 0_u64..400_000]), 0..200)
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
