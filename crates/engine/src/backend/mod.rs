//! The seam between the worker and the world: requests go in, completions come out.
//!
//! A backend is owned by one worker and never shared. Real backends (`uring`, `sync`) hold a
//! volume of open descriptors and an arena of aligned buffers, one per slot, also without a device
//! at the end (`nothing`); `null` completes all at once; that of the `sim` crate has its own clock.

pub mod nothing;
pub mod null;
mod pace;
mod parts;
pub(crate) mod ring;
pub mod sync;
pub mod uring;

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::arena::Shape;
use crate::clock::HostClock;
use crate::error::{EngineError, Streak};
use crate::place::Mask;
use crate::request::{Completion, Extent, Request};
use crate::technique::Techniques;
use crate::volume::Volume;

/// What carries the I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendKind {
    Uring,
    Sync,
    /// No device at all.
    Null,
    /// A ring of no-operations: the host's part of an I/O through a ring.
    NopRing,
    /// A system call each that moves nothing: the host's part of an I/O by a plain call.
    NopCall,
}

impl BackendKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Uring => "io_uring",
            Self::Sync => "sync",
            Self::Null => "null",
            Self::NopRing => "nop",
            Self::NopCall => "nop-call",
        }
    }
}

/// The device as one worker sees it.
pub trait Backend {
    /// Whether written data exists at all; a backend without data is never asked for a buffer.
    const HAS_DATA: bool;

    /// Whether it does an I/O at once, by `carry`.
    const CARRIES: bool = false;

    /// The buffer of `slot`, `block_size_bytes` long and aligned for direct I/O.
    fn buffer(&mut self, slot: u16) -> &mut [u8];

    /// What the last read of `slot` brought, before the slot is used again.
    fn read_back(&mut self, _slot: u16) -> &[u8] {
        &[]
    }

    /// Takes a request. It may start at once or with the next `wait`.
    fn push(&mut self, request: Request);

    /// Starts everything pushed, then returns when at least `want` completions are ready or the
    /// clock has reached `deadline_ns`, whichever is first. `want` 0 only submits and polls.
    fn wait(&mut self, want: u32, deadline_ns: u64) -> io::Result<()>;

    /// The next ready completion, if any.
    fn reap(&mut self) -> Option<Completion>;

    /// Does an I/O at once, where the backend can.
    fn carry(&mut self, request: Request) -> Completion {
        unreachable!("only a backend that can is asked: {request:?}")
    }

    /// Takes a completion of `carry` that is to be reaped after all.
    fn give_back(&mut self, completion: Completion) {
        unreachable!("only a backend that carries is given any: {completion:?}")
    }

    /// Whether it gains by `foresee`, of streams whose places are drawn.
    #[inline]
    fn foresees(&self) -> bool {
        false
    }

    /// Hears where the I/Os will go that follow.
    fn foresee(&mut self, _extents: &[Extent]) {}

    /// In virtual time, where waiting moves the clock: the next completion and its time, if it
    /// comes back alone and before the device does anything by itself.
    #[inline]
    fn next_alone(&self) -> Option<(u64, Completion)> {
        None
    }

    /// Takes what `next_alone` gave, and moves the clock there.
    fn take_alone(&mut self, _at_ns: u64) {}

    /// In virtual time: moves the clock to the next completion and gives that, and all others of
    /// its time, in order, to `take`. False, and nothing happens, if one is not as `is_whole` asks,
    /// or `is_wanted` does not want so many at that time.
    #[inline]
    fn take_together(
        &mut self,
        _is_whole: impl Fn(Completion) -> bool,
        _is_wanted: impl FnOnce(u64, u32) -> bool,
        _take: impl FnMut(u64, Completion),
    ) -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Whether it can be asked for what follows.
    fn takes_many(&self) -> bool {
        true
    }

    /// Takes several requests, in order.
    #[inline]
    fn push_all(&mut self, requests: impl Iterator<Item = Request>)
    where
        Self: Sized,
    {
        for request in requests {
            self.push(request);
        }
    }

    /// Hands over ready completions, in order, until there is none or `take` has enough.
    #[inline]
    fn reap_while(&mut self, mut take: impl FnMut(Completion) -> ControlFlow<()>)
    where
        Self: Sized,
    {
        while let Some(completion) = self.reap() {
            if take(completion).is_break() {
                return;
            }
        }
    }

    /// Of a target of several members, the one that fails most; asked after a failure.
    fn worst_member(&self) -> Option<Streak> {
        None
    }
}

/// What a session gives every backend that it opens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setup {
    /// What may be used; what the kernel refuses of it is done without.
    pub wished: Techniques,
    /// The clock that deadlines are on.
    pub clock: HostClock,
    /// The only processors for threads of the kernel that do a ring's work.
    pub kept_to: Option<Mask>,
}

/// A backend over open descriptors; opened and used by one thread. Its requests are in addresses
/// of the volume; how an I/O that lies on several members is cut and joined is its own business.
pub trait FileBackend: Backend + Sized {
    fn open(volume: &Arc<Volume>, shape: Shape, setup: Setup) -> Result<Self, EngineError>;

    /// What it makes use of.
    fn granted(&self) -> Techniques {
        Techniques::NONE
    }

    /// System calls made so far to submit or to wait, where there are fewer than I/Os.
    fn submit_calls(&self) -> u64 {
        0
    }

    /// Most completions that a wait was for.
    fn min_complete(&self) -> u32 {
        1
    }
}
