//! The write cache of a disk: what is in it, what goes on from what, and when it is emptied.

use super::disk::{Asker, Command, Disk};
use super::params::DiskParams;

/// Neighbouring writes in the cache are written as one, up to this.
const EXTENT_BYTES: u64 = 1 << 20;
/// Shorter writes are rare.
const WRITE_BYTES: u64 = 4096;

impl Disk {
    /// What the cache's queue takes at the most: it grows to twice its size, and is copied then.
    pub(crate) fn cached_need_bytes(params: &DiskParams) -> u64 {
        let most = params.write_cache_bytes.div_ceil(WRITE_BYTES);
        let most = most.checked_next_power_of_two().unwrap_or(most);
        most.saturating_mul(size_of::<Command>() as u64 * 3 / 2)
    }

    /// Puts a write in the cache; returns when it is acknowledged.
    pub(super) fn admit(&mut self, command: Command, at_ns: u64) -> u64 {
        self.link_free_ns = at_ns.max(self.link_free_ns) + self.link_ns(command.length_bytes);
        if !self.gather(&command) {
            self.cached_bytes += command.length_bytes;
            self.cached_number += 1;
            let asker = Asker::Cache(self.cached_number);
            self.cached.push_back(Command { asker, ..command });
        }
        self.rouse(at_ns);
        self.link_free_ns
    }

    /// Takes a write into one of the latest in the cache, if it lies in it or goes on from either
    /// end: what is rewritten or written in pieces is one write on the platter.
    fn gather(&mut self, command: &Command) -> bool {
        let (from, to) = (
            command.offset_bytes,
            command.offset_bytes + command.length_bytes,
        );
        let takes = |held: &&mut Command| {
            let end = held.offset_bytes + held.length_bytes;
            let both_bytes = end.max(to) - held.offset_bytes.min(from);
            let holds_it = held.offset_bytes <= from && to <= end;
            let touches = end == from || to == held.offset_bytes;
            holds_it || (touches && both_bytes <= EXTENT_BYTES)
        };
        let latest = self.cached.iter_mut().rev();
        let held = latest.take(self.params.destage as usize).find(takes);
        let Some(held) = held else { return false };
        let end = to.max(held.offset_bytes + held.length_bytes);
        held.offset_bytes = held.offset_bytes.min(from);
        self.cached_bytes += end - held.offset_bytes - held.length_bytes;
        held.length_bytes = end - held.offset_bytes;
        true
    }

    /// Whether a write of `length_bytes` goes into the cache now. One larger than the cache does
    /// when the cache is empty.
    pub(super) fn has_room(&self, length_bytes: u64) -> bool {
        self.cached_bytes == 0 || self.cached_bytes + length_bytes <= self.params.write_cache_bytes
    }

    /// The number of the oldest write that is not on the platter.
    pub(super) fn oldest_cached(&self) -> u64 {
        let number = |command: &Command| match command.asker {
            Asker::Cache(number) => Some(number),
            Asker::Host(_) => None,
        };
        let serving = self.serving.iter().map(|(command, _)| command);
        let numbers = self.cached.iter().chain(serving).filter_map(number);
        numbers.min().unwrap_or(u64::MAX)
    }

    /// Whether cached writes are put on the platter now: beside reads if somebody waits for the
    /// cache or much of it is full, else when no read has come for a while. `Err` is when to look
    /// again.
    pub(super) fn may_destage(&mut self, at_ns: u64) -> Result<(), u64> {
        let full_bytes = self.params.write_cache_bytes as f64 * self.params.destage_percent / 100.0;
        if self.cached_bytes as f64 > full_bytes {
            self.is_draining = true;
        } else if self.cached_bytes as f64 <= full_bytes / 2.0 {
            self.is_draining = false;
        }
        if self.is_draining || !self.blocked.is_empty() || !self.flushes.is_empty() {
            return Ok(());
        }
        let quiet_ns = self.read_ns + self.params.destage_wait_ns;
        if !self.queue.is_empty() {
            return Err(u64::MAX);
        }
        if at_ns < quiet_ns {
            return Err(quiet_ns);
        }
        Ok(())
    }
}
