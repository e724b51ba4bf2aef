//! Many small files, one after the other: created, looked at, deleted. Each is timed by itself.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::Arc;

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::books::{Books, Doing, Refused};
use super::calls::{Calls, Opening, Tried};
use super::filler::{Aligned, Filler};
use super::names::{directory_name, small_name};
use super::plan::{Links, Order, SmallOperation, SmallPlan};
use crate::error::EngineError;
use crate::seed::{derive_seed, scale};

/// Draws of sizes are others than those of names.
const SIZES: u64 = 0x7369_7a65;

/// A file that was made here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub directory: u32,
    pub name: CString,
}

/// The files that were made, in their order; None in the place of one that was deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stock {
    pub files: Vec<Option<Made>>,
    /// Number of the next file.
    pub next: u64,
    /// Directories in the folder.
    pub directories: u32,
}

/// The one worker of a step on small files.
pub struct SmallWorker<C: Calls> {
    calls: Arc<C>,
    plan: SmallPlan,
    pub stock: Stock,
    /// Places in the stock, in the order of work; None while directories are to be listed.
    places: std::vec::IntoIter<usize>,
    /// Where a name is in the stock, by directory; of a listed order only.
    known: Vec<HashMap<CString, usize>>,
    /// What is to be created, named before the time begins.
    ahead: Vec<Option<Made>>,
    /// The directories that are still to be listed.
    unlisted: std::ops::Range<u32>,
    first: Option<Made>,
    /// Files in the stock before the step.
    base: u64,
    left: u64,
    filler: Filler,
    buffer: Aligned,
    pub books: Books,
}

impl<C: Calls> SmallWorker<C> {
    /// The numbers of the descriptors that it works with from its beginning.
    pub fn descriptors(&self) -> Vec<i32> {
        self.calls.descriptors()
    }

    /// Works on the stock, which is handed back with what came of it.
    pub fn new(calls: Arc<C>, plan: &SmallPlan, stock: Stock, books: Books) -> Self {
        let mut worker = Self {
            calls,
            stock,
            places: Vec::new().into_iter(),
            known: Vec::new(),
            ahead: Vec::new(),
            unlisted: 0..0,
            first: None,
            base: 0,
            left: plan.count,
            filler: Filler::new(plan.content, plan.size_bytes.max(1) as usize, plan.seed),
            buffer: Aligned::new(plan.size_bytes.max(1) as usize),
            plan: plan.clone(),
            books,
        };
        match plan.operation {
            SmallOperation::Create => worker.plan_new(),
            SmallOperation::Stat | SmallOperation::Delete => worker.plan_old(),
        }
        worker
    }

    fn plan_new(&mut self) {
        let first = self.stock.files.len();
        self.base = first as u64;
        let mut places: Vec<usize> = (first..first + self.plan.count as usize).collect();
        if self.plan.order == Order::Random {
            shuffle(&mut places, self.plan.seed);
        }
        self.stock.files.resize(first + places.len(), None);
        self.ahead = (0..self.plan.count)
            .map(|number| Some(self.made(number)))
            .collect();
        self.places = places.into_iter();
    }

    fn plan_old(&mut self) {
        let there = self.stock.files.iter().enumerate();
        let there = there.filter_map(|(place, made)| made.as_ref().map(|made| (place, made)));
        if self.plan.order == Order::Listed {
            let mut known = vec![HashMap::new(); self.stock.directories as usize + 1];
            for (place, made) in there {
                known[made.directory as usize].insert(made.name.clone(), place);
            }
            self.known = known;
            self.unlisted = match self.stock.directories {
                0 => 0..1,
                some => 1..some + 1,
            };
            return;
        }
        let mut places: Vec<usize> = there.map(|(place, _)| place).collect();
        places.truncate(self.plan.count as usize);
        if self.plan.order == Order::Random {
            shuffle(&mut places, self.plan.seed);
        }
        self.places = places.into_iter();
    }

    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.calls.now_ns()
    }

    /// Begins the time of the step.
    pub fn start(&mut self, started_ns: u64) {
        self.books.start(started_ns, self.plan.interval_ns);
    }

    /// Works on one file; false where there is none left.
    pub fn turn(&mut self) -> Result<bool, Refused> {
        let Some(place) = self.next_place()? else {
            return Ok(false);
        };
        let (took_ns, tried) = match self.plan.operation {
            SmallOperation::Create => self.create(place),
            SmallOperation::Stat => self.stat(place),
            SmallOperation::Delete => self.delete(place),
        };
        self.books.board.end();
        self.books.record(tried, took_ns, self.calls.now_ns())?;
        Ok(true)
    }

    fn next_place(&mut self) -> Result<Option<usize>, Refused> {
        loop {
            if self.left == 0 {
                return Ok(None);
            }
            if let Some(place) = self.places.next() {
                self.left -= 1;
                return Ok(Some(place));
            }
            let Some(directory) = self.unlisted.next() else {
                return Ok(None);
            };
            let mut listed = Vec::new();
            let known = &self.known[directory as usize];
            // Names that others put there are none of ours.
            let mut take = |name: &CStr| listed.extend(known.get(name).copied());
            let tried = self.calls.list(directory, &mut take);
            tried.map_err(|errno| EngineError::FileRefused {
                call: "getdents",
                errno,
            })?;
            self.places = listed.into_iter();
        }
    }

    fn begin(&self) -> u64 {
        let now_ns = self.calls.now_ns();
        self.books.board.begin(Doing::Call, now_ns);
        now_ns
    }

    fn create(&mut self, place: usize) -> (u64, Tried<u64>) {
        let number = place as u64 - self.base;
        let made = self.ahead[number as usize].take().expect("each once");
        let link = match (self.plan.links, &self.first) {
            (Links::None, _) | (_, None) => None,
            (_, Some(first)) => Some(first.clone()),
        };
        if let Some(first) = link {
            let began_ns = self.begin();
            let tried = self.link(&first, &made);
            let took_ns = self.calls.now_ns().saturating_sub(began_ns);
            self.enter(place, made, tried.is_ok());
            return (took_ns, tried.map(|()| 0));
        }
        self.create_file(place, number, made)
    }

    fn made(&self, number: u64) -> Made {
        let own = self.stock.next + number;
        let directory = match self.stock.directories {
            0 => 0,
            some => 1 + ((number / self.plan.per_directory()) as u32).min(some - 1),
        };
        Made {
            directory,
            name: small_name(self.plan.names, own, self.plan.seed),
        }
    }

    fn enter(&mut self, place: usize, made: Made, is_there: bool) {
        if is_there {
            if self.first.is_none() {
                self.first = Some(made.clone());
            }
            self.stock.files[place] = Some(made);
        }
    }

    fn link(&self, first: &Made, made: &Made) -> Tried<()> {
        let at = (made.directory, made.name.as_c_str());
        if self.plan.links == Links::Hard {
            return self.calls.link((first.directory, &first.name), at);
        }
        if first.directory == made.directory {
            return self.calls.symlink(&first.name, at);
        }
        let above = directory_name(first.directory - 1);
        let parts = [b"../", above.as_bytes(), b"/", first.name.as_bytes()];
        let target = CString::new(parts.concat()).expect("names have no zero");
        self.calls.symlink(&target, at)
    }

    fn create_file(&mut self, place: usize, number: u64, made: Made) -> (u64, Tried<u64>) {
        let span = self.plan.size_bytes - self.plan.size_least_bytes + 1;
        let draw = scale(derive_seed(self.plan.seed ^ SIZES, number), span);
        let size_bytes = self.plan.size_least_bytes + draw;
        let how = Opening {
            write: true,
            create: true,
            ..Opening::default()
        };
        let content_at = (self.stock.next + number) * self.plan.size_bytes.max(1);
        let began_ns = {
            // The content is made before the time begins.
            self.filler.next(size_bytes as usize, content_at);
            self.begin()
        };
        let file = match self.calls.open(made.directory, &made.name, how) {
            Ok(file) => file,
            Err(errno) => return (0, Err(errno)),
        };
        let directory = made.directory;
        // Entered before it is written: what a full disk cuts off must be removed too.
        self.enter(place, made, true);
        let written = self.write(&file, size_bytes as usize);
        let written_ns = self.calls.now_ns();
        if self.plan.fsync && written.is_ok() {
            self.flush(|calls| calls.fsync(&file));
        }
        if self.plan.fsync_directory && written.is_ok() {
            self.flush(|calls| calls.fsync_directory(directory));
        }
        let closed = self.calls.close(file);
        let flushes = self.plan.fsync || self.plan.fsync_directory;
        let ended_ns = if flushes && !self.plan.timed_fsync {
            written_ns
        } else {
            self.calls.now_ns()
        };
        let tried = written.and_then(|bytes| closed.map(|()| bytes));
        (ended_ns.saturating_sub(began_ns), tried)
    }

    /// Flushes, as an operation of its own.
    fn flush(&mut self, act: impl FnOnce(&C) -> Tried<()>) {
        let began_ns = self.calls.now_ns();
        self.books.board.begin(Doing::Flush, began_ns);
        let tried = act(&self.calls).map(|()| 0);
        let took_ns = self.calls.now_ns().saturating_sub(began_ns);
        self.books.flush.record(tried, took_ns);
        self.books.board.begin(Doing::Call, began_ns + took_ns);
    }

    /// Writes what the filler made last.
    fn write(&mut self, file: &C::File, size_bytes: usize) -> Tried<u64> {
        let content = &self.filler.made()[..size_bytes];
        let mut done = 0;
        while done < size_bytes {
            let end = (done + self.chunk_bytes()).min(size_bytes);
            match self.calls.write(file, &content[done..end], None) {
                Ok(0) => return Err(0),
                Ok(moved) => done += moved,
                Err(libc::EINTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(size_bytes as u64)
    }

    fn chunk_bytes(&self) -> usize {
        match self.plan.chunk_bytes {
            0 => usize::MAX / 2,
            bytes => bytes as usize,
        }
    }

    fn stat(&mut self, place: usize) -> (u64, Tried<u64>) {
        let made = self.stock.files[place].take().expect("it was planned");
        let began_ns = self.begin();
        let tried = self.calls.stat(made.directory, &made.name);
        let tried = match tried {
            Ok(size_bytes) if self.plan.read && size_bytes > 0 => self.read(&made, size_bytes),
            tried => tried.map(|_| 0),
        };
        let took_ns = self.calls.now_ns().saturating_sub(began_ns);
        self.stock.files[place] = Some(made);
        (took_ns, tried)
    }

    /// Reads a file back, its size told by the look at it.
    fn read(&mut self, made: &Made, size_bytes: u64) -> Tried<u64> {
        let how = Opening {
            read: true,
            ..Opening::default()
        };
        if size_bytes > self.buffer.bytes().len() as u64 {
            self.buffer = Aligned::new(size_bytes.min(super::plan::FILE_BYTES_MAX) as usize);
        }
        let file = self.calls.open(made.directory, &made.name, how)?;
        let chunk_bytes = self.chunk_bytes();
        let length = self.buffer.bytes().len().min(size_bytes as usize);
        let mut done = 0;
        let mut tried = Ok(length as u64);
        while done < length && tried.is_ok() {
            let end = (done + chunk_bytes).min(length);
            let part = &mut self.buffer.bytes_mut()[done..end];
            match self.calls.read(&file, part, None) {
                Ok(0) => tried = Err(0),
                Ok(moved) => done += moved,
                Err(libc::EINTR) => {}
                Err(errno) => tried = Err(errno),
            }
        }
        let closed = self.calls.close(file);
        tried.and_then(|bytes| closed.map(|()| bytes))
    }

    fn delete(&mut self, place: usize) -> (u64, Tried<u64>) {
        let made = self.stock.files[place].take().expect("it was planned");
        let began_ns = self.begin();
        let tried = self.calls.unlink(made.directory, &made.name);
        let deleted_ns = self.calls.now_ns();
        if self.plan.fsync_directory && tried.is_ok() {
            self.flush(|calls| calls.fsync_directory(made.directory));
        }
        if tried.is_err() {
            self.stock.files[place] = Some(made);
        }
        let ended_ns = if self.plan.timed_fsync {
            self.calls.now_ns()
        } else {
            deleted_ns
        };
        (ended_ns.saturating_sub(began_ns), tried.map(|()| 0))
    }

    /// Ends the time of the step; returns when that was.
    pub fn end(&mut self) -> u64 {
        match self.plan.operation {
            SmallOperation::Create => self.stock.next += self.plan.count,
            SmallOperation::Stat => {}
            SmallOperation::Delete => self.stock.files.retain(Option::is_some),
        }
        self.books.shut();
        if self.plan.sync_at_end {
            self.books.board.begin(Doing::Flush, self.calls.now_ns());
            self.calls.sync();
            self.books.board.end();
        }
        self.calls.now_ns()
    }
}

fn shuffle(places: &mut [usize], seed: u64) {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    for last in (1..places.len()).rev() {
        let other = scale(generator.next_u64(), last as u64 + 1) as usize;
        places.swap(last, other);
    }
}
