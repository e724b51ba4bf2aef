//! An operating system as a device: I/O on the device itself goes by the page cache and the file
//! system, as with `O_DIRECT` on the block device.

use std::borrow::Cow;

use teijo_engine::request::Op;

use super::call::Why;
use super::os::{Os, Tally};
use super::params::OS_PARAMETERS;
use crate::clip::LOGICAL_BLOCK_BYTES;
use crate::device::{serve_alone, Device, Ended, Facts, Health, Label, Outcome, Ticket};
use crate::digest::Digest;
use crate::members::{members_counts, members_facts};

impl<D: Device> Os<D> {
    /// Says whose numbers the whole reproduces.
    pub(crate) fn relabel(&mut self, label: Label) {
        self.label = label;
    }
}

impl<D: Device> Device for Os<D> {
    fn serve(&mut self, op: Op, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> Outcome {
        serve_alone(self, op, offset_bytes, length_bytes, at_ns)
    }

    fn submit(
        &mut self,
        ticket: Ticket,
        op: Op,
        offset_bytes: u64,
        length_bytes: u32,
        at_ns: u64,
    ) -> Option<Outcome> {
        self.send(Why::Host(ticket), op, offset_bytes, length_bytes, at_ns)
    }

    fn next_ns(&self) -> u64 {
        self.below.next_ns().min(self.commit_due_ns())
    }

    fn step(&mut self, ended: &mut Vec<Ended>) {
        let mut done = Vec::new();
        self.step_files(&mut done, ended);
        assert!(done.is_empty(), "no program has a call under way");
    }

    fn is_far(&self) -> bool {
        self.below.device().is_far()
    }

    #[inline]
    fn foresee(&self, offset_bytes: u64, length_bytes: u32) {
        self.below.device().foresee(offset_bytes, length_bytes);
    }

    /// A file system is made anew as well.
    fn purge(&mut self, at_ns: u64) -> u64 {
        let (mut done_ns, mut ended) = (at_ns, Vec::new());
        while self.below.in_flight() > 0 {
            done_ns = done_ns.max(self.next_ns());
            self.step(&mut ended);
        }
        self.format();
        self.below.device_mut().purge(done_ns)
    }

    fn idle(&mut self, from_ns: u64, to_ns: u64) {
        let mut ended = Vec::new();
        while self.next_ns() <= to_ns {
            self.step(&mut ended);
        }
        self.below.device_mut().part_mut().idle(from_ns, to_ns);
    }

    fn content(&mut self, left_q16: u32) {
        self.content_is(left_q16);
    }

    fn power_cut(&mut self, at_ns: u64) -> u64 {
        self.below.device_mut().power_cut(at_ns)
    }

    fn volatile(&self, at_ns: u64) -> Vec<(u64, u64)> {
        self.below.device().volatile(at_ns)
    }

    fn counts(&self) -> Vec<(Cow<'static, str>, u64)> {
        let Tally {
            calls,
            commits,
            journal_bytes,
            home_bytes,
            flushes,
        } = self.tally;
        let own = [
            ("calls", calls),
            ("commits", commits),
            ("journal_bytes", journal_bytes),
            ("home_bytes", home_bytes),
            ("flushes", flushes),
        ];
        let own = own.into_iter().map(|(name, count)| (name.into(), count));
        let cache = self.below.device().counts().into_iter();
        own.chain(cache.filter(|(name, _)| !name.contains('.')))
            .chain(members_counts(std::slice::from_ref(self.part())))
            .collect()
    }

    fn health(&self) -> Health {
        self.part().health()
    }

    fn facts(&self) -> Facts {
        let below = self.part().facts();
        let part = members_facts(std::slice::from_ref(self.part()));
        let own = OS_PARAMETERS.iter();
        let own = own.map(|one| (one.name.into(), one.value(&self.params), one.unit));
        let model = format!("OS({})", part.title);
        let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let serial: String = model.replace('×', "x").chars().map(word).collect();
        Facts {
            serial: format!("SIM-{}-{}", serial.trim_matches('-'), self.params.seed),
            model: format!("Simulated {model}"),
            firmware: format!("sim-{}", env!("CARGO_PKG_VERSION")),
            nominal_capacity_bytes: below.nominal_capacity_bytes,
            capacity_bytes: below.capacity_bytes,
            logical_block_bytes: LOGICAL_BLOCK_BYTES,
            physical_block_bytes: part.physical_block_bytes,
            label: self.label,
            parameters: own.chain(part.parameters).collect(),
        }
    }

    fn is_rotational(&self) -> bool {
        self.part().is_rotational()
    }

    fn capacity_bytes(&self) -> u64 {
        self.part().capacity_bytes()
    }

    fn logical_block_bytes(&self) -> u32 {
        LOGICAL_BLOCK_BYTES
    }

    fn digest(&self) -> u64 {
        let mut digest = Digest::new();
        let journal = &self.journal;
        digest.mix([
            self.below.device().digest(),
            journal.number,
            journal.committed,
            journal.head_bytes,
            journal.used_bytes,
            journal.due_ns,
            self.free_bytes(),
            self.tally.calls,
        ]);
        digest.mix(journal.running.iter().chain(&journal.away).copied());
        digest.value()
    }
}
