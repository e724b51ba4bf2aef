//! The I/Os in flight of one worker. Written by it alone, and seen by whoever watches: what a
//! device does not answer can be named while the worker waits for it, or is stuck in the kernel.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::access::Extent;
use crate::backend::Op;

/// No result of an I/O.
const NO_DATA: i32 = i32::MIN;
/// So many are named in a message.
const NAMED_MAX: usize = 4;

/// One I/O, as its worker knows it. Its slot is its number.
#[derive(Clone, Copy)]
pub(crate) struct Flight {
    pub offset_bytes: u64,
    pub length_bytes: u32,
    /// The result that is a success; none is where no data moves, so that the one comparison of
    /// the hot path tells these apart as well.
    pub whole: i32,
    pub op: Op,
}

impl Flight {
    /// Whether it moves no data, and is booked beside reads and writes.
    pub fn is_aside(self) -> bool {
        self.whole == NO_DATA
    }
}

/// One slot, in relaxed words: for its worker as cheap as plain ones.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// When it went to the device; 0 while it is not there.
    issued_ns: AtomicU64,
    offset_bytes: AtomicU64,
    /// Length below, operation above.
    what: AtomicU64,
}

/// All slots of one worker.
#[derive(Debug, Default)]
pub struct Flights {
    slots: Box<[Slot]>,
}

const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Flush, Op::Discard];

impl Flights {
    pub(crate) fn new(depth: u16) -> Self {
        Self {
            slots: (0..depth).map(|_| Slot::default()).collect(),
        }
    }

    #[inline]
    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub(crate) fn depth(&self) -> usize {
        self.slots.len()
    }

    /// Notes what goes into a slot.
    #[inline]
    pub(crate) fn put(&self, slot: u16, op: Op, extent: Extent) {
        self.slots[usize::from(slot)].put(op, extent);
    }

    /// Notes that it is the device's from now on.
    #[inline]
    pub(crate) fn launch(&self, slot: u16, now_ns: u64) -> Flight {
        self.slots[usize::from(slot)].launch(now_ns);
        self.get(slot)
    }

    #[inline]
    pub(crate) fn get(&self, slot: u16) -> Flight {
        self.slots[usize::from(slot)].flight()
    }

    /// Notes that it came back, and gives it.
    #[inline]
    pub(crate) fn land(&self, slot: u16) -> Flight {
        let slot = &self.slots[usize::from(slot)];
        slot.land();
        slot.flight()
    }

    /// The I/Os that the device has had for at least `least_ns`.
    pub fn aged(&self, now_ns: u64, least_ns: u64) -> impl Iterator<Item = Stuck> + '_ {
        self.slots.iter().filter_map(move |slot| {
            let issued_ns = slot.issued_ns.load(Ordering::Relaxed);
            let age_ns = now_ns.checked_sub(issued_ns).filter(|_| issued_ns > 0)?;
            let Flight {
                op,
                offset_bytes,
                length_bytes,
                ..
            } = slot.flight();
            (age_ns >= least_ns).then_some(Stuck {
                op,
                offset_bytes,
                length_bytes,
                age_ns,
            })
        })
    }
}

impl Slot {
    #[inline]
    pub(crate) fn put(&self, op: Op, extent: Extent) {
        self.offset_bytes
            .store(extent.offset_bytes, Ordering::Relaxed);
        let what = (op as u64) << 32 | u64::from(extent.length_bytes);
        self.what.store(what, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn launch(&self, now_ns: u64) {
        self.issued_ns.store(now_ns.max(1), Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn land(&self) {
        self.issued_ns.store(0, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn flight(&self) -> Flight {
        let what = self.what.load(Ordering::Relaxed);
        let (op, length_bytes) = (OPS[(what >> 32) as usize & 3], what as u32);
        let whole = match op {
            Op::Read | Op::Write => length_bytes.cast_signed(),
            Op::Flush | Op::Discard => NO_DATA,
        };
        Flight {
            offset_bytes: self.offset_bytes.load(Ordering::Relaxed),
            length_bytes,
            whole,
            op,
        }
    }
}

/// An I/O that the device does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    pub op: Op,
    pub offset_bytes: u64,
    pub length_bytes: u32,
    /// Since it was issued.
    pub age_ns: u64,
}

impl fmt::Display for Stuck {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let op = match self.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Flush => "flush",
            Op::Discard => "discard",
        };
        let seconds = self.age_ns as f64 / 1e9;
        if self.op == Op::Flush {
            return write!(out, "a {op} since {seconds:.1} s");
        }
        let (length, offset) = (self.length_bytes, self.offset_bytes);
        write!(out, "a {op} of {length} B at {offset} since {seconds:.1} s")
    }
}

/// Names the oldest of several, and counts the others.
pub(crate) fn write_stuck(out: &mut fmt::Formatter<'_>, stuck: &[Stuck]) -> fmt::Result {
    for (number, one) in stuck.iter().take(NAMED_MAX).enumerate() {
        write!(out, "{}{one}", if number > 0 { ", " } else { "" })?;
    }
    match stuck.len().saturating_sub(NAMED_MAX) {
        0 => Ok(()),
        more => write!(out, " and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_device_has_is_told_by_age_and_nothing_else_is() {
        let flights = Flights::new(4);
        let extent = |offset_bytes| Extent {
            offset_bytes,
            length_bytes: 4096,
        };
        for (slot, op) in OPS.into_iter().enumerate() {
            flights.put(slot as u16, op, extent(slot as u64 * 8192));
        }
        assert_eq!(flights.aged(9_000, 0).count(), 0, "none has gone out");
        flights.launch(0, 1_000);
        flights.launch(1, 5_000);
        flights.launch(2, 5_000);
        flights.land(2);
        let stuck: Vec<Stuck> = flights.aged(9_000, 4_000).collect();
        let read = Stuck {
            op: Op::Read,
            offset_bytes: 0,
            length_bytes: 4096,
            age_ns: 8_000,
        };
        let write = Stuck {
            op: Op::Write,
            offset_bytes: 8192,
            length_bytes: 4096,
            age_ns: 4_000,
        };
        assert_eq!(stuck, [read, write]);
        assert_eq!(flights.aged(9_000, 4_001).count(), 1);
        assert_eq!(
            flights.aged(0, 0).count(),
            0,
            "a clock is never before the issue"
        );
    }

    #[test]
    fn a_message_names_the_first_few_and_counts_the_rest() {
        struct Said(Vec<Stuck>);
        impl fmt::Display for Said {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_stuck(out, &self.0)
            }
        }
        let stuck = |op, number: u64| Stuck {
            op,
            offset_bytes: number * 512,
            length_bytes: 512,
            age_ns: number * 1_500_000_000,
        };
        let mut all = vec![stuck(Op::Write, 2), stuck(Op::Flush, 1)];
        let first = "a write of 512 B at 1024 since 3.0 s, a flush since 1.5 s";
        assert_eq!(Said(all.clone()).to_string(), first);
        all.extend((3..7).map(|number| stuck(Op::Discard, number)));
        assert!(Said(all).to_string().ends_with(" since 6.0 s and 2 more"));
    }
}
