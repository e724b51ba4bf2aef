//! One worker's part of verifying: stamps its writes, remembers what each of its reads may find,
//! and judges what came back.

use std::sync::Arc;

use super::ledger::{Expected, Ledger};
use super::stamp::{read_block, stamp_block, Seen, Stamp};
use super::{Fault, Findings};
use crate::access::{Cursor, Shuffle};
use crate::content::{make_payload, SECTOR_BYTES};
use crate::plan::{Content, Range, StreamPlan};
use crate::request::Extent;
use crate::seed::derive_seed;

/// A busy place is drawn again so often.
const DRAWS_MAX: usize = 16;

/// What is in flight in one slot.
#[derive(Clone, Debug)]
struct Held {
    extent: Extent,
    /// Of a write; 0 for a read.
    generation: u64,
    expected: Vec<Expected>,
}

pub(crate) struct Verifier {
    ledger: Arc<Ledger>,
    run: u64,
    content: Content,
    /// Generation of the ordered block that was taken and is not yet in a slot.
    taken: Option<u64>,
    slots: Vec<Held>,
    seen: Vec<Seen>,
    findings: Findings,
}

impl Verifier {
    /// The verifier of a worker that holds `depth` I/Os, if its stream verifies.
    pub fn of(plan: &StreamPlan, depth: u16, ledger: Option<&Arc<Ledger>>) -> Option<Box<Self>> {
        let verify = plan.verify.as_ref()?;
        let ledger = ledger?;
        let idle = Held {
            extent: Extent {
                offset_bytes: 0,
                length_bytes: 0,
            },
            generation: 0,
            expected: Vec::new(),
        };
        Some(Box::new(Self {
            ledger: Arc::clone(ledger),
            run: verify.run,
            content: plan.content,
            taken: None,
            slots: vec![idle; usize::from(depth)],
            seen: Vec::new(),
            findings: Findings::default(),
        }))
    }

    /// The next block of a stream that writes in order; None while its last write is in flight.
    pub fn take_next(
        &mut self,
        range: &Range,
        cursor: &Cursor,
        shuffle: Option<&Shuffle>,
        limit_bytes: u32,
    ) -> Option<Extent> {
        let ledger = &self.ledger;
        let (extent, generation) = ledger.begin_next(range, cursor, shuffle, limit_bytes)?;
        self.taken = Some(generation);
        Some(extent)
    }

    /// A block that no write in flight touches, if `draw` finds one soon: of two that overlap
    /// nobody could say what they leave behind.
    pub fn keep_clear(&self, extent: Extent, mut draw: impl FnMut() -> Extent) -> Extent {
        let mut tried = extent;
        for _ in 0..DRAWS_MAX {
            if !self.ledger.is_flying(tried) {
                return tried;
            }
            tried = draw();
        }
        extent
    }

    /// Makes the content of a write and puts it in flight.
    pub fn begin_write(&mut self, slot: u16, extent: Extent, buffer: &mut [u8]) {
        let taken = self.taken.take();
        let generation = taken.unwrap_or_else(|| self.ledger.begin_write(extent));
        let first_sector = extent.offset_bytes / SECTOR_BYTES as u64;
        let write = derive_seed(self.run ^ generation, first_sector);
        make_payload(buffer, write, self.content);
        stamp_block(buffer, self.run, first_sector, generation);
        let held = &mut self.slots[usize::from(slot)];
        held.extent = extent;
        held.generation = generation;
    }

    pub fn begin_read(&mut self, slot: u16, extent: Extent) {
        let held = &mut self.slots[usize::from(slot)];
        held.extent = extent;
        held.generation = 0;
        self.ledger.begin_read(extent, &mut held.expected);
    }

    /// Ends what is in flight in `slot` without judging anything.
    pub fn end(&mut self, slot: u16, succeeded: bool) {
        let held = &mut self.slots[usize::from(slot)];
        match std::mem::take(&mut held.generation) {
            0 => {}
            generation => self.ledger.end_write(held.extent, generation, succeeded),
        }
    }

    /// Judges what a read brought.
    pub fn judge(&mut self, slot: u16, block: &[u8]) {
        let held = &self.slots[usize::from(slot)];
        let first_sector = held.extent.offset_bytes / SECTOR_BYTES as u64;
        let seen = &mut self.seen;
        seen.clear();
        read_block(block, self.run, first_sector, |one| seen.push(one));
        let floor = held.expected.iter().map(|one| one.floor).max().unwrap_or(0);
        if is_plain(seen, first_sector, floor) {
            self.findings.sectors += seen.len() as u64;
            return;
        }
        let slot = usize::from(slot);
        let seen = std::mem::take(&mut self.seen);
        let torn_by = newer_siblings(&seen, first_sector);
        for (index, (&one, &torn_by)) in seen.iter().zip(&torn_by).enumerate() {
            self.judge_sector(slot, first_sector + index as u64, one, torn_by);
        }
        self.seen = seen;
    }

    /// `torn_by` is the newest generation of a write that covered the sector, as its siblings
    /// show; 0 if they show none.
    #[cold]
    fn judge_sector(&mut self, slot: usize, sector: u64, seen: Seen, torn_by: u64) {
        let offset_bytes = sector * SECTOR_BYTES as u64;
        let grain_bytes = self.ledger.grain_bytes();
        let held = &self.slots[slot];
        let grain = offset_bytes / grain_bytes - held.extent.offset_bytes / grain_bytes;
        let expected = held.expected[grain as usize];
        let in_flight = || self.ledger.is_disturbed(offset_bytes, expected);
        let fault = match seen {
            Seen::Ours(stamp) if stamp.address != sector => Some(Fault::Misplaced),
            Seen::Ours(stamp) => {
                let newer_was_in_flight = expected.disturbed || torn_by > expected.ceiling;
                if torn_by > stamp.generation && !newer_was_in_flight {
                    Some(Fault::Torn)
                } else if stamp.generation < expected.floor {
                    Some(Fault::Stale)
                } else {
                    self.findings.sectors += 1;
                    return;
                }
            }
            Seen::Flipped if in_flight() => None,
            Seen::Flipped => Some(Fault::BitFlip),
            Seen::Foreign | Seen::Zero if expected.floor == 0 || in_flight() => None,
            Seen::Foreign => Some(Fault::Foreign),
            Seen::Zero => Some(Fault::Zero),
        };
        match fault {
            Some(fault) => {
                self.findings.sectors += 1;
                self.findings.note(fault, offset_bytes);
            }
            None => self.findings.sectors_unjudged += 1,
        }
    }

    pub fn take_findings(&mut self) -> Findings {
        std::mem::take(&mut self.findings)
    }
}

/// Whether a block is in order at first sight: one generation everywhere, new enough, in place.
fn is_plain(seen: &[Seen], first_sector: u64, floor: u64) -> bool {
    let Some(&Seen::Ours(Stamp { generation, .. })) = seen.first() else {
        return false;
    };
    generation >= floor
        && seen
            .iter()
            .zip(first_sector..)
            .all(|(one, sector)| match one {
                Seen::Ours(stamp) => stamp.address == sector && stamp.generation == generation,
                Seen::Zero | Seen::Foreign | Seen::Flipped => false,
            })
}

/// For every sector the newest generation of a write that covered it, as far as the sectors in
/// view show it: each knows where its block began and ended.
fn newer_siblings(seen: &[Seen], first_sector: u64) -> Vec<u64> {
    let mut covered = vec![0; seen.len()];
    let mut last_block = None;
    for (sector, one) in (first_sector..).zip(seen) {
        let Seen::Ours(stamp) = one else { continue };
        if stamp.address != sector {
            continue;
        }
        let Some(start) = sector.checked_sub(u64::from(stamp.index)) else {
            continue;
        };
        // Sectors of one block in a row show the same: once is enough.
        let block = (start, stamp.generation);
        if last_block.replace(block) == Some(block) {
            continue;
        }
        let end = start + u64::from(stamp.last) + 1;
        let from = start.max(first_sector) - first_sector;
        let to = (end - first_sector).min(seen.len() as u64);
        for newest in &mut covered[from as usize..to as usize] {
            *newest = stamp.generation.max(*newest);
        }
    }
    covered
}
