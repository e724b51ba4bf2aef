//! What one worker on files counts, and what it shows while it works.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicU8, Ordering};
use std::sync::Arc;

use super::calls::Tried;
use crate::error::EngineError;
use crate::histogram::Histogram;
use crate::interval::{Meter, Series};

/// The call that a worker is in: what it is called where it does not return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Doing {
    Nothing,
    Open,
    Call,
    Flush,
    Close,
}

impl Doing {
    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Open => "open",
            Self::Call => "call",
            Self::Flush => "fsync",
            Self::Close => "close",
        }
    }

    fn of(number: u8) -> Self {
        match number {
            1 => Self::Open,
            2 => Self::Call,
            3 => Self::Flush,
            4 => Self::Close,
            _ => Self::Nothing,
        }
    }
}

/// What a worker shows. Written by it alone.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Board {
    done: AtomicU64,
    bytes: AtomicU64,
    errors: AtomicU64,
    interval: AtomicU64,
    began_ns: AtomicU64,
    doing: AtomicU8,
}

/// The totals of a board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub done: u64,
    pub bytes: u64,
    pub errors: u64,
    /// Number of the interval that the worker is in.
    pub interval: u64,
}

impl Board {
    pub fn read(&self) -> Totals {
        Totals {
            done: self.done.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
            interval: self.interval.load(Ordering::Relaxed),
        }
    }

    /// What the worker does since when; None where it is between two calls.
    pub fn doing(&self) -> Option<(Doing, u64)> {
        let doing = Doing::of(self.doing.load(Ordering::Acquire));
        let began_ns = self.began_ns.load(Ordering::Relaxed);
        (doing != Doing::Nothing).then_some((doing, began_ns))
    }

    #[inline]
    pub fn begin(&self, doing: Doing, now_ns: u64) {
        self.began_ns.store(now_ns, Ordering::Relaxed);
        self.doing.store(doing as u8, Ordering::Release);
    }

    #[inline]
    pub fn end(&self) {
        self.doing.store(Doing::Nothing as u8, Ordering::Release);
    }
}

/// One kind of operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    pub times: Histogram,
    pub bytes: u64,
    /// By errno; 0 is a short call. What failed is in no other figure.
    pub errors: BTreeMap<i32, u64>,
}

impl Ledger {
    pub fn merge(&mut self, other: &Self) {
        self.times.merge(&other.times);
        self.bytes += other.bytes;
        for (errno, count) in &other.errors {
            *self.errors.entry(*errno).or_default() += count;
        }
    }

    pub fn record(&mut self, tried: Tried<u64>, took_ns: u64) {
        match tried {
            Ok(bytes) => {
                self.times.record(took_ns);
                self.bytes += bytes;
            }
            Err(errno) => *self.errors.entry(errno).or_default() += 1,
        }
    }
}

/// A worker's books.
#[derive(Debug)]
pub struct Books {
    pub main: Ledger,
    pub flush: Ledger,
    pub close: Ledger,
    pub board: Arc<Board>,
    series: Arc<Series>,
    meter: Meter,
    totals: Totals,
    failures_in_a_row: u64,
}

impl Books {
    pub fn new(board: Arc<Board>, series: Arc<Series>, interval_ns: u64) -> Self {
        Self {
            main: Ledger::default(),
            flush: Ledger::default(),
            close: Ledger::default(),
            board,
            series,
            meter: Meter::new(0, interval_ns),
            totals: Totals::default(),
            failures_in_a_row: 0,
        }
    }

    /// Begins the time of the step.
    pub fn start(&mut self, started_ns: u64, interval_ns: u64) {
        self.meter = Meter::new(started_ns, interval_ns);
    }

    /// Books one operation that ended at `now_ns`.
    #[inline]
    pub fn record(&mut self, tried: Tried<u64>, took_ns: u64, now_ns: u64) -> Result<(), Refused> {
        if self.meter.turn(now_ns, &self.series) {
            self.totals.interval = u64::from(self.meter.index());
            self.board
                .interval
                .store(self.totals.interval, Ordering::Relaxed);
        }
        self.main_record(tried, took_ns)
    }

    #[inline]
    fn main_record(&mut self, tried: Tried<u64>, took_ns: u64) -> Result<(), Refused> {
        match tried {
            Ok(bytes) => {
                self.main.times.record(took_ns);
                self.main.bytes += bytes;
                self.meter.current[0].record_n(took_ns, 1, bytes);
                self.failures_in_a_row = 0;
                self.totals.done += 1;
                self.totals.bytes += bytes;
                self.board.done.store(self.totals.done, Ordering::Relaxed);
                self.board.bytes.store(self.totals.bytes, Ordering::Relaxed);
                Ok(())
            }
            Err(errno) => self.fail(errno),
        }
    }

    #[cold]
    fn fail(&mut self, errno: i32) -> Result<(), Refused> {
        *self.main.errors.entry(errno).or_default() += 1;
        self.meter.current[0].errors += 1;
        self.totals.errors += 1;
        self.failures_in_a_row += 1;
        self.board
            .errors
            .store(self.totals.errors, Ordering::Relaxed);
        if is_full(errno) {
            return Err(EngineError::DiskFull.into());
        }
        let failures = self.failures_in_a_row;
        EngineError::of_failures(errno, failures, None).map_or(Ok(()), |error| Err(error.into()))
    }

    /// Hands over the last interval.
    pub fn shut(&mut self) {
        self.meter.close(&self.series);
    }
}

/// Why a worker goes no further.
pub type Refused = Box<EngineError>;

/// Whether a disk or a quota has no room.
pub fn is_full(errno: i32) -> bool {
    matches!(errno, libc::ENOSPC | libc::EDQUOT)
}
