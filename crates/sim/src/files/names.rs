//! Names of files, their inodes and the blocks these are in: what makes, finds and deletes a file.

use super::call::{FileId, Job, EXISTS, NO_ENTRY};
use super::journal::{Layout, BLOCK_BYTES, ENTRIES_A_BLOCK};
use super::os::Os;
use super::space::{Extents, File, Stretch};
use crate::clip::NO_SPACE;
use crate::device::Device;

impl<D: Device> Os<D> {
    /// Puts a block of metadata into the open transaction.
    fn touch(&mut self, block: u64, at_ns: u64) {
        self.journal.running.insert(block);
        if self.journal.due_ns == u64::MAX {
            self.journal.due_ns = at_ns.saturating_add(self.params.commit_ns);
        }
    }

    /// What a change of a file, of its directory entry or of its places touches.
    pub(super) fn touch_all(&mut self, slot: u64, is_entry: bool, places: &[Stretch], at_ns: u64) {
        let inode = self.inode(slot);
        self.touch(inode, at_ns);
        if is_entry {
            self.touch(self.directory[(slot / ENTRIES_A_BLOCK) as usize], at_ns);
            self.touch(Layout::inode_bitmap(), at_ns);
            self.touch(self.layout.root(), at_ns);
        }
        for &(from, to) in places {
            self.touch(Layout::bitmap(from), at_ns);
            self.touch(Layout::bitmap(to - 1), at_ns);
        }
        if is_entry || !places.is_empty() {
            self.touch(Layout::descriptors(), at_ns);
        }
    }

    /// The block of the inode of a slot; the first ten inodes are the file system's own.
    fn inode(&self, slot: u64) -> u64 {
        self.layout.inode(11 + slot)
    }

    pub(super) fn create(&mut self, worker: u32, id: FileId, at_ns: u64, job: &mut Job) {
        job.cpu_ns = self.params.create_ns;
        if self.files.contains_key(&id) {
            job.result = EXISTS;
            return;
        }
        let slot = self.free_slots.pop_first().unwrap_or(self.slots);
        let block = (slot / ENTRIES_A_BLOCK) as usize;
        if block == self.directory.len() {
            let Some(taken) = self.space.take(BLOCK_BYTES, None) else {
                job.result = i64::from(NO_SPACE);
                return;
            };
            self.directory.push(taken[0].0);
        }
        self.slots = self.slots.max(slot + 1);
        for place in [self.inode(slot), self.directory[block]] {
            if slot.is_multiple_of(ENTRIES_A_BLOCK) {
                // A new block has nothing to be read.
                self.below.device_mut().know((place, place + BLOCK_BYTES));
            } else {
                self.read_block(worker, place, at_ns, job);
            }
        }
        self.touch_all(slot, true, &[], at_ns);
        let file = File {
            slot,
            length_bytes: 0,
            extents: Extents::default(),
            changed: self.journal.number,
            touched_ns: at_ns,
        };
        self.files.insert(id, file);
    }

    pub(super) fn look_up(&mut self, worker: u32, id: FileId, at_ns: u64, job: &mut Job) {
        let Some(slot) = self.files.get(&id).map(|file| file.slot) else {
            job.result = NO_ENTRY;
            return;
        };
        let entry = self.directory[(slot / ENTRIES_A_BLOCK) as usize];
        self.read_block(worker, entry, at_ns, job);
        self.read_block(worker, self.inode(slot), at_ns, job);
    }

    pub(super) fn unlink(&mut self, worker: u32, id: FileId, at_ns: u64, job: &mut Job) {
        job.cpu_ns = self.params.unlink_ns;
        self.look_up(worker, id, at_ns, job);
        let Some(mut file) = self.files.remove(&id) else {
            return;
        };
        self.last.fill(None);
        let places = file.extents.clear(&mut self.space);
        for &place in &places {
            self.below.device_mut().forget_span(place);
        }
        self.touch_all(file.slot, true, &places, at_ns);
        self.free_slots.insert(file.slot);
    }

    pub(super) fn resize(&mut self, id: FileId, length_bytes: u64, at_ns: u64, job: &mut Job) {
        job.cpu_ns = self.params.open_ns;
        let Some(file) = self.files.get_mut(&id) else {
            job.result = NO_ENTRY;
            return;
        };
        let places = if length_bytes == 0 {
            file.extents.clear(&mut self.space)
        } else {
            Vec::new()
        };
        file.length_bytes = length_bytes;
        file.changed = self.journal.number;
        let slot = file.slot;
        self.last.fill(None);
        for &place in &places {
            self.below.device_mut().forget_span(place);
        }
        self.touch_all(slot, false, &places, at_ns);
    }
}
