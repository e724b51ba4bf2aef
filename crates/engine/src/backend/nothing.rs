//! A backend with nothing at its end: the way to the kernel and back is gone for every I/O, the
//! content of writes is made in real buffers, and no device takes part. What it does in a second
//! is what this host can do at most.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::sync::SyncBackend;
use super::uring::UringBackend;
use super::{Backend, FileBackend, Setup};
use crate::arena::Shape;
use crate::error::EngineError;
use crate::request::{Completion, Op, Request};
use crate::technique::Techniques;
use crate::volume::Volume;

/// `inner` goes its way to a file that holds nothing; whatever that answers, the I/O is whole.
#[derive(Debug)]
pub struct Nothing<B> {
    inner: B,
    /// What the I/O of each slot is to have moved.
    moved: Vec<i32>,
}

/// By no-operations through a ring.
pub type NopRing = Nothing<UringBackend>;
/// By a system call each, on the file that the session was given: `/dev/null`.
pub type NopCall = Nothing<SyncBackend>;

impl<B> Nothing<B> {
    fn over(inner: B, shape: Shape) -> Self {
        Self {
            inner,
            moved: vec![0; usize::from(shape.depth)],
        }
    }
}

fn moved_by(request: &Request) -> i32 {
    match request.op {
        Op::Read | Op::Write => request.length_bytes.cast_signed(),
        Op::Flush | Op::Discard => 0,
    }
}

fn whole(moved: &[i32], completion: Completion) -> Completion {
    let slot = usize::from(completion.tag as u16);
    Completion {
        result: moved[slot],
        ..completion
    }
}

impl<B: Backend> Backend for Nothing<B> {
    const HAS_DATA: bool = B::HAS_DATA;
    const CARRIES: bool = B::CARRIES;

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        self.inner.buffer(slot)
    }

    fn read_back(&mut self, slot: u16) -> &[u8] {
        self.inner.read_back(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        self.moved[usize::from(request.slot())] = moved_by(&request);
        self.inner.push(request);
    }

    #[inline]
    fn wait(&mut self, want: u32, deadline_ns: u64) -> io::Result<()> {
        self.inner.wait(want, deadline_ns)
    }

    #[inline]
    fn reap(&mut self) -> Option<Completion> {
        let completion = self.inner.reap()?;
        Some(whole(&self.moved, completion))
    }

    #[inline]
    fn carry(&mut self, request: Request) -> Completion {
        Completion {
            result: moved_by(&request),
            ..self.inner.carry(request)
        }
    }

    fn give_back(&mut self, completion: Completion) {
        self.inner.give_back(completion);
    }

    fn takes_many(&self) -> bool {
        self.inner.takes_many()
    }

    #[inline]
    fn push_all(&mut self, requests: impl Iterator<Item = Request>) {
        let moved = &mut self.moved;
        self.inner.push_all(requests.inspect(|request| {
            moved[usize::from(request.slot())] = moved_by(request);
        }));
    }

    #[inline]
    fn reap_while(&mut self, mut take: impl FnMut(Completion) -> ControlFlow<()>) {
        let moved = &self.moved;
        self.inner
            .reap_while(|completion| take(whole(moved, completion)));
    }
}

impl FileBackend for NopRing {
    fn open(volume: &Arc<Volume>, shape: Shape, setup: Setup) -> Result<Self, EngineError> {
        let ring = UringBackend::open(volume, shape, setup)?;
        Ok(Self::over(ring.of_no_operations(), shape))
    }

    fn granted(&self) -> Techniques {
        self.inner.granted()
    }

    fn submit_calls(&self) -> u64 {
        self.inner.submit_calls()
    }

    fn min_complete(&self) -> u32 {
        self.inner.min_complete()
    }
}

impl FileBackend for NopCall {
    fn open(volume: &Arc<Volume>, shape: Shape, setup: Setup) -> Result<Self, EngineError> {
        Ok(Self::over(SyncBackend::open(volume, shape, setup)?, shape))
    }

    fn granted(&self) -> Techniques {
        self.inner.granted()
    }
}
