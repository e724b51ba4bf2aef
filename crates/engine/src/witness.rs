//! How a lap was made: the CPU time and the system calls it took, and whether as many I/Os were in
//! flight as planned. Reads nothing but what the kernel says of this process.

use std::collections::HashSet;
use std::fs;

use crate::backend::BackendKind;
use crate::control::LapControl;
use crate::place::Place;
use crate::technique::Techniques;

/// How a lap was made. All of it is zero or empty where it does not apply, as in virtual time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Witness {
    /// What carried the I/O; None in virtual time.
    pub backend: Option<BackendKind>,
    /// From the start to the end of the lap.
    pub wall_ns: u64,
    /// CPU time of the whole process over the lap, the kernel's helpers for its I/O included.
    pub cpu_ns: u64,
    /// CPU time of the workers alone, all together.
    pub worker_cpu_ns: u64,
    /// Time that workers were ready to run but had no CPU, all together.
    pub worker_delay_ns: u64,
    /// CPU time over wall time of the busiest worker: near 1 the engine is the limit.
    pub busiest_worker: f64,
    pub workers: u32,
    /// I/Os in flight, averaged over the time in which I/O was to be issued, all workers together;
    /// what was asked for beside it. What is still in flight after that is only waited for.
    pub in_flight_mean: f64,
    pub in_flight_asked: u64,
    /// The same of each stream, in the order of the plan.
    pub streams: Vec<InFlight>,
    /// Time in which workers made what they wrote, all together; in no latency of what they made.
    pub made_ns: u64,
    /// The same for judging what they had read.
    pub judged_ns: u64,
    /// Longest time between two readings of its clock by one worker, waits included.
    pub turn_gap_ns_max: u64,
    /// Turns of the loop, each with one reading of the clock, or more around content.
    pub turns: u64,
    /// System calls to submit or to wait; 0 where the backend does not count them.
    pub submit_calls: u64,
    /// Most completions that a wait was for; 0 where nobody waits.
    pub min_complete: u32,
    /// Most threads of the kernel seen that carry out I/Os which the target would not queue.
    pub io_wq_workers: u32,
    /// What the backend and the clock were granted, all workers alike.
    pub techniques: Techniques,
    /// The counter's drift against the kernel's clock, in millionths; None if it was not used or
    /// for too short a time to say.
    pub drift_ppm: Option<f64>,
    /// Where the first workers were kept, in their order; the others follow over again. Empty
    /// where the kernel chose.
    pub places: Vec<Place>,
}

/// How deep one stream was: averaged over time, and as it was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InFlight {
    pub mean: f64,
    pub asked: u64,
}

/// One worker's part of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// Sum over time of the I/Os in flight, in I/O ns.
    pub in_flight_area: u128,
    pub made_ns: u64,
    pub judged_ns: u64,
    /// Where issuing ended before the lap did: the sum up to there, and the time since the start.
    pub issued: Option<(u128, u64)>,
    pub turn_gap_ns_max: u64,
    pub turns: u64,
    pub submit_calls: u64,
    pub min_complete: u32,
    pub cpu_ns: u64,
    pub delay_ns: u64,
}

impl Account {
    /// Adds a turn of the loop with `held` I/Os in flight.
    #[inline]
    pub(crate) fn add_turn(&mut self, gap_ns: u64, held: u64) {
        self.turns += 1;
        self.add_time(gap_ns, held);
    }

    /// Adds time of a turn in which the worker did something else than waiting.
    #[inline]
    pub(crate) fn add_time(&mut self, gap_ns: u64, held: u64) {
        self.turn_gap_ns_max = self.turn_gap_ns_max.max(gap_ns);
        self.in_flight_area += u128::from(gap_ns) * u128::from(held);
    }

    /// Issuing ends at `at_ns`, once and for all; `open_area` belongs to the turn in which that
    /// is and which is not added yet.
    #[cold]
    pub(crate) fn end_issuing(&mut self, lap: &LapControl, at_ns: u64, open_area: u64) {
        let area = self.in_flight_area + u128::from(open_area);
        let issued_ns = at_ns.saturating_sub(lap.started_ns());
        self.issued.get_or_insert((area, issued_ns));
    }

    /// Enters what the host says: what was taken until `now` and not already `before`.
    pub(crate) fn take_from_host(&mut self, now: Self, before: Self) {
        self.submit_calls = now.submit_calls - before.submit_calls;
        self.min_complete = now.min_complete;
        self.cpu_ns = now.cpu_ns.saturating_sub(before.cpu_ns);
        self.delay_ns = now.delay_ns.saturating_sub(before.delay_ns);
    }
}

impl Witness {
    /// Adds a worker of a stream that was asked to hold `depth` I/Os.
    pub(crate) fn add(&mut self, account: &Account, stream: usize, depth: u16) {
        let wall_ns = self.wall_ns.max(1) as f64;
        let (area, issued_ns) = account
            .issued
            .unwrap_or((account.in_flight_area, self.wall_ns));
        let held = area as f64 / issued_ns.max(1) as f64;
        self.workers += 1;
        self.in_flight_asked += u64::from(depth);
        self.in_flight_mean += held;
        self.streams[stream].asked += u64::from(depth);
        self.streams[stream].mean += held;
        self.made_ns += account.made_ns;
        self.judged_ns += account.judged_ns;
        self.turn_gap_ns_max = self.turn_gap_ns_max.max(account.turn_gap_ns_max);
        self.turns += account.turns;
        self.submit_calls += account.submit_calls;
        self.min_complete = self.min_complete.max(account.min_complete);
        self.worker_cpu_ns += account.cpu_ns;
        self.worker_delay_ns += account.delay_ns;
        self.busiest_worker = self.busiest_worker.max(account.cpu_ns as f64 / wall_ns);
    }

    /// Whether the target made the kernel carry out I/Os by threads instead of queueing them.
    pub fn was_punted(&self) -> bool {
        self.io_wq_workers > 0
    }
}

/// Time that the calling thread was ready to run without a CPU, 0 where the kernel does not say.
pub(crate) fn delay_ns() -> u64 {
    let account = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let second = account.split_ascii_whitespace().nth(1);
    second.and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

/// Counts the kernel's I/O threads in this process. Every thread's name is read once.
#[derive(Debug, Default)]
pub(crate) struct Census {
    others: HashSet<String>,
}

impl Census {
    pub fn io_wq_workers(&mut self) -> u32 {
        let Ok(threads) = fs::read_dir("/proc/self/task") else {
            return 0;
        };
        let mut workers = 0;
        let mut seen = HashSet::new();
        for thread in threads.flatten() {
            let id = thread.file_name().to_string_lossy().into_owned();
            let is_other = self.others.contains(&id)
                || !fs::read_to_string(thread.path().join("comm"))
                    .is_ok_and(|name| name.starts_with("iou-wrk-"));
            if is_other {
                seen.insert(id);
            } else {
                workers += 1;
            }
        }
        self.others = seen;
        workers
    }
}
