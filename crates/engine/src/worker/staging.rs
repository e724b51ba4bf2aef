//! The data of one worker: what is made before it is written and judged after it is read, and how
//! much of that may be done before the worker looks at its clock again.

use std::collections::VecDeque;

use crate::plan::Content;
use crate::stream::Stream;
use crate::verify::Verifier;

/// A turn that stamps no more than so many bytes is not timed: 16 stamps take less than the
/// reading of a clock.
pub(super) const LIGHT_BYTES: u64 = 8 << 10;

/// The work that lies between the worker and its backend.
pub(super) struct Staging {
    pub verifier: Option<Box<Verifier>>,
    /// The stream makes content: its I/Os go out together when all of it is made.
    pub stages: bool,
    /// I/Os with their content, in order.
    pub staged: Vec<u16>,
    /// I/Os that came back and are not judged yet, in order.
    pub returned: VecDeque<u16>,
    /// There is more to do, but the worker looks up first.
    pub is_hasty: bool,
    /// After so many bytes the worker looks at its clock.
    look_bytes: u64,
    /// Content is a few stamps in what lies there already.
    pub is_light: bool,
    pub made_bytes: u64,
    unlooked_bytes: u64,
}

impl Staging {
    pub fn of(stream: &Stream, has_data: bool) -> Self {
        let plan = &stream.plan;
        let verifier = has_data
            .then(|| Verifier::of(plan, stream.depth, stream.ledger.as_ref()))
            .flatten();
        let look_bytes = match plan.content {
            _ if verifier.is_some() => 0,
            Content::Random | Content::Zero | Content::OneBlock | Content::Counting => 256 << 10,
            Content::Refill | Content::Compressible { .. } | Content::Dedupable { .. } => 16 << 10,
        };
        Self {
            stages: has_data && plan.writes() && !plan.content.is_constant(),
            verifier,
            staged: Vec::with_capacity(usize::from(stream.depth)),
            returned: VecDeque::with_capacity(usize::from(stream.depth)),
            is_hasty: false,
            look_bytes,
            is_light: look_bytes > LIGHT_BYTES && plan.content == Content::Random,
            made_bytes: 0,
            unlooked_bytes: 0,
        }
    }

    /// I/Os that are neither the device's nor free.
    #[inline]
    pub fn held(&self) -> usize {
        self.staged.len() + self.returned.len()
    }

    pub fn is_clear(&self) -> bool {
        self.held() == 0
    }

    /// Whether a block is written without content, or with so little that it is not timed.
    pub fn is_brief(&self, block_size_bytes: u32) -> bool {
        !self.stages || self.is_light && u64::from(block_size_bytes) <= LIGHT_BYTES
    }

    /// Leaves everything as it lies.
    pub fn forget(&mut self) {
        self.staged.clear();
        self.returned.clear();
        self.is_hasty = false;
    }

    /// Counts the content of a write; as `has_worked`.
    #[inline]
    pub fn has_made(&mut self, bytes: u32) -> bool {
        self.made_bytes += u64::from(bytes);
        self.has_worked(bytes)
    }

    /// Counts work on `bytes`; true when it is time to look at the clock.
    #[inline]
    pub fn has_worked(&mut self, bytes: u32) -> bool {
        self.unlooked_bytes += u64::from(bytes);
        let is_due = self.unlooked_bytes >= self.look_bytes;
        if is_due {
            self.unlooked_bytes = 0;
        }
        is_due
    }
}
