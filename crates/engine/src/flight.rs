//! What a worker must know of an I/O in flight.

use crate::access::Extent;
use crate::backend::Op;

/// No result of an I/O.
const NO_DATA: i32 = i32::MIN;

/// One I/O in flight. Its slot is its number.
#[derive(Clone, Copy)]
pub(crate) struct Flight {
    pub intended_ns: u64,
    pub offset_bytes: u64,
    pub length_bytes: u32,
    /// The result that is a success; none is where no data moves, so that the one comparison of
    /// the hot path tells these apart as well.
    pub whole: i32,
    pub op: Op,
}

impl Flight {
    pub const IDLE: Self = Self {
        intended_ns: 0,
        offset_bytes: 0,
        length_bytes: 0,
        whole: 0,
        op: Op::Read,
    };

    #[inline]
    pub fn of(op: Op, extent: Extent, intended_ns: u64) -> Self {
        let Extent {
            offset_bytes,
            length_bytes,
        } = extent;
        let whole = match op {
            Op::Read | Op::Write => length_bytes.cast_signed(),
            Op::Flush | Op::Discard => NO_DATA,
        };
        Self {
            intended_ns,
            offset_bytes,
            length_bytes,
            whole,
            op,
        }
    }

    /// Whether it moves no data, and is booked beside reads and writes.
    pub fn is_aside(self) -> bool {
        self.whole == NO_DATA
    }
}
