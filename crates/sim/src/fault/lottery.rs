//! Whom it befalls: draws that depend on the seed and the number of the I/O alone, so that one
//! kind of fault never changes the draws of another.

use teijo_engine::seed::derive_seed;

/// What is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Draw {
    Error,
    Stale,
    Dropped,
    Torn,
    Flipped,
    /// How much of a write reached the medium.
    Kept,
    /// Which bit.
    Bit,
}

#[derive(Clone, Debug)]
pub(super) struct Lottery {
    seed: u64,
}

impl Lottery {
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    fn number(&self, draw: Draw, io: u64) -> u64 {
        derive_seed(derive_seed(self.seed, draw as u64), io)
    }

    /// Whether it befalls I/O number `io`.
    #[inline]
    pub fn falls(&self, draw: Draw, io: u64, percent: f64) -> bool {
        if percent <= 0.0 {
            return false;
        }
        // 53 bits are a uniform double of 0 to below 1.
        let uniform = (self.number(draw, io) >> 11) as f64 / (1_u64 << 53) as f64;
        uniform * 100.0 < percent
    }

    /// A number below `end`, which is not 0.
    pub fn below(&self, draw: Draw, io: u64, end: u64) -> u64 {
        self.number(draw, io) % end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_befallen_as_the_percentage_says_and_each_kind_others() {
        let lottery = Lottery::new(7);
        let of = |draw| {
            let ios = 0..100_000_u64;
            ios.filter(|&io| lottery.falls(draw, io, 2.0)).collect()
        };
        let (stale, torn): (Vec<u64>, Vec<u64>) = (of(Draw::Stale), of(Draw::Torn));
        // 2,000 are expected, and 44 is one standard deviation.
        assert!(stale.len().abs_diff(2_000) < 200, "{}", stale.len());
        assert!(torn.len().abs_diff(2_000) < 200, "{}", torn.len());
        let both = stale.iter().filter(|io| torn.contains(io)).count();
        assert!(both < 100, "{both}: the draws are independent");
        assert!(!lottery.falls(Draw::Stale, stale[0], 0.0));
        assert!((0..1_000).all(|io| lottery.falls(Draw::Error, io, 100.0)));
    }
}
