//! The latency histogram: log-linear, with the buckets of `HdrHistogram` at three significant
//! digits (2048 linear ones, then 1024 to the octave), so that it converts without loss.

use hdrhistogram::serialization::{Serializer, V2Serializer};

/// Buckets per octave above the linear part.
const OCTAVE_BITS: u32 = 10;
/// Highest value of the encoded form; every stamp difference fits (48 bits, 78 hours).
const HIGHEST_NS: u64 = (1 << 48) - 1;
const SIGNIFICANT_DIGITS: u8 = 3;

/// Counts of values in ns. Sum, minimum and maximum are exact; a quantile is the middle of its
/// bucket, at most 0.05 % off.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Grows by whole octaves, so that equal contents are equal vectors.
    counts: Vec<u64>,
    count: u64,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

/// What several values are together. Many of them are taken in by it one after the other, and what
/// a histogram and an interval say of them is then brought up once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub count: u64,
    pub sum_ns: u64,
    /// Later than all where there is none.
    pub min_ns: u64,
    pub max_ns: u64,
}

impl Default for Summary {
    fn default() -> Self {
        Self {
            count: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }
}

impl Summary {
    #[inline]
    pub fn add(&mut self, value_ns: u64) {
        self.count += 1;
        self.sum_ns += value_ns;
        self.min_ns = self.min_ns.min(value_ns);
        self.max_ns = self.max_ns.max(value_ns);
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            count,
            sum_ns,
            min_ns,
            max_ns,
            ..
        } = self;
        write!(
            out,
            "Histogram({count} values of {min_ns}..={max_ns} ns, sum {sum_ns} ns)"
        )
    }
}

/// Bucket of a value: itself below 2048, then its 11 leading bits and their position.
#[inline]
fn bucket_of(value_ns: u64) -> usize {
    let shift = (63 - OCTAVE_BITS).saturating_sub((value_ns | 1).leading_zeros());
    ((u64::from(shift) << OCTAVE_BITS) + (value_ns >> shift)) as usize
}

/// Lowest value and width of a bucket.
fn bucket_span(bucket: usize) -> (u64, u64) {
    let shift = ((bucket >> OCTAVE_BITS) as u32).saturating_sub(1);
    let leading = bucket as u64 - (u64::from(shift) << OCTAVE_BITS);
    (leading << shift, 1 << shift)
}

fn bucket_middle(bucket: usize) -> u64 {
    let (lowest, width) = bucket_span(bucket);
    lowest + width / 2
}

impl Histogram {
    pub fn new() -> Self {
        Self::default()
    }

    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.record_n(value_ns, 1);
    }

    /// Records one value `count` times: a run of equal latencies costs one bucket.
    #[inline]
    pub fn record_n(&mut self, value_ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.enter(value_ns, count);
        self.min_ns = if self.count == 0 {
            value_ns
        } else {
            self.min_ns.min(value_ns)
        };
        self.max_ns = self.max_ns.max(value_ns);
        self.count += count;
        self.sum_ns += value_ns * count;
    }

    /// Counts a value in its bucket alone; `account_for` follows.
    #[inline]
    pub(crate) fn note(&mut self, value_ns: u64) {
        self.enter(value_ns, 1);
    }

    /// Takes in what the values are together that were noted.
    pub(crate) fn account_for(&mut self, noted: Summary) {
        if noted.count == 0 {
            return;
        }
        self.min_ns = if self.count == 0 {
            noted.min_ns
        } else {
            self.min_ns.min(noted.min_ns)
        };
        self.max_ns = self.max_ns.max(noted.max_ns);
        self.count += noted.count;
        self.sum_ns += noted.sum_ns;
    }

    #[inline]
    fn enter(&mut self, value_ns: u64, count: u64) {
        let bucket = bucket_of(value_ns);
        if bucket >= self.counts.len() {
            self.grow_to(bucket);
        }
        self.counts[bucket] += count;
    }

    #[cold]
    fn grow_to(&mut self, bucket: usize) {
        self.counts
            .resize(((bucket >> OCTAVE_BITS) + 1) << OCTAVE_BITS, 0);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.account_for(Summary {
            count: other.count,
            sum_ns: other.sum_ns,
            min_ns: other.min_ns,
            max_ns: other.max_ns,
        });
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// Smallest value, 0 when empty.
    pub fn min_ns(&self) -> u64 {
        self.min_ns
    }

    /// Largest value, 0 when empty.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// Value below or at which the share `quantile` (0 to 1) of all values lies (nearest rank);
    /// 0 when empty. Never outside of [min, max].
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        assert!(
            (0.0..=1.0).contains(&quantile),
            "a quantile lies within 0 and 1"
        );
        let rank = ((quantile * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut below = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            below += count;
            if below >= rank {
                return bucket_middle(bucket).clamp(self.min_ns, self.max_ns);
            }
        }
        self.max_ns
    }

    /// (middle of the bucket in ns, count) of every used bucket, ascending.
    pub fn pairs(&self) -> Vec<(u64, u64)> {
        let used = self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, &count)| count > 0);
        used.map(|(bucket, &count)| (bucket_middle(bucket), count))
            .collect()
    }

    /// From pairs as `pairs` gives them. Sum and extremes are then those of the pairs.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut histogram = Self::new();
        for (value_ns, count) in pairs {
            histogram.record_n(value_ns, count);
        }
        histogram
    }

    /// The plain (uncompressed) `HdrHistogram` V2 encoding: lowest 1, highest 2^48 - 1, 3 digits.
    /// Values beyond are encoded as the highest.
    pub fn to_v2(&self) -> Vec<u8> {
        let bounds =
            hdrhistogram::Histogram::<u64>::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS);
        let mut twin = bounds.expect("the bounds are constants that it accepts");
        for (value_ns, count) in self.pairs() {
            twin.saturating_record_n(value_ns.min(HIGHEST_NS), count);
        }
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(&twin, &mut bytes)
            .expect("a Vec takes every byte");
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;
    use proptest::prelude::*;

    #[test]
    fn the_buckets_are_those_of_hdrhistogram() {
        let twin = hdrhistogram::Histogram::<u64>::new_with_bounds(1, HIGHEST_NS, 3).unwrap();
        let edges = (0..48).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        for value in edges.chain([2047, 2048, 2049, 4095, 4096, 123_456_789]) {
            let (lowest, width) = bucket_span(bucket_of(value));
            assert_eq!(lowest, twin.lowest_equivalent(value), "{value}");
            assert_eq!(
                lowest + width - 1,
                twin.highest_equivalent(value),
                "{value}"
            );
        }
        assert_eq!(bucket_of(2047), 2047);
        assert_eq!(bucket_of(2048), 2048);
        assert_eq!(bucket_of(2050), 2049);
        assert_eq!(bucket_of(4096), 3072);
        assert!(bucket_of(u64::MAX) < 56_320);
    }

    /// (middle of the bucket, count) of every used bucket, as `HdrHistogram` reads the encoding.
    fn read(v2: &[u8]) -> Vec<(u64, u64)> {
        let twin: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut &v2[..]).unwrap();
        let buckets = twin.iter_recorded();
        let pairs = buckets.map(|step| {
            let middle = twin.median_equivalent(step.value_iterated_to());
            (middle, step.count_at_value())
        });
        pairs.collect()
    }

    #[test]
    fn an_empty_histogram_is_all_zeros() {
        let empty = Histogram::new();
        assert_eq!(
            (empty.count(), empty.quantile_ns(0.5), empty.max_ns()),
            (0, 0, 0)
        );
        assert_eq!(read(&empty.to_v2()), []);
    }

    fn values() -> impl Strategy<Value = Vec<u64>> {
        let (bits, count) = if cfg!(miri) { (16u32, 40) } else { (47, 400) };
        prop::collection::vec((0..bits).prop_flat_map(|bits| 0..(2u64 << bits)), 1..count)
    }

    proptest! {
        #[test]
        fn a_quantile_is_within_a_twentieth_of_a_percent(mut all in values(), q in 0.0..=1.0f64) {
            let histogram = Histogram::from_pairs(all.iter().map(|&value| (value, 1)));
            all.sort_unstable();
            let rank = ((q * all.len() as f64).ceil() as usize).clamp(1, all.len());
            let exact = all[rank - 1];
            let error = histogram.quantile_ns(q).abs_diff(exact) as f64;
            prop_assert!(error <= exact as f64 * 0.0005 + 1.0, "{error} of {exact}");
            prop_assert_eq!(histogram.sum_ns(), all.iter().sum::<u64>());
            prop_assert_eq!(histogram.min_ns(), all[0]);
            prop_assert_eq!(histogram.max_ns(), all[all.len() - 1]);
        }

        #[test]
        fn the_merge_is_the_merge_of_the_parts(left in values(), right in values()) {
            let both = left.iter().chain(&right).map(|&value| (value, 1));
            let mut merged = Histogram::from_pairs(left.iter().map(|&value| (value, 1)));
            merged.merge(&Histogram::from_pairs(right.iter().map(|&value| (value, 1))));
            prop_assert_eq!(merged, Histogram::from_pairs(both));
        }

        #[test]
        fn a_run_is_as_many_single_values(value in 0..1u64 << 40, count in 1..300u64) {
            let singles = Histogram::from_pairs((0..count).map(|_| (value, 1)));
            prop_assert_eq!(Histogram::from_pairs([(value, count)]), singles);
        }

        #[test]
        fn v2_brings_every_bucket_back(all in values()) {
            let histogram = Histogram::from_pairs(all.iter().map(|&value| (value, 1)));
            prop_assert_eq!(read(&histogram.to_v2()), histogram.pairs());
        }
    }
}
