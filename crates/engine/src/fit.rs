//! Whether a plan fits its target: within its members, in pieces that direct I/O can move, and in
//! no more of them than a ring holds. Whether a plan has a meaning at all: `check.rs`.

use std::os::fd::OwnedFd;

use rustix::fs::{fcntl_getfl, statx, AtFlags, OFlags, StatxFlags};

use crate::backend::uring::{entries_for, ENTRIES_MAX};
use crate::error::EngineError;
use crate::plan::{Access, Plan, Range};
use crate::volume::Volume;

/// Refuses what lies beyond the members, and what would be no direct I/O: some file systems (ext4)
/// serve it from the page cache without a word when it is not aligned.
pub(crate) fn check_fit(volume: &Volume, plan: &Plan) -> Result<(), EngineError> {
    let capacity_bytes = volume.layout().capacity_bytes().unwrap_or(u64::MAX);
    let mut ends = plan.streams.iter().map(|stream| end_bytes(stream.range));
    if ends.any(|end| end > capacity_bytes) {
        let reason = "the range ends beyond the members of the target";
        return Err(EngineError::PlanRefused { reason });
    }
    let (offset_alignment, memory_alignment) = direct_alignment(volume).unwrap_or_default();
    let is_odd =
        |bytes: u64, alignment: u32| alignment > 0 && !bytes.is_multiple_of(u64::from(alignment));
    // A part begins in its buffer where the one before it ends.
    let border_alignment = offset_alignment.max(memory_alignment);
    let mut borders = volume.layout().borders_bytes().iter();
    if let Some(&border_bytes) = borders.find(|&&border| is_odd(border, border_alignment)) {
        return Err(EngineError::BorderUnaligned {
            border_bytes,
            alignment_bytes: border_alignment,
        });
    }
    for stream in &plan.streams {
        let range = stream.range;
        let pieces = match stream.access {
            Access::Sequential { cursor_bytes } => {
                cursor_bytes | range.segment_bytes | stream.thread_stride_bytes.unwrap_or(0)
            }
            Access::Random
            | Access::Shuffled { .. }
            | Access::Zoned(_)
            | Access::Zipf { .. }
            | Access::Pareto { .. } => u64::from(stream.grid_bytes()),
        };
        let stride_bytes = if range.segments > 1 {
            range.stride_bytes
        } else {
            0
        };
        let block_size_bytes = stream
            .sizes_bytes()
            .fold(0, |all, one| all | u64::from(one));
        let all = block_size_bytes | range.start_bytes | stride_bytes | pieces;
        if is_odd(all, offset_alignment) {
            return Err(refused_direct(volume, stream.block_size_bytes));
        }
    }
    Ok(())
}

fn end_bytes(range: Range) -> u64 {
    let last_bytes = (range.segments - 1) * range.stride_bytes;
    range.start_bytes + last_bytes + range.segment_bytes
}

/// Refuses more parts in flight than a ring has entries for.
pub(crate) fn check_ring(volume: &Volume, plan: &Plan) -> Result<(), EngineError> {
    for stream in &plan.streams {
        let (depth, block_size_bytes) = (stream.queue_depth, stream.block_size_bytes);
        if entries_for(volume, depth as u16, block_size_bytes) > ENTRIES_MAX {
            let borders = volume.layout().borders_bytes();
            return Err(EngineError::TooManyParts {
                block_size_bytes,
                smallest_bytes: borders.iter().min().copied().unwrap_or(0),
                queue_depth: depth,
            });
        }
    }
    Ok(())
}

/// What the members want of direct I/O, the strictest of each: alignment of offsets and of memory
/// in bytes, 0 where the kernel does not say. None when none was opened for direct I/O.
fn direct_alignment(volume: &Volume) -> Option<(u32, u32)> {
    let wanted = volume.members().iter().filter_map(|file| wanted_by(file));
    wanted.reduce(|one, other| (one.0.max(other.0), one.1.max(other.1)))
}

fn wanted_by(file: &OwnedFd) -> Option<(u32, u32)> {
    let flags = fcntl_getfl(file).ok()?;
    flags.contains(OFlags::DIRECT).then(|| {
        let facts = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN);
        facts.map_or((0, 0), |facts| {
            (facts.stx_dio_offset_align, facts.stx_dio_mem_align)
        })
    })
}

/// The device said EINVAL to the first I/O, or would have.
pub(crate) fn refused_direct(volume: &Volume, block_size_bytes: u32) -> EngineError {
    match direct_alignment(volume) {
        None => EngineError::DeviceGone {
            errno: libc::EINVAL,
            failures: 1,
        },
        Some((offset_alignment_bytes, memory_alignment_bytes)) => EngineError::DirectRefused {
            block_size_bytes,
            offset_alignment_bytes,
            memory_alignment_bytes,
        },
    }
}
