//! Where the next I/O goes: random offsets by multiplication (no modulo, no bias to speak of),
//! and the one cursor that all threads of a sequential stream share.

use std::sync::atomic::{AtomicU64, Ordering};

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::plan::Range;

/// A piece of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub offset_bytes: u64,
    pub length_bytes: u32,
}

/// Maps a number in 0..2^64 to 0..`count` by the high half of the product.
#[inline]
fn scale(draw: u64, count: u64) -> u64 {
    ((u128::from(draw) * u128::from(count)) >> 64) as u64
}

/// Mixes a seed and a number into an independent seed (the finalizer of splitmix64).
pub fn derive_seed(seed: u64, number: u64) -> u64 {
    let mut mixed = seed.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The draws of one worker: block numbers and read or write.
pub struct Draws {
    generator: Xoshiro256PlusPlus,
    range: Range,
    block_bytes: u32,
    blocks: u64,
    blocks_per_segment: u64,
    /// Reads are draws below this share of 2^32; all or none when the mix is pure.
    read_threshold: u64,
}

impl Draws {
    pub fn new(seed: u64, range: Range, block_bytes: u32, read_percent: u8) -> Self {
        let blocks_per_segment = range.segment_bytes / u64::from(block_bytes);
        Self {
            generator: Xoshiro256PlusPlus::seed_from_u64(seed),
            range,
            block_bytes,
            blocks: blocks_per_segment * range.segments,
            blocks_per_segment,
            read_threshold: (u64::from(read_percent) << 32) / 100,
        }
    }

    /// A whole block, uniform over the range.
    #[inline]
    pub fn extent(&mut self) -> Extent {
        let block = scale(self.generator.next_u64(), self.blocks);
        let relative_bytes = if self.range.segments == 1 {
            block * u64::from(self.block_bytes)
        } else {
            let segment = block / self.blocks_per_segment;
            segment * self.range.stride_bytes
                + (block - segment * self.blocks_per_segment) * u64::from(self.block_bytes)
        };
        let offset_bytes = self.range.start_bytes + relative_bytes;
        Extent {
            offset_bytes,
            length_bytes: self.block_bytes,
        }
    }

    /// Whether the next I/O reads. 0 and 100 % are exact and draw nothing.
    #[inline]
    pub fn is_read(&mut self) -> bool {
        match self.read_threshold {
            0 => false,
            threshold if threshold == 1 << 32 => true,
            threshold => self.generator.next_u64() >> 32 < threshold,
        }
    }
}

/// The cursor of a sequential stream, in bytes of the range (segments laid end to end). Every
/// block begins where the one before ended; a block ends at the latest with its segment, so a
/// pass touches every byte once, whatever the block size and wherever it began.
#[derive(Debug)]
pub struct Cursor {
    position_bytes: AtomicU64,
}

impl Cursor {
    /// A cursor at `position_bytes` of the range, taken modulo its length.
    pub fn new(position_bytes: u64, range: &Range) -> Self {
        let position = position_bytes % (range.segments * range.segment_bytes);
        Self {
            position_bytes: AtomicU64::new(position),
        }
    }

    /// Where the next block begins.
    pub fn position_bytes(&self) -> u64 {
        self.position_bytes.load(Ordering::Relaxed)
    }

    /// Takes the next block, at most `limit_bytes` long, and moves on.
    #[inline]
    pub fn advance(&self, range: &Range, limit_bytes: u32) -> Extent {
        let mut position = self.position_bytes.load(Ordering::Relaxed);
        loop {
            let (segment, within) = if range.segments == 1 {
                (0, position)
            } else {
                (
                    position / range.segment_bytes,
                    position % range.segment_bytes,
                )
            };
            let length = u64::from(limit_bytes).min(range.segment_bytes - within);
            let end = position + length;
            let next = if end == range.segments * range.segment_bytes {
                0
            } else {
                end
            };
            let swap = self.position_bytes.compare_exchange_weak(
                position,
                next,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match swap {
                Ok(_) => {
                    let relative_bytes = segment * range.stride_bytes + within;
                    let offset_bytes = range.start_bytes + relative_bytes;
                    return Extent {
                        offset_bytes,
                        length_bytes: length as u32,
                    };
                }
                Err(moved) => position = moved,
            }
        }
    }
}
