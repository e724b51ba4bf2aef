//! Devices put together of others that have a name of their own.

/// A device made of others that has a name of its own.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    pub name: &'static str,
    pub about: &'static str,
    /// What it stands for.
    pub text: &'static str,
}

/// Every one that has a name.
pub fn named() -> [Named; 2] {
    [
        Named {
            name: "raid5-4x2tb",
            about: "RAID 5 of four 2 TB disks, chunk 128 KiB; the disks' write caches are off",
            text: "raid5(4×hdd-7200?write_cache=0)?chunk=128KiB",
        },
        Named {
            name: "raid50-36",
            about: "RAID 50 of 36 disks of 10 TB and 200 MB/s in six groups, chunk 256 KiB",
            text: "raid50(36×hdd-7200?nominal_capacity=10TB&outer_mb_per_second=200\
                   &inner_mb_per_second=100&link_mb_per_second=1100)?groups=6&chunk=256KiB",
        },
    ]
}
