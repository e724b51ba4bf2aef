//! `pread` and `pwrite`: one I/O at a time, for kernels that refuse a ring and for targets on
//! which a system call each is the fastest way.
//!
//! Requests are executed in the order they were pushed, inside `wait`, as many as are wanted.
//! A session gives every worker on this backend a depth of one and takes more workers instead.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{fallocate, fdatasync, FallocateFlags};
use rustix::io::{pread, pwrite};
use rustix::thread::{clock_nanosleep_relative, ClockId, NanosleepRelativeResult};
use rustix::time::Timespec;

use super::{Backend, Completion, FileBackend, Op, Request, Setup};
use crate::arena::{Arena, Shape};
use crate::clock::{Clock, HostClock};
use crate::error::EngineError;
use crate::technique::{Technique, Techniques};

const NS_PER_SECOND: u64 = 1_000_000_000;

/// An open descriptor behind plain system calls.
#[derive(Debug)]
pub struct SyncBackend {
    file: Arc<OwnedFd>,
    arena: Arena,
    clock: HostClock,
    pushed: VecDeque<Request>,
    ready: VecDeque<Completion>,
}

impl FileBackend for SyncBackend {
    fn open(file: &Arc<OwnedFd>, shape: Shape, setup: Setup) -> Result<Self, EngineError> {
        let file = Arc::clone(file);
        let arena = Arena::new(shape, setup.wished.has(Technique::HugePages))?;
        Ok(Self {
            file,
            arena,
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
    fn execute(&mut self, request: Request) -> Completion {
        let Request {
            op,
            offset_bytes,
            length_bytes,
            tag,
        } = request;
        let length = length_bytes as usize;
        let moved = match op {
            Op::Read => {
                let buffer = &mut self.arena.read_bytes(request.slot())[..length];
                pread(&self.file, buffer, offset_bytes)
            }
            Op::Write => {
                let buffer = &self.arena.write_bytes(request.slot())[..length];
                pwrite(&self.file, buffer, offset_bytes)
            }
            Op::Flush => fdatasync(&self.file).map(|()| 0),
            Op::Discard => {
                let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                let hole = fallocate(&self.file, flags, offset_bytes, u64::from(length_bytes));
                hole.map(|()| 0)
            }
        };
        let result = moved.map_or_else(
            |errno| -errno.raw_os_error(),
            |bytes| (bytes as u32).cast_signed(),
        );
        Completion { tag, result }
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

impl Backend for SyncBackend {
    const HAS_DATA: bool = true;

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
}
