//! What a lap says of its own making, on targets of which the truth is known.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{memfd_create, MemfdFlags};
use teijo_engine::backend::BackendKind;
use teijo_engine::lap::Lap;
use teijo_engine::plan::{Bound, Plan, Range, Rate, Schedule, StreamPlan};
use teijo_engine::session::{Reason, Session};
use teijo_engine::technique::{Technique, Techniques};

const MIB: u64 = 1 << 20;

/// A file in memory: the kernel cannot queue its I/O.
fn memory_file() -> Arc<OwnedFd> {
    let file = File::from(memfd_create("teijo-witness", MemfdFlags::CLOEXEC).unwrap());
    file.set_len(4 * MIB).unwrap();
    Arc::new(file.into())
}

fn plan(threads: u32, queue_depth: u32, total_bytes: u64) -> Plan {
    let range = Range {
        start_bytes: 0,
        segments: 1,
        segment_bytes: 4 * MIB,
        stride_bytes: 4 * MIB,
    };
    let stream = StreamPlan {
        threads,
        queue_depth,
        range,
        ..StreamPlan::default()
    };
    Plan {
        streams: vec![stream],
        bound: Bound::Bytes { total_bytes },
        interval_ns: 1_000_000_000,
        open_ended: false,
        continues: false,
    }
}

fn run(kind: BackendKind, plan: &Plan) -> Option<Lap> {
    match Session::with_backend(memory_file(), kind).run(plan) {
        Ok(lap) => Some(lap),
        Err(error) => {
            assert_eq!(kind, BackendKind::Uring, "{error}");
            println!("skipped: {error}");
            None
        }
    }
}

#[test]
fn a_target_that_cannot_queue_is_found_out_and_read_by_system_calls() {
    let session = Session::new(Arc::into_inner(memory_file()).unwrap());
    match session.reason() {
        Reason::WouldBePunted | Reason::RingRefused(_) => {
            assert_eq!(session.kind(), BackendKind::Sync);
            assert!(session.refusal().is_some(), "it can be told why");
        }
        reason => {
            // A kernel on which memory can be asked without waiting.
            assert_eq!(*reason, Reason::RingGranted);
            println!("skipped: this kernel queues I/O to memory");
            return;
        }
    }
    let Some(lap) = run(BackendKind::Uring, &plan(1, 16, 64 * MIB)) else {
        return;
    };
    assert!(lap.witness.io_wq_workers > 0, "{:?}", lap.witness);
    let same = run(BackendKind::Sync, &plan(1, 16, 64 * MIB)).unwrap();
    assert!(!same.witness.was_punted());
}

#[test]
fn the_depth_asked_for_is_there_and_the_cpu_time_is_accounted_for() {
    for kind in [BackendKind::Null, BackendKind::Sync, BackendKind::Uring] {
        let Some(lap) = run(kind, &plan(2, 8, 256 * MIB)) else {
            continue;
        };
        let witness = &lap.witness;
        let workers = if kind == BackendKind::Sync { 16 } else { 2 };
        assert_eq!((witness.workers, witness.in_flight_asked), (workers, 16));
        assert!(witness.in_flight_mean <= 16.0, "{witness:?}");
        assert!(witness.in_flight_mean > 0.0, "{witness:?}");
        assert!(witness.turns > 0 && witness.turn_gap_ns_max <= witness.wall_ns);
        assert_eq!(witness.wall_ns, lap.elapsed_ns);
        assert!(witness.worker_cpu_ns > 0 && witness.cpu_ns > 0);
        assert!(witness.busiest_worker > 0.0);
        assert_eq!(witness.submit_calls > 0, kind == BackendKind::Uring);
    }
}

#[test]
fn an_open_loop_is_woken_for_every_completion() {
    let mut plan = plan(1, 32, 16 * MIB);
    plan.streams[0].rate = Some(Rate {
        ios_per_second: 1e5,
        schedule: Schedule::Poisson,
    });
    if let Some(lap) = run(BackendKind::Uring, &plan) {
        assert_eq!(lap.witness.min_complete, 1);
        // At this rate there is mostly nothing to do.
        assert!(lap.witness.in_flight_mean < 32.0);
    }
}

#[test]
fn what_is_left_out_is_not_claimed_and_the_lap_is_the_same() {
    let plan = plan(1, 8, 16 * MIB);
    for technique in Technique::ALL {
        let wished = Techniques::ALL.without(technique);
        let mut session = Session::with_techniques(memory_file(), BackendKind::Uring, wished);
        match session.run(&plan) {
            Ok(lap) => {
                assert!(!lap.witness.techniques.has(technique), "{technique:?}");
                assert_eq!(lap.streams[0].read.ios, 16 * MIB / 4096);
            }
            Err(error) => return println!("skipped: {error}"),
        }
    }
}

#[test]
fn every_stream_has_its_own_depth_and_all_of_them_add_up() {
    let mut plan = plan(1, 24, 64 * MIB);
    let small = StreamPlan {
        threads: 2,
        queue_depth: 3,
        ..plan.streams[0].clone()
    };
    plan.streams.push(small);
    let witness = run(BackendKind::Null, &plan).unwrap().witness;
    assert_eq!(witness.backend, Some(BackendKind::Null));
    let [deep, small] = witness.streams[..] else {
        panic!("there are two streams: {witness:?}");
    };
    assert_eq!((deep.asked, small.asked), (24, 6));
    assert!(deep.mean <= 24.0 && small.mean <= 6.0, "{witness:?}");
    let sum = deep.mean + small.mean;
    assert!((sum - witness.in_flight_mean).abs() < 1e-9, "{witness:?}");
}

/// Were they carried on, the tenth lap would show ten times the depth. (A lap that is told its
/// bound late, on a busy host, has more turns than fit in it, but not that many.)
#[test]
fn every_lap_of_a_stimulus_has_accounts_of_its_own() {
    let mut session = Session::with_backend(memory_file(), BackendKind::Null);
    let mut lap = plan(1, 4, MIB);
    lap.bound = Bound::Time {
        duration_ns: 100_000_000,
    };
    lap.open_ended = true;
    let mut last = session.run(&lap).unwrap().witness;
    lap.continues = true;
    for _ in 1..10 {
        last = session.run(&lap).unwrap().witness;
    }
    session.finish().unwrap();
    assert_eq!(last.wall_ns, 100_000_000);
    assert!(last.in_flight_mean <= 36.0, "{last:?}");
    assert!(last.busiest_worker <= 9.0, "{last:?}");
}
