//! Which dirty chunks of an SSD cache go to the slow device next, in what I/Os, and when.

use super::super::params::SsdCacheParams;
use super::slots::{extent, is_run, runs, Slots};
use crate::short_path;

/// After a failed drain nothing is drained for so long.
const RETRY_NS: u64 = 100_000_000;

/// What one slot gives to a job: where it is read on the fast device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub slot: u32,
    /// Sectors from the first dirty one to after the last.
    pub sectors: (u32, u32),
}

/// One run of dirty chunks on its way: all is read from the fast device at once, then written to
/// the slow one extent by extent.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    pub loads: Vec<Load>,
    /// (offset, bytes) on the slow device, the next one last.
    pub extents: Vec<(u64, u64)>,
    /// Reads that have not ended.
    pub reads: u32,
    pub has_failed: bool,
}

impl Job {
    /// The sectors of `run` in the chunk at `base_bytes` are written as well, with what ends where
    /// they begin.
    #[inline]
    fn write(&mut self, base_bytes: u64, run: (u32, u32)) {
        let (from, to) = (
            base_bytes + u64::from(run.0) * 512,
            base_bytes + u64::from(run.1) * 512,
        );
        match self.extents.last_mut() {
            Some((offset, length)) if *offset + *length == from => *length += to - from,
            _ => self.extents.push((from, to - from)),
        }
    }
}

/// The drain's clock and its place.
#[derive(Clone, Debug)]
pub(super) struct Drain {
    jobs: Vec<Job>,
    free: Vec<usize>,
    /// The chunk after the last that was taken: the drain sweeps upwards, and around.
    cursor: u32,
    /// No job starts before.
    pace_ns: u64,
    pub is_suspended: bool,
    from_chunks: u32,
    in_flight: usize,
    most_bytes: u64,
    chunk_bytes: u64,
    /// Time per byte in 2^-20 ns; 0 for as fast as the devices.
    byte_ns_q20: u64,
    pub drained_bytes: u64,
    pub ios: u64,
}

impl Drain {
    /// A drain that works when more than `from_chunks` chunks are dirty.
    pub fn new(params: &SsdCacheParams, from_chunks: u32) -> Self {
        let rate = params.drain_mb_per_second;
        let byte_ns = if rate > 0.0 { 1e3 / rate } else { 0.0 };
        Self {
            jobs: Vec::new(),
            free: Vec::new(),
            cursor: 0,
            pace_ns: 0,
            is_suspended: false,
            from_chunks,
            in_flight: params.drain_in_flight as usize,
            most_bytes: params.drain_bytes,
            chunk_bytes: u64::from(params.chunk_bytes),
            byte_ns_q20: (byte_ns * f64::from(1 << 20)).round() as u64,
            drained_bytes: 0,
            ios: 0,
        }
    }

    /// The chunk from which on the drain looks for the next one.
    pub fn cursor(&self) -> u32 {
        self.cursor
    }

    pub fn running(&self) -> usize {
        self.jobs.len() - self.free.len()
    }

    pub fn job(&mut self, job: usize) -> &mut Job {
        &mut self.jobs[job]
    }

    /// Dirty chunks that wait and are more than may stay.
    fn chunks(&self, slots: &Slots) -> usize {
        slots
            .waiting_chunks()
            .saturating_sub(self.from_chunks as usize)
    }

    /// When the next job may start; `u64::MAX` if nothing is to be drained or enough is running.
    #[inline]
    pub fn next_ns(&self, slots: &Slots) -> u64 {
        let has_room = self.running() < self.in_flight && !self.is_suspended;
        if has_room && self.chunks(slots) > 0 {
            self.pace_ns
        } else {
            u64::MAX
        }
    }

    /// Begins the next job, which may start at `at_ns`.
    pub fn begin(&mut self, slots: &mut Slots, at_ns: u64) -> Option<usize> {
        let place = self.free.pop().unwrap_or_else(|| {
            self.jobs.push(Job::default());
            self.jobs.len() - 1
        });
        let Some(bytes) = self.gather(place, slots) else {
            self.free.push(place);
            return None;
        };
        let busy_ns = (u128::from(bytes) * u128::from(self.byte_ns_q20)) >> 20;
        self.pace_ns = self.pace_ns.max(at_ns) + busy_ns as u64;
        self.drained_bytes += bytes;
        self.ios += self.jobs[place].extents.len() as u64;
        Some(place)
    }

    /// Puts the next dirty chunk and those that go on where it ends in the job at `place`, whose
    /// room is used again; returns the bytes they write.
    fn gather(&mut self, place: usize, slots: &mut Slots) -> Option<u64> {
        let mut chunk = slots.next_waiting(self.cursor)?;
        let most = self.chunks(slots);
        let job = &mut self.jobs[place];
        job.loads.clear();
        job.extents.clear();
        job.has_failed = false;
        let (mut bytes, mut end_bytes) = (0, None);
        while let Some((slot, mask)) = slots.waiting(chunk) {
            let base = u64::from(chunk) * self.chunk_bytes;
            let ends = extent(mask);
            let first = base + u64::from(ends.0) * 512;
            // One run nearly always.
            let is_one = short_path::is_open() && is_run(mask, ends.0);
            let count = if is_one {
                ends.1 - ends.0
            } else {
                mask.count_ones()
            };
            let size = u64::from(count) * 512;
            let goes_on = end_bytes == Some(first)
                && bytes + size <= self.most_bytes
                && job.loads.len() < most;
            if !job.loads.is_empty() && !goes_on {
                break;
            }
            if is_one {
                job.write(base, ends);
            } else {
                runs(mask).for_each(|run| job.write(base, run));
            }
            end_bytes = Some(base + u64::from(ends.1) * 512);
            let sectors = ends;
            job.loads.push(Load { slot, sectors });
            bytes += size;
            slots.begin_drain(slot);
            chunk += 1;
        }
        self.cursor = chunk;
        job.extents.reverse();
        job.reads = job.loads.len() as u32;
        Some(bytes)
    }

    /// Takes a job off; after one that failed the drain rests.
    pub fn end(&mut self, job: usize, slots: &mut Slots, at_ns: u64) {
        let has_failed = self.jobs[job].has_failed;
        self.free.push(job);
        if has_failed {
            self.pace_ns = self.pace_ns.max(at_ns + RETRY_NS);
        }
        for &Load { slot, .. } in &self.jobs[job].loads {
            slots.end_drain(slot, has_failed);
        }
    }

    /// Begins anew, with nothing dirty and nothing running.
    pub fn clear(&mut self) {
        (self.cursor, self.pace_ns, self.is_suspended) = (0, 0, false);
    }

    /// Every number of the state, for a digest.
    pub fn numbers(&self) -> [u64; 5] {
        let running = self.running() as u64;
        let cursor = u64::from(self.cursor);
        [cursor, self.pace_ns, running, self.drained_bytes, self.ios]
    }
}
