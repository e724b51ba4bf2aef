//! Whether others compete for this host's processors, as the kernel itself accounts for it.
//!
//! Read once in a process, before it does any I/O: a session that is opened later would see its own
//! threads waiting, and two sessions of one run would differ.

use std::fs;
use std::sync::OnceLock;

use crate::technique::{Technique, Techniques};

/// From this share of time on in which somebody waits, completions are not deferred.
pub const CONTENDED_PERCENT: f64 = 50.0;

static WAITED_PERCENT: OnceLock<Option<f64>> = OnceLock::new();

/// Percent of ten seconds in which some thread was ready but had no processor; None where the
/// kernel does not account for that (no PSI).
pub fn waited_percent() -> Option<f64> {
    *WAITED_PERCENT.get_or_init(|| some_avg10(&fs::read_to_string("/proc/pressure/cpu").ok()?))
}

/// The techniques that suit a host on which so much was waited: a ring that defers completions
/// is the faster one where its thread runs at once, and the slower one where it has to queue for
/// a processor (`benchmarks/ring_flags.py`).
pub fn suited(waited_percent: Option<f64>) -> Techniques {
    if waited_percent.is_some_and(|percent| percent >= CONTENDED_PERCENT) {
        Techniques::ALL.without(Technique::DeferTaskrun)
    } else {
        Techniques::ALL
    }
}

fn some_avg10(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let mut words = line.split_ascii_whitespace();
    words
        .find_map(|word| word.strip_prefix("avg10="))?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_account_is_read_and_what_is_no_account_is_unknown() {
        let text = "some avg10=98.81 avg60=96.61 avg300=96.29 total=19228779563\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert_eq!(some_avg10(text), Some(98.81));
        assert_eq!(some_avg10("full avg10=1.00"), None);
        assert_eq!(some_avg10("some avg10=x"), None);
        assert_eq!(some_avg10(""), None);
    }

    #[test]
    fn completions_are_deferred_unless_half_of_the_time_somebody_waits() {
        for (percent, defers) in [(None, true), (Some(49.9), true), (Some(50.0), false)] {
            assert_eq!(suited(percent).has(Technique::DeferTaskrun), defers);
            assert!(suited(percent).has(Technique::CoopTaskrun));
        }
        assert_eq!(waited_percent(), waited_percent());
    }
}
