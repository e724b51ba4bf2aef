//! Which turns a worker makes: general ones, or shorter ones for a stream that is plain or simple.

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

/// What a worker may do before somebody else has a turn.
#[derive(Clone, Copy, Debug)]
pub struct Leave {
    /// Completions before this time are its own to take.
    pub until_ns: u64,
    /// A completion after a longer silence is left to be asked about.
    pub silence_ns: u64,
    pub turns: u32,
}

/// What the I/Os of a stream are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing but reads and writes of one size, each issued when another came back, of which only
    /// number and latency are kept.
    Simple,
    Other,
}

impl Kind {
    pub fn of(stream: &Stream, has_data: bool) -> Self {
        let plan = &stream.plan;
        let is_simple = !has_data
            && plan.blocks.is_empty()
            && plan.discard_percent == 0
            && plan.flush_every_writes == 0
            && plan.rate.is_none()
            && !plan.census
            && stream.ledger.is_none()
            && !matches!(plan.access, Access::Shuffled { .. });
        if is_simple {
            Self::Simple
        } else {
            Self::Other
        }
    }
}
