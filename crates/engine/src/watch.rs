//! The watch over a crew of threads: it collects their shares, reports their progress, and leaves
//! them when the observer says so or the device does not answer.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::backend::BackendKind;
use crate::clock::{Clock, CpuClock, HostClock};
use crate::crew::{Crew, Progress};
use crate::error::{EngineError, Stuck};
use crate::lap::Lap;
use crate::place::Place;
use crate::technique::Techniques;
use crate::thread::{Ready, Report};

/// The observer is asked this often.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Somebody who did not look for so long was not running: ages say nothing of the device then,
/// until so long was looked on again.
const BLIND_NS: u64 = 1_000_000_000;
/// Who is left has so long to come back.
const GRACE_NS: u64 = 300_000_000;

/// What somebody who looks on wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    GoOn,
    /// Issue nothing more; wait for what is in flight.
    Stop,
    /// Do not even wait for that.
    Leave,
}

impl From<bool> for Verdict {
    fn from(goes_on: bool) -> Self {
        if goes_on {
            Self::GoOn
        } else {
            Self::Stop
        }
    }
}

/// A crew at work.
pub(crate) struct Watch {
    pub crew: Crew,
    pub kind: BackendKind,
    pub reports: Receiver<Report>,
    /// Workers that have not ended.
    pub working: usize,
    pub clock: HostClock,
    /// What every worker's backend makes use of, and what the session does.
    pub granted: Techniques,
    pub own: Techniques,
    /// Where workers are kept, by their numbers, until the processors begin again.
    pub places: BTreeMap<usize, Place>,
    pub processors: usize,
    /// CPU time of the process when the lap began.
    pub cpu_ns: u64,
    /// An I/O that is older is not waited for.
    pub io_timeout_ns: u64,
    pub sight: Sight,
}

/// When ages were looked at, so that a program that was stopped takes its own pause for nobody's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sight {
    looked_ns: Option<u64>,
    blind_until_ns: u64,
}

impl Sight {
    /// Whether ages may be judged at `now_ns`.
    fn is_clear(&mut self, now_ns: u64) -> bool {
        let looked_ns = self.looked_ns.replace(now_ns).unwrap_or(now_ns);
        if now_ns.saturating_sub(looked_ns) > BLIND_NS {
            self.blind_until_ns = now_ns + BLIND_NS;
        }
        now_ns >= self.blind_until_ns
    }
}

impl Watch {
    /// Waits until every worker is ready to start.
    pub fn wait_until_ready(&mut self) -> Result<(), EngineError> {
        let mut refusal = None;
        for _ in 0..self.working {
            match self.reports.recv() {
                Ok(Report::Ready(Ok(ready))) => self.take_in(ready),
                Ok(Report::Ready(Err(error))) => refusal = refusal.or(Some(error)),
                Ok(Report::Share(_) | Report::Ended) => unreachable!("the gate is closed"),
                Err(_) => return Err(EngineError::ThreadLost { errno: 0 }),
            }
        }
        refusal.map_or(Ok(()), Err)
    }

    fn take_in(&mut self, ready: Ready) {
        self.granted = self.granted.common(ready.granted);
        let is_first_there = ready.worker < self.processors;
        let place = ready.place.filter(|_| is_first_there);
        self.places.extend(place.map(|place| (ready.worker, place)));
    }

    /// Collects one share of every worker; all of them end unless the lap is open-ended.
    pub fn see_lap(
        &mut self,
        open_ended: bool,
        mut observe: impl FnMut(&Progress) -> Verdict,
    ) -> Result<Lap, EngineError> {
        let workers = self.crew.seats().len();
        let mut shares = Vec::with_capacity(workers);
        let mut late_failure = None;
        let mut seen = 0;
        let mut stopped = false;
        while shares.len() < workers || (!open_ended || self.crew.is_halted()) && self.working > 0 {
            match self.reports.recv_timeout(LOOK_EVERY) {
                Ok(Report::Share(share)) if shares.len() < workers => shares.push(share),
                // A worker that is halted just after its hand-over has a second share.
                Ok(Report::Share(share)) => late_failure = late_failure.or(share.failure),
                Ok(Report::Ready(_)) => unreachable!("all are past the gate"),
                Ok(Report::Ended) => self.working -= 1,
                Err(RecvTimeoutError::Timeout) => {
                    let progress = self.crew.progress(self.clock.now_ns(), seen);
                    seen += progress.finished.iter().map(Vec::len).max().unwrap_or(0) as u32;
                    match observe(&progress) {
                        Verdict::GoOn => {}
                        Verdict::Stop if stopped => {}
                        Verdict::Stop => {
                            stopped = true;
                            self.crew.halt();
                        }
                        Verdict::Leave => return Err(self.leave(Vec::new())),
                    }
                    self.check_ages()?;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(EngineError::ThreadLost { errno: 0 });
                }
            }
        }
        let mut lap = self.crew.lap(shares, stopped);
        lap.failure = lap.failure.or(late_failure);
        self.testify(&mut lap);
        Ok(lap)
    }

    /// Leaves a device that has had an I/O for too long.
    fn check_ages(&mut self) -> Result<(), EngineError> {
        let now_ns = self.clock.now_ns();
        if !self.sight.is_clear(now_ns) {
            return Ok(());
        }
        match self.crew.aged(now_ns, self.io_timeout_ns) {
            late if late.is_empty() => Ok(()),
            late => Err(self.leave(late)),
        }
    }

    /// Waits no longer than a moment; what is not back by then is named, or what was `late`.
    fn leave(&mut self, late: Vec<Stuck>) -> EngineError {
        self.crew.halt();
        let until_ns = self.clock.now_ns() + GRACE_NS;
        while self.working > 0 {
            let left_ns = until_ns.saturating_sub(self.clock.now_ns());
            match self.reports.recv_timeout(Duration::from_nanos(left_ns)) {
                Ok(Report::Ended) => self.working -= 1,
                Ok(Report::Ready(_) | Report::Share(_)) => {}
                Err(_) => break,
            }
        }
        let stuck = match self.working {
            0 => late,
            _ => self.crew.aged(self.clock.now_ns(), 0),
        };
        EngineError::Left { stuck }
    }

    /// Adds what only the session knows of the lap.
    fn testify(&mut self, lap: &mut Lap) {
        let began_ns = std::mem::replace(&mut self.cpu_ns, CpuClock.now_ns());
        let witness = &mut lap.witness;
        witness.backend = Some(self.kind);
        witness.cpu_ns = self.cpu_ns - began_ns;
        witness.techniques = self.granted.and(self.own);
        witness.drift_ppm = self.clock.drift_ppm();
        witness.places = self.places.values().copied().collect();
    }

    /// Waits for the end of every worker, unless somebody or the device's silence ends that.
    pub fn drain(&mut self, observe: &mut impl FnMut() -> Verdict) -> Result<(), EngineError> {
        while self.working > 0 {
            match self.reports.recv_timeout(LOOK_EVERY) {
                Ok(Report::Ended) => self.working -= 1,
                Ok(Report::Ready(_) | Report::Share(_)) => {}
                Err(RecvTimeoutError::Timeout) => {
                    if observe() == Verdict::Leave {
                        return Err(self.leave(Vec::new()));
                    }
                    self.check_ages()?;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_of_the_program_itself_is_no_silence_of_the_device() {
        const SECOND: u64 = 1_000_000_000;
        let mut sight = Sight::default();
        assert!(sight.is_clear(5 * SECOND));
        assert!(sight.is_clear(5 * SECOND + SECOND / 10));
        // Stopped for ten minutes.
        assert!(!sight.is_clear(605 * SECOND));
        assert!(!sight.is_clear(605 * SECOND + SECOND / 2));
        assert!(sight.is_clear(606 * SECOND));
    }
}
