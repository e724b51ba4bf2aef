//! Whether the maps and counts of a translation layer agree with each other: for tests, which ask
//! after anything they can think of.

use super::block::UNMAPPED;
use super::ftl::Ftl;
use crate::flash::params::Cleaning;

impl Ftl {
    /// Panics where a map, a count or an index contradicts another. Takes time as the drive's
    /// size does.
    pub fn check(&self) {
        self.settled().check_settled();
    }

    fn check_settled(&self) {
        let mut valid = vec![0_u64; self.blocks.len()];
        let mut live = vec![0_u32; self.dies.len()];
        for (unit, &slot) in (0..).zip(&self.l2p) {
            if slot == UNMAPPED {
                continue;
            }
            assert_eq!(self.p2l[slot as usize], unit, "the maps agree");
            let id = slot >> self.shift;
            let is_main = id < self.main_blocks() && self.packing.is_none();
            assert!(
                !is_main || self.valid.contains(slot),
                "what holds a unit is valid"
            );
            let packing = self.packing.as_ref();
            valid[id as usize] += packing.map_or(1, |packing| packing.space_of(unit));
            live[self.die_of_slot(slot) as usize] += 1;
        }
        for (die, live) in self.dies.iter().zip(live) {
            assert_eq!(die.live, live, "a die counts what lives on it");
            if let (Some(underway), None) = (die.underway, &self.packing) {
                let id = underway.victim as usize;
                assert_eq!(
                    u64::from(self.blocks[id].valid()),
                    valid[id],
                    "what is to be moved"
                );
            }
            let closed = die.victims.all(&self.blocks);
            assert_eq!(closed.len(), die.victims.len() as usize, "all are counted");
            for &id in &closed {
                let block = &self.blocks[id as usize];
                let truth = match &self.packing {
                    None => valid[id as usize],
                    Some(packing) => {
                        assert_eq!(packing.space_in(id), valid[id as usize]);
                        u64::from(packing.close(id, self.pages))
                    }
                };
                assert!(block.is_closed(), "a victim is closed");
                assert_eq!(
                    u64::from(block.valid()),
                    truth,
                    "a block counts what is valid"
                );
            }
            let in_block = |id: u32| self.blocks[id as usize].valid();
            let next = die.victims.peek(&self.blocks).map(in_block);
            let fewest = closed.iter().map(|&id| in_block(id)).min();
            assert!(
                next == fewest || die.victims.cleaning() == Cleaning::Fifo,
                "emptier blocks come first"
            );
        }
    }
}
