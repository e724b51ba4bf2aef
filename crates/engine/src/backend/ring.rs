//! The ring itself: `io_uring` set up, mapped and entered by bare system calls. Entries are
//! written in place, five words each; the other three were zeroed by the kernel and stay so.
//! What the entries mean, and whose buffers they name, is not known here.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr::{from_ref, null_mut, without_provenance_mut, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::io_uring::{
    io_uring_enter, io_uring_enter_arg, io_uring_getevents_arg, io_uring_params, io_uring_ptr,
    io_uring_register, io_uring_rsrc_update, io_uring_setup, IoringEnterFlags, IoringFeatureFlags,
    IoringRegisterOp, IoringSetupFlags, IORING_OFF_SQES, IORING_OFF_SQ_RING,
};
use rustix::mm::{mmap, munmap, MapFlags, ProtFlags};
use rustix::thread::CpuSet;

use crate::place::Mask;
use crate::technique::{Technique, Techniques};

/// `IORING_FEAT_MIN_TIMEOUT` (Linux 6.12): a wait for several gives up on them after a while.
const FEATURE_MIN_TIMEOUT: u32 = 1 << 15;

/// Set-up flags in the order in which a refusing kernel loses them, newest first.
const FLAGS: [(Technique, IoringSetupFlags); 5] = [
    (Technique::NoSqArray, IoringSetupFlags::NO_SQARRAY),
    (Technique::DeferTaskrun, IoringSetupFlags::DEFER_TASKRUN),
    (Technique::SingleIssuer, IoringSetupFlags::SINGLE_ISSUER),
    (Technique::CoopTaskrun, IoringSetupFlags::COOP_TASKRUN),
    (Technique::SubmitAll, IoringSetupFlags::SUBMIT_ALL),
];

/// The words of `struct io_uring_sqe` that differ between entries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    /// Operation, flags and file.
    pub head: u64,
    pub offset: u64,
    pub address: u64,
    /// Length and flags of the operation.
    pub body: u64,
    pub tag: u64,
}

/// First word of an entry.
pub(crate) fn head_word(operation: u8, flags: u8, file: i32) -> u64 {
    let [a, b, c, d] = file.to_ne_bytes();
    u64::from_ne_bytes([operation, flags, 0, 0, a, b, c, d])
}

/// Fourth word of an entry.
#[inline]
pub(crate) fn body_word(length: u32, flags: u32) -> u64 {
    let mut word = [0; 8];
    word[..4].copy_from_slice(&length.to_ne_bytes());
    word[4..].copy_from_slice(&flags.to_ne_bytes());
    u64::from_ne_bytes(word)
}

/// The kernel's 64 bytes of an entry.
#[repr(C, align(64))]
struct Sqe([u64; 8]);

/// The kernel's `struct io_uring_cqe`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cqe {
    pub tag: u64,
    pub result: i32,
    flags: u32,
}

/// Writes what differs between entries; a store by words keeps the rest as it is.
///
/// # Safety
///
/// The place is one of the mapped entries that the kernel does not look at.
#[inline]
unsafe fn write_entry(place: NonNull<Sqe>, entry: Entry) {
    let words = place.cast::<u64>();
    // SAFETY: an entry has eight words; the place is the caller's promise.
    unsafe {
        words.write(entry.head);
        words.add(1).write(entry.offset);
        words.add(2).write(entry.address);
        words.add(3).write(entry.body);
        words.add(4).write(entry.tag);
    }
}

/// How a wait may end before it has what it wants.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WaitLimit {
    /// At the latest after so long.
    pub timeout_ns: Option<u64>,
    /// After so long, one completion is enough; 0 for no such limit.
    pub several_us: u32,
}

#[derive(Debug)]
struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    fn new(ring: &OwnedFd, bytes: usize, offset: u64) -> io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no other.
        let start = unsafe { mmap(null_mut(), bytes, protection, flags, ring, offset) }?;
        let start = NonNull::new(start.cast()).expect("the kernel never maps page zero unasked");
        Ok(Self { start, bytes })
    }

    /// What the kernel says lies `offset` bytes from the start.
    fn at<T>(&self, offset: u32) -> NonNull<T> {
        assert!(
            offset as usize + size_of::<T>() <= self.bytes,
            "it lies within"
        );
        // SAFETY: within the mapping, as just checked; the kernel aligns its fields.
        unsafe { self.start.add(offset as usize) }.cast()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and whoever points into it is dropped with it.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// A ring of the thread that made it.
#[derive(Debug)]
pub(crate) struct Ring {
    file: OwnedFd,
    /// What `enter` names the ring by, and how.
    enter_name: RawFd,
    enter_flags: IoringEnterFlags,
    _rings: Mapping,
    _entries: Mapping,
    sqes: NonNull<Sqe>,
    sq_mask: u32,
    sq_tail_shared: NonNull<AtomicU32>,
    sq_tail: u32,
    unsubmitted: u32,
    cqes: NonNull<Cqe>,
    cq_mask: u32,
    cq_head_shared: NonNull<AtomicU32>,
    cq_tail_shared: NonNull<AtomicU32>,
    cq_head: u32,
    cq_tail_seen: u32,
    granted: Techniques,
    enters: u64,
}

impl Ring {
    /// A ring with an entry for each of `depth` I/Os, on the calling thread.
    pub fn new(depth: u32, wished: Techniques) -> io::Result<Self> {
        Self::set_up_by(depth, wished, |entries, params| {
            // SAFETY: the parameters name no memory of ours.
            unsafe { io_uring_setup(entries, params) }
        })
    }

    /// As `new`, with a kernel of the caller's.
    fn set_up_by(
        depth: u32,
        wished: Techniques,
        set_up: impl Fn(u32, &mut io_uring_params) -> rustix::io::Result<OwnedFd>,
    ) -> io::Result<Self> {
        let mut granted = wished;
        let mut refused = FLAGS.iter();
        loop {
            let chosen = FLAGS.iter().filter(|(one, _)| granted.has(*one));
            let mut params = io_uring_params::default();
            params.flags = chosen.map(|&(_, flag)| flag).collect();
            params.flags |= IoringSetupFlags::CLAMP | IoringSetupFlags::CQSIZE;
            params.cq_entries = (depth * 2).next_power_of_two();
            match set_up(depth.next_power_of_two(), &mut params) {
                Ok(file) => return Self::map(file, &params, granted),
                Err(Errno::INVAL) => match refused.next() {
                    Some(&(technique, _)) => granted = granted.without(technique),
                    None => return Err(Errno::INVAL.into()),
                },
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn map(file: OwnedFd, params: &io_uring_params, mut granted: Techniques) -> io::Result<Self> {
        let wanted = IoringFeatureFlags::EXT_ARG | IoringFeatureFlags::SINGLE_MMAP;
        if !params.features.contains(wanted) {
            // Without them a wait cannot end by time (Linux before 5.11).
            return Err(Errno::NOSYS.into());
        }
        if granted.has(Technique::DeferTaskrun) {
            granted = granted.without(Technique::CoopTaskrun);
        }
        if params.features.bits() & FEATURE_MIN_TIMEOUT == 0 {
            granted = granted.without(Technique::CoalescedWakes);
        }
        let (sq, cq) = (params.sq_off, params.cq_off);
        let array_bytes = params.sq_entries as usize * size_of::<u32>();
        let cq_bytes = cq.cqes as usize + params.cq_entries as usize * size_of::<Cqe>();
        let ring_bytes = cq_bytes.max(sq.array as usize + array_bytes);
        let rings = Mapping::new(&file, ring_bytes, IORING_OFF_SQ_RING)?;
        let sqes_bytes = params.sq_entries as usize * size_of::<Sqe>();
        let entries = Mapping::new(&file, sqes_bytes, IORING_OFF_SQES)?;
        if !granted.has(Technique::NoSqArray) {
            for number in 0..params.sq_entries {
                let place = rings.at::<u32>(sq.array + number * size_of::<u32>() as u32);
                // SAFETY: a word of the mapped array, which the kernel reads only in `enter`.
                unsafe { place.write(number) };
            }
        }
        let mut ring = Self {
            enter_name: file.as_raw_fd(),
            enter_flags: IoringEnterFlags::empty(),
            sqes: entries.at(0),
            sq_mask: params.sq_entries - 1,
            sq_tail_shared: rings.at(sq.tail),
            sq_tail: 0,
            unsubmitted: 0,
            cqes: rings.at(cq.cqes),
            cq_mask: params.cq_entries - 1,
            cq_head_shared: rings.at(cq.head),
            cq_tail_shared: rings.at(cq.tail),
            cq_head: 0,
            cq_tail_seen: 0,
            granted,
            enters: 0,
            file,
            _rings: rings,
            _entries: entries,
        };
        ring.register_itself();
        Ok(ring)
    }

    fn register_itself(&mut self) {
        if !self.granted.has(Technique::RegisteredRing) {
            return;
        }
        let mut update = io_uring_rsrc_update::default();
        update.offset = u32::MAX;
        update.data = io_uring_ptr::new(without_provenance_mut(self.file.as_raw_fd() as usize));
        let argument = (&raw mut update).cast();
        // SAFETY: the argument is one update, read and written by this call alone.
        let made = unsafe {
            io_uring_register(&self.file, IoringRegisterOp::RegisterRingFds, argument, 1)
        };
        match (made, i32::try_from(update.offset)) {
            (Ok(1), Ok(number)) => {
                self.enter_name = number;
                self.enter_flags = IoringEnterFlags::REGISTERED_RING;
            }
            _ => self.granted = self.granted.without(Technique::RegisteredRing),
        }
    }

    /// Registers files as numbers from 0.
    pub fn register_files(&self, files: &[RawFd]) -> io::Result<()> {
        let (argument, count) = (files.as_ptr().cast(), files.len() as u32);
        let operation = IoringRegisterOp::RegisterFiles;
        // SAFETY: the argument is an array of so many descriptors.
        unsafe { io_uring_register(&self.file, operation, argument, count) }?;
        Ok(())
    }

    /// Registers one buffer as number 0.
    ///
    /// # Safety
    ///
    /// The buffer stays mapped for as long as the ring lives.
    pub unsafe fn register_buffer(&self, buffer: &libc::iovec) -> io::Result<()> {
        let argument = from_ref(buffer).cast();
        // SAFETY: the argument is an array of one buffer; its life is the caller's promise.
        unsafe { io_uring_register(&self.file, IoringRegisterOp::RegisterBuffers, argument, 1) }?;
        Ok(())
    }

    /// Keeps threads of the kernel that carry out what this thread's rings cannot queue to a set
    /// of processors. Since Linux 6.2 they are on the thread's own by themselves; before, they
    /// took all of the cgroup's.
    pub fn keep_kernel_threads(&self, mask: &Mask) -> io::Result<()> {
        let (argument, bytes) = (from_ref(mask.set()).cast(), size_of::<CpuSet>() as u32);
        let operation = IoringRegisterOp::RegisterIowqAff;
        // SAFETY: the argument is so many bytes, read by this call alone.
        unsafe { io_uring_register(&self.file, operation, argument, bytes) }?;
        Ok(())
    }

    pub fn granted(&self) -> Techniques {
        self.granted
    }

    /// System calls made so far to submit or to wait.
    pub fn enters(&self) -> u64 {
        self.enters
    }

    /// Entries that the kernel has not taken yet.
    #[inline]
    pub fn unsubmitted(&self) -> u32 {
        self.unsubmitted
    }

    /// Writes the next entry.
    ///
    /// # Safety
    ///
    /// The memory and the file that it names are the kernel's until its completion is reaped.
    #[inline]
    pub unsafe fn push(&mut self, entry: Entry) {
        assert!(self.unsubmitted <= self.sq_mask, "the ring has a place");
        let place = (self.sq_tail & self.sq_mask) as usize;
        // SAFETY: the mask keeps the place within the mapped entries, and the kernel does not
        // look at those beyond the tail.
        unsafe { write_entry(self.sqes.add(place), entry) };
        self.sq_tail = self.sq_tail.wrapping_add(1);
        self.unsubmitted += 1;
    }

    /// Writes several entries.
    ///
    /// # Safety
    ///
    /// As for `push`, for each of them.
    #[inline]
    pub unsafe fn push_all(&mut self, entries: impl Iterator<Item = Entry>) -> u32 {
        let (sqes, mask, first) = (self.sqes, self.sq_mask, self.sq_tail);
        let room = mask + 1 - self.unsubmitted;
        let mut pushed = 0;
        for entry in entries {
            assert!(pushed < room, "the ring has a place");
            let place = first.wrapping_add(pushed) & mask;
            // SAFETY: as in `push`.
            unsafe { write_entry(sqes.add(place as usize), entry) };
            pushed += 1;
        }
        self.sq_tail = first.wrapping_add(pushed);
        self.unsubmitted += pushed;
        pushed
    }

    /// Completions that wait to be reaped.
    #[inline]
    pub fn ready(&mut self) -> u32 {
        // SAFETY: a mapped field of the ring that the kernel writes atomically.
        let tail = unsafe { self.cq_tail_shared.as_ref() };
        self.cq_tail_seen = tail.load(Ordering::Acquire);
        self.cq_tail_seen.wrapping_sub(self.cq_head)
    }

    #[inline]
    pub fn reap(&mut self) -> Option<Cqe> {
        if self.cq_head == self.cq_tail_seen && self.ready() == 0 {
            return None;
        }
        let place = (self.cq_head & self.cq_mask) as usize;
        // SAFETY: the mask keeps the place within the mapped completions, and the kernel wrote
        // it before it moved the tail that was read with acquire.
        let completion = unsafe { self.cqes.add(place).read() };
        self.cq_head = self.cq_head.wrapping_add(1);
        Some(completion)
    }

    /// Hands over completions until there is none or `take` has enough; how many those were.
    #[inline]
    pub fn reap_while(&mut self, mut take: impl FnMut(Cqe) -> ControlFlow<()>) -> u32 {
        let (cqes, mask) = (self.cqes, self.cq_mask);
        let first = self.cq_head;
        let mut head = first;
        while self.ready() > 0 {
            let tail = self.cq_tail_seen;
            while head != tail {
                // SAFETY: as in `reap`.
                let completion = unsafe { cqes.add((head & mask) as usize).read() };
                head = head.wrapping_add(1);
                if take(completion).is_break() {
                    self.cq_head = head;
                    return head.wrapping_sub(first);
                }
            }
            self.cq_head = head;
        }
        head.wrapping_sub(first)
    }

    /// Submits everything pushed and waits for `want` completions or the end of its limit. True
    /// when it need not be called again for that.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub fn enter(&mut self, want: u32, limit: WaitLimit) -> io::Result<bool> {
        let flags = if want > 0 {
            IoringEnterFlags::GETEVENTS
        } else {
            IoringEnterFlags::empty()
        };
        self.enter_by(flags, want, limit)
    }

    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn enter_by(
        &mut self,
        flags: IoringEnterFlags,
        want: u32,
        limit: WaitLimit,
    ) -> io::Result<bool> {
        // SAFETY: mapped fields of the ring that the kernel reads atomically.
        let (head, tail) = unsafe { (self.cq_head_shared.as_ref(), self.sq_tail_shared.as_ref()) };
        head.store(self.cq_head, Ordering::Release);
        tail.store(self.sq_tail, Ordering::Release);
        self.enters += 1;
        match self.call(self.enter_flags | flags, want, limit) {
            Ok(submitted) => {
                self.unsubmitted -= submitted;
                Ok(self.unsubmitted == 0)
            }
            Err(Errno::TIME) => Ok(true),
            // A signal, or a kernel short of memory that wants completions reaped first.
            Err(Errno::INTR | Errno::AGAIN | Errno::BUSY) => Ok(self.ready() > 0),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Submits everything pushed and lets the kernel post what is done, without waiting.
    pub fn poll(&mut self) -> io::Result<()> {
        let by_enter = [Technique::DeferTaskrun, Technique::CoopTaskrun];
        let is_posted_by_enter = by_enter.iter().any(|&one| self.granted.has(one));
        if is_posted_by_enter {
            self.enter_by(IoringEnterFlags::GETEVENTS, 0, WaitLimit::default())?;
        } else if self.unsubmitted > 0 {
            self.enter(0, WaitLimit::default())?;
        }
        Ok(())
    }

    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn call(
        &self,
        mut flags: IoringEnterFlags,
        want: u32,
        limit: WaitLimit,
    ) -> rustix::io::Result<u32> {
        // SAFETY: the name is the ring's descriptor or its number in the thread's table, both
        // of which live as long as the ring.
        let name = unsafe { BorrowedFd::borrow_raw(self.enter_name) };
        if limit.timeout_ns.is_none() && limit.several_us == 0 {
            // SAFETY: what was pushed keeps the promise of `push`.
            return unsafe { io_uring_enter(name, self.unsubmitted, want, flags) };
        }
        let timeout_ns = limit.timeout_ns.unwrap_or_default();
        let timeout = [timeout_ns / 1_000_000_000, timeout_ns % 1_000_000_000];
        let mut argument = io_uring_getevents_arg {
            min_wait_usec: limit.several_us,
            ..io_uring_getevents_arg::default()
        };
        if limit.timeout_ns.is_some() {
            argument.ts = io_uring_ptr::new(timeout.as_ptr().cast_mut().cast());
        }
        flags |= IoringEnterFlags::EXT_ARG;
        // SAFETY: as above; the argument and the time (seconds and ns, 64 bits each) outlive
        // the call.
        unsafe { io_uring_enter_arg(name, self.unsubmitted, want, flags, Some(&argument)) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.enter_flags.contains(IoringEnterFlags::REGISTERED_RING) {
            // The thread's table would keep the ring open.
            let mut update = io_uring_rsrc_update::default();
            update.offset = self.enter_name.cast_unsigned();
            let argument = (&raw mut update).cast();
            let operation = IoringRegisterOp::UnregisterRingFds;
            // SAFETY: the argument is one update, read by this call alone.
            let _ = unsafe { io_uring_register(self.file.as_fd(), operation, argument, 1) };
        }
    }
}

#[cfg(test)]
mod tests;
