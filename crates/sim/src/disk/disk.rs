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

/// Neighbouring writes in the cache are written as one, up to this.
const EXTENT_BYTES: u64 = 1 << 20;

/// Who is told the end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asker {
    Host(Ticket),
    /// A write from the cache that was acknowledged long ago; its number, in order of arrival.
    Cache(u64),
}

#[derive(Clone, Copy, Debug)]
struct Command {
    asker: Asker,
    op: Op,
    offset_bytes: u64,
    length_bytes: u64,
    arrived_ns: u64,
}

/// Where the head is, and since when: it goes on over what follows without a pause.
#[derive(Clone, Copy, Debug)]
struct Head {
    at_bytes: u64,
    since_ns: u64,
    /// What it did last; `None` before anything.
    op: Option<Op>,
    /// Of a head that reads: from here on what it read is in the buffer.
    kept_from_bytes: u64,
}

/// How the data of a command is reached.
#[derive(Clone, Copy, Debug)]
enum Reach {
    /// It is in a segment of the buffer, or in the write cache; the arm is not moved.
    Buffered,
    /// The head reads on, and passes `passed_ns` what it last read for the host; what it read since
    /// is in the buffer.
    ReadingOn { passed_ns: u64, start_ns: u64 },
    /// The head is there at `start_ns`.
    Media { start_ns: u64 },
}

/// A simulated disk. See `docs/reference/simulated-disks.md` for what is modelled and what is not.
#[derive(Clone, Debug)]
pub struct Disk {
    identity: Identity,
    params: DiskParams,
    mechanics: Mechanics,
    capacity_bytes: u64,
    head: Head,
    /// What the arm is at, and when that ends.
    serving: Option<(Command, u64)>,
    /// When the next command is chosen; `u64::MAX` when nothing waits.
    choice_ns: u64,
    queue: VecDeque<Command>,
    /// Acknowledged writes that are not on the platter, oldest first.
    cached: VecDeque<Command>,
    cached_bytes: u64,
    cached_number: u64,
    /// Writes that wait for room in the cache.
    blocked: VecDeque<Command>,
    /// Flushes, each with the number of cached writes it waits for.
    flushes: VecDeque<(Ticket, u64)>,
    link_free_ns: u64,
    /// Stretches (from, to) that were read before the head went elsewhere, latest first.
    segments: VecDeque<(u64, u64)>,
    /// When the host last had a read in the queue.
    read_ns: u64,
    /// The write cache is emptied beside reads, until enough of it is.
    is_draining: bool,
    read_bytes: u64,
    written_bytes: u64,
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

    fn link_ns(&self, length_bytes: u64) -> u64 {
        (length_bytes as f64 * 1e3 / self.params.link_mb_per_second).round() as u64
    }

    /// Makes sure that something is chosen from what waits.
    fn rouse(&mut self, at_ns: u64) {
        if self.serving.is_none() {
            self.choice_ns = self.choice_ns.min(at_ns + self.params.command_ns);
        }
    }

    /// Puts a write in the cache; returns when it is acknowledged.
    fn admit(&mut self, command: Command, at_ns: u64) -> u64 {
        self.link_free_ns = at_ns.max(self.link_free_ns) + self.link_ns(command.length_bytes);
        if !self.gather(&command) {
            self.cached_bytes += command.length_bytes;
            self.cached_number += 1;
            let asker = Asker::Cache(self.cached_number);
            self.cached.push_back(Command { asker, ..command });
        }
        self.rouse(at_ns);
        self.link_free_ns
    }

    /// Takes a write into one of the latest in the cache, if it lies in it or goes on from either
    /// end: what is rewritten or written in pieces is one write on the platter.
    fn gather(&mut self, command: &Command) -> bool {
        let (from, to) = (
            command.offset_bytes,
            command.offset_bytes + command.length_bytes,
        );
        let takes = |held: &&mut Command| {
            let end = held.offset_bytes + held.length_bytes;
            let both_bytes = end.max(to) - held.offset_bytes.min(from);
            let holds_it = held.offset_bytes <= from && to <= end;
            let touches = end == from || to == held.offset_bytes;
            holds_it || (touches && both_bytes <= EXTENT_BYTES)
        };
        let latest = self.cached.iter_mut().rev();
        let held = latest.take(self.params.destage as usize).find(takes);
        let Some(held) = held else { return false };
        let end = to.max(held.offset_bytes + held.length_bytes);
        held.offset_bytes = held.offset_bytes.min(from);
        self.cached_bytes += end - held.offset_bytes - held.length_bytes;
        held.length_bytes = end - held.offset_bytes;
        true
    }

    /// Whether a write of `length_bytes` goes into the cache now. One larger than the cache does
    /// when the cache is empty.
    fn has_room(&self, length_bytes: u64) -> bool {
        self.cached_bytes == 0 || self.cached_bytes + length_bytes <= self.params.write_cache_bytes
    }

    /// The number of the oldest write that is not on the platter.
    fn oldest_cached(&self) -> u64 {
        let number = |command: &Command| match command.asker {
            Asker::Cache(number) => Some(number),
            Asker::Host(_) => None,
        };
        let serving = self.serving.iter().map(|(command, _)| command);
        let numbers = self.cached.iter().chain(serving).filter_map(number);
        numbers.min().unwrap_or(u64::MAX)
    }

    /// How the data of `command`, chosen at `at_ns`, is reached. Behind what it did last the head
    /// goes on without a pause: a read finds what was read ahead, and what lies in a gap before
    /// it; a write goes on if it was waiting already when the head got there.
    fn reach(&self, command: &Command, at_ns: u64) -> Reach {
        if command.op == Op::Read && self.is_cached(command) {
            return Reach::Buffered;
        }
        if command.op == Op::Read && self.params.read_ahead_bytes > 0 {
            let to_bytes = command.offset_bytes + command.length_bytes;
            let holds = |&(from, to): &(u64, u64)| from <= command.offset_bytes && to_bytes <= to;
            if self.segments.iter().any(holds) {
                return Reach::Buffered;
            }
            if let Some(reading_on) = self.reading_on(command, at_ns) {
                return reading_on;
            }
        }
        let follows =
            command.offset_bytes == self.head.at_bytes && self.head.op == Some(command.op);
        let start_ns = if follows {
            // One that came too late for the head waits for the next turn.
            let turn_ns = self.mechanics.revolution_ns();
            match at_ns.checked_sub(self.head.since_ns) {
                Some(_) if command.arrived_ns < self.head.since_ns => self.head.since_ns,
                Some(late_ns) => self.head.since_ns + (late_ns / turn_ns + 1) * turn_ns,
                None => self.head.since_ns,
            }
        } else {
            let (from, to) = (self.head.at_bytes, command.offset_bytes);
            at_ns + self.mechanics.positioning_ns(from, to, at_ns)
        };
        Reach::Media { start_ns }
    }

    /// Whether a read lies in one of the latest writes that are not on the platter.
    fn is_cached(&self, command: &Command) -> bool {
        let (from, to) = (
            command.offset_bytes,
            command.offset_bytes + command.length_bytes,
        );
        let mut latest = self.cached.iter().rev().take(self.params.destage as usize);
        latest.any(|held| held.offset_bytes <= from && to <= held.offset_bytes + held.length_bytes)
    }

    /// When the head passed `at_bytes`, if it reads on since: it stops where the buffer is full,
    /// and goes on as that empties.
    fn passed_ns(&self, at_ns: u64) -> Option<u64> {
        if self.head.op != Some(Op::Read) || self.params.read_ahead_bytes == 0 {
            return None;
        }
        let (from, ahead) = (self.head.at_bytes, self.ahead_bytes());
        let ahead_ns = self.mechanics.transfer_ns(from, ahead);
        Some(self.head.since_ns.max(at_ns.saturating_sub(ahead_ns)))
    }

    /// How far the head may read on behind what the host has asked for.
    fn ahead_bytes(&self) -> u64 {
        let left_bytes = self.capacity_bytes - self.head.at_bytes;
        self.params.read_ahead_bytes.min(left_bytes)
    }

    /// How a read is reached by reading on, if that is no slower than going there.
    fn reading_on(&self, command: &Command, at_ns: u64) -> Option<Reach> {
        let passed_ns = self.passed_ns(at_ns)?;
        let (at, to) = (self.head.at_bytes, command.offset_bytes);
        if to < self.head.kept_from_bytes || to > at + self.ahead_bytes() {
            return None;
        }
        let start_ns = if to < at {
            passed_ns.saturating_sub(self.mechanics.transfer_ns(to, at - to))
        } else {
            passed_ns + self.mechanics.transfer_ns(at, to - at)
        };
        let is_slower = || start_ns > at_ns + self.mechanics.positioning_ns(at, to, at_ns);
        if start_ns > at_ns && is_slower() {
            return None;
        }
        Some(Reach::ReadingOn {
            passed_ns,
            start_ns,
        })
    }

    /// How long the arm is away from the data of `command`, chosen at `at_ns`.
    fn distance_ns(&self, command: &Command, at_ns: u64) -> u64 {
        match self.reach(command, at_ns) {
            Reach::Buffered => 0,
            Reach::ReadingOn { start_ns, .. } | Reach::Media { start_ns } => {
                start_ns.saturating_sub(at_ns)
            }
        }
    }

    /// Whether cached writes are put on the platter now: beside reads if somebody waits for the
    /// cache or much of it is full, else when no read has come for a while. `Err` is when to look
    /// again.
    fn may_destage(&mut self, at_ns: u64) -> Result<(), u64> {
        let full_bytes = self.params.write_cache_bytes as f64 * self.params.destage_percent / 100.0;
        if self.cached_bytes as f64 > full_bytes {
            self.is_draining = true;
        } else if self.cached_bytes as f64 <= full_bytes / 2.0 {
            self.is_draining = false;
        }
        if self.is_draining || !self.blocked.is_empty() || !self.flushes.is_empty() {
            return Ok(());
        }
        let quiet_ns = self.read_ns + self.params.destage_wait_ns;
        if !self.queue.is_empty() {
            return Err(u64::MAX);
        }
        if at_ns < quiet_ns {
            return Err(quiet_ns);
        }
        Ok(())
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

    /// The place of the first of a run of commands that the one at `index` belongs to: the head
    /// passes the others on its way, and leaves none behind that would cost a turn of its own. A
    /// run of writes has no gap, one of reads has gaps of less than a turn, as where a member's
    /// parity lies.
    fn first_of_run(&self, commands: &VecDeque<Command>, index: usize) -> usize {
        let (window, gap_ns) = match commands[index].op {
            Op::Read => (self.params.queue, self.mechanics.revolution_ns()),
            Op::Write | Op::Flush | Op::Discard => (self.params.destage, 0),
        };
        let mut first = index;
        loop {
            let next = &commands[first];
            let gap_bytes = self.mechanics.passed_bytes(next.offset_bytes, gap_ns);
            let comes_before = |command: &Command| {
                let end_bytes = command.offset_bytes + command.length_bytes;
                command.op == next.op
                    && command.offset_bytes < next.offset_bytes
                    && next.offset_bytes <= end_bytes + gap_bytes
            };
            let before = commands.iter().take(window as usize).enumerate();
            let before = before.filter(|(_, command)| comes_before(command));
            // The nearest one, so that no link of the run is passed over.
            match before.max_by_key(|(_, command)| command.offset_bytes) {
                Some((place, _)) => first = place,
                None => return first,
            }
        }
    }

    fn set_out(&mut self, command: Command, at_ns: u64) {
        let to_bytes = command.offset_bytes + command.length_bytes;
        let media_ns = match self.reach(&command, at_ns) {
            Reach::Buffered => at_ns,
            Reach::ReadingOn {
                passed_ns,
                start_ns,
            } => {
                self.read_on_to(to_bytes, passed_ns);
                let length = command.length_bytes;
                start_ns + self.mechanics.transfer_ns(command.offset_bytes, length)
            }
            Reach::Media { start_ns } => {
                self.leave(&command, at_ns);
                self.head = Head {
                    at_bytes: to_bytes,
                    since_ns: start_ns + self.media_ns(&command),
                    op: Some(command.op),
                    kept_from_bytes: command.offset_bytes,
                };
                self.head.since_ns
            }
        };
        // What is in the buffer, and what the host sends, takes the link's time at least.
        let linked_ns = match command.asker {
            Asker::Host(_) => at_ns + self.link_ns(command.length_bytes),
            Asker::Cache(_) => at_ns,
        };
        self.serving = Some((command, media_ns.max(linked_ns)));
    }

    /// The host has read up to `to_bytes` of a stretch whose end the head passed at `passed_ns`.
    fn read_on_to(&mut self, to_bytes: u64, passed_ns: u64) {
        let more_bytes = to_bytes.saturating_sub(self.head.at_bytes);
        let more_ns = self.mechanics.transfer_ns(self.head.at_bytes, more_bytes);
        self.head.at_bytes += more_bytes;
        self.head.since_ns = passed_ns + more_ns;
        let kept_bytes = self
            .head
            .at_bytes
            .saturating_sub(self.params.read_ahead_bytes);
        self.head.kept_from_bytes = self.head.kept_from_bytes.max(kept_bytes);
    }

    /// Time of `command` under the head.
    fn media_ns(&self, command: &Command) -> u64 {
        let ns = self
            .mechanics
            .transfer_ns(command.offset_bytes, command.length_bytes);
        match command.op {
            Op::Write => (ns as f64 * 100.0 / self.params.write_rate_percent).round() as u64,
            Op::Read | Op::Flush | Op::Discard => ns,
        }
    }

    /// Keeps what was read where the head is, before it goes to `command`; what that overwrites
    /// is kept no longer.
    fn leave(&mut self, command: &Command, at_ns: u64) {
        if let Some(passed_ns) = self.passed_ns(at_ns) {
            let ahead_ns = at_ns.saturating_sub(passed_ns);
            let ahead_bytes = self.mechanics.passed_bytes(self.head.at_bytes, ahead_ns);
            let end_bytes = self.head.at_bytes + ahead_bytes.min(self.ahead_bytes());
            let segment = (self.head.kept_from_bytes, end_bytes);
            self.segments.push_front(segment);
            // One more is filled by the head.
            self.segments
                .truncate(self.params.read_ahead_segments as usize - 1);
        }
        if command.op == Op::Write {
            let (from, to) = (
                command.offset_bytes,
                command.offset_bytes + command.length_bytes,
            );
            self.segments
                .retain(|&(start, end)| end <= from || to <= start);
        }
    }

    fn end(&mut self, command: Command, at_ns: u64, ended: &mut Vec<Ended>) {
        let done = |ticket, done_ns, result: u64| Ended {
            ticket,
            outcome: Outcome {
                done_ns,
                result: result as i32,
            },
        };
        match command.asker {
            Asker::Host(ticket) => ended.push(done(ticket, at_ns, command.length_bytes)),
            Asker::Cache(_) => {
                self.cached_bytes -= command.length_bytes;
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
            physical_block_bytes: LOGICAL_BLOCK_BYTES,
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
            u64::from(self.is_draining),
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
