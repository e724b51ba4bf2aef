//! Which closed block a die cleans next. Greedy keeps the closed blocks sorted by valid pages in
//! a ring: losing a page swaps a block with the first of its bucket and moves the bucket's start,
//! so the victim is always at the head and nothing is ever searched. Sampling takes the foremost
//! of a few random places in the same ring. FIFO is the ring alone.

use rand_xoshiro::rand_core::Rng;

use super::block::{Block, NOT_CLOSED};
use crate::memory::prefetch;

/// Closed blocks of one die. Positions only grow; the ring index is the position masked.
#[derive(Clone, Debug)]
pub(super) struct Victims {
    order: Vec<u32>,
    mask: u32,
    head: u32,
    tail: u32,
    /// `start[v]`: position of the first block with at least `v` valid pages. A start behind
    /// `head` means `head`. Empty for FIFO.
    start: Vec<u32>,
}

impl Victims {
    /// For at most `blocks` closed blocks of `pages` pages each.
    pub(super) fn new(blocks: u32, pages: u32, sorted: bool) -> Self {
        let slots = (blocks + 1).next_power_of_two();
        let start = if sorted {
            vec![0; pages as usize + 1]
        } else {
            Vec::new()
        };
        Self {
            order: vec![0; slots as usize],
            mask: slots - 1,
            head: 0,
            tail: 0,
            start,
        }
    }

    pub(super) fn len(&self) -> u32 {
        self.tail.wrapping_sub(self.head)
    }

    /// Takes in a block that has just been closed; `pages` is the number of pages in it.
    pub(super) fn push(&mut self, blocks: &mut [Block], id: u32, pages: u16) {
        debug_assert!(self.len() <= self.mask);
        self.order[(self.tail & self.mask) as usize] = id;
        blocks[id as usize].position = self.tail;
        self.tail = self.tail.wrapping_add(1);
        if self.start.is_empty() {
            return;
        }
        // It enters as a full block, then loses the pages it lost while it was open.
        let valid = blocks[id as usize].valid;
        for count in (valid + 1..=pages).rev() {
            self.demote(blocks, id, count);
        }
    }

    /// Follows a closed block from `valid` pages to one fewer.
    #[inline]
    pub(super) fn demote(&mut self, blocks: &mut [Block], id: u32, valid: u16) {
        if self.start.is_empty() {
            return;
        }
        let start = &mut self.start[valid as usize];
        let behind = start.wrapping_sub(self.head) > u32::MAX / 2;
        let first = if behind { self.head } else { *start };
        *start = first.wrapping_add(1);
        let position = blocks[id as usize].position;
        if position != first {
            let other = self.order[(first & self.mask) as usize];
            self.order[(first & self.mask) as usize] = id;
            self.order[(position & self.mask) as usize] = other;
            blocks[other as usize].position = position;
            blocks[id as usize].position = first;
        }
    }

    /// Asks for the places that `demote` of `block` will exchange.
    #[inline]
    pub(super) fn look_up(&self, block: Block) {
        if block.position == NOT_CLOSED || self.start.is_empty() {
            return;
        }
        prefetch(&self.order, block.position & self.mask);
        let first = self.start[usize::from(block.valid)];
        prefetch(&self.order, first & self.mask);
    }

    /// The block at the head: the emptiest, or the oldest for FIFO.
    pub(super) fn peek(&self) -> Option<u32> {
        (self.len() > 0).then(|| self.order[(self.head & self.mask) as usize])
    }

    /// Moves the foremost of `choices` random blocks to the head; an empty block stays there.
    pub(super) fn sample(&mut self, blocks: &mut [Block], choices: u32, random: &mut impl Rng) {
        let length = u64::from(self.len());
        let mut draw = || (((random.next_u64() >> 32) * length) >> 32) as u32;
        let ahead = (0..choices).map(|_| draw()).min().unwrap_or(0);
        let id = self.order[(self.head.wrapping_add(ahead) & self.mask) as usize];
        let empty = self
            .peek()
            .is_some_and(|first| blocks[first as usize].valid == 0);
        if !empty {
            // As if it lost page after page: the price is that of moving them, which follows.
            for count in (1..=blocks[id as usize].valid).rev() {
                self.demote(blocks, id, count);
            }
        }
    }

    /// Takes out the block at the head.
    pub(super) fn pop(&mut self, blocks: &mut [Block]) -> u32 {
        assert!(
            self.len() > 0,
            "a die without closed blocks has nothing to clean"
        );
        let id = self.order[(self.head & self.mask) as usize];
        self.head = self.head.wrapping_add(1);
        blocks[id as usize].position = NOT_CLOSED;
        id
    }

    pub(super) fn state_bytes(&self) -> usize {
        4 * (self.order.capacity() + self.start.capacity())
    }

    pub(super) fn clear(&mut self) {
        (self.head, self.tail) = (0, 0);
        self.start.fill(0);
    }

    /// The closed blocks from the next victim on.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len()).map(|k| self.order[(self.head.wrapping_add(k) & self.mask) as usize])
    }
}
