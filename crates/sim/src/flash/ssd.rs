//! A solid-state drive in virtual time. No event queue: every resource (front end, write path,
//! buffer slot, die) carries the time it is free from, and an I/O walks through them. Integer
//! nanoseconds only, so that a run is the same bits everywhere. Here are writes; reads are in
//! `reading`, what dies do besides in `background`, the device as others see it in `face`.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use teijo_engine::request::Op;

use super::die_clock::{Dies, Waits};
use super::flushing::Flushing;
use super::front::Front;
use super::ftl::Ftl;
use super::heat::Heat;
use super::held::Held;
use super::jitter::Jitter;
use super::map_cache::MapCache;
use super::read_ahead::ReadAhead;
use super::times::{Slow, Times};
use super::upkeep::Upkeep;
use crate::device::Identity;
use crate::flash::params::{Geometry, ParamError, SsdParams, WhenFull};

/// What compression leaves of data that cannot be compressed, 2^-15 of a unit.
const WHOLE_Q15: u32 = 1 << 15;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    pub(super) trimmed_bytes: u64,
    pub(super) page_reads: u64,
    pub(super) folded_pages: u64,
    /// Read by the host where nothing had ever been written, or was trimmed since.
    pub(super) unwritten_bytes: u64,
}

/// A simulated SSD. See `docs/reference/simulated-ssd.md` for what is modelled and what is not.
#[derive(Clone, Debug)]
pub struct Ssd {
    pub(super) identity: Identity,
    pub(super) params: SsdParams,
    pub(super) geometry: Geometry,
    pub(super) ftl: Ftl,
    pub(super) dies: Dies,
    /// Release time of each buffer slot, a ring in order of admission.
    pub(super) buffer: Vec<u64>,
    pub(super) buffer_next: usize,
    /// What is in the slots, of a drive that a power cut takes it from.
    pub(super) held: Option<Held>,
    /// Units admitted last whose page is not full yet.
    pub(super) gathered: usize,
    pub(super) front: Front,
    pub(super) admitted_ns: u64,
    /// When the last write of part of a unit is merged with the rest.
    pub(super) merged_ns: u64,
    /// When the last page in the buffer is programmed.
    pub(super) drained_ns: u64,
    pub(super) counters: Counters,
    pub(super) random: Xoshiro256PlusPlus,
    pub(super) capacity_bytes: u64,
    pub(super) unit_shift: u32,
    pub(super) times: Times,
    left_q15: u32,
    pub(super) slow: Slow,
    pub(super) heat: Option<Box<Heat>>,
    pub(super) map_cache: Option<Box<MapCache>>,
    pub(super) upkeep: Option<Box<Upkeep>>,
    pub(super) read_ahead: Option<Box<ReadAhead>>,
    pub(super) flushing: Option<Flushing>,
    pub(super) pool_blocks: u32,
    pub(super) has_region: bool,
    /// Whether whole units are written on the short path of `plain`.
    pub(super) is_plain: bool,
    /// Whether an I/O of one whole unit is served on the short path of `plain`.
    pub(super) is_bare: bool,
    pub(super) waits: Waits,
    pub(super) jitter: Jitter,
}

impl Ssd {
    /// A drive fresh out of the box.
    pub fn new(identity: Identity, params: SsdParams) -> Result<Self, ParamError> {
        let geometry = params.geometry()?;
        let unit_bytes = u64::from(params.mapping_bytes);
        let page_units = params.page_units();
        let slots = params.buffer_slots() as usize;
        let pool_units = f64::from(geometry.units) * params.idle_pool_percent / 100.0;
        let pool_blocks =
            pool_units / f64::from(geometry.pages_per_block) / f64::from(geometry.dies);
        let mut ftl = Ftl::new(geometry, params.cleaning, params.frontier, params.seed)
            .with_pages_of(page_units);
        if params.has_region() {
            let of_free = params.region.of_free_percent / 100.0;
            ftl = ftl.with_region(params.region_units(), of_free);
        }
        if params.compression.on {
            ftl = ftl.with_packing(params.compression.least_percent / 100.0);
        }
        let heat = (params.heat.throttle_percent < 100.0).then(|| {
            let page_bytes = unit_bytes * u64::from(page_units);
            let scale = params.simulated_scale();
            Box::new(Heat::new(&params.heat, scale, unit_bytes, page_bytes))
        });
        let random = Xoshiro256PlusPlus::seed_from_u64(params.seed);
        let draw = || {
            let mut apart = random.clone();
            apart.jump();
            apart.next_u64() >> 32
        };
        let mut drive = Self {
            slow: Slow::new(params.slow_die, geometry.dies, draw),
            ftl,
            dies: Dies::new(geometry.dies),
            buffer: vec![0; slots],
            held: (!params.power_loss_protection).then(|| Held::new(slots)),
            buffer_next: 0,
            gathered: 0,
            front: Front::new(params.link_duplex),
            admitted_ns: 0,
            merged_ns: 0,
            drained_ns: 0,
            counters: Counters::default(),
            random,
            capacity_bytes: params.simulated_capacity_bytes(),
            unit_shift: params.mapping_bytes.trailing_zeros(),
            times: Times::new(&params, 1.0, WHOLE_Q15),
            left_q15: WHOLE_Q15,
            heat,
            map_cache: MapCache::new(&params),
            upkeep: Upkeep::new(&params.upkeep, geometry.dies),
            read_ahead: ReadAhead::new(&params),
            flushing: params.flush_alone.then(Flushing::default),
            pool_blocks: pool_blocks.round() as u32,
            has_region: params.has_region(),
            is_plain: false,
            is_bare: false,
            waits: Waits {
                longest_ns: params.read_wait_ns,
                erase_ns: params.read_wait_ns.min(params.erase_suspend_ns),
            },
            jitter: Jitter::new(&params),
            identity,
            params,
            geometry,
        };
        drive.is_plain = drive.writes_plainly();
        drive.is_bare = drive.serves_barely();
        Ok(drive)
    }

    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    pub fn params(&self) -> &SsdParams {
        &self.params
    }

    /// The translation layer, for its counts.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// The die that is slower than the others, if there is one.
    pub fn slow_die(&self) -> Option<u32> {
        (self.slow.die < self.geometry.dies).then_some(self.slow.die)
    }

    /// Temperature after the last I/O, °C, of a drive that models it.
    pub fn celsius(&self) -> Option<f64> {
        self.heat.as_ref().map(|heat| heat.celsius())
    }

    /// Lets the work done so far warm the drive, and holds it back or no longer.
    #[cold]
    pub(super) fn warm(&mut self, at_ns: u64) {
        let Some(heat) = &mut self.heat else { return };
        let changed = heat.warm(at_ns, self.ftl.programs, self.counters.page_reads);
        if let Some(throttled) = changed {
            let speed = self.params.heat.throttle_percent / 100.0;
            let times = if throttled { 1.0 / speed } else { 1.0 };
            self.times = Times::new(&self.params, times, self.left_q15);
        }
    }

    /// Says what share of coming writes compression leaves, in 2^-16.
    pub(super) fn set_content(&mut self, left_q16: u32) {
        self.left_q15 = self.ftl.set_content(left_q16);
        self.times.host_program = (self.times.program * u64::from(self.left_q15)) >> 15;
    }

    pub(super) fn link_ns(&self, length_bytes: u64) -> u64 {
        (length_bytes * self.times.link_q24) >> 24
    }

    /// `time_ns` of `die`, varied as this drive's page times are.
    #[inline]
    pub(super) fn jittered(&mut self, die: u32, time_ns: u64) -> u64 {
        self.jitter.of(self.slow.of(die, time_ns), &mut self.random)
    }

    /// When the front end has taken in a command that comes at `at_ns` and holds it `command_ns`.
    #[inline]
    pub(super) fn admit(&mut self, op: Op, command_ns: u64, at_ns: u64) -> u64 {
        let (from_ns, stray_ns) = if self.upkeep.is_some() {
            self.held_up(at_ns)
        } else {
            (at_ns, 0)
        };
        let (command_ns, turnaround_ns) = (command_ns + stray_ns, self.times.turnaround);
        self.front.serve(op, from_ns, command_ns, turnaround_ns)
    }

    pub(super) fn write(&mut self, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> u64 {
        let length = u64::from(length_bytes);
        let served_ns = self.admit(Op::Write, self.times.write_command, at_ns);
        let link_ns = self.link_ns(length);
        let sent_ns = self.front.transfer(Op::Write, served_ns, link_ns);
        let end_bytes = offset_bytes + length;
        let first = offset_bytes >> self.unit_shift;
        let last = (end_bytes - 1) >> self.unit_shift;
        if self.map_cache.is_some() {
            self.look_up(first as u32, last as u32, sent_ns, true);
        }
        if let Some(ahead) = &mut self.read_ahead {
            ahead.forget(first as u32, last as u32);
        }
        let unit_bytes = 1u64 << self.unit_shift;
        let end_whole = end_bytes >> self.unit_shift;
        let mut rest = first;
        if offset_bytes.is_multiple_of(unit_bytes) {
            rest = self.write_wholes(first, end_whole, sent_ns);
        }
        for unit in rest..=last {
            if let Some(held) = &mut self.held {
                let start_bytes = offset_bytes.max(unit << self.unit_shift);
                let stop_bytes = end_bytes.min((unit + 1) << self.unit_shift);
                held.put(self.buffer_next, start_bytes, stop_bytes);
            }
            let whole = offset_bytes <= unit << self.unit_shift && unit < end_whole;
            self.write_unit(unit as u32, whole, sent_ns);
        }
        self.counters.written_bytes += length;
        self.admitted_ns + self.times.unit * (last - first) + self.times.write_ack
    }

    /// Admits one unit, which is in the drive at `sent_ns`, to the buffer, in order, and programs
    /// it on the next die.
    #[inline]
    pub(super) fn write_unit(&mut self, unit: u32, whole: bool, sent_ns: u64) {
        let slot = self.buffer_next;
        self.buffer_next = if slot + 1 == self.buffer.len() {
            0
        } else {
            slot + 1
        };
        let mut admitted = sent_ns.max(self.admitted_ns).max(self.buffer[slot]);
        if !whole {
            if let Some(die) = self.ftl.die_of(unit) {
                self.read_page(die, admitted);
                self.merged_ns = self.merged_ns.max(admitted) + self.times.rmw;
                self.drained_ns = self.drained_ns.max(self.merged_ns);
                admitted = admitted.max(self.merged_ns.saturating_sub(self.times.merge_lag));
            }
        }
        self.admitted_ns = admitted;
        let die = self.pick_die(admitted);
        self.work_while_idle(die, admitted);
        if self.upkeep.is_some() {
            self.refresh(die, admitted);
            self.write_map(admitted);
        }
        let into_region = self.has_region && self.takes_in_region(die, admitted);
        if into_region {
            self.ftl.write_region(unit, die);
        } else {
            let cleaned = self.ftl.write(unit, die);
            if cleaned.erased_blocks > 0 {
                self.charge(die, cleaned, admitted);
            }
        }
        if self.ftl.filling().is_some() {
            self.gathered += 1;
            return;
        }
        let done_ns = if into_region {
            self.program_region(die, admitted)
        } else {
            self.program(die, self.times.host_program, admitted)
        };
        self.buffer[slot] = done_ns;
        if self.gathered > 0 {
            self.release_gathered(slot, done_ns);
        }
    }

    /// Programs a page of the main area, with its share of what cleaning owes.
    #[inline]
    pub(super) fn program(&mut self, die: u32, page_ns: u64, at_ns: u64) -> u64 {
        let program_ns = self.jittered(die, page_ns);
        let done_ns = self.dies.program(die, at_ns, program_ns);
        self.drained_ns = self.drained_ns.max(done_ns);
        done_ns
    }

    fn program_region(&mut self, die: u32, at_ns: u64) -> u64 {
        let program_ns = self.jittered(die, self.times.region_program);
        let done_ns = self.dies.occupy(die, at_ns, program_ns);
        self.drained_ns = self.drained_ns.max(done_ns);
        done_ns
    }

    /// Frees the buffer slots before `slot` whose units went into the same page.
    #[cold]
    fn release_gathered(&mut self, slot: usize, done_ns: u64) {
        let slots = self.buffer.len();
        for back in 1..=self.gathered {
            self.buffer[(slot + slots - back) % slots] = done_ns;
        }
        self.gathered = 0;
    }

    /// Programs the page that is being filled as it is.
    pub(super) fn pad(&mut self, at_ns: u64) {
        let Some(die) = self.ftl.filling() else {
            return;
        };
        let into_region = self.ftl.region_is_filling(die);
        self.ftl.pad();
        let done_ns = if into_region {
            self.program_region(die, at_ns)
        } else {
            self.program(die, self.times.host_program, at_ns)
        };
        self.release_gathered(self.buffer_next, done_ns);
    }

    /// Whether the next unit of `die` goes to the region, which folds for it if it is full.
    fn takes_in_region(&mut self, die: u32, at_ns: u64) -> bool {
        if self.ftl.filling() == Some(die) {
            return self.ftl.region_is_filling(die);
        }
        if self.params.region.when_full == WhenFull::Fold {
            while !self.ftl.region_has_room(die) && self.fold(die, at_ns) {}
        }
        self.ftl.region_has_room(die)
    }
}
