//! The memory that data is read into and written from: one mapping per worker, in huge pages
//! where it is large enough, one aligned piece per slot and direction.

use std::io;
use std::ptr::{self, NonNull};

use crate::error::{errno_of, EngineError};
use crate::plan::StreamPlan;
use crate::technique::{Technique, Techniques};

const HUGE_PAGE_BYTES: usize = 2 << 20;
/// Pieces begin on a page, which is enough for every direct I/O.
const PAGE_BYTES: usize = 4096;
/// Below this an arena is a handful of pages and needs no huge one.
const HUGE_FROM_BYTES: usize = 64 << 10;

/// What a worker needs of a backend. Backends of equal shape can be taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub depth: u16,
    pub block_size_bytes: u32,
    pub reads: bool,
    pub writes: bool,
    /// A write is on the medium before it is answered.
    pub write_through: bool,
    /// Most completions that a wait may be for: 1 where each shall be seen at once.
    pub min_complete_max: u32,
}

impl Shape {
    /// What a worker of a stream needs that holds `depth` I/Os.
    pub fn of(plan: &StreamPlan, depth: u16) -> Self {
        Self {
            depth,
            block_size_bytes: plan.block_size_bytes,
            reads: plan.read_percent > 0,
            writes: plan.writes(),
            write_through: plan.write_through,
            min_complete_max: min_complete_max(plan, depth),
        }
    }

    fn stride_bytes(self) -> usize {
        (self.block_size_bytes as usize).next_multiple_of(PAGE_BYTES)
    }
}

/// An open loop times every arrival, and few I/Os are few completions: both want each at once. In
/// a deep closed loop one wake for up to a quarter of the depth saves the others.
fn min_complete_max(plan: &StreamPlan, depth: u16) -> u32 {
    if plan.rate.is_some() {
        1
    } else {
        (u32::from(depth) / 4).clamp(1, 16)
    }
}

/// Buffers of one worker. A mix has separate ones for reads and writes, so that what was read
/// never becomes the content of a write.
#[derive(Debug)]
pub struct Arena {
    mapping: NonNull<u8>,
    mapped_bytes: usize,
    base: NonNull<u8>,
    used_bytes: usize,
    is_huge: bool,
    shape: Shape,
}

// SAFETY: the mapping belongs to this arena alone, and nothing in it is bound to a thread.
unsafe impl Send for Arena {}

impl Arena {
    /// Buffers for `shape`; in huge pages if `huge` is wished for and the kernel has them.
    pub fn new(shape: Shape, huge: bool) -> Result<Self, EngineError> {
        let halves = usize::from(shape.reads) + usize::from(shape.writes);
        let used_bytes = shape.stride_bytes() * usize::from(shape.depth) * halves;
        let huge = huge && used_bytes >= HUGE_FROM_BYTES;
        let alignment = if huge { HUGE_PAGE_BYTES } else { PAGE_BYTES };
        let mapped_bytes = used_bytes.next_multiple_of(alignment) + alignment;
        let mapping = map(mapped_bytes).map_err(|error| EngineError::BuffersRefused {
            bytes: used_bytes,
            errno: errno_of(&error),
        })?;
        let skip = mapping.addr().get().next_multiple_of(alignment) - mapping.addr().get();
        // SAFETY: `skip` is less than the `alignment` bytes that were mapped in excess.
        let base = unsafe { mapping.add(skip) };
        let is_huge = huge && lie_huge(base, used_bytes, used_bytes.next_multiple_of(alignment));
        Ok(Self {
            mapping,
            mapped_bytes,
            base,
            used_bytes,
            is_huge,
            shape,
        })
    }

    pub fn granted(&self) -> Techniques {
        if self.is_huge {
            Techniques::NONE.with(Technique::HugePages)
        } else {
            Techniques::NONE
        }
    }

    /// The buffer that `slot` is read into.
    #[inline]
    pub fn read_buffer(&self, slot: u16) -> *mut u8 {
        debug_assert!(self.shape.reads);
        self.piece(usize::from(slot))
    }

    /// The buffer that `slot` is written from.
    #[inline]
    pub fn write_buffer(&self, slot: u16) -> *mut u8 {
        debug_assert!(self.shape.writes);
        let reads = if self.shape.reads {
            usize::from(self.shape.depth)
        } else {
            0
        };
        self.piece(reads + usize::from(slot))
    }

    #[inline]
    fn piece(&self, number: usize) -> *mut u8 {
        let offset_bytes = number * self.shape.stride_bytes();
        assert!(
            offset_bytes < self.used_bytes,
            "a slot is one of the shape's"
        );
        // SAFETY: the piece lies within the mapping, as just checked.
        unsafe { self.base.add(offset_bytes).as_ptr() }
    }

    /// The write buffer of `slot` as bytes.
    #[inline]
    pub fn write_bytes(&mut self, slot: u16) -> &mut [u8] {
        let start = self.write_buffer(slot);
        // SAFETY: the piece is `block_size_bytes` long, mapped and zeroed by the kernel; `&mut
        // self` keeps every other borrow away, and the worker owns the slot until it pushes it.
        unsafe { std::slice::from_raw_parts_mut(start, self.shape.block_size_bytes as usize) }
    }

    /// The read buffer of `slot` as bytes.
    #[inline]
    pub fn read_bytes(&mut self, slot: u16) -> &mut [u8] {
        let start = self.read_buffer(slot);
        // SAFETY: as in `write_bytes`.
        unsafe { std::slice::from_raw_parts_mut(start, self.shape.block_size_bytes as usize) }
    }

    /// All buffers as one piece, for registration.
    pub(crate) fn whole(&self) -> libc::iovec {
        libc::iovec {
            iov_base: self.base.as_ptr().cast(),
            iov_len: self.used_bytes,
        }
    }
}

/// New zeroed memory. Through libc and not by a raw system call, so that a test can let it fail.
fn map(bytes: usize) -> io::Result<NonNull<u8>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new private mapping at an address of the kernel's choice touches no other.
    let mapping = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if mapping == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(NonNull::new(mapping.cast()).expect("the kernel never maps page zero unasked"))
}

/// Puts a piece of an arena on huge pages, at once and not some day; `used_bytes` of it will be
/// used. False where the kernel has none to give, or is older than 6.1 and will not say; ordinary
/// pages do as well then.
fn lie_huge(base: NonNull<u8>, used_bytes: usize, length: usize) -> bool {
    let advise = |length, advice| {
        // SAFETY: the three advices below concern our own mapping and change no content.
        unsafe { libc::madvise(base.as_ptr().cast(), length, advice) == 0 }
    };
    advise(length, libc::MADV_HUGEPAGE)
        && advise(used_bytes, libc::MADV_POPULATE_WRITE)
        && advise(length, libc::MADV_COLLAPSE)
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nobody can borrow from it any more. Whoever gave its
        // addresses to the kernel has them back, or does not drop it (`UringBackend`).
        let _ = unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.mapped_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_disjoint_and_zeroed() {
        let shape = Shape {
            depth: 16,
            block_size_bytes: if cfg!(miri) { 700 } else { 10_000 },
            reads: true,
            writes: true,
            write_through: false,
            min_complete_max: 1,
        };
        let has_huge = !cfg!(miri); // Miri knows no madvise.
        let mut arena = Arena::new(shape, has_huge).unwrap();
        for slot in 0..16 {
            assert!(arena.write_bytes(slot).iter().all(|&byte| byte == 0));
            assert_eq!(arena.write_buffer(slot).addr() % PAGE_BYTES, 0);
            arena.write_bytes(slot).fill(slot as u8 + 1);
            arena.read_bytes(slot).fill(slot as u8 + 101);
        }
        for slot in 0..16 {
            assert!(arena
                .write_bytes(slot)
                .iter()
                .all(|&byte| byte == slot as u8 + 1));
            assert!(arena
                .read_bytes(slot)
                .iter()
                .all(|&byte| byte == slot as u8 + 101));
        }
        let alignment = if has_huge {
            HUGE_PAGE_BYTES
        } else {
            PAGE_BYTES
        };
        assert_eq!(arena.whole().iov_base.addr() % alignment, 0);
    }
    /// kB of huge pages in the mapping that begins at `address`, as the kernel accounts for it.
    fn huge_kb(address: usize) -> u64 {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mine = |line: &&str| {
            let range = line
                .split_once(' ')
                .and_then(|(range, _)| range.split_once('-'));
            range.is_some_and(|(start, end)| {
                let bound = |text| usize::from_str_radix(text, 16);
                matches!((bound(start), bound(end)), (Ok(from), Ok(to)) if from <= address
                    && address < to)
            })
        };
        let mut lines = maps.lines().skip_while(|line| !mine(line));
        let line = lines.find(|line| line.starts_with("AnonHugePages:"));
        let number = line.and_then(|line| line.split_ascii_whitespace().nth(1));
        number
            .expect("every mapping has this line")
            .parse()
            .unwrap()
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no madvise")]
    fn pages_that_are_said_to_be_huge_are_huge_and_others_are_not() {
        let shape = Shape {
            depth: 128,
            block_size_bytes: 4096,
            reads: true,
            writes: false,
            write_through: false,
            min_complete_max: 1,
        };
        for wished in [true, false] {
            let mut arena = Arena::new(shape, wished).unwrap();
            arena.read_bytes(0).fill(1);
            let is_huge = arena.granted().has(Technique::HugePages);
            assert!(wished || !is_huge);
            let kb = huge_kb(arena.read_buffer(0).addr());
            println!("wished {wished}: {kb} kB of huge pages");
            assert_eq!(is_huge, kb > 0);
        }
    }
}
