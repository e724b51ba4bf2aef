//! How a transaction becomes durable: its blocks go to the journal, then the record that they are
//! there, with a flush of the device before and behind it, as jbd2 does; their homes are written
//! once the journal is half full.

use teijo_engine::request::Op;

use super::call::{settle, Done, Why};
use super::journal::{Stage, BLOCK_BYTES};
use super::os::Os;

use crate::device::{Device, Outcome};

const PIECE_BYTES: u64 = 1 << 20;
const IO_ERROR: i32 = -5;

impl<D: Device> Os<D> {
    /// Whether nothing is left to commit of a transaction: it is the open one, and empty.
    pub(super) fn is_committed(&self, number: u64) -> bool {
        number == self.journal.number && self.journal.running.is_empty()
    }

    /// A call waits for a transaction.
    pub(super) fn join(&mut self, worker: u32, number: u64, at_ns: u64) {
        if self.journal.stage == Stage::Idle {
            self.journal.asked.push(worker);
            self.start_commit(at_ns);
        } else if number < self.journal.number {
            self.journal.asked.push(worker);
        } else {
            self.journal.next.push(worker);
        }
    }

    /// When the open transaction is committed by itself.
    pub(super) fn commit_due_ns(&self) -> u64 {
        match self.journal.stage {
            Stage::Idle => self.journal.due_ns,
            Stage::Blocks | Stage::Barrier | Stage::Record | Stage::LastBarrier => u64::MAX,
        }
    }

    pub(super) fn start_commit(&mut self, at_ns: u64) {
        let blocks = std::mem::take(&mut self.journal.running);
        self.journal.number += 1;
        self.journal.due_ns = u64::MAX;
        self.tally.commits += 1;
        let bytes = (1 + blocks.len() as u64) * BLOCK_BYTES;
        self.journal.used_bytes += bytes + BLOCK_BYTES;
        if self.journal.used_bytes > self.layout.journal_bytes / 2 {
            self.write_homes(at_ns);
            self.journal.used_bytes = bytes + BLOCK_BYTES;
        }
        self.journal.away.extend(blocks);
        self.journal.stage = Stage::Blocks;
        self.append(bytes, at_ns);
    }

    /// Writes the next bytes of the journal, which begins anew behind its end.
    fn append(&mut self, mut bytes: u64, at_ns: u64) {
        self.tally.journal_bytes += bytes;
        while bytes > 0 {
            let room = self.layout.journal_bytes - self.journal.head_bytes;
            let piece = bytes.min(PIECE_BYTES).min(room);
            let place = self.layout.journal_at + self.journal.head_bytes;
            self.journal.head_bytes = (self.journal.head_bytes + piece) % self.layout.journal_bytes;
            self.journal_sends(Op::Write, place, piece as u32, at_ns);
            bytes -= piece;
        }
    }

    fn journal_sends(&mut self, op: Op, place: u64, length_bytes: u32, at_ns: u64) {
        // What goes around the cache ends by a step, but for what the device refuses.
        match self.send(Why::Journal, op, place, length_bytes, at_ns) {
            Some(_) => self.journal.failed = true,
            None => self.journal.waits += 1,
        }
    }

    /// Writes committed blocks to their homes, neighbours as one.
    fn write_homes(&mut self, at_ns: u64) {
        let blocks: Vec<u64> = std::mem::take(&mut self.journal.away).into_iter().collect();
        for run in blocks.chunk_by(|one, next| one + BLOCK_BYTES == *next) {
            for piece in run.chunks((PIECE_BYTES / BLOCK_BYTES) as usize) {
                let bytes = piece.len() as u64 * BLOCK_BYTES;
                self.tally.home_bytes += bytes;
                // A home keeps its place in the cache: what was read there is what is written.
                let _ = self.send(Why::Home, Op::Write, piece[0], bytes as u32, at_ns);
                self.below.device_mut().know((piece[0], piece[0] + bytes));
            }
        }
    }

    /// An I/O of the journal has ended.
    pub(super) fn journal_went(&mut self, outcome: Outcome, done: &mut Vec<Done>) {
        self.journal.waits -= 1;
        self.journal.failed |= outcome.result < 0;
        if self.journal.waits == 0 {
            self.next_stage(outcome.done_ns, done);
        }
    }

    fn next_stage(&mut self, at_ns: u64, done: &mut Vec<Done>) {
        let barriers = self.params.barriers;
        let next = match self.journal.stage {
            Stage::Blocks if barriers => Stage::Barrier,
            Stage::Blocks | Stage::Barrier => Stage::Record,
            Stage::Record if barriers => Stage::LastBarrier,
            Stage::Idle | Stage::LastBarrier | Stage::Record => Stage::Idle,
        };
        self.journal.stage = next;
        match next {
            Stage::Idle => self.committed(at_ns, done),
            Stage::Barrier | Stage::LastBarrier => self.journal_sends(Op::Flush, 0, 0, at_ns),
            Stage::Record => self.append(BLOCK_BYTES, at_ns),
            Stage::Blocks => {}
        }
    }

    /// A transaction is durable, and those who waited for it go on.
    fn committed(&mut self, at_ns: u64, done: &mut Vec<Done>) {
        self.journal.committed = self.journal.number;
        let result = if std::mem::take(&mut self.journal.failed) {
            IO_ERROR
        } else {
            0
        };
        let asked = std::mem::take(&mut self.journal.asked);
        self.journal.asked = std::mem::take(&mut self.journal.next);
        if !self.journal.asked.is_empty() {
            self.start_commit(at_ns);
        }
        for worker in asked {
            if let Some(job) = self.jobs[worker as usize].as_mut() {
                job.waits -= 1;
                let outcome = Outcome {
                    done_ns: at_ns,
                    result,
                };
                settle(Some(outcome), job);
                done.extend(self.go_on(worker, at_ns));
            }
        }
    }
}
