//! The ring as a backend: every operation, refused techniques, waits, and what it leaves behind.

use super::*;
use std::fs::File;
use std::io::Write;

const SHAPE: Shape = Shape {
    depth: 4,
    block_size_bytes: 4096,
    reads: true,
    writes: true,
    write_through: false,
    min_complete_max: 1,
};

fn open(shape: Shape, wished: Techniques) -> Option<UringBackend> {
    let clock = HostClock::best();
    let volume = Arc::new(Volume::from(two_blocks()));
    match UringBackend::open(
        &volume,
        shape,
        Setup {
            wished,
            clock,
            ..Setup::default()
        },
    ) {
        Ok(backend) => Some(backend),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

/// A file of two blocks, one of 1s and one of 2s, that nobody else can name.
fn two_blocks() -> Arc<OwnedFd> {
    let name = format!("teijo-uring-{:?}", std::thread::current().id());
    let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
    let mut file = File::options()
        .create_new(true)
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    file.write_all(&[[1; 4096], [2; 4096]].concat()).unwrap();
    Arc::new(file.into())
}

fn carry(backend: &mut UringBackend, op: Op, slot: u16, offset_bytes: u64) -> i32 {
    let length_bytes = if op == Op::Flush { 0 } else { 4096 };
    let tag = (77 << 16) | u64::from(slot);
    backend.push(Request {
        op,
        offset_bytes,
        length_bytes,
        tag,
    });
    let mut completion = None;
    while completion.is_none() {
        backend.wait(1, u64::MAX).unwrap();
        completion = backend.reap();
    }
    assert_eq!(completion.map(|one| one.tag), Some(tag));
    completion.map_or(0, |one| one.result)
}

#[test]
fn every_operation_does_its_work_whatever_technique_is_refused() {
    let all_but_one = Technique::ALL.map(|one| Techniques::ALL.without(one));
    for wished in all_but_one
        .into_iter()
        .chain([Techniques::ALL, Techniques::NONE])
    {
        let Some(mut backend) = open(SHAPE, wished) else {
            return;
        };
        assert_eq!(backend.granted().common(wished), backend.granted());
        assert_eq!(carry(&mut backend, Op::Read, 3, 4096), 4096);
        assert!(backend.arena.read_bytes(3).iter().all(|&byte| byte == 2));
        backend.buffer(3).fill(9);
        assert_eq!(carry(&mut backend, Op::Write, 3, 0), 4096);
        assert_eq!(carry(&mut backend, Op::Read, 0, 0), 4096);
        assert!(backend.arena.read_bytes(0).iter().all(|&byte| byte == 9));
        assert_eq!(carry(&mut backend, Op::Flush, 0, 0), 0);
        assert_eq!(carry(&mut backend, Op::Discard, 0, 0), 0);
        assert_eq!(carry(&mut backend, Op::Read, 1, 0), 4096);
        assert!(backend.arena.read_bytes(1).iter().all(|&byte| byte == 0));
        assert_eq!(
            carry(&mut backend, Op::Read, 2, 8192),
            0,
            "nothing is behind the end"
        );
    }
}

#[test]
fn a_wait_ends_at_its_deadline() {
    let Some(mut backend) = open(SHAPE, Techniques::ALL) else {
        return;
    };
    let deadline_ns = backend.clock.now_ns() + 3_000_000;
    backend.wait(1, deadline_ns).unwrap();
    // The kernel times by a clock that the counter may be a few millionths ahead of.
    assert!(backend.clock.now_ns() + 3_000 >= deadline_ns);
    assert_eq!(backend.reap(), None);
}

#[test]
fn a_wait_for_nothing_submits_and_does_not_wait() {
    let Some(mut backend) = open(SHAPE, Techniques::ALL) else {
        return;
    };
    backend.pace.several = 4;
    backend.push(Request {
        op: Op::Read,
        offset_bytes: 0,
        length_bytes: 4096,
        tag: 1,
    });
    backend.wait(0, 0).unwrap();
    assert_eq!(backend.ring.unsubmitted(), 0);
    let submits = backend.ring.enters();
    while backend.reap().is_none() {
        backend.wait(0, 0).unwrap();
    }
    assert!(submits == 1 && backend.in_flight == 0);
    backend.wait(0, 0).unwrap();
}

#[test]
fn a_wait_for_several_takes_what_is_in_flight() {
    let shape = Shape {
        min_complete_max: 4,
        ..SHAPE
    };
    let Some(mut backend) = open(shape, Techniques::ALL.without(Technique::InlineGuess)) else {
        return;
    };
    for tag in 0..3u64 {
        backend.push(Request {
            op: Op::Read,
            offset_bytes: 0,
            length_bytes: 4096,
            tag,
        });
    }
    let several = backend.pace.limit;
    backend.pace.several = several;
    backend.pace.since_ns = u64::MAX;
    assert_eq!(backend.terms(1, u64::MAX).0, several.min(3));
    while backend.in_flight > 0 {
        backend.wait(1, u64::MAX).unwrap();
        while backend.reap().is_some() {}
    }
}

/// Whether an address is mapped in this process.
fn is_mapped(address: usize) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().any(|line| {
        let range = line.split(' ').next().unwrap_or_default();
        let ends = range.split_once('-').unwrap_or_default();
        let [from, to] = [ends.0, ends.1].map(|hex| usize::from_str_radix(hex, 16).unwrap_or(0));
        (from..to).contains(&address)
    })
}

/// Whether a ring's buffers stay mapped when it is closed; `None` where the kernel refuses a ring.
///
/// A read of an empty pipe stays in flight until somebody writes, or the ring is closed.
fn stay_mapped(is_in_flight: bool) -> Option<bool> {
    let (reader, _writer) = std::io::pipe().unwrap();
    let volume = Arc::new(Volume::from(Arc::new(OwnedFd::from(reader))));
    let setup = Setup {
        wished: Techniques::ALL.without(Technique::RegisteredBuffers),
        clock: HostClock::best(),
        ..Setup::default()
    };
    let mut backend = UringBackend::open(&volume, SHAPE, setup).ok()?;
    if is_in_flight {
        backend.push(Request {
            op: Op::Read,
            offset_bytes: 0,
            length_bytes: 4096,
            tag: 0,
        });
        backend.wait(0, 0).unwrap();
        assert_eq!(backend.reap(), None);
    }
    let address = backend.arena.whole().iov_base.addr();
    drop(backend);
    Some(is_mapped(address))
}

#[test]
fn buffers_that_the_kernel_may_still_write_to_stay_mapped_and_others_do_not() {
    let Some(stay) = stay_mapped(true) else {
        return println!("skipped: the kernel refuses a ring");
    };
    assert!(stay);
    // A test in another thread may map something at the same address in between.
    assert!((0..50).any(|_| stay_mapped(false) == Some(false)));
}
