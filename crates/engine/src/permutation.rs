//! A keyed order of the numbers below any count, forward and back, without a table: a Feistel
//! network over the next power of four, walked until it lands below the count.

use crate::seed::derive_seed;

const ROUNDS: usize = 4;

/// A bijection of 0..count that a key names.
#[derive(Clone, Debug)]
pub struct Permutation {
    count: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation of 0..`count` under `key`; `count` is at least 1 and at most 2^62.
    pub fn new(count: u64, key: u64) -> Self {
        assert!((1..=1 << 62).contains(&count), "{count} numbers");
        let bits = u64::BITS - (count - 1).leading_zeros();
        Self {
            count,
            half_bits: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|round| derive_seed(key, round as u64)),
        }
    }

    /// Where `number` goes.
    #[inline]
    pub fn forward(&self, number: u64) -> u64 {
        self.walk(number, |left, right, round| {
            (right, left ^ self.scramble(right, round))
        })
    }

    /// What goes to `number`.
    #[inline]
    pub fn inverse(&self, number: u64) -> u64 {
        self.walk(number, |left, right, round| {
            (right ^ self.scramble(left, ROUNDS - 1 - round), left)
        })
    }

    /// Steps through the network until the number is below the count again. The domain is less
    /// than four times the count, so that takes four steps on average at most.
    #[inline]
    fn walk(&self, mut number: u64, step: impl Fn(u64, u64, usize) -> (u64, u64)) -> u64 {
        debug_assert!(number < self.count);
        loop {
            let mut halves = (number >> self.half_bits, number & self.mask());
            for round in 0..ROUNDS {
                halves = step(halves.0, halves.1, round);
            }
            number = halves.0 << self.half_bits | halves.1;
            if number < self.count {
                return number;
            }
        }
    }

    #[inline]
    fn mask(&self) -> u64 {
        (1 << self.half_bits) - 1
    }

    #[inline]
    fn scramble(&self, half: u64, round: usize) -> u64 {
        let mixed = (half ^ self.keys[round]).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 32).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33 & self.mask()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_number_is_reached_once_whatever_the_count() {
        let (step, largest) = if cfg!(miri) { (13, 257) } else { (1, 100_000) };
        for count in (1..200).step_by(step).chain([1023, 1024, 1025, largest]) {
            let order = Permutation::new(count, count ^ 7);
            let mut seen = vec![false; count as usize];
            for number in 0..count {
                let place = order.forward(number);
                assert!(!std::mem::replace(&mut seen[place as usize], true));
                assert_eq!(order.inverse(place), number);
            }
        }
    }

    #[test]
    fn another_key_is_another_order_and_neighbours_are_torn_apart() {
        let [one, other] = [1, 2].map(|key| Permutation::new(100_000, key));
        let same = (0..1000).filter(|&n| one.forward(n) == other.forward(n));
        assert!(same.count() < 10);
        let near = |n: &u64| one.forward(*n).abs_diff(one.forward(n + 1)) < 100;
        assert!((0..10_000).filter(near).count() < 60, "0.2 % of chance");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn back_is_the_inverse_of_forward(count in 1..1u64 << 62, key: u64, draw: u64) {
            let order = Permutation::new(count, key);
            let place = order.forward(draw % count);
            prop_assert!(place < count);
            prop_assert_eq!(order.inverse(place), draw % count);
        }
    }
}
