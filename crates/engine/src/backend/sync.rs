//! `pread` and `pwrite`: one I/O at a time, for kernels that refuse a ring and for targets on
//! which a system call each is the fastest way.
//! Requests are executed in the order they were pushed, inside `wait`, as many as are wanted; a
//! session gives every worker on this backend a depth of one and takes more workers instead. The
//! parts of an I/O over several members follow each other.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{fallocate, fdatasync, FallocateFlags};
use rustix::io::{pread, pwrite, pwritev2, ReadWriteFlags};
use rustix::thread::{clock_nanosleep_relative, ClockId, NanosleepRelativeResult};
use rustix::time::Timespec;

use super::parts::Joiner;
use super::{Backend, FileBackend, Setup};
use crate::arena::{Arena, Shape};
use crate::clock::{Clock, HostClock};
use crate::error::{EngineError, Streak};
use crate::request::{Completion, Op, Request};
use crate::technique::{Technique, Techniques};
use crate::volume::{Part, Volume};

const NS_PER_SECOND: u64 = 1_000_000_000;

/// Open descriptors behind plain system calls.
#[derive(Debug)]
pub struct SyncBackend {
    volume: Arc<Volume>,
    /// Of a volume of several members.
    joiner: Option<Joiner>,
    arena: Arena,
    write_through: bool,
    clock: HostClock,
    pushed: VecDeque<Request>,
    ready: VecDeque<Completion>,
}

impl FileBackend for SyncBackend {
    fn open(volume: &Arc<Volume>, shape: Shape, setup: Setup) -> Result<Self, EngineError> {
        let arena = Arena::new(shape, setup.wished.has(Technique::HugePages))?;
        let joiner = || Joiner::new(shape.depth, volume.members().len());
        Ok(Self {
            volume: Arc::clone(volume),
            joiner: volume.single().is_none().then(joiner),
            arena,
            write_through: shape.write_through,
            clock: setup.clock,
            pushed: VecDeque::new(),
            ready: VecDeque::new(),
        })
    }

    fn granted(&self) -> Techniques {
        self.arena.granted()
    }
}

impl SyncBackend {
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn execute(&mut self, request: Request) -> Completion {
        if self.joiner.is_some() {
            return self.execute_parts(request);
        }
        let part = Part {
            member: 0,
            offset_bytes: request.offset_bytes,
            at_bytes: 0,
            length_bytes: request.length_bytes,
        };
        let file = &self.volume.members()[0];
        Completion {
            tag: request.tag,
            result: carry_out(&mut self.arena, file, request, part, self.write_through),
        }
    }

    #[inline(never)]
    fn execute_parts(&mut self, request: Request) -> Completion {
        let joiner = self.joiner.as_mut().expect("the caller saw it");
        joiner.begin(request, self.volume.parts(&request).count() as u32);
        for part in self.volume.parts(&request) {
            let file = &self.volume.members()[part.member];
            let result = carry_out(&mut self.arena, file, request, part, self.write_through);
            if let Some(whole) = joiner.join(request.slot(), part.member, result) {
                return whole;
            }
        }
        unreachable!("the last part ends the whole");
    }

    /// Sleeps until the clock shows `deadline_ns`, or a signal comes.
    fn sleep_until(&self, deadline_ns: u64) -> io::Result<()> {
        assert_ne!(
            deadline_ns,
            u64::MAX,
            "nothing is in flight that could end the wait"
        );
        let left_ns = deadline_ns.saturating_sub(self.clock.now_ns());
        let left = Timespec {
            tv_sec: (left_ns / NS_PER_SECOND).cast_signed(),
            tv_nsec: (left_ns % NS_PER_SECOND).cast_signed(),
        };
        match clock_nanosleep_relative(ClockId::Monotonic, &left) {
            NanosleepRelativeResult::Ok | NanosleepRelativeResult::Interrupted(_) => Ok(()),
            NanosleepRelativeResult::Err(errno) => Err(errno.into()),
        }
    }
}

/// Does one part of a request (or all of it) on its member; bytes moved, or a negated errno.
#[allow(clippy::inline_always)]
#[inline(always)]
fn carry_out(
    arena: &mut Arena,
    file: &OwnedFd,
    request: Request,
    part: Part,
    write_through: bool,
) -> i32 {
    let Part {
        offset_bytes,
        at_bytes,
        length_bytes,
        ..
    } = part;
    let piece = at_bytes as usize..(at_bytes + length_bytes) as usize;
    let moved = match request.op {
        Op::Read => {
            let buffer = &mut arena.read_bytes(request.slot())[piece];
            pread(file, buffer, offset_bytes)
        }
        Op::Write => {
            let buffer = &arena.write_bytes(request.slot())[piece];
            if write_through {
                let vectors = [IoSlice::new(buffer)];
                pwritev2(file, &vectors, offset_bytes, ReadWriteFlags::DSYNC)
            } else {
                pwrite(file, buffer, offset_bytes)
            }
        }
        Op::Flush => fdatasync(file).map(|()| 0),
        Op::Discard => {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(file, flags, offset_bytes, u64::from(length_bytes)).map(|()| 0)
        }
    };
    moved.map_or_else(
        |errno| -errno.raw_os_error(),
        |bytes| (bytes as u32).cast_signed(),
    )
}

impl Backend for SyncBackend {
    const HAS_DATA: bool = true;
    const CARRIES: bool = true;

    // A function that returns after the system call costs more than all else here: the processor
    // guesses that return wrong.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn carry(&mut self, request: Request) -> Completion {
        self.execute(request)
    }

    fn give_back(&mut self, completion: Completion) {
        self.ready.push_back(completion);
    }

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        self.arena.write_bytes(slot)
    }

    fn read_back(&mut self, slot: u16) -> &[u8] {
        self.arena.read_bytes(slot)
    }

    fn push(&mut self, request: Request) {
        self.pushed.push_back(request);
    }

    fn wait(&mut self, want: u32, deadline_ns: u64) -> io::Result<()> {
        while self.ready.len() < want as usize {
            let Some(request) = self.pushed.pop_front() else {
                if self.ready.is_empty() {
                    return self.sleep_until(deadline_ns);
                }
                return Ok(());
            };
            let completion = self.execute(request);
            self.ready.push_back(completion);
        }
        Ok(())
    }

    fn reap(&mut self) -> Option<Completion> {
        self.ready.pop_front()
    }

    fn worst_member(&self) -> Option<Streak> {
        self.joiner.as_ref().and_then(Joiner::worst)
    }
}
