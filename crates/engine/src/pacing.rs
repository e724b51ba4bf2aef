//! When the next I/O of an open loop is due. Times are computed in ns from the number of the
//! arrival or drawn gap by gap; a backlog is a count, so a stall of any length costs no memory.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::plan::{Rate, Schedule};

const NS_PER_SECOND: f64 = 1e9;

/// The intended starts of one worker, in order. The stream's rate is split: of `workers`, worker
/// i has every n-th arrival of a fixed schedule, or its own Poisson process (together they are one
/// Poisson process of the whole rate).
#[derive(Clone, Debug)]
struct Train {
    started_ns: u64,
    /// Arrivals already passed.
    number: u64,
    /// The next arrival, since the start. Exact to 1 ns for 104 days.
    next_ns: f64,
    first_ns: f64,
    gap_ns: f64,
    poisson: Option<Xoshiro256PlusPlus>,
}

impl Train {
    fn new(rate: Rate, worker: u32, workers: u32, started_ns: u64, seed: u64) -> Self {
        let gap_ns = NS_PER_SECOND / rate.ios_per_second * f64::from(workers);
        let first_ns = gap_ns * f64::from(worker) / f64::from(workers);
        let poisson = match rate.schedule {
            Schedule::Fixed => None,
            Schedule::Poisson => Some(Xoshiro256PlusPlus::seed_from_u64(seed)),
        };
        let mut train = Self {
            started_ns,
            number: 0,
            next_ns: 0.0,
            first_ns,
            gap_ns,
            poisson,
        };
        train.next_ns = train.after(0.0);
        train
    }

    /// The arrival `number`, the one before being at `before_ns`.
    fn after(&mut self, before_ns: f64) -> f64 {
        match &mut self.poisson {
            None => self.first_ns + self.number as f64 * self.gap_ns,
            Some(generator) => {
                let uniform = (generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                before_ns - (-uniform).ln_1p() * self.gap_ns
            }
        }
    }

    #[inline]
    fn next_ns(&self) -> u64 {
        self.started_ns.saturating_add(self.next_ns as u64)
    }

    #[inline]
    fn pass(&mut self) {
        self.number += 1;
        self.next_ns = self.after(self.next_ns);
    }
}

/// The open loop of one worker.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    issued: Train,
    /// The same train further on: where the clock is, when that is ahead of the slots.
    arrived: Train,
    backlog_max: u64,
}

impl Arrivals {
    pub fn new(rate: Rate, worker: u32, workers: u32, started_ns: u64, seed: u64) -> Self {
        let issued = Train::new(rate, worker, workers, started_ns, seed);
        Self {
            arrived: issued.clone(),
            issued,
            backlog_max: 0,
        }
    }

    /// Intended start of the next I/O.
    pub fn next_ns(&self) -> u64 {
        self.issued.next_ns()
    }

    /// Takes the next arrival when it is due.
    #[inline]
    pub fn take_due(&mut self, now_ns: u64) -> Option<u64> {
        let intended_ns = self.issued.next_ns();
        (intended_ns <= now_ns).then(|| {
            self.issued.pass();
            intended_ns
        })
    }

    /// Arrivals due at `now_ns` that were not taken; remembers the most of them.
    pub fn count_backlog(&mut self, now_ns: u64) -> u64 {
        if self.arrived.number < self.issued.number {
            self.arrived = self.issued.clone();
        }
        while self.arrived.next_ns() <= now_ns {
            self.arrived.pass();
        }
        let backlog = self.arrived.number - self.issued.number;
        self.backlog_max = self.backlog_max.max(backlog);
        backlog
    }

    /// The greatest backlog since the last call.
    pub fn take_backlog_max(&mut self) -> u64 {
        std::mem::take(&mut self.backlog_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(ios_per_second: f64, schedule: Schedule) -> Rate {
        Rate {
            ios_per_second,
            schedule,
        }
    }

    fn all_until(mut arrivals: Arrivals, end_ns: u64) -> Vec<u64> {
        std::iter::from_fn(|| arrivals.take_due(end_ns)).collect()
    }

    #[test]
    fn three_workers_share_one_fixed_schedule_without_drift() {
        let rate = rate(300_000.0, Schedule::Fixed);
        let workers = (0..3).map(|worker| Arrivals::new(rate, worker, 3, 50, 1));
        let arrivals = if cfg!(miri) { 3_000 } else { 300_000 };
        let end_ns = arrivals * 10_000 / 3 + 49;
        let mut all: Vec<u64> = workers.flat_map(|one| all_until(one, end_ns)).collect();
        all.sort_unstable();
        assert_eq!(all.len() as u64, arrivals);
        for (number, &intended) in all.iter().enumerate() {
            let exact = 50 + number as u64 * 10_000 / 3;
            assert!(intended.abs_diff(exact) <= 1, "{intended} for {exact}");
        }
    }

    /// The mean gap of fio truncates to whole microseconds: 1.1 M/s becomes 2 M/s.
    #[test]
    fn poisson_arrivals_keep_the_rate_and_their_gaps_are_exponential() {
        for per_second in [600_000.0, 1_100_000.0] {
            let rate = rate(per_second, Schedule::Poisson);
            let seconds = if cfg!(miri) { 0.002 } else { 1.0 };
            let all = all_until(Arrivals::new(rate, 0, 1, 0, 7), (seconds * 1e9) as u64);
            let (count, expected) = (all.len() as f64, per_second * seconds);
            assert!(
                (count / expected - 1.0).abs() < 4.0 / expected.sqrt(),
                "{count}"
            );

            let mut gaps: Vec<u64> = all.windows(2).map(|pair| pair[1] - pair[0]).collect();
            gaps.sort_unstable();
            let distance = |(number, gap): (usize, &u64)| {
                let expected = 1.0 - (-(*gap as f64) * per_second / 1e9).exp();
                (expected - number as f64 / gaps.len() as f64).abs()
            };
            let worst = gaps.iter().enumerate().map(distance).fold(0.0, f64::max);
            // Kolmogorov-Smirnov at 0.1 %, and 1 ns of rounding at this rate.
            assert!(worst < 1.95 / count.sqrt() + per_second / 1e9, "{worst}");
        }
    }

    #[test]
    fn the_backlog_counts_what_is_due_and_a_late_arrival_keeps_its_time() {
        for schedule in [Schedule::Fixed, Schedule::Poisson] {
            let mut arrivals = Arrivals::new(rate(1e6, schedule), 0, 1, 0, 3);
            let all = all_until(arrivals.clone(), 1_000_000);
            assert_eq!(arrivals.count_backlog(1_000_000), all.len() as u64);
            let late: Vec<u64> = (0..10)
                .filter_map(|_| arrivals.take_due(1_000_000))
                .collect();
            assert_eq!(late, all[..10]);
            assert_eq!(arrivals.count_backlog(1_000_000), all.len() as u64 - 10);
            assert_eq!(arrivals.take_backlog_max(), all.len() as u64);
        }
    }
}
