//! Physical sectors larger than the host's blocks: what a write of a part of one costs.

use teijo_engine::request::Op;

use super::disk::{Command, Disk};

impl Disk {
    /// How much longer a write takes that begins or ends within a sector. Each such sector is read,
    /// and written when it comes under the head again; it and what lies between two of them are
    /// commands of their own to the disk: while the arm settles after one, the next one passes.
    pub(super) fn rewriting_ns(&self, command: &Command) -> u64 {
        if command.op != Op::Write {
            return 0;
        }
        let sector_bytes = u64::from(self.params.sector_bytes);
        let (from, to) = (
            command.offset_bytes,
            command.offset_bytes + command.length_bytes,
        );
        let (begins_within, ends_within) = (from % sector_bytes > 0, to % sector_bytes > 0);
        let is_one = from / sector_bytes == (to - 1) / sector_bytes;
        let (rewritten, parts) = if is_one {
            (u64::from(begins_within || ends_within), 1)
        } else {
            let rewritten = u64::from(begins_within) + u64::from(ends_within);
            let whole = to / sector_bytes > from.div_ceil(sector_bytes);
            (rewritten, rewritten + u64::from(whole))
        };
        let pauses_ns = self.params.command_ns + self.params.write_settle_ns;
        let passed = u64::from(rewritten > 0 && pauses_ns > 0) * (parts - 1);
        (rewritten + passed) * self.mechanics.revolution_ns()
    }
}
