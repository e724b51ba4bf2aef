//! What lies on a simulated device while a plan verifies: pages of data that were written, and
//! beside each what was there before, for a device that brings stale data or loses some.

use std::collections::HashMap;

const PAGE_BYTES: usize = 4096;
const SECTOR_BYTES: usize = 512;
/// Pages come with what was there before, so that this is half of the memory they take at most.
pub(crate) const CONTENT_MOST_BYTES: u64 = 1 << 30;

/// 4 KiB as they are, and as they were before the last write of each of their sectors.
#[derive(Clone, Debug)]
struct Page {
    now: Box<[u8; PAGE_BYTES]>,
    before: Box<[u8; PAGE_BYTES]>,
}

/// Sectors that are not as they were written, or were read so: what verification should find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Harmed {
    pub stale_sectors: u64,
    /// Of acknowledged writes: not stored, at all or in part, and lost in a power cut.
    pub dropped_sectors: u64,
    pub torn_sectors: u64,
    pub lost_sectors: u64,
    pub flipped_sectors: u64,
}

impl Harmed {
    /// Every count with its name.
    pub fn table(&self) -> [(&'static str, u64); 5] {
        [
            ("stale_sectors", self.stale_sectors),
            ("dropped_sectors", self.dropped_sectors),
            ("torn_sectors", self.torn_sectors),
            ("lost_sectors", self.lost_sectors),
            ("flipped_sectors", self.flipped_sectors),
        ]
    }
}

/// The data of a device. What was never written is zeros.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    pages: HashMap<u64, Page>,
    pub harmed: Harmed,
}

/// The pieces of a stretch that lie on one page each: (page, where on it, where in the stretch).
fn pieces(
    offset_bytes: u64,
    length_bytes: usize,
) -> impl Iterator<Item = (u64, std::ops::Range<usize>, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == length_bytes {
            return None;
        }
        let place = offset_bytes + done as u64;
        let within = (place % PAGE_BYTES as u64) as usize;
        let length = (PAGE_BYTES - within).min(length_bytes - done);
        let piece = (
            place / PAGE_BYTES as u64,
            within..within + length,
            done..done + length,
        );
        done += length;
        Some(piece)
    })
}

impl Content {
    /// Stores a write, or the beginning of one.
    pub fn write(&mut self, offset_bytes: u64, data: &[u8]) {
        for (number, within, of_data) in pieces(offset_bytes, data.len()) {
            let page = self.pages.entry(number).or_insert_with(|| Page {
                now: Box::new([0; PAGE_BYTES]),
                before: Box::new([0; PAGE_BYTES]),
            });
            page.before[within.clone()].copy_from_slice(&page.now[within.clone()]);
            page.now[within].copy_from_slice(&data[of_data]);
        }
    }

    /// What a read brings.
    pub fn read(&self, offset_bytes: u64, data: &mut [u8]) {
        self.each(offset_bytes, data, |page, within, data| {
            data.copy_from_slice(&page.now[within]);
        });
    }

    /// What a stale read brings: what was there before, of every sector.
    pub fn read_stale(&mut self, offset_bytes: u64, data: &mut [u8]) {
        let mut stale = 0;
        self.each(offset_bytes, data, |page, within, data| {
            data.copy_from_slice(&page.before[within.clone()]);
            stale += sectors_that_differ(data, &page.now[within]);
        });
        self.harmed.stale_sectors += stale;
    }

    /// Hands `work` every page under `data` with its place there; what was never written is
    /// zeros.
    fn each(
        &self,
        offset_bytes: u64,
        data: &mut [u8],
        mut work: impl FnMut(&Page, std::ops::Range<usize>, &mut [u8]),
    ) {
        for (number, within, of_data) in pieces(offset_bytes, data.len()) {
            let data = &mut data[of_data];
            match self.pages.get(&number) {
                Some(page) => work(page, within, data),
                None => data.fill(0),
            }
        }
    }

    /// A power cut takes what was written there last.
    pub fn lose(&mut self, offset_bytes: u64, length_bytes: u64) {
        for (number, within, _) in pieces(offset_bytes, length_bytes as usize) {
            if let Some(page) = self.pages.get_mut(&number) {
                let (now, before) = (&mut page.now[within.clone()], &page.before[within]);
                self.harmed.lost_sectors += sectors_that_differ(now, before);
                now.copy_from_slice(before);
            }
        }
    }

    /// Nobody keeps account of what is written there from now on.
    pub fn forget(&mut self, from_bytes: u64, to_bytes: u64) {
        let first = from_bytes / PAGE_BYTES as u64;
        let end = to_bytes.div_ceil(PAGE_BYTES as u64);
        self.pages
            .retain(|number, _| !(first..end).contains(number));
    }

    /// Bytes of pages that lie in none of `ranges`, each (first byte, byte after the last).
    pub fn bytes_beside(&self, ranges: &[(u64, u64)]) -> u64 {
        let lies_beside = |number: &&u64| {
            let place = **number * PAGE_BYTES as u64;
            !ranges
                .iter()
                .any(|(from, to)| (*from..*to).contains(&place))
        };
        (self.pages.keys().filter(lies_beside).count() * PAGE_BYTES) as u64
    }

    /// Every block is as if it had never been written.
    pub fn clear(&mut self) {
        self.pages.clear();
    }
}

fn sectors_that_differ(one: &[u8], other: &[u8]) -> u64 {
    let pairs = one.chunks(SECTOR_BYTES).zip(other.chunks(SECTOR_BYTES));
    pairs.filter(|(one, other)| one != other).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &Content, offset_bytes: u64, length: usize) -> Vec<u8> {
        let mut data = vec![9; length];
        content.read(offset_bytes, &mut data);
        data
    }

    #[test]
    fn what_is_written_is_read_over_the_borders_of_pages_and_zeros_elsewhere() {
        let mut content = Content::default();
        let data: Vec<u8> = (0..10_240_u32).map(|byte| (byte % 251) as u8).collect();
        content.write(3_584, &data);
        assert_eq!(read(&content, 3_584, 10_240), data);
        assert_eq!(read(&content, 0, 3_584), vec![0; 3_584]);
        assert_eq!(read(&content, 3_584 + 10_240, 512), vec![0; 512]);
        content.forget(4_096, 8_192);
        assert_eq!(read(&content, 4_096, 4_096), vec![0; 4_096]);
        assert_eq!(read(&content, 3_584, 512), data[..512]);
        content.clear();
        assert_eq!(read(&content, 3_584, 512), vec![0; 512]);
    }

    #[test]
    fn each_sector_goes_back_by_its_own_last_write() {
        let mut content = Content::default();
        content.write(0, &[1; 4_096]);
        content.write(0, &[2; 4_096]);
        content.write(512, &[3; 512]);
        let mut stale = [0; 4_096];
        content.read_stale(0, &mut stale);
        assert_eq!((stale[0], stale[512], stale[1_024]), (1, 2, 1));
        assert_eq!(content.harmed.stale_sectors, 8);
        content.lose(512, 1_024);
        assert_eq!(content.harmed.lost_sectors, 2);
        let now = read(&content, 0, 4_096);
        assert_eq!((now[0], now[512], now[1_024], now[1_536]), (2, 2, 1, 2));
        content.read_stale(512, &mut stale[..512]);
        assert_eq!(
            content.harmed.stale_sectors, 8,
            "the same twice is not stale"
        );
    }
}
