//! What a power cut takes from an array, by the addresses of the host.

use super::array::Array;
use super::layout::Level;
use crate::device::Device;
use crate::stretches::{common, union, Stretch};

impl<D: Device> Array<D> {
    /// What living members would lose of what they alone have: of mirrors, what all would lose.
    pub(super) fn at_risk(&self, at_ns: u64) -> Vec<Stretch> {
        let living = (0..self.layout.members).filter(|&member| !self.failed[member as usize]);
        let lost = living.map(|member| {
            let of_member = self.members[member as usize].volatile(at_ns).into_iter();
            union(
                of_member
                    .flat_map(|each| self.host_stretches(member, each))
                    .collect(),
            )
        });
        if self.layout.level == Level::Mirrored {
            let of_all = lost.reduce(|so_far, next| common(&so_far, &next));
            return of_all.unwrap_or_default();
        }
        lost.flatten().collect()
    }

    /// A stretch of a member as the host addresses it, chunk by chunk, without parity.
    fn host_stretches(&self, member: u32, (offset_bytes, length_bytes): Stretch) -> Vec<Stretch> {
        let end_bytes = (offset_bytes + length_bytes).min(self.layout.member_bytes);
        let mut stretches = Vec::new();
        let mut at_bytes = offset_bytes;
        while at_bytes < end_bytes {
            let rest_of_chunk = self.layout.chunk_bytes - at_bytes % self.layout.chunk_bytes;
            let part_bytes = rest_of_chunk.min(end_bytes - at_bytes);
            let host_bytes = self.layout.host_bytes(member, at_bytes);
            stretches.extend(host_bytes.map(|host_bytes| (host_bytes, part_bytes)));
            at_bytes += part_bytes;
        }
        stretches
    }
}
