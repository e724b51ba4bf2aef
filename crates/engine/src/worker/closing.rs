//! The end of a lap: a worker closes its books and hands in its share.

use std::sync::Arc;

use super::{Worker, WorkerLap};
use crate::backend::Backend;
use crate::clock::Clock;
use crate::pacing::Arrivals;
use crate::request::Op;
use crate::tally::Tally;

impl<B: Backend, C: Clock> Worker<B, C> {
    /// Closes the books of an open-ended lap at its end and opens those of the next, with the
    /// I/Os in flight belonging to the lap they complete in.
    #[cold]
    pub(super) fn hand_over(&mut self) {
        let ended_ns = self.control.end_ns();
        self.finished_lap = Some(Box::new(self.close_lap(ended_ns)));
        self.control = Arc::clone(self.control.next());
    }

    fn close_lap(&mut self, ended_ns: u64) -> WorkerLap {
        let index = self.seat.stream.index;
        let open_loop = self.seat.stream.is_open_loop();
        let fresh = Tally::new(ended_ns, self.control.interval_ns(), open_loop);
        let tally = std::mem::replace(&mut self.tally, fresh);
        // An arrival that was due at the very end belongs to the lap after.
        let last_due_ns = ended_ns.min(self.control.end_ns()).saturating_sub(1);
        let backlog_end = self
            .arrivals
            .as_mut()
            .map_or(0, |one| one.count_backlog(last_due_ns));
        let mut directions = tally.close(self.control.series(index));
        if let Some(verifier) = &mut self.staging.verifier {
            directions[Op::Read as usize].findings = verifier.take_findings();
        }
        if let Some(census) = &mut self.census {
            for (direction, one) in directions.iter_mut().zip(census.iter_mut()) {
                direction.census = Some(Box::new(std::mem::take(one)));
            }
        }
        WorkerLap {
            stream: index,
            ended_ns,
            directions,
            backlog_max: self.arrivals.as_mut().map_or(0, Arrivals::take_backlog_max),
            backlog_end,
            account: std::mem::take(&mut self.account),
            failure: self.failure.clone(),
        }
    }

    /// The worker's share of a lap, once, as soon as the lap is over.
    #[inline]
    pub fn take_lap(&mut self) -> Option<Box<WorkerLap>> {
        if self.finished_lap.is_none() && !self.ended {
            return None;
        }
        self.hand_in()
    }

    #[cold]
    fn hand_in(&mut self) -> Option<Box<WorkerLap>> {
        if self.finished_lap.is_none() && self.ended && !self.closed {
            self.closed = true;
            self.finished_lap = Some(Box::new(self.close_lap(self.now_ns)));
        }
        self.finished_lap.take()
    }
}
