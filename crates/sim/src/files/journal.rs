//! What has to be made durable of metadata: blocks of the running transaction, the journal they
//! go to, and their homes, where they are written later.

use std::collections::BTreeSet;

pub(super) const BLOCK_BYTES: u64 = 4096;
/// Inodes of 256 B.
const INODES_A_BLOCK: u64 = 16;
/// Entries of 32 B.
pub(super) const ENTRIES_A_BLOCK: u64 = 128;
/// Of one block of a bitmap.
const BITS_A_BLOCK: u64 = 8 * BLOCK_BYTES;
/// One inode for so many bytes of the device, as mke2fs makes them.
const BYTES_AN_INODE: u64 = 16 << 10;
const ROOT_INODE: u64 = 2;

/// Where metadata has its home. The journal is in the middle of the device, as mke2fs puts it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    inodes_at: u64,
    pub data_at: u64,
    pub journal_at: u64,
    pub journal_bytes: u64,
    pub capacity_bytes: u64,
}

impl Layout {
    /// Of a device of `capacity_bytes`, with at most an eighth of it as the journal.
    pub fn new(capacity_bytes: u64, journal_bytes: u64) -> Self {
        let blocks = |bytes: u64| bytes / BLOCK_BYTES * BLOCK_BYTES;
        let capacity_bytes = blocks(capacity_bytes);
        let bitmaps = capacity_bytes.div_ceil(BLOCK_BYTES).div_ceil(BITS_A_BLOCK);
        let inode_blocks = capacity_bytes / BYTES_AN_INODE / INODES_A_BLOCK + 1;
        // Super block, group descriptors, bitmap of inodes, bitmaps of blocks.
        let inodes_at = (3 + bitmaps) * BLOCK_BYTES;
        Self {
            inodes_at,
            data_at: inodes_at + inode_blocks * BLOCK_BYTES,
            journal_at: blocks(capacity_bytes / 2),
            journal_bytes: blocks(journal_bytes.min(capacity_bytes / 8)),
            capacity_bytes,
        }
    }

    /// The stretches that files may have.
    pub fn data(&self) -> [(u64, u64); 2] {
        let behind = self.journal_at + self.journal_bytes;
        [
            (self.data_at, self.journal_at),
            (behind, self.capacity_bytes),
        ]
    }

    pub const fn descriptors() -> u64 {
        BLOCK_BYTES
    }

    pub const fn inode_bitmap() -> u64 {
        2 * BLOCK_BYTES
    }

    /// The block of the bitmap that says whether a place is taken.
    pub fn bitmap(place_bytes: u64) -> u64 {
        (3 + place_bytes / BLOCK_BYTES / BITS_A_BLOCK) * BLOCK_BYTES
    }

    pub fn inode(&self, number: u64) -> u64 {
        self.inodes_at + number / INODES_A_BLOCK * BLOCK_BYTES
    }

    pub fn root(&self) -> u64 {
        self.inode(ROOT_INODE)
    }
}

/// How far a commit has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    Idle,
    /// The blocks are on their way to the journal.
    Blocks,
    /// A flush makes them durable before the record that says so.
    Barrier,
    Record,
    /// A flush makes the record durable.
    LastBarrier,
}

/// The journal. Transactions are numbered; `committed` are those that are durable.
#[derive(Clone, Debug, Default)]
pub(super) struct Journal {
    pub stage: Stage,
    /// I/Os that the stage waits for.
    pub waits: u32,
    pub failed: bool,
    /// Blocks of the transaction that is open, by their homes, and its number.
    pub running: BTreeSet<u64>,
    pub number: u64,
    /// All transactions before this one are durable.
    pub committed: u64,
    /// Workers that wait for the commit under way, and for the one after it.
    pub asked: Vec<u32>,
    pub next: Vec<u32>,
    /// Where the journal goes on, in bytes from its beginning.
    pub head_bytes: u64,
    /// Bytes that have not been written home since the last checkpoint.
    pub used_bytes: u64,
    /// Committed blocks that are not home.
    pub away: BTreeSet<u64>,
    /// When the open transaction is committed although nobody asks.
    pub due_ns: u64,
}

impl Journal {
    pub fn new() -> Self {
        Self {
            due_ns: u64::MAX,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_journal_and_data_do_not_overlap() {
        for capacity in [64 << 20, 1 << 30, 180_000_000_000, 2_000_000_000_000_u64] {
            let layout = Layout::new(capacity, 128 << 20);
            let last_bitmap = Layout::bitmap(layout.capacity_bytes - 1);
            assert!(last_bitmap < layout.inode(0), "{capacity}");
            assert!(
                layout.inode(capacity / BYTES_AN_INODE) < layout.data_at,
                "{capacity}"
            );
            let [first, second] = layout.data();
            assert!(first.0 < first.1 && first.1 < second.0 && second.0 < second.1);
            assert!(second.1 <= capacity);
        }
    }
}
