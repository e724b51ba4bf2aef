//! Thin provisioning: how much of an address space may be written before there is no room.

const BLOCK_BYTES: u64 = 4096;

/// Blocks that have room behind them, one bit each.
#[derive(Clone, Debug)]
pub(super) struct Thin {
    mapped: Vec<u64>,
    left: u64,
    limit: u64,
}

impl Thin {
    pub fn new(capacity_bytes: u64, limit_bytes: u64) -> Self {
        let words = capacity_bytes.div_ceil(BLOCK_BYTES).div_ceil(64);
        let limit = limit_bytes / BLOCK_BYTES;
        Self {
            mapped: vec![0; words as usize],
            left: limit,
            limit,
        }
    }

    fn is_mapped(&self, block: u64) -> bool {
        self.mapped[(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    /// Makes room for a write; false, and no room taken, where there is not enough.
    pub fn take(&mut self, offset_bytes: u64, length_bytes: u64) -> bool {
        let blocks =
            offset_bytes / BLOCK_BYTES..(offset_bytes + length_bytes).div_ceil(BLOCK_BYTES);
        let new = blocks.clone().filter(|&block| !self.is_mapped(block));
        let new = new.count() as u64;
        if new > self.left {
            return false;
        }
        self.left -= new;
        for block in blocks {
            self.mapped[(block / 64) as usize] |= 1 << (block % 64);
        }
        true
    }

    /// Gives back the room of the blocks that lie wholly in a discarded stretch.
    pub fn give(&mut self, offset_bytes: u64, length_bytes: u64) {
        let blocks =
            offset_bytes.div_ceil(BLOCK_BYTES)..(offset_bytes + length_bytes) / BLOCK_BYTES;
        for block in blocks {
            self.left += u64::from(self.is_mapped(block));
            self.mapped[(block / 64) as usize] &= !(1 << (block % 64));
        }
    }

    /// Gives everything back.
    pub fn clear(&mut self) {
        self.mapped.fill(0);
        self.left = self.limit;
    }

    pub fn left(&self) -> u64 {
        self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_blocks_are_counted_once_and_come_back_when_discarded() {
        let mut thin = Thin::new(1 << 20, 5 * BLOCK_BYTES);
        assert!(thin.take(0, 2 * BLOCK_BYTES));
        assert!(thin.take(512, BLOCK_BYTES), "nothing new of it");
        assert!(thin.take(10 * BLOCK_BYTES - 512, 1024));
        assert_eq!(thin.left(), 1);
        assert!(!thin.take(20 * BLOCK_BYTES, 2 * BLOCK_BYTES));
        assert!(
            thin.take(20 * BLOCK_BYTES, BLOCK_BYTES),
            "a refusal takes nothing"
        );
        thin.give(512, 2 * BLOCK_BYTES);
        assert_eq!(
            thin.left(),
            1,
            "block 1 lies wholly in it, block 0 does not"
        );
        thin.clear();
        assert_eq!(thin.left(), 5);
    }
}
