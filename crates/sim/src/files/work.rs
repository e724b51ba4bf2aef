//! Steps of work on files, carried out on a simulated operating system.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use teijo_engine::error::EngineError;
use teijo_engine::files::crew::{Done, Look};
use teijo_engine::files::plan::{
    Content, LargePlan, Links, Order, SmallOperation, SmallPlan, NO_FILE,
};
use teijo_engine::files::turns::{Tickets, Turns};
use teijo_engine::interval::Series;
use teijo_engine::seed::{derive_seed, scale};
use teijo_engine::watch::Verdict;

use super::call::{Call, FileId, How};
use super::crowd::{run, Silent};
use super::hands::{Accounts, LargeHand, Part, Row, Watch};
use super::os::Os;
use crate::device::Device;

/// Numbers of large files are below this.
const FIRST_SMALL: FileId = 1 << 16;
/// Draws of sizes are others than those of the order.
const SIZES: u64 = 0x7369_7a65;

/// The files that steps have made.
#[derive(Clone, Debug, Default)]
pub struct Stock {
    large: BTreeSet<FileId>,
    /// In the order of their creation, each with its length.
    small: Vec<(FileId, u64)>,
    next: FileId,
}

/// What is left of a bytes' worth after the best compression, in 2^-16.
fn left_q16(content: Content) -> u32 {
    match content {
        Content::Random | Content::OneBlock => 1 << 16,
        // Zeros, or nothing but a few bytes of a block.
        Content::Zero | Content::Cumulative => 1 << 8,
    }
}

fn silent(Silent { .. }: Silent) -> EngineError {
    EngineError::CallLeft {
        call: "call",
        age_ns: u64::MAX,
    }
}

fn watch(observe: &mut dyn FnMut(&Look) -> Verdict, started_ns: u64) -> Watch<'_> {
    Watch {
        observe,
        look: Look::default(),
        stopped: false,
        looked: Instant::now(),
        calls: 0,
        started_ns,
    }
}

/// Lets calls go by that are in nobody's time; returns when they were over.
fn aside<D: Device>(os: &mut Os<D>, calls: Vec<Call>, now_ns: u64) -> Result<u64, EngineError> {
    let mut go_on = |_: &Look| Verdict::GoOn;
    let watch = RefCell::new(watch(&mut go_on, now_ns));
    let mut row = [Row {
        calls: calls.into_iter().map(|call| (call, Part::Aside)),
        under_way: Part::Aside,
        accounts: Accounts::new(&Arc::default(), u64::MAX, false, now_ns),
        watch: &watch,
    }];
    run(os, &mut row, now_ns).map_err(silent)
}

/// Closes the books of all workers.
fn sum(accounts: Vec<Accounts>, series: &Series, started_ns: u64, stopped: bool) -> Done {
    let (mut done, mut ended_ns) = (Done::default(), started_ns);
    for mut one in accounts {
        one.books.shut();
        ended_ns = ended_ns.max(one.ended_ns);
        done.main.merge(&one.books.main);
        done.flush.merge(&one.books.flush);
        done.close.merge(&one.books.close);
        if done.failure.is_none() {
            done.failure = one.refused;
        }
    }
    done.elapsed_ns = ended_ns - started_ns;
    let intervals = series.between(0, u32::MAX).into_iter();
    done.intervals = intervals.map(|[one, _]| one).collect();
    done.stopped = stopped;
    done
}

impl<D: Device> Os<D> {
    /// Makes calls on large files from `now_ns` on; returns when that was over, and what came of
    /// it.
    pub fn run_large(
        &mut self,
        stock: &mut Stock,
        plan: &LargePlan,
        drop_caches: bool,
        now_ns: u64,
        observe: &mut dyn FnMut(&Look) -> Verdict,
    ) -> Result<(u64, Done), EngineError> {
        plan.check()?;
        self.content_is(left_q16(plan.content));
        let started_ns = self.make_ready(stock, plan, drop_caches, now_ns)?;
        let series = Arc::new(Series::default());
        let watch = RefCell::new(watch(observe, started_ns));
        let heap = Arc::default();
        let mut ended = Vec::new();
        let mut ended_ns = started_ns;
        let workers: Vec<u32> = (0..plan.workers).collect();
        // One after the other are groups of one.
        let group = if plan.in_turn { 1 } else { workers.len() };
        for group in workers.chunks(group) {
            let hand = |&worker: &u32| {
                let turns = Turns::new(plan, worker, Tickets::of(plan, worker, &heap));
                let books = Accounts::new(&series, plan.interval_ns, plan.timed_fsync, started_ns);
                LargeHand::new(plan, plan.file_of(worker), turns, books, &watch)
            };
            let mut hands: Vec<LargeHand<'_, '_>> = group.iter().map(hand).collect();
            ended_ns = run(self, &mut hands, ended_ns).map_err(silent)?;
            ended.extend(hands.into_iter().map(|hand| (hand.accounts, hand.turns)));
        }
        let (accounts, turns): (Vec<_>, Vec<_>) = ended.into_iter().unzip();
        let mut done = sum(accounts, &series, started_ns, watch.borrow().stopped);
        for one in &turns {
            done.touch(one.census());
        }
        Ok((ended_ns, done))
    }

    /// Opens the files, made anew where the plan says so.
    fn make_ready(
        &mut self,
        stock: &mut Stock,
        plan: &LargePlan,
        drop_caches: bool,
        now_ns: u64,
    ) -> Result<u64, EngineError> {
        let mut calls = Vec::new();
        let files: BTreeSet<FileId> = (0..plan.workers)
            .map(|worker| plan.file_of(worker))
            .collect();
        for file in files {
            let is_there = stock.large.contains(&file);
            if plan.fresh {
                if is_there {
                    calls.push(Call::Unlink { file });
                }
                calls.push(Call::Create { file });
                stock.large.insert(file);
            } else if is_there {
                calls.push(Call::Open { file });
            } else {
                return Err(EngineError::PlanRefused { reason: NO_FILE });
            }
            if plan.sparse && (plan.fresh || self.length_of(file) == Some(0)) {
                let length_bytes = plan.whole_bytes();
                calls.push(Call::Resize { file, length_bytes });
            }
        }
        if drop_caches {
            calls.push(Call::DropCaches);
        }
        aside(self, calls, now_ns)
    }

    /// Creates small files, or goes over those that are there.
    pub fn run_small(
        &mut self,
        stock: &mut Stock,
        plan: &SmallPlan,
        now_ns: u64,
        observe: &mut dyn FnMut(&Look) -> Verdict,
    ) -> Result<(u64, Done), EngineError> {
        plan.check()?;
        if plan.operation != SmallOperation::Create && stock.small.is_empty() {
            return Err(EngineError::PlanRefused {
                reason: "there are no files to work on; create them first",
            });
        }
        self.content_is(left_q16(plan.content));
        let files = stock.chosen(plan);
        let series = Arc::new(Series::default());
        let watch = RefCell::new(watch(observe, now_ns));
        let calls = files
            .iter()
            .flat_map(|&(file, bytes)| spelt(plan, file, bytes));
        let last = plan.sync_at_end.then_some((Call::Sync, Part::Aside));
        let mut row = [Row {
            calls: calls.chain(last),
            under_way: Part::Aside,
            accounts: Accounts::new(&series, plan.interval_ns, plan.timed_fsync, now_ns),
            watch: &watch,
        }];
        let ended_ns = run(self, &mut row, now_ns).map_err(silent)?;
        let [Row { accounts, .. }] = row;
        if plan.operation == SmallOperation::Delete {
            stock
                .small
                .retain(|&(file, _)| self.length_of(file).is_some());
        }
        let stopped = watch.borrow().stopped;
        Ok((ended_ns, sum(vec![accounts], &series, now_ns, stopped)))
    }
}

impl Stock {
    /// The files of a step, in the order of work; those to be created are in the stock then.
    fn chosen(&mut self, plan: &SmallPlan) -> Vec<(FileId, u64)> {
        let mut files = if plan.operation == SmallOperation::Create {
            let span = plan.size_bytes - plan.size_least_bytes + 1;
            let new = |number: u64| {
                let draw = scale(derive_seed(plan.seed ^ SIZES, number), span);
                let bytes = match plan.links {
                    Links::Hard | Links::Symbolic if number > 0 => 0,
                    Links::None | Links::Hard | Links::Symbolic => plan.size_least_bytes + draw,
                };
                (FIRST_SMALL + self.next + number as FileId, bytes)
            };
            let new: Vec<(FileId, u64)> = (0..plan.count).map(new).collect();
            self.next += new.len() as FileId;
            self.small.extend(&new);
            new
        } else {
            self.small
                .iter()
                .take(plan.count as usize)
                .copied()
                .collect()
        };
        if plan.order == Order::Random {
            for place in (1..files.len()).rev() {
                let draw = derive_seed(plan.seed, place as u64);
                files.swap(place, scale(draw, place as u64 + 1) as usize);
            }
        }
        files
    }
}

/// The calls of one small file, and what they are part of.
fn spelt(plan: &SmallPlan, file: FileId, bytes: u64) -> Vec<(Call, Part)> {
    let last = |bytes| Part::Last { bytes };
    let chunk = if plan.chunk_bytes > 0 {
        plan.chunk_bytes
    } else {
        u64::MAX
    };
    let pieces = |is_write: bool| {
        let mut at = 0;
        std::iter::from_fn(move || {
            let length = chunk.min(bytes - at).min(1 << 30);
            let call = io(is_write, file, at, length as u32);
            at += length;
            (length > 0).then_some(call)
        })
    };
    let flushes = plan.fsync || plan.fsync_directory;
    let mut calls: Vec<(Call, Part)> = Vec::new();
    match plan.operation {
        SmallOperation::Create => {
            let make = [Call::Create { file }].into_iter().chain(pieces(true));
            calls.extend(make.map(|call| (call, Part::More)));
            let close = Call::Close { file };
            if !flushes {
                calls.push((close, last(bytes)));
                return calls;
            }
            if let Some(end) = calls.last_mut() {
                end.1 = last(bytes);
            }
            let asked = [plan.fsync, plan.fsync_directory]
                .into_iter()
                .filter(|&asked| asked);
            calls.extend(asked.map(|_| (Call::Fsync { file }, Part::Flush)));
            let part = if plan.timed_fsync {
                Part::Close
            } else {
                Part::Aside
            };
            calls.push((close, part));
        }
        SmallOperation::Stat => {
            calls.push((Call::Stat { file }, Part::More));
            if plan.read && bytes > 0 {
                calls.push((Call::Open { file }, Part::More));
                calls.extend(pieces(false).map(|call| (call, Part::More)));
                calls.push((Call::Close { file }, Part::More));
            }
            let moved = if plan.read { bytes } else { 0 };
            if let Some(end) = calls.last_mut() {
                end.1 = last(moved);
            }
        }
        SmallOperation::Delete => {
            calls.push((Call::Unlink { file }, last(0)));
            if plan.fsync_directory {
                calls.push((Call::Sync, Part::Flush));
                let end = if plan.timed_fsync {
                    Part::Close
                } else {
                    Part::Aside
                };
                calls.push((Call::Compute { ns: 0 }, end));
            }
        }
    }
    calls
}

fn io(is_write: bool, file: FileId, offset_bytes: u64, length_bytes: u32) -> Call {
    let how = How::default();
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
