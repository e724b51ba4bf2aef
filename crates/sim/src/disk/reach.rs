//! How the arm gets to the data of a command: by going there, by reading on, or not at all, because
//! the data is in a buffer.

use std::collections::VecDeque;

use teijo_engine::request::Op;

use super::disk::{Asker, Command, Disk, Head};

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

impl Disk {
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
    pub(super) fn distance_ns(&self, command: &Command, at_ns: u64) -> u64 {
        match self.reach(command, at_ns) {
            Reach::Buffered => 0,
            Reach::ReadingOn { start_ns, .. } | Reach::Media { start_ns } => {
                start_ns.saturating_sub(at_ns)
            }
        }
    }

    /// The host has read up to `to_bytes` of a stretch whose end the head passed at `passed_ns`.
    pub(super) fn read_on_to(&mut self, to_bytes: u64, passed_ns: u64) {
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

    /// Keeps what was read where the head is, before it goes to `command`; what that overwrites
    /// is kept no longer.
    pub(super) fn leave(&mut self, command: &Command, at_ns: u64) {
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

    /// The place of the first of a run of commands that the one at `index` belongs to: the head
    /// passes the others on its way, and leaves none behind that would cost a turn of its own. A
    /// run of writes has no gap, one of reads has gaps of less than a turn, as where a member's
    /// parity lies.
    pub(super) fn first_of_run(&self, commands: &VecDeque<Command>, index: usize) -> usize {
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

    /// Sends the arm to the data of `command`, or finds it in a buffer, and says when that ends.
    pub(super) fn set_out(&mut self, command: Command, at_ns: u64) {
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
                    since_ns: start_ns + self.media_ns(&command) + self.rewriting_ns(&command),
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
}
