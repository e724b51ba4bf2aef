//! Which turn a worker makes: the general one, or a shorter one for a stream that is plain.

use super::staging::Staging;
use crate::backend::Backend;
use crate::plan::{Access, Content};
use crate::request::Op;
use crate::stream::Stream;

/// How a worker turns.
#[derive(Clone, Copy, Debug)]
pub(super) enum Turns {
    General,
    /// All I/Os are of one kind; many at a time.
    Plain(Op),
    /// They are besides done one after the other by a backend that does each at once.
    Solo(Op),
}

impl Turns {
    pub fn of<B: Backend>(stream: &Stream, backend: &B, staging: &Staging) -> Self {
        let plan = &stream.plan;
        let has_one_op = matches!(plan.read_percent, 0 | 100) && plan.discard_percent == 0;
        let keeps_base =
            !B::HAS_DATA || plan.content == Content::Random || plan.content.is_constant();
        let is_plain = has_one_op
            && (keeps_base || plan.read_percent == 100)
            && plan.access == Access::Random
            && plan.blocks.is_empty()
            && plan.rate.is_none()
            && plan.flush_every_writes == 0
            && !plan.census
            && stream.ledger.is_none()
            && backend.takes_many();
        let op = match plan.read_percent {
            100 => Op::Read,
            _ => Op::Write,
        };
        match is_plain {
            false => Self::General,
            true if B::CARRIES && stream.depth == 1 && staging.is_brief(plan.block_size_bytes) => {
                Self::Solo(op)
            }
            true => Self::Plain(op),
        }
    }

    /// What all I/Os are, where the stream is plain.
    #[inline]
    pub fn op(self) -> Option<Op> {
        match self {
            Self::General => None,
            Self::Plain(op) | Self::Solo(op) => Some(op),
        }
    }
}
