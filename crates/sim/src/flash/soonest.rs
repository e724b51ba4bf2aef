//! Which of several times comes first, asked far more often than there are times: all are compared,
//! four at once where the processor can.

/// Times compared at once, and those that stay in registers in between.
const LANES: usize = 4;
const GROUP: usize = 4 * LANES;
/// Times whose comparisons fit in one word.
const WORD: usize = u64::BITS as usize;
/// Fills the last lanes: later than all times.
const NEVER_NS: u64 = i64::MAX as u64;

/// Times in ns by number, each before 2^63 - 1 ns (292 years).
#[derive(Clone, Debug)]
pub(super) struct Soonest {
    times_ns: Vec<[u64; GROUP]>,
    count: u32,
    /// Whether the processor compares four of them at once.
    is_wide: bool,
}

impl Soonest {
    /// `count` times of 0.
    pub(super) fn new(count: usize) -> Self {
        let mut times_ns = vec![[NEVER_NS; GROUP]; count.div_ceil(GROUP)];
        times_ns.as_flattened_mut()[..count].fill(0);
        #[cfg(target_arch = "x86_64")]
        let is_wide = is_x86_feature_detected!("avx2");
        #[cfg(not(target_arch = "x86_64"))]
        let is_wide = false;
        Self {
            times_ns,
            count: count as u32,
            is_wide: is_wide && count <= WORD,
        }
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> u64 {
        self.times_ns.as_flattened()[number as usize]
    }

    #[inline]
    pub(super) fn set(&mut self, number: u32, at_ns: u64) {
        debug_assert!(number < self.count && at_ns < NEVER_NS);
        self.times_ns.as_flattened_mut()[number as usize] = at_ns;
    }

    /// The number of the first time from `turn` on, round the end, that is at most `at_ns`; where
    /// none is, the number of the least, of equals the first from `turn` on.
    #[inline]
    pub(super) fn first(&self, turn: u32, at_ns: u64) -> u32 {
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            // SAFETY: `is_wide` says that the processor has AVX2.
            let due = unsafe { wide::due(&self.times_ns, at_ns) };
            let from = due >> turn << turn;
            let due = if from == 0 { due } else { from };
            return due.trailing_zeros();
        }
        self.first_one_by_one(turn, at_ns)
    }

    #[inline(never)]
    fn first_one_by_one(&self, turn: u32, at_ns: u64) -> u32 {
        let times_ns = &self.times_ns.as_flattened()[..self.count as usize];
        let least_ns = times_ns.iter().copied().min().unwrap_or(0);
        let by_ns = least_ns.max(at_ns);
        let (before, from) = times_ns.split_at(turn as usize);
        let is_due = |time_ns: &u64| *time_ns <= by_ns;
        match from.iter().position(is_due) {
            Some(place) => turn + place as u32,
            None => before.iter().position(is_due).unwrap_or(0) as u32,
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use core::arch::x86_64::{
        __m256i, _mm256_blendv_epi8, _mm256_castsi256_pd, _mm256_cmpgt_epi64, _mm256_extract_epi64,
        _mm256_movemask_pd, _mm256_permute4x64_epi64, _mm256_set1_epi64x, _mm256_set_epi64x,
    };

    use super::{GROUP, LANES};

    /// The lesser of each two lanes, which are below 2^63.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn lesser(left: __m256i, right: __m256i) -> __m256i {
        _mm256_blendv_epi8(left, right, _mm256_cmpgt_epi64(left, right))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(group: &[u64; GROUP]) -> [__m256i; GROUP / LANES] {
        let mut lanes = [_mm256_set1_epi64x(0); GROUP / LANES];
        for (four, lanes) in group.as_chunks::<LANES>().0.iter().zip(&mut lanes) {
            let [a, b, c, d] = four.map(u64::cast_signed);
            *lanes = _mm256_set_epi64x(d, c, b, a);
        }
        lanes
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn least(group: &[u64; GROUP]) -> __m256i {
        let [a, b, c, d] = load(group);
        lesser(lesser(a, b), lesser(c, d))
    }

    /// One bit for each time of `group` that is at most `by`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn until(group: &[u64; GROUP], by: __m256i) -> u64 {
        let [a, b, c, d] = load(group).map(|lanes| {
            let later = _mm256_cmpgt_epi64(lanes, by);
            _mm256_movemask_pd(_mm256_castsi256_pd(later)).cast_unsigned()
        });
        let later = a | b << LANES | c << (2 * LANES) | d << (3 * LANES);
        u64::from(later ^ ((1 << GROUP) - 1))
    }

    /// One bit for each time that is at most `at_ns`, or where none is, for each that is the least.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    pub(super) fn due(times_ns: &[[u64; GROUP]], at_ns: u64) -> u64 {
        let [first, rest @ ..] = times_ns else {
            return 0;
        };
        let mut soonest = least(first);
        for group in rest {
            soonest = lesser(soonest, least(group));
        }
        // Each half against the other one, then each lane against its neighbour.
        soonest = lesser(soonest, _mm256_permute4x64_epi64::<0b01_00_11_10>(soonest));
        soonest = lesser(soonest, _mm256_permute4x64_epi64::<0b10_11_00_01>(soonest));
        let by_ns = _mm256_extract_epi64::<0>(soonest).max(at_ns.cast_signed());
        let by = _mm256_set1_epi64x(by_ns);
        let mut due = until(first, by);
        for (place, group) in (1..).zip(rest) {
            due |= until(group, by) << (place * GROUP);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The wide way and the other one, against a search in turn.
        #[test]
        fn the_first_that_is_due_or_the_least_is_found(
            times_ns in proptest::collection::vec(0_u64..12, 1..70),
            turn in 0_usize..70,
            at_ns in 0_u64..14,
        ) {
            let (count, turn) = (times_ns.len(), turn % times_ns.len());
            let mut soonest = Soonest::new(count);
            for (number, &time_ns) in (0..).zip(&times_ns) {
                soonest.set(number, time_ns);
                prop_assert_eq!(soonest.get(number), time_ns);
            }
            let in_turn = (turn..count).chain(0..turn);
            let expected = in_turn.min_by_key(|&number| times_ns[number].max(at_ns));
            let expected = expected.unwrap() as u32;
            prop_assert_eq!(soonest.first(turn as u32, at_ns), expected);
            prop_assert_eq!(soonest.first_one_by_one(turn as u32, at_ns), expected);
        }
    }
}
