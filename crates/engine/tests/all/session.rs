//! Sessions on real files, with direct I/O where the file system lets us.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::Arc;

use crate::rehearsal::{contiguous, plan, stream, KIB, MIB};
use teijo_engine::backend::BackendKind;
use teijo_engine::error::EngineError;
use teijo_engine::plan::{Access, Bound, Content, Plan, Rate, Schedule, StreamPlan};
use teijo_engine::session::{Reason, Session};
use teijo_engine::volume::{Layout, Volume};

const FROM_THE_START: Access = Access::Sequential { cursor_bytes: 0 };
const KINDS: [BackendKind; 2] = [BackendKind::Uring, BackendKind::Sync];

/// A file of its own that goes away with the test.
struct Target {
    path: PathBuf,
    file: Arc<OwnedFd>,
}

impl Drop for Target {
    fn drop(&mut self) {
        std::fs::remove_file(&self.path).expect("the test made it");
    }
}

impl Target {
    /// None, with the reason printed, where the file system takes no direct I/O.
    fn new(name: &str, length_bytes: u64) -> Option<Self> {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{name}-{}", std::process::id()));
        File::create(&path)
            .and_then(|file| file.set_len(length_bytes))
            .expect("room for a file");
        let direct = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_DIRECT)
            .open(&path);
        match direct {
            Ok(file) => Some(Self {
                path,
                file: Arc::new(file.into()),
            }),
            Err(error) => {
                println!("skipped: no direct I/O on {}: {error}", path.display());
                std::fs::remove_file(&path).expect("just created");
                None
            }
        }
    }

    fn session(&self, kind: BackendKind) -> Session {
        Session::with_backend(Arc::clone(&self.file), kind)
    }

    fn content(&self) -> Vec<u8> {
        std::fs::read(&self.path).expect("readable")
    }
}

fn milliseconds(count: u64) -> Bound {
    Bound::Time {
        duration_ns: count * 1_000_000,
    }
}

#[test]
fn constant_content_is_written_as_it_is_also_after_random_in_the_same_buffers() {
    let Some(target) = Target::new("constant", MIB) else {
        return;
    };
    for kind in KINDS {
        let mut session = target.session(kind);
        for write_through in [false, true] {
            let mut write = |content, threads| {
                let mut writes = stream(FROM_THE_START, contiguous(0, MIB), 65536);
                (writes.read_percent, writes.content) = (0, content);
                (writes.threads, writes.write_through) = (threads, write_through);
                let bound = Bound::Bytes { total_bytes: MIB };
                let lap = run(&mut session, &plan(vec![writes], bound))?;
                assert_eq!((lap.streams[0].write.bytes, lap.failure), (MIB, None));
                Some(target.content())
            };
            let Some(random) = write(Content::Random, 1) else {
                continue;
            };
            assert!(random[..65536] != random[65536..2 * 65536]);
            assert_eq!(
                write(Content::Zero, 1).expect("a ring"),
                vec![0; MIB as usize]
            );
            let same = write(Content::OneBlock, 2).expect("a ring");
            assert!(same.chunks(65536).all(|block| block == &same[..65536]));
            assert!(same[..4096] != same[4096..8192], "a block is random within");
            let counted = write(Content::Counting, 1).expect("a ring");
            assert!(counted
                .iter()
                .enumerate()
                .all(|(at, &byte)| byte == at as u8));
        }
    }
}

/// None, with the reason printed, where the kernel has no ring for us.
fn run(session: &mut Session, plan: &Plan) -> Option<teijo_engine::lap::Lap> {
    match session.run(plan) {
        Err(error @ EngineError::RingRefused { .. }) => {
            println!("skipped: {error}");
            None
        }
        lap => Some(lap.expect("the plan runs")),
    }
}

#[test]
fn every_sector_of_two_passes_is_written_and_unique() {
    let length_bytes = 8 * MIB + 3 * 4096;
    for kind in KINDS {
        let Some(target) = Target::new("unique", length_bytes) else {
            return;
        };
        let writes = stream(FROM_THE_START, contiguous(0, length_bytes), 128 * 1024);
        let streams = vec![StreamPlan {
            threads: 4,
            read_percent: 0,
            ..writes
        }];
        let bound = Bound::Bytes {
            total_bytes: 2 * length_bytes,
        };
        let Some(lap) = run(&mut target.session(kind), &plan(streams, bound)) else {
            continue;
        };
        assert_eq!(lap.streams[0].write.bytes, 2 * length_bytes);
        assert!(lap.streams[0].write.errors.is_empty());
        let content = target.content();
        let sectors: HashSet<&[u8]> = content.chunks(512).collect();
        assert_eq!(sectors.len() as u64, length_bytes / 512);
        // Incompressible: the bytes are spread evenly.
        let mut counts = [0u32; 256];
        for &byte in &content {
            counts[usize::from(byte)] += 1;
        }
        let mean = content.len() as f64 / 256.0;
        assert!(counts
            .iter()
            .all(|&count| (f64::from(count) / mean - 1.0).abs() < 0.2));
    }
}

#[test]
fn zero_content_is_zero() {
    let Some(target) = Target::new("zero", MIB) else {
        return;
    };
    target
        .file
        .try_clone()
        .map(File::from)
        .unwrap()
        .set_len(0)
        .unwrap();
    std::fs::write(&target.path, vec![7; MIB as usize]).unwrap();
    let writes = stream(FROM_THE_START, contiguous(4096, MIB - 4096), 4096);
    let streams = vec![StreamPlan {
        read_percent: 0,
        content: Content::Zero,
        ..writes
    }];
    let bound = Bound::Bytes {
        total_bytes: MIB - 4096,
    };
    run(
        &mut target.session(BackendKind::Sync),
        &plan(streams, bound),
    )
    .unwrap();
    let content = target.content();
    assert!(content[..4096].iter().all(|&byte| byte == 7));
    assert!(content[4096..].iter().all(|&byte| byte == 0));
}

#[test]
fn what_a_mix_reads_never_becomes_what_it_writes() {
    let Some(target) = Target::new("mix", 4 * MIB) else {
        return;
    };
    for kind in KINDS {
        let mixed = stream(Access::Random, contiguous(0, 4 * MIB), 4096);
        let streams = vec![StreamPlan {
            read_percent: 50,
            queue_depth: 4,
            ..mixed
        }];
        let bound = Bound::Bytes {
            total_bytes: 16 * MIB,
        };
        if run(&mut target.session(kind), &plan(streams, bound)).is_none() {
            continue;
        }
        for sector in target
            .content()
            .chunks(512)
            .filter(|one| one.iter().any(|&b| b != 0))
        {
            let zeros: u32 = sector.iter().map(|&byte| u32::from(byte == 0)).sum();
            assert!(
                zeros < 32,
                "a sector was written with {zeros} zeros of a hole that was read"
            );
        }
    }
}

#[test]
fn reads_past_the_end_are_errors_and_no_latencies() {
    let Some(target) = Target::new("end", MIB) else {
        return;
    };
    for kind in KINDS {
        let reads = stream(FROM_THE_START, contiguous(0, 2 * MIB), 4096);
        let bound = Bound::Bytes {
            total_bytes: 2 * MIB,
        };
        let Some(lap) = run(&mut target.session(kind), &plan(vec![reads], bound)) else {
            continue;
        };
        let read = &lap.streams[0].read;
        assert_eq!((read.ios, read.latency.count()), (256, 256));
        assert_eq!(read.errors, [(0, 256)].into());
        assert_eq!(lap.failure, None);
    }
}

#[test]
fn a_file_cut_off_under_the_load_ends_the_lap_with_a_name() {
    let Some(target) = Target::new("cut", 64 * KIB) else {
        return;
    };
    File::options()
        .write(true)
        .open(&target.path)
        .unwrap()
        .set_len(0)
        .unwrap();
    let reads = stream(Access::Random, contiguous(0, 64 * KIB), 4096);
    let lap = target
        .session(BackendKind::Sync)
        .run(&plan(vec![reads], milliseconds(60_000)));
    let failure = lap.unwrap().failure;
    assert!(
        matches!(failure, Some(EngineError::DeviceGone { errno: 0, .. })),
        "{failure:?}"
    );
}

#[test]
fn a_refused_alignment_is_named_with_what_is_wanted() {
    let Some(target) = Target::new("refused", MIB) else {
        return;
    };
    for kind in KINDS {
        let odd = stream(Access::Random, contiguous(0, MIB), 1000);
        let mut session = target.session(kind);
        match session.run(&plan(vec![odd], milliseconds(1_000))) {
            Err(EngineError::DirectRefused {
                block_size_bytes,
                offset_alignment_bytes,
                ..
            }) => {
                assert_eq!(block_size_bytes, 1000);
                assert!([0, 512, 4096].contains(&offset_alignment_bytes));
            }
            Ok(_) => println!("skipped: this file system says and wants no alignment"),
            Err(error @ EngineError::RingRefused { .. }) => println!("skipped: {error}"),
            other => panic!("{other:?}"),
        }
        let even = stream(Access::Random, contiguous(0, MIB), 4096);
        let after = run(&mut session, &plan(vec![even], milliseconds(2)));
        assert!(
            after.is_none_or(|lap| lap.failure.is_none()),
            "the session is not spoilt"
        );
    }
}

#[test]
fn a_plan_without_meaning_is_refused_before_any_io() {
    let mut session = Session::with_backend(null_device(), BackendKind::Null);
    let sound = stream(Access::Random, contiguous(0, MIB), 4096);
    let wrong = [
        StreamPlan {
            threads: 0,
            ..sound.clone()
        },
        StreamPlan {
            queue_depth: 0,
            ..sound.clone()
        },
        StreamPlan {
            read_percent: 101,
            ..sound.clone()
        },
        StreamPlan {
            range: contiguous(0, 100),
            ..sound.clone()
        },
        StreamPlan {
            range: contiguous(u64::MAX - 5, MIB),
            ..sound.clone()
        },
        StreamPlan {
            rate: Some(Rate {
                ios_per_second: 0.0,
                schedule: Schedule::Fixed,
            }),
            ..sound.clone()
        },
    ];
    for stream in wrong {
        let refusal = session.run(&plan(vec![stream.clone()], milliseconds(1)));
        assert!(
            matches!(refusal, Err(EngineError::PlanRefused { .. })),
            "{stream:?}"
        );
    }
    let continues = Plan {
        continues: true,
        ..plan(vec![sound], milliseconds(1))
    };
    assert_eq!(session.run(&continues), Err(EngineError::NothingToContinue));
}

fn null_device() -> OwnedFd {
    File::open("/dev/null").expect("every Linux has it").into()
}

#[test]
fn laps_of_one_stimulus_join_on_real_threads() {
    let Some(target) = Target::new("laps", 4 * MIB) else {
        return;
    };
    target
        .file
        .try_clone()
        .map(File::from)
        .unwrap()
        .write_all_at(&[1; 4096], 0)
        .ok();
    for kind in KINDS {
        let mut session = target.session(kind);
        let reads = stream(Access::Random, contiguous(0, 4 * MIB), 4096);
        let streams = vec![StreamPlan {
            threads: 2,
            queue_depth: 4,
            ..reads
        }];
        let mut ios = 0;
        let mut open = Plan {
            open_ended: true,
            ..plan(streams, milliseconds(20))
        };
        let Some(mut before) = run(&mut session, &open) else {
            continue;
        };
        for last in [false, false, true] {
            open = Plan {
                continues: true,
                open_ended: !last,
                ..open
            };
            let lap = session.run(&open).unwrap();
            assert_eq!(lap.started_ns, before.started_ns + before.elapsed_ns);
            assert_eq!(lap.failure, None);
            ios += lap.streams[0].read.ios;
            if !last {
                // Longer where this thread told the end of the piece late.
                assert!(lap.elapsed_ns >= 20_000_000, "{} ns", lap.elapsed_ns);
            }
            before = lap;
        }
        assert!(ios > 0);
        assert_eq!(session.run(&open), Err(EngineError::NothingToContinue));
    }
}

#[test]
fn an_observer_sees_intervals_once_and_stops_the_lap() {
    let mut session = Session::with_backend(null_device(), BackendKind::Null);
    let reads = stream(Access::Random, contiguous(0, MIB), 4096);
    let mut long = plan(vec![reads], milliseconds(60_000));
    long.interval_ns = 50_000_000;
    let mut seen = Vec::new();
    let lap = session.run_observed(&long, |progress| {
        seen.extend(progress.finished[0].iter().map(|[read, _]| *read));
        seen.len() < 3
    });
    let lap = lap.unwrap();
    assert!(lap.stopped && lap.elapsed_ns < 60_000_000_000);
    assert_eq!(seen, lap.streams[0].read.intervals[..seen.len()]);
    assert!(seen.len() >= 3);
}

#[test]
fn several_streams_have_their_own_books() {
    let mut session = Session::with_backend(null_device(), BackendKind::Null);
    let small = stream(Access::Random, contiguous(0, MIB), 4096);
    let large = StreamPlan {
        read_percent: 0,
        block_size_bytes: 128 * 1024,
        rate: Some(Rate {
            ios_per_second: 2_000.0,
            schedule: Schedule::Fixed,
        }),
        ..stream(FROM_THE_START, contiguous(MIB, MIB), 128 * 1024)
    };
    let both = plan(vec![small, large], milliseconds(50));
    // A busy machine may give a thread no turn in a lap; of such a lap nothing is to be told.
    let lap = (0..200)
        .map(|_| session.run(&both).unwrap())
        .find(|lap| lap.streams[0].read.ios > 0)
        .expect("a lap in which the small stream had a turn");
    let [small, large] = &lap.streams[..] else {
        panic!("two streams")
    };
    assert!(small.write.ios == 0 && small.read.response.is_none());
    // 100 arrivals in 50 ms; those that a busy machine left undone are told.
    assert_eq!(
        (large.write.ios + large.backlog_end, large.read.ios),
        (100, 0)
    );
    assert_eq!(
        large.write.response.as_ref().unwrap().count(),
        large.write.ios
    );
    assert_eq!(large.cursor_bytes, large.write.ios * 128 * KIB % MIB);
}

#[test]
fn depth_on_plain_calls_is_held_by_more_threads() {
    let Some(target) = Target::new("depth", MIB) else {
        return;
    };
    let reads = stream(Access::Random, contiguous(0, MIB), 4096);
    let streams = vec![StreamPlan {
        threads: 2,
        queue_depth: 8,
        ..reads
    }];
    let bound = Bound::Bytes {
        total_bytes: 4 * MIB,
    };
    let lap = target
        .session(BackendKind::Sync)
        .run(&plan(streams, bound))
        .unwrap();
    assert_eq!(lap.streams[0].read.ios, 1024);
}

#[test]
fn a_session_that_may_choose_takes_a_system_call_for_one_io_at_a_time() {
    let Some(target) = Target::new("alone", MIB) else {
        return;
    };
    let mut session = Session::new(Arc::clone(&target.file));
    if *session.reason() != Reason::RingGranted {
        return println!("skipped: no ring on this target: {:?}", session.reason());
    }
    let served = |session: &mut Session, streams: Vec<StreamPlan>| {
        let bound = Bound::Bytes {
            total_bytes: 100 * 4096,
        };
        let lap = session.run(&plan(streams, bound)).unwrap();
        let ios: u64 = lap.streams.iter().map(|one| one.read.ios).sum();
        assert_eq!(ios, 100);
        lap.witness.backend.expect("no virtual time here")
    };
    let reads = |threads, queue_depth| StreamPlan {
        threads,
        queue_depth,
        ..stream(Access::Random, contiguous(0, MIB), 4096)
    };
    let ring = BackendKind::Uring;
    for (streams, expected) in [
        (vec![reads(1, 2)], ring),
        (vec![reads(1, 1)], BackendKind::Sync),
        (vec![reads(2, 1)], ring),
        (vec![reads(1, 1), reads(1, 1)], ring),
        (vec![reads(1, 1)], BackendKind::Sync),
    ] {
        let asked: Vec<_> = streams
            .iter()
            .map(|one| (one.threads, one.queue_depth))
            .collect();
        assert_eq!(served(&mut session, streams), expected, "{asked:?}");
    }
    assert_eq!(session.kind(), ring, "the session's own stays");
    let mut named = target.session(ring);
    assert_eq!(
        served(&mut named, vec![reads(1, 1)]),
        ring,
        "a named one is kept"
    );
    let member = || target.file.try_clone().expect("a descriptor more");
    let two = vec![member(), member()];
    let layout = Layout::Concatenated {
        member_bytes: vec![MIB / 2; 2],
    };
    let mut several = Session::new(Volume::new(two, layout).unwrap());
    assert_eq!(
        served(&mut several, vec![reads(1, 1)]),
        ring,
        "the parts of an I/O are in flight together"
    );
}
