//! How warm a drive is: one heat capacity that work warms and one resistance that cools it. Between
//! two I/Os the temperature follows the exponential exactly; no clock ticks. Only the four basic
//! operations on floating-point numbers are used, which give the same bits everywhere.

use crate::flash::params::HeatParams;

/// The temperature, and whether the drive is held back for it.
#[derive(Clone, Debug)]
pub(super) struct Heat {
    /// Above what the drive has when it does nothing, K.
    excess_k: f64,
    at_ns: u64,
    throttled: bool,
    /// Time that the drive has been held back, as far as I/Os have told.
    throttled_ns: u64,
    /// Heat capacity times resistance, ns.
    time_constant_ns: f64,
    rest_c: f64,
    hot_k: f64,
    cool_k: f64,
    per_program_k: f64,
    per_read_k: f64,
    /// Pages counted so far: programmed in units, read in pages.
    seen: (u64, u64),
}

impl Heat {
    /// `scale`: nominal over simulated capacity; `unit_bytes` and `page_bytes` are what is
    /// programmed and read at once.
    pub(super) fn new(params: &HeatParams, scale: f64, unit_bytes: u64, page_bytes: u64) -> Self {
        let capacity_j_per_k = params.capacity_j_per_k / scale;
        let rest_c = params.ambient_c + params.idle_w * params.resistance_k_per_w;
        let warms = |nj: f64, bytes: u64| nj * 1e-9 * bytes as f64 / capacity_j_per_k;
        Self {
            excess_k: params.ambient_c - rest_c,
            at_ns: 0,
            throttled: false,
            throttled_ns: 0,
            time_constant_ns: capacity_j_per_k * params.resistance_k_per_w * 1e9,
            rest_c,
            hot_k: params.throttle_at_c - rest_c,
            cool_k: params.throttle_until_c - rest_c,
            per_program_k: warms(params.program_nj_per_byte, unit_bytes),
            per_read_k: warms(params.read_nj_per_byte, page_bytes),
            seen: (0, 0),
        }
    }

    /// Cools until `at_ns`, takes up the work counted until then (units programmed, pages read),
    /// and says whether the drive is held back from now on, if that has changed.
    pub(super) fn warm(&mut self, at_ns: u64, programs: u64, reads: u64) -> Option<bool> {
        let passed_ns = at_ns.saturating_sub(self.at_ns);
        if passed_ns > 0 {
            self.excess_k *= exp_of_minus(passed_ns as f64 / self.time_constant_ns);
            self.at_ns = at_ns;
            if self.throttled {
                self.throttled_ns += passed_ns;
            }
        }
        let (programs_seen, reads_seen) = std::mem::replace(&mut self.seen, (programs, reads));
        self.excess_k += (programs - programs_seen) as f64 * self.per_program_k
            + (reads - reads_seen) as f64 * self.per_read_k;
        let limit_k = if self.throttled {
            self.cool_k
        } else {
            self.hot_k
        };
        let throttled = if self.throttled {
            self.excess_k > limit_k
        } else {
            self.excess_k >= limit_k
        };
        (std::mem::replace(&mut self.throttled, throttled) != throttled).then_some(throttled)
    }

    /// As it was after the last I/O, °C.
    pub(super) fn celsius(&self) -> f64 {
        self.rest_c + self.excess_k
    }

    pub(super) fn throttled_ns(&self) -> u64 {
        self.throttled_ns
    }

    pub(super) fn visit(&self, mut mix: impl FnMut(u64)) {
        mix(self.excess_k.to_bits());
        mix(self.at_ns);
        mix(u64::from(self.throttled));
        mix(self.throttled_ns);
    }
}

/// e^-x for x at least 0, to 1 in 10^15: halved until the series is short, then squared back.
fn exp_of_minus(x: f64) -> f64 {
    if x > 700.0 {
        return 0.0;
    }
    let (mut small, mut halvings) = (x, 0);
    while small > 0.125 {
        small *= 0.5;
        halvings += 1;
    }
    // 1 - e^-x keeps the digits of a small x that e^-x itself would lose.
    let mut lost = 0.0;
    for n in (1..=10).rev() {
        lost = small / f64::from(n) * (1.0 - lost);
    }
    for _ in 0..halvings {
        lost *= 2.0 - lost;
    }
    1.0 - lost
}

#[cfg(test)]
mod tests {
    use super::exp_of_minus;

    #[test]
    fn the_exponential_is_that_of_the_standard_library() {
        for x in [
            0.0, 1e-12, 1e-6, 0.1, 0.125, 0.5, 1.0, 3.7, 20.0, 90.0, 699.0,
        ] {
            let (ours, known) = (exp_of_minus(x), (-x).exp());
            assert!((ours - known).abs() <= 1e-15, "{x}: {ours} {known}");
        }
        assert!(exp_of_minus(1e9).abs() < 1e-300);
    }
}
