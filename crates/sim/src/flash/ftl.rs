//! The flash translation layer without time: which page holds which logical unit, and what
//! cleaning costs in pages and erases. Time is added in `ssd`.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::victims::{Victims, NOT_CLOSED};
use crate::params::{Cleaning, Frontier};

const UNMAPPED: u32 = u32::MAX;

/// Erase blocks kept beyond the spare pages, per die, so that cleaning always has a destination.
pub fn reserve_blocks(frontier: Frontier) -> u32 {
    match frontier {
        Frontier::Shared => 1,
        Frontier::Separate => 2,
    }
}

/// Sizes of the flash, in mapping units and blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Logical units the host sees.
    pub units: u32,
    pub dies: u32,
    pub blocks_per_die: u32,
    /// Units in an erase block; a power of two, at most 32 768.
    pub pages_per_block: u32,
}

impl Geometry {
    /// Physical pages that data can lie in over logical units: one plus the over-provisioning,
    /// the reserve blocks not counted.
    pub fn alpha(&self, frontier: Frontier) -> f64 {
        let usable = (self.blocks_per_die - reserve_blocks(frontier)) * self.dies;
        f64::from(usable) * f64::from(self.pages_per_block) / f64::from(self.units)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Place among the die's victims, or `NOT_CLOSED`.
    pub(super) position: u32,
    /// Valid pages; pages not yet written count as valid while the block is open.
    pub(super) valid: u16,
    die: u16,
}

/// The block being filled: the next page, and the first page after the block.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    next: u32,
    end: u32,
}

#[derive(Clone, Debug)]
struct Die {
    host: Open,
    relocation: Open,
    free: Vec<u32>,
    victims: Victims,
    live: u32,
}

/// Work that one host write caused besides its own program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    pub moved_pages: u32,
    pub erased_blocks: u32,
    /// Pages that host writes can fill before the die opens its next block.
    pub room_pages: u32,
}

/// Page-mapped translation over several dies, each with its own blocks, frontiers and cleaning.
#[derive(Clone, Debug)]
pub struct Ftl {
    l2p: Vec<u32>,
    p2l: Vec<u32>,
    blocks: Vec<Block>,
    dies: Vec<Die>,
    pages: u32,
    shift: u32,
    cleaning: Cleaning,
    frontier: Frontier,
    random: Xoshiro256PlusPlus,
    live_max: u32,
    next_die: u32,
    pub(super) programs: u64,
    pub(super) erases: u64,
}

impl Ftl {
    /// A drive fresh out of the box. `geometry` must leave every die at least two blocks of spare
    /// (asserted; `SsdParams::geometry` refuses such drives with a message).
    pub fn new(geometry: Geometry, cleaning: Cleaning, frontier: Frontier, seed: u64) -> Self {
        let Geometry {
            units,
            dies,
            blocks_per_die,
            pages_per_block: pages,
        } = geometry;
        assert!(pages.is_power_of_two() && pages <= 1 << 15);
        let live_max = (blocks_per_die - reserve_blocks(frontier) - 1) * pages;
        assert!(u64::from(live_max) * u64::from(dies) > u64::from(units));
        let sorted = cleaning != Cleaning::Fifo;
        let die = |_| Die {
            host: Open::default(),
            relocation: Open::default(),
            free: Vec::with_capacity(blocks_per_die as usize),
            victims: Victims::new(blocks_per_die, pages, sorted),
            live: 0,
        };
        let block = |id| Block {
            position: NOT_CLOSED,
            valid: 0,
            die: (id / blocks_per_die) as u16,
        };
        let mut ftl = Self {
            l2p: vec![UNMAPPED; units as usize],
            p2l: vec![UNMAPPED; dies as usize * blocks_per_die as usize * pages as usize],
            blocks: (0..dies * blocks_per_die).map(block).collect(),
            dies: (0..dies).map(die).collect(),
            pages,
            shift: pages.trailing_zeros(),
            cleaning,
            frontier,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            live_max,
            next_die: 0,
            programs: 0,
            erases: 0,
        };
        ftl.clear();
        ftl
    }

    /// Forgets all data and frees every block; the wear counters stay, as they do in a drive.
    pub fn purge(&mut self) {
        self.erases += self.blocks.len() as u64 - self.free_blocks();
        self.l2p.fill(UNMAPPED);
        self.clear();
    }

    fn clear(&mut self) {
        for block in &mut self.blocks {
            block.position = NOT_CLOSED;
            block.valid = 0;
        }
        let per_die = self.blocks.len() / self.dies.len();
        for (index, die) in self.dies.iter_mut().enumerate() {
            (die.host, die.relocation, die.live) = (Open::default(), Open::default(), 0);
            die.victims.clear();
            die.free.clear();
            // Taken from the end, so the lowest block is used first.
            die.free
                .extend((0..per_die).rev().map(|k| (index * per_die + k) as u32));
        }
        self.next_die = 0;
    }

    /// Free blocks over all dies.
    pub fn free_blocks(&self) -> u64 {
        self.dies.iter().map(|die| die.free.len() as u64).sum()
    }

    /// Logical units that hold data.
    pub fn live_units(&self) -> u64 {
        self.dies.iter().map(|die| u64::from(die.live)).sum()
    }

    /// Pages programmed so far, by the host and by cleaning.
    pub fn programs(&self) -> u64 {
        self.programs
    }

    /// The die that the next host page goes to: in turn, passing over a die that is full.
    #[inline]
    pub fn pick_die(&mut self) -> u32 {
        let count = self.dies.len() as u32;
        loop {
            let die = self.next_die;
            self.next_die = if die + 1 == count { 0 } else { die + 1 };
            if self.dies[die as usize].live < self.live_max {
                return die;
            }
        }
    }

    /// The die that holds `unit`, or `None` if it was never written or is trimmed.
    #[inline]
    pub fn die_of(&self, unit: u32) -> Option<u32> {
        let page = self.l2p[unit as usize];
        (page != UNMAPPED).then(|| u32::from(self.blocks[(page >> self.shift) as usize].die))
    }

    /// Writes `unit` to `die`, cleaning first when the die has no open page.
    #[inline]
    pub fn write(&mut self, unit: u32, die: u32) -> Cleaned {
        self.trim(unit);
        let mut cleaned = Cleaned::default();
        if self.dies[die as usize].host.next == self.dies[die as usize].host.end {
            cleaned = self.open_host_block(die);
        }
        let target = &mut self.dies[die as usize];
        target.live += 1;
        let page = target.host.next;
        target.host.next += 1;
        self.p2l[page as usize] = unit;
        self.l2p[unit as usize] = page;
        self.programs += 1;
        cleaned
    }

    /// Forgets `unit`; true if it held data.
    #[inline]
    pub fn trim(&mut self, unit: u32) -> bool {
        let page = std::mem::replace(&mut self.l2p[unit as usize], UNMAPPED);
        if page == UNMAPPED {
            return false;
        }
        let id = page >> self.shift;
        let block = &mut self.blocks[id as usize];
        let valid = block.valid;
        block.valid -= 1;
        let closed = block.position != NOT_CLOSED;
        let die = &mut self.dies[block.die as usize];
        die.live -= 1;
        if closed {
            die.victims.demote(&mut self.blocks, id, valid);
        }
        true
    }

    /// Cleans one block of `die` in the background if it has fewer than `pool_blocks` free ones
    /// beyond the reserve and cleaning gains a page; `None` when there is nothing to do.
    pub fn clean_ahead(&mut self, die: u32, pool_blocks: u32) -> Option<Cleaned> {
        let state = &self.dies[die as usize];
        let wanted = pool_blocks + reserve_blocks(self.frontier);
        if state.free.len() as u32 >= wanted || state.free.is_empty() {
            return None;
        }
        let victim = state.victims.peek()?;
        if u32::from(self.blocks[victim as usize].valid) == self.pages {
            return None;
        }
        // A shared frontier has no block of its own for old pages: they join the host's.
        let moved_pages = self.collect(die);
        let Open { next, end } = self.dies[die as usize].host;
        Some(Cleaned {
            moved_pages,
            erased_blocks: 1,
            room_pages: end - next,
        })
    }

    /// Closes the full host block and opens another, cleaning until one may be taken.
    fn open_host_block(&mut self, die: u32) -> Cleaned {
        let mut cleaned = Cleaned::default();
        match self.frontier {
            Frontier::Shared => loop {
                self.open(die, Frontier::Shared);
                if !self.dies[die as usize].free.is_empty() {
                    break;
                }
                cleaned.moved_pages += self.collect(die);
                cleaned.erased_blocks += 1;
                let Open { next, end } = self.dies[die as usize].host;
                if next < end {
                    break;
                }
            },
            Frontier::Separate => {
                while self.dies[die as usize].free.len() < 2 {
                    cleaned.moved_pages += self.collect(die);
                    cleaned.erased_blocks += 1;
                }
                self.open(die, Frontier::Shared);
            }
        }
        let Open { next, end } = self.dies[die as usize].host;
        cleaned.room_pages = end - next;
        cleaned
    }

    /// Closes the open block (`Shared`: the host's, `Separate`: the one for moved pages) and
    /// takes a free one in its place.
    fn open(&mut self, die: u32, which: Frontier) {
        let state = &mut self.dies[die as usize];
        let open = match which {
            Frontier::Shared => &mut state.host,
            Frontier::Separate => &mut state.relocation,
        };
        let id = state
            .free
            .pop()
            .expect("the reserve keeps a free block for every frontier");
        let full = std::mem::replace(
            open,
            Open {
                next: id << self.shift,
                end: (id + 1) << self.shift,
            },
        );
        self.blocks[id as usize].valid = self.pages as u16;
        if full.end > 0 {
            let old = (full.end - 1) >> self.shift;
            state.victims.push(&mut self.blocks, old, self.pages as u16);
        }
    }

    /// Moves the valid pages of the next victim to the frontier, erases it, returns their number.
    fn collect(&mut self, die: u32) -> u32 {
        let victims = &mut self.dies[die as usize].victims;
        match self.cleaning {
            Cleaning::Greedy | Cleaning::Fifo => {}
            Cleaning::Sampled { choices } => {
                victims.sample(&mut self.blocks, choices, &mut self.random);
            }
        }
        let victim = victims.pop(&mut self.blocks);
        let mut left = u32::from(self.blocks[victim as usize].valid);
        let moved = left;
        let mut page = victim << self.shift;
        while left > 0 {
            let (room, mut next) = self.destination(die);
            let stop = next + room.min(left);
            left -= stop - next;
            while next < stop {
                let unit = self.p2l[page as usize];
                if self.l2p[unit as usize] == page {
                    self.l2p[unit as usize] = next;
                    self.p2l[next as usize] = unit;
                    next += 1;
                }
                page += 1;
            }
            let state = &mut self.dies[die as usize];
            match self.frontier {
                Frontier::Shared => state.host.next = stop,
                Frontier::Separate => state.relocation.next = stop,
            }
        }
        self.blocks[victim as usize].valid = 0;
        self.dies[die as usize].free.push(victim);
        self.programs += u64::from(moved);
        self.erases += 1;
        moved
    }

    /// Open pages for moved data and the first of them, opening a block if there is none.
    fn destination(&mut self, die: u32) -> (u32, u32) {
        let state = &self.dies[die as usize];
        let open = match self.frontier {
            Frontier::Shared => state.host,
            Frontier::Separate => state.relocation,
        };
        if open.next < open.end {
            return (open.end - open.next, open.next);
        }
        self.open(die, self.frontier);
        self.destination(die)
    }

    /// Feeds the whole state to `mix`, in a fixed order.
    pub(super) fn visit(&self, mut mix: impl FnMut(u64)) {
        self.l2p.iter().for_each(|&page| mix(u64::from(page)));
        for die in &self.dies {
            let Die {
                host,
                relocation,
                live,
                ..
            } = die;
            for value in [host.next, host.end, relocation.next, relocation.end, *live] {
                mix(u64::from(value));
            }
            die.free.iter().for_each(|&id| mix(u64::from(id)));
            die.victims.iter().for_each(|id| mix(u64::from(id)));
        }
        mix(u64::from(self.next_die));
        mix(self.random.clone().next_u64());
        mix(self.programs);
        mix(self.erases);
    }
}
