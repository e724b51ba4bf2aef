//! Completes everything at once: the price of the loop itself, and a partner for tests.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use super::{Backend, FileBackend, Setup};
use crate::arena::Shape;
use crate::error::EngineError;
use crate::request::{Completion, Request};
use crate::volume::Volume;

/// A device of no latency and no data.
#[derive(Debug, Default)]
pub struct NullBackend {
    ready: VecDeque<Completion>,
}

impl NullBackend {
    pub fn new() -> Self {
        Self::default()
    }
}

impl Backend for NullBackend {
    const HAS_DATA: bool = false;

    fn buffer(&mut self, _slot: u16) -> &mut [u8] {
        &mut []
    }

    #[inline]
    fn push(&mut self, request: Request) {
        let result = request.length_bytes.cast_signed();
        self.ready.push_back(Completion {
            tag: request.tag,
            result,
        });
    }

    fn wait(&mut self, _want: u32, _deadline_ns: u64) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn reap(&mut self) -> Option<Completion> {
        self.ready.pop_front()
    }
}

impl FileBackend for NullBackend {
    fn open(_volume: &Arc<Volume>, _shape: Shape, _setup: Setup) -> Result<Self, EngineError> {
        Ok(Self::new())
    }
}
