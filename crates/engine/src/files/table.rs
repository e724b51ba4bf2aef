//! Descriptors of one thread: what a lone worker has open, and nothing else.

/// A table of descriptors of a thread's own, as a process of one thread has: the kernel then takes
/// neither a reference nor the lock of the position in every call, which costs a tenth.
///
/// It holds nothing but what the thread works with: a copy of a run file's descriptor would hold
/// the file's lock for as long as the thread waits for a device, and for a moment after its end.
pub(super) struct OwnTable {
    is_own: bool,
}

impl OwnTable {
    /// Makes one with these descriptors and the first three; where the kernel refuses (before
    /// Linux 5.9, a container's filter) the thread goes on with that of the process.
    pub fn keeping(mut kept: Vec<i32>) -> Self {
        // Above all numbers there are: this closes nothing, and says whether anything can be.
        if !close_range(libc::c_uint::MAX, libc::c_uint::MAX) {
            return Self { is_own: false };
        }
        // SAFETY: descriptors keep their numbers; memory and all else stay shared.
        let is_own = unsafe { libc::unshare(libc::CLONE_FILES) } == 0;
        if is_own {
            kept.sort_unstable();
            let mut from = FIRST_OF_OURS;
            for one in kept.into_iter().map(i32::cast_unsigned) {
                if one > from {
                    close_range(from, one - 1);
                }
                from = from.max(one + 1);
            }
            close_range(from, libc::c_uint::MAX);
        }
        Self { is_own }
    }
}

impl Drop for OwnTable {
    fn drop(&mut self) {
        if self.is_own {
            close_range(FIRST_OF_OURS, libc::c_uint::MAX);
        }
    }
}

/// Behind stdin, stdout and stderr.
const FIRST_OF_OURS: libc::c_uint = 3;

/// Closes all descriptors from `first` to `last` in this thread's table; returns whether it could.
fn close_range(first: libc::c_uint, last: libc::c_uint) -> bool {
    // SAFETY: called in a table that is this thread's own, or for numbers that nobody has.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) == 0 }
}
