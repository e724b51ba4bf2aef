//! What an SSD cache does with each host I/O, and with each end below.

use teijo_engine::request::Op;

use super::super::pair::{Piece, Range, Side};
use super::super::params::{Mode, Promote};
use super::slots::{extent, sectors, MOST_SECTORS};
use super::{Fetch, IoPurpose, SsdCache, Stalled, SECTOR};
use crate::device::{Device, Ended, Outcome};
use crate::short_path;

impl<D: Device> SsdCache<D> {
    /// `range` cut at the borders of chunks, from its start: the chunk, its sectors, their bytes.
    #[inline]
    pub(super) fn first_part(&self, range: Range) -> (u32, u128, u64) {
        // Its size is a power of two, and a division takes long.
        let chunk_bytes = u64::from(self.params.chunk_bytes);
        let inside = range.offset_bytes & (chunk_bytes - 1);
        let length = range.length_bytes.min(chunk_bytes - inside);
        let first = (inside / SECTOR) as u32;
        let mask = sectors(first, first + (length / SECTOR) as u32);
        let chunk = range.offset_bytes >> chunk_bytes.trailing_zeros();
        (chunk as u32, mask, length)
    }

    /// All parts of (offset, bytes), as `first_part` cuts them.
    pub(super) fn parts_of(&self, range: (u64, u64)) -> Vec<(u32, u128, u64)> {
        let mut rest = Range {
            offset_bytes: range.0,
            length_bytes: range.1,
        };
        let mut parts = Vec::new();
        while rest.length_bytes > 0 {
            let part = self.first_part(rest);
            rest = rest.after(part.2);
            parts.push(part);
        }
        parts
    }

    /// The sectors of `chunk` that there are: fewer in the last one.
    #[inline]
    pub(super) fn whole(&self, chunk: u32) -> u128 {
        let chunk_bytes = u64::from(self.params.chunk_bytes);
        let rest = self.capacity.bytes - u64::from(chunk) * chunk_bytes;
        sectors(0, (rest.min(chunk_bytes) / SECTOR) as u32)
    }

    /// From the first to the last of `mask` on the device where `base` is the place of a chunk.
    #[inline]
    pub(super) fn piece(&self, side: Side, base: u32, mask: u128) -> Piece {
        self.stretch(side, base, extent(mask))
    }

    /// The sectors from `first` to before `end` of such a chunk.
    #[inline]
    pub(super) fn stretch(&self, side: Side, base: u32, (first, end): (u32, u32)) -> Piece {
        debug_assert!(end <= MOST_SECTORS);
        Piece {
            side,
            offset_bytes: (u64::from(base) << self.params.chunk_bytes.trailing_zeros())
                + u64::from(first) * SECTOR,
            length_bytes: u64::from(end - first) * SECTOR,
        }
    }

    #[inline]
    fn send(&mut self, request: usize, op: Op, piece: Piece, at_ns: u64) {
        self.requests.hold(request);
        self.pair.send(IoPurpose::host(request), op, piece, at_ns);
    }

    /// Whether the policy takes `chunk`, which has no slot, in at this access.
    fn would_promote(&self, chunk: u32, policy: Promote, is_sequential: bool) -> bool {
        match policy {
            Promote::Never => false,
            Promote::First => !is_sequential,
            Promote::Second => !is_sequential && self.refused.is_listed(chunk),
        }
    }

    /// A slot for `chunk`, if the policy takes it in and there is one.
    fn promote(&mut self, chunk: u32, policy: Promote, is_sequential: bool) -> Option<u32> {
        let is_wanted = self.would_promote(chunk, policy, is_sequential);
        if let Some(slot) = is_wanted.then(|| self.slots.allocate(chunk)).flatten() {
            if self.refused.len() > 0 {
                self.refused.unlist(chunk);
            }
            self.counters.promotions += 1;
            return Some(slot);
        }
        if policy == Promote::Second {
            self.refused.touch(chunk);
            self.refused.list(chunk);
            if self.refused.len() > self.slots.count() as usize {
                let oldest = self.refused.first();
                if let Some(oldest) = oldest {
                    self.refused.unlist(oldest);
                }
            }
        }
        None
    }

    /// A read of the slow device for `request` that fills nothing yet.
    fn open_fetch(&mut self, request: usize) -> usize {
        self.requests.hold(request);
        let fetch = self.free_fetches.pop().unwrap_or_else(|| {
            self.fetches.push(Fetch::default());
            self.fetches.len() - 1
        });
        self.fetches[fetch].requests.push(request);
        fetch
    }

    /// Reads what the cache has of `mask` of `chunk`; of what has to be fetched, the slot that it
    /// fills, if it fills one, and its sectors.
    #[inline]
    fn read_part(
        &mut self,
        request: usize,
        (chunk, mask): (u32, u128),
        is_sequential: bool,
        at_ns: u64,
    ) -> Option<(Option<u32>, u128)> {
        let mut place = self.slots.touch(chunk);
        let valid = place.map_or(0, |slot| self.slots.valid(slot));
        if let Some(slot) = place.filter(|_| valid & mask != 0) {
            let piece = self.piece(Side::Fast, slot, valid & mask);
            self.send(request, Op::Read, piece, at_ns);
        }
        if valid & mask == mask {
            self.counters.read_hits += 1;
            return None;
        }
        self.counters.read_misses += 1;
        if let Some(fetch) = place.and_then(|slot| self.slots.fetch(slot)) {
            self.requests.hold(request);
            self.fetches[fetch].requests.push(request);
            return None;
        }
        let policy = self.params.promote_reads;
        if place.is_none() {
            place = self.promote(chunk, policy, is_sequential);
        } else if is_sequential || policy == Promote::Never {
            place = None;
        }
        Some((place, place.map_or(mask, |_| self.whole(chunk)) & !valid))
    }

    /// `fetch` will fill `missing` of `slot`, if there is one.
    #[inline]
    fn fill(&mut self, fetch: usize, slot: Option<u32>, missing: u128) {
        if let Some(slot) = slot {
            self.slots.begin_fetch(slot, fetch);
            self.fetches[fetch].fills.push((slot, missing));
            self.pair.foresee(self.piece(Side::Fast, slot, missing));
        }
    }

    #[inline]
    fn send_fetch(&mut self, fetch: usize, piece: Piece, at_ns: u64) {
        self.counters.fetched_bytes += piece.length_bytes;
        self.pair.send(
            IoPurpose::Fetch {
                fetch: fetch as u32,
            },
            Op::Read,
            piece,
            at_ns,
        );
    }

    fn read(&mut self, request: usize, range: Range, is_sequential: bool, at_ns: u64) {
        let (chunk, mask, bytes) = self.first_part(range);
        if !short_path::is_open() || bytes < range.length_bytes {
            return self.read_parts(request, range, is_sequential, at_ns);
        }
        let wanted = self.read_part(request, (chunk, mask), is_sequential, at_ns);
        if let Some((place, missing)) = wanted {
            let fetch = self.open_fetch(request);
            self.fill(fetch, place, missing);
            self.send_fetch(fetch, self.piece(Side::Slow, chunk, missing), at_ns);
        }
    }

    /// The same of a range in several chunks: what is fetched of neighbours is fetched as one.
    fn read_parts(&mut self, request: usize, mut range: Range, is_sequential: bool, at_ns: u64) {
        let mut wants: Vec<(Piece, usize)> = Vec::new();
        while range.length_bytes > 0 {
            let (chunk, mask, bytes) = self.first_part(range);
            range = range.after(bytes);
            let wanted = self.read_part(request, (chunk, mask), is_sequential, at_ns);
            let Some((place, missing)) = wanted else {
                continue;
            };
            let piece = self.piece(Side::Slow, chunk, missing);
            let goes_on = wants
                .last_mut()
                .filter(|(last, _)| last.ends() == piece.offset_bytes);
            let fetch = if let Some((last, fetch)) = goes_on {
                last.length_bytes += piece.length_bytes;
                *fetch
            } else {
                let fetch = self.open_fetch(request);
                wants.push((piece, fetch));
                fetch
            };
            self.fill(fetch, place, missing);
        }
        for (piece, fetch) in wants {
            self.send_fetch(fetch, piece, at_ns);
        }
    }

    /// A fetch has ended: what it brought goes to those that wait, and into the cache.
    fn fetched(&mut self, fetch: usize, outcome: Outcome, ended: &mut Vec<Ended>) {
        let Fetch {
            mut requests,
            mut fills,
        } = std::mem::take(&mut self.fetches[fetch]);
        for (slot, mask) in fills.drain(..) {
            if outcome.result < 0 {
                self.slots.end_fetch(slot, 0);
                self.slots.unpin(slot);
                continue;
            }
            self.slots.end_fetch(slot, mask);
            let piece = self.piece(Side::Fast, slot, mask);
            let why = IoPurpose::Store { slot };
            self.pair.send(why, Op::Write, piece, outcome.done_ns);
        }
        let ends = requests.drain(..);
        ended.extend(ends.filter_map(|request| self.requests.release(request, outcome)));
        self.fetches[fetch] = Fetch { requests, fills };
        self.free_fetches.push(fetch);
    }

    /// The slot a write of `chunk` goes to besides, or instead of, the slow device.
    fn place_of_write(&mut self, chunk: u32, is_sequential: bool) -> Option<u32> {
        let place = self.slots.touch(chunk);
        if place.is_some() {
            self.counters.write_hits += 1;
            return place;
        }
        self.counters.write_misses += 1;
        self.promote(chunk, self.params.promote_writes, is_sequential)
    }

    fn write_through(&mut self, request: usize, range: Range, is_sequential: bool, at_ns: u64) {
        self.send(request, Op::Write, range.on_slow(), at_ns);
        let mut rest = range;
        while rest.length_bytes > 0 {
            let (chunk, mask, bytes) = self.first_part(rest);
            rest = rest.after(bytes);
            if let Some(slot) = self.place_of_write(chunk, is_sequential) {
                self.slots.copy(slot, mask);
                let piece = self.piece(Side::Fast, slot, mask);
                self.send(request, Op::Write, piece, at_ns);
            }
        }
    }

    /// Whether one more chunk may get dirty.
    fn has_room(&self) -> bool {
        self.slots.dirty_chunks() < self.dirty_limit_chunks
    }

    /// Writes to the cache; what the policy does not take in goes around it. Returns what has to
    /// wait for the drain, if the dirty limit is reached.
    fn write_back(&mut self, stalled: Stalled, is_first: bool, at_ns: u64) -> Option<Stalled> {
        let Stalled {
            request,
            mut range,
            is_sequential,
        } = stalled;
        let (chunk, mask, bytes) = self.first_part(range);
        if short_path::is_open() && bytes == range.length_bytes {
            let waits = self.write_alone(request, (chunk, mask), is_sequential, is_first, at_ns);
            return waits.then_some(stalled);
        }
        let mut around: Option<Piece> = None;
        while range.length_bytes > 0 {
            let (chunk, mask, bytes) = self.first_part(range);
            if !(is_first && self.has_room()) && self.has_to_wait(chunk, is_sequential) {
                self.send_around(request, around, at_ns);
                return Some(Stalled { range, ..stalled });
            }
            if !self.write_part(request, (chunk, mask), is_sequential, at_ns) {
                let piece = self.piece(Side::Slow, chunk, mask);
                match &mut around {
                    Some(last) if last.ends() == piece.offset_bytes => {
                        last.length_bytes += piece.length_bytes;
                    }
                    _ => self.send_around(request, around.replace(piece), at_ns),
                }
            }
            range = range.after(bytes);
        }
        self.send_around(request, around, at_ns);
        None
    }

    /// Whether a write of `chunk` makes one more chunk dirty.
    #[inline]
    fn has_to_wait(&self, chunk: u32, is_sequential: bool) -> bool {
        match self.slots.find(chunk) {
            Some(slot) => !self.slots.is_dirty(slot),
            None => self.would_promote(chunk, self.params.promote_writes, is_sequential),
        }
    }

    /// Writes `mask` of `chunk` to the cache, if it has or gets a place there.
    #[inline]
    fn write_part(
        &mut self,
        request: usize,
        (chunk, mask): (u32, u128),
        is_sequential: bool,
        at_ns: u64,
    ) -> bool {
        let Some(slot) = self.place_of_write(chunk, is_sequential) else {
            return false;
        };
        self.slots.soil(slot, mask);
        let piece = self.piece(Side::Fast, slot, mask);
        self.send(request, Op::Write, piece, at_ns);
        true
    }

    /// The same as `write_back` of what lies in one chunk; whether it has to wait.
    #[inline]
    fn write_alone(
        &mut self,
        request: usize,
        (chunk, mask): (u32, u128),
        is_sequential: bool,
        is_first: bool,
        at_ns: u64,
    ) -> bool {
        if !(is_first && self.has_room()) && self.has_to_wait(chunk, is_sequential) {
            return true;
        }
        if !self.write_part(request, (chunk, mask), is_sequential, at_ns) {
            let piece = self.piece(Side::Slow, chunk, mask);
            self.send_around(request, Some(piece), at_ns);
        }
        false
    }

    fn send_around(&mut self, request: usize, piece: Option<Piece>, at_ns: u64) {
        if let Some(piece) = piece {
            self.counters.around_bytes += piece.length_bytes;
            self.send(request, Op::Write, piece, at_ns);
        }
    }

    /// Lets the writes that wait for the drain go on, in their order.
    pub(super) fn resume(&mut self, at_ns: u64, ended: &mut Vec<Ended>) {
        while let Some(&stalled) = self.stalled.front() {
            if let Some(rest) = self.write_back(stalled, true, at_ns) {
                self.stalled[0] = rest;
                return;
            }
            self.stalled.pop_front();
            let outcome = Outcome {
                done_ns: at_ns,
                result: 0,
            };
            ended.extend(self.requests.release(stalled.request, outcome));
        }
    }

    /// Both devices put what they keep in volatile memory where it lasts.
    fn flush(&mut self, request: usize, at_ns: u64) {
        for side in [Side::Fast, Side::Slow] {
            self.send(request, Op::Flush, Piece::nothing(side), at_ns);
        }
    }

    /// The slow device has forgotten `range`: so does the cache.
    fn discarded(&mut self, mut range: Range) {
        while range.length_bytes > 0 {
            let (chunk, mask, bytes) = self.first_part(range);
            self.slots.discard(chunk, mask);
            range = range.after(bytes);
        }
    }

    pub(super) fn came(&mut self, purpose: IoPurpose, outcome: Outcome, ended: &mut Vec<Ended>) {
        match purpose {
            IoPurpose::Host { request } => {
                ended.extend(self.requests.release(request as usize, outcome));
            }
            IoPurpose::Fetch { fetch } => self.fetched(fetch as usize, outcome, ended),
            IoPurpose::Store { slot } => {
                if outcome.result < 0 {
                    self.slots.forget_copies(slot);
                }
                self.slots.unpin(slot);
            }
            IoPurpose::Collect { job } => self.drained(job as usize, true, outcome, ended),
            IoPurpose::Drain { job } => self.drained(job as usize, false, outcome, ended),
            IoPurpose::Discard { number } => {
                let (request, range) = self.discards.take(number);
                if outcome.result >= 0 {
                    self.discarded(range);
                    self.resume(outcome.done_ns, ended);
                }
                ended.extend(self.requests.release(request, outcome));
            }
        }
    }

    pub(super) fn begin(&mut self, op: Op, request: usize, range: Range, at_ns: u64) {
        let bypass_bytes = self.params.bypass_bytes;
        let is_sequential = bypass_bytes > 0 && matches!(op, Op::Read | Op::Write) && {
            let streams = &mut self.streams;
            streams.run_bytes(range.offset_bytes, range.length_bytes) > bypass_bytes
        };
        match (op, self.params.mode) {
            (Op::Read, _) => {
                self.counters.read_bytes += range.length_bytes;
                self.read(request, range, is_sequential, at_ns);
            }
            (Op::Write, mode) => {
                self.counters.written_bytes += range.length_bytes;
                if mode == Mode::WriteThrough {
                    self.write_through(request, range, is_sequential, at_ns);
                    return;
                }
                let write = Stalled {
                    request,
                    range,
                    is_sequential,
                };
                if let Some(rest) = self.write_back(write, self.stalled.is_empty(), at_ns) {
                    self.counters.stalls += 1;
                    self.requests.hold(request);
                    self.stalled.push_back(rest);
                }
            }
            (Op::Discard, _) => {
                self.counters.trimmed_bytes += range.length_bytes;
                self.requests.hold(request);
                let number = self.discards.put(request, range);
                let why = IoPurpose::Discard { number };
                self.pair.send(why, Op::Discard, range.on_slow(), at_ns);
            }
            (Op::Flush, _) => self.flush(request, at_ns),
        }
    }
}
