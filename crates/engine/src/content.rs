//! What is written: a random base in every buffer, and a stamp in every 512 B sector of every
//! write, so that no two sectors of a run are alike and none compresses.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::access::derive_seed;

const SECTOR_BYTES: usize = 512;

/// Fills a buffer with incompressible bytes.
pub fn fill_random(buffer: &mut [u8], seed: u64) {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    for chunk in buffer.chunks_mut(8) {
        chunk.copy_from_slice(&generator.next_u64().to_le_bytes()[..chunk.len()]);
    }
}

/// Stamps the writes of one worker. A stamp is 16 B: a number that no other write of the worker
/// has (a permutation of the sequence number under the seed), and the sector's address, masked
/// with that number so that it looks as random as the rest.
#[derive(Clone, Debug)]
pub struct Stamper {
    seed: u64,
    sequence: u64,
}

impl Stamper {
    pub fn new(seed: u64) -> Self {
        Self { seed, sequence: 0 }
    }

    /// Stamps every sector of a write to `offset_bytes`.
    #[inline]
    pub fn stamp(&mut self, buffer: &mut [u8], offset_bytes: u64) {
        let write = derive_seed(self.seed, self.sequence);
        self.sequence += 1;
        let first_sector = offset_bytes / SECTOR_BYTES as u64;
        for (number, sector) in buffer.chunks_mut(SECTOR_BYTES).enumerate() {
            if let Some(stamp) = sector.first_chunk_mut::<16>() {
                stamp[..8].copy_from_slice(&write.to_le_bytes());
                let address = write ^ (first_sector + number as u64);
                stamp[8..].copy_from_slice(&address.to_le_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_sectors_of_two_workers_are_alike() {
        let mut seen = HashSet::new();
        for worker in 0..2 {
            let mut stamper = Stamper::new(derive_seed(42, worker));
            let mut buffer = vec![0; 4096];
            fill_random(&mut buffer, 1);
            for write in 0..500 {
                stamper.stamp(&mut buffer, (write % 7) * 4096);
                for sector in buffer.chunks(SECTOR_BYTES) {
                    assert!(seen.insert(sector.to_vec()), "a sector was written twice");
                }
            }
        }
    }

    #[test]
    fn the_same_seed_writes_the_same_bytes_and_another_does_not() {
        let written = |seed| {
            let mut buffer = vec![0; 1024];
            fill_random(&mut buffer, seed);
            Stamper::new(seed).stamp(&mut buffer, 8192);
            buffer
        };
        assert_eq!(written(5), written(5));
        assert_ne!(written(5), written(6));
        let second = written(5)[512..]
            .first_chunk()
            .map(|stamp| u128::from_le_bytes(*stamp));
        let stamp = second.expect("a sector holds a stamp");
        assert_eq!(
            (stamp >> 64) as u64 ^ stamp as u64,
            17,
            "the address can be read back"
        );
    }
}
