//! Who owns a slot: the worker until it pushes, the backend until the worker reaps. Checked by a
//! backend that completes out of order, late, short and with errors.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use crate::rehearsal::{contiguous, plan, run_on_threads, stream, Slots, MIB};
use proptest::prelude::*;
use teijo_engine::backend::Backend;
use teijo_engine::error::EngineError;
use teijo_engine::plan::{Access, Bound, StreamPlan};
use teijo_engine::request::{Completion, Request};
use teijo_engine::seed::derive_seed;

/// What the backend did, by the result it gave: moved in full, or the errno (0 is short).
type Verdicts = Arc<Mutex<BTreeMap<Option<i32>, u64>>>;

struct UnrulyBackend {
    draws: u64,
    seed: u64,
    held: Vec<Request>,
    ready: Vec<Completion>,
    slots: Slots,
    buffer: Vec<u8>,
    verdicts: Verdicts,
}

impl UnrulyBackend {
    fn new(seed: u64, verdicts: &Verdicts) -> Self {
        Self {
            draws: 0,
            seed,
            held: Vec::new(),
            ready: Vec::new(),
            slots: Slots::default(),
            buffer: vec![0; 4096],
            verdicts: Arc::clone(verdicts),
        }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.draws += 1;
        derive_seed(self.seed, self.draws) % below
    }

    fn complete(&mut self, request: Request) {
        let length = request.length_bytes.cast_signed();
        let result = match self.draw(20) {
            0 => -libc::EIO,
            1 => -libc::EAGAIN,
            2 => 0,
            3 => length / 2,
            _ => length,
        };
        let verdict = if result == length {
            None
        } else {
            Some((-result).max(0))
        };
        *self.verdicts.lock().unwrap().entry(verdict).or_default() += 1;
        self.ready.push(Completion {
            tag: request.tag,
            result,
        });
    }
}

impl Backend for UnrulyBackend {
    const HAS_DATA: bool = true;

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        assert!(
            !self.slots.is_in_flight(slot),
            "the buffer of slot {slot} is in flight"
        );
        &mut self.buffer
    }

    fn push(&mut self, request: Request) {
        self.slots.push(&request);
        self.held.push(request);
    }

    fn wait(&mut self, want: u32, _deadline_ns: u64) -> io::Result<()> {
        self.slots.wait(want);
        // Sometimes fewer than wanted, as after a signal.
        let some = self.draw(self.held.len() as u64 + 1) as usize;
        for _ in 0..some {
            let pick = self.draw(self.held.len() as u64) as usize;
            let request = self.held.swap_remove(pick);
            self.complete(request);
        }
        Ok(())
    }

    fn reap(&mut self) -> Option<Completion> {
        let completion = self.ready.pop()?;
        self.slots.reap(completion);
        Some(completion)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { 40 },
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn no_slot_is_used_before_it_came_back_and_every_io_is_counted_once(
        queue_depth in 1..40u32, threads in 1..3u32, read_percent in 0..=100u8, seed: u64,
    ) {
        let verdicts = Verdicts::default();
        let random = stream(Access::Random, contiguous(0, MIB), 4096);
        let streams = vec![StreamPlan { queue_depth, threads, read_percent, seed, ..random }];
        let ios = if cfg!(miri) { 300 } else { 2_000 };
        let total_bytes = ios * 4096;
        let lap = run_on_threads(&plan(streams, Bound::Bytes { total_bytes }), |seat| {
            let seed = derive_seed(seed, u64::from(seat.number));
            UnrulyBackend::new(seed, &verdicts)
        });
        let mut counted = BTreeMap::new();
        for side in [&lap.streams[0].read, &lap.streams[0].write] {
            prop_assert_eq!(side.ios, side.latency.count());
            prop_assert_eq!(side.bytes, side.ios * 4096);
            if side.ios > 0 {
                *counted.entry(None).or_default() += side.ios;
            }
            for (&errno, &count) in &side.errors {
                *counted.entry(Some(errno)).or_default() += count;
            }
            let in_intervals: u64 = side.intervals.iter().map(|one| one.errors).sum();
            prop_assert_eq!(in_intervals, side.errors.values().sum::<u64>());
        }
        prop_assert_eq!(counted.values().sum::<u64>(), ios);
        prop_assert_eq!(counted, verdicts.lock().unwrap().clone());
        prop_assert_eq!(lap.failure, None);
    }
}

/// Works for a while, then fails for ever.
struct DyingBackend {
    life: u64,
    errno: i32,
    slots: Slots,
    ready: Vec<Completion>,
}

impl Backend for DyingBackend {
    const HAS_DATA: bool = false;

    fn buffer(&mut self, _slot: u16) -> &mut [u8] {
        &mut []
    }

    fn push(&mut self, request: Request) {
        self.slots.push(&request);
        let result = if self.life > 0 {
            request.length_bytes.cast_signed()
        } else {
            -self.errno
        };
        self.life = self.life.saturating_sub(1);
        self.ready.push(Completion {
            tag: request.tag,
            result,
        });
    }

    fn wait(&mut self, want: u32, _deadline_ns: u64) -> io::Result<()> {
        self.slots.wait(want);
        Ok(())
    }

    fn reap(&mut self) -> Option<Completion> {
        let completion = self.ready.pop()?;
        self.slots.reap(completion);
        Some(completion)
    }
}

fn run_dying(life: u64, errno: i32) -> teijo_engine::lap::Lap {
    let streams = vec![stream(Access::Random, contiguous(0, MIB), 4096)];
    let bound = Bound::Time {
        duration_ns: u64::MAX / 2,
    };
    run_on_threads(&plan(streams, bound), |_| DyingBackend {
        life,
        errno,
        slots: Slots::default(),
        ready: Vec::new(),
    })
}

#[test]
fn a_device_that_is_gone_ends_the_lap_and_what_was_measured_is_kept() {
    for errno in [libc::ENODEV, libc::ENXIO] {
        let lap = run_dying(500, errno);
        assert_eq!(lap.streams[0].read.ios, 500);
        assert!(
            matches!(lap.failure, Some(EngineError::DeviceGone { errno: e, .. }) if e == errno)
        );
        assert!(
            lap.streams[0].read.errors[&errno] <= 8,
            "it ends within one turn"
        );
    }
}

#[test]
fn a_thousand_failures_in_a_row_are_a_device_that_is_gone() {
    let lap = run_dying(500, libc::EIO);
    assert_eq!(lap.streams[0].read.ios, 500);
    let expected = EngineError::DeviceGone {
        errno: libc::EIO,
        failures: 1_000,
    };
    assert_eq!(lap.failure, Some(expected));
}

#[test]
fn an_einval_of_the_first_io_is_a_refusal_and_a_later_one_an_error() {
    let refused = run_dying(0, libc::EINVAL).failure;
    assert!(matches!(
        refused,
        Some(EngineError::DirectRefused {
            block_size_bytes: 4096,
            ..
        })
    ));
    let gone = run_dying(8, libc::EINVAL).failure;
    assert!(matches!(
        gone,
        Some(EngineError::DeviceGone {
            errno: libc::EINVAL,
            ..
        })
    ));
}
