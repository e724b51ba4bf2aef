//! The observer of a lap, called now and then.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use teijo_engine::crew::{Crew, Progress};
use teijo_engine::worker::Worker;

use crate::backend::{Seam, VirtualClock};

/// Turns between two looks at the wall clock.
const TURNS_BETWEEN_LOOKS: u32 = 1 << 12;

pub(super) type SimWorker<B> = Worker<B, VirtualClock>;

/// Watches a lap as it runs; `Break` ends it early, with what was measured until then.
pub trait Observer {
    /// Least wall time between two calls.
    fn period(&self) -> Duration;

    fn observe(&mut self, progress: &Progress) -> ControlFlow<()>;
}

/// Watches nothing.
pub struct Unobserved;

impl Observer for Unobserved {
    fn period(&self) -> Duration {
        Duration::MAX
    }

    fn observe(&mut self, _progress: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Calls the observer now and then.
pub(super) struct Watch<'a, O: Observer> {
    observer: &'a mut O,
    turns: u32,
    last: Instant,
    first_interval: u32,
    pub(super) stopped: bool,
}

impl<'a, O: Observer> Watch<'a, O> {
    pub(super) fn new(observer: &'a mut O) -> Self {
        Self {
            observer,
            turns: 0,
            last: Instant::now(),
            first_interval: 0,
            stopped: false,
        }
    }

    /// Turns until the next look at the wall clock.
    #[inline]
    pub(super) fn turns_left(&self) -> u32 {
        TURNS_BETWEEN_LOOKS - self.turns
    }

    /// Counts turns, at most as many as are left.
    #[inline]
    pub(super) fn look<B: Seam>(&mut self, crew: &Crew, worker: &SimWorker<B>, turns: u32) {
        self.turns += turns;
        if self.turns == TURNS_BETWEEN_LOOKS {
            self.turns = 0;
            self.observe(crew, worker.now_ns());
        }
    }

    #[cold]
    pub(super) fn observe(&mut self, crew: &Crew, now_ns: u64) {
        if self.last.elapsed() < self.observer.period() {
            return;
        }
        self.last = Instant::now();
        let progress = crew.progress(now_ns, self.first_interval);
        let finished = progress.finished.iter().map(Vec::len).max().unwrap_or(0);
        self.first_interval += finished as u32;
        if self.observer.observe(&progress).is_break() {
            self.stopped = true;
            crew.halt();
        }
    }
}
