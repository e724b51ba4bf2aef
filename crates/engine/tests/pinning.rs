//! Workers kept on processors: one each, in the order they were named, with the kernel's own
//! threads among them. One test: it looks at all threads of the process.

use std::fs;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use rustix::fs::{ftruncate, memfd_create, MemfdFlags};
use teijo_engine::backend::BackendKind;
use teijo_engine::error::EngineError;
use teijo_engine::place::Pins;
use teijo_engine::plan::{Bound, Plan, Range, StreamPlan};
use teijo_engine::session::Session;

const SIZE_BYTES: u64 = 1 << 20;

fn file() -> OwnedFd {
    let file = memfd_create("pinning", MemfdFlags::CLOEXEC).unwrap();
    ftruncate(&file, SIZE_BYTES).unwrap();
    file
}

fn plan(threads: u32, queue_depth: u32) -> Plan {
    let stream = StreamPlan {
        threads,
        queue_depth,
        read_percent: 100,
        block_size_bytes: 4096,
        range: Range {
            start_bytes: 0,
            segments: 1,
            segment_bytes: SIZE_BYTES,
            stride_bytes: SIZE_BYTES,
        },
        ..StreamPlan::default()
    };
    Plan {
        streams: vec![stream],
        bound: Bound::Bytes {
            total_bytes: 4 * SIZE_BYTES,
        },
        interval_ns: 1_000_000_000,
        open_ended: true,
        continues: false,
    }
}

/// What each thread of a name may run on, in the order in which threads were started.
fn allowed(name: &str) -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let mut found: Vec<(u32, String)> = tasks
        .filter(|task| {
            let comm = fs::read_to_string(task.path().join("comm"));
            comm.is_ok_and(|comm| comm.starts_with(name))
        })
        .filter_map(|task| {
            let status = fs::read_to_string(task.path().join("status")).ok()?;
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
            let number = task.file_name().to_string_lossy().parse().ok()?;
            Some((number, line.trim().to_owned()))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, list)| list).collect()
}

/// The same of the workers, once there are so many: a thread that the kernel has just made for a
/// ring has its worker's name until it runs for the first time.
fn of_workers(count: usize) -> Vec<String> {
    for _ in 0..200 {
        let found = allowed("teijo-worker");
        if found.len() == count {
            return found;
        }
        thread::sleep(Duration::from_millis(10));
    }
    allowed("teijo-worker")
}

/// The first and the last processor that this process may use.
fn ends() -> (u32, u32) {
    let set = rustix::thread::sched_getaffinity(None).unwrap();
    let mut cpus = (0..1024).filter(|&cpu| set.is_set(cpu));
    let first = cpus.next().unwrap();
    (first as u32, cpus.next_back().unwrap_or(first) as u32)
}

#[test]
fn each_worker_is_on_its_own_processor_in_the_order_they_were_named() {
    let (first, last) = ends();
    for kind in [BackendKind::Uring, BackendKind::Sync] {
        let mut session = Session::with_backend(file(), kind);
        session.pin(Pins::new(vec![last, first])).unwrap();
        let lap = match session.run(&plan(3, 1)) {
            Ok(lap) => lap,
            Err(EngineError::RingRefused { .. }) => continue,
            Err(error) => panic!("{error}"),
        };
        let wanted = [last, first, last].map(|cpu| cpu.to_string());
        assert_eq!(of_workers(3), wanted, "{kind:?}");
        let told: Vec<u32> = lap.witness.places.iter().map(|one| one.cpu).collect();
        assert_eq!(told, [last, first]);
        if kind == BackendKind::Uring {
            // Memory cannot be queued for, so that a ring has threads of the kernel's. They stay
            // with the worker that has them (Linux 6.2), or else among all that were named.
            let both = [format!("{first},{last}"), format!("{first}-{last}")];
            let seen = allowed("iou-wrk");
            let named = |list: &String| wanted.contains(list) || both.contains(list);
            assert!(seen.iter().all(named), "{seen:?}");
        }
        session.finish().unwrap();
        session.pin(Pins::default()).unwrap();
        let lap = session.run(&plan(1, 1)).unwrap();
        assert!(lap.witness.places.is_empty());
        assert_eq!(of_workers(1).len(), 1);
    }
    let mut session = Session::with_backend(file(), BackendKind::Null);
    session.pin(Pins::new(vec![1023])).unwrap();
    if last < 1023 {
        let errno = libc::EINVAL;
        let refused = session.run(&plan(2, 4)).unwrap_err();
        assert_eq!(refused, EngineError::PinRefused { cpu: 1023, errno });
    }
}
