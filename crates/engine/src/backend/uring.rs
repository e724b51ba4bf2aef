//! `io_uring`: one ring per worker, with a registered file and one registered buffer. Every
//! feature that an older kernel or a limit refuses is left out one by one.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use io_uring::squeue::Entry;
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{opcode, Builder, IoUring};

use super::{Backend, Completion, FileBackend, Op, Request};
use crate::arena::{Arena, Shape};
use crate::clock::{Clock, MonotonicClock};
use crate::error::{errno_of, EngineError};

const NS_PER_SECOND: u64 = 1_000_000_000;
/// Flag bits of the kernel's interface.
const IOSQE_FIXED_FILE: u8 = 1;
const IORING_FSYNC_DATASYNC: u32 = 1;
/// A failed guess is repeated after at most so many waits.
const PATIENCE_MAX: u32 = 1024;

/// Set-up flags in the order in which a refusing kernel loses them, newest first.
const FEATURES: [fn(&mut Builder); 5] = [
    |builder| {
        builder.setup_no_sqarray();
    },
    |builder| {
        builder.setup_defer_taskrun();
    },
    |builder| {
        builder.setup_single_issuer();
    },
    |builder| {
        builder.setup_submit_all();
    },
    |builder| {
        builder.setup_clamp();
    },
];

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

/// An open descriptor behind a ring. Belongs to the thread that opened it.
pub struct UringBackend {
    // The ring is dropped before the arena that its I/Os use.
    ring: IoUring,
    arena: Arena,
    _file: Arc<OwnedFd>,
    templates: [Sqe; 4],
    pushed: u32,
    in_flight: u32,
    guess: InlineGuess,
}

/// The kernel's `struct io_uring_sqe`, as far as it is used here.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Sqe {
    opcode: u8,
    flags: u8,
    priority: u16,
    file: i32,
    offset: u64,
    address: u64,
    length: u32,
    op_flags: u32,
    tag: u64,
    buffer_index: u16,
    personality: u16,
    unused: [u32; 5],
}

const _: () = assert!(size_of::<Sqe>() == size_of::<Entry>());

/// An entry for each operation with everything but the address in place.
fn templates(file: &OwnedFd, registered_file: bool, registered_buffers: bool) -> [Sqe; 4] {
    let (flags, file) = if registered_file {
        (IOSQE_FIXED_FILE, 0)
    } else {
        (0, file.as_raw_fd())
    };
    let common = Sqe {
        flags,
        file,
        ..Sqe::default()
    };
    let (read, write) = if registered_buffers {
        (opcode::ReadFixed::CODE, opcode::WriteFixed::CODE)
    } else {
        (opcode::Read::CODE, opcode::Write::CODE)
    };
    let hole = (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE) as u32;
    let mut all = [common; 4];
    all[Op::Read as usize].opcode = read;
    all[Op::Write as usize].opcode = write;
    all[Op::Flush as usize].opcode = opcode::Fsync::CODE;
    all[Op::Flush as usize].op_flags = IORING_FSYNC_DATASYNC;
    all[Op::Discard as usize].opcode = opcode::Fallocate::CODE;
    all[Op::Discard as usize].length = hole;
    all
}

fn build_ring(depth: u32) -> io::Result<IoUring> {
    let mut refusal = None;
    for left_out in 0..=FEATURES.len() {
        let mut builder = IoUring::builder();
        builder.setup_cqsize((depth * 2).next_power_of_two());
        for feature in &FEATURES[left_out..] {
            feature(&mut builder);
        }
        match builder.build(depth.next_power_of_two()) {
            Err(error) if errno_of(&error) == libc::EINVAL => refusal = Some(error),
            built => return built,
        }
    }
    Err(refusal.unwrap_or_else(|| io::Error::from_raw_os_error(libc::EINVAL)))
}

impl FileBackend for UringBackend {
    fn open(file: &Arc<OwnedFd>, shape: Shape) -> Result<Self, EngineError> {
        Self::open_with(file, shape, true)
    }
}

impl UringBackend {
    /// Opens with registrations where the kernel grants them, or without.
    fn open_with(file: &Arc<OwnedFd>, shape: Shape, register: bool) -> Result<Self, EngineError> {
        let refused = |error: io::Error| EngineError::RingRefused {
            errno: errno_of(&error),
        };
        let ring = build_ring(u32::from(shape.depth)).map_err(refused)?;
        if !ring.params().is_feature_ext_arg() {
            // Without it a wait cannot end by time (Linux before 5.11).
            return Err(EngineError::RingRefused {
                errno: libc::ENOSYS,
            });
        }
        let arena = Arena::new(shape)?;
        let submitter = ring.submitter();
        let registered_file = register && submitter.register_files(&[file.as_raw_fd()]).is_ok();
        // SAFETY: the arena stays mapped for as long as the ring lives. The registration is
        // refused where the limit of locked memory is too low; addresses do as well then.
        let registered_buffers =
            register && unsafe { submitter.register_buffers(&[arena.whole()]) }.is_ok();
        Ok(Self {
            ring,
            arena,
            _file: Arc::clone(file),
            templates: templates(file, registered_file, registered_buffers),
            pushed: 0,
            in_flight: 0,
            guess: InlineGuess::default(),
        })
    }
}

impl UringBackend {
    /// Starts what was pushed and waits; true when it need not be called again.
    fn enter(&mut self, want: u32, deadline_ns: u64) -> io::Result<bool> {
        let submitter = self.ring.submitter();
        let entered = if deadline_ns == u64::MAX {
            submitter.submit_and_wait(want as usize)
        } else {
            let left_ns = deadline_ns.saturating_sub(MonotonicClock.now_ns());
            let timeout = Timespec::new()
                .sec(left_ns / NS_PER_SECOND)
                .nsec((left_ns % NS_PER_SECOND) as u32);
            submitter.submit_with_args(want as usize, &SubmitArgs::new().timespec(&timeout))
        };
        match entered {
            Ok(_) => {
                self.pushed = 0;
                Ok(true)
            }
            Err(error) => match errno_of(&error) {
                libc::ETIME => Ok(true),
                // A signal, or a kernel short of memory that wants completions reaped first.
                libc::EINTR | libc::EAGAIN | libc::EBUSY => Ok(self.ready() > 0),
                _ => Err(error),
            },
        }
    }

    #[inline]
    fn ready(&mut self) -> u32 {
        self.ring.completion().len() as u32
    }
}

impl Backend for UringBackend {
    const HAS_DATA: bool = true;

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        self.arena.write_bytes(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        let Request {
            op,
            offset_bytes,
            length_bytes,
            tag,
        } = request;
        let mut sqe = self.templates[op as usize];
        sqe.tag = tag;
        sqe.offset = offset_bytes;
        match op {
            Op::Read => {
                sqe.address = self.arena.read_buffer(request.slot()).expose_provenance() as u64;
                sqe.length = length_bytes;
            }
            Op::Write => {
                sqe.address = self.arena.write_buffer(request.slot()).expose_provenance() as u64;
                sqe.length = length_bytes;
            }
            Op::Discard => sqe.address = u64::from(length_bytes),
            Op::Flush => sqe.offset = 0,
        }
        // SAFETY: both are the kernel's 64 bytes of `struct io_uring_sqe`, any of which is valid.
        let entry = unsafe { std::mem::transmute::<Sqe, Entry>(sqe) };
        // SAFETY: the buffer belongs to the slot until its completion is reaped, and the arena
        // and the file live as long as the ring.
        let push = unsafe { self.ring.submission().push(&entry) };
        push.expect("the ring has an entry for every slot");
        self.pushed += 1;
        self.in_flight += 1;
    }

    fn wait(&mut self, want: u32, deadline_ns: u64) -> io::Result<()> {
        if self.pushed == 0 && want > 0 && self.ready() >= want {
            return Ok(());
        }
        if self.pushed > 0 && self.guess.is_on() {
            self.enter(0, u64::MAX)?;
            if self.ready() == self.in_flight {
                self.guess.was_right();
                return Ok(());
            }
            self.guess.was_wrong();
        }
        while !self.enter(want, deadline_ns)? {}
        Ok(())
    }

    #[inline]
    fn reap(&mut self) -> Option<Completion> {
        let entry = self.ring.completion().next()?;
        self.in_flight -= 1;
        Some(Completion {
            tag: entry.user_data(),
            result: entry.result(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

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
    fn every_operation_does_its_work_with_and_without_registrations() {
        let shape = Shape {
            depth: 4,
            block_bytes: 4096,
            reads: true,
            writes: true,
        };
        for register in [true, false] {
            let mut backend = match UringBackend::open_with(&two_blocks(), shape, register) {
                Ok(backend) => backend,
                Err(error) => return println!("skipped: {error}"),
            };
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
        let shape = Shape {
            depth: 1,
            block_bytes: 4096,
            reads: true,
            writes: false,
        };
        let mut backend = match UringBackend::open(&two_blocks(), shape) {
            Ok(backend) => backend,
            Err(error) => return println!("skipped: {error}"),
        };
        let deadline_ns = MonotonicClock.now_ns() + 3_000_000;
        backend.wait(1, deadline_ns).unwrap();
        assert!(MonotonicClock.now_ns() >= deadline_ns);
        assert_eq!(backend.reap(), None);
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
