//! What a cache waits for: I/Os below and why they were sent, writes that wait for room, reads that
//! wait for data, and the batch that a flush waits for.

use teijo_engine::request::Op;

use super::extents::Span;
use crate::device::Ticket;

/// What an I/O brings that could not be served.
pub(super) const IO_ERROR: i32 = -5;

/// Why an I/O was sent below.
#[derive(Clone, Copy, Debug)]
pub(super) enum IoPurpose {
    /// A host I/O that goes by: it ends when it ends below.
    Pass { ticket: Ticket, op: Op, span: Span },
    /// One that a file system sends around the cache.
    Direct(Ticket),
    /// Data that somebody reads, or will.
    Fetch(usize),
    /// Dirty data, sent in this round.
    Drain { span: Span, round: u64 },
    /// The flush that ends a batch, of this round.
    Flush { round: u64 },
}

/// A write that waits for room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub ticket: Ticket,
    pub span: Span,
}

/// A read of the host that waits for fetches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub ticket: Ticket,
    pub fetches: u32,
    /// When what is known of it has ended.
    pub done_ns: u64,
    pub result: i32,
}

/// A read of the device below, and the reads of the host that wait for it.
#[derive(Clone, Debug)]
pub(super) struct Fetch {
    pub span: Span,
    pub readers: Readers,
}

/// The reads that wait for a fetch, in order: nearly always one, which needs no memory of its own.
#[derive(Clone, Debug)]
pub(super) struct Readers {
    first: Option<usize>,
    more: Vec<usize>,
}

impl Readers {
    #[inline]
    pub fn of(first: Option<usize>) -> Self {
        let more = Vec::new();
        Self { first, more }
    }

    #[inline]
    pub fn put(&mut self, reader: usize) {
        match self.first {
            None => self.first = Some(reader),
            Some(_) => self.more.push(reader),
        }
    }

    pub fn last(&self) -> Option<usize> {
        self.more.last().copied().or(self.first)
    }

    #[inline]
    pub fn into_order(self) -> impl Iterator<Item = usize> {
        self.first.into_iter().chain(self.more)
    }
}

/// What was dirty when a flush came, or when its time was up.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    /// Flushes that wait for this batch, and those that wait for the next.
    pub asked: Vec<Ticket>,
    pub next: Vec<Ticket>,
    pub stage: Stage,
    /// Drains are numbered by the batches that had begun when they were sent.
    pub round: u64,
    /// Drains in flight that this batch waits for.
    pub drains: u32,
    /// Drains of earlier rounds are forgotten: power failed.
    pub void_before: u64,
    /// Some dirty data could not be written since the last flush ended.
    pub failed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    None,
    Draining,
    Flushing,
}

impl Batch {
    pub fn is_active(&self) -> bool {
        self.stage != Stage::None
    }

    /// Forgets what is under way; returns the flushes that waited.
    pub fn void(&mut self) -> Vec<Ticket> {
        self.round += 1;
        self.void_before = self.round;
        (self.stage, self.drains, self.failed) = (Stage::None, 0, false);
        let mut waited = std::mem::take(&mut self.asked);
        waited.append(&mut self.next);
        waited
    }

    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let waiting = self.asked.iter().chain(&self.next).copied();
        waiting.chain([
            self.stage as u64,
            u64::from(self.drains),
            u64::from(self.failed),
        ])
    }
}
