//! Memory that runs out in Rust ends the process with a message and the exit code of a failing
//! host, where Rust's own way is to abort. What was recorded stays: a run can be resumed. And how
//! much there is, for what can be known to need more.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::read_to_string;

const HOST_ERROR: i32 = 6;

/// Memory that this process can still have, in bytes: what the machine has to give, swap
/// included, its control group's limit and that of its addresses, whichever is least. What cannot
/// be found out is no bound.
pub fn room_bytes() -> u64 {
    addresses_left_bytes()
        .min(of_machine_bytes())
        .min(of_group_bytes())
}

fn addresses_left_bytes() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the structure is ours, and the call writes nothing else.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } != 0;
    if failed || limit.rlim_cur == libc::RLIM_INFINITY {
        return u64::MAX;
    }
    let used_bytes = bytes_in("/proc/self/status", "VmSize:").unwrap_or(0);
    limit.rlim_cur.saturating_sub(used_bytes)
}

fn of_machine_bytes() -> u64 {
    let of = |name| bytes_in("/proc/meminfo", name);
    of("MemAvailable:").map_or(u64::MAX, |free| free + of("SwapFree:").unwrap_or(0))
}

/// The least of the limits from this process's control group upwards.
fn of_group_bytes() -> u64 {
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut path = groups.lines().find_map(|line| line.strip_prefix("0::"));
    let mut least = u64::MAX;
    while let Some(group) = path {
        let limit = read_to_string(format!("/sys/fs/cgroup{group}/memory.max"));
        let limit = limit.ok().and_then(|text| text.trim().parse().ok());
        least = least.min(limit.unwrap_or(u64::MAX));
        path = group.rsplit_once('/').map(|(above, _)| above);
    }
    least
}

/// The bytes that a line of a file in /proc has, as in `MemAvailable:  123 kB`.
fn bytes_in(path: &str, name: &str) -> Option<u64> {
    let text = read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib << 10)
}

struct Memory;

#[global_allocator]
static MEMORY: Memory = Memory;

fn given(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        let message = "error: There is not enough memory.\n\nEnd other programs, take a smaller \
                       simulated device, or raise the limit (ulimit -v, the container's memory). \
                       A run that was under way can be resumed.\n";
        // SAFETY: both calls are allowed anywhere; nothing is allocated on this way out.
        unsafe {
            libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
            libc::_exit(HOST_ERROR);
        }
    }
    memory
}

// SAFETY: all is handed to the system's allocator; a null is never handed on.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the one asked for here.
        given(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}
