//! `io_uring`: one ring per worker, with registered files and one registered buffer. Every feature
//! that an older kernel or a limit refuses is left out one by one. A target of one member, which
//! is the common case, costs one branch to know.

use std::collections::VecDeque;
use std::io;
use std::mem::ManuallyDrop;
use std::ops::ControlFlow;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use super::pace::{InlineGuess, Pace, SEVERAL_US};
use super::parts::Joiner;
use super::ring::{body_word, head_word, Cqe, Entry, Ring, WaitLimit};
use super::{Backend, FileBackend, Setup};
use crate::arena::{Arena, Shape};
use crate::clock::{Clock, HostClock};
use crate::error::{errno_of, EngineError, Streak};
use crate::request::{Completion, Op, Request};
use crate::technique::{Technique, Techniques};
use crate::volume::{Part, Volume};

/// Operations and flag bits of the kernel's interface.
const IORING_OP_NOP: u8 = 0;
const IORING_OP_FSYNC: u8 = 3;
const IORING_OP_READ_FIXED: u8 = 4;
const IORING_OP_WRITE_FIXED: u8 = 5;
const IORING_OP_FALLOCATE: u8 = 17;
const IORING_OP_READ: u8 = 22;
const IORING_OP_WRITE: u8 = 23;
const IOSQE_FIXED_FILE: u8 = 1;
const IORING_FSYNC_DATASYNC: u32 = 1;
const RWF_DSYNC: u32 = 2;

/// A part's tag has the slot below and the member above.
const SLOT_BITS: u32 = 16;

/// No ring of the kernel is larger.
pub(crate) const ENTRIES_MAX: u64 = 32_768;

/// Entries that `depth` I/Os of at most `block_size_bytes` can have at once.
pub(crate) fn entries_for(volume: &Volume, depth: u16, block_size_bytes: u32) -> u64 {
    u64::from(depth) * volume.parts_max(block_size_bytes)
}

/// What a target of several members needs besides.
#[derive(Debug)]
struct Spread {
    volume: Arc<Volume>,
    /// As `UringBackend::heads`, of each member.
    heads: Vec<[u64; 4]>,
    joiner: Joiner,
    /// Whole I/Os that a wait found.
    ready: VecDeque<Completion>,
}

impl Spread {
    fn join(&mut self, part: Cqe) -> Option<Completion> {
        let member = (part.tag >> SLOT_BITS) as usize;
        self.joiner.join(part.tag as u16, member, part.result)
    }
}

/// Open descriptors behind a ring. Belongs to the thread that opened it.
#[derive(Debug)]
pub struct UringBackend {
    ring: Ring,
    arena: ManuallyDrop<Arena>,
    _volume: Arc<Volume>,
    clock: HostClock,
    /// First word of an entry of each operation on the first member.
    heads: [u64; 4],
    /// Of every write.
    write_flags: u32,
    spread: Option<Box<Spread>>,
    pace: Pace,
    reaped: u64,
    in_flight: u32,
    guesses: bool,
    guess: InlineGuess,
    granted: Techniques,
}

/// First word of an entry of each operation on the file of this number.
fn heads(number: i32, file: &OwnedFd, granted: Techniques) -> [u64; 4] {
    let (flags, file) = if granted.has(Technique::RegisteredFile) {
        (IOSQE_FIXED_FILE, number)
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
    fn open(volume: &Arc<Volume>, shape: Shape, setup: Setup) -> Result<Self, EngineError> {
        let wished = setup.wished;
        let entries = entries_for(volume, shape.depth, shape.block_size_bytes).min(ENTRIES_MAX);
        let ring = Ring::new(entries as u32, wished).map_err(|error| {
            let errno = errno_of(&error);
            EngineError::RingRefused { errno }
        })?;
        if let Some(mask) = &setup.kept_to {
            // An older kernel refuses this; `io_wq_workers` counts such threads all the same.
            let _ = ring.keep_kernel_threads(mask);
        }
        let arena = Arena::new(shape, wished.has(Technique::HugePages))?;
        let others = [
            Technique::HugePages,
            Technique::NoAccessTime,
            Technique::TscClock,
        ];
        let mut granted = others.into_iter().fold(ring.granted(), Techniques::without);
        granted = granted.and(arena.granted());
        let members = volume.members().iter();
        let files: Vec<RawFd> = members.map(AsRawFd::as_raw_fd).collect();
        if wished.has(Technique::RegisteredFile) && ring.register_files(&files).is_err() {
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
        let members = (0..).zip(volume.members());
        let heads: Vec<[u64; 4]> = members
            .map(|(number, file)| heads(number, file, granted))
            .collect();
        Ok(Self {
            heads: heads[0],
            write_flags: if shape.write_through { RWF_DSYNC } else { 0 },
            spread: volume.single().is_none().then(|| {
                Box::new(Spread {
                    volume: Arc::clone(volume),
                    joiner: Joiner::new(shape.depth, heads.len()),
                    heads,
                    ready: VecDeque::new(),
                })
            }),
            ring,
            arena: ManuallyDrop::new(arena),
            _volume: Arc::clone(volume),
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
    /// The same without a device: every entry is a no-operation, which names no file and no memory.
    pub(super) fn of_no_operations(mut self) -> Self {
        self.heads = [head_word(IORING_OP_NOP, 0, 0); 4];
        // What is a flag of a write is one of a no-operation as well, and means something else.
        self.write_flags = 0;
        self
    }

    /// How a wait for `want` completions until `deadline_ns` is put to the kernel.
    fn terms(&mut self, want: u32, deadline_ns: u64) -> (u32, WaitLimit) {
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
        let limit = WaitLimit {
            timeout_ns: is_timed.then(|| deadline_ns.saturating_sub(now_ns)),
            several_us: if several > want { SEVERAL_US } else { 0 },
        };
        (several, limit)
    }
}

/// The entry of one part of a request, or of all of it.
#[inline]
fn entry_of(
    arena: &Arena,
    request: Request,
    part: Part,
    (head, flags): (u64, u32),
    tag: u64,
) -> Entry {
    let (op, slot) = (request.op, request.slot());
    let at = |buffer: *mut u8| buffer.expose_provenance() as u64 + u64::from(part.at_bytes);
    let (address, body) = match op {
        Op::Read => (at(arena.read_buffer(slot)), body_word(part.length_bytes, 0)),
        Op::Write => (
            at(arena.write_buffer(slot)),
            body_word(part.length_bytes, flags),
        ),
        Op::Flush => (0, body_word(0, IORING_FSYNC_DATASYNC)),
        Op::Discard => {
            let hole = (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE) as u32;
            (u64::from(part.length_bytes), body_word(hole, 0))
        }
    };
    Entry {
        head,
        offset: if op == Op::Flush {
            0
        } else {
            part.offset_bytes
        },
        address,
        body,
        tag,
    }
}

/// All of a request, on a single member.
#[inline]
fn whole_part(request: Request) -> Part {
    Part {
        member: 0,
        offset_bytes: request.offset_bytes,
        at_bytes: 0,
        length_bytes: request.length_bytes,
    }
}

/// Entries of the ring: whole I/Os of a single member, or parts of I/Os over several.
impl UringBackend {
    /// Writes the entry of one part of a request, or of all of it.
    #[inline]
    fn push_part(&mut self, request: Request, part: Part, head: u64, tag: u64) {
        let entry = entry_of(&self.arena, request, part, (head, self.write_flags), tag);
        // SAFETY: the buffer belongs to the slot until its completion is reaped, a part lies
        // within it, and the arena and the files live as long as the ring.
        unsafe { self.ring.push(entry) };
        self.in_flight += 1;
    }

    // These stay out of the way of the single member.
    #[inline(never)]
    fn push_parts(&mut self, request: Request) {
        let mut spread = self.spread.take().expect("the caller saw it");
        let mut parts = 0;
        for part in spread.volume.parts(&request) {
            let tag = (part.member as u64) << SLOT_BITS | u64::from(request.slot());
            let head = spread.heads[part.member][request.op as usize];
            self.push_part(request, part, head, tag);
            parts += 1;
        }
        spread.joiner.begin(request, parts);
        self.spread = Some(spread);
    }

    // Inlined down to the system call: the processor guesses returns after it wrong.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn wait_for_entries(&mut self, want: u32, deadline_ns: u64) -> io::Result<()> {
        if self.ring.unsubmitted() == 0 && want > 0 && self.ring.ready() >= want {
            return Ok(());
        }
        if want == 0 {
            return self.ring.poll();
        }
        if self.guesses && self.ring.unsubmitted() > 0 && self.guess.is_on() {
            self.ring.enter(0, WaitLimit::default())?;
            if self.ring.ready() == self.in_flight {
                self.guess.was_right();
                return Ok(());
            }
            self.guess.was_wrong();
        }
        loop {
            let (several, limit) = self.terms(want, deadline_ns);
            if self.ring.enter(several, limit)? {
                return Ok(());
            }
        }
    }

    /// As `wait`, where an entry is not yet a completion.
    #[inline(never)]
    fn wait_for_wholes(&mut self, want: u32, deadline_ns: u64) -> io::Result<()> {
        loop {
            self.wait_for_entries(want, deadline_ns)?;
            let whole = self.join_parts();
            if whole >= want as usize || self.clock.now_ns() >= deadline_ns {
                return Ok(());
            }
        }
    }

    #[inline(never)]
    fn reap_whole(&mut self) -> Option<Completion> {
        if self.spread.as_ref()?.ready.is_empty() {
            self.join_parts();
        }
        self.spread.as_mut()?.ready.pop_front()
    }

    /// Joins the parts that are back; how many whole I/Os wait to be reaped.
    fn join_parts(&mut self) -> usize {
        while let Some(part) = self.reap_entry() {
            if let Some(spread) = &mut self.spread {
                let whole = spread.join(part);
                spread.ready.extend(whole);
            }
        }
        self.spread.as_ref().map_or(0, |one| one.ready.len())
    }

    #[inline]
    fn reap_entry(&mut self) -> Option<Cqe> {
        let entry = self.ring.reap()?;
        self.in_flight -= 1;
        self.reaped += 1;
        Some(entry)
    }
}

impl Drop for UringBackend {
    /// A ring that is given up with I/Os in flight leaves its arena to them for ever: unless the
    /// buffers are registered, or the I/O is direct and pins them itself, the kernel writes by
    /// address, and whatever were mapped there next would be overwritten.
    fn drop(&mut self) {
        if self.in_flight == 0 {
            // SAFETY: this is the end of the backend, nothing uses the arena after it, and the
            // kernel holds none of its addresses any more.
            unsafe { ManuallyDrop::drop(&mut self.arena) };
        }
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
        if self.spread.is_some() {
            return self.push_parts(request);
        }
        let head = self.heads[request.op as usize];
        self.push_part(request, whole_part(request), head, request.tag);
    }

    fn takes_many(&self) -> bool {
        self.spread.is_none()
    }

    #[inline]
    fn push_all(&mut self, requests: impl Iterator<Item = Request>) {
        assert!(self.spread.is_none(), "only a single member takes many");
        let (arena, heads, flags) = (&*self.arena, self.heads, self.write_flags);
        let entries = requests.map(|request| {
            let head = heads[request.op as usize];
            entry_of(
                arena,
                request,
                whole_part(request),
                (head, flags),
                request.tag,
            )
        });
        // SAFETY: as in `push_part`.
        self.in_flight += unsafe { self.ring.push_all(entries) };
    }

    #[inline]
    fn reap_while(&mut self, mut take: impl FnMut(Completion) -> ControlFlow<()>) {
        assert!(self.spread.is_none(), "only a single member gives many");
        let reaped = self
            .ring
            .reap_while(|Cqe { tag, result, .. }| take(Completion { tag, result }));
        self.in_flight -= reaped;
        self.reaped += u64::from(reaped);
    }

    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn wait(&mut self, want: u32, deadline_ns: u64) -> io::Result<()> {
        if self.spread.is_some() {
            return self.wait_for_wholes(want, deadline_ns);
        }
        self.wait_for_entries(want, deadline_ns)
    }

    #[inline]
    fn reap(&mut self) -> Option<Completion> {
        if self.spread.is_some() {
            return self.reap_whole();
        }
        self.reap_entry()
            .map(|Cqe { tag, result, .. }| Completion { tag, result })
    }

    fn worst_member(&self) -> Option<Streak> {
        self.spread.as_ref().and_then(|one| one.joiner.worst())
    }
}

#[cfg(test)]
mod tests;
