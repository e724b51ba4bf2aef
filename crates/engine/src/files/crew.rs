//! The threads of a step on files. They start together or one after the other; who looks on may
//! stop them, and leaves one that does not come back from a call to itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::time::Duration;

use super::books::{Board, Doing, Ledger, Refused, Totals};
use super::calls::Calls;
use super::large::LargeWorker;
use super::small::SmallWorker;
use super::table::OwnTable;
use crate::census::Census;
use crate::clock::{Clock, HostClock};
use crate::error::{errno_of, EngineError};
use crate::interval::{Interval, Series};
use crate::watch::Verdict;

/// The observer is asked this often.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Who is left has so long to come back.
const GRACE: Duration = Duration::from_millis(300);
/// A flush may take its time for what it writes: a slow disk's.
const FLUSH_BYTES_PER_SECOND: u64 = 1 << 20;
const STACK_BYTES: usize = 512 << 10;
/// Somebody who did not look for so long was not running: ages say nothing then.
const BLIND_NS: u64 = 1_000_000_000;

/// A look at running work.
#[derive(Clone, Debug, Default)]
pub struct Look {
    pub elapsed_ns: u64,
    pub totals: Totals,
    /// Newly finished intervals.
    pub finished: Vec<Interval>,
}

/// What came of a step.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// From the first start to the last close.
    pub elapsed_ns: u64,
    pub main: Ledger,
    pub flush: Ledger,
    pub close: Ledger,
    /// Which chunks were touched, where the plan asks for it.
    pub touched: Option<Census>,
    pub intervals: Vec<Interval>,
    /// CPU time of the workers.
    pub cpu_user_ns: u64,
    pub cpu_system_ns: u64,
    /// Somebody asked to stop.
    pub stopped: bool,
    pub failure: Option<EngineError>,
}

impl Done {
    /// Adds what one worker touched.
    pub fn touch(&mut self, own: Option<&Census>) {
        if let Some(own) = own {
            self.touched.get_or_insert_default().merge(own);
        }
    }
}

/// One worker of a step.
pub trait Hand: Send + 'static {
    fn board(&self) -> Arc<Board>;
    /// Makes ready, outside the time of the step.
    fn open(&mut self) -> Result<(), Refused>;
    fn start(&mut self, started_ns: u64);
    fn turn(&mut self) -> Result<bool, Refused>;
    /// When it was over.
    fn end(&mut self) -> (u64, Result<(), Refused>);
    fn now_ns(&self) -> u64;
    /// Main, flush and close.
    fn ledgers(&self) -> [&Ledger; 3];
    /// Which chunks it touched, where its plan asks for that.
    fn touched(&self) -> Option<&Census>;
    /// The numbers of the descriptors that it works with from its beginning.
    fn descriptors(&self) -> Vec<i32>;
}

impl<C> Hand for LargeWorker<C>
where
    C: Calls + Send + Sync + 'static,
{
    fn board(&self) -> Arc<Board> {
        Arc::clone(&self.books.board)
    }
    fn open(&mut self) -> Result<(), Refused> {
        LargeWorker::open(self)
    }
    fn start(&mut self, started_ns: u64) {
        LargeWorker::start(self, started_ns);
    }
    #[inline]
    fn turn(&mut self) -> Result<bool, Refused> {
        LargeWorker::turn(self)
    }
    fn end(&mut self) -> (u64, Result<(), Refused>) {
        LargeWorker::end(self)
    }
    fn now_ns(&self) -> u64 {
        LargeWorker::now_ns(self)
    }
    fn descriptors(&self) -> Vec<i32> {
        LargeWorker::descriptors(self)
    }
    fn ledgers(&self) -> [&Ledger; 3] {
        [&self.books.main, &self.books.flush, &self.books.close]
    }
    fn touched(&self) -> Option<&Census> {
        LargeWorker::touched(self)
    }
}

impl<C> Hand for SmallWorker<C>
where
    C: Calls + Send + Sync + 'static,
{
    fn board(&self) -> Arc<Board> {
        Arc::clone(&self.books.board)
    }
    fn open(&mut self) -> Result<(), Refused> {
        Ok(())
    }
    fn start(&mut self, started_ns: u64) {
        SmallWorker::start(self, started_ns);
    }
    #[inline]
    fn turn(&mut self) -> Result<bool, Refused> {
        SmallWorker::turn(self)
    }
    fn end(&mut self) -> (u64, Result<(), Refused>) {
        (SmallWorker::end(self), Ok(()))
    }
    fn now_ns(&self) -> u64 {
        SmallWorker::now_ns(self)
    }
    fn descriptors(&self) -> Vec<i32> {
        SmallWorker::descriptors(self)
    }
    fn ledgers(&self) -> [&Ledger; 3] {
        [&self.books.main, &self.books.flush, &self.books.close]
    }
    fn touched(&self) -> Option<&Census> {
        None
    }
}

/// How a step is to be watched.
#[derive(Clone, Copy, Debug)]
pub struct Watching {
    /// A call that takes longer is left.
    pub io_timeout_ns: u64,
    /// What a flush may have to write.
    pub flush_bytes: u64,
    pub in_turn: bool,
}

struct Return<H> {
    worker: Box<H>,
    ended_ns: u64,
    cpu: (u64, u64),
    failure: Option<EngineError>,
}

enum Report<H> {
    Ready(Result<(), EngineError>),
    Back(Return<H>),
}

/// Workers on their threads.
pub struct Crew<H: Hand> {
    boards: Vec<Arc<Board>>,
    goes: Vec<Option<Sender<u64>>>,
    reports: Receiver<Report<H>>,
    halted: Arc<AtomicBool>,
    series: Arc<Series>,
    watching: Watching,
    clock: HostClock,
}

impl<H: Hand> Crew<H> {
    /// Starts a thread for each worker, which waits for the beginning.
    pub fn start(
        workers: Vec<H>,
        series: Arc<Series>,
        watching: Watching,
    ) -> Result<Self, EngineError> {
        let (sender, reports) = channel();
        let halted = Arc::new(AtomicBool::new(false));
        let (mut boards, mut goes) = (Vec::new(), Vec::new());
        let alone = workers.len() == 1;
        for worker in workers {
            boards.push(worker.board());
            let (go, begins) = channel();
            goes.push(Some(go));
            let (report, halted) = (sender.clone(), Arc::clone(&halted));
            let thread = std::thread::Builder::new()
                .name("teijo-files".into())
                .stack_size(STACK_BYTES);
            // A thread that is never told to begin ends by itself: the sender is dropped.
            let spawned = thread.spawn(move || {
                serve(Box::new(worker), &begins, &report, &halted, alone);
            });
            if let Err(error) = spawned {
                let errno = errno_of(&error);
                // The others are opening files.
                drop(sender);
                dismiss(goes, &reports);
                return Err(EngineError::ThreadLost { errno });
            }
        }
        Ok(Self {
            boards,
            goes,
            reports,
            halted,
            series,
            watching,
            clock: HostClock::best(),
        })
    }

    /// Lets them work, and returns what came of it with the workers; without them where one had
    /// to be left.
    pub fn see(
        mut self,
        mut observe: impl FnMut(&Look) -> Verdict,
    ) -> Result<(Done, Vec<Box<H>>), EngineError> {
        let mut sight = Sight::new(self.clock.now_ns());
        self.gather(&mut sight, &mut observe)?;
        let started_ns = self.clock.now_ns();
        let begun = if self.watching.in_turn {
            1
        } else {
            self.goes.len()
        };
        for place in 0..begun {
            self.begin(place, started_ns);
        }
        let (mut done, mut back, mut ended_ns) = (Done::default(), Vec::new(), started_ns);
        while back.len() < self.boards.len() {
            match self.reports.recv_timeout(LOOK_EVERY) {
                Ok(Report::Back(one)) => {
                    ended_ns = ended_ns.max(one.ended_ns);
                    take_in(&mut done, &one);
                    back.push(one.worker);
                    if done.failure.is_some() {
                        self.halted.store(true, Ordering::Relaxed);
                    }
                    if self.watching.in_turn && back.len() < self.boards.len() {
                        self.begin(back.len(), started_ns);
                    }
                }
                Ok(Report::Ready(_)) => unreachable!("all were ready"),
                Err(RecvTimeoutError::Timeout) => {
                    let look = self.look(started_ns, &mut sight);
                    self.heed(observe(&look), &mut done.stopped)?;
                    self.check_ages(&mut sight)?;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(EngineError::ThreadLost { errno: 0 });
                }
            }
        }
        done.elapsed_ns = ended_ns.saturating_sub(started_ns);
        done.intervals = only_one(self.series.between(0, u32::MAX));
        Ok((done, back))
    }

    fn begin(&mut self, place: usize, started_ns: u64) {
        if let Some(go) = self.goes[place].take() {
            // A thread that is gone is told of by its missing report.
            let _ = go.send(started_ns);
        }
    }

    /// Waits until all are ready.
    fn gather(
        &mut self,
        sight: &mut Sight,
        observe: &mut impl FnMut(&Look) -> Verdict,
    ) -> Result<(), EngineError> {
        let (mut ready, mut refusal, mut stopped) = (0, None, false);
        while ready < self.boards.len() {
            match self.reports.recv_timeout(LOOK_EVERY) {
                Ok(Report::Ready(one)) => {
                    ready += 1;
                    refusal = refusal.or(one.err());
                }
                Ok(Report::Back(_)) => unreachable!("nobody began"),
                Err(RecvTimeoutError::Timeout) => {
                    self.heed(observe(&Look::default()), &mut stopped)?;
                    self.check_ages(sight)?;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(EngineError::ThreadLost { errno: 0 });
                }
            }
        }
        let Some(error) = refusal else { return Ok(()) };
        dismiss(std::mem::take(&mut self.goes), &self.reports);
        Err(error)
    }

    fn look(&self, started_ns: u64, sight: &mut Sight) -> Look {
        let mut totals = Totals {
            interval: u64::MAX,
            ..Totals::default()
        };
        for board in &self.boards {
            let own = board.read();
            totals.done += own.done;
            totals.bytes += own.bytes;
            totals.errors += own.errors;
            totals.interval = totals.interval.min(own.interval);
        }
        // Of workers in turn those that wait are in interval 0: the series is whole at the end.
        let finished = only_one(self.series.between(sight.seen, totals.interval as u32));
        sight.seen += finished.len() as u32;
        Look {
            elapsed_ns: self.clock.now_ns().saturating_sub(started_ns),
            totals,
            finished,
        }
    }

    fn heed(&self, verdict: Verdict, stopped: &mut bool) -> Result<(), EngineError> {
        match verdict {
            Verdict::GoOn => Ok(()),
            Verdict::Stop => {
                *stopped = true;
                self.halted.store(true, Ordering::Relaxed);
                Ok(())
            }
            Verdict::Leave => Err(self.leave()),
        }
    }

    fn check_ages(&self, sight: &mut Sight) -> Result<(), EngineError> {
        let now_ns = self.clock.now_ns();
        if !sight.is_clear(now_ns) {
            return Ok(());
        }
        match self.oldest(now_ns) {
            Some((doing, age_ns)) if age_ns > self.limit_ns(doing) => Err(self.leave()),
            _ => Ok(()),
        }
    }

    fn limit_ns(&self, doing: Doing) -> u64 {
        let flush_seconds = match doing {
            Doing::Flush | Doing::Close => self.watching.flush_bytes / FLUSH_BYTES_PER_SECOND,
            Doing::Nothing | Doing::Open | Doing::Call => 0,
        };
        let limit_ns = self.watching.io_timeout_ns;
        limit_ns.saturating_add(flush_seconds.saturating_mul(1_000_000_000))
    }

    fn oldest(&self, now_ns: u64) -> Option<(Doing, u64)> {
        let doing = self.boards.iter().filter_map(|board| board.doing());
        let aged = doing.map(|(doing, began_ns)| (doing, now_ns.saturating_sub(began_ns)));
        aged.max_by_key(|(_, age_ns)| *age_ns)
    }

    /// Waits no longer than a moment. Threads that are in a call end with it, or with the process.
    fn leave(&self) -> EngineError {
        self.halted.store(true, Ordering::Relaxed);
        let now_ns = self.clock.now_ns();
        let oldest = self.oldest(now_ns);
        let mut working = self.boards.len();
        while working > 0 && self.reports.recv_timeout(GRACE).is_ok() {
            working -= 1;
        }
        let (doing, age_ns) = oldest.unwrap_or((Doing::Nothing, 0));
        EngineError::CallLeft {
            call: doing.name(),
            age_ns,
        }
    }
}

/// What was seen: intervals, and when somebody looked.
struct Sight {
    seen: u32,
    looked_ns: u64,
    blind_until_ns: u64,
}

impl Sight {
    fn new(now_ns: u64) -> Self {
        Self {
            seen: 0,
            looked_ns: now_ns,
            blind_until_ns: 0,
        }
    }

    /// Whether ages may be judged at `now_ns`.
    fn is_clear(&mut self, now_ns: u64) -> bool {
        let before_ns = std::mem::replace(&mut self.looked_ns, now_ns);
        if now_ns.saturating_sub(before_ns) > BLIND_NS {
            self.blind_until_ns = now_ns + BLIND_NS;
        }
        now_ns >= self.blind_until_ns
    }
}

fn take_in<H: Hand>(done: &mut Done, one: &Return<H>) {
    let [main, flush, close] = one.worker.ledgers();
    done.main.merge(main);
    done.flush.merge(flush);
    done.close.merge(close);
    done.touch(one.worker.touched());
    done.cpu_user_ns += one.cpu.0;
    done.cpu_system_ns += one.cpu.1;
    if done.failure.is_none() {
        done.failure.clone_from(&one.failure);
    }
}

fn only_one(pairs: Vec<[Interval; 2]>) -> Vec<Interval> {
    pairs.into_iter().map(|[one, _]| one).collect()
}

/// Tells threads that wait for the beginning to end, and waits until they have, or for a moment.
///
/// A lone one has descriptors of its own: what it let go of last would stay open in the program.
fn dismiss<H>(goes: Vec<Option<Sender<u64>>>, reports: &Receiver<Report<H>>) {
    drop(goes);
    while reports.recv_timeout(GRACE).is_ok() {}
}

/// A worker's thread.
fn serve<H: Hand>(
    mut worker: Box<H>,
    begins: &Receiver<u64>,
    reports: &Sender<Report<H>>,
    halted: &AtomicBool,
    alone: bool,
) {
    let table = alone.then(|| OwnTable::keeping(worker.descriptors()));
    let ready = worker.open().map_err(|error| *error);
    let is_ready = ready.is_ok();
    if reports.send(Report::Ready(ready)).is_err() || !is_ready {
        return;
    }
    let Ok(started_ns) = begins.recv() else {
        let _ = worker.end();
        return;
    };
    let before = cpu_ns();
    worker.start(started_ns);
    let mut failure = None;
    while !halted.load(Ordering::Relaxed) {
        match worker.turn() {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                failure = Some(*error);
                break;
            }
        }
    }
    let (ended_ns, ended) = worker.end();
    let after = cpu_ns();
    let back = Return {
        worker,
        ended_ns,
        cpu: (after.0 - before.0, after.1 - before.1),
        failure: failure.or(ended.err().map(|error| *error)),
    };
    // Before anybody goes on: what this thread still held open would be claimed, or locked.
    drop(table);
    // Nobody waits where the step was left.
    let _ = reports.send(Report::Back(back));
}

/// CPU time of this thread: user, system.
fn cpu_ns() -> (u64, u64) {
    // SAFETY: the structure is ours, and the call fills it in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    let ns = |time: libc::timeval| {
        time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1_000
    };
    (ns(usage.ru_utime), ns(usage.ru_stime))
}
