//! A device in memory that keeps what is written, for the tests of what is read. It completes in
//! any order, and every I/O happens in two halves at different times, as on a real one.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use teijo_engine::backend::Backend;
use teijo_engine::request::{Completion, Op, Request};
use teijo_engine::seed::derive_seed;
use teijo_engine::stream::Seat;

/// What all workers share.
pub struct Device {
    pub bytes: Mutex<Vec<u8>>,
    /// Numbers of the writes (in order of issue) that are acknowledged and not done.
    pub lost: HashSet<u64>,
    /// One write in so many fails half done; 0 is none.
    pub fails_one_in: u64,
    writes: AtomicU64,
}

impl Device {
    pub fn new(capacity_bytes: u64) -> Self {
        Self {
            bytes: Mutex::new(vec![0; capacity_bytes as usize]),
            lost: HashSet::new(),
            fails_one_in: 0,
            writes: AtomicU64::new(0),
        }
    }

    /// One worker's way to the device.
    pub fn attach(self: &Arc<Self>, seat: &Seat) -> MemoryBackend {
        let buffer = vec![0; seat.stream.plan.block_size_bytes as usize];
        let depth = usize::from(seat.stream.depth);
        MemoryBackend {
            device: Arc::clone(self),
            seed: derive_seed(seat.stream.plan.seed, 99 + u64::from(seat.number)),
            draws: 0,
            written: vec![buffer.clone(); depth],
            read: vec![buffer; depth],
            held: Vec::new(),
            ready: Vec::new(),
        }
    }
}

pub struct MemoryBackend {
    device: Arc<Device>,
    seed: u64,
    draws: u64,
    written: Vec<Vec<u8>>,
    read: Vec<Vec<u8>>,
    /// Requests half done, and what shall come of them.
    held: Vec<(Request, Fate)>,
    ready: Vec<Completion>,
}

#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Done,
    Lost,
    Failed,
}

impl MemoryBackend {
    fn draw(&mut self, below: u64) -> u64 {
        self.draws += 1;
        derive_seed(self.seed, self.draws) % below
    }

    /// Moves one half of the sectors.
    fn carry(&mut self, request: Request, second: bool) {
        let slot = usize::from(request.slot());
        let length = request.length_bytes as usize;
        let middle = length / 2 / 512 * 512;
        let half = if second { middle..length } else { 0..middle };
        let start = request.offset_bytes as usize;
        let mut bytes = self.device.bytes.lock().unwrap();
        let there = &mut bytes[start + half.start..start + half.end];
        match request.op {
            Op::Read => self.read[slot][half].copy_from_slice(there),
            Op::Write => there.copy_from_slice(&self.written[slot][half]),
            Op::Flush => {}
            Op::Discard => there.fill(0),
        }
    }
}

impl Backend for MemoryBackend {
    const HAS_DATA: bool = true;

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        &mut self.written[usize::from(slot)]
    }

    fn read_back(&mut self, slot: u16) -> &[u8] {
        &self.read[usize::from(slot)]
    }

    fn push(&mut self, request: Request) {
        let mut fate = Fate::Done;
        if request.op == Op::Write {
            let number = self.device.writes.fetch_add(1, Ordering::Relaxed);
            let one_in = self.device.fails_one_in;
            if self.device.lost.contains(&number) {
                fate = Fate::Lost;
            } else if one_in > 0 && self.draw(one_in) == 0 {
                fate = Fate::Failed;
            }
        }
        if fate != Fate::Lost {
            self.carry(request, false);
        }
        self.held.push((request, fate));
    }

    fn wait(&mut self, _want: u32, _deadline_ns: u64) -> io::Result<()> {
        let some = self.draw(self.held.len() as u64 + 1);
        for _ in 0..some {
            let pick = self.draw(self.held.len() as u64) as usize;
            let (request, fate) = self.held.swap_remove(pick);
            if fate == Fate::Done {
                self.carry(request, true);
            }
            let result = match (fate, request.op) {
                (Fate::Failed, _) => -libc::EIO,
                (_, Op::Flush | Op::Discard) => 0,
                (_, Op::Read | Op::Write) => request.length_bytes.cast_signed(),
            };
            let tag = request.tag;
            self.ready.push(Completion { tag, result });
        }
        Ok(())
    }

    fn reap(&mut self) -> Option<Completion> {
        self.ready.pop()
    }
}
