//! Which closed block a die cleans next: the one with the fewest valid units, of equals the first
//! by number; or the oldest one; or the emptiest of a few that are drawn. The fewest are kept by
//! groups of blocks, groups of groups and so on, so that a unit that is lost costs a comparison,
//! and the search for a victim a walk from the top.

use std::collections::VecDeque;

use rand_xoshiro::rand_core::Rng;

use super::block::Block;
use crate::flash::params::Cleaning;

/// Blocks of a group, and groups of a group, as a power of two.
const GROUP_SHIFT: u32 = 6;
const GROUP: usize = 1 << GROUP_SHIFT;

fn least(keys: impl Iterator<Item = u32>) -> u32 {
    keys.fold(u32::MAX, u32::min)
}

/// One group's part of a level.
fn group<T>(level: &[T], number: usize) -> &[T] {
    let from = number << GROUP_SHIFT;
    &level[from..level.len().min(from + GROUP)]
}

/// The least key of each group of blocks, of each group of such groups, and so on to a single
/// group: that of the closed block with the fewest valid units, or of an open one where all are.
#[derive(Clone, Debug)]
struct Fewest(Vec<Vec<u32>>);

impl Fewest {
    fn levels(blocks: usize) -> impl Iterator<Item = usize> {
        let group_up = |count: &usize| (*count > 1).then(|| count.div_ceil(GROUP));
        std::iter::successors(Some(blocks.div_ceil(GROUP)), group_up)
    }

    fn new(blocks: usize) -> Self {
        let mut levels = Vec::with_capacity(Self::levels(blocks).count());
        levels.extend(Self::levels(blocks).map(|groups| vec![u32::MAX; groups]));
        Self(levels)
    }

    fn need_bytes(blocks: usize) -> u64 {
        let level_bytes = |groups: usize| size_of::<Vec<u32>>() + size_of::<u32>() * groups;
        Self::levels(blocks).map(level_bytes).sum::<usize>() as u64
    }

    /// The key of the block at `place` has fallen.
    #[inline]
    fn lower(&mut self, place: usize, key: u32) {
        let mut number = place;
        for level in &mut self.0 {
            number >>= GROUP_SHIFT;
            if key >= level[number] {
                return;
            }
            level[number] = key;
        }
    }

    /// The key of the block at `place` has risen.
    fn raise(&mut self, place: usize, blocks: &[Block]) {
        let mut number = place >> GROUP_SHIFT;
        let mut found = least(group(blocks, number).iter().map(|block| block.key()));
        for at in 0..self.0.len() {
            self.0[at][number] = found;
            number >>= GROUP_SHIFT;
            found = least(group(&self.0[at], number).iter().copied());
        }
    }

    /// The place of the first block with the least key, and that key.
    fn first(&self, blocks: &[Block]) -> (usize, u32) {
        let (mut number, mut found) = (0, u32::MAX);
        for (depth, level) in self.0.iter().rev().enumerate() {
            let keys = group(level, number);
            if depth == 0 {
                found = least(keys.iter().copied());
            }
            number = (number << GROUP_SHIFT) + place_of(keys.iter().copied(), found);
        }
        let keys = group(blocks, number).iter().map(|block| block.key());
        ((number << GROUP_SHIFT) + place_of(keys, found), found)
    }
}

fn place_of(mut keys: impl Iterator<Item = u32>, sought: u32) -> usize {
    keys.position(|key| key == sought).unwrap_or(0)
}

/// Closed blocks in no order, any of which can be drawn and taken out.
#[derive(Clone, Debug)]
struct Lot {
    places: Vec<u32>,
    /// Where each block is among them, where it is.
    at: Vec<u32>,
}

impl Lot {
    fn push(&mut self, place: u32) {
        self.at[place as usize] = self.places.len() as u32;
        self.places.push(place);
    }

    fn take_out(&mut self, place: u32) {
        let at = self.at[place as usize];
        self.places.swap_remove(at as usize);
        if let Some(&moved) = self.places.get(at as usize) {
            self.at[moved as usize] = at;
        }
    }

    /// The emptiest of `choices` that are drawn evenly.
    fn draw(&self, blocks: &[Block], choices: u32, random: &mut impl Rng) -> Option<u32> {
        let length = self.places.len() as u64;
        let mut draw = |_| self.places[(((random.next_u64() >> 32) * length) >> 32) as usize];
        let drawn = (0..choices).map(&mut draw);
        drawn.min_by_key(|&place| blocks[place as usize].key())
    }
}

#[derive(Clone, Debug)]
enum Order {
    Fewest(Fewest),
    Oldest(VecDeque<u32>),
    Drawn {
        fewest: Fewest,
        lot: Lot,
        choices: u32,
    },
}

/// Closed blocks of one die. Where `blocks` are asked for, they are those of all dies.
#[derive(Clone, Debug)]
pub(super) struct Victims {
    /// The die's own blocks.
    first: u32,
    end: u32,
    closed: u32,
    order: Order,
}

impl Victims {
    /// Of a die whose blocks are those from `first` on.
    pub(super) fn new(first: u32, blocks: u32, cleaning: Cleaning) -> Self {
        let count = blocks as usize;
        let order = match cleaning {
            Cleaning::Greedy => Order::Fewest(Fewest::new(count)),
            Cleaning::Fifo => Order::Oldest(VecDeque::with_capacity(count)),
            Cleaning::Sampled { choices } => Order::Drawn {
                fewest: Fewest::new(count),
                lot: Lot {
                    places: Vec::with_capacity(count),
                    at: vec![0; count],
                },
                choices,
            },
        };
        Self {
            first,
            end: first + blocks,
            closed: 0,
            order,
        }
    }

    /// Memory that they take, known before.
    pub(super) fn need_bytes(blocks: u64, cleaning: Cleaning) -> u64 {
        let fewest = Fewest::need_bytes(blocks as usize);
        match cleaning {
            Cleaning::Greedy => fewest,
            Cleaning::Fifo => 4 * blocks,
            Cleaning::Sampled { .. } => fewest + 8 * blocks,
        }
    }

    pub(super) fn state_bytes(&self) -> usize {
        let of = |fewest: &Fewest| fewest.0.iter().map(Vec::capacity).sum::<usize>();
        4 * match &self.order {
            Order::Fewest(fewest) => of(fewest),
            Order::Oldest(line) => line.capacity(),
            Order::Drawn { fewest, lot, .. } => {
                of(fewest) + lot.places.capacity() + lot.at.capacity()
            }
        }
    }

    fn own<'a>(&self, blocks: &'a [Block]) -> &'a [Block] {
        &blocks[self.first as usize..self.end as usize]
    }

    pub(super) fn len(&self) -> u32 {
        self.closed
    }

    /// Takes in the block `id`, which is closed now.
    pub(super) fn push(&mut self, blocks: &mut [Block], id: u32) {
        blocks[id as usize].close();
        self.closed += 1;
        let place = id - self.first;
        match &mut self.order {
            Order::Oldest(line) => line.push_back(place),
            Order::Drawn { lot, .. } => lot.push(place),
            Order::Fewest(_) => {}
        }
        self.note_loss(id, blocks[id as usize]);
    }

    /// The block `id` has fewer valid units than before: it is `block` now.
    #[inline]
    pub(super) fn note_loss(&mut self, id: u32, block: Block) {
        match &mut self.order {
            Order::Fewest(fewest) | Order::Drawn { fewest, .. } => {
                fewest.lower((id - self.first) as usize, block.key());
            }
            Order::Oldest(_) => {}
        }
    }

    /// The emptiest block, or the oldest where that is what counts.
    pub(super) fn peek(&self, blocks: &[Block]) -> Option<u32> {
        if self.closed == 0 {
            return None;
        }
        let place = match &self.order {
            Order::Oldest(line) => line[0],
            Order::Fewest(fewest) | Order::Drawn { fewest, .. } => {
                fewest.first(self.own(blocks)).0 as u32
            }
        };
        Some(self.first + place)
    }

    /// Takes out the block that is cleaned next; a block that is empty goes before one that is
    /// drawn.
    pub(super) fn take(&mut self, blocks: &mut [Block], random: &mut impl Rng) -> u32 {
        let next = self.peek(blocks);
        let mut id = next.expect("a die without closed blocks has nothing to clean");
        if let Order::Drawn { lot, choices, .. } = &self.order {
            let drawn = lot.draw(self.own(blocks), *choices, random);
            if blocks[id as usize].valid() > 0 {
                id = drawn.map_or(id, |place| self.first + place);
            }
        }
        self.closed -= 1;
        blocks[id as usize].take_out();
        let (place, own) = (id - self.first, self.own(blocks));
        match &mut self.order {
            Order::Oldest(line) => {
                line.pop_front();
            }
            Order::Fewest(fewest) => fewest.raise(place as usize, own),
            Order::Drawn { fewest, lot, .. } => {
                fewest.raise(place as usize, own);
                lot.take_out(place);
            }
        }
        id
    }

    pub(super) fn clear(&mut self) {
        let (first, blocks) = (self.first, self.end - self.first);
        *self = Self::new(first, blocks, self.cleaning());
    }

    pub(super) fn cleaning(&self) -> Cleaning {
        match self.order {
            Order::Fewest(_) => Cleaning::Greedy,
            Order::Oldest(_) => Cleaning::Fifo,
            Order::Drawn { choices, .. } => Cleaning::Sampled { choices },
        }
    }

    /// The closed blocks, in the order in which they lie.
    pub(super) fn all(&self, blocks: &[Block]) -> Vec<u32> {
        let of_die = |place: &u32| self.first + place;
        match &self.order {
            Order::Oldest(line) => line.iter().map(of_die).collect(),
            Order::Drawn { lot, .. } => lot.places.iter().map(of_die).collect(),
            Order::Fewest(_) => {
                let closed = (self.first..self.end).zip(self.own(blocks));
                let closed = closed.filter(|(_, block)| block.is_closed());
                closed.map(|(id, _)| id).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use rand_xoshiro::rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    const PAGES: u16 = 9;

    proptest! {
        /// Against a search through all. The die has others before it and after it.
        #[test]
        fn the_victim_is_the_one_that_a_search_finds(
            count in prop_oneof![1_u32..9, 60_u32..70, 4_000_u32..4_200],
            kind in 0_u8..3,
            acts in proptest::collection::vec((0_u8..8, any::<u32>()), 1..300),
        ) {
            let cleaning = [
                Cleaning::Greedy,
                Cleaning::Fifo,
                Cleaning::Sampled { choices: 1 << 12 },
            ][usize::from(kind)];
            let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
            let mut blocks = vec![Block::FREE; 3 * count as usize];
            let mut victims = Victims::new(count, count, cleaning);
            let mut closed: Vec<u32> = Vec::new();
            for (act, number) in acts {
                let id = count + number % count;
                let block = &mut blocks[id as usize];
                match act {
                    0..2 if !closed.contains(&id) => {
                        block.open(PAGES);
                        block.lose((number % 4) as u16);
                        victims.push(&mut blocks, id);
                        closed.push(id);
                    }
                    2..7 if block.valid() > 0 => {
                        block.lose(1);
                        victims.note_loss(id, blocks[id as usize]);
                    }
                    7 if !closed.is_empty() => {
                        let valid = |id: u32| blocks[id as usize].valid();
                        let fewest = closed.iter().map(|&id| valid(id)).min();
                        let first = closed.iter().copied().filter(|&id| Some(valid(id)) == fewest);
                        let (first, oldest) = (first.min(), closed[0]);
                        let taken = victims.take(&mut blocks, &mut random);
                        match cleaning {
                            Cleaning::Greedy => prop_assert_eq!(Some(taken), first),
                            Cleaning::Fifo => prop_assert_eq!(taken, oldest),
                            // So many draws miss none of a few blocks.
                            Cleaning::Sampled { .. } if count < 70 => {
                                prop_assert_eq!(Some(blocks[taken as usize].valid()), fewest);
                            }
                            Cleaning::Sampled { .. } => prop_assert!(closed.contains(&taken)),
                        }
                        closed.retain(|&id| id != taken);
                        let seen: BTreeSet<u32> = victims.all(&blocks).into_iter().collect();
                        prop_assert_eq!(seen, closed.iter().copied().collect());
                    }
                    _ => {}
                }
                prop_assert_eq!(victims.len() as usize, closed.len());
            }
        }
    }
}
