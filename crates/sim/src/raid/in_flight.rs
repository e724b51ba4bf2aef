//! What an array has sent to its members and has not seen the end of.

use super::plan::Piece;
use crate::device::Ticket;

/// A host I/O whose end is not known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Request {
    pub(super) ticket: Ticket,
    pub(super) works: u32,
    pub(super) done_ns: u64,
    pub(super) result: i32,
}

/// One work of a request: member I/Os in flight, and what follows them.
#[derive(Clone, Debug, Default)]
pub(super) struct MemberWork {
    pub(super) request: usize,
    pub(super) untold: u32,
    /// When the member I/Os whose end is known have ended.
    pub(super) ready_ns: u64,
    pub(super) then: Vec<Piece>,
    /// What is being read, by the place in their tickets; nothing while it is written.
    pub(super) reads: Vec<Piece>,
    /// The one read of a work without a plan.
    pub(super) direct: Option<Piece>,
    /// Reads that members have failed, and whose data others have to give back.
    pub(super) unread: Vec<Piece>,
    /// The members that have failed a read of this work, and how the last of them did.
    pub(super) bad: Vec<u32>,
    pub(super) failure: i32,
}

impl MemberWork {
    /// Notes that the read of `piece` has failed.
    pub(super) fn miss(&mut self, piece: Piece, failure: i32) {
        self.unread.push(piece);
        self.bad.push(piece.member);
        self.failure = failure;
    }
}

/// What a member is told of its I/O: the work, and the place of the piece in it.
pub(super) fn ticket_of(work: usize, piece: usize) -> Ticket {
    work as Ticket | (piece as Ticket) << 32
}

/// The work and the place of a ticket.
pub(super) fn work_of(ticket: Ticket) -> (usize, usize) {
    (ticket as u32 as usize, (ticket >> 32) as usize)
}

/// Places that are used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Slab<T> {
    pub(super) places: Vec<T>,
    pub(super) free: Vec<usize>,
}

impl<T: Default> Slab<T> {
    /// The place that `put` takes next.
    #[inline]
    pub(super) fn next_place(&mut self) -> usize {
        if let Some(&place) = self.free.last() {
            return place;
        }
        let place = self.put(T::default());
        self.free.push(place);
        place
    }

    #[inline]
    pub(super) fn put(&mut self, value: T) -> usize {
        if let Some(place) = self.free.pop() {
            self.places[place] = value;
            return place;
        }
        self.places.push(value);
        self.places.len() - 1
    }
}

/// Where an I/O goes that needs no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    One(Piece),
    /// The same range of every member.
    All {
        offset_bytes: u64,
        length_bytes: u64,
    },
}

/// What came of sending: when what is known has ended, the ends that are not, and a failure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub ready_ns: u64,
    pub untold: u32,
    pub failure: i32,
}

impl Sent {
    pub(super) fn nothing(at_ns: u64) -> Self {
        Self {
            ready_ns: at_ns,
            untold: 0,
            failure: 0,
        }
    }

    /// Both.
    #[must_use]
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            ready_ns: self.ready_ns.max(other.ready_ns),
            untold: self.untold + other.untold,
            failure: self.failure.min(other.failure),
        }
    }
}
