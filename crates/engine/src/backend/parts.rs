//! I/Os whose parts are under way on several members: one request goes out as parts, and comes
//! back as one completion when the last of them has.

use super::{Completion, Op, Request};
use crate::error::says_gone;

/// Failures of one member without a success between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streak {
    /// Number of the member, from 0.
    pub member: usize,
    /// Of the last one; 0 for an I/O that moved nothing.
    pub errno: i32,
    pub failures: u64,
}

/// An I/O and what is known of it so far.
#[derive(Clone, Copy, Debug)]
struct Whole {
    request: Request,
    parts_left: u32,
    moved_bytes: i32,
    /// The result of the first part that failed.
    error: Option<i32>,
}

/// Joins parts to whole I/Os, by slot.
#[derive(Debug)]
pub(crate) struct Joiner {
    wholes: Vec<Option<Whole>>,
    streaks: Vec<Streak>,
}

impl Joiner {
    pub fn new(depth: u16, members: usize) -> Self {
        let streak = |member| Streak {
            member,
            ..Streak::default()
        };
        Self {
            wholes: vec![None; usize::from(depth)],
            streaks: (0..members).map(streak).collect(),
        }
    }

    /// Expects so many parts of a request.
    pub fn begin(&mut self, request: Request, parts: u32) {
        let place = &mut self.wholes[usize::from(request.slot())];
        debug_assert!(place.is_none() && parts > 0, "a slot holds one I/O");
        *place = Some(Whole {
            request,
            parts_left: parts,
            moved_bytes: 0,
            error: None,
        });
    }

    /// Takes the result of a part on `member`; the whole with the last of them. One part that
    /// failed fails the whole, as does one that is short: the sum is short then.
    pub fn join(&mut self, slot: u16, member: usize, result: i32) -> Option<Completion> {
        let place = &mut self.wholes[usize::from(slot)];
        let whole = place.as_mut().expect("a part belongs to an I/O");
        let moves_data = matches!(whole.request.op, Op::Read | Op::Write);
        let streak = &mut self.streaks[member];
        if result < 0 || result == 0 && moves_data {
            streak.errno = -result;
            streak.failures += 1;
        } else {
            streak.failures = 0;
        }
        whole.error = whole.error.or((result < 0).then_some(result));
        whole.moved_bytes += result.max(0);
        whole.parts_left -= 1;
        if whole.parts_left > 0 {
            return None;
        }
        let whole = place.take()?;
        Some(Completion {
            tag: whole.request.tag,
            result: whole.error.unwrap_or(whole.moved_bytes),
        })
    }

    /// The member that is worst off, if any fails: one that says it is gone, or else the one that
    /// failed most often.
    pub fn worst(&self) -> Option<Streak> {
        let failing = self.streaks.iter().filter(|one| one.failures > 0);
        failing
            .max_by_key(|one| (says_gone(one.errno), one.failures))
            .copied()
    }
}
