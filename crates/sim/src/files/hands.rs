//! Work on files as a plan has it, in virtual time: each worker of a step as a program, in the
//! engine's order of turns and with the engine's books.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use teijo_engine::files::books::{Books, Ledger};
use teijo_engine::files::crew::Look;
use teijo_engine::files::plan::{LargePlan, Operation, Style};
use teijo_engine::files::turns::{Turn, Turns};
use teijo_engine::interval::Series;
use teijo_engine::watch::Verdict;

use super::call::{Call, Done, FileId, How};
use super::crowd::Program;

/// A byte through a program's own buffer.
const BUFFERED_BYTE_PS: u64 = 1_500;

/// What a call is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Of an operation, which ends with the last of its calls and went over so many bytes.
    More,
    Last {
        bytes: u64,
    },
    Flush,
    Close,
    /// Of what is made ready before, or left out of all times.
    Aside,
}

/// Who looks on, and what is known of all workers together.
pub(super) struct Watch<'a> {
    pub observe: &'a mut dyn FnMut(&Look) -> Verdict,
    pub look: Look,
    pub stopped: bool,
    pub looked: std::time::Instant,
    pub calls: u32,
    pub started_ns: u64,
}

/// Calls between two looks at the wall clock, and the wall time between two looks.
const CALLS_BETWEEN_LOOKS: u32 = 1 << 12;
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(100);

impl Watch<'_> {
    /// Notes that a call has ended; whether the work may go on.
    pub fn note(&mut self, now_ns: u64, operations: u64, bytes: u64) -> bool {
        self.look.totals.done += operations;
        self.look.totals.bytes += bytes;
        self.calls += 1;
        if self.calls >= CALLS_BETWEEN_LOOKS {
            self.calls = 0;
            if self.looked.elapsed() >= LOOK_EVERY {
                self.looked = std::time::Instant::now();
                self.look.elapsed_ns = now_ns.saturating_sub(self.started_ns);
                self.stopped |= !matches!((self.observe)(&self.look), Verdict::GoOn);
            }
        }
        !self.stopped
    }
}

/// The books of a worker, and the operation it is in.
pub(super) struct Accounts {
    pub books: Books,
    began_ns: Option<u64>,
    tried: Result<u64, i32>,
    /// With a timed flush: the operation before it, which ends when that does: its beginning, its
    /// own end, and what came of it.
    held: Option<(u64, u64, Result<u64, i32>)>,
    timed_fsync: bool,
    pub refused: Option<teijo_engine::error::EngineError>,
    pub ended_ns: u64,
}

impl Accounts {
    pub fn new(series: &Arc<Series>, interval_ns: u64, timed_fsync: bool, started_ns: u64) -> Self {
        let mut books = Books::new(Arc::default(), Arc::clone(series), interval_ns);
        books.start(started_ns, interval_ns);
        Self {
            books,
            began_ns: None,
            tried: Ok(0),
            held: None,
            timed_fsync,
            refused: None,
            ended_ns: started_ns,
        }
    }

    /// Books a call that has ended; returns the operations and bytes that ended with it.
    pub fn take(&mut self, part: Part, began_ns: u64, done: Done) -> (u64, u64) {
        self.ended_ns = self.ended_ns.max(done.done_ns);
        let took_ns = done.done_ns - began_ns;
        let errno = (done.result < 0).then(|| -done.result as i32);
        let tried = errno.map_or(Ok(0), Err);
        match part {
            Part::Aside => (0, 0),
            Part::Flush => {
                record(&mut self.books.flush, tried, took_ns);
                (0, 0)
            }
            Part::Close => {
                self.settle(done.done_ns);
                record(&mut self.books.close, tried, took_ns);
                (0, 0)
            }
            Part::More | Part::Last { .. } => {
                let began_ns = *self.began_ns.get_or_insert(began_ns);
                if self.tried.is_ok() {
                    self.tried = tried;
                }
                let Part::Last { bytes } = part else {
                    return (0, 0);
                };
                self.began_ns = None;
                let tried = std::mem::replace(&mut self.tried, Ok(0)).map(|_| bytes);
                if self.timed_fsync {
                    // Another operation came and no flush: the one before ended by itself.
                    if let Some((began_ns, ended_ns, tried)) = self.held.take() {
                        self.book(tried, began_ns, ended_ns);
                    }
                    self.held = Some((began_ns, done.done_ns, tried));
                } else {
                    self.book(tried, began_ns, done.done_ns);
                }
                (1, tried.unwrap_or(0))
            }
        }
    }

    fn book(&mut self, tried: Result<u64, i32>, began_ns: u64, now_ns: u64) {
        if let Err(error) = self.books.record(tried, now_ns - began_ns, now_ns) {
            self.refused.get_or_insert(*error);
        }
    }

    /// Books the operation that was held back as one that ends now.
    fn settle(&mut self, now_ns: u64) {
        if let Some((began_ns, _, tried)) = self.held.take() {
            self.book(tried, began_ns, now_ns);
        }
    }
}

fn record(ledger: &mut Ledger, tried: Result<u64, i32>, took_ns: u64) {
    ledger.record(tried, took_ns);
}

/// One worker of calls on large files.
pub(super) struct LargeHand<'a, 'b> {
    plan: &'a LargePlan,
    file: FileId,
    pub turns: Turns,
    calls: VecDeque<(Call, Part)>,
    under_way: Part,
    ending: bool,
    pub accounts: Accounts,
    watch: &'a RefCell<Watch<'b>>,
}

impl<'a, 'b> LargeHand<'a, 'b> {
    pub fn new(
        plan: &'a LargePlan,
        file: FileId,
        turns: Turns,
        accounts: Accounts,
        watch: &'a RefCell<Watch<'b>>,
    ) -> Self {
        Self {
            plan,
            file,
            turns,
            calls: VecDeque::new(),
            under_way: Part::Aside,
            ending: false,
            accounts,
            watch,
        }
    }

    fn how(&self) -> How {
        How {
            direct: self.plan.direct,
            synchronous: self.plan.synchronous,
            mapped: self.plan.style == Style::Mmap,
        }
    }

    fn io(&self, is_write: bool, offset_bytes: u64, length_bytes: u32) -> Call {
        let (file, how) = (self.file, self.how());
        if is_write {
            return Call::Write {
                file,
                offset_bytes,
                length_bytes,
                how,
            };
        }
        Call::Read {
            file,
            offset_bytes,
            length_bytes,
            how,
        }
    }

    /// The calls of one operation.
    fn spell(&mut self, turn: Turn) {
        let (at, bytes) = (turn.offset_bytes, turn.length_bytes);
        let last = Part::Last { bytes };
        let whole = bytes as u32;
        match self.plan.operation {
            Operation::Write | Operation::Read if self.plan.timed_calls > 1 => {
                let is_write = self.plan.operation == Operation::Write;
                let chunk = u64::from(self.plan.chunk_bytes);
                let mut done = 0;
                while done < bytes {
                    let length = chunk.min(bytes - done);
                    let call = self.io(is_write, at + done, length as u32);
                    done += length;
                    let part = if done < bytes { Part::More } else { last };
                    self.calls.push_back((call, part));
                }
            }
            Operation::Write | Operation::Read if self.plan.style == Style::Stdio => {
                let is_write = self.plan.operation == Operation::Write;
                let ns = bytes * BUFFERED_BYTE_PS / 1_000;
                let call = self.io(is_write, at, whole);
                self.calls.push_back((Call::Compute { ns }, Part::More));
                self.calls.push_back((call, last));
            }
            Operation::Write | Operation::RandomWrite => {
                self.calls.push_back((self.io(true, at, whole), last));
            }
            Operation::Read | Operation::RandomRead => {
                self.calls.push_back((self.io(false, at, whole), last));
            }
            Operation::Rewrite => {
                self.calls
                    .push_back((self.io(false, at, whole), Part::More));
                self.calls.push_back((self.io(true, at, whole), last));
            }
            Operation::Seek if turn.rewrites => {
                self.calls
                    .push_back((self.io(false, at, whole), Part::More));
                let write = self.io(true, at, whole);
                if self.plan.fsync_rewrites {
                    self.calls.push_back((write, Part::More));
                    self.calls
                        .push_back((Call::Fsync { file: self.file }, last));
                } else {
                    self.calls.push_back((write, last));
                }
            }
            Operation::Seek => self.calls.push_back((self.io(false, at, whole), last)),
        }
    }
}

impl Program for LargeHand<'_, '_> {
    fn next(&mut self, _at_ns: u64, _last: Option<Done>) -> Option<Call> {
        if self.calls.is_empty() && !self.ending {
            let stops = self.accounts.refused.is_some() || self.watch.borrow().stopped;
            let turn = if stops { None } else { self.turns.next() };
            if let Some(turn) = turn {
                self.spell(turn);
            } else {
                self.ending = true;
                let file = self.file;
                if self.plan.fsync {
                    self.calls.push_back((Call::Fsync { file }, Part::Flush));
                }
                self.calls.push_back((Call::Close { file }, Part::Close));
            }
        }
        let (call, part) = self.calls.pop_front()?;
        self.under_way = part;
        Some(call)
    }

    fn ended(&mut self, _call: &Call, began_ns: u64, done: Done) -> bool {
        let (operations, bytes) = self.accounts.take(self.under_way, began_ns, done);
        self.watch
            .borrow_mut()
            .note(done.done_ns, operations, bytes);
        true
    }
}

/// Calls in a row: what a step needs before it, and the small files of one.
pub(super) struct Row<'a, 'b, I> {
    pub calls: I,
    pub under_way: Part,
    pub accounts: Accounts,
    pub watch: &'a RefCell<Watch<'b>>,
}

impl<I: Iterator<Item = (Call, Part)>> Program for Row<'_, '_, I> {
    fn next(&mut self, _at_ns: u64, _last: Option<Done>) -> Option<Call> {
        // An operation is not left half done.
        let is_between = self.accounts.began_ns.is_none();
        if is_between && (self.accounts.refused.is_some() || self.watch.borrow().stopped) {
            return None;
        }
        let (call, part) = self.calls.next()?;
        self.under_way = part;
        Some(call)
    }

    fn ended(&mut self, _call: &Call, began_ns: u64, done: Done) -> bool {
        let (operations, bytes) = self.accounts.take(self.under_way, began_ns, done);
        self.watch
            .borrow_mut()
            .note(done.done_ns, operations, bytes);
        true
    }
}
