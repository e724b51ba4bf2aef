//! Targets of several members: every address lies on exactly one place of one member, what is
//! written is where it belongs, and a member that fails is named.

use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use crate::rehearsal::{contiguous, plan, stream, KIB, MIB};
use proptest::prelude::*;
use teijo_engine::backend::BackendKind;
use teijo_engine::error::EngineError;
use teijo_engine::lap::Lap;
use teijo_engine::plan::{Access, Bound, Content, Plan, StreamPlan, Verify};
use teijo_engine::session::Session;
use teijo_engine::verify::{read_block, Seen};
use teijo_engine::volume::{Layout, Volume};

const RUN: u64 = 0x7e17_0001;
const KINDS: [BackendKind; 2] = [BackendKind::Uring, BackendKind::Sync];
const FROM_THE_START: Access = Access::Sequential { cursor_bytes: 0 };

/// (member, offset) of every address, written down one after the other.
fn addresses(layout: &Layout, grain_bytes: u64) -> Vec<(usize, u64)> {
    let mut all = Vec::new();
    match layout {
        Layout::Single => unreachable!("it has no end"),
        Layout::Concatenated { member_bytes } => {
            for (member, &bytes) in member_bytes.iter().enumerate() {
                all.extend((0..bytes / grain_bytes).map(|place| (member, place * grain_bytes)));
            }
        }
        Layout::Striped {
            member_bytes,
            chunk_bytes,
        } => {
            let mut row_bytes = 0;
            while member_bytes
                .iter()
                .all(|&bytes| row_bytes + chunk_bytes <= bytes)
            {
                for member in 0..member_bytes.len() {
                    let places = (0..chunk_bytes / grain_bytes).map(|one| one * grain_bytes);
                    all.extend(places.map(|place| (member, row_bytes + place)));
                }
                row_bytes += chunk_bytes;
            }
        }
    }
    all
}

fn layouts() -> impl Strategy<Value = Layout> {
    let sizes = || prop::collection::vec(1u64..200, 1..6);
    prop_oneof![
        sizes().prop_map(|member_bytes| Layout::Concatenated { member_bytes }),
        (sizes(), 1u64..40).prop_map(|(sizes, chunk_bytes)| {
            let member_bytes = sizes.iter().map(|bytes| bytes + chunk_bytes).collect();
            Layout::Striped {
                member_bytes,
                chunk_bytes,
            }
        }),
    ]
}

proptest! {
    #[test]
    fn the_parts_of_an_io_are_its_bytes_in_order_each_where_the_list_has_it(
        layout in layouts(), at in 0.0..1.0f64, share in 0.0..1.0f64,
    ) {
        let oracle = addresses(&layout, 1);
        let capacity_bytes = layout.capacity_bytes().unwrap();
        prop_assert_eq!(capacity_bytes, oracle.len() as u64);
        let offset_bytes = (at * capacity_bytes as f64) as u64;
        let length_bytes = 1 + (share * (capacity_bytes - offset_bytes - 1) as f64) as u32;
        let parts: Vec<_> = layout.parts(offset_bytes, length_bytes).collect();
        let bytes: Vec<(usize, u64)> = parts
            .iter()
            .flat_map(|part| {
                let within = 0..u64::from(part.length_bytes);
                within.map(move |byte| (part.member, part.offset_bytes + byte))
            })
            .collect();
        prop_assert_eq!(&bytes[..], &oracle[offset_bytes as usize..][..length_bytes as usize]);
        let mut at_bytes = 0;
        for part in &parts {
            prop_assert_eq!(part.at_bytes, at_bytes);
            prop_assert!(part.length_bytes > 0);
            at_bytes += part.length_bytes;
        }
        prop_assert!(parts.len() as u64 <= layout.parts_max(length_bytes));
    }

    #[test]
    fn no_two_addresses_share_a_place(layout in layouts()) {
        let capacity_bytes = layout.capacity_bytes().unwrap();
        let whole = layout.parts(0, capacity_bytes as u32);
        let mut places: Vec<(usize, u64)> = whole
            .flat_map(|part| {
                let within = 0..u64::from(part.length_bytes);
                within.map(move |byte| (part.member, part.offset_bytes + byte))
            })
            .collect();
        places.sort_unstable();
        places.dedup();
        prop_assert_eq!(places.len() as u64, capacity_bytes);
    }

    #[test]
    fn parts_keep_the_grid_of_their_borders_and_of_the_io(
        layout in layouts(), grid in prop::sample::select(vec![512u64, 4096]),
        first in 0u64..1000, blocks in 1u64..500,
    ) {
        let layout = match layout {
            Layout::Single => Layout::Single,
            Layout::Concatenated { member_bytes } => Layout::Concatenated {
                member_bytes: member_bytes.iter().map(|one| one * grid).collect(),
            },
            Layout::Striped { member_bytes, chunk_bytes } => Layout::Striped {
                member_bytes: member_bytes.iter().map(|one| one * grid + 17).collect(),
                chunk_bytes: chunk_bytes * grid,
            },
        };
        let capacity = layout.capacity_bytes().unwrap() / grid;
        let first = first % capacity;
        let blocks = blocks.min(capacity - first);
        for part in layout.parts(first * grid, (blocks * grid) as u32) {
            let all = part.offset_bytes | u64::from(part.at_bytes | part.length_bytes);
            prop_assert_eq!(all % grid, 0);
        }
    }
}

/// Files of their own that go away with the test.
struct Members {
    paths: Vec<PathBuf>,
    layout: Layout,
}

impl Drop for Members {
    fn drop(&mut self) {
        for path in &self.paths {
            std::fs::remove_file(path).expect("the test made it");
        }
    }
}

impl Members {
    fn new(name: &str, layout: Layout, lengths_bytes: &[u64]) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let paths = (0..lengths_bytes.len())
            .map(|number| folder.join(format!("{name}-{}-{number}", std::process::id())))
            .collect::<Vec<_>>();
        for (path, &bytes) in paths.iter().zip(lengths_bytes) {
            let file = File::create(path).expect("a file");
            file.set_len(bytes).expect("room for it");
        }
        Self { paths, layout }
    }

    /// With direct I/O where the file system takes it.
    fn open(&self) -> Vec<OwnedFd> {
        let open = |path: &PathBuf, flags| {
            let mut options = OpenOptions::new();
            options.read(true).write(true).custom_flags(flags);
            options.open(path)
        };
        let direct = |path| open(path, libc::O_DIRECT).or_else(|_| open(path, 0));
        let files = self.paths.iter().map(direct);
        files.map(|file| file.expect("it is ours").into()).collect()
    }

    fn session(&self, kind: BackendKind) -> Session {
        let volume = Volume::new(self.open(), self.layout.clone());
        Session::with_backend(volume.expect("a layout of these members"), kind)
    }

    /// What lies at every 512 B of the target, by the list of addresses and the files alone.
    fn content(&self) -> Vec<u8> {
        let files: Vec<Vec<u8>> = self
            .paths
            .iter()
            .map(|path| std::fs::read(path).expect("readable"))
            .collect();
        let sectors = addresses(&self.layout, 512).into_iter();
        sectors
            .flat_map(|(member, offset)| files[member][offset as usize..][..512].to_vec())
            .collect()
    }
}

/// Three members of different lengths in stripes, and the same one after the other.
fn both(name: &str) -> [Members; 2] {
    let member_bytes = vec![2 * MIB + 64 * KIB, 3 * MIB, 2 * MIB + 12 * KIB];
    let striped = Layout::Striped {
        member_bytes: member_bytes.clone(),
        chunk_bytes: 64 * KIB,
    };
    let concatenated = Layout::Concatenated {
        member_bytes: member_bytes.clone(),
    };
    [
        Members::new(&format!("{name}-striped"), striped, &member_bytes),
        Members::new(&format!("{name}-concatenated"), concatenated, &member_bytes),
    ]
}

/// None, with the reason printed, where the kernel has no ring for us.
fn run(session: &mut Session, plan: &Plan) -> Option<Lap> {
    match session.run(plan) {
        Err(error @ EngineError::RingRefused { .. }) => {
            println!("skipped: {error}");
            None
        }
        lap => Some(lap.expect("the plan runs")),
    }
}

fn bytes(total_bytes: u64) -> Bound {
    Bound::Bytes { total_bytes }
}

fn writer(length_bytes: u64, block_size_bytes: u32) -> StreamPlan {
    StreamPlan {
        read_percent: 0,
        verify: Some(Verify {
            run: RUN,
            generation: 1,
            written: Vec::new(),
        }),
        ..stream(
            FROM_THE_START,
            contiguous(0, length_bytes),
            block_size_bytes,
        )
    }
}

#[test]
fn every_sector_of_the_target_is_on_its_member_and_read_back_by_address() {
    for members in both("stamps") {
        let capacity_bytes = members.layout.capacity_bytes().unwrap();
        for (kind, block_size_bytes) in
            [KINDS[0], KINDS[1], KINDS[0]]
                .into_iter()
                .zip([160 * 1024, 4096 * 5, 1024 * 1024])
        {
            let mut session = members.session(kind);
            let write = writer(capacity_bytes, block_size_bytes);
            let Some(lap) = run(&mut session, &plan(vec![write], bytes(capacity_bytes))) else {
                continue;
            };
            assert!(lap.streams[0].write.errors.is_empty());
            assert_eq!(lap.streams[0].write.bytes, capacity_bytes);
            let mut address = 0;
            read_block(&members.content(), RUN, 0, |seen| {
                let Seen::Ours(stamp) = seen else {
                    panic!("{seen:?} at sector {address} of {:?}", members.layout)
                };
                assert_eq!(stamp.address, address, "{:?}", members.layout);
                address += 1;
            });
            assert_eq!(address, capacity_bytes / 512);
            let read = StreamPlan {
                read_percent: 100,
                verify: Some(Verify {
                    run: RUN,
                    generation: 2,
                    written: lap.streams[0].written.into_iter().collect(),
                }),
                ..stream(FROM_THE_START, contiguous(0, capacity_bytes), 96 * 1024)
            };
            let lap = run(&mut session, &plan(vec![read], bytes(capacity_bytes))).unwrap();
            let found = &lap.streams[0].read.findings;
            assert_eq!((found.sectors, found.sectors_unjudged), (address, 0));
            assert_eq!(found.sectors_faulty(), 0, "{found}");
            for path in &members.paths {
                let file = OpenOptions::new().write(true).open(path).unwrap();
                let length_bytes = file.metadata().unwrap().len();
                file.set_len(0)
                    .and_then(|()| file.set_len(length_bytes))
                    .unwrap();
            }
        }
    }
}

#[test]
fn a_fault_on_one_member_is_found_at_its_address_of_the_target() {
    for members in both("faults") {
        let capacity_bytes = members.layout.capacity_bytes().unwrap();
        let mut session = members.session(BackendKind::Sync);
        let write = plan(vec![writer(capacity_bytes, 65536)], bytes(capacity_bytes));
        let written = session.run(&write).unwrap().streams[0].written;
        let sector = 4_321;
        let (member, offset_bytes) = addresses(&members.layout, 512)[sector];
        let mut content = std::fs::read(&members.paths[member]).unwrap();
        content[offset_bytes as usize + 100] ^= 4;
        std::fs::write(&members.paths[member], content).unwrap();
        let mut read = writer(capacity_bytes, 192 * 1024);
        read.read_percent = 100;
        read.verify.as_mut().unwrap().written = written.into_iter().collect();
        let lap = session
            .run(&plan(vec![read], bytes(capacity_bytes)))
            .unwrap();
        let found = &lap.streams[0].read.findings;
        let places: Vec<u64> = found.examples.values().flatten().copied().collect();
        assert_eq!(places, [sector as u64 * 512], "{found}");
    }
}

#[test]
fn a_mix_of_verified_reads_and_writes_across_borders_finds_nothing_wrong() {
    for members in both("mix") {
        let capacity_bytes = members.layout.capacity_bytes().unwrap() / 4096 * 4096;
        for (run_number, kind) in (1..).zip(KINDS) {
            let mixed = StreamPlan {
                read_percent: 50,
                threads: 2,
                queue_depth: 8,
                alignment_bytes: 4096,
                flush_every_writes: 7,
                access: Access::Random,
                // The files still have what the run before wrote.
                verify: Some(Verify {
                    run: run_number,
                    generation: 1,
                    written: Vec::new(),
                }),
                ..writer(capacity_bytes, 80 * 1024)
            };
            let total_bytes = 600 * 80 * KIB;
            let Some(lap) = run(
                &mut members.session(kind),
                &plan(vec![mixed], bytes(total_bytes)),
            ) else {
                continue;
            };
            let [read, write, flush] = {
                let one = &lap.streams[0];
                [&one.read, &one.write, &one.flush]
            };
            assert_eq!(
                read.findings.sectors_faulty(),
                0,
                "{kind:?} {}",
                read.findings
            );
            assert!(read.findings.sectors > 0);
            assert_eq!(read.ios + write.ios, 600, "one completion of each");
            assert!(flush.ios > 0 && flush.errors.is_empty());
            assert_eq!(read.latency.count() + write.latency.count(), 600);
        }
    }
}

#[test]
fn discards_reach_every_member_and_leave_the_rest() {
    for (members, kind) in both("discard").into_iter().zip(KINDS) {
        let capacity_bytes = members.layout.capacity_bytes().unwrap();
        let mut session = members.session(kind);
        let write = plan(vec![writer(capacity_bytes, 65536)], bytes(capacity_bytes));
        if run(&mut session, &write).is_none() {
            continue;
        }
        let (start_bytes, length_bytes) = (64 * KIB + 4096, capacity_bytes - 256 * KIB);
        let discard = StreamPlan {
            discard_percent: 100,
            ..stream(
                FROM_THE_START,
                contiguous(start_bytes, length_bytes),
                256 * 1024,
            )
        };
        let lap = run(&mut session, &plan(vec![discard], bytes(length_bytes))).unwrap();
        if !lap.streams[0].discard.errors.is_empty() {
            println!("skipped: this file system punches no holes");
            continue;
        }
        let content = members.content();
        for (sector, bytes) in content.chunks(512).enumerate() {
            let address_bytes = sector as u64 * 512;
            let is_gone = (start_bytes..start_bytes + length_bytes).contains(&address_bytes);
            assert_eq!(
                bytes.iter().all(|&byte| byte == 0),
                is_gone,
                "at {address_bytes}"
            );
        }
    }
}

/// A null device takes writes and refuses to be flushed.
#[test]
fn a_flush_goes_to_every_member() {
    let members = Members::new("flush", Layout::Single, &[MIB]);
    for kind in KINDS {
        let null = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/null")
            .unwrap();
        let mut files = members.open();
        files.push(null.into());
        let layout = Layout::Concatenated {
            member_bytes: vec![MIB, MIB],
        };
        let mut session = Session::with_backend(Volume::new(files, layout).unwrap(), kind);
        let writes = StreamPlan {
            read_percent: 0,
            flush_every_writes: 4,
            queue_depth: 1,
            ..stream(FROM_THE_START, contiguous(0, MIB), 65536)
        };
        let Some(lap) = run(&mut session, &plan(vec![writes], bytes(MIB))) else {
            continue;
        };
        let flush = &lap.streams[0].flush;
        assert!(lap.streams[0].write.errors.is_empty() && flush.ios == 0);
        assert_eq!(
            flush.errors.keys().copied().collect::<Vec<_>>(),
            [libc::EINVAL]
        );
    }
}

/// Every write to the middle member fails (`/dev/full`); the others are well.
#[test]
fn a_member_that_fails_a_thousand_times_in_a_row_is_named_and_the_rest_is_kept() {
    let members = Members::new("full", Layout::Single, &[MIB]);
    for kind in KINDS {
        let full = || OpenOptions::new().read(true).write(true).open("/dev/full");
        let null = || OpenOptions::new().read(true).write(true).open("/dev/null");
        let mut files = members.open();
        files.extend([full().unwrap().into(), null().unwrap().into()]);
        let layout = Layout::Striped {
            member_bytes: vec![MIB; 3],
            chunk_bytes: 4096,
        };
        let mut session = Session::with_backend(Volume::new(files, layout).unwrap(), kind);
        let writes = StreamPlan {
            read_percent: 0,
            ..stream(Access::Random, contiguous(0, 3 * MIB), 4096)
        };
        let Some(lap) = run(&mut session, &plan(vec![writes], bytes(1 << 40))) else {
            continue;
        };
        let write = &lap.streams[0].write;
        assert_eq!(
            write.errors.keys().copied().collect::<Vec<_>>(),
            [libc::ENOSPC]
        );
        assert!(
            write.ios > 1_000,
            "two members of three went on: {}",
            write.ios
        );
        let Some(EngineError::MemberGone {
            member: 1,
            errno: libc::ENOSPC,
            failures,
        }) = lap.failure
        else {
            panic!("{:?}", lap.failure)
        };
        assert!(failures >= 1_000);
        let named = lap.failure.unwrap().to_string();
        assert!(
            named.starts_with("the target's member 2 is gone"),
            "{named}"
        );
    }
}

#[test]
fn an_io_that_is_short_on_one_member_is_one_error_and_no_latency() {
    let members = Members::new(
        "short",
        Layout::Concatenated {
            member_bytes: vec![MIB, MIB],
        },
        &[MIB, MIB / 2],
    );
    for kind in KINDS {
        let reads = stream(FROM_THE_START, contiguous(0, 2 * MIB), 128 * 1024);
        let Some(lap) = run(
            &mut members.session(kind),
            &plan(vec![reads], bytes(2 * MIB)),
        ) else {
            continue;
        };
        let read = &lap.streams[0].read;
        assert_eq!((read.ios, read.latency.count()), (12, 12));
        assert_eq!(read.errors, [(0, 4)].into());
    }
}

#[test]
fn what_does_not_fit_the_members_is_refused_by_name() {
    let [members, _] = both("refused");
    let capacity_bytes = members.layout.capacity_bytes().unwrap();
    let moment = Bound::Time { duration_ns: 1 };
    let beyond = stream(Access::Random, contiguous(4096, capacity_bytes), 4096);
    let refusal = members
        .session(BackendKind::Sync)
        .run(&plan(vec![beyond], moment));
    assert!(
        matches!(refusal, Err(EngineError::PlanRefused { .. })),
        "{refusal:?}"
    );

    let fine = Layout::Striped {
        member_bytes: vec![MIB, MIB],
        chunk_bytes: 512,
    };
    let volume = Volume::new(members.open().split_off(1), fine).unwrap();
    let large = StreamPlan {
        queue_depth: 64,
        content: Content::Zero,
        ..stream(Access::Random, contiguous(0, 2 * MIB), 1024 * 1024)
    };
    let mut session = Session::with_backend(volume, BackendKind::Uring);
    let refusal = session.run(&plan(vec![large], moment)).unwrap_err();
    match refusal {
        EngineError::TooManyParts { smallest_bytes, .. } => assert_eq!(smallest_bytes, 512),
        // A file system with blocks of 4 KiB says so first.
        EngineError::BorderUnaligned { border_bytes, .. } => assert_eq!(border_bytes, 512),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_layout_without_meaning_is_refused_before_any_io() {
    for (layout, members) in [
        (Layout::Single, 2),
        (
            Layout::Concatenated {
                member_bytes: vec![MIB],
            },
            2,
        ),
        (
            Layout::Concatenated {
                member_bytes: vec![MIB, 0],
            },
            2,
        ),
        (
            Layout::Striped {
                member_bytes: vec![MIB],
                chunk_bytes: 0,
            },
            1,
        ),
        (
            Layout::Striped {
                member_bytes: vec![100],
                chunk_bytes: 512,
            },
            1,
        ),
        (
            Layout::Concatenated {
                member_bytes: vec![u64::MAX, 2],
            },
            2,
        ),
        (
            Layout::Concatenated {
                member_bytes: Vec::new(),
            },
            0,
        ),
    ] {
        let null = || File::open("/dev/null").unwrap().into();
        let files = std::iter::repeat_with(null).take(members).collect();
        let refusal = Volume::new(files, layout.clone()).err();
        assert!(
            matches!(refusal, Some(EngineError::PlanRefused { .. })),
            "{layout:?}"
        );
    }
}

#[test]
fn a_chunk_that_direct_io_cannot_cut_is_refused_by_name() {
    let layout = Layout::Striped {
        member_bytes: vec![MIB, MIB],
        chunk_bytes: 1000,
    };
    let members = Members::new("odd", layout, &[MIB, MIB]);
    let reads = stream(Access::Random, contiguous(0, MIB), 4096);
    let mut session = members.session(BackendKind::Sync);
    match session.run(&plan(vec![reads], bytes(MIB))) {
        Err(EngineError::BorderUnaligned {
            border_bytes,
            alignment_bytes,
        }) => assert_eq!((border_bytes, alignment_bytes % 512), (1000, 0)),
        Ok(_) => println!("skipped: this file system says and wants no alignment"),
        other => panic!("{other:?}"),
    }
}
