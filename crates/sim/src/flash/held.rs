//! What the write buffer of a drive without power-loss protection holds, for a cut takes it.

use crate::clip::LOGICAL_BLOCK_BYTES;

const SECTORS_BITS: u32 = 24;

/// For each slot of the buffer what was written there: the first sector, and how many.
#[derive(Clone, Debug)]
pub(super) struct Held(Vec<u64>);

impl Held {
    pub(super) fn new(slots: usize) -> Self {
        Self(vec![0; slots])
    }

    #[inline]
    pub(super) fn put(&mut self, slot: usize, start_bytes: u64, stop_bytes: u64) {
        let block_bytes = u64::from(LOGICAL_BLOCK_BYTES);
        let sectors = (stop_bytes - start_bytes) / block_bytes;
        self.0[slot] = (start_bytes / block_bytes) << SECTORS_BITS | sectors;
    }

    /// What lies in the slots that `is_held`: (offset, length) in bytes.
    pub(super) fn stretches(&self, is_held: impl Fn(usize) -> bool) -> Vec<(u64, u64)> {
        let block_bytes = u64::from(LOGICAL_BLOCK_BYTES);
        let sectors = |held: u64| held & ((1 << SECTORS_BITS) - 1);
        let slots = self.0.iter().enumerate();
        slots
            .filter(|&(slot, &held)| sectors(held) > 0 && is_held(slot))
            .map(|(_, &held)| {
                let offset_bytes = (held >> SECTORS_BITS) * block_bytes;
                (offset_bytes, sectors(held) * block_bytes)
            })
            .collect()
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }
}
