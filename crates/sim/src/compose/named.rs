//! Devices put together of others that have a name of their own.

use crate::device::Label;

/// A device made of others that has its own name.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    pub name: &'static str,
    pub about: &'static str,
    /// What it stands for.
    pub text: &'static str,
    /// Whose numbers it reproduces as a whole; `None` for no more than its parts do.
    pub label: Option<Label>,
    /// Parameters of the first part that are given as if they were of the whole.
    pub inner: &'static [&'static str],
}

/// What an array before which there is a cache takes through it.
const OF_ARRAY: &[&str] = &["chunk", "failed", "update"];

/// Every one that has a name.
pub fn named() -> Vec<Named> {
    let mut all = Vec::from(raid5());
    all.extend(stacks());
    all
}

/// One published array, in its three cache modes.
fn raid5() -> [Named; 3] {
    [
        Named {
            name: "raid5-4x2tb",
            about: "RAID 5 of four 2 TB disks, chunk 128 KiB; the disks' write caches are off",
            text: "raid5(4×hdd-7200?write_cache=0)?chunk=128KiB",
            label: Some(Label::Plausible {
                why: "the disks, the chunks and the cache modes of one published array, whose \
                      measurements are pictures, and whose disks were of three kinds; what it \
                      says in words holds: large reads at random are better with larger chunks, \
                      reads are faster than of one disk and less than four times, small writes \
                      are very slow",
            }),
            inner: &[],
        },
        Named {
            name: "raid5-4x2tb-wt",
            about: "the same with a write-through cache, as fast as without one",
            text:
                "cache(raid5(4×hdd-7200?write_cache=0)?chunk=128KiB)?mode=write-through&size=26GB",
            label: Some(Label::Plausible {
                why: "the second cache mode of that array, which the article found as slow at \
                      writes as none; it answers no read",
            }),
            inner: OF_ARRAY,
        },
        Named {
            name: "raid5-4x2tb-wb",
            about: "the same with a write-back cache in 26 GB of a PC's memory",
            text: "cache(raid5(4×hdd-7200?write_cache=0)?chunk=128KiB)?size=26GB&start_percent=0\
                   &drain_mb_per_second=52",
            label: Some(Label::Calibrated {
                to: "one published copy onto it: a stall when about 50 GB are written, then a \
                     little more than 50 MB/s (49 GB and 53 MB/s here, from a source of 110 MB/s, \
                     which is inferred; the size and the pace of the drain are fitted)",
            }),
            inner: OF_ARRAY,
        },
    ]
}

/// A large array, and flash before disks.
fn stacks() -> [Named; 4] {
    [
        Named {
            name: "raid50-36",
            about: "RAID 50 of 36 disks of 10 TB and 200 MB/s in six groups, chunk 256 KiB",
            text: "raid50(36×hdd-7200?nominal_capacity=10TB&outer_mb_per_second=200\
                   &inner_mb_per_second=100&link_mb_per_second=1100)?groups=6&chunk=256KiB",
            label: Some(Label::Calibrated {
                to: "what an article says of its array: more than 5 GB/s at large blocks, of \
                     disks of about 200 MB/s (how its groups were made is not known)",
            }),
            inner: &[],
        },
        Named {
            name: "isrt-enhanced",
            about: "a 64 GB SSD that caches reads of a RAID 5 of four disks, written through",
            text: "ssd-cache(sp900, raid5-4x2tb)?mode=write-through",
            label: Some(Label::Plausible {
                why: "the devices and the mode of one published setup, whose measurements are \
                      pictures; how the real one promotes and replaces is not known",
            }),
            inner: &[],
        },
        Named {
            name: "isrt-maximised",
            about: "a 64 GB SSD that caches reads and writes of a RAID 5 of four disks",
            text: "ssd-cache(sp900, raid5-4x2tb)?mode=write-back&dirty_limit=27GB\
                   &drain_size=64KiB&drain_in_flight=4",
            label: Some(Label::Calibrated {
                to: "one published copy onto it: fast for a little more than 30 GB, then at about \
                     10 MB/s, slower than the array without a cache (30 to 31 GB and 11.5 MB/s \
                     here, from a source of 110 MB/s; the dirty limit is fitted, and so is the \
                     drain by single chunks, for each of which the array reads first)",
            }),
            inner: &[],
        },
        Named {
            name: "windows-tier",
            about: "Windows storage tiers: a 2 TB NVMe drive and a RAID 50 of 36 disks",
            text: "tier(nvme-2tb, raid50-36)",
            label: Some(Label::Calibrated {
                to: "what an article says of its stack: a set of 256 GB is as fast as the NVMe \
                     drive alone, 1 MiB in sequence is read at 3 GB/s where the array alone gives \
                     more than 5, and random 4 KiB of 8 TB are slower by orders of magnitude (its \
                     own numbers are pictures)",
            }),
            inner: &[],
        },
    ]
}
