//! Memory for large maps: huge pages where the kernel has them, for a map is hit at random, and
//! finding the page then costs more than the access itself; and lines fetched before their use.

use std::ffi::c_void;

use rustix::mm::{madvise, Advice};

/// Least map that is worth it, and the alignment that the kernel needs.
const HUGE_BYTES: usize = 2 << 20;
const PAGE_BYTES: usize = 4 << 10;

/// Entries of a map in a line of the processor's caches.
pub(crate) const LINE_ENTRIES: u32 = 16;

/// `count` entries of zero.
pub(crate) fn zeroed<T: Copy + Default>(count: usize) -> Vec<T> {
    let mut entries = vec![T::default(); count];
    let start = entries.as_mut_ptr().cast::<u8>();
    let skipped = start.align_offset(PAGE_BYTES);
    let bytes = (size_of::<T>() * count).saturating_sub(skipped) / PAGE_BYTES * PAGE_BYTES;
    if bytes >= HUGE_BYTES {
        // SAFETY: the range lies within the allocation, and the advice changes no data. A kernel
        // that refuses it serves small pages, as before.
        let _ = unsafe {
            madvise(
                start.add(skipped).cast::<c_void>(),
                bytes,
                Advice::LinuxHugepage,
            )
        };
    }
    entries
}

/// Asks for the line of `entries` that holds `index`; changes nothing but the time.
#[inline]
pub(crate) fn prefetch<T>(entries: &[T], index: u32) {
    let at = entries.as_ptr().wrapping_add(index as usize);
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: every x86-64 processor has the instruction, and it may be given any address:
        // one that is not mapped is ignored.
        unsafe { _mm_prefetch(at.cast::<i8>(), _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
