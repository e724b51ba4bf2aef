//! One worker's books: runs of equal latencies, histograms, errors and the current interval.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::histogram::{Histogram, Summary};
use crate::interval::{Meter, Series};
use crate::lap::DirectionLap;
use crate::request::Op;

/// What a worker shows of its lap while it runs. Written by its worker alone.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Board {
    ios: AtomicU64,
    bytes: AtomicU64,
    errors: AtomicU64,
    /// Number of the interval the worker is in: those before it are complete.
    interval: AtomicU32,
}

/// The totals of a board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoardTotals {
    pub ios: u64,
    pub bytes: u64,
    pub errors: u64,
    pub interval: u32,
}

impl Board {
    pub fn read(&self) -> BoardTotals {
        BoardTotals {
            ios: self.ios.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
            interval: self.interval.load(Ordering::Relaxed),
        }
    }
}

/// I/Os of one turn and direction that took equally long. All I/Os of a turn are stamped by one
/// clock and reaped by another one, so most turns are a single run.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    latency_ns: u64,
    ios: u64,
    bytes: u64,
}

/// The books of one lap.
pub(crate) struct Tally {
    /// Read, write, flush, discard.
    directions: [DirectionLap; 4],
    runs: [Run; 2],
    /// What `record_alone` took in and `end_alone` has yet to enter, and its bytes.
    alone: [(Summary, u64); 2],
    meter: Meter,
    totals: BoardTotals,
}

/// Place of a direction in the arrays here.
#[inline]
fn place(op: Op) -> usize {
    usize::from(op != Op::Read)
}

impl Tally {
    pub fn new(started_ns: u64, interval_ns: u64, open_loop: bool) -> Self {
        let direction = || DirectionLap {
            response: open_loop.then(Histogram::new),
            ..DirectionLap::default()
        };
        Self {
            directions: std::array::from_fn(|_| direction()),
            runs: [Run::default(); 2],
            alone: Default::default(),
            meter: Meter::new(started_ns, interval_ns),
            totals: BoardTotals::default(),
        }
    }

    /// Begins a turn: closes the intervals that are past at `now_ns`.
    #[inline]
    pub fn begin_turn(&mut self, now_ns: u64, series: &Series) {
        if self.meter.turn(now_ns, series) {
            self.totals.interval = self.meter.index();
        }
    }

    #[inline]
    pub fn record(&mut self, op: Op, latency_ns: u64, bytes: u32) {
        self.record_run(op, latency_ns, 1, u64::from(bytes));
    }

    /// When the current interval ends.
    #[inline]
    pub fn interval_ends_ns(&self) -> u64 {
        self.meter.ends_ns()
    }

    /// Books several I/Os of one latency.
    #[inline]
    pub fn record_run(&mut self, op: Op, latency_ns: u64, ios: u64, bytes: u64) {
        if ios == 0 {
            return;
        }
        let direction = place(op);
        if self.runs[direction].latency_ns != latency_ns {
            self.flush(direction);
            self.runs[direction].latency_ns = latency_ns;
        }
        let run = &mut self.runs[direction];
        run.ios += ios;
        run.bytes += bytes;
    }

    #[inline]
    pub fn record_response(&mut self, op: Op, response_ns: u64) {
        if let Some(response) = &mut self.directions[place(op)].response {
            response.record(response_ns);
        }
    }

    /// Books a flush or a discard.
    #[cold]
    pub fn record_aside(&mut self, op: Op, latency_ns: u64, bytes: u64) {
        let aside = &mut self.directions[op as usize];
        aside.latency.record(latency_ns);
        aside.bytes += bytes;
    }

    #[cold]
    pub fn record_error(&mut self, op: Op, errno: i32) {
        let direction = op as usize;
        *self.directions[direction].errors.entry(errno).or_default() += 1;
        if let Some(current) = self.meter.current.get_mut(direction) {
            current.errors += 1;
        }
        self.totals.errors += 1;
    }

    #[inline]
    fn flush(&mut self, direction: usize) {
        if self.runs[direction].ios > 0 {
            self.enter(direction);
        }
    }

    /// Enters a run in the books.
    #[inline(never)]
    fn enter(&mut self, direction: usize) {
        let run = std::mem::take(&mut self.runs[direction]);
        self.directions[direction]
            .latency
            .record_n(run.latency_ns, run.ios);
        self.directions[direction].bytes += run.bytes;
        self.meter.current[direction].record_n(run.latency_ns, run.ios, run.bytes);
        self.totals.ios += run.ios;
        self.totals.bytes += run.bytes;
    }

    /// Books an I/O within an interval, where no run is open; `end_alone` follows.
    #[inline]
    pub fn record_alone(&mut self, op: Op, latency_ns: u64, bytes: u32) {
        debug_assert!(self.runs.iter().all(|run| run.ios == 0));
        let direction = place(op);
        self.directions[direction].latency.note(latency_ns);
        let (noted, noted_bytes) = &mut self.alone[direction];
        noted.add(latency_ns);
        *noted_bytes += u64::from(bytes);
    }

    /// Enters what `record_alone` took in, all of one interval, and shows it on the board; false
    /// where that is nothing.
    pub fn end_alone(&mut self, board: &Board) -> bool {
        if self.alone.iter().all(|(noted, _)| noted.count == 0) {
            return false;
        }
        for (direction, alone) in self.alone.iter_mut().enumerate() {
            let (noted, bytes) = std::mem::take(alone);
            let books = &mut self.directions[direction];
            books.latency.account_for(noted);
            books.bytes += bytes;
            self.meter.current[direction].account_for(noted, bytes);
            self.totals.ios += noted.count;
            self.totals.bytes += bytes;
        }
        self.show(board);
        true
    }

    /// Ends a turn: the runs enter the books, the books show on the board.
    #[inline]
    pub fn end_turn(&mut self, board: &Board) {
        self.flush(0);
        self.flush(1);
        self.show(board);
    }

    /// Shows on the board what is in the books.
    #[inline]
    fn show(&self, board: &Board) {
        board.ios.store(self.totals.ios, Ordering::Relaxed);
        board.bytes.store(self.totals.bytes, Ordering::Relaxed);
        board.errors.store(self.totals.errors, Ordering::Relaxed);
        board
            .interval
            .store(self.totals.interval, Ordering::Relaxed);
    }

    /// Closes the books: read, write, flush, discard.
    pub fn close(mut self, series: &Series) -> [DirectionLap; 4] {
        self.flush(0);
        self.flush(1);
        self.meter.close(series);
        for direction in &mut self.directions {
            direction.ios = direction.latency.count();
        }
        self.directions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ios_booked_alone_are_in_the_books_as_any_other() {
        let (series, board) = (Series::default(), Board::default());
        let (mut alone, mut each) = (Tally::new(0, 1_000, false), Tally::new(0, 1_000, false));
        for turn in 0..50 {
            each.begin_turn(100 * turn, &series);
            alone.begin_turn(100 * turn, &series);
            // Some turns have reads alone, and some nothing at all.
            for number in 0..turn % 7 {
                let op = if turn % 3 == 0 || number % 2 == 0 {
                    Op::Read
                } else {
                    Op::Write
                };
                let latency_ns = 10_000_000 / (1 + 97 * turn * number % 1_013);
                alone.record_alone(op, latency_ns, 4096);
                each.record(op, latency_ns, 4096);
            }
            alone.end_alone(&board);
            let shown = board.read();
            each.end_turn(&board);
            assert_eq!(shown, board.read());
            assert_eq!(alone.meter.current, each.meter.current);
        }
        let laps = [alone.close(&series), each.close(&series)];
        for (alone, each) in laps[0].iter().zip(&laps[1]) {
            assert_eq!((alone.ios, alone.bytes), (each.ios, each.bytes));
            assert_eq!(alone.latency, each.latency);
        }
        assert!(laps[0][0].ios > 50 && laps[0][1].ios > 10);
    }
}
