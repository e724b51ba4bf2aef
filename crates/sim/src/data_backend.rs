//! The engine's seam in virtual time, with data: the same backend, and what is written is there to
//! be read. Data moves when an I/O is reaped, which is when the host knows its end.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use teijo_engine::backend::Backend;
use teijo_engine::request::{Completion, Op, Request};

use crate::backend::{Seam, SimBackend, VirtualClock};
use crate::content::Content;
use crate::device::{Damage, Device};

/// What lies on a device, for its workers, of which one runs at a time.
pub(crate) type SharedContent = Arc<Mutex<Content>>;

pub(crate) fn locked(content: &SharedContent) -> MutexGuard<'_, Content> {
    content.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug, Default)]
struct Slot {
    written: Vec<u8>,
    read: Vec<u8>,
    request: Option<Request>,
    damage: Option<Damage>,
}

/// One worker's side of a simulated device that holds data.
#[derive(Debug)]
pub(crate) struct DataBackend<D> {
    plain: SimBackend<D>,
    content: SharedContent,
    slots: Vec<Slot>,
    block_size_bytes: usize,
}

impl<D: Device> DataBackend<D> {
    pub fn new(
        clock: VirtualClock,
        worker: u32,
        depth: u16,
        block_size_bytes: u32,
        content: SharedContent,
    ) -> Self {
        Self {
            plain: SimBackend::new(clock, worker, depth),
            content,
            slots: (0..depth).map(|_| Slot::default()).collect(),
            block_size_bytes: block_size_bytes as usize,
        }
    }

    /// Moves the data of an I/O that has ended.
    fn move_data(&mut self, completion: Completion) {
        let slot = &mut self.slots[(completion.tag & 0xffff) as usize];
        let damage = slot.damage.take();
        let Some(request) = slot.request.take() else {
            return;
        };
        let Request {
            op,
            offset_bytes,
            length_bytes,
            ..
        } = request;
        let moved = completion.result.clamp(0, length_bytes.cast_signed()) as usize;
        let mut content = locked(&self.content);
        match (op, damage) {
            (Op::Write, Some(Damage::Kept { bytes, .. })) => {
                let missing = (moved.saturating_sub(bytes as usize) / 512) as u64;
                if bytes == 0 {
                    content.harmed.dropped_sectors += missing;
                } else {
                    content.harmed.torn_sectors += missing;
                }
                content.write(offset_bytes, &slot.written[..bytes as usize]);
            }
            (Op::Write, _) => content.write(offset_bytes, &slot.written[..moved]),
            (Op::Read, damage) => {
                slot.read.resize(self.block_size_bytes, 0);
                let data = &mut slot.read[..moved];
                match damage {
                    Some(Damage::Stale { .. }) => content.read_stale(offset_bytes, data),
                    Some(Damage::Flipped { bit, .. }) => {
                        content.read(offset_bytes, data);
                        data[(bit / 8) as usize] ^= 1 << (bit % 8);
                        content.harmed.flipped_sectors += 1;
                    }
                    Some(Damage::Kept { .. } | Damage::Lost { .. }) | None => {
                        content.read(offset_bytes, data);
                    }
                }
            }
            (Op::Flush | Op::Discard, _) => {}
        }
    }
}

impl<D: Device> Seam for DataBackend<D> {
    type Device = D;

    fn plain(&mut self) -> &mut SimBackend<D> {
        &mut self.plain
    }

    fn suffer(&mut self, slot: usize, damage: Damage) {
        self.slots[slot].damage = Some(damage);
    }
}

impl<D: Device> Backend for DataBackend<D> {
    const HAS_DATA: bool = true;

    fn buffer(&mut self, slot: u16) -> &mut [u8] {
        let buffer = &mut self.slots[usize::from(slot)].written;
        buffer.resize(self.block_size_bytes, 0);
        buffer
    }

    fn read_back(&mut self, slot: u16) -> &[u8] {
        &self.slots[usize::from(slot)].read
    }

    fn push(&mut self, request: Request) {
        let slot = &mut self.slots[usize::from(request.slot())];
        (slot.request, slot.damage) = (Some(request), None);
        self.plain.push(request);
    }

    fn wait(&mut self, want: u32, deadline_ns: u64) -> io::Result<()> {
        self.plain.wait(want, deadline_ns)
    }

    fn reap(&mut self) -> Option<Completion> {
        let completion = self.plain.reap()?;
        self.move_data(completion);
        Some(completion)
    }
}
