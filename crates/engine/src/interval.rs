//! The time series of a lap: every worker counts the current interval for itself and hands it
//! over when it is past, so memory grows with elapsed intervals and not with I/Os or workers.

use std::sync::{Mutex, PoisonError};

use crate::histogram::Summary;

/// One interval of the time series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Number of the interval since the lap began.
    pub index: u32,
    pub ios: u64,
    pub bytes: u64,
    pub errors: u64,
    pub latency_sum_ns: u64,
    pub latency_min_ns: u64,
    pub latency_max_ns: u64,
}

/// Read and write counts of one interval, in this order.
pub type IntervalPair = [Interval; 2];

/// The finished intervals of one stream, summed over its workers.
#[derive(Debug, Default)]
pub struct Series {
    intervals: Mutex<Vec<IntervalPair>>,
}

impl Series {
    /// Adds one worker's share of an interval.
    fn add(&self, share: &IntervalPair) {
        let mut intervals = self
            .intervals
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let index = share[0].index;
        while intervals.len() <= index as usize {
            let empty = Interval {
                index: intervals.len() as u32,
                ..Interval::default()
            };
            intervals.push([empty; 2]);
        }
        for (whole, part) in intervals[index as usize].iter_mut().zip(share) {
            whole.merge(part);
        }
    }

    /// All intervals from `first` to before `end` that some worker has handed over.
    pub fn between(&self, first: u32, end: u32) -> Vec<IntervalPair> {
        let intervals = self
            .intervals
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let end = intervals.len().min(end as usize);
        intervals[end.min(first as usize)..end].to_vec()
    }
}

impl Interval {
    /// Adds `count` I/Os of one latency.
    #[inline]
    pub(crate) fn record_n(&mut self, latency_ns: u64, count: u64, bytes: u64) {
        let first = self.ios == 0;
        self.latency_min_ns = if first {
            latency_ns
        } else {
            self.latency_min_ns.min(latency_ns)
        };
        self.latency_max_ns = self.latency_max_ns.max(latency_ns);
        self.latency_sum_ns += latency_ns * count;
        self.ios += count;
        self.bytes += bytes;
    }

    /// Adds I/Os that are `noted` together.
    pub(crate) fn account_for(&mut self, noted: Summary, bytes: u64) {
        self.merge(&Self {
            ios: noted.count,
            bytes,
            latency_sum_ns: noted.sum_ns,
            latency_min_ns: noted.min_ns,
            latency_max_ns: noted.max_ns,
            ..Self::default()
        });
    }

    fn merge(&mut self, other: &Self) {
        if other.ios > 0 {
            let min_ns = other.latency_min_ns;
            self.latency_min_ns = if self.ios == 0 {
                min_ns
            } else {
                self.latency_min_ns.min(min_ns)
            };
        }
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
        self.latency_sum_ns += other.latency_sum_ns;
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.errors += other.errors;
    }
}

/// One worker's current interval.
#[derive(Debug)]
pub(crate) struct Meter {
    pub current: IntervalPair,
    ends_ns: u64,
    started_ns: u64,
    interval_ns: u64,
}

impl Meter {
    pub fn new(started_ns: u64, interval_ns: u64) -> Self {
        let ends_ns = started_ns.saturating_add(interval_ns);
        Self {
            current: IntervalPair::default(),
            ends_ns,
            started_ns,
            interval_ns,
        }
    }

    #[inline]
    pub fn ends_ns(&self) -> u64 {
        self.ends_ns
    }

    /// Number of the current interval.
    pub fn index(&self) -> u32 {
        self.current[0].index
    }

    /// Hands over the current interval when `now_ns` is past it. True when it did.
    #[inline]
    pub fn turn(&mut self, now_ns: u64, series: &Series) -> bool {
        let past = now_ns >= self.ends_ns;
        if past {
            self.roll(now_ns, series);
        }
        past
    }

    #[cold]
    fn roll(&mut self, now_ns: u64, series: &Series) {
        self.close(series);
        let index = (now_ns - self.started_ns) / self.interval_ns;
        self.ends_ns = self
            .started_ns
            .saturating_add((index + 1).saturating_mul(self.interval_ns));
        let empty = Interval {
            index: index as u32,
            ..Interval::default()
        };
        self.current = [empty; 2];
    }

    /// Hands over the current interval as it is.
    pub fn close(&mut self, series: &Series) {
        if self.current.iter().any(|one| one.ios > 0 || one.errors > 0) {
            series.add(&self.current);
        }
        let empty = Interval {
            index: self.index(),
            ..Interval::default()
        };
        self.current = [empty; 2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_is_the_sum_of_its_workers_with_the_gaps_filled() {
        let series = Series::default();
        let mut left = Meter::new(1_000, 100);
        let mut right = Meter::new(1_000, 100);
        left.current[0].record_n(7, 2, 20);
        right.current[0].record_n(5, 1, 10);
        right.current[1].record_n(9, 1, 10);
        assert!(!left.turn(1_099, &series));
        assert!(left.turn(1_100, &series));
        assert!(right.turn(1_350, &series));
        assert_eq!((left.index(), right.index()), (1, 3));
        right.current[1].errors += 1;
        right.close(&series);
        left.close(&series);

        let all = series.between(0, u32::MAX);
        assert_eq!(all.len(), 4);
        let [read, write] = all[0];
        assert_eq!((read.ios, read.bytes, read.latency_sum_ns), (3, 30, 19));
        assert_eq!((read.latency_min_ns, read.latency_max_ns), (5, 7));
        assert_eq!(write.ios, 1);
        assert_eq!(
            all[2],
            [Interval {
                index: 2,
                ..Interval::default()
            }; 2]
        );
        assert_eq!((all[3][1].errors, all[3][1].index), (1, 3));
        assert_eq!(series.between(3, 9).len(), 1);
        assert!(series.between(7, 9).is_empty());
    }
}
