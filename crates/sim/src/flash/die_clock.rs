//! When dies are free: each programs and reads one page after the other, and a read may suspend
//! what else it does.

use super::queue::Queue;
use super::soonest::Soonest;

/// What a die owes and was last asked for.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_field_names, reason = "every field is a time in ns")]
pub(super) struct DieClock {
    /// The last read of this die; reads that suspend a program queue behind each other.
    read_until_ns: u64,
    /// What cleaning still has to spread over coming programs.
    pub(super) debt_ns: u64,
    pub(super) share_ns: u64,
    /// Until when the die is busy with an erase that reads may suspend.
    pub(super) erase_until_ns: u64,
}

impl DieClock {
    /// Takes off what a program pays of what cleaning owes.
    #[inline]
    fn share(&mut self) -> u64 {
        let share_ns = self.share_ns.min(self.debt_ns);
        self.debt_ns -= share_ns;
        share_ns
    }
}

/// How long a read waits at the most before it suspends what the die does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    pub(super) longest_ns: u64,
    /// For an erase; never longer than for the rest.
    pub(super) erase_ns: u64,
}

/// The clocks of all dies. When each is free lies apart, for a page that goes to the die that is
/// free first asks all of them.
#[derive(Clone, Debug)]
pub(super) struct Dies {
    busy_until_ns: Soonest,
    clocks: Vec<DieClock>,
    /// The same for commands of many pages, unless the dies are too many.
    queue: Option<Box<Queue>>,
}

impl Dies {
    pub(super) fn new(count: u32) -> Self {
        Self {
            busy_until_ns: Soonest::new(count as usize),
            clocks: vec![DieClock::default(); count as usize],
            queue: Queue::new(count as usize),
        }
    }

    #[inline]
    pub(super) fn busy_until_ns(&self, die: u32) -> u64 {
        self.busy_until_ns.get(die)
    }

    pub(super) fn set_busy_until(&mut self, die: u32, at_ns: u64) {
        self.busy_until_ns.set(die, at_ns);
    }

    #[inline]
    pub(super) fn clock_mut(&mut self, die: u32) -> &mut DieClock {
        &mut self.clocks[die as usize]
    }

    /// All are at rest from `at_ns` on.
    pub(super) fn rest(&mut self, at_ns: u64) {
        self.clocks.fill(DieClock::default());
        (0..self.clocks.len() as u32).for_each(|die| self.busy_until_ns.set(die, at_ns));
    }

    /// Of the dies that are free by `at_ns` the first from `turn` on, or else the one that is free
    /// before all others; of equals the first from `turn` on.
    #[inline]
    pub(super) fn free_first(&mut self, turn: u32, at_ns: u64) -> u32 {
        self.busy_until_ns.first(turn, at_ns)
    }

    /// The order of the dies for a command of many pages, each of which goes to the die that is
    /// free first; `None` where they are too many to be kept in order.
    #[inline]
    pub(super) fn in_order(&mut self) -> Option<DiesInOrder<'_>> {
        let queue = self.queue.as_mut()?;
        queue.begin(&self.busy_until_ns);
        Some(DiesInOrder {
            busy_until_ns: &mut self.busy_until_ns,
            clocks: &mut self.clocks,
            queue,
        })
    }

    /// Keeps `die` busy for `ns`, from `at_ns` on or when it is free; returns until when.
    #[inline]
    pub(super) fn occupy(&mut self, die: u32, at_ns: u64, ns: u64) -> u64 {
        let until_ns = self.busy_until_ns(die).max(at_ns) + ns;
        self.busy_until_ns.set(die, until_ns);
        until_ns
    }

    /// Programs a page that is there at `at_ns` and takes `program_ns`, and with it a share of what
    /// cleaning owes; returns when that is done.
    #[inline]
    pub(super) fn program(&mut self, die: u32, at_ns: u64, program_ns: u64) -> u64 {
        let share_ns = self.clocks[die as usize].share();
        self.occupy(die, at_ns, program_ns + share_ns)
    }

    /// Reads a page that is asked for at `ready_ns` and takes `page_ns`; returns when that is done.
    #[inline]
    pub(super) fn read(&mut self, die: u32, ready_ns: u64, page_ns: u64, waits: Waits) -> u64 {
        let busy_until_ns = self.busy_until_ns(die);
        let clock = &mut self.clocks[die as usize];
        let erases = clock.erase_until_ns == busy_until_ns;
        let wait_ns = if erases {
            waits.erase_ns
        } else {
            waits.longest_ns
        };
        let begin_ns = busy_until_ns.max(ready_ns).min(ready_ns + wait_ns);
        let begin_ns = begin_ns.max(clock.read_until_ns);
        let done_ns = begin_ns + page_ns;
        clock.read_until_ns = done_ns;
        let until_ns = if busy_until_ns > begin_ns {
            if erases {
                clock.erase_until_ns += page_ns;
            }
            busy_until_ns + page_ns
        } else {
            done_ns
        };
        self.busy_until_ns.set(die, until_ns);
        done_ns
    }

    pub(super) fn visit(&self, mut mix: impl FnMut(u64)) {
        for (die, clock) in (0..).zip(&self.clocks) {
            let DieClock {
                read_until_ns,
                debt_ns,
                share_ns,
                erase_until_ns,
            } = *clock;
            let busy_until_ns = self.busy_until_ns(die);
            [
                busy_until_ns,
                read_until_ns,
                debt_ns,
                share_ns,
                erase_until_ns,
            ]
            .into_iter()
            .for_each(&mut mix);
        }
    }
}

/// How the die of each page is chosen.
pub(super) trait Choice {
    /// The die of a page that is there at `at_ns`, which never falls; `turn` is the one whose turn
    /// it is.
    fn die(&mut self, turn: u32, at_ns: u64) -> u32;

    /// Does what `Dies::program` does, on the die that was chosen last.
    fn program(&mut self, die: u32, at_ns: u64, program_ns: u64) -> u64;
}

/// Each die in turn.
pub(super) struct InTurn<'a>(pub(super) &'a mut Dies);

impl Choice for InTurn<'_> {
    #[inline]
    fn die(&mut self, turn: u32, _at_ns: u64) -> u32 {
        turn
    }

    #[inline]
    fn program(&mut self, die: u32, at_ns: u64, program_ns: u64) -> u64 {
        self.0.program(die, at_ns, program_ns)
    }
}

/// The die that is free first, sought for each page.
pub(super) struct FreeFirst<'a>(pub(super) &'a mut Dies);

impl Choice for FreeFirst<'_> {
    #[inline]
    fn die(&mut self, turn: u32, at_ns: u64) -> u32 {
        self.0.free_first(turn, at_ns)
    }

    #[inline]
    fn program(&mut self, die: u32, at_ns: u64, program_ns: u64) -> u64 {
        let Dies {
            busy_until_ns,
            clocks,
            ..
        } = self.0;
        let share_ns = clocks[die as usize].share();
        let until_ns = busy_until_ns.get(die).max(at_ns) + program_ns + share_ns;
        busy_until_ns.set_ahead(die, until_ns);
        until_ns
    }
}

/// The die that is free first, of all in order of when they are.
pub(super) struct DiesInOrder<'a> {
    busy_until_ns: &'a mut Soonest,
    clocks: &'a mut [DieClock],
    queue: &'a mut Queue,
}

impl Choice for DiesInOrder<'_> {
    #[inline]
    fn die(&mut self, turn: u32, at_ns: u64) -> u32 {
        self.queue.first(turn, at_ns)
    }

    #[inline]
    fn program(&mut self, die: u32, at_ns: u64, program_ns: u64) -> u64 {
        let share_ns = self.clocks[die as usize].share();
        let until_ns = self.busy_until_ns.get(die).max(at_ns) + program_ns + share_ns;
        self.busy_until_ns.set(die, until_ns);
        self.queue.put(die, until_ns);
        until_ns
    }
}
