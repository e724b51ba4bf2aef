//! The bytes of a worker's writes, in memory that direct I/O takes.

use super::plan::{Content, LargePlan};
use crate::content::{fill_random, refill, Stamper, SECTOR_BYTES};
use crate::seed::derive_seed;

/// What every device's direct I/O is content with.
const ALIGNMENT_BYTES: usize = 4096;
/// Content of writes that are shorter than a sector is made in such pieces.
const PIECE_BYTES: usize = 4096;
/// Bytes that are written one at a time go round so.
const BYTE_MASK: u64 = 0x7f;

/// Memory at an aligned address, zeros at first.
#[derive(Debug)]
pub struct Aligned {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl Aligned {
    pub fn new(length: usize) -> Self {
        let memory = vec![0; length + ALIGNMENT_BYTES];
        let start = memory.as_ptr().align_offset(ALIGNMENT_BYTES);
        Self {
            memory,
            start,
            length,
        }
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.length]
    }

    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}

/// Makes the content of one write after the other.
#[derive(Debug)]
pub struct Filler {
    content: Content,
    buffer: Aligned,
    stamper: Stamper,
    seed: u64,
    /// Writes so far.
    count: u64,
    /// Of content that is shorter than a sector: what is used of the piece in the buffer.
    used: usize,
}

impl Filler {
    /// That of worker `number` of a plan, for writes of up to `chunk_bytes`.
    pub fn of_worker(plan: &LargePlan, number: u32, chunk_bytes: usize) -> Self {
        let seed = derive_seed(plan.seed, u64::from(number));
        Self::new(plan.content, chunk_bytes, seed)
    }

    /// For writes of up to `chunk_bytes`.
    pub fn new(content: Content, chunk_bytes: usize, seed: u64) -> Self {
        let is_short = content == Content::Random && chunk_bytes < SECTOR_BYTES;
        let length = if is_short { PIECE_BYTES } else { chunk_bytes };
        let mut buffer = Aligned::new(length);
        match content {
            Content::Random | Content::OneBlock => fill_random(buffer.bytes_mut(), seed),
            Content::Zero | Content::Cumulative => {}
        }
        Self {
            content,
            buffer,
            stamper: Stamper::new(derive_seed(seed, 1)),
            seed,
            count: 0,
            used: 0,
        }
    }

    /// The content of the next write, of `length` bytes to `offset_bytes`.
    #[inline]
    pub fn next(&mut self, length: usize, offset_bytes: u64) -> &[u8] {
        let number = self.count;
        self.count += 1;
        match self.content {
            Content::Zero | Content::OneBlock => {}
            Content::Random if length < SECTOR_BYTES => return self.next_short(length),
            Content::Random => {
                let buffer = &mut self.buffer.bytes_mut()[..length];
                self.stamper.stamp(buffer, offset_bytes);
            }
            Content::Cumulative if length == 1 => {
                self.buffer.bytes_mut()[0] = (number & BYTE_MASK) as u8;
            }
            Content::Cumulative => change(&mut self.buffer.bytes_mut()[..length], number),
        }
        &self.buffer.bytes()[..length]
    }

    /// What `next` made last, of a content that fills the buffer from its beginning.
    pub fn made(&self) -> &[u8] {
        self.buffer.bytes()
    }

    fn next_short(&mut self, length: usize) -> &[u8] {
        let buffer = self.buffer.bytes_mut();
        if self.used + length > buffer.len() {
            refill(buffer, derive_seed(self.seed, self.count));
            self.used = 0;
        }
        let first = self.used;
        self.used += length;
        &self.buffer.bytes()[first..first + length]
    }
}

/// Changes one byte of a chunk, each time the next.
#[inline]
pub fn change(chunk: &mut [u8], number: u64) {
    let length = chunk.len() as u64;
    let byte = &mut chunk[(number % length) as usize];
    *byte = byte.wrapping_add(1);
}
