//! I/O that needs no plan: it lies in one chunk of a stripe without parity, or goes to mirrors, and
//! no member has failed. That is most of what such an array is asked for, so nothing is allocated
//! for it, and what every member tells at once is told at once.

use teijo_engine::request::Op;

use super::array::Array;
use super::in_flight::{ticket_of, MemberWork, Request, Sent, Target};
use super::layout::Level;
use super::plan::Piece;
use crate::device::{Device, Outcome, Ticket};

impl<D: Device> Array<D> {
    /// Where an I/O goes, if it needs no plan. `mirror` is the member that a mirrored array reads.
    #[inline]
    pub(super) fn target(
        &self,
        op: Op,
        offset_bytes: u64,
        length_bytes: u64,
        mirror: u32,
    ) -> Option<Target> {
        if self.has_failed || op == Op::Flush {
            return None;
        }
        let chunk_bytes = self.layout.chunk_bytes;
        match self.layout.level {
            Level::Mirrored if op == Op::Read => Some(Target::One(Piece {
                member: mirror,
                offset_bytes,
                length_bytes,
            })),
            Level::Mirrored => Some(Target::All {
                offset_bytes,
                length_bytes,
            }),
            Level::Striped => {
                // Each I/O is placed twice, once to look ahead: most by shifts and short divisions.
                let (chunk, inside) = if chunk_bytes.is_power_of_two() {
                    let shift = chunk_bytes.trailing_zeros();
                    (offset_bytes >> shift, offset_bytes & (chunk_bytes - 1))
                } else {
                    (offset_bytes / chunk_bytes, offset_bytes % chunk_bytes)
                };
                let members = self.layout.members;
                let (row, member) = if let Ok(chunk) = u32::try_from(chunk) {
                    (u64::from(chunk / members), chunk % members)
                } else {
                    let members = u64::from(members);
                    (chunk / members, (chunk % members) as u32)
                };
                let piece = || Piece {
                    member,
                    offset_bytes: row * chunk_bytes + inside,
                    length_bytes,
                };
                (inside + length_bytes <= chunk_bytes).then(|| Target::One(piece()))
            }
            Level::Parity { .. } => None,
        }
    }

    /// Sends an I/O of the host to `target`; `None`: its end is known later.
    #[inline]
    pub(super) fn send_direct(
        &mut self,
        ticket: Ticket,
        op: Op,
        target: Target,
        result: i32,
        at_ns: u64,
    ) -> Option<Outcome> {
        let work = self.member_work.next_place();
        let sent = match target {
            Target::One(piece) => self.send_piece(ticket_of(work, 0), op, piece, at_ns),
            Target::All {
                offset_bytes,
                length_bytes,
            } => {
                let on = |member| Piece {
                    member,
                    offset_bytes,
                    length_bytes,
                };
                let members = 0..self.layout.members;
                members.fold(Sent::nothing(at_ns), |sent, member| {
                    sent.and(self.send_piece(ticket_of(work, 0), op, on(member), at_ns))
                })
            }
        };
        let Sent {
            ready_ns,
            untold,
            failure,
        } = sent;
        let read = match target {
            Target::One(piece) if op == Op::Read => Some(piece),
            Target::One(_) | Target::All { .. } => None,
        };
        let missed = read.filter(|_| failure < 0);
        let result = if failure < 0 && missed.is_none() {
            failure
        } else {
            result
        };
        if untold == 0 && missed.is_none() {
            return Some(Outcome {
                done_ns: ready_ns,
                result,
            });
        }
        let request = self.requests.put(Request {
            ticket,
            works: 1,
            done_ns: at_ns,
            result,
        });
        let work = self.member_work.put(MemberWork {
            request,
            untold,
            ready_ns,
            direct: read,
            ..MemberWork::default()
        });
        if let Some(piece) = missed {
            self.member_work.places[work].miss(piece, failure);
            self.put_off(work, ready_ns);
        }
        None
    }

    /// Sends `piece` to its member.
    #[inline]
    pub(super) fn send_piece(&mut self, ticket: Ticket, op: Op, piece: Piece, at_ns: u64) -> Sent {
        let member = piece.member as usize;
        let (offset, length) = (piece.offset_bytes, piece.length_bytes as u32);
        let told = self.members[member].submit(ticket, op, offset, length, at_ns);
        self.heed(member);
        let Some(Outcome { done_ns, result }) = told else {
            self.waiting[member] += 1;
            return Sent {
                untold: 1,
                ..Sent::nothing(at_ns)
            };
        };
        Sent {
            ready_ns: at_ns.max(done_ns),
            untold: 0,
            failure: result.min(0),
        }
    }

    /// Takes note of when `member` does something next, which may have changed.
    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "each I/O of a member comes through here"
    )]
    fn heed(&mut self, member: usize) {
        let member_ns = self.members[member].next_ns();
        let (first_ns, first) = self.next;
        if first == Some(member) && member_ns > first_ns {
            self.refresh();
        } else if member_ns < first_ns
            || member_ns == first_ns && first.is_some_and(|first| member < first)
        {
            self.next = (member_ns, Some(member));
        }
    }
}
