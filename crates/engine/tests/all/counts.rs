//! Counts of the null backend: exact for byte bounds, whatever the number of threads.

use crate::rehearsal::{contiguous, plan, run_on_threads, stream, KIB, MIB};
use teijo_engine::backend::null::NullBackend;
use teijo_engine::plan::{Access, Bound, StreamPlan};

#[test]
fn a_byte_bound_is_met_exactly_by_any_number_of_threads() {
    for threads in [1, 2, 4] {
        let random = stream(Access::Random, contiguous(0, MIB), 4096);
        let streams = vec![StreamPlan {
            threads,
            read_percent: 30,
            ..random
        }];
        let total_bytes = 40 * MIB + 512;
        let lap = run_on_threads(&plan(streams, Bound::Bytes { total_bytes }), |_| {
            NullBackend::new()
        });
        let [read, write] = [&lap.streams[0].read, &lap.streams[0].write];
        assert_eq!(read.bytes + write.bytes, total_bytes);
        assert_eq!(read.ios + write.ios, 40 * MIB / 4096 + 1);
        assert_eq!(read.latency.count(), read.ios);
        let in_intervals: u64 = read.intervals.iter().map(|one| one.ios).sum();
        assert_eq!(in_intervals, read.ios);
        assert_eq!(lap.failure, None);
    }
}

#[test]
fn a_time_bound_ends_the_lap_and_not_before() {
    let streams = vec![stream(Access::Random, contiguous(64 * KIB, MIB), 512)];
    let bound = Bound::Time {
        duration_ns: 10_000_000,
    };
    let lap = run_on_threads(&plan(streams, bound), |_| NullBackend::new());
    assert!(
        lap.elapsed_ns >= 10_000_000 && lap.elapsed_ns < 10_001_000,
        "{}",
        lap.elapsed_ns
    );
    // One turn of 8 I/Os each 100 ns.
    assert_eq!(lap.streams[0].read.ios, 8 * 100_000 - 8);
    assert_eq!(lap.streams[0].read.intervals.len(), 11);
    assert_eq!(lap.streams[0].read.latency.max_ns(), 100);
}
