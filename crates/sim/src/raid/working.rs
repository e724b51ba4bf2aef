//! How a work of an array goes on: its reads, what others give back of those that members failed,
//! and its writes.

use std::cmp::Reverse;

use teijo_engine::request::Op;

use super::array::Array;
use super::in_flight::{ticket_of, work_of, MemberWork, Sent};
use super::plan::{Piece, Work};
use crate::device::{Device, Ended, Outcome, Ticket};

impl<D: Device> Array<D> {
    /// Sends `pieces` to the members as part of `work`, which knows then when those whose end is
    /// known have ended, and how many are not.
    fn send(&mut self, work: usize, op: Op, pieces: &[Piece], at_ns: u64) {
        let mut sent = Sent::nothing(at_ns);
        for (index, &piece) in pieces.iter().enumerate() {
            let one = self.send_piece(ticket_of(work, index), op, piece, at_ns);
            if one.failure < 0 {
                let missed = (op == Op::Read).then_some(piece);
                self.miss(work, missed, one.failure);
            }
            sent = sent.and(one);
        }
        let place = &mut self.member_work.places[work];
        (place.ready_ns, place.untold) = (sent.ready_ns, sent.untold);
    }

    /// A member has failed a read of `work`, or anything else, which fails the request.
    fn miss(&mut self, work: usize, read: Option<Piece>, failure: i32) {
        let place = &mut self.member_work.places[work];
        match read {
            Some(piece) => place.miss(piece, failure),
            None => self.requests.places[place.request].result = failure,
        }
    }

    /// Begins one work; `Some` is when it ends, if that is known already.
    pub(super) fn begin(&mut self, request: usize, op: Op, work: Work, at_ns: u64) -> Option<u64> {
        let Work { reads, writes } = work;
        let work = self.member_work.put(MemberWork {
            request,
            ..MemberWork::default()
        });
        if reads.is_empty() {
            self.send(work, op, &writes, at_ns);
        } else {
            self.member_work.places[work].then = writes;
            self.read(work, reads, at_ns);
        }
        let MemberWork {
            untold, ready_ns, ..
        } = self.member_work.places[work];
        if untold > 0 {
            return None;
        }
        if self.has_ended(work) {
            self.member_work.free.push(work);
            return Some(ready_ns);
        }
        self.later.push(Reverse((ready_ns, work)));
        None
    }

    fn read(&mut self, work: usize, reads: Vec<Piece>, at_ns: u64) {
        self.send(work, Op::Read, &reads, at_ns);
        let place = &mut self.member_work.places[work];
        (place.reads, place.direct) = (reads, None);
    }

    /// Whether nothing follows what the members have been sent.
    fn has_ended(&self, work: usize) -> bool {
        let place = &self.member_work.places[work];
        place.then.is_empty() && place.unread.is_empty()
    }

    /// A work that waits for no member goes on at `at_ns`.
    pub(super) fn put_off(&mut self, work: usize, at_ns: u64) {
        self.later.push(Reverse((at_ns, work)));
        self.refresh();
    }

    /// Takes the end of a member's I/O to its work; `Some` is the work if it was the last.
    pub(super) fn land(&mut self, ticket: Ticket, outcome: Outcome) -> Option<usize> {
        let (work, index) = work_of(ticket);
        let place = &mut self.member_work.places[work];
        place.untold -= 1;
        place.ready_ns = place.ready_ns.max(outcome.done_ns);
        let is_last = place.untold == 0;
        if outcome.result < 0 {
            let read = place.direct.or_else(|| place.reads.get(index).copied());
            self.miss(work, read, outcome.result);
        }
        is_last.then_some(work)
    }

    /// Goes on with a work whose member I/Os have all ended.
    pub(super) fn go_on(&mut self, work: usize, at_ns: u64, ended: &mut Vec<Ended>) {
        let ready_ns = self.member_work.places[work].ready_ns;
        if ready_ns > at_ns {
            self.later.push(Reverse((ready_ns, work)));
            return;
        }
        let reads = self.rebuild(work);
        if reads.is_empty() {
            let place = &mut self.member_work.places[work];
            let writes = std::mem::take(&mut place.then);
            (place.reads, place.direct) = (Vec::new(), None);
            self.send(work, Op::Write, &writes, at_ns);
        } else {
            self.read(work, reads, at_ns);
        }
        let MemberWork {
            request,
            untold,
            ready_ns,
            ..
        } = self.member_work.places[work];
        if untold > 0 {
            return;
        }
        if self.has_ended(work) {
            self.member_work.free.push(work);
            self.close(request, ready_ns, ended);
        } else {
            self.later.push(Reverse((ready_ns, work)));
        }
    }

    /// The reads that give back those of `work` that members have failed. None if there are none;
    /// and none where they are lost, which fails the request as the last member did.
    fn rebuild(&mut self, work: usize) -> Vec<Piece> {
        let place = &mut self.member_work.places[work];
        let unread = std::mem::take(&mut place.unread);
        if unread.is_empty() {
            return unread;
        }
        let mut failed = self.failed.clone();
        for &member in &place.bad {
            failed[member as usize] = true;
        }
        let (request, failure) = (place.request, place.failure);
        if let Ok(reads) = self.planner(&failed).give_back(&unread) {
            self.rebuilt_reads += unread.len() as u64;
            return reads;
        }
        self.member_work.places[work].then.clear();
        self.requests.places[request].result = failure;
        Vec::new()
    }
}
