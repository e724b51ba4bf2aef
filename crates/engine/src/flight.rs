//! The I/Os in flight of one worker. Only the worker writes them, other threads read them: so an
//! I/O that a device does not answer has a name while the worker waits or is stuck in the kernel.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Stuck;
use crate::request::{Extent, Op};

/// What no I/O ever results in.
const NO_DATA: i32 = i32::MIN;

/// One I/O, as its worker knows it. Its slot is its number.
#[derive(Clone, Copy)]
pub(crate) struct Flight {
    pub offset_bytes: u64,
    pub length_bytes: u32,
    /// The result of a success. An I/O that moves no data never has this one, so that the hot path
    /// needs only one comparison.
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
    pub(crate) fn length_bytes(&self) -> u32 {
        self.what.load(Ordering::Relaxed) as u32
    }

    #[inline]
    pub(crate) fn op(&self) -> Op {
        OPS[(self.what.load(Ordering::Relaxed) >> 32) as usize & 3]
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
}
