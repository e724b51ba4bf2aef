//! I/Os whose parts are under way on several members: one request goes out as parts, and comes
//! back as one completion when the last of them has.

use crate::error::{says_gone, Streak};
use crate::request::{Completion, Op, Request};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EngineError;

    const TAG: u64 = 77 << 16 | 2;

    fn begun(op: Op, parts: u32) -> Joiner {
        let mut joiner = Joiner::new(4, 3);
        let request = Request {
            op,
            offset_bytes: 4096,
            length_bytes: 12_288,
            tag: TAG,
        };
        joiner.begin(request, parts);
        joiner
    }

    fn joined(op: Op, results: [(usize, i32); 3]) -> i32 {
        let mut joiner = begun(op, 3);
        let mut ends = results.map(|(member, result)| joiner.join(2, member, result));
        let whole = ends[2].take().expect("the last part ends it");
        assert_eq!(ends, [None; 3], "no other part does");
        assert_eq!(whole.tag, TAG);
        whole.result
    }

    #[test]
    fn an_io_ends_with_its_last_part_whichever_that_is() {
        let whole = [(2, 4096), (0, 4096), (1, 4096)];
        assert_eq!(joined(Op::Write, whole), 12_288);
        assert_eq!(joined(Op::Flush, [(0, 0), (1, 0), (2, 0)]), 0);
    }

    #[test]
    fn the_first_error_of_a_part_is_that_of_the_io_and_a_short_part_makes_it_short() {
        let failed = [(0, 4096), (2, -libc::EIO), (1, -libc::ENOSPC)];
        assert_eq!(joined(Op::Read, failed), -libc::EIO);
        let short = [(0, 4096), (1, 0), (2, 512)];
        assert_eq!(joined(Op::Read, short), 4608);
        let flush = [(0, 0), (1, -libc::EIO), (2, 0)];
        assert_eq!(joined(Op::Flush, flush), -libc::EIO);
    }

    #[test]
    fn a_slot_is_free_again_when_its_io_is_back() {
        let mut joiner = begun(Op::Read, 1);
        assert!(joiner.join(2, 0, 4096).is_some());
        let again = Request {
            op: Op::Read,
            offset_bytes: 0,
            length_bytes: 4096,
            tag: TAG,
        };
        joiner.begin(again, 1);
        assert!(joiner.join(2, 1, 4096).is_some());
    }

    #[test]
    fn the_member_that_says_it_is_gone_is_worse_off_than_one_that_fails_often() {
        let mut joiner = begun(Op::Read, 20);
        assert_eq!(joiner.worst(), None);
        for result in [-libc::EIO, 4096, -libc::EIO, -libc::EIO] {
            joiner.join(2, 0, result);
        }
        let often = Streak {
            member: 0,
            errno: libc::EIO,
            failures: 2,
        };
        assert_eq!(joiner.worst(), Some(often));
        assert_eq!(EngineError::of_failures(libc::EIO, 2, joiner.worst()), None);
        joiner.join(2, 1, -libc::ENODEV);
        let gone = EngineError::MemberGone {
            member: 1,
            errno: libc::ENODEV,
            failures: 1,
        };
        let said = EngineError::of_failures(libc::EIO, 3, joiner.worst());
        assert_eq!(said, Some(gone));
    }
}
