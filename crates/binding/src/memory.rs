//! Memory that runs out in Rust ends the process with a message and the exit code of a failing
//! host, where Rust's own way is to abort. What was recorded stays: a run can be resumed.

use std::alloc::{GlobalAlloc, Layout, System};

const HOST_ERROR: i32 = 6;

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
