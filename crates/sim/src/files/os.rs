//! The operating system: what it knows, and how a call goes on once what it waits for has ended.

use std::collections::{BTreeSet, HashMap};

use teijo_engine::request::Op;

use super::call::{settle, Call, Done, FileId, Job, Then, Why, NO_ENTRY};
use super::journal::{Journal, Layout, BLOCK_BYTES};
use super::params::OsParams;
use super::space::{File, Space};
use crate::cache::Cache;
use crate::device::{Device, Ended, Label, Outcome};
use crate::downstream::Downstream;

/// What was done since it was made, beside what its parts count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub calls: u64,
    pub commits: u64,
    pub journal_bytes: u64,
    pub home_bytes: u64,
    pub flushes: u64,
}

/// A simulated operating system over a device: page cache, file system, and its journal. See
/// `docs/reference/simulated-files.md` for what is modelled and what is not.
#[derive(Clone, Debug)]
pub struct Os<D> {
    pub(super) params: OsParams,
    pub(super) label: Label,
    pub(super) below: Downstream<Why, Cache<D>>,
    pub(super) layout: Layout,
    pub(super) journal: Journal,
    pub(super) space: Space,
    pub(super) files: HashMap<FileId, File>,
    /// Slots of the directory that were given back, how many there are, and their blocks.
    pub(super) free_slots: BTreeSet<u64>,
    pub(super) slots: u64,
    pub(super) directory: Vec<u64>,
    pub(super) jobs: Vec<Option<Job>>,
    /// The page each worker used last, and whether it wrote to it.
    pub(super) last: Vec<Option<(FileId, u64, bool)>>,
    pub(super) tally: Tally,
}

impl<D: Device> Os<D> {
    /// An operating system with an empty file system on `part`, which best takes `stripe_bytes` as
    /// one write; `Err` says why there is none.
    pub(crate) fn new(params: OsParams, part: D, stripe_bytes: u64) -> Result<Self, String> {
        let layout = Self::layout_on(&params, part.capacity_bytes())?;
        let cache = Cache::under_files(params.host_cache(), part, stripe_bytes)?;
        Ok(Self {
            params,
            label: Label::Plausible {
                why: "an operating system before a simulated part that has a label of its own \
                      among the parameters; the cost of calls and copies is that of one published \
                      server, its file system was held against formulae, not against a real one",
            },
            below: Downstream::new(cache),
            space: Space::new(&layout.data()),
            layout,
            journal: Journal::new(),
            files: HashMap::new(),
            free_slots: BTreeSet::new(),
            slots: 0,
            directory: Vec::new(),
            jobs: Vec::new(),
            last: Vec::new(),
            tally: Tally::default(),
        })
    }

    /// Where a file system has what on a device; `Err` says why there is none.
    pub(crate) fn layout_on(params: &OsParams, capacity_bytes: u64) -> Result<Layout, String> {
        let layout = Layout::new(capacity_bytes, params.journal_bytes);
        if layout.journal_bytes < 256 * BLOCK_BYTES || layout.data_at >= layout.journal_at {
            return Err(format!(
                "a file system needs a device of 8 MiB and a journal of 1 MiB, and this one has \
                 {capacity_bytes} B"
            ));
        }
        Ok(layout)
    }

    /// The device below.
    pub fn part(&self) -> &D {
        self.below.device().part()
    }

    /// Makes a new file system, with nothing in it and nothing in memory; programs have no calls
    /// under way.
    pub(super) fn format(&mut self) {
        self.space = Space::new(&self.layout.data());
        self.journal = Journal {
            number: self.journal.number + 1,
            committed: self.journal.number + 1,
            ..Journal::new()
        };
        self.files.clear();
        self.free_slots.clear();
        (self.slots, self.directory) = (0, Vec::new());
        self.last.fill(None);
    }

    /// Says what the files written from now on are like, as `Device::content`.
    pub fn content_is(&mut self, left_q16: u32) {
        self.below.device_mut().part_mut().content(left_q16);
    }

    /// Bytes that no file has.
    pub fn free_bytes(&self) -> u64 {
        self.space.free_bytes()
    }

    /// The length of a file; `None` where there is none.
    pub fn length_of(&self, file: FileId) -> Option<u64> {
        self.files.get(&file).map(|file| file.length_bytes)
    }

    /// Begins a call of `worker` at `at_ns`, which has none under way; `None`: a step will end it.
    pub fn begin(&mut self, worker: u32, call: &Call, at_ns: u64) -> Option<Done> {
        self.tally.calls += 1;
        let index = worker as usize;
        if self.jobs.len() <= index {
            self.jobs.resize(index + 1, None);
            self.last.resize(index + 1, None);
        }
        debug_assert!(self.jobs[index].is_none(), "one call at a time");
        let mut job = Job {
            waits: 0,
            ready_ns: at_ns,
            cpu_ns: 0,
            result: 0,
            then: Then::Finish,
            forgets: false,
        };
        self.take_in(worker, call, at_ns, &mut job);
        self.jobs[index] = Some(job);
        if job.waits > 0 {
            return None;
        }
        self.go_on(worker, at_ns)
    }

    fn take_in(&mut self, worker: u32, call: &Call, at_ns: u64, job: &mut Job) {
        let number = self.journal.number;
        match *call {
            Call::Compute { ns } => job.cpu_ns = ns,
            Call::Create { file } => self.create(worker, file, at_ns, job),
            Call::Open { file } | Call::Stat { file } => {
                let is_stat = matches!(call, Call::Stat { .. });
                let params = &self.params;
                job.cpu_ns = if is_stat {
                    params.stat_ns
                } else {
                    params.open_ns
                };
                self.look_up(worker, file, at_ns, job);
            }
            Call::Close { file } => {
                job.cpu_ns = self.params.open_ns;
                if let Some(file) = self.files.get_mut(&file) {
                    file.extents.trim(&mut self.space);
                }
            }
            Call::Unlink { file } => self.unlink(worker, file, at_ns, job),
            Call::Resize { file, length_bytes } => self.resize(file, length_bytes, at_ns, job),
            Call::Read {
                file,
                offset_bytes,
                length_bytes,
                how,
            } => self.read(worker, file, (offset_bytes, length_bytes), how, at_ns, job),
            Call::Write {
                file,
                offset_bytes,
                length_bytes,
                how,
            } => self.write(worker, file, (offset_bytes, length_bytes), how, at_ns, job),
            Call::Fsync { file } => {
                job.cpu_ns = self.params.fsync_ns;
                match self.files.get(&file) {
                    Some(file) => job.then = Then::Drain(file.changed),
                    None => job.result = NO_ENTRY,
                }
            }
            Call::Sync => job.then = Then::Drain(number),
            Call::DropCaches => {
                job.then = Then::Drain(number);
                job.forgets = true;
            }
        }
    }

    /// Sends one I/O to the device itself.
    pub(super) fn send(
        &mut self,
        why: Why,
        op: Op,
        offset_bytes: u64,
        length_bytes: u32,
        at_ns: u64,
    ) -> Option<Outcome> {
        if op == Op::Flush {
            self.tally.flushes += 1;
        }
        self.below.ask(why, |cache, ticket| {
            cache.direct(ticket, op, offset_bytes, length_bytes, at_ns)
        })
    }

    /// All that a call waited for has ended: what comes next of it.
    pub(super) fn go_on(&mut self, worker: u32, at_ns: u64) -> Option<Done> {
        loop {
            let mut job = self.jobs[worker as usize].take()?;
            let at_ns = at_ns.max(job.ready_ns);
            let is_over = job.result < 0;
            match std::mem::replace(&mut job.then, Then::Finish) {
                Then::Finish => {
                    return Some(Done {
                        worker,
                        done_ns: job.ready_ns + job.cpu_ns,
                        result: job.result,
                    });
                }
                _ if is_over => {}
                Then::Drain(number) => {
                    job.then = Then::Commit(number);
                    let submit =
                        |cache: &mut Cache<D>, ticket| cache.submit(ticket, Op::Flush, 0, 0, at_ns);
                    settle(self.below.ask(Why::Job(worker), submit), &mut job);
                }
                Then::Commit(number) => {
                    job.then = if job.forgets {
                        Then::Forget
                    } else {
                        Then::Finish
                    };
                    if number >= self.journal.committed && !self.is_committed(number) {
                        job.waits += 1;
                        self.jobs[worker as usize] = Some(job);
                        self.join(worker, number, at_ns);
                        return None;
                    }
                    if self.params.barriers {
                        let told = self.send(Why::Job(worker), Op::Flush, 0, 0, at_ns);
                        settle(told, &mut job);
                    }
                }
                Then::Forget => {
                    self.below.device_mut().drop_clean();
                    self.last.fill(None);
                }
            }
            self.jobs[worker as usize] = Some(job);
            if job.waits > 0 {
                return None;
            }
        }
    }

    /// Does what is due at `next_ns`; adds the calls that end by it, and I/Os of the host.
    pub fn step_files(&mut self, done: &mut Vec<Done>, ended: &mut Vec<Ended>) {
        let commit_ns = self.commit_due_ns();
        if commit_ns <= self.below.next_ns() {
            if commit_ns < u64::MAX {
                self.start_commit(commit_ns);
            }
            return;
        }
        let Some((why, outcome)) = self.below.step() else {
            return;
        };
        match why {
            Why::Host(ticket) => ended.push(Ended { ticket, outcome }),
            Why::Home => {}
            Why::Journal => self.journal_went(outcome, done),
            Why::Job(worker) => {
                let job = self.jobs[worker as usize].as_mut();
                let job = job.expect("a call waits for its I/Os");
                job.waits -= 1;
                settle(Some(outcome), job);
                if job.waits == 0 {
                    done.extend(self.go_on(worker, outcome.done_ns));
                }
            }
        }
    }
}
