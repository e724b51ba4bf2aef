//! The turns of one worker on large files: which chunk is next, and whether it is rewritten.

use std::io::{PipeReader, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::plan::{LargePlan, Operation};
use crate::census::Census;
use crate::permutation::Permutation;
use crate::seed::{derive_seed, scale};

/// The ticket after the last one, as Bonnie++ has it.
pub const END_TICKET: u32 = 1 << 31;
/// Draws of the share that is rewritten are others than those of the offsets.
const REWRITES: u64 = 0x7265_7772;

/// One operation: on which bytes of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Since the file's beginning, or of all tickets.
    pub number: u64,
    pub offset_bytes: u64,
    pub length_bytes: u64,
    /// Of a seek: a byte is changed and the chunk written back.
    pub rewrites: bool,
}

/// Where a worker's numbers come from.
#[derive(Clone, Debug)]
pub enum Tickets {
    Own { next: u64, end: u64 },
    Shared { next: Arc<AtomicU64>, end: u64 },
    Piped(Arc<PipeReader>),
}

impl Tickets {
    /// Those of a worker: from a heap that all have, or its own.
    pub fn of(plan: &LargePlan, worker: u32, heap: &Arc<AtomicU64>) -> Self {
        if plan.shares_tickets() {
            Self::Shared {
                next: Arc::clone(heap),
                end: plan.units(),
            }
        } else {
            Self::own(plan, worker)
        }
    }

    /// Those of a worker that shares none.
    pub fn own(plan: &LargePlan, worker: u32) -> Self {
        Self::Own {
            next: 0,
            end: plan.units_of(worker),
        }
    }

    #[inline]
    fn draw(&mut self) -> Option<u64> {
        match self {
            Self::Own { next, end } => {
                let number = *next;
                *next += 1;
                (number < *end).then_some(number)
            }
            Self::Shared { next, end } => {
                let number = next.fetch_add(1, Ordering::Relaxed);
                (number < *end).then_some(number)
            }
            Self::Piped(pipe) => {
                let mut ticket = [0; 4];
                // A pipe that is shut has no tickets left.
                (&**pipe).read_exact(&mut ticket).ok()?;
                let ticket = u32::from_ne_bytes(ticket);
                (ticket != END_TICKET).then_some(u64::from(ticket))
            }
        }
    }
}

/// The turns of one worker.
#[derive(Clone, Debug)]
pub struct Turns {
    tickets: Tickets,
    operation: Operation,
    offset_seed: u64,
    /// Over all chunks, where none is to be met twice.
    order: Option<Permutation>,
    chunks: u64,
    chunk_bytes: u64,
    unit_bytes: u64,
    whole_bytes: u64,
    rewrite_percent: u64,
    /// Where the file begins, were all files of the step one behind the other.
    first_bytes: u64,
    census: Option<Box<Census>>,
}

impl Turns {
    /// The number of the pipe that its tickets come from.
    pub fn descriptor(&self) -> Option<i32> {
        match &self.tickets {
            Tickets::Piped(pipe) => Some(pipe.as_raw_fd()),
            Tickets::Own { .. } | Tickets::Shared { .. } => None,
        }
    }

    pub fn new(plan: &LargePlan, worker: u32, tickets: Tickets) -> Self {
        // Who shares a file shares the offsets; others have offsets of their own.
        let offset_seed = if plan.share {
            plan.offset_seed
        } else {
            derive_seed(plan.offset_seed, u64::from(worker))
        };
        Self {
            tickets,
            operation: plan.operation,
            offset_seed,
            order: (plan.each_once && plan.operation.is_random())
                .then(|| Permutation::new(plan.chunks(), offset_seed)),
            chunks: plan.chunks(),
            chunk_bytes: u64::from(plan.chunk_bytes),
            unit_bytes: plan.unit_bytes(),
            whole_bytes: plan.whole_bytes(),
            rewrite_percent: u64::from(plan.rewrite_percent),
            // What wraps around are files that no disk holds.
            first_bytes: plan
                .file_bytes
                .wrapping_mul(u64::from(plan.file_of(worker))),
            census: plan.census.then(Box::default),
        }
    }

    /// The chunks of the turns so far, where the plan asks for them.
    pub fn census(&self) -> Option<&Census> {
        self.census.as_deref()
    }
}

impl Iterator for Turns {
    type Item = Turn;

    #[inline]
    fn next(&mut self) -> Option<Turn> {
        let number = self.tickets.draw()?;
        let (offset_bytes, length_bytes) = if self.operation.is_random() {
            let chunk = match &self.order {
                Some(order) => order.forward(number % self.chunks),
                None => scale(derive_seed(self.offset_seed, number), self.chunks),
            };
            (chunk * self.chunk_bytes, self.chunk_bytes)
        } else {
            let offset_bytes = number * self.unit_bytes;
            let left_bytes = self.whole_bytes - offset_bytes;
            (offset_bytes, self.unit_bytes.min(left_bytes))
        };
        if let Some(census) = &mut self.census {
            census.note(self.first_bytes.wrapping_add(offset_bytes));
        }
        let rewrites = self.rewrite_percent > 0 && {
            let draw = derive_seed(self.offset_seed ^ REWRITES, number);
            scale(draw, 100) < self.rewrite_percent
        };
        Some(Turn {
            number,
            offset_bytes,
            length_bytes,
            rewrites,
        })
    }
}

/// Writes tickets to a pipe, and an end for each worker; stops where nobody reads.
pub fn feed(mut pipe: impl Write + Send + 'static, tickets: u64, workers: u32) {
    let feeder = move || {
        let all = (0..tickets as u32).chain((0..workers).map(|_| END_TICKET));
        let all: Vec<u8> = all.flat_map(u32::to_ne_bytes).collect();
        let _ = pipe.write_all(&all);
    };
    // Without it the pipe is shut, which ends the workers: they do nothing, and that shows.
    let _ = std::thread::Builder::new().spawn(feeder);
}
