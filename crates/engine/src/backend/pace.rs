//! How a wait for completions is put: whether one is needed at all, and for how many.

/// A failed guess is repeated after at most so many waits.
const BACKOFF_MAX: u32 = 1024;
/// No completion is held back for longer than this, at the pace of the last while.
const HOLD_NS: u64 = 100_000;
/// A wait for several completions is content with one after this time: a device that stalls is
/// no reason to hold back what is there. Shorter timers fire, and cost more than they save.
pub(super) const SEVERAL_US: u32 = 2_000;
/// The pace is taken over so long.
const PACE_NS: u64 = 1_000_000;

/// Whether the next submit will find everything complete when it returns, as on a target that
/// never sleeps. Then the kernel need not be asked to wait, which saves 5 % at depth 1.
#[derive(Debug, Default)]
pub(super) struct InlineGuess {
    backoff: u32,
    waits_left: u32,
}

impl InlineGuess {
    #[inline]
    pub fn is_on(&mut self) -> bool {
        let on = self.waits_left == 0;
        self.waits_left = self.waits_left.saturating_sub(1);
        on
    }

    #[inline]
    pub fn was_right(&mut self) {
        self.backoff = 0;
    }

    pub fn was_wrong(&mut self) {
        self.backoff = (self.backoff * 2 + 1).min(BACKOFF_MAX);
        self.waits_left = self.backoff;
    }
}

/// For how many completions a wait may wait: each wake that is saved is CPU time saved, but what
/// is held back ages. One, unless the pace brings the others within `HOLD_NS`.
#[derive(Debug)]
pub(super) struct Pace {
    pub limit: u32,
    pub since_ns: u64,
    ios: u64,
    pub several: u32,
    pub several_max: u32,
}

impl Pace {
    pub fn new(limit: u32) -> Self {
        Self {
            limit,
            since_ns: 0,
            ios: 0,
            several: 1,
            several_max: 1,
        }
    }

    /// Takes the pace: `ios` were completed until `now_ns` since the ring was opened.
    pub fn note(&mut self, ios: u64, now_ns: u64) {
        let elapsed_ns = now_ns.saturating_sub(self.since_ns);
        if elapsed_ns < PACE_NS {
            return;
        }
        let in_time = (ios - self.ios) * HOLD_NS / elapsed_ns;
        self.several = in_time.clamp(1, u64::from(self.limit)) as u32;
        self.several_max = self.several_max.max(self.several);
        (self.since_ns, self.ios) = (now_ns, ios);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_for_several_only_where_they_come_within_the_hold() {
        let mut pace = Pace::new(8);
        let mut at = |ios, now_ns| {
            pace.note(ios, now_ns);
            pace.several
        };
        assert_eq!(at(0, 10_000_000), 1);
        assert_eq!(at(50, 10_500_000), 1, "too early to tell");
        assert_eq!(at(100, 11_000_000), 8, "10 us apart: ten within the hold");
        assert_eq!(at(140, 12_000_000), 4, "25 us apart");
        assert_eq!(at(145, 13_000_000), 1, "200 us apart");
        assert_eq!(pace.several_max, 8);
    }

    #[test]
    fn a_wrong_guess_is_repeated_more_and_more_rarely() {
        let mut guess = InlineGuess::default();
        let mut asked = 0;
        for _ in 0..100_000 {
            if guess.is_on() {
                asked += 1;
                guess.was_wrong();
            }
        }
        assert!(asked < 120, "{asked}");
        guess.was_right();
        guess.waits_left = 0;
        assert!(guess.is_on() && guess.is_on());
    }
}
