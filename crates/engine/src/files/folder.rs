//! A folder of ours on a file system: what was made in it, and the steps of work on it.

use std::collections::BTreeSet;
use std::io::PipeReader;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::books::Books;
use super::calls::Calls;
use super::crew::{Crew, Done, Look, Watching};
use super::kernel::Kernel;
use super::large::LargeWorker;
use super::names::{directory_name, large_name};
use super::plan::{LargePlan, SmallOperation, SmallPlan};
use super::small::{SmallWorker, Stock};
use super::turns::{feed, Tickets};
use crate::error::{errno_of, EngineError};
use crate::interval::Series;
use crate::watch::Verdict;

/// Files in an open folder that nobody else works in. What is left of them is removed by `clear`.
pub struct Folder {
    kernel: Arc<Kernel>,
    stock: Stock,
    large: BTreeSet<u32>,
    io_timeout_ns: u64,
    /// A step was left: its threads may still be in a call, and what they made is not known.
    left: bool,
}

impl Folder {
    pub fn new(folder: OwnedFd) -> Self {
        Self {
            kernel: Arc::new(Kernel::new(folder)),
            stock: Stock::default(),
            large: BTreeSet::new(),
            io_timeout_ns: u64::MAX,
            left: false,
        }
    }

    /// Leaves a step from now on when a call takes longer.
    pub fn limit_io(&mut self, io_timeout_ns: u64) {
        self.io_timeout_ns = io_timeout_ns;
    }

    /// Makes calls on large files.
    pub fn run_large(
        &mut self,
        plan: &LargePlan,
        observe: impl FnMut(&Look) -> Verdict,
    ) -> Result<Done, EngineError> {
        plan.check()?;
        self.refuse_left()?;
        let series = Arc::new(Series::default());
        let heap = Arc::default();
        let pipe = pipe_of(plan)?;
        let files = (0..plan.workers).map(|number| plan.file_of(number));
        self.large.extend(files);
        let workers = (0..plan.workers).map(|number| {
            let tickets = match &pipe {
                Some(pipe) => Tickets::Piped(Arc::clone(pipe)),
                None => Tickets::of(plan, number, &heap),
            };
            let books = Books::new(Arc::default(), Arc::clone(&series), plan.interval_ns);
            LargeWorker::new(Arc::clone(&self.kernel), plan, number, tickets, books)
        });
        let watching = Watching {
            io_timeout_ns: self.io_timeout_ns,
            flush_bytes: plan.file_bytes.saturating_mul(u64::from(plan.workers)),
            in_turn: plan.in_turn,
        };
        let crew = Crew::start(workers.collect(), series, watching);
        let seen = crew.and_then(|crew| crew.see(observe));
        self.settle(&seen);
        seen.map(|(done, _)| done)
    }

    /// Creates small files, or goes over those that are there.
    pub fn run_small(
        &mut self,
        plan: &SmallPlan,
        observe: impl FnMut(&Look) -> Verdict,
    ) -> Result<Done, EngineError> {
        plan.check()?;
        self.refuse_left()?;
        if plan.operation == SmallOperation::Create {
            self.make_directories(plan.directories)?;
        } else if self.stock.files.iter().all(Option::is_none) {
            return Err(EngineError::PlanRefused {
                reason: "there are no files to work on; create them first",
            });
        }
        let series = Arc::new(Series::default());
        let books = Books::new(Arc::default(), Arc::clone(&series), plan.interval_ns);
        let stock = std::mem::take(&mut self.stock);
        let worker = SmallWorker::new(Arc::clone(&self.kernel), plan, stock, books);
        let watching = Watching {
            io_timeout_ns: self.io_timeout_ns,
            flush_bytes: plan.size_bytes,
            in_turn: false,
        };
        let crew = Crew::start(vec![worker], series, watching);
        let seen = crew.and_then(|crew| crew.see(observe));
        self.settle(&seen);
        seen.map(|(done, back)| {
            for worker in back {
                self.stock = worker.stock;
            }
            done
        })
    }

    fn settle<T>(&mut self, seen: &Result<T, EngineError>) {
        self.left |= match seen {
            Err(EngineError::CallLeft { .. }) => true,
            // Who still has the calls may make some.
            Err(EngineError::ThreadLost { .. }) => Arc::strong_count(&self.kernel) > 1,
            Ok(_) | Err(_) => false,
        };
    }

    fn refuse_left(&self) -> Result<(), EngineError> {
        if self.left {
            return Err(EngineError::CallLeft {
                call: "",
                age_ns: 0,
            });
        }
        Ok(())
    }

    /// Makes the directories that small files are spread over; what is in others stays there.
    fn make_directories(&mut self, count: u32) -> Result<(), EngineError> {
        let made = self.stock.directories;
        if count <= made {
            return Ok(());
        }
        let kernel = self.kernel()?;
        for number in made..count {
            let tried = kernel.make_directory(&directory_name(number));
            tried.map_err(|errno| EngineError::FileRefused {
                call: "mkdir",
                errno,
            })?;
        }
        self.stock.directories = count;
        Ok(())
    }

    /// Nobody works between two steps, unless one was left.
    fn kernel(&mut self) -> Result<&mut Kernel, EngineError> {
        Arc::get_mut(&mut self.kernel).ok_or(EngineError::CallLeft {
            call: "",
            age_ns: 0,
        })
    }

    /// Removes all files and directories that were made here; what others put there stays. Nothing
    /// where a step was left: its calls could be waited for without end.
    pub fn clear(&mut self) {
        if self.left {
            return;
        }
        for made in std::mem::take(&mut self.stock).files.into_iter().flatten() {
            let _ = self.kernel.unlink(made.directory, &made.name);
        }
        for number in std::mem::take(&mut self.large) {
            let _ = self.kernel.unlink(0, &large_name(number));
        }
        if let Ok(kernel) = self.kernel() {
            kernel.remove_directories();
        }
    }
}

/// A pipe that tickets are fed to, where workers draw them from one.
fn pipe_of(plan: &LargePlan) -> Result<Option<Arc<PipeReader>>, EngineError> {
    if !(plan.tickets_by_pipe && plan.shares_tickets()) {
        return Ok(None);
    }
    let (reader, writer) = std::io::pipe().map_err(|error| EngineError::FileRefused {
        call: "pipe",
        errno: errno_of(&error),
    })?;
    feed(writer, plan.units(), plan.workers);
    Ok(Some(Arc::new(reader)))
}
