//! What part of an I/O lies on a device, and the result of one that lies beyond it.

use teijo_engine::request::Op;

pub(crate) const LOGICAL_BLOCK_BYTES: u32 = 512;
pub(crate) const NO_SPACE: i32 = -28;
pub(crate) const INVALID: i32 = -22;
pub(crate) const UNSUPPORTED: i32 = -95;

/// Bytes of a read or a write that lie on the device; `Err` is the result of one refused whole.
pub(crate) fn clip(
    op: Op,
    offset_bytes: u64,
    length_bytes: u32,
    capacity_bytes: u64,
) -> Result<u32, i32> {
    let block = LOGICAL_BLOCK_BYTES;
    let aligned =
        offset_bytes.is_multiple_of(u64::from(block)) && length_bytes.is_multiple_of(block);
    if !aligned || length_bytes == 0 {
        return Err(INVALID);
    }
    let room = capacity_bytes.saturating_sub(offset_bytes);
    match op {
        Op::Read if room == 0 => Err(0),
        Op::Write | Op::Discard if room == 0 => Err(NO_SPACE),
        Op::Read | Op::Write | Op::Discard | Op::Flush => {
            Ok(u64::from(length_bytes).min(room) as u32)
        }
    }
}
