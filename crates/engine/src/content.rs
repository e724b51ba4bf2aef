//! What is written. By default a random base in every buffer and a fresh stamp in every 512 B
//! sector of every write, so that no two sectors of a run are alike and none compresses; or
//! every byte fresh, partly zeros, or partly the same again.
//!
//! All of it is a function of the writer's seed, the number of the write and the address.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::plan::{Content, StreamPlan};
use crate::seed::{derive_seed, scale};

pub const SECTOR_BYTES: usize = 512;
/// Duplicates come in pieces of this length, or of a block where that is shorter.
const PIECE_BYTES: usize = 4096;
/// So many different pieces are repeated.
const REPEATED_PIECES: u64 = 256;
const LANES: usize = 8;

/// Fills a buffer with incompressible bytes.
pub fn fill_random(buffer: &mut [u8], seed: u64) {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    for chunk in buffer.chunks_mut(8) {
        chunk.copy_from_slice(&generator.next_u64().to_le_bytes()[..chunk.len()]);
    }
}

/// Lays what a write buffer holds before its first write: the base that is stamped, or all that
/// is ever written from it. `shared_seed` is the same for all workers of a stream.
fn fill_base(buffer: &mut [u8], content: Content, seed: u64, shared_seed: u64) {
    match content {
        Content::Random => fill_random(buffer, seed),
        Content::Zero => buffer.fill(0),
        Content::OneBlock => fill_random(buffer, derive_seed(shared_seed, 1 << 35)),
        Content::Counting => {
            for (place, byte) in buffer.iter_mut().enumerate() {
                *byte = place as u8;
            }
        }
        Content::Refill | Content::Compressible { .. } | Content::Dedupable { .. } => {}
    }
}

/// Lays what the buffer of a slot holds before the first write of worker `number` of a stream.
pub(crate) fn lay_base(buffer: &mut [u8], plan: &StreamPlan, number: u32, slot: u16) {
    let seed = derive_seed(derive_seed(plan.seed, u64::from(number)), u64::from(slot));
    fill_base(buffer, plan.content, seed, plan.seed);
}

/// Writes the content of one worker's writes. A plain stamp is 16 B: a number that no other write
/// of the worker has (a permutation of the sequence number under the seed), and the sector's
/// address, masked with that number so that it looks as random as the rest.
#[derive(Clone, Debug)]
pub struct Stamper {
    seed: u64,
    sequence: u64,
    /// The same for all workers of the stream.
    repeated_seed: u64,
}

impl Stamper {
    pub fn new(seed: u64) -> Self {
        Self::sharing(seed, seed)
    }

    /// The stamper of worker `number` of a stream with this seed.
    pub(crate) fn of_worker(stream_seed: u64, number: u32) -> Self {
        let seed = derive_seed(stream_seed, u64::from(number));
        Self::sharing(derive_seed(seed, 1 << 32), stream_seed)
    }

    /// A stamper whose repeated pieces are those of all others that name `repeated_seed`.
    pub fn sharing(seed: u64, repeated_seed: u64) -> Self {
        Self {
            seed,
            sequence: 0,
            repeated_seed,
        }
    }

    /// A number that no other write has.
    #[inline]
    fn next_write(&mut self) -> u64 {
        let write = derive_seed(self.seed, self.sequence);
        self.sequence += 1;
        write
    }

    /// Stamps every sector of a write to `offset_bytes`.
    #[inline]
    pub fn stamp(&mut self, buffer: &mut [u8], offset_bytes: u64) {
        stamp_sectors(buffer, offset_bytes, self.next_write());
    }

    /// Makes the whole content of a write to `offset_bytes`.
    pub fn write(&mut self, buffer: &mut [u8], offset_bytes: u64, content: Content) {
        let write = self.next_write();
        match content {
            Content::Zero | Content::OneBlock | Content::Counting => {}
            Content::Random => stamp_sectors(buffer, offset_bytes, write),
            Content::Refill | Content::Compressible { .. } => {
                make_payload(buffer, write, content);
                stamp_sectors(buffer, offset_bytes, write);
            }
            Content::Dedupable { percent } => self.repeat(buffer, offset_bytes, write, percent),
        }
    }

    /// Each piece is fresh, or one of the repeated ones, which carry no stamp of their own.
    fn repeat(&self, buffer: &mut [u8], offset_bytes: u64, write: u64, percent: u8) {
        let threshold = (u64::from(percent) << 32) / 100;
        for (number, piece) in buffer.chunks_mut(PIECE_BYTES).enumerate() {
            let draw = derive_seed(write, number as u64);
            if draw >> 32 < threshold {
                let repeated = scale(draw << 32, REPEATED_PIECES);
                refill(piece, derive_seed(self.repeated_seed, repeated));
            } else {
                refill(piece, draw);
                let start_bytes = offset_bytes + (number * PIECE_BYTES) as u64;
                stamp_sectors(piece, start_bytes, draw);
            }
        }
    }
}

#[inline]
fn stamp_sectors(buffer: &mut [u8], offset_bytes: u64, write: u64) {
    let mut address = offset_bytes / SECTOR_BYTES as u64;
    let mut sectors = buffer.chunks_exact_mut(SECTOR_BYTES);
    for sector in &mut sectors {
        put_stamp(sector, write, address);
        address += 1;
    }
    put_stamp(sectors.into_remainder(), write, address);
}

/// Stamps one sector, unless it is cut so short that it has no room.
#[inline]
fn put_stamp(sector: &mut [u8], write: u64, address: u64) {
    if let Some(stamp) = sector.first_chunk_mut::<16>() {
        let words = u128::from(write) | u128::from(write ^ address) << 64;
        *stamp = words.to_le_bytes();
    }
}

/// Makes what lies behind the stamps of one write, as a function of its number; nothing for the
/// contents that keep their base.
pub(crate) fn make_payload(buffer: &mut [u8], write: u64, content: Content) {
    match content {
        Content::Random
        | Content::Zero
        | Content::OneBlock
        | Content::Counting
        | Content::Dedupable { .. } => {}
        Content::Refill => refill(buffer, write),
        Content::Compressible { percent } => {
            refill(buffer, write);
            for sector in buffer.chunks_mut(SECTOR_BYTES) {
                let fresh = sector.len() - sector.len() * usize::from(percent) / 100;
                sector[fresh..].fill(0);
            }
        }
    }
}

/// Fills a buffer with bytes that no compressor shortens, as a function of `seed`: eight lanes of
/// xorshift64, side by side in the widest registers there are.
pub fn refill(buffer: &mut [u8], seed: u64) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what the function was compiled for.
        return unsafe { refill_wide(buffer, seed) };
    }
    refill_lanes(buffer, seed);
}

/// `refill_lanes`, compiled for wider registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn refill_wide(buffer: &mut [u8], seed: u64) {
    refill_lanes(buffer, seed);
}

// Only inlined it is compiled for its caller's registers.
#[allow(clippy::inline_always)]
#[inline(always)]
fn refill_lanes(buffer: &mut [u8], seed: u64) {
    // A lane of zeros would stay zero; the odd bit keeps it away.
    let mut lanes: [u64; LANES] = std::array::from_fn(|lane| derive_seed(seed, lane as u64) | 1);
    let mut rows = buffer.chunks_exact_mut(LANES * 8);
    for row in &mut rows {
        for lane in &mut lanes {
            *lane ^= *lane << 13;
            *lane ^= *lane >> 7;
            *lane ^= *lane << 17;
        }
        for (place, lane) in row.chunks_exact_mut(8).zip(&lanes) {
            place.copy_from_slice(&lane.to_le_bytes());
        }
    }
    for (place, lane) in rows.into_remainder().chunks_mut(8).zip(&lanes) {
        let fresh = lane.rotate_left(29).to_le_bytes();
        place.copy_from_slice(&fresh[..place.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    #[test]
    fn no_two_sectors_of_two_workers_are_alike() {
        let writes = if cfg!(miri) { 2 } else { 500 };
        for content in [Content::Random, Content::Refill] {
            let mut seen = HashSet::new();
            for worker in 0..2 {
                let mut stamper = Stamper::new(derive_seed(42, worker));
                let mut buffer = vec![0; 4096];
                fill_random(&mut buffer, 1);
                for write in 0..writes {
                    stamper.write(&mut buffer, (write % 7) * 4096, content);
                    for sector in buffer.chunks(SECTOR_BYTES) {
                        assert!(seen.insert(sector.to_vec()), "a sector was written twice");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_the_same_in_every_write_lies_in_every_buffer() {
        let laid = |content, seed, shared_seed| {
            let mut buffer = vec![0xaa; 4096];
            fill_base(&mut buffer, content, seed, shared_seed);
            let before = buffer.clone();
            Stamper::new(seed).write(&mut buffer, 8192, content);
            assert!(content == Content::Random || before == buffer);
            buffer
        };
        assert_eq!(laid(Content::Zero, 1, 2), vec![0; 4096]);
        assert_eq!(laid(Content::OneBlock, 1, 2), laid(Content::OneBlock, 3, 2));
        assert_ne!(laid(Content::OneBlock, 1, 2), laid(Content::OneBlock, 1, 4));
        assert_ne!(laid(Content::Random, 1, 2), laid(Content::Random, 3, 2));
        let counted = laid(Content::Counting, 1, 2);
        assert!(counted
            .iter()
            .enumerate()
            .all(|(at, &byte)| byte == at as u8));
        assert!(
            deflated(Content::OneBlock, 4096) < 0.1,
            "the block comes again"
        );
        assert!(deflated(Content::Counting, 4096) < 1.0 / 16.0 + 0.01);
    }

    #[test]
    fn the_same_seed_writes_the_same_bytes_and_another_does_not() {
        let written = |seed| {
            let mut buffer = vec![0; 1024];
            fill_random(&mut buffer, seed);
            Stamper::new(seed).stamp(&mut buffer, 8192);
            buffer
        };
        assert_eq!(written(5), written(5));
        assert_ne!(written(5), written(6));
        let second = written(5)[512..]
            .first_chunk()
            .map(|stamp| u128::from_le_bytes(*stamp));
        let stamp = second.expect("a sector holds a stamp");
        assert_eq!(
            (stamp >> 64) as u64 ^ stamp as u64,
            17,
            "the address can be read back"
        );
    }

    #[test]
    fn wide_registers_and_narrow_ones_make_the_same_bytes() {
        for length in [0, 1, 7, 64, 100, 4096, 4099] {
            let [mut one, mut other] = [vec![0; length], vec![0; length]];
            refill(&mut one, 9);
            refill_lanes(&mut other, 9);
            assert_eq!(one, other);
        }
    }

    /// Bytes that deflate makes of what `content` writes, per byte written.
    fn deflated(content: Content, block_size_bytes: usize) -> f64 {
        use std::io::Write;
        let mut stamper = Stamper::new(3);
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        let mut buffer = vec![0; block_size_bytes];
        fill_base(&mut buffer, content, 1, 2);
        let writes = (1 << 20) / block_size_bytes;
        for write in 0..writes {
            let offset_bytes = (write * block_size_bytes) as u64;
            stamper.write(&mut buffer, offset_bytes, content);
            encoder.write_all(&buffer).expect("a vector takes all");
        }
        let shorter = encoder.finish().expect("a vector takes all");
        shorter.len() as f64 / (writes * block_size_bytes) as f64
    }

    #[test]
    #[cfg_attr(
        miri,
        ignore = "a share of many pieces; deflating them takes Miri hours"
    )]
    fn fresh_content_does_not_compress_and_a_share_of_zeros_does_by_that_share() {
        // The stamps' number, which all sectors of a write share, is the one thing to be found.
        assert!(deflated(Content::Refill, 4096) > 0.98);
        for percent in [0, 20, 50, 80] {
            let expected = 1.0 - f64::from(percent) / 100.0;
            let ratio = deflated(Content::Compressible { percent }, 4096);
            assert!((ratio - expected).abs() < 0.02, "{ratio} for {percent} %");
        }
        let ratio = deflated(Content::Compressible { percent: 100 }, 4096);
        assert!(ratio < 0.06, "{ratio}: only stamps are left");
    }

    /// Share of the pieces written that another one equals, as a deduplicating device sees it.
    fn repeated_share(percent: u8, block_size_bytes: usize) -> f64 {
        let mut stampers = [1, 2].map(|seed| Stamper::sharing(seed, 77));
        let mut counts = HashMap::new();
        let mut buffer = vec![0; block_size_bytes];
        let pieces = 20_000;
        for write in 0..pieces * 4096 / block_size_bytes {
            let offset_bytes = (write * block_size_bytes) as u64;
            let content = Content::Dedupable { percent };
            stampers[write % 2].write(&mut buffer, offset_bytes, content);
            for piece in buffer.chunks(4096) {
                *counts.entry(piece.to_vec()).or_insert(0u64) += 1;
            }
        }
        (pieces - counts.len()) as f64 / pieces as f64
    }

    #[test]
    #[cfg_attr(miri, ignore = "a share of many pieces takes Miri hours")]
    fn the_asked_share_of_the_pieces_is_found_twice() {
        for (percent, block_size_bytes) in [(0, 4096), (30, 4096), (30, 65536), (70, 8192)] {
            let share = repeated_share(percent, block_size_bytes);
            // The first of each of the repeated pieces is no repetition.
            let first = if percent > 0 { 256.0 / 20_000.0 } else { 0.0 };
            let expected = f64::from(percent) / 100.0 - first;
            assert!((share - expected).abs() < 0.015, "{share} for {percent} %");
        }
    }
}
