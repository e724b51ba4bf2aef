//! Every way to put devices together, and what the parts of one tree share.

use crate::raid::Level;

/// A way to put devices together.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub name: &'static str,
    pub about: &'static str,
    pub(super) assembly: Assembly,
}

/// What is made of the parts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Assembly {
    /// `group`: members in each group that is striped over; 0 for as `groups` says. `None`: not
    /// nested.
    Array {
        level: Level,
        group: Option<u32>,
    },
    /// One part, and what goes wrong with it.
    Faulty,
    /// RAM before one part.
    Cache,
    HostCache,
    /// Programs, their files, and a page cache before one part.
    Os,
    /// A fast device that caches a slow one.
    SsdCache,
    /// A fast device beside a slow one.
    Tier,
}

const RAID5: Level = Level::Parity { parities: 1 };
const RAID6: Level = Level::Parity { parities: 2 };

/// Every way to put devices together.
#[rustfmt::skip]
pub fn kinds() -> Vec<Kind> {
    let kind = |name, about, level, group| Kind {
        name, about, assembly: Assembly::Array { level, group },
    };
    let other = |name, about, assembly| Kind { name, about, assembly };
    vec![
        kind("raid0", "stripes, nothing twice", Level::Striped, None),
        kind("raid1", "mirrors, everything on each", Level::Mirrored, None),
        kind("raid5", "stripes with one parity chunk", RAID5, None),
        kind("raid6", "stripes with two parity chunks", RAID6, None),
        kind("raid10", "stripes over mirrored pairs", Level::Mirrored, Some(2)),
        kind("raid50", "stripes over raid5 groups", RAID5, Some(0)),
        kind("raid60", "stripes over raid6 groups", RAID6, Some(0)),
        other("faulty", "one device that fails as it is told to", Assembly::Faulty),
        other("cache", "RAM of a controller or a driver before one device", Assembly::Cache),
        other("host-cache", "page cache of a host before one device", Assembly::HostCache),
        other("os", "files on one device: page cache, file system, journal", Assembly::Os),
        other("ssd-cache", "a fast device that caches a slow one", Assembly::SsdCache),
        other("tier", "a fast device beside a slow one; each chunk is on one of them",
            Assembly::Tier),
    ]
}

/// What the parts of one tree share.
pub(super) struct Whole {
    /// The device is no array.
    pub(super) alone: bool,
    /// What is made now is part of another device.
    pub(super) inside: bool,
    /// Of the parts that have none of their own.
    pub(super) scale: Option<f64>,
    /// It was written for what is around the part, not taken from the parts.
    pub(super) scale_is_written: bool,
    /// Of the next part.
    pub(super) seed: Option<u64>,
}
