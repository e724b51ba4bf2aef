//! The calls of work on files, as system calls below an open directory. Each name is looked up in
//! it, and never followed when it is a link.

use std::cell::Cell;
use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::sync::Once;

use rustix::fs::{
    fsync, ftruncate, linkat, mkdirat, openat, seek, statat, symlinkat, unlinkat, AtFlags, Dir,
    Mode, OFlags, SeekFrom,
};
use rustix::io::{pread, pwrite, read, write, Errno};
use rustix::mm::{mmap, msync, munmap, MapFlags, MsyncFlags, ProtFlags};

use super::calls::{Calls, Mapped, Move, Opening, Tried};
use crate::clock::{Clock, HostClock};

/// For its owner alone.
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
const PAGE_BYTES: usize = 4096;

/// A folder, and the directories that were made in it.
#[derive(Debug)]
pub struct Kernel {
    folder: OwnedFd,
    directories: Vec<(OwnedFd, std::ffi::CString)>,
    clock: HostClock,
}

impl Kernel {
    pub fn new(folder: OwnedFd) -> Self {
        Self {
            folder,
            directories: Vec::new(),
            clock: HostClock::best(),
        }
    }

    #[inline]
    fn at(&self, directory: u32) -> BorrowedFd<'_> {
        match directory {
            0 => self.folder.as_fd(),
            number => self.directories[number as usize - 1].0.as_fd(),
        }
    }
}

fn errno(error: Errno) -> i32 {
    error.raw_os_error()
}

impl Calls for Kernel {
    type File = OwnedFd;
    type Mapped = Memory;

    fn descriptors(&self) -> Vec<i32> {
        let directories = self.directories.iter().map(|(each, _)| each.as_raw_fd());
        directories.chain([self.folder.as_raw_fd()]).collect()
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    fn open(&self, directory: u32, name: &CStr, how: Opening) -> Tried<OwnedFd> {
        let mut flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
        flags |= match (how.read, how.write) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            (_, false) => OFlags::RDONLY,
        };
        flags.set(OFlags::CREATE | OFlags::EXCL, how.create);
        flags.set(OFlags::DIRECT, how.direct);
        flags.set(OFlags::SYNC, how.synchronous);
        openat(self.at(directory), name, flags, FILE_MODE).map_err(errno)
    }

    #[inline]
    fn read(&self, file: &OwnedFd, buffer: &mut [u8], at_bytes: Option<u64>) -> Tried<usize> {
        let moved = match at_bytes {
            None => read(file, buffer),
            Some(offset_bytes) => pread(file, buffer, offset_bytes),
        };
        moved.map_err(errno)
    }

    #[inline]
    fn write(&self, file: &OwnedFd, buffer: &[u8], at_bytes: Option<u64>) -> Tried<usize> {
        let moved = match at_bytes {
            None => write(file, buffer),
            Some(offset_bytes) => pwrite(file, buffer, offset_bytes),
        };
        moved.map_err(errno)
    }

    #[inline]
    fn seek(&self, file: &OwnedFd, to: Move) -> Tried<()> {
        let to = match to {
            Move::To(bytes) => SeekFrom::Start(bytes),
            Move::Back(bytes) => SeekFrom::Current(-bytes.cast_signed()),
        };
        seek(file, to).map(drop).map_err(errno)
    }

    fn set_length(&self, file: &OwnedFd, bytes: u64) -> Tried<()> {
        ftruncate(file, bytes).map_err(errno)
    }

    fn map(&self, file: &OwnedFd, bytes: u64) -> Tried<Memory> {
        Memory::of(file, bytes as usize).map_err(errno)
    }

    fn fsync(&self, file: &OwnedFd) -> Tried<()> {
        fsync(file).map_err(errno)
    }

    fn close(&self, file: OwnedFd) -> Tried<()> {
        // SAFETY: the descriptor is ours and given up here; dropped, its error would be lost.
        match unsafe { libc::close(file.into_raw_fd()) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)),
        }
    }

    fn stat(&self, directory: u32, name: &CStr) -> Tried<u64> {
        let status = statat(self.at(directory), name, AtFlags::SYMLINK_NOFOLLOW);
        status
            .map(|status| status.st_size.cast_unsigned())
            .map_err(errno)
    }

    fn unlink(&self, directory: u32, name: &CStr) -> Tried<()> {
        unlinkat(self.at(directory), name, AtFlags::empty()).map_err(errno)
    }

    fn link(&self, from: (u32, &CStr), to: (u32, &CStr)) -> Tried<()> {
        let (old, new) = (self.at(from.0), self.at(to.0));
        linkat(old, from.1, new, to.1, AtFlags::empty()).map_err(errno)
    }

    fn symlink(&self, target: &CStr, at: (u32, &CStr)) -> Tried<()> {
        symlinkat(target, self.at(at.0), at.1).map_err(errno)
    }

    fn fsync_directory(&self, directory: u32) -> Tried<()> {
        fsync(self.at(directory)).map_err(errno)
    }

    fn sync(&self) {
        rustix::fs::sync();
    }

    fn list(&self, directory: u32, take: &mut dyn FnMut(&CStr)) -> Tried<()> {
        for entry in Dir::read_from(self.at(directory)).map_err(errno)? {
            take(entry.map_err(errno)?.file_name());
        }
        Ok(())
    }

    fn make_directory(&mut self, name: &CStr) -> Tried<()> {
        mkdirat(&self.folder, name, Mode::RWXU).map_err(errno)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(&self.folder, name, flags, Mode::empty());
        // One that cannot be opened (too many are) is no use, and nobody would remove it.
        let directory = opened.inspect_err(|_| {
            let _ = unlinkat(&self.folder, name, AtFlags::REMOVEDIR);
        });
        let directory = directory.map_err(errno)?;
        self.directories.push((directory, name.to_owned()));
        Ok(())
    }

    fn remove_directories(&mut self) {
        for (directory, name) in self.directories.drain(..) {
            drop(directory);
            // One in which others put something stays.
            let _ = unlinkat(&self.folder, &name, AtFlags::REMOVEDIR);
        }
    }
}

/// A file as memory.
#[derive(Debug)]
pub struct Memory {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: it is only copied to and from, through a pointer that is valid as long as it lives.
unsafe impl Send for Memory {}

thread_local! {
    /// The part of the memory that this thread copies now, from and to, and whether the kernel
    /// could not give it.
    static COPIED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    static FAULTED: Cell<bool> = const { Cell::new(false) };
}

static mut BEFORE: std::mem::MaybeUninit<libc::sigaction> = std::mem::MaybeUninit::uninit();

/// The kernel tells by SIGBUS that a page of a file cannot be read or has no room on the disk. In
/// a copy of ours a page of zeros takes its place, and the copy is counted as failed; anywhere
/// else it is whoever's it was before.
extern "C" fn on_bus(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel hands over a valid structure; all calls are allowed in a handler.
    unsafe {
        let address = (*info).si_addr() as usize;
        let (first, end) = COPIED.get();
        if (first..end).contains(&address) {
            FAULTED.set(true);
            let page = (address & !(PAGE_BYTES - 1)) as *mut libc::c_void;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            if libc::mmap(page, PAGE_BYTES, access, flags, -1, 0) == page {
                return;
            }
        }
        // The access is made again, and meets what was there before.
        libc::sigaction(
            libc::SIGBUS,
            (&raw const BEFORE).cast(),
            std::ptr::null_mut(),
        );
    }
}

fn listen_for_faults() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the structures are ours, and the handler only does what one may do.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_bus as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &raw const action, (&raw mut BEFORE).cast());
        }
    });
}

impl Memory {
    fn of(file: &OwnedFd, bytes: usize) -> Result<Self, Errno> {
        listen_for_faults();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start = unsafe {
            mmap(
                std::ptr::null_mut(),
                bytes,
                access,
                MapFlags::SHARED,
                file,
                0,
            )
        }?;
        Ok(Self {
            start: start.cast(),
            bytes,
        })
    }

    #[inline]
    fn copy(&self, at_bytes: u64, length: usize, copy: impl FnOnce(*mut u8)) -> bool {
        let at = at_bytes as usize;
        assert!(at <= self.bytes && length <= self.bytes - at);
        let first = self.start.wrapping_add(at);
        COPIED.set((first as usize & !(PAGE_BYTES - 1), first as usize + length));
        // The handler must see where it is before the first byte is touched, and no later.
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        copy(first);
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        COPIED.set((0, 0));
        !FAULTED.replace(false)
    }
}

impl Mapped for Memory {
    #[inline]
    fn read(&self, at_bytes: u64, buffer: &mut [u8]) -> bool {
        let length = buffer.len();
        self.copy(at_bytes, length, |first| {
            // SAFETY: `copy` has checked the bounds; the two do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(first, buffer.as_mut_ptr(), length) }
        })
    }

    #[inline]
    fn write(&self, at_bytes: u64, buffer: &[u8]) -> bool {
        self.copy(at_bytes, buffer.len(), |first| {
            // SAFETY: as above.
            unsafe { std::ptr::copy_nonoverlapping(buffer.as_ptr(), first, buffer.len()) }
        })
    }

    fn sync(&self, at_bytes: u64, bytes: u64) -> Tried<()> {
        let begin = at_bytes as usize & !(PAGE_BYTES - 1);
        let end = (at_bytes + bytes) as usize;
        assert!(begin <= end && end <= self.bytes);
        // SAFETY: the part lies within the mapping, and begins with a page.
        let part = unsafe { self.start.add(begin) };
        // SAFETY: as above.
        unsafe { msync(part.cast(), end - begin, MsyncFlags::SYNC) }.map_err(errno)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: nobody has a reference into it, only copies were made.
        let _ = unsafe { munmap(self.start.cast(), self.bytes) };
    }
}
