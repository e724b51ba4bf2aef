//! `io_uring`: one ring per worker, with a registered file and one registered buffer. Every
//! feature that an older kernel or a limit refuses is left out one by one.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;

use super::ring::{body_word, head_word, Entry, Patience, Ring};
use super::{Backend, Completion, FileBackend, Op, Request, Setup};
use crate::arena::{Arena, Shape};
use crate::clock::{Clock, HostClock};
use crate::error::{errno_of, EngineError};
use crate::technique::{Technique, Techniques};

/// Operations and flag bits of the kernel's interface.
const IORING_OP_FSYNC: u8 = 3;
const IORING_OP_READ_FIXED: u8 = 4;
const IORING_OP_WRITE_FIXED: u8 = 5;
const IORING_OP_FALLOCATE: u8 = 17;
const IORING_OP_READ: u8 = 22;
const IORING_OP_WRITE: u8 = 23;
const IOSQE_FIXED_FILE: u8 = 1;
const IORING_FSYNC_DATASYNC: u32 = 1;

/// A failed guess is repeated after at most so many waits.
const PATIENCE_MAX: u32 = 1024;
/// No completion is held back for longer than this, at the pace of the last while.
const HOLD_NS: u64 = 100_000;
/// A wait for several completions is content with one after this time: a device that stalls is
/// no reason to hold back what is there. Shorter timers fire, and cost more than they save.
const SEVERAL_US: u32 = 2_000;
/// The pace is taken over so long.
const PACE_NS: u64 = 1_000_000;

/// Whether the next submit will find everything complete when it returns, as on a target that
/// never sleeps. Then the kernel need not be asked to wait, which saves 5 % at depth 1.
#[derive(Debug, Default)]
struct InlineGuess {
    patience: u32,
    waits_left: u32,
}

impl InlineGuess {
    #[inline]
    fn is_on(&mut self) -> bool {
        let on = self.waits_left == 0;
        self.waits_left = self.waits_left.saturating_sub(1);
        on
    }

    #[inline]
    fn was_right(&mut self) {
        self.patience = 0;
    }

    fn was_wrong(&mut self) {
        self.patience = (self.patience * 2 + 1).min(PATIENCE_MAX);
        self.waits_left = self.patience;
    }
}

/// For how many completions a wait may wait: each wake that is saved is CPU time saved, but what
/// is held back ages. One, unless the pace brings the others within `HOLD_NS`.
#[derive(Debug)]
struct Pace {
    limit: u32,
    since_ns: u64,
    ios: u64,
    several: u32,
    several_max: u32,
}

impl Pace {
    fn new(limit: u32) -> Self {
        Self {
            limit,
            since_ns: 0,
            ios: 0,
            several: 1,
            several_max: 1,
        }
    }

    /// Takes the pace: `ios` were completed until `now_ns` since the ring was opened.
    fn note(&mut self, ios: u64, now_ns: u64) {
        let elapsed_ns = now_ns.saturating_sub(self.since_ns);
        if elapsed_ns < PACE_NS {
            return;
        }
        let in_time = (ios - self.ios) * HOLD_NS / elapsed_ns;
        self.several = in_time.clamp(1, u64::from(self.limit)) as u32;
        self.several_max = self.several_max.max(self.several);
        (self.since_ns, self.ios) = (now_ns, ios);
    }
}

/// An open descriptor behind a ring. Belongs to the thread that opened it.
#[derive(Debug)]
pub struct UringBackend {
    // The ring is dropped before the arena that its I/Os use.
    ring: Ring,
    arena: Arena,
    _file: Arc<OwnedFd>,
    clock: HostClock,
    heads: [u64; 4],
    pace: Pace,
    reaped: u64,
    in_flight: u32,
    guesses: bool,
    guess: InlineGuess,
    granted: Techniques,
}

/// First word of an entry of each operation.
fn heads(file: &OwnedFd, granted: Techniques) -> [u64; 4] {
    let (flags, file) = if granted.has(Technique::RegisteredFile) {
        (IOSQE_FIXED_FILE, 0)
    } else {
        (0, file.as_raw_fd())
    };
    let (read, write) = if granted.has(Technique::RegisteredBuffers) {
        (IORING_OP_READ_FIXED, IORING_OP_WRITE_FIXED)
    } else {
        (IORING_OP_READ, IORING_OP_WRITE)
    };
    let mut all = [0; 4];
    all[Op::Read as usize] = head_word(read, flags, file);
    all[Op::Write as usize] = head_word(write, flags, file);
    all[Op::Flush as usize] = head_word(IORING_OP_FSYNC, flags, file);
    all[Op::Discard as usize] = head_word(IORING_OP_FALLOCATE, flags, file);
    all
}

impl FileBackend for UringBackend {
    /// Opens with registrations where the kernel grants them, or without.
    fn open(file: &Arc<OwnedFd>, shape: Shape, setup: Setup) -> Result<Self, EngineError> {
        let wished = setup.wished;
        let ring = Ring::new(u32::from(shape.depth), wished).map_err(|error| {
            let errno = errno_of(&error);
            EngineError::RingRefused { errno }
        })?;
        let arena = Arena::new(shape, wished.has(Technique::HugePages))?;
        let others = [
            Technique::HugePages,
            Technique::NoAccessTime,
            Technique::TscClock,
        ];
        let mut granted = others.into_iter().fold(ring.granted(), Techniques::without);
        granted = granted.and(arena.granted());
        if wished.has(Technique::RegisteredFile) && ring.register_file(file.as_fd()).is_err() {
            granted = granted.without(Technique::RegisteredFile);
        }
        // SAFETY: the arena stays mapped for as long as the ring lives. The registration is
        // refused where the limit of locked memory is too low; addresses do as well then.
        let buffer = || unsafe { ring.register_buffer(&arena.whole()) };
        if wished.has(Technique::RegisteredBuffers) && buffer().is_err() {
            granted = granted.without(Technique::RegisteredBuffers);
        }
        let limit = if granted.has(Technique::CoalescedWakes) {
            shape.min_complete_max
        } else {
            1
        };
        Ok(Self {
            heads: heads(file, granted),
            ring,
            arena,
            _file: Arc::clone(file),
            clock: setup.clock,
            pace: Pace::new(limit),
            reaped: 0,
            in_flight: 0,
            guesses: granted.has(Technique::InlineGuess),
            guess: InlineGuess::default(),
            granted,
        })
    }

    fn granted(&self) -> Techniques {
        self.granted
    }

    fn submit_calls(&self) -> u64 {
        self.ring.enters()
    }

    fn min_complete(&self) -> u32 {
        self.pace.several_max
    }
}

impl UringBackend {
    /// How a wait for `want` completions until `deadline_ns` is put to the kernel.
    fn terms(&mut self, want: u32, deadline_ns: u64) -> (u32, Patience) {
        let is_timed = deadline_ns != u64::MAX;
        let now_ns = if is_timed || self.pace.limit > 1 {
            self.clock.now_ns()
        } else {
            0
        };
        if self.pace.limit > 1 {
            self.pace.note(self.reaped, now_ns);
        }
        let several = self.pace.several.min(self.in_flight).max(want);
        let patience = Patience {
            timeout_ns: is_timed.then(|| deadline_ns.saturating_sub(now_ns)),
            several_us: if several > want { SEVERAL_US } else { 0 },
        };
        (several, patience)
    }
}

impl Backend for UringBackend {
    const HAS_DATA: bool = true;

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        self.arena.write_bytes(slot)
    }

    fn read_back(&mut self, slot: u16) -> &[u8] {
        self.arena.read_bytes(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        let Request {
            op,
            offset_bytes,
            length_bytes,
            tag,
        } = request;
        let slot = request.slot();
        let (address, body) = match op {
            Op::Read => (
                self.arena.read_buffer(slot).expose_provenance() as u64,
                body_word(length_bytes, 0),
            ),
            Op::Write => (
                self.arena.write_buffer(slot).expose_provenance() as u64,
                body_word(length_bytes, 0),
            ),
            Op::Flush => (0, body_word(0, IORING_FSYNC_DATASYNC)),
            Op::Discard => {
                let hole = (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE) as u32;
                (u64::from(length_bytes), body_word(hole, 0))
            }
        };
        let entry = Entry {
            head: self.heads[op as usize],
            offset: if op == Op::Flush { 0 } else { offset_bytes },
            address,
            body,
            tag,
        };
        // SAFETY: the buffer belongs to the slot until its completion is reaped, and the arena
        // and the file live as long as the ring.
        unsafe { self.ring.push(entry) };
        self.in_flight += 1;
    }

    #[inline]
    fn wait(&mut self, want: u32, deadline_ns: u64) -> io::Result<()> {
        if self.ring.unsubmitted() == 0 && want > 0 && self.ring.ready() >= want {
            return Ok(());
        }
        if self.guesses && self.ring.unsubmitted() > 0 && self.guess.is_on() {
            self.ring.enter(0, Patience::default())?;
            if self.ring.ready() == self.in_flight {
                self.guess.was_right();
                return Ok(());
            }
            self.guess.was_wrong();
        }
        loop {
            let (several, patience) = self.terms(want, deadline_ns);
            if self.ring.enter(several, patience)? {
                return Ok(());
            }
        }
    }

    #[inline]
    fn reap(&mut self) -> Option<Completion> {
        let completion = self.ring.reap()?;
        self.in_flight -= 1;
        self.reaped += 1;
        Some(Completion {
            tag: completion.tag,
            result: completion.result,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    const SHAPE: Shape = Shape {
        depth: 4,
        block_bytes: 4096,
        reads: true,
        writes: true,
        min_complete_max: 1,
    };

    fn open(shape: Shape, wished: Techniques) -> Option<UringBackend> {
        let clock = HostClock::best();
        match UringBackend::open(&two_blocks(), shape, Setup { wished, clock }) {
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

    #[test]
    fn a_wait_is_for_several_only_where_they_come_within_the_hold() {
        let mut pace = Pace::new(8);
        let mut at = |ios, now_ns| {
            pace.note(ios, now_ns);
            pace.several
        };
        assert_eq!(at(0, 10_000_000), 1);
        assert_eq!(at(50, 10_500_000), 1, "too early to tell");
        assert_eq!(at(100, 11_000_000), 8, "10 us apart: ten within the hold");
        assert_eq!(at(140, 12_000_000), 4, "25 us apart");
        assert_eq!(at(145, 13_000_000), 1, "200 us apart");
        assert_eq!(pace.several_max, 8);
    }

    #[test]
    fn a_wrong_guess_is_repeated_more_and_more_rarely() {
        let mut guess = InlineGuess::default();
        let mut asked = 0;
        for _ in 0..100_000 {
            if guess.is_on() {
                asked += 1;
                guess.was_wrong();
            }
        }
        assert!(asked < 120, "{asked}");
        guess.was_right();
        guess.waits_left = 0;
        assert!(guess.is_on() && guess.is_on());
    }
}
