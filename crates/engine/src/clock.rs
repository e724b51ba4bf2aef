//! Where time comes from. Nothing else in the engine reads a clock.

use std::fs;
use std::sync::OnceLock;

use rustix::time::{clock_gettime, ClockId};

const NS_PER_SECOND: u64 = 1_000_000_000;
/// The counter is compared with the kernel's clock over this long before it is believed.
const CALIBRATION_NS: u64 = 20_000_000;
/// Beyond this the counter is no clock.
const DRIFT_PPM_MAX: f64 = 50.0;
/// Over a shorter time the comparison itself is less exact than that.
const DRIFT_SPAN_NS_MIN: u64 = 1_000_000_000;
/// Readings of a pair; the closest one is kept, for the thread may be set aside in between.
const PAIR_READINGS: u32 = 8;

/// A monotonic clock in nanoseconds; its zero is arbitrary but fixed for the life of a session.
pub trait Clock {
    fn now_ns(&self) -> u64;
}

#[inline]
fn read_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * NS_PER_SECOND + now.tv_nsec as u64
}

/// `CLOCK_MONOTONIC`, read through the vDSO: 35 to 60 ns, paid once a turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        read_ns(ClockId::Monotonic)
    }
}

/// CPU time of the whole process, user and system. Stands still while others have the CPU, so a
/// cost in it survives a shared machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuClock;

impl Clock for CpuClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        read_ns(ClockId::ProcessCPUTime)
    }
}

/// CPU time of the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadCpuClock;

impl Clock for ThreadCpuClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        read_ns(ClockId::ThreadCPUTime)
    }
}

/// The clock of a session on real devices: the processor's counter where it can be trusted,
/// `CLOCK_MONOTONIC` where not.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostClock {
    counter: Option<Counter>,
    /// What a clock that took over from a counter is ahead of `CLOCK_MONOTONIC`, modulo 2^64.
    ahead_ns: u64,
}

impl Clock for HostClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        match &self.counter {
            Some(counter) => counter.now_ns(),
            None => MonotonicClock.now_ns().wrapping_add(self.ahead_ns),
        }
    }
}

impl HostClock {
    /// `CLOCK_MONOTONIC`.
    pub fn monotonic() -> Self {
        Self::default()
    }

    /// The counter if the kernel itself keeps time by it. Calibrated once in a process, 20 ms.
    pub fn best() -> Self {
        static COUNTER: OnceLock<Option<Counter>> = OnceLock::new();
        Self {
            counter: *COUNTER.get_or_init(Counter::calibrated),
            ahead_ns: 0,
        }
    }

    pub fn is_counter(&self) -> bool {
        self.counter.is_some()
    }

    /// How much faster than `CLOCK_MONOTONIC_RAW` the counter has run since it was calibrated,
    /// in millionths. None for another clock, and while too short a time has passed to say.
    pub fn drift_ppm(&self) -> Option<f64> {
        self.counter.as_ref()?.drift_ppm()
    }

    /// The clock to go on with: this one, or `CLOCK_MONOTONIC` from the counter's reading on, if
    /// the counter has drifted by more than 50 ppm.
    #[must_use]
    pub fn checked(self) -> Self {
        self.judged(self.drift_ppm())
    }

    fn judged(self, drift_ppm: Option<f64>) -> Self {
        match drift_ppm {
            Some(drift) if drift.abs() > DRIFT_PPM_MAX => Self {
                counter: None,
                ahead_ns: self.now_ns().wrapping_sub(MonotonicClock.now_ns()),
            },
            _ => self,
        }
    }
}

/// The processor's time stamp counter, with the rate that was measured.
#[derive(Clone, Copy, Debug)]
struct Counter {
    origin_ticks: u64,
    /// `CLOCK_MONOTONIC` at the origin.
    origin_ns: u64,
    /// `CLOCK_MONOTONIC_RAW` at the origin.
    origin_raw_ns: u64,
    /// ns per tick, times 2^32.
    rate: u64,
}

impl Counter {
    /// None where the counter may stop or change its pace, or the kernel does not trust it.
    fn calibrated() -> Option<Self> {
        let trusted = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        let source = fs::read_to_string(trusted).ok()?;
        if source.trim() != "tsc" || !is_invariant() {
            return None;
        }
        let (first_ticks, first_ns) = pair(ClockId::MonotonicRaw);
        while read_ns(ClockId::MonotonicRaw) < first_ns + CALIBRATION_NS {
            std::thread::sleep(std::time::Duration::from_nanos(CALIBRATION_NS / 4));
        }
        let (last_ticks, last_ns) = pair(ClockId::MonotonicRaw);
        let elapsed_ticks = last_ticks.checked_sub(first_ticks)?;
        Self::with_rate(last_ns - first_ns, elapsed_ticks)
    }

    /// A counter that begins now, of so many ns per so many ticks.
    fn with_rate(ns: u64, ticks: u64) -> Option<Self> {
        let rate = (u128::from(ns) << 32).checked_div(u128::from(ticks))?;
        let (raw_ticks, origin_raw_ns) = pair(ClockId::MonotonicRaw);
        let (origin_ticks, origin_ns) = pair(ClockId::Monotonic);
        let rate = u64::try_from(rate).ok()?;
        let between_ns = scale(origin_ticks.wrapping_sub(raw_ticks), rate);
        Some(Self {
            origin_ticks,
            origin_ns,
            origin_raw_ns: origin_raw_ns + between_ns,
            rate,
        })
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        self.at(ticks())
    }

    /// Another processor's counter may be a few ticks behind the origin.
    #[inline]
    fn at(&self, ticks: u64) -> u64 {
        self.origin_ns + scale(ticks.saturating_sub(self.origin_ticks), self.rate)
    }

    fn drift_ppm(&self) -> Option<f64> {
        let (ticks, raw_ns) = pair(ClockId::MonotonicRaw);
        self.drift_ppm_at(ticks, raw_ns)
    }

    /// The drift when the counter and `CLOCK_MONOTONIC_RAW` read this at the same moment.
    fn drift_ppm_at(&self, ticks: u64, raw_ns: u64) -> Option<f64> {
        let counted_ns = (self.at(ticks) - self.origin_ns) as f64;
        let span_ns = raw_ns.checked_sub(self.origin_raw_ns)?;
        (span_ns >= DRIFT_SPAN_NS_MIN).then(|| (counted_ns / span_ns as f64 - 1.0) * 1e6)
    }
}

#[inline]
fn scale(ticks: u64, rate: u64) -> u64 {
    ((u128::from(ticks) * u128::from(rate)) >> 32) as u64
}

/// The counter and a clock of the kernel at the same moment.
fn pair(clock: ClockId) -> (u64, u64) {
    let reading = || {
        let before = ticks();
        let now_ns = read_ns(clock);
        let width = ticks().wrapping_sub(before);
        (width, before.wrapping_add(width / 2), now_ns)
    };
    let closest = (0..PAIR_READINGS)
        .map(|_| reading())
        .min_by_key(|one| one.0);
    let (_, ticks, now_ns) = closest.expect("there are several readings");
    (ticks, now_ns)
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has the instruction; the kernel may forbid it to a process,
    // which then never asked for anything else either (`PR_SET_TSC` ends it at once).
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    0
}

/// Whether the counter runs at one pace and never stops.
#[cfg(target_arch = "x86_64")]
fn is_invariant() -> bool {
    const POWER: u32 = 0x8000_0007;
    let highest = std::arch::x86_64::__cpuid(0x8000_0000).eax;
    highest >= POWER && std::arch::x86_64::__cpuid(POWER).edx & 1 << 8 != 0
}

#[cfg(not(target_arch = "x86_64"))]
fn is_invariant() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks of a counter of 2.5 GHz.
    fn ticks_of(ns: u64) -> u64 {
        ns / 2 * 5
    }

    /// A counter of 2.5 GHz that read so many ticks when it was calibrated.
    fn from(origin_ticks: u64, wrong_ppm: f64) -> Counter {
        let honest = (1u64 << 32) as f64 / 2.5;
        Counter {
            origin_ticks,
            origin_ns: 7 * NS_PER_SECOND,
            origin_raw_ns: 3 * NS_PER_SECOND,
            rate: (honest * (1.0 + wrong_ppm / 1e6)) as u64,
        }
    }

    fn calibrated() -> Option<Counter> {
        let counter = Counter::calibrated();
        if counter.is_none() {
            println!("skipped: no trusted counter here");
        }
        counter
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no counter")]
    fn the_counter_never_goes_back_and_keeps_up_with_the_kernel() {
        let Some(counter) = calibrated() else { return };
        let clock = HostClock {
            counter: Some(counter),
            ahead_ns: 0,
        };
        assert!(clock.is_counter() && !HostClock::monotonic().is_counter());
        let mut last_ns = clock.now_ns();
        for _ in 0..100_000 {
            let now_ns = clock.now_ns();
            assert!(now_ns >= last_ns);
            last_ns = now_ns;
        }
        let (before_ns, between_ns) = (MonotonicClock.now_ns(), clock.now_ns());
        let after_ns = MonotonicClock.now_ns();
        let slack_ns = 1_000_000;
        assert!(before_ns < between_ns + slack_ns && between_ns < after_ns + slack_ns);
    }

    #[test]
    fn drift_is_found_to_a_millionth_however_long_ago_the_counter_began() {
        let hour_ns = 3_600 * NS_PER_SECOND;
        // A machine that boots now begins at 0; the last one is 58 years old.
        for origin_ticks in [0, 1, ticks_of(NS_PER_SECOND), u64::MAX / 4] {
            for wrong_ppm in [0.0, 200.0, -200.0, 49.0] {
                let counter = from(origin_ticks, wrong_ppm);
                let now_ticks = origin_ticks + ticks_of(hour_ns);
                let raw_ns = counter.origin_raw_ns + hour_ns;
                let drift = counter.drift_ppm_at(now_ticks, raw_ns).unwrap();
                assert!((drift - wrong_ppm).abs() < 0.01, "{drift} for {wrong_ppm}");
            }
        }
    }

    #[test]
    fn a_counter_that_is_behind_its_origin_reads_as_the_origin() {
        assert_eq!(from(1_000, 0.0).at(999), 7 * NS_PER_SECOND);
    }

    #[test]
    fn drift_is_not_judged_over_a_moment() {
        let counter = from(0, 0.0);
        let at = |ns| counter.drift_ppm_at(ticks_of(ns), counter.origin_raw_ns + ns);
        assert_eq!(at(DRIFT_SPAN_NS_MIN - 2), None);
        assert!(at(DRIFT_SPAN_NS_MIN).is_some());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no counter")]
    fn a_counter_that_drifts_is_given_up_and_the_clock_goes_on_from_where_it_stood() {
        let Some(counter) = calibrated() else { return };
        let clock = HostClock {
            counter: Some(counter),
            ahead_ns: 0,
        };
        for (drift_ppm, trusted) in [
            (None, true),
            (Some(0.0), true),
            (Some(50.0), true),
            (Some(50.1), false),
            (Some(-50.1), false),
        ] {
            let before_ns = clock.now_ns();
            let judged = clock.judged(drift_ppm);
            assert_eq!(judged.is_counter(), trusted);
            let after_ns = judged.now_ns();
            assert!(after_ns >= before_ns);
            while judged.now_ns() == after_ns {}
        }
        assert_eq!(HostClock::monotonic().drift_ppm(), None);
    }
}
