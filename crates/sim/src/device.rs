//! What every simulated device is, whatever is inside: it serves I/O in virtual time and keeps a
//! health log. Nothing here knows flash, disks or arrays.

use std::borrow::Cow;

use teijo_engine::request::{Extent, Op};

/// What came of one I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// When the host sees the completion, on the virtual clock.
    pub done_ns: u64,
    /// Bytes moved (fewer than asked is a short I/O), or a negated errno, as in a `Completion`.
    pub result: i32,
}

/// Names an I/O between the one who asks for it and the device that serves it.
pub type Ticket = u64;

/// The end of an I/O that was not known when it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    pub ticket: Ticket,
    pub outcome: Outcome,
}

/// What happened to data, where it is not what the outcomes say: an I/O that succeeded stored all,
/// or brought what was written last, and a write that failed stored nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Of this write, so many bytes from its beginning were stored.
    Kept { ticket: Ticket, bytes: u32 },
    /// This read brought what was there before the last write.
    Stale { ticket: Ticket },
    /// One bit of what this read brought is wrong.
    Flipped { ticket: Ticket, bit: u64 },
    /// What was written here last is gone, and what was there before it is back.
    Lost {
        offset_bytes: u64,
        length_bytes: u64,
    },
}

impl Damage {
    /// Of the I/O that it happened to; `None` for none.
    pub fn ticket(self) -> Option<Ticket> {
        match self {
            Self::Kept { ticket, .. } | Self::Stale { ticket } | Self::Flipped { ticket, .. } => {
                Some(ticket)
            }
            Self::Lost { .. } => None,
        }
    }
}

/// Running counters since the device was made, like a drive's SMART log; a purge keeps them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    pub host_reads_bytes: u64,
    pub host_writes_bytes: u64,
    pub trims_bytes: u64,
    pub nand_reads_bytes: u64,
    pub nand_writes_bytes: u64,
    pub erases: u64,
}

impl Health {
    /// Counters since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            host_reads_bytes: self.host_reads_bytes - earlier.host_reads_bytes,
            host_writes_bytes: self.host_writes_bytes - earlier.host_writes_bytes,
            trims_bytes: self.trims_bytes - earlier.trims_bytes,
            nand_reads_bytes: self.nand_reads_bytes - earlier.nand_reads_bytes,
            nand_writes_bytes: self.nand_writes_bytes - earlier.nand_writes_bytes,
            erases: self.erases - earlier.erases,
        }
    }

    /// Flash bytes programmed per byte the host wrote; `None` when it wrote nothing.
    pub fn write_amplification(&self) -> Option<f64> {
        (self.host_writes_bytes > 0)
            .then(|| self.nand_writes_bytes as f64 / self.host_writes_bytes as f64)
    }
}

/// Whose numbers a preset reproduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Fitted to a published measurement; the text says exactly which number, and how close.
    Calibrated { to: &'static str },
    /// Of the right kind, but nobody has checked it against a real drive.
    Plausible { why: &'static str },
}

/// The name of a drive, and whose numbers it reproduces.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    pub name: &'static str,
    pub label: Label,
}

/// Who the device says it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    pub model: String,
    pub serial: String,
    pub firmware: String,
    /// Capacity of the drive that is modelled.
    pub nominal_capacity_bytes: u64,
    /// Capacity that is simulated: the nominal one divided by the scale.
    pub capacity_bytes: u64,
    pub logical_block_bytes: u32,
    pub physical_block_bytes: u32,
    pub label: Label,
    /// Every parameter as (name, value, unit); a part's names begin with its place.
    pub parameters: Vec<(Cow<'static, str>, String, &'static str)>,
}

impl Facts {
    /// Nominal capacity over simulated capacity. Times that meet volumes shrink by the same
    /// factor: a minute of the full drive is `60 / scale` seconds of the simulated one.
    pub fn scale(&self) -> f64 {
        self.nominal_capacity_bytes as f64 / self.capacity_bytes as f64
    }
}

/// A device in virtual time. Its state is a pure function of its parameters and of the calls made
/// so far; calls come in order of time (`at_ns` never falls). `Clone` branches the state.
///
/// A drive that serves in order of arrival knows each end at once: it has `serve` alone. One that
/// chooses among what waits (a disk), or that needs its members first (an array), overrides
/// `submit`, `next_ns` and `step`; its holder steps it whenever `next_ns` comes before
/// anything else happens.
pub trait Device: Clone {
    /// Takes one I/O that arrives at `at_ns` and says when and how it ends if nothing comes after
    /// it.
    fn serve(&mut self, op: Op, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> Outcome;

    /// Takes one I/O that arrives at `at_ns`. `None`: its end depends on what comes after it, and
    /// `step` will report it under `ticket`.
    #[inline]
    fn submit(
        &mut self,
        _ticket: Ticket,
        op: Op,
        offset_bytes: u64,
        length_bytes: u32,
        at_ns: u64,
    ) -> Option<Outcome> {
        Some(self.serve(op, offset_bytes, length_bytes, at_ns))
    }

    /// When the device next does something by itself; `u64::MAX` if it does not.
    #[inline]
    fn next_ns(&self) -> u64 {
        u64::MAX
    }

    /// Does what is due at `next_ns`; adds the I/Os that end by it, none before that time.
    #[inline]
    fn step(&mut self, _ended: &mut Vec<Ended>) {}

    /// Does what is due at `next_ns`, and may go on with what is due next, as long as no I/O ends,
    /// it does nothing to data, and nothing but itself comes first: the next is before `until_ns`,
    /// and at most `pause_ns` after the one before. Returns the time of the last that it did.
    #[inline]
    fn step_on(&mut self, _until_ns: u64, _pause_ns: u64, ended: &mut Vec<Ended>) -> u64 {
        let at_ns = self.next_ns();
        self.step(ended);
        at_ns
    }

    /// Whether its state is so large that it gains by `foresee`.
    fn is_far(&self) -> bool {
        false
    }

    /// Says where an I/O will soon be, that what is known of the place be fetched from memory.
    /// Changes nothing but the time that the simulator takes.
    #[inline]
    fn foresee(&self, _offset_bytes: u64, _length_bytes: u32) {}

    /// The same of several I/Os.
    fn foresee_all(&self, extents: &[Extent]) {
        for extent in extents {
            self.foresee(extent.offset_bytes, extent.length_bytes);
        }
    }

    /// Puts every logical block in the never-written state; returns when that is done.
    fn purge(&mut self, at_ns: u64) -> u64;

    /// Lets host idle time pass, which the device may use for itself.
    fn idle(&mut self, from_ns: u64, to_ns: u64);

    /// Says what the writes from now on are like: the share of them that compression at its best
    /// leaves, in 2^-16. 65,536, as it is at first, is data that cannot be compressed.
    fn content(&mut self, _left_q16: u32) {}

    /// Power fails at `at_ns` and is back at once: what is volatile and was not put below is
    /// lost. Returns the bytes that had been acknowledged and are gone.
    fn power_cut(&mut self, _at_ns: u64) -> u64 {
        0
    }

    /// What a power cut at `at_ns`, which is now, would take: (offset, length) in bytes, of the
    /// device's own address space, in no order; stretches may overlap. Empty too where the device
    /// cannot say.
    fn volatile(&self, _at_ns: u64) -> Vec<(u64, u64)> {
        Vec::new()
    }

    /// What the last `step` or `idle` did to data. Only the outermost device is asked: what lies
    /// within another holds none.
    fn damage(&self) -> &[Damage] {
        &[]
    }

    /// What the model knows and a real device would not say, as (name, count): hits, bytes
    /// moved, bytes lost. A part's names begin with its place.
    fn counts(&self) -> Vec<(Cow<'static, str>, u64)> {
        Vec::new()
    }

    fn health(&self) -> Health;

    fn facts(&self) -> Facts;

    /// Whether what is read in order is read faster, as by a disk's arm.
    fn is_rotational(&self) -> bool {
        false
    }

    fn capacity_bytes(&self) -> u64;

    fn logical_block_bytes(&self) -> u32;

    /// A number over the whole state: equal states have equal digests.
    fn digest(&self) -> u64;
}

/// Serves one I/O on a device that is asked for nothing else until it ends.
pub fn serve_alone(
    device: &mut impl Device,
    op: Op,
    offset_bytes: u64,
    length_bytes: u32,
    at_ns: u64,
) -> Outcome {
    const TICKET: Ticket = Ticket::MAX;
    let mut ended = Vec::new();
    while device.next_ns() < at_ns {
        device.step(&mut ended);
    }
    if let Some(outcome) = device.submit(TICKET, op, offset_bytes, length_bytes, at_ns) {
        return outcome;
    }
    loop {
        assert!(device.next_ns() < u64::MAX, "an I/O in flight ends");
        device.step(&mut ended);
        if let Some(end) = ended.iter().find(|end| end.ticket == TICKET) {
            return end.outcome;
        }
        ended.clear();
    }
}

/// Lets `device` do by itself what is due before or at `until_ns`, with no I/O in flight.
pub fn rest(device: &mut impl Device, until_ns: u64) {
    let mut ended = Vec::new();
    while device.next_ns() <= until_ns {
        device.step(&mut ended);
    }
    assert!(ended.is_empty(), "nothing was in flight");
}
