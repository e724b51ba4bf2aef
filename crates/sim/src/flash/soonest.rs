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
    /// The least of them, and one bit for each that is as early, if no time was set since they were
    /// found; else 0, which no time is before.
    least_ns: u64,
    least: u64,
    /// Whether none was due when last asked: then it is better known beforehand which is the least.
    is_late: bool,
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
            least_ns: 0,
            least: 0,
            is_late: false,
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
        self.least_ns = 0;
    }

    /// The same, and finds the least time before it is asked for, where that is likely.
    #[inline]
    pub(super) fn set_ahead(&mut self, number: u32, at_ns: u64) {
        #[cfg(target_arch = "x86_64")]
        if self.is_late {
            debug_assert!(number < self.count && at_ns < NEVER_NS);
            // SAFETY: only a wide search sets `is_late`.
            (self.least_ns, self.least) = unsafe { wide::put(&mut self.times_ns, number, at_ns) };
            return;
        }
        self.set(number, at_ns);
    }

    /// The number of the first time from `turn` on, round the end, that is at most `at_ns`; where
    /// none is, the number of the least, of equals the first from `turn` on.
    #[inline]
    pub(super) fn first(&mut self, turn: u32, at_ns: u64) -> u32 {
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            let due = if at_ns < self.least_ns {
                self.least
            } else {
                self.due(at_ns)
            };
            let from = due >> turn << turn;
            let due = if from == 0 { due } else { from };
            return due.trailing_zeros();
        }
        self.first_one_by_one(turn, at_ns)
    }

    /// One bit for each time that is at most `at_ns`, or where none is, for each that is the least.
    #[cfg(target_arch = "x86_64")]
    fn due(&mut self, at_ns: u64) -> u64 {
        debug_assert!(self.is_wide);
        // SAFETY: `is_wide` says that the processor has AVX2.
        let due = unsafe { wide::until(&self.times_ns, at_ns) };
        self.is_late = due == 0;
        if self.is_late {
            self.set_ahead(0, self.get(0));
            return self.least;
        }
        due
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
        __m256i, _mm256_add_epi64, _mm256_blendv_epi8, _mm256_castsi256_pd, _mm256_cmpeq_epi64,
        _mm256_cmpgt_epi64, _mm256_extract_epi64, _mm256_movemask_pd, _mm256_permute4x64_epi64,
        _mm256_set1_epi64x, _mm256_set_epi64x,
    };

    use super::{GROUP, LANES};

    type Lanes = [__m256i; GROUP / LANES];

    /// The lesser of each two lanes, which are below 2^63.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn lesser(left: __m256i, right: __m256i) -> __m256i {
        _mm256_blendv_epi8(left, right, _mm256_cmpgt_epi64(left, right))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(group: &[u64; GROUP]) -> Lanes {
        let mut lanes = [_mm256_set1_epi64x(0); GROUP / LANES];
        for (four, lanes) in group.as_chunks::<LANES>().0.iter().zip(&mut lanes) {
            let [a, b, c, d] = four.map(u64::cast_signed);
            *lanes = _mm256_set_epi64x(d, c, b, a);
        }
        lanes
    }

    /// The same with `at` in place of the lane whose number is `it`; the first has number `first`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_with(group: &[u64; GROUP], first: i64, it: __m256i, at: __m256i) -> Lanes {
        let mut numbers = _mm256_set_epi64x(first + 3, first + 2, first + 1, first);
        let step = _mm256_set1_epi64x((LANES as u64).cast_signed());
        load(group).map(|lanes| {
            let is_it = _mm256_cmpeq_epi64(numbers, it);
            numbers = _mm256_add_epi64(numbers, step);
            _mm256_blendv_epi8(lanes, at, is_it)
        })
    }

    /// The least of the lanes, in all four: each half against the other one, then each lane against
    /// its neighbour.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn least_lane(lanes: __m256i) -> __m256i {
        let lanes = lesser(lanes, _mm256_permute4x64_epi64::<0b01_00_11_10>(lanes));
        lesser(lanes, _mm256_permute4x64_epi64::<0b10_11_00_01>(lanes))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn least_of([a, b, c, d]: Lanes) -> __m256i {
        lesser(lesser(a, b), lesser(c, d))
    }

    /// One bit for each time of a group that is at most `by`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn until_of(lanes: Lanes, by: __m256i) -> u64 {
        let [a, b, c, d] = lanes.map(|lanes| {
            let later = _mm256_cmpgt_epi64(lanes, by);
            _mm256_movemask_pd(_mm256_castsi256_pd(later)).cast_unsigned()
        });
        let later = a | b << LANES | c << (2 * LANES) | d << (3 * LANES);
        u64::from(later ^ ((1 << GROUP) - 1))
    }

    /// One bit for each time that is at most `at_ns`.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    pub(super) fn until(times_ns: &[[u64; GROUP]], at_ns: u64) -> u64 {
        until_any(times_ns, _mm256_set1_epi64x(at_ns.cast_signed()))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn until_any(times_ns: &[[u64; GROUP]], by: __m256i) -> u64 {
        let mut due = 0;
        for (place, group) in (0..).zip(times_ns) {
            due |= until_of(load(group), by) << (place * GROUP);
        }
        due
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn lane(lanes: __m256i) -> u64 {
        _mm256_extract_epi64::<0>(lanes).cast_unsigned()
    }

    /// Sets a time; returns the least of all then, and one bit for each that is.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    pub(super) fn put(times_ns: &mut [[u64; GROUP]], number: u32, at_ns: u64) -> (u64, u64) {
        let it = _mm256_set1_epi64x(i64::from(number));
        let at = _mm256_set1_epi64x(at_ns.cast_signed());
        // A load of four lanes would wait for a store of one of them: it is put among them first.
        let mut least = _mm256_set1_epi64x(i64::MAX);
        if let [only] = times_ns {
            let lanes = load_with(only, 0, it, at);
            least = least_lane(least_of(lanes));
            only[number as usize % GROUP] = at_ns;
            return (lane(least), until_of(lanes, least));
        }
        for (first, group) in (0..).step_by(GROUP).zip(&*times_ns) {
            least = lesser(least, least_of(load_with(group, first, it, at)));
        }
        least = least_lane(least);
        times_ns.as_flattened_mut()[number as usize] = at_ns;
        (lane(least), until_any(times_ns, least))
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

        /// Times that are set, with and without a look ahead, between the questions.
        #[test]
        fn what_is_known_beforehand_is_what_would_be_found(
            count in 1_usize..40,
            acts in proptest::collection::vec(
                (any::<bool>(), 0_usize..40, 0_u64..12, 0_u64..14), 1..60),
        ) {
            let (mut soonest, mut times_ns) = (Soonest::new(count), vec![0; count]);
            for (is_ahead, number, time_ns, at_ns) in acts {
                let (number, turn) = (number % count, (number * 7 + 3) % count);
                times_ns[number] = time_ns;
                if is_ahead {
                    soonest.set_ahead(number as u32, time_ns);
                } else {
                    soonest.set(number as u32, time_ns);
                }
                prop_assert_eq!(soonest.get(number as u32), time_ns);
                if time_ns % 3 > 0 {
                    let in_turn = (turn..count).chain(0..turn);
                    let expected = in_turn.min_by_key(|&number| times_ns[number].max(at_ns));
                    let found = soonest.first(turn as u32, at_ns);
                    prop_assert_eq!(found, expected.unwrap() as u32);
                }
            }
        }
    }
}
