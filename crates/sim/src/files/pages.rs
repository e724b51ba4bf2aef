//! Reads and writes of files: through the page cache, or around it.

use teijo_engine::request::Op;

use super::call::{settle, FileId, How, Job, Then, Why, NO_ENTRY};
use super::journal::BLOCK_BYTES;
use super::os::Os;
use super::space::Stretch;
use crate::cache::Cache;
use crate::clip::{INVALID, NO_SPACE};
use crate::device::Device;

/// The time of change of a file is kept no finer than this, so that not every write changes it.
const TICK_NS: u64 = 4_000_000;

impl<D: Device> Os<D> {
    pub(super) fn read(
        &mut self,
        worker: u32,
        id: FileId,
        (offset, length): (u64, u32),
        how: How,
        at_ns: u64,
        job: &mut Job,
    ) {
        let Some(file) = self.files.get(&id) else {
            job.result = NO_ENTRY;
            return;
        };
        let end = file.length_bytes.min(offset + u64::from(length));
        let length = end.saturating_sub(offset);
        job.result = length.cast_signed();
        job.cpu_ns = self.params.read_call_ns;
        if length == 0 {
            return;
        }
        if how.direct {
            if offset % 512 > 0 || length % 512 > 0 {
                job.result = i64::from(INVALID);
                return;
            }
            self.go_around(worker, id, (offset, end), Op::Read, at_ns, job);
            return;
        }
        let span = self.pages((offset, end));
        job.cpu_ns = self.cpu_ns(self.params.read_call_ns, span, length, how);
        if self.is_last(worker, id, span, false) {
            job.cpu_ns -= if how.mapped { self.params.fault_ns } else { 0 };
            return;
        }
        let places: Vec<Stretch> = self.files[&id].extents.places(span).collect();
        for place in places {
            self.cached(worker, Op::Read, place, at_ns, job);
        }
    }

    pub(super) fn write(
        &mut self,
        worker: u32,
        id: FileId,
        (offset, length): (u64, u32),
        how: How,
        at_ns: u64,
        job: &mut Job,
    ) {
        let (end, length) = (offset + u64::from(length), u64::from(length));
        job.cpu_ns = self.params.write_call_ns;
        let span = self.pages((offset, end));
        let Some(file) = self.files.get_mut(&id) else {
            job.result = NO_ENTRY;
            return;
        };
        if how.direct && (offset % 512 > 0 || length % 512 > 0) {
            job.result = i64::from(INVALID);
            return;
        }
        let old_bytes = file.length_bytes;
        let Some(new) = file.extents.fill(span, &mut self.space) else {
            job.result = i64::from(NO_SPACE);
            return;
        };
        file.length_bytes = old_bytes.max(end);
        job.result = length.cast_signed();
        let is_changed = !new.is_empty() || end > old_bytes;
        let is_due = at_ns.saturating_sub(file.touched_ns) >= TICK_NS;
        // What is in the open transaction already need not be put there again.
        if (is_changed && (file.changed != self.journal.number || !new.is_empty())) || is_due {
            file.changed = self.journal.number;
            file.touched_ns = at_ns;
            let slot = file.slot;
            self.touch_all(slot, false, &new, at_ns);
        }
        if how.synchronous {
            job.then = Then::Drain(self.files[&id].changed);
        }
        if how.direct {
            self.go_around(worker, id, (offset, end), Op::Write, at_ns, job);
            return;
        }
        job.cpu_ns = self.cpu_ns(self.params.write_call_ns, span, length, how);
        if self.is_last(worker, id, span, true) && !how.synchronous {
            job.cpu_ns -= if how.mapped { self.params.fault_ns } else { 0 };
            return;
        }
        self.read_partial(
            (offset, end),
            span,
            old_bytes,
            &new,
            (worker, id),
            at_ns,
            job,
        );
        let places: Vec<Stretch> = self.files[&id].extents.places(span).collect();
        for place in places {
            self.cached(worker, Op::Write, place, at_ns, job);
        }
    }

    /// Reads the pages at both ends of a write that keep something of what they had.
    #[allow(clippy::too_many_arguments)]
    fn read_partial(
        &mut self,
        (offset, end): Stretch,
        (from, to): Stretch,
        old_bytes: u64,
        new: &[Stretch],
        (worker, id): (u32, FileId),
        at_ns: u64,
        job: &mut Job,
    ) {
        let page = u64::from(self.params.page_bytes);
        let head = (offset > from && from < old_bytes).then_some(from);
        let tail = (end < to && end < old_bytes).then(|| to - page);
        let tail = tail.filter(|&tail| head != Some(tail));
        for at in [head, tail].into_iter().flatten() {
            let place = self.files[&id].extents.places((at, at + page)).next();
            let is_new =
                |place: &Stretch| new.iter().any(|one| one.0 <= place.0 && place.0 < one.1);
            if let Some(place) = place.filter(|place| !is_new(place)) {
                self.cached(worker, Op::Read, place, at_ns, job);
            }
        }
    }

    fn pages(&self, (from, to): Stretch) -> Stretch {
        let page = u64::from(self.params.page_bytes);
        (from / page * page, to.div_ceil(page) * page)
    }

    fn cpu_ns(&self, call_ns: u64, span: Stretch, length: u64, how: How) -> u64 {
        let pages = (span.1 - span.0) / u64::from(self.params.page_bytes);
        let entry_ns = if how.mapped {
            pages * self.params.fault_ns
        } else {
            call_ns
        };
        entry_ns + self.params.copy_ns(length)
    }

    /// Whether the worker is still on the page of its last call. It asks nothing of the cache then:
    /// bytes in a row cost their calls alone. (A page that was written back between two of them is
    /// not written a second time.)
    fn is_last(&mut self, worker: u32, id: FileId, span: Stretch, is_write: bool) -> bool {
        let last = &mut self.last[worker as usize];
        let is_one = span.1 - span.0 == u64::from(self.params.page_bytes);
        let here = is_one.then_some((id, span.0, is_write));
        let is_last = here.is_some() && *last == here;
        *last = here;
        is_last
    }

    pub(super) fn read_block(&mut self, worker: u32, place: u64, at_ns: u64, job: &mut Job) {
        self.cached(worker, Op::Read, (place, place + BLOCK_BYTES), at_ns, job);
    }

    /// One I/O on the page cache.
    pub(super) fn cached(
        &mut self,
        worker: u32,
        op: Op,
        (from, to): Stretch,
        at_ns: u64,
        job: &mut Job,
    ) {
        let length = (to - from) as u32;
        let submit = |cache: &mut Cache<D>, ticket| cache.submit(ticket, op, from, length, at_ns);
        let told = self.below.ask(Why::Job(worker), submit);
        settle(told, job);
    }

    /// I/O on the device itself, in the places of a span of a file.
    fn go_around(
        &mut self,
        worker: u32,
        id: FileId,
        span: Stretch,
        op: Op,
        at_ns: u64,
        job: &mut Job,
    ) {
        let places: Vec<Stretch> = self.files[&id].extents.places(span).collect();
        for (from, to) in places {
            let told = self.send(Why::Job(worker), op, from, (to - from) as u32, at_ns);
            settle(told, job);
        }
    }
}
