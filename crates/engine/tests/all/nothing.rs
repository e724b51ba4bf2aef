//! Backends with nothing at their end: every I/O of every thread is in the books, whole, and what
//! is written is made in full.

use std::fs::OpenOptions;
use std::os::fd::OwnedFd;

use crate::rehearsal::{contiguous, plan, stream, MIB};
use teijo_engine::backend::BackendKind;
use teijo_engine::error::EngineError;
use teijo_engine::lap::Lap;
use teijo_engine::plan::{Access, Bound, Plan, StreamPlan};
use teijo_engine::session::Session;

const KINDS: [BackendKind; 2] = [BackendKind::NopRing, BackendKind::NopCall];

/// None, with the reason printed, where the kernel grants no ring.
fn run(kind: BackendKind, plan: &Plan) -> Option<Lap> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null");
    let file: OwnedFd = null.unwrap().into();
    match Session::with_backend(file, kind).run(plan) {
        Ok(lap) => Some(lap),
        Err(EngineError::RingRefused { errno }) if kind == BackendKind::NopRing => {
            println!("skipped: no ring here, errno {errno}");
            None
        }
        Err(error) => panic!("{kind:?}: {error}"),
    }
}

fn bytes(total_bytes: u64) -> Bound {
    Bound::Bytes { total_bytes }
}

#[test]
fn every_block_of_every_thread_is_whole() {
    for kind in KINDS {
        for (threads, queue_depth, block_size_bytes) in
            [(1, 1, 4096), (1, 32, 4096), (2, 16, 512), (3, 4, 1 << 20)]
        {
            for read_percent in [0, 65, 100] {
                let one = StreamPlan {
                    threads,
                    queue_depth,
                    read_percent,
                    ..stream(Access::Random, contiguous(0, 64 * MIB), block_size_bytes)
                };
                let ios = 300;
                let Some(lap) = run(
                    kind,
                    &plan(vec![one], bytes(ios * u64::from(block_size_bytes))),
                ) else {
                    break;
                };
                let [one] = &lap.streams[..] else {
                    panic!("one stream")
                };
                let told = format!("{kind:?} {threads} {queue_depth} {block_size_bytes}");
                assert_eq!(one.read.ios + one.write.ios, ios, "{told}");
                assert_eq!(
                    one.read.bytes + one.write.bytes,
                    ios * u64::from(block_size_bytes),
                    "{told}"
                );
                assert!(
                    one.read.errors.is_empty() && one.write.errors.is_empty(),
                    "{told}"
                );
                assert_eq!(one.read.ios == 0, read_percent == 0, "{told}");
                assert_eq!(one.write.ios == 0, read_percent == 100, "{told}");
                assert_eq!(lap.witness.backend, Some(kind));
                let each = if kind == BackendKind::NopCall {
                    threads * queue_depth
                } else {
                    threads
                };
                assert_eq!(lap.witness.workers, each, "{told}");
            }
        }
    }
}

#[test]
fn flushes_and_writes_through_the_cache_fail_nowhere() {
    for kind in KINDS {
        for write_through in [false, true] {
            let one = StreamPlan {
                read_percent: 50,
                queue_depth: 4,
                flush_every_writes: 3,
                discard_percent: 10,
                write_through,
                ..stream(Access::Random, contiguous(0, MIB), 4096)
            };
            let Some(lap) = run(kind, &plan(vec![one], bytes(MIB))) else {
                continue;
            };
            let one = &lap.streams[0];
            assert!(one.read.errors.is_empty() && one.write.errors.is_empty());
            assert!(one.flush.ios > 0 && one.flush.errors.is_empty());
            assert!(one.discard.ios > 0 && one.discard.errors.is_empty());
        }
    }
}

#[test]
fn the_content_of_writes_is_made_though_nobody_takes_it() {
    for kind in [
        BackendKind::NopRing,
        BackendKind::NopCall,
        BackendKind::Null,
    ] {
        let one = StreamPlan {
            read_percent: 0,
            ..stream(Access::Random, contiguous(0, 16 * MIB), 1 << 20)
        };
        let Some(lap) = run(kind, &plan(vec![one], bytes(16 * MIB))) else {
            continue;
        };
        let made = lap.witness.made_ns > 0;
        assert_eq!(made, kind != BackendKind::Null, "{kind:?}");
    }
}
