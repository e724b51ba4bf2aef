//! A hard disk in virtual time: commands wait, and whenever the arm is free the one that it
//! reaches first is served. So an end is known only when the disk gets there.

use std::collections::VecDeque;

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use teijo_engine::request::Op;

use super::mechanics::Mechanics;
use super::params::{DiskParams, DISK_PARAMETERS};
use crate::clip::{clip, LOGICAL_BLOCK_BYTES, UNSUPPORTED};
use crate::device::{rest, serve_alone, Device, Ended, Facts, Health, Identity, Outcome, Ticket};
use crate::digest::Digest;

/// Who is told the end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    Host(Ticket),
    /// A write from the cache that was acknowledged long ago; its number, in order of arrival.
    Cache(u64),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    pub(super) asker: Asker,
    pub(super) op: Op,
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u64,
    pub(super) arrived_ns: u64,
}

/// Where the head is, and since when: it goes on over what follows without a pause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) at_bytes: u64,
    pub(super) since_ns: u64,
    /// What it did last; `None` before anything.
    pub(super) op: Option<Op>,
    /// Of a head that reads: from here on what it read is in the buffer.
    pub(super) kept_from_bytes: u64,
}

/// A simulated disk. See `docs/reference/simulated-disks.md` for what is modelled and what is not.
#[derive(Clone, Debug)]
pub struct Disk {
    pub(super) identity: Identity,
    pub(super) params: DiskParams,
    pub(super) mechanics: Mechanics,
    pub(super) capacity_bytes: u64,
    pub(super) head: Head,
    /// What the arm is at, and when that ends.
    pub(super) serving: Option<(Command, u64)>,
    /// When the next command is chosen; `u64::MAX` when nothing waits.
    pub(super) choice_ns: u64,
    pub(super) queue: VecDeque<Command>,
    /// Acknowledged writes that are not on the platter, oldest first.
    pub(super) cached: VecDeque<Command>,
    pub(super) cached_bytes: u64,
    pub(super) cached_number: u64,
    /// Writes that wait for room in the cache.
    pub(super) blocked: VecDeque<Command>,
    /// Flushes, each with the number of cached writes it waits for.
    pub(super) flushes: VecDeque<(Ticket, u64)>,
    pub(super) link_free_ns: u64,
    /// Stretches (from, to) that were read before the head went elsewhere, latest first.
    pub(super) segments: VecDeque<(u64, u64)>,
    /// When the host last had a read in the queue.
    pub(super) read_ns: u64,
    /// When the arm has settled after its last write: nothing is chosen before.
    settled_ns: u64,
    /// Power failed, and what waited for the cache has not been told yet.
    was_cut: bool,
    /// The write cache is emptied beside reads, until enough of it is.
    pub(super) is_draining: bool,
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
}

impl Disk {
    /// A disk at rest; `Err` says why there is no such disk.
    pub fn new(identity: Identity, params: DiskParams) -> Result<Self, String> {
        let capacity_bytes = params.simulated_capacity_bytes();
        if capacity_bytes == 0 || !capacity_bytes.is_multiple_of(u64::from(LOGICAL_BLOCK_BYTES)) {
            return Err(format!(
                "capacity {capacity_bytes} B is no multiple of {LOGICAL_BLOCK_BYTES} B"
            ));
        }
        let phase_ns = Xoshiro256PlusPlus::seed_from_u64(params.seed).next_u64() >> 32;
        let mechanics = Mechanics::new(&params, capacity_bytes, phase_ns);
        Ok(Self {
            identity,
            mechanics,
            capacity_bytes,
            head: Head {
                at_bytes: 0,
                since_ns: 0,
                op: None,
                kept_from_bytes: 0,
            },
            serving: None,
            choice_ns: u64::MAX,
            queue: VecDeque::new(),
            cached: VecDeque::new(),
            cached_bytes: 0,
            cached_number: 0,
            blocked: VecDeque::new(),
            flushes: VecDeque::new(),
            link_free_ns: 0,
            segments: VecDeque::new(),
            read_ns: 0,
            settled_ns: 0,
            was_cut: false,
            is_draining: false,
            read_bytes: 0,
            written_bytes: 0,
            params,
        })
    }

    pub fn params(&self) -> &DiskParams {
        &self.params
    }

    pub fn mechanics(&self) -> &Mechanics {
        &self.mechanics
    }

    pub(super) fn link_ns(&self, length_bytes: u64) -> u64 {
        (length_bytes as f64 * 1e3 / self.params.link_mb_per_second).round() as u64
    }

    /// Makes sure that something is chosen from what waits.
    pub(super) fn rouse(&mut self, at_ns: u64) {
        if self.serving.is_none() {
            let ready_ns = (at_ns + self.params.command_ns).max(self.settled_ns);
            self.choice_ns = self.choice_ns.min(ready_ns);
        }
    }

    /// Chooses what is reached first, less a share of the time it has waited, and sets out for it.
    fn choose(&mut self, at_ns: u64) {
        let (destaged, later_ns) = match self.may_destage(at_ns) {
            Ok(()) => (self.params.destage as usize, u64::MAX),
            Err(later_ns) => (0, later_ns),
        };
        let age = self.params.age_percent / 100.0;
        let cost = |command: &Command| {
            let waited_ns = (at_ns - command.arrived_ns) as f64 * age;
            self.distance_ns(command, at_ns).cast_signed() - waited_ns as i64
        };
        let of_host = self.queue.iter().take(self.params.queue as usize);
        let of_host = of_host.enumerate().map(|at| (cost(at.1), false, at.0));
        let of_cache = self.cached.iter().take(destaged).enumerate();
        let of_cache = of_cache.map(|at| (cost(at.1), true, at.0));
        let Some((_, is_cached, index)) = of_host.chain(of_cache).min() else {
            if !self.cached.is_empty() {
                self.choice_ns = later_ns;
            }
            return;
        };
        let index = self.first_of_run(if is_cached { &self.cached } else { &self.queue }, index);
        let from = if is_cached {
            &mut self.cached
        } else {
            &mut self.queue
        };
        let command = from.remove(index).expect("it was among them");
        if !is_cached {
            self.read_ns = at_ns;
        }
        self.set_out(command, at_ns);
    }

    /// Takes into the cache what has room by now, and ends the flushes that wait for nothing more.
    fn let_in(&mut self, at_ns: u64, ended: &mut Vec<Ended>) {
        while let Some(&next) = self.blocked.front() {
            if !self.has_room(next.length_bytes) {
                break;
            }
            self.blocked.pop_front();
            if let Asker::Host(ticket) = next.asker {
                let acknowledged_ns = self.admit(next, at_ns);
                ended.push(done(ticket, acknowledged_ns, next.length_bytes));
            }
        }
        let oldest = self.oldest_cached();
        while let Some(&(ticket, number)) = self.flushes.front() {
            if oldest <= number {
                break;
            }
            self.flushes.pop_front();
            ended.push(done(ticket, at_ns, 0));
        }
    }

    /// Time of `command` under the head.
    pub(super) fn media_ns(&self, command: &Command) -> u64 {
        let ns = self
            .mechanics
            .transfer_ns(command.offset_bytes, command.length_bytes);
        match command.op {
            Op::Write => (ns as f64 * 100.0 / self.params.write_rate_percent).round() as u64,
            Op::Read | Op::Flush | Op::Discard => ns,
        }
    }

    fn end(&mut self, command: Command, at_ns: u64, ended: &mut Vec<Ended>) {
        if command.op == Op::Write {
            self.settled_ns = at_ns + self.params.write_settle_ns;
        }
        match command.asker {
            Asker::Host(ticket) => ended.push(done(ticket, at_ns, command.length_bytes)),
            Asker::Cache(_) => self.cached_bytes -= command.length_bytes,
        }
        self.let_in(at_ns, ended);
        if !self.queue.is_empty() || !self.cached.is_empty() {
            self.rouse(at_ns);
        }
    }

    fn flush(&mut self, ticket: Ticket, at_ns: u64) -> Option<Outcome> {
        if self.oldest_cached() == u64::MAX {
            return Some(Outcome {
                done_ns: at_ns,
                result: 0,
            });
        }
        self.flushes.push_back((ticket, self.cached_number));
        None
    }
}

fn done(ticket: Ticket, done_ns: u64, bytes: u64) -> Ended {
    Ended {
        ticket,
        outcome: Outcome {
            done_ns,
            result: bytes as i32,
        },
    }
}

impl Device for Disk {
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
        let refused = |result| {
            Some(Outcome {
                done_ns: at_ns,
                result,
            })
        };
        match op {
            Op::Flush => return self.flush(ticket, at_ns),
            Op::Discard => return refused(UNSUPPORTED),
            Op::Read | Op::Write => {}
        }
        let length_bytes = match clip(op, offset_bytes, length_bytes, self.capacity_bytes) {
            Ok(length_bytes) => length_bytes,
            Err(result) => return refused(result),
        };
        let command = Command {
            asker: Asker::Host(ticket),
            op,
            offset_bytes,
            length_bytes: u64::from(length_bytes),
            arrived_ns: at_ns,
        };
        match op {
            Op::Write => self.written_bytes += command.length_bytes,
            Op::Read | Op::Flush | Op::Discard => self.read_bytes += command.length_bytes,
        }
        if op == Op::Write && self.params.write_cache_bytes > 0 {
            if self.blocked.is_empty() && self.has_room(command.length_bytes) {
                let done_ns = self.admit(command, at_ns);
                let result = length_bytes.cast_signed();
                return Some(Outcome { done_ns, result });
            }
            self.blocked.push_back(command);
        } else {
            self.queue.push_back(command);
        }
        self.rouse(at_ns);
        None
    }

    fn next_ns(&self) -> u64 {
        self.serving.map_or(self.choice_ns, |(_, end_ns)| end_ns)
    }

    fn step(&mut self, ended: &mut Vec<Ended>) {
        if let Some((command, end_ns)) = self.serving.take() {
            self.end(command, end_ns, ended);
        } else {
            let at_ns = std::mem::replace(&mut self.choice_ns, u64::MAX);
            if std::mem::take(&mut self.was_cut) {
                self.let_in(at_ns, ended);
            }
            self.choose(at_ns);
        }
    }

    /// Forgets the write cache: a disk has no state of its blocks.
    fn purge(&mut self, at_ns: u64) -> u64 {
        rest(self, at_ns);
        (self.cached_bytes, self.serving, self.choice_ns) = (0, None, u64::MAX);
        (self.is_draining, self.head.op) = (false, None);
        self.segments.clear();
        self.cached.clear();
        at_ns
    }

    fn idle(&mut self, _from_ns: u64, to_ns: u64) {
        rest(self, to_ns);
    }

    /// Empties the write cache; what the host still waits for goes on.
    fn power_cut(&mut self, at_ns: u64) -> u64 {
        let lost = self.volatile(at_ns);
        self.cached.clear();
        self.cached_bytes = 0;
        let from_cache = |(command, _): &(Command, u64)| matches!(command.asker, Asker::Cache(_));
        if self.serving.as_ref().is_some_and(from_cache) {
            self.serving = None;
        }
        (self.was_cut, self.is_draining) = (true, false);
        self.segments.clear();
        self.rouse(at_ns);
        lost.iter().map(|(_, length_bytes)| length_bytes).sum()
    }

    fn volatile(&self, _at_ns: u64) -> Vec<(u64, u64)> {
        let serving = self.serving.iter().map(|(command, _)| command);
        let held = self.cached.iter().chain(serving);
        let held = held.filter(|command| matches!(command.asker, Asker::Cache(_)));
        held.map(|command| (command.offset_bytes, command.length_bytes))
            .collect()
    }

    fn health(&self) -> Health {
        Health {
            host_reads_bytes: self.read_bytes,
            host_writes_bytes: self.written_bytes,
            ..Health::default()
        }
    }

    fn facts(&self) -> Facts {
        let name = self.identity.name.to_uppercase();
        let value = |parameter: &crate::parameters::Parameter<DiskParams>| {
            (
                parameter.name.into(),
                parameter.value(&self.params),
                parameter.unit,
            )
        };
        Facts {
            model: format!("Simulated {name}"),
            serial: format!("SIM-{name}-{}", self.params.seed),
            firmware: format!("sim-{}", env!("CARGO_PKG_VERSION")),
            nominal_capacity_bytes: self.params.modelled_capacity_bytes(),
            capacity_bytes: self.capacity_bytes,
            logical_block_bytes: LOGICAL_BLOCK_BYTES,
            physical_block_bytes: self.params.sector_bytes,
            label: self.identity.label,
            parameters: DISK_PARAMETERS.iter().map(value).collect(),
        }
    }

    fn is_rotational(&self) -> bool {
        true
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn logical_block_bytes(&self) -> u32 {
        LOGICAL_BLOCK_BYTES
    }

    fn digest(&self) -> u64 {
        let mut digest = Digest::new();
        let of = |command: &Command| {
            let asker = match command.asker {
                Asker::Host(ticket) => ticket,
                Asker::Cache(number) => !number,
            };
            let Command {
                op,
                offset_bytes,
                length_bytes,
                arrived_ns,
                ..
            } = *command;
            [asker, op as u64, offset_bytes, length_bytes, arrived_ns]
        };
        digest.mix([self.head.at_bytes, self.head.since_ns]);
        digest.mix([
            self.head.kept_from_bytes,
            self.read_ns,
            self.settled_ns,
            u64::from(self.is_draining) | u64::from(self.was_cut) << 1,
        ]);
        digest.mix(self.segments.iter().flat_map(|&(from, to)| [from, to]));
        digest.mix([
            self.head.op.map_or(u64::MAX, |op| op as u64),
            self.choice_ns,
        ]);
        for queue in [&self.queue, &self.cached, &self.blocked] {
            digest.mix([queue.len() as u64]);
            digest.mix(queue.iter().flat_map(of));
        }
        if let Some((command, end_ns)) = &self.serving {
            digest.mix(of(command).into_iter().chain([*end_ns]));
        }
        digest.mix(
            self.flushes
                .iter()
                .flat_map(|&(ticket, number)| [ticket, number]),
        );
        digest.mix([self.cached_bytes, self.cached_number, self.link_free_ns]);
        digest.mix([self.read_bytes, self.written_bytes]);
        digest.value()
    }
}
