//! The stamp of a verified sector: run, address, generation and the sector's place in its block,
//! under a checksum of the whole sector.

use crate::content::SECTOR_BYTES;
use crate::seed::derive_seed;

const WORDS: usize = SECTOR_BYTES / 8;
/// The word whose upper half is the checksum.
const SUM_WORD: usize = 4;
/// Sectors summed side by side, because one sum waits for its own last step most of the time.
const ABREAST: usize = 4;
/// A field that is off by so few bits was meant to be right: no random word comes that near.
const NEAR_BITS: u32 = 8;
/// CRC-32C (Castagnoli), reflected.
const POLYNOMIAL: u32 = 0x82f6_3b78;

pub type Sector = [u8; SECTOR_BYTES];

/// What a stamp says.
///
/// ```text
/// byte  0  nonce                       a mask that makes stamps look as random as the rest
///       8  mark       ^ nonce          a number drawn from the run
///      16  address    ^ nonce << 17 ^ a second number drawn from the run
///      24  generation ^ nonce << 34    (shifts rotate)
///      32  index in the block u16, last index u16, both ^ low half of nonce
///      36  CRC-32C of the other 508 bytes, these four taken as zero
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Number of the sector.
    pub address: u64,
    pub generation: u64,
    /// Place within the block that was written, and the last place of that block.
    pub index: u16,
    pub last: u16,
}

/// What a sector is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Stamp and content are whole, and of the run.
    Ours(Stamp),
    /// All zeros.
    Zero,
    /// Another run's, or nothing that was ever stamped.
    Foreign,
    /// Meant to be this sector of this run, but the checksum is wrong.
    Flipped,
}

fn word(sector: &Sector, number: usize) -> u64 {
    let bytes = sector[number * 8..].first_chunk();
    u64::from_le_bytes(*bytes.expect("a sector has 64 words"))
}

fn set_word(sector: &mut Sector, number: usize, value: u64) {
    sector[number * 8..][..8].copy_from_slice(&value.to_le_bytes());
}

/// Stamps the sectors of one write, whose content is in place already.
pub fn stamp_block(block: &mut [u8], run: u64, first_address: u64, generation: u64) {
    let marks = marks(run);
    let (sectors, _) = block.as_chunks_mut::<SECTOR_BYTES>();
    let last = (sectors.len() - 1) as u64;
    for (index, sector) in sectors.iter_mut().enumerate() {
        let address = first_address + index as u64;
        let nonce = derive_seed(generation ^ run, address);
        set_word(sector, 0, nonce);
        set_word(sector, 1, marks[0] ^ nonce);
        set_word(sector, 2, address ^ nonce.rotate_left(17) ^ marks[1]);
        set_word(sector, 3, generation ^ nonce.rotate_left(34));
        let place = (index as u64 | last << 16) ^ nonce & 0xffff_ffff;
        set_word(sector, SUM_WORD, place);
    }
    for few in sectors.chunks_mut(ABREAST) {
        let sums = sum_sectors(few);
        for (sector, sum) in few.iter_mut().zip(sums) {
            let place = word(sector, SUM_WORD) & 0xffff_ffff;
            set_word(sector, SUM_WORD, place | u64::from(sum) << 32);
        }
    }
}

/// Reads the sectors of a block one after the other; `address` is that of the first.
pub fn read_block(block: &[u8], run: u64, mut address: u64, mut seen: impl FnMut(Seen)) {
    let (sectors, _) = block.as_chunks::<SECTOR_BYTES>();
    let marks = marks(run);
    for few in sectors.chunks(ABREAST) {
        let sums = sum_sectors(few);
        for (sector, sum) in few.iter().zip(sums) {
            seen(read_sector(sector, sum, marks, address));
            address += 1;
        }
    }
}

/// Numbers that stand for a run: unlike the run and small addresses, no plain pattern (one byte
/// all over) is near them.
fn marks(run: u64) -> [u64; 2] {
    [derive_seed(run, 0), derive_seed(run, 1)]
}

fn read_sector(sector: &Sector, sum: u32, marks: [u64; 2], address: u64) -> Seen {
    let [run_mark, address_mark] = marks;
    let nonce = word(sector, 0);
    let place = (word(sector, SUM_WORD) ^ nonce) & 0xffff_ffff;
    let mark = word(sector, 1) ^ nonce;
    let stamp = Stamp {
        address: word(sector, 2) ^ nonce.rotate_left(17) ^ address_mark,
        generation: word(sector, 3) ^ nonce.rotate_left(34),
        index: place as u16,
        last: (place >> 16) as u16,
    };
    let near = |one: u64, other: u64| (one ^ other).count_ones() <= NEAR_BITS;
    if (word(sector, SUM_WORD) >> 32) as u32 == sum {
        if mark == run_mark {
            Seen::Ours(stamp)
        } else {
            Seen::Foreign
        }
    } else if sector.iter().all(|&byte| byte == 0) {
        Seen::Zero
    } else if near(mark, run_mark) || near(stamp.address, address) {
        Seen::Flipped
    } else {
        Seen::Foreign
    }
}

/// Checksums of up to four sectors, their checksum fields taken as zero.
fn sum_sectors(sectors: &[Sector]) -> [u32; ABREAST] {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has what the functions were compiled for.
        return unsafe {
            match sectors {
                [a, b, c, d] => sum_abreast([a, b, c, d]),
                few => {
                    let mut sums = [0; ABREAST];
                    for (sum, sector) in sums.iter_mut().zip(few) {
                        [*sum] = sum_abreast([sector]);
                    }
                    sums
                }
            }
        };
    }
    let mut sums = [0; ABREAST];
    for (sum, sector) in sums.iter_mut().zip(sectors) {
        *sum = sum_slowly(sector);
    }
    sums
}

fn summed_word(sector: &Sector, number: usize) -> u64 {
    let value = word(sector, number);
    if number == SUM_WORD {
        value & 0xffff_ffff
    } else {
        value
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn sum_abreast<const N: usize>(sectors: [&Sector; N]) -> [u32; N] {
    let mut sums = [0xffff_ffff_u64; N];
    for number in 0..WORDS {
        for (sum, sector) in sums.iter_mut().zip(sectors) {
            *sum = std::arch::x86_64::_mm_crc32_u64(*sum, summed_word(sector, number));
        }
    }
    sums.map(|sum| !(sum as u32))
}

/// The same, bit by bit, for processors without the instruction.
fn sum_slowly(sector: &Sector) -> u32 {
    let mut sum = u32::MAX;
    for number in 0..WORDS {
        for byte in summed_word(sector, number).to_le_bytes() {
            sum ^= u32::from(byte);
            for _ in 0..8 {
                sum = sum >> 1 ^ (POLYNOMIAL & 0u32.wrapping_sub(sum & 1));
            }
        }
    }
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::fill_random;

    fn stamped(sectors: usize) -> Vec<u8> {
        let mut block = vec![0; sectors * SECTOR_BYTES];
        fill_random(&mut block, 5);
        stamp_block(&mut block, 77, 1000, 3);
        block
    }

    fn read(block: &[u8], run: u64) -> Vec<Seen> {
        let mut all = Vec::new();
        read_block(block, run, 1000, |seen| all.push(seen));
        all
    }

    /// The check value of RFC 3720, B.4: 32 bytes of zeros give 0x8a9136aa.
    #[test]
    fn the_sum_is_crc32c() {
        let slowly = |bytes: &[u8]| {
            !bytes.iter().fold(u32::MAX, |sum, &byte| {
                (0..8).fold(sum ^ u32::from(byte), |sum, _| {
                    sum >> 1 ^ (POLYNOMIAL & 0u32.wrapping_sub(sum & 1))
                })
            })
        };
        assert_eq!(slowly(&[0; 32]), 0x8a91_36aa);
        let block = stamped(7);
        let (sectors, _) = block.as_chunks::<SECTOR_BYTES>();
        for sector in sectors {
            let mut blank = *sector;
            blank[36..40].fill(0);
            assert_eq!(sum_slowly(sector), slowly(&blank));
            assert_eq!(sum_sectors(&[*sector])[0], sum_slowly(sector));
        }
        assert_eq!(
            sum_sectors(&sectors[..4]),
            [0, 1, 2, 3].map(|n| sum_slowly(&sectors[n]))
        );
    }

    #[test]
    fn a_stamp_is_read_as_it_was_written() {
        for (index, seen) in read(&stamped(9), 77).into_iter().enumerate() {
            let stamp = Stamp {
                address: 1000 + index as u64,
                generation: 3,
                index: index as u16,
                last: 8,
            };
            assert_eq!(seen, Seen::Ours(stamp));
        }
        assert!(read(&stamped(3), 78)
            .iter()
            .all(|&seen| seen == Seen::Foreign));
        assert!(read(&[0; 1024], 77).iter().all(|&seen| seen == Seen::Zero));
        let mut noise = vec![0; 1 << 16];
        fill_random(&mut noise, 2);
        assert!(read(&noise, 77).iter().all(|&seen| seen == Seen::Foreign));
    }

    #[test]
    fn plain_patterns_are_foreign_to_every_run() {
        let (runs, step) = if cfg!(miri) { (2, 40) } else { (64, 1) };
        for run in 0..runs {
            for byte in (1..=255).step_by(step) {
                let seen = read(&[byte; 512], run);
                assert_eq!(seen, [Seen::Foreign], "{byte:#x} for run {run}");
            }
        }
    }

    #[test]
    fn every_single_flipped_bit_is_seen_as_one() {
        let sector = stamped(1);
        let step = if cfg!(miri) { 61 } else { 1 };
        for bit in (0..SECTOR_BYTES * 8).step_by(step) {
            let mut flipped = sector.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&flipped, 77), [Seen::Flipped], "bit {bit}");
        }
    }
}
