//! How page times vary. Integers only, so that a run is the same bits everywhere.

use rand_xoshiro::rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::flash::params::{PageTimes, SsdParams};

/// What a page time is multiplied by; 1 in the mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Jitter {
    None,
    /// Evenly over so much, in 2^-32.
    Even {
        span_q32: u64,
    },
    Exponential,
}

impl Jitter {
    pub(super) fn new(params: &SsdParams) -> Self {
        match params.page_times {
            PageTimes::Exponential => Self::Exponential,
            PageTimes::Even if params.jitter_percent == 0.0 => Self::None,
            PageTimes::Even => Self::Even {
                span_q32: (params.jitter_percent / 100.0 * 2f64.powi(33)) as u64,
            },
        }
    }

    /// A time of which many are drawn.
    #[inline]
    pub(super) fn varied(self, time_ns: u64) -> Varied {
        let span_ns = match self {
            Self::Even { span_q32 } => Self::span_ns(time_ns, span_q32),
            Self::None | Self::Exponential => 0,
        };
        Varied {
            jitter: self,
            time_ns,
            span_ns,
        }
    }

    #[inline]
    fn span_ns(time_ns: u64, span_q32: u64) -> u64 {
        ((u128::from(time_ns) * u128::from(span_q32)) >> 32) as u64
    }

    #[inline]
    fn even(time_ns: u64, span_ns: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
        let drawn = ((random.next_u64() >> 32) * span_ns) >> 32;
        (time_ns + drawn).saturating_sub(span_ns / 2)
    }

    /// `time_ns`, varied: never negative, `time_ns` in the mean.
    #[inline]
    pub(super) fn of(self, time_ns: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Self::None => time_ns,
            Self::Even { span_q32 } => {
                Self::even(time_ns, Self::span_ns(time_ns, span_q32), random)
            }
            Self::Exponential => {
                let factor_q32 = exponential_q32(random);
                ((u128::from(time_ns) * u128::from(factor_q32)) >> 32) as u64
            }
        }
    }
}

/// One time that is drawn often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Varied {
    jitter: Jitter,
    time_ns: u64,
    span_ns: u64,
}

impl Varied {
    /// What `Jitter::of` makes of the time.
    #[inline]
    pub(super) fn draw(self, random: &mut Xoshiro256PlusPlus) -> u64 {
        match self.jitter {
            Jitter::None => self.time_ns,
            Jitter::Even { .. } => Jitter::even(self.time_ns, self.span_ns, random),
            Jitter::Exponential => self.jitter.of(self.time_ns, random),
        }
    }
}

/// A number of the exponential distribution with mean 1, in 2^-32, by comparisons alone (von
/// Neumann 1951): of uniform numbers x1 > x2 > … the first is kept if the falling run is of odd
/// length, which happens with probability e^-x1; each run thrown away adds 1.
#[cold]
pub(super) fn exponential_q32(random: &mut Xoshiro256PlusPlus) -> u64 {
    let mut whole = 0;
    loop {
        let first = random.next_u64() >> 32;
        let (mut last, mut length) = (first, 1);
        loop {
            let next = random.next_u64() >> 32;
            if next >= last {
                break;
            }
            (last, length) = (next, length + 1);
        }
        if length % 2 == 1 {
            return (whole << 32) + first;
        }
        whole += 1;
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn exponential_numbers_have_the_mean_the_spread_and_the_tail_of_their_kind() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let count = 1_000_000;
        let draw = |_| exponential_q32(&mut random) as f64 / 2f64.powi(32);
        let drawn: Vec<f64> = (0..count).map(draw).collect();
        let mean =
            |of: &dyn Fn(f64) -> f64| drawn.iter().map(|x| of(*x)).sum::<f64>() / f64::from(count);
        assert!((mean(&|x| x) - 1.0).abs() < 0.005);
        assert!((mean(&|x| x * x) - 2.0).abs() < 0.03);
        for x in [0.1, 0.5, 1.0, 2.0, 5.0] {
            let above = mean(&|drawn| f64::from(u8::from(drawn > x)));
            assert!((above - (-x).exp()).abs() < 0.002, "{x}: {above}");
        }
    }
}
