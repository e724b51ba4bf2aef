//! A set of whole numbers of a large space: a bit each, in pages that are there only where a
//! number is, and a number for each page in which there is something.

use crate::numbers::Numbers;
use crate::paged::Paged;

/// Numbers of a word, words of a page, and numbers of a page.
const BITS: u64 = u64::BITS as u64;
const WORDS: usize = 8;
const PAGE: u64 = BITS * WORDS as u64;

#[derive(Clone, Debug)]
pub(super) struct Places {
    words: Paged<u64, WORDS>,
    filled: Numbers,
}

impl Places {
    /// For numbers below `count`, of which about `most` are in the set at a time.
    pub fn new(count: u64, most: u64) -> Self {
        Self {
            words: Paged::new(0, count.div_ceil(BITS), most),
            filled: Numbers::new(),
        }
    }

    /// What such a one takes at the most.
    pub fn need_bytes(count: u64, most: u64) -> u64 {
        let words_bytes = Paged::<u64, WORDS>::need_bytes(count.div_ceil(BITS), most);
        words_bytes.saturating_add(Numbers::need_bytes(count.div_ceil(PAGE)))
    }

    /// Puts in `number`, which is not in the set.
    #[inline]
    pub fn insert(&mut self, number: u64) {
        let word = self.words.made_at(number / BITS);
        let was = std::mem::replace(word, *word | 1 << (number % BITS));
        if was == 0 {
            self.filled.insert(number / PAGE);
        }
    }

    /// Takes out `number`, which is in the set.
    #[inline]
    pub fn remove(&mut self, number: u64) {
        let Some(words) = self.words.page_mut(number / PAGE) else {
            return;
        };
        let word = &mut words[(number / BITS) as usize % WORDS];
        *word &= !(1 << (number % BITS));
        if *word == 0 && words.iter().all(|word| *word == 0) {
            self.filled.remove(number / PAGE);
        }
    }

    /// The least number that is `from` or above.
    #[inline]
    pub fn next(&self, from: u64) -> Option<u64> {
        let here = self.words.get(from / BITS) >> (from % BITS);
        if here != 0 {
            return Some(from + u64::from(here.trailing_zeros()));
        }
        self.next_word(from / BITS + 1)
    }

    /// The least number in the words from `word` on.
    #[inline(never)]
    fn next_word(&self, word: u64) -> Option<u64> {
        let find = |page: u64, from: usize| {
            let words = &self.words.page(page)?[from..];
            let place = words.iter().position(|&word| word != 0)?;
            let number = page * PAGE + (from + place) as u64 * BITS;
            Some(number + u64::from(words[place].trailing_zeros()))
        };
        let page = word / WORDS as u64;
        let here = find(page, word as usize % WORDS);
        here.or_else(|| find(self.filled.next(page + 1)?, 0))
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
            most in prop_oneof![Just(1_u64), Just(1 << 40)],
            acts in proptest::collection::vec(
                (any::<bool>(), prop_oneof![0_u64..200, 0_u64..5_000, 0_u64..4_000_000]), 0..300)
        ) {
            let (mut places, mut tree) = (Places::new(4_000_000, most), BTreeSet::new());
            for (adds, number) in acts {
                if adds && tree.insert(number) {
                    places.insert(number);
                }
                let held = tree.range(number..).next().copied();
                prop_assert_eq!(places.next(number), held);
                if let (false, Some(held)) = (adds, held) {
                    tree.remove(&held);
                    places.remove(held);
                }
                prop_assert_eq!(places.next(number), tree.range(number..).next().copied());
            }
            let after = |last: &u64| places.next(last + 1);
            prop_assert!(std::iter::successors(places.next(0), after).eq(tree));
        }
    }
}
