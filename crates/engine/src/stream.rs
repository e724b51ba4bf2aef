//! What the workers of one stream share, and what each of them is given: its seat.

use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use crate::access::{Cursor, Shuffle};
use crate::control::LapControl;
use crate::flight::Flights;
use crate::plan::StreamPlan;
use crate::tally::Board;
use crate::verify::Ledger;

/// One stream as its workers share it.
pub struct Stream {
    pub index: usize,
    pub plan: StreamPlan,
    pub workers: u32,
    /// I/Os in flight per worker.
    pub depth: u16,
    pub cursor: Cursor,
    /// Those of threads that have each their own; none where all follow `cursor`.
    pub own_cursors: Vec<Cursor>,
    /// The order of a shuffled stream.
    pub shuffle: Option<Shuffle>,
    /// What must be read where, if the plan verifies.
    pub ledger: Option<Arc<Ledger>>,
    /// Its blocks are taken through the ledger.
    pub ordered: bool,
}

impl Stream {
    /// The cursor that a worker follows.
    #[inline]
    pub fn cursor_of(&self, worker: u32) -> &Cursor {
        if self.own_cursors.is_empty() {
            return &self.cursor;
        }
        // A thread may be several workers, one for each of its I/Os.
        let per_thread = self.workers / self.plan.threads;
        &self.own_cursors[(worker / per_thread) as usize]
    }

    pub fn is_open_loop(&self) -> bool {
        self.plan.rate.is_some()
    }
}

/// A worker's place in the crew.
#[derive(Clone)]
pub struct Seat {
    pub stream: Arc<Stream>,
    /// Number of the worker within its stream.
    pub number: u32,
    pub control: Arc<LapControl>,
    pub halt: Arc<AtomicBool>,
    pub board: Arc<Board>,
    pub flights: Arc<Flights>,
}
