//! A worker without privileges under a limit of locked memory. The limit is the process's, so
//! these tests have one of their own.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::process::{getrlimit, setrlimit, Resource, Rlimit, Uid};
use rustix::thread::set_thread_res_uid;
use teijo_engine::backend::BackendKind;
use teijo_engine::plan::{Bound, Plan, Range, StreamPlan};
use teijo_engine::session::Session;
use teijo_engine::technique::Technique;

const NOBODY: u32 = 65_534;
const MIB: u64 = 1 << 20;

fn plan() -> Plan {
    let range = Range {
        start_bytes: 0,
        segments: 1,
        segment_bytes: MIB,
        stride_bytes: MIB,
    };
    let stream = StreamPlan {
        queue_depth: 32,
        range,
        ..StreamPlan::default()
    };
    Plan {
        streams: vec![stream],
        bound: Bound::Bytes {
            total_bytes: 8 * MIB,
        },
        interval_ns: 1_000_000_000,
        open_ended: false,
        continues: false,
    }
}

fn target() -> OwnedFd {
    let name = format!("teijo-limits-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let file = File::options()
        .create_new(true)
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    file.set_len(MIB).unwrap();
    file.into()
}

/// Runs as nobody, where the caller may become that; a new thread has its own user.
fn as_nobody<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let unprivileged = move || {
        let nobody = Uid::from_raw(NOBODY);
        let _ = set_thread_res_uid(nobody, nobody, nobody);
        work()
    };
    std::thread::scope(|scope| scope.spawn(unprivileged).join().expect("it does not panic"))
}

#[test]
fn a_limit_of_locked_memory_takes_the_buffer_or_the_ring_and_the_io_goes_on() {
    let hard = getrlimit(Resource::Memlock).maximum;
    let limits = [(0, false), (64 << 10, false), (6 * MIB, true)];
    for (limit_bytes, registers) in limits {
        if hard.is_some_and(|hard| hard < limit_bytes) {
            println!("skipped: the limit cannot be raised to {limit_bytes} B");
            continue;
        }
        let limit = Rlimit {
            current: Some(limit_bytes),
            maximum: hard,
        };
        setrlimit(Resource::Memlock, limit).unwrap();
        let (kind, refusal, lap) = as_nobody(|| {
            let mut session = Session::new(target());
            let lap = session.run(&plan());
            (session.kind(), session.refusal(), lap)
        });
        let lap = lap.unwrap();
        assert_eq!(lap.streams[0].read.ios, 8 * MIB / 4096);
        assert!(lap.streams[0].read.errors.is_empty());
        match kind {
            BackendKind::Uring => {
                let registered = lap.witness.techniques.has(Technique::RegisteredBuffers);
                assert_eq!(registered, registers, "under {limit_bytes} B");
            }
            BackendKind::Sync => assert!(refusal.is_some(), "it says why there is no ring"),
            BackendKind::Null | BackendKind::NopRing | BackendKind::NopCall => {
                unreachable!("a session with a target has a backend")
            }
        }
    }
}
