//! Any simulated device, alone or put together: one enum, matched where an I/O comes in.

use std::borrow::Cow;

use teijo_engine::request::{Extent, Op};

use crate::cache::Cache;
use crate::device::{Damage, Device, Ended, Facts, Health, Label, Outcome, Ticket};
use crate::disk::Disk;
use crate::fault::Faulty;
use crate::files::Os;
use crate::flash::Ssd;
use crate::raid::{Array, Level};
use crate::tier::{SsdCache, Tier};

/// A device. `Clone` branches the state of the whole tree.
#[derive(Clone, Debug)]
pub enum Node {
    Ssd(Box<Ssd>),
    Disk(Box<Disk>),
    Array(Box<Array<Self>>),
    Faulty(Box<Faulty<Self>>),
    Cache(Box<Cache<Self>>),
    Os(Box<Os<Self>>),
    SsdCache(Box<SsdCache<Self>>),
    Tier(Box<Tier<Self>>),
}

impl Node {
    /// Whether all that holds data is flash, so that what flash counts is of the whole.
    pub fn is_flash(&self) -> bool {
        match self {
            Self::Ssd(_) => true,
            Self::Disk(_) => false,
            Self::Array(array) => array.members().iter().all(Self::is_flash),
            Self::Faulty(faulty) => faulty.part().is_flash(),
            Self::Cache(cache) => cache.part().is_flash(),
            Self::Os(os) => os.part().is_flash(),
            Self::SsdCache(cache) => cache.parts().into_iter().all(Self::is_flash),
            Self::Tier(tier) => tier.parts().into_iter().all(Self::is_flash),
        }
    }

    /// Says whose numbers the whole reproduces; what has its own label keeps it.
    pub(crate) fn relabel(&mut self, label: Label) {
        match self {
            Self::Ssd(_) | Self::Disk(_) | Self::Faulty(_) => {}
            Self::Array(array) => array.relabel(label),
            Self::Cache(cache) => cache.relabel(label),
            Self::Os(os) => os.relabel(label),
            Self::SsdCache(cache) => cache.relabel(label),
            Self::Tier(tier) => tier.relabel(label),
        }
    }

    /// The least that is best written as one, on its multiples; 1 for no such thing.
    pub(crate) fn stripe_bytes(&self) -> u64 {
        match self {
            Self::Ssd(_) | Self::Disk(_) | Self::Tier(_) => 1,
            Self::SsdCache(cache) => cache.parts()[1].stripe_bytes(),
            Self::Cache(cache) => cache.part().stripe_bytes(),
            Self::Os(os) => os.part().stripe_bytes(),
            Self::Faulty(faulty) => faulty.part().stripe_bytes(),
            Self::Array(array) => {
                let layout = array.layout();
                let inner_bytes = array.members().first().map_or(1, Self::stripe_bytes);
                match layout.level {
                    Level::Mirrored => inner_bytes,
                    Level::Striped if layout.chunk_bytes.is_multiple_of(inner_bytes) => {
                        layout.chunk_bytes
                    }
                    Level::Striped | Level::Parity { .. } => layout.stripe_bytes(),
                }
            }
        }
    }
}

macro_rules! each {
    ($node:expr, $device:ident => $work:expr) => {
        match $node {
            Node::Ssd($device) => $work,
            Node::Disk($device) => $work,
            Node::Array($device) => $work,
            Node::Faulty($device) => $work,
            Node::Cache($device) => $work,
            Node::Os($device) => $work,
            Node::SsdCache($device) => $work,
            Node::Tier($device) => $work,
        }
    };
}

impl Node {
    #[inline(never)]
    fn submit_to_parts(
        &mut self,
        ticket: Ticket,
        op: Op,
        offset_bytes: u64,
        length_bytes: u32,
        at_ns: u64,
    ) -> Option<Outcome> {
        each!(self, device => device.submit(ticket, op, offset_bytes, length_bytes, at_ns))
    }

    #[inline(never)]
    fn next_of_parts_ns(&self) -> u64 {
        each!(self, device => device.next_ns())
    }
}

impl Device for Node {
    fn serve(&mut self, op: Op, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> Outcome {
        each!(self, device => device.serve(op, offset_bytes, length_bytes, at_ns))
    }

    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "each I/O of a session comes through here"
    )]
    fn submit(
        &mut self,
        ticket: Ticket,
        op: Op,
        offset_bytes: u64,
        length_bytes: u32,
        at_ns: u64,
    ) -> Option<Outcome> {
        // Drives alone are asked most, and straight.
        if let Self::Ssd(drive) = self {
            if let Some(outcome) = drive.serve_unit(op, offset_bytes, length_bytes, at_ns) {
                return Some(outcome);
            }
            return drive.submit(ticket, op, offset_bytes, length_bytes, at_ns);
        }
        self.submit_to_parts(ticket, op, offset_bytes, length_bytes, at_ns)
    }

    #[inline]
    fn next_ns(&self) -> u64 {
        match self {
            Self::Ssd(drive) => drive.next_ns(),
            // These have it at hand.
            Self::Cache(cache) => cache.next_ns(),
            Self::SsdCache(cache) => cache.next_ns(),
            _ => self.next_of_parts_ns(),
        }
    }

    fn step(&mut self, ended: &mut Vec<Ended>) {
        each!(self, device => device.step(ended));
    }

    fn step_on(&mut self, until_ns: u64, pause_ns: u64, ended: &mut Vec<Ended>) -> u64 {
        each!(self, device => device.step_on(until_ns, pause_ns, ended))
    }

    fn is_far(&self) -> bool {
        each!(self, device => device.is_far())
    }

    #[inline]
    fn foresee(&self, offset_bytes: u64, length_bytes: u32) {
        each!(self, device => device.foresee(offset_bytes, length_bytes));
    }

    fn foresee_all(&self, extents: &[Extent]) {
        each!(self, device => device.foresee_all(extents));
    }

    fn purge(&mut self, at_ns: u64) -> u64 {
        each!(self, device => device.purge(at_ns))
    }

    fn idle(&mut self, from_ns: u64, to_ns: u64) {
        each!(self, device => device.idle(from_ns, to_ns));
    }

    fn content(&mut self, left_q16: u32) {
        each!(self, device => device.content(left_q16));
    }

    fn power_cut(&mut self, at_ns: u64) -> u64 {
        each!(self, device => device.power_cut(at_ns))
    }

    fn volatile(&self, at_ns: u64) -> Vec<(u64, u64)> {
        each!(self, device => device.volatile(at_ns))
    }

    /// Only what fails by order harms data.
    #[inline]
    fn damage(&self) -> &[Damage] {
        match self {
            Self::Faulty(faulty) => faulty.damage(),
            _ => &[],
        }
    }

    fn counts(&self) -> Vec<(Cow<'static, str>, u64)> {
        each!(self, device => device.counts())
    }

    fn health(&self) -> Health {
        each!(self, device => device.health())
    }

    fn facts(&self) -> Facts {
        each!(self, device => device.facts())
    }

    fn is_rotational(&self) -> bool {
        each!(self, device => device.is_rotational())
    }

    fn capacity_bytes(&self) -> u64 {
        each!(self, device => device.capacity_bytes())
    }

    fn logical_block_bytes(&self) -> u32 {
        each!(self, device => device.logical_block_bytes())
    }

    fn digest(&self) -> u64 {
        each!(self, device => device.digest())
    }
}
