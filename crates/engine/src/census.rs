//! Which blocks a worker touched: a sample of the different ones, each with how often it was. The
//! sample are the blocks whose hashes are the smallest (bottom-k), so that samples of workers add
//! up to that of all of them, and those of two laps can be held against each other. A block is
//! known by where it begins.

use std::collections::BTreeMap;

use crate::seed::derive_seed;

/// Blocks that a sample holds at most; with fewer different ones it is exact.
pub const SAMPLE_MOST: usize = 512;
/// The same in every run, or no two could be compared.
const HASH_SEED: u64 = 0x7465_696a_6f00;
/// A hash is exact in every JSON reader.
const HASH_BITS: u32 = 53;

/// I/Os of one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    /// I/Os that were issued.
    ios: u64,
    /// How often each sampled block was touched, by its hash.
    sample: BTreeMap<u64, u64>,
    /// Hashes above it are in no sample any more.
    highest: u64,
}

impl Default for Census {
    fn default() -> Self {
        Self {
            ios: 0,
            sample: BTreeMap::new(),
            highest: u64::MAX,
        }
    }
}

impl Census {
    pub fn ios(&self) -> u64 {
        self.ios
    }

    /// (hash, I/Os) of each sampled block, in order.
    pub fn sample(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.sample.iter().map(|(&hash, &ios)| (hash, ios))
    }

    /// Counts an I/O that begins there.
    #[inline]
    pub fn note(&mut self, offset_bytes: u64) {
        self.ios += 1;
        let hash = derive_seed(HASH_SEED, offset_bytes) >> (64 - HASH_BITS);
        if hash <= self.highest {
            self.add(hash, 1);
        }
    }

    fn add(&mut self, hash: u64, ios: u64) {
        *self.sample.entry(hash).or_default() += ios;
        // What falls out never comes back: all that follow have to be below it.
        if self.sample.len() > SAMPLE_MOST {
            self.sample.pop_last();
        }
        if self.sample.len() == SAMPLE_MOST {
            self.highest = self.sample.last_key_value().map_or(u64::MAX, |one| *one.0);
        }
    }

    /// Adds what another worker touched.
    pub fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        for (hash, ios) in other.sample() {
            self.add(hash, ios);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pass_over_blocks_revisits_none_however_many_there_are() {
        let mut census = Census::default();
        for block in 0..20_000u64 {
            census.note(block * 4096);
        }
        assert_eq!(census.ios(), 20_000);
        assert_eq!(census.sample().count(), SAMPLE_MOST);
        assert!(census.sample().all(|(_, ios)| ios == 1));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn samples_of_workers_are_that_of_all_of_them_and_every_count_is_exact(
            blocks in prop::collection::vec((0..3u8, 0..900u64), 0..4_000),
        ) {
            let mut parts = [Census::default(), Census::default(), Census::default()];
            let mut counts = BTreeMap::new();
            let mut whole = Census::default();
            for (worker, block) in &blocks {
                parts[usize::from(*worker)].note(block * 512);
                whole.note(block * 512);
                let hash = derive_seed(HASH_SEED, block * 512) >> (64 - HASH_BITS);
                *counts.entry(hash).or_insert(0u64) += 1;
            }
            let [mut merged, other, third] = parts;
            merged.merge(&other);
            merged.merge(&third);
            prop_assert_eq!(&merged, &whole);
            let expected: Vec<_> = counts.into_iter().take(SAMPLE_MOST).collect();
            prop_assert_eq!(whole.sample().collect::<Vec<_>>(), expected);
            prop_assert_eq!(whole.ios(), blocks.len() as u64);
        }
    }
}
