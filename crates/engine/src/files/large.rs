//! One worker on large files: opens its file, makes one operation after the other, flushes and
//! closes. An operation is timed by itself, its content is made outside of that.

use std::sync::Arc;

use super::books::{is_full, Books, Doing, Refused};
use super::calls::{Calls, Mapped, Move, Opening, Tried};
use super::filler::{change, Aligned, Filler};
use super::names::large_name;
use super::plan::{LargePlan, Operation, Style, NO_FILE};
use super::turns::{Tickets, Turn, Turns};
use crate::census::Census;
use crate::error::EngineError;

/// A worker, its file open once it is ready.
pub struct LargeWorker<C: Calls> {
    calls: Arc<C>,
    plan: LargePlan,
    number: u32,
    turns: Turns,
    filler: Filler,
    /// What is read, and rewritten.
    buffer: Aligned,
    file: Option<C::File>,
    mapped: Option<C::Mapped>,
    pub books: Books,
    /// The last operation, not booked yet: with a timed flush it ends when that does.
    held: Option<Booked>,
}

/// An operation that was made.
#[derive(Clone, Copy)]
struct Booked {
    tried: Tried<u64>,
    began_ns: u64,
    ended_ns: u64,
}

impl<C: Calls> LargeWorker<C> {
    pub fn new(
        calls: Arc<C>,
        plan: &LargePlan,
        number: u32,
        tickets: Tickets,
        books: Books,
    ) -> Self {
        let buffer_bytes = match plan.style {
            Style::Stdio => plan.unit_bytes() as usize,
            Style::SystemCall | Style::Mmap => plan.chunk_bytes as usize,
        };
        Self {
            calls,
            number,
            turns: Turns::new(plan, number, tickets),
            filler: Filler::of_worker(plan, number, plan.chunk_bytes as usize),
            buffer: Aligned::new(buffer_bytes),
            plan: plan.clone(),
            file: None,
            mapped: None,
            books,
            held: None,
        }
    }

    /// Opens the file, made anew where the plan says so. Not in the time of the step.
    pub fn open(&mut self) -> Result<(), Refused> {
        self.books.board.begin(Doing::Open, self.calls.now_ns());
        let opened = self.try_open();
        self.books.board.end();
        opened.map_err(|(call, errno)| Box::new(refusal(call, errno)))
    }

    fn try_open(&mut self) -> Result<(), (&'static str, i32)> {
        let name = large_name(self.plan.file_of(self.number));
        if self.plan.fresh {
            match self.calls.unlink(0, &name) {
                Ok(()) | Err(libc::ENOENT) => {}
                Err(errno) => return Err(("unlink", errno)),
            }
        }
        let how = Opening {
            read: true,
            write: true,
            create: self.plan.fresh,
            direct: self.plan.direct,
            synchronous: self.plan.synchronous,
        };
        let opened = self.calls.open(0, &name, how);
        let file = opened.map_err(|errno| ("open", errno))?;
        let whole_bytes = self.plan.whole_bytes();
        if self.plan.sparse {
            let cut = self.calls.set_length(&file, whole_bytes);
            cut.map_err(|errno| ("ftruncate", errno))?;
        }
        if self.plan.style == Style::Mmap {
            let mapped = self.calls.map(&file, whole_bytes);
            self.mapped = Some(mapped.map_err(|errno| ("mmap", errno))?);
        }
        self.file = Some(file);
        Ok(())
    }

    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.calls.now_ns()
    }

    /// The numbers of the descriptors that it works with from its beginning.
    pub fn descriptors(&self) -> Vec<i32> {
        let mut found = self.calls.descriptors();
        found.extend(self.turns.descriptor());
        found
    }

    /// Which chunks it went to, where the plan asks for that.
    pub fn touched(&self) -> Option<&Census> {
        self.turns.census()
    }

    /// Begins the time of the step.
    pub fn start(&mut self, started_ns: u64) {
        self.books.start(started_ns, self.plan.interval_ns);
    }

    /// Makes one operation; false where there is none left.
    #[inline]
    pub fn turn(&mut self) -> Result<bool, Refused> {
        let Some(turn) = self.turns.next() else {
            return Ok(false);
        };
        let (began_ns, tried) = match self.plan.style {
            Style::SystemCall => self.call(turn),
            Style::Stdio => self.buffered(turn),
            Style::Mmap => self.copy(turn),
        };
        let now_ns = self.calls.now_ns();
        self.books.board.end();
        if tried.is_err() {
            self.skip(turn);
        }
        let one = Booked {
            tried,
            began_ns,
            ended_ns: now_ns,
        };
        if self.plan.timed_fsync {
            let before = self.held.replace(one);
            before.map_or(Ok(()), |before| self.book(before))?;
        } else {
            self.book(one)?;
        }
        Ok(true)
    }

    /// One operation by calls: when it began, and the bytes of the file it went over.
    #[inline]
    fn call(&mut self, turn: Turn) -> (u64, Tried<u64>) {
        let length = turn.length_bytes as usize;
        let positioned = self.plan.positioned || self.turns_are_shared();
        let at_bytes = positioned.then_some(turn.offset_bytes);
        match self.plan.operation {
            Operation::Write | Operation::Read if self.plan.timed_calls > 1 => {
                let began_ns = begin(&*self.calls, &self.books);
                (began_ns, self.several(turn, positioned))
            }
            Operation::Write => {
                let content = self.filler.next(length, turn.offset_bytes);
                let file = self.file.as_ref().expect("it is open");
                let began_ns = begin(&*self.calls, &self.books);
                (began_ns, write_all(&*self.calls, file, content, at_bytes))
            }
            Operation::RandomWrite => {
                let content = self.filler.next(length, turn.offset_bytes);
                let file = self.file.as_ref().expect("it is open");
                let began_ns = begin(&*self.calls, &self.books);
                let at_bytes = Some(turn.offset_bytes);
                (began_ns, write_all(&*self.calls, file, content, at_bytes))
            }
            Operation::Read => self.read(length, at_bytes),
            Operation::RandomRead => self.read(length, Some(turn.offset_bytes)),
            Operation::Rewrite => {
                let began_ns = begin(&*self.calls, &self.books);
                (began_ns, self.rewrite(turn, Move::Back(turn.length_bytes)))
            }
            Operation::Seek => {
                let began_ns = begin(&*self.calls, &self.books);
                (began_ns, self.seek(turn))
            }
        }
    }

    /// Calls that are timed together, each with content of its own.
    fn several(&mut self, turn: Turn, positioned: bool) -> Tried<u64> {
        let file = self.file.as_ref().expect("it is open");
        let chunk_bytes = u64::from(self.plan.chunk_bytes);
        let mut done_bytes = 0;
        while done_bytes < turn.length_bytes {
            let offset_bytes = turn.offset_bytes + done_bytes;
            let length = chunk_bytes.min(turn.length_bytes - done_bytes) as usize;
            let at_bytes = positioned.then_some(offset_bytes);
            if self.plan.operation == Operation::Write {
                let content = self.filler.next(length, offset_bytes);
                write_all(&*self.calls, file, content, at_bytes)?;
            } else {
                let buffer = &mut self.buffer.bytes_mut()[..length];
                read_all(&*self.calls, file, buffer, at_bytes)?;
            }
            done_bytes += length as u64;
        }
        Ok(done_bytes)
    }

    fn turns_are_shared(&self) -> bool {
        self.plan.shares_tickets()
    }

    #[inline]
    fn read(&mut self, length: usize, at_bytes: Option<u64>) -> (u64, Tried<u64>) {
        let file = self.file.as_ref().expect("it is open");
        let buffer = &mut self.buffer.bytes_mut()[..length];
        let began_ns = begin(&*self.calls, &self.books);
        (began_ns, read_all(&*self.calls, file, buffer, at_bytes))
    }

    fn rewrite(&mut self, turn: Turn, back: Move) -> Tried<u64> {
        let file = self.file.as_ref().expect("it is open");
        let buffer = &mut self.buffer.bytes_mut()[..turn.length_bytes as usize];
        read_all(&*self.calls, file, buffer, None)?;
        change(buffer, turn.number);
        self.calls.seek(file, back)?;
        write_all(&*self.calls, file, buffer, None)
    }

    fn seek(&mut self, turn: Turn) -> Tried<u64> {
        let file = self.file.as_ref().expect("it is open");
        self.calls.seek(file, Move::To(turn.offset_bytes))?;
        if turn.rewrites {
            let bytes = self.rewrite(turn, Move::To(turn.offset_bytes))?;
            if self.plan.fsync_rewrites {
                let file = self.file.as_ref().expect("it is open");
                self.calls.fsync(file)?;
            }
            return Ok(bytes);
        }
        let buffer = &mut self.buffer.bytes_mut()[..turn.length_bytes as usize];
        read_all(&*self.calls, file, buffer, None)
    }

    /// A whole buffer of the program's own, and the call that it costs.
    fn buffered(&mut self, turn: Turn) -> (u64, Tried<u64>) {
        let length = turn.length_bytes as usize;
        let file = self.file.as_ref().expect("it is open");
        let chunk_bytes = self.plan.chunk_bytes as usize;
        let began_ns = begin(&*self.calls, &self.books);
        let buffer = &mut self.buffer.bytes_mut()[..length];
        if self.plan.operation == Operation::Read {
            let tried = read_all(&*self.calls, file, buffer, None);
            for byte in buffer.iter() {
                std::hint::black_box(*byte);
            }
            return (began_ns, tried);
        }
        for (place, chunk) in buffer.chunks_mut(chunk_bytes).enumerate() {
            let at_bytes = turn.offset_bytes + (place * chunk_bytes) as u64;
            let content = self.filler.next(chunk.len(), at_bytes);
            for (byte, made) in chunk.iter_mut().zip(content) {
                *byte = std::hint::black_box(*made);
            }
        }
        (began_ns, write_all(&*self.calls, file, buffer, None))
    }

    fn copy(&mut self, turn: Turn) -> (u64, Tried<u64>) {
        let (length, at_bytes) = (turn.length_bytes as usize, turn.offset_bytes);
        let mapped = self.mapped.as_ref().expect("it is mapped");
        let (began_ns, went_well) = if self.plan.operation.is_read() {
            let buffer = &mut self.buffer.bytes_mut()[..length];
            let began_ns = begin(&*self.calls, &self.books);
            (began_ns, mapped.read(at_bytes, buffer))
        } else {
            let content = self.filler.next(length, at_bytes);
            let began_ns = begin(&*self.calls, &self.books);
            (began_ns, mapped.write(at_bytes, content))
        };
        if !went_well {
            return (began_ns, Err(self.refused_copy(turn)));
        }
        if self.plan.synchronous {
            let synced = mapped.sync(at_bytes, length as u64);
            return (began_ns, synced.map(|()| length as u64));
        }
        (began_ns, Ok(length as u64))
    }

    /// Why memory of the file could not be copied: the kernel says it of a call at the same place.
    #[cold]
    fn refused_copy(&mut self, turn: Turn) -> i32 {
        let file = self.file.as_ref().expect("it is open");
        let (length, at_bytes) = (turn.length_bytes as usize, Some(turn.offset_bytes));
        let tried = if self.plan.operation.is_read() {
            let buffer = &mut self.buffer.bytes_mut()[..length];
            read_all(&*self.calls, file, buffer, at_bytes)
        } else {
            let content = self.filler.next(length, turn.offset_bytes);
            write_all(&*self.calls, file, content, at_bytes)
        };
        let errno = tried.err().filter(|&errno| errno > 0);
        // A page of zeros has the place of what failed: the next look at it is to fail as well.
        if let Ok(mapped) = self.calls.map(file, self.plan.whole_bytes()) {
            self.mapped = Some(mapped);
        }
        errno.unwrap_or(libc::EIO)
    }

    /// A failed call leaves the file's position anywhere: the next one goes on behind it.
    #[cold]
    fn skip(&mut self, turn: Turn) {
        let file = self.file.as_ref().expect("it is open");
        let next_bytes = turn.offset_bytes + turn.length_bytes;
        // Where even that fails, the next call does too, and is counted.
        let _ = self.calls.seek(file, Move::To(next_bytes));
    }

    #[inline]
    fn book(&mut self, one: Booked) -> Result<(), Refused> {
        let took_ns = one.ended_ns.saturating_sub(one.began_ns);
        self.books.record(one.tried, took_ns, one.ended_ns)
    }

    /// Flushes and closes, within the time of the step; returns when that was over.
    pub fn end(&mut self) -> (u64, Result<(), Refused>) {
        let mut ended = Ok(());
        self.mapped = None;
        if let Some(file) = self.file.take() {
            if self.plan.fsync {
                let (tried, took_ns) = self.timed(Doing::Flush, |calls| calls.fsync(&file));
                if matches!(tried, Err(errno) if is_full(errno)) {
                    ended = Err(Box::new(EngineError::DiskFull));
                }
                self.books.flush.record(tried, took_ns);
            }
            let (tried, took_ns) = self.timed(Doing::Close, |calls| calls.close(file));
            self.books.close.record(tried, took_ns);
        }
        let now_ns = self.calls.now_ns();
        let last = self.held.take().map(|one| Booked {
            ended_ns: now_ns,
            ..one
        });
        let settled = last.map_or(Ok(()), |one| self.book(one));
        self.books.shut();
        (now_ns, ended.and(settled))
    }

    fn timed(&self, doing: Doing, act: impl FnOnce(&C) -> Tried<()>) -> (Tried<u64>, u64) {
        let began_ns = self.calls.now_ns();
        self.books.board.begin(doing, began_ns);
        let tried = act(&self.calls).map(|()| 0);
        self.books.board.end();
        (tried, self.calls.now_ns().saturating_sub(began_ns))
    }
}

#[inline]
fn begin<C: Calls>(calls: &C, books: &Books) -> u64 {
    let now_ns = calls.now_ns();
    books.board.begin(Doing::Call, now_ns);
    now_ns
}

/// A call that moves less than it was asked for is followed by one for the rest; one that moves
/// nothing is an error without a number.
#[inline]
fn write_all<C: Calls>(
    calls: &C,
    file: &C::File,
    content: &[u8],
    at_bytes: Option<u64>,
) -> Tried<u64> {
    let mut done = 0;
    loop {
        let at_bytes = at_bytes.map(|first_bytes| first_bytes + done as u64);
        match calls.write(file, &content[done..], at_bytes) {
            Ok(0) => return Err(0),
            Ok(moved) => done += moved,
            Err(libc::EINTR) => {}
            Err(errno) => return Err(errno),
        }
        if done >= content.len() {
            return Ok(content.len() as u64);
        }
    }
}

#[inline]
fn read_all<C: Calls>(
    calls: &C,
    file: &C::File,
    buffer: &mut [u8],
    at_bytes: Option<u64>,
) -> Tried<u64> {
    let mut done = 0;
    loop {
        let at_bytes = at_bytes.map(|first_bytes| first_bytes + done as u64);
        match calls.read(file, &mut buffer[done..], at_bytes) {
            Ok(0) => return Err(0),
            Ok(moved) => done += moved,
            Err(libc::EINTR) => {}
            Err(errno) => return Err(errno),
        }
        if done >= buffer.len() {
            return Ok(buffer.len() as u64);
        }
    }
}

/// Why a file cannot be opened or made ready.
fn refusal(call: &'static str, errno: i32) -> EngineError {
    match errno {
        errno if is_full(errno) => EngineError::DiskFull,
        libc::ENOENT => EngineError::PlanRefused { reason: NO_FILE },
        errno => EngineError::FileRefused { call, errno },
    }
}
