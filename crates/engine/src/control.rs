//! What the workers of one lap share: its bound, its byte budget and its time series. Read once
//! a turn by every worker, written a few times in a lap.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::interval::Series;
use crate::plan::Bound;

/// One lap as its workers share it. Between two laps of an open-ended stimulus the workers are
/// already in the next one, whose bound is not known yet.
pub struct LapControl {
    started_ns: AtomicU64,
    /// No I/O is issued in this lap from here on; `u64::MAX` while nobody knows.
    end_ns: AtomicU64,
    counts_bytes: AtomicBool,
    /// The lap ends when its last I/O is back, and no other follows.
    drains: AtomicBool,
    /// Bytes still to be issued; below zero where a lap without a bound runs ahead of the next.
    bytes_left: AtomicI64,
    interval_ns: u64,
    series: Vec<Series>,
    next: OnceLock<Arc<LapControl>>,
}

impl LapControl {
    /// A lap without a bound, for `streams` streams.
    pub fn unbounded(streams: usize, interval_ns: u64) -> Self {
        Self {
            started_ns: AtomicU64::new(0),
            end_ns: AtomicU64::new(u64::MAX),
            counts_bytes: AtomicBool::new(false),
            drains: AtomicBool::new(false),
            bytes_left: AtomicI64::new(0),
            interval_ns,
            series: (0..streams).map(|_| Series::default()).collect(),
            next: OnceLock::new(),
        }
    }

    pub(crate) fn start_at(&self, now_ns: u64) {
        self.started_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Gives the lap its bound. What a running stimulus has issued already counts, and what it
    /// has completed: the lap does not end before `now_ns`, however late its bound is known.
    pub(crate) fn bind(&self, bound: Bound, open_ended: bool, now_ns: u64) {
        // First of all, so that nobody sees an end and takes it for that of an open-ended lap.
        self.drains.store(!open_ended, Ordering::Release);
        match bound {
            Bound::Time { duration_ns } => {
                let end_ns = self.started_ns().saturating_add(duration_ns);
                self.end_ns.store(end_ns.max(now_ns), Ordering::Release);
            }
            Bound::Bytes { total_bytes } => {
                let total_bytes = i64::try_from(total_bytes).unwrap_or(i64::MAX);
                self.bytes_left.fetch_add(total_bytes, Ordering::Relaxed);
                self.counts_bytes.store(true, Ordering::Release);
            }
        }
    }

    #[inline]
    pub fn started_ns(&self) -> u64 {
        self.started_ns.load(Ordering::Relaxed)
    }

    #[inline]
    pub fn end_ns(&self) -> u64 {
        self.end_ns.load(Ordering::Acquire)
    }

    #[inline]
    pub fn drains(&self) -> bool {
        self.drains.load(Ordering::Acquire)
    }

    pub fn interval_ns(&self) -> u64 {
        self.interval_ns
    }

    pub fn series(&self, stream: usize) -> &Series {
        &self.series[stream]
    }

    /// The lap after this one, beginning where this one ends.
    pub fn next(&self) -> &Arc<LapControl> {
        self.next.get_or_init(|| {
            let next = LapControl::unbounded(self.series.len(), self.interval_ns);
            next.start_at(self.end_ns());
            Arc::new(next)
        })
    }

    /// Whether an I/O may still be issued at `now_ns`.
    #[inline]
    pub fn allows_issue(&self, now_ns: u64) -> bool {
        let budget_spent = self.counts_bytes.load(Ordering::Relaxed)
            && self.bytes_left.load(Ordering::Relaxed) <= 0;
        now_ns < self.end_ns() && !budget_spent
    }

    /// Whether time bounds the lap by now, so that bytes need no claim.
    #[inline]
    pub fn is_timed(&self) -> bool {
        self.end_ns() != u64::MAX
    }

    /// Takes up to `wanted_bytes` from the budget; 0 when it is spent. A lap that drains gives
    /// out its bytes exactly; an open-ended one grants the last I/O whole and ends at `now_ns`.
    #[inline]
    pub fn claim_bytes(&self, wanted_bytes: u32, now_ns: u64) -> u32 {
        if self.is_timed() {
            return wanted_bytes;
        }
        self.claim_counted(wanted_bytes, now_ns)
    }

    fn claim_counted(&self, wanted_bytes: u32, now_ns: u64) -> u32 {
        let wanted = i64::from(wanted_bytes);
        if self.drains() {
            let taken =
                self.bytes_left
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                        (left > 0).then(|| left - wanted.min(left))
                    });
            return taken.map_or(0, |left| wanted.min(left) as u32);
        }
        let left = self.bytes_left.fetch_sub(wanted, Ordering::Relaxed) - wanted;
        if left <= 0 && self.counts_bytes.load(Ordering::Acquire) {
            self.end_ns.fetch_min(now_ns, Ordering::AcqRel);
        }
        wanted_bytes
    }

    /// Takes `wanted_bytes` for each of `ios`, of workers that one thread steps in turn; false, and
    /// nothing is taken, where that would be the last of the budget or none may be issued.
    #[inline]
    pub(crate) fn claims_in_turn(&self, wanted_bytes: u32, ios: u32) -> bool {
        let left = self.bytes_left.load(Ordering::Relaxed);
        if self.is_timed() {
            return !self.counts_bytes.load(Ordering::Relaxed) || left > 0;
        }
        let wanted = i64::from(wanted_bytes) * i64::from(ios);
        if left > wanted {
            self.bytes_left.store(left - wanted, Ordering::Relaxed);
        }
        left > wanted
    }

    /// Gives back what a claim did not need (a short block at the end of a segment).
    #[inline]
    pub fn return_bytes(&self, unused_bytes: u32) {
        if unused_bytes > 0 {
            self.bytes_left
                .fetch_add(i64::from(unused_bytes), Ordering::Relaxed);
        }
    }
}
