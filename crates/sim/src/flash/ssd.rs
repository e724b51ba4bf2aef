//! A solid-state drive in virtual time. No event queue: every resource (front end, write path,
//! buffer slot, die) carries the time it is free from, and an I/O walks through them. Integer
//! nanoseconds only, so that a run is the same bits everywhere.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use teijo_engine::backend::Op;

use super::ftl::{Cleaned, Ftl, Geometry};
use crate::device::{Device, Facts, Health, Label, Outcome};
use crate::params::{Pacing, ParamError, SsdParams, PARAMETERS};

const LOGICAL_BLOCK_BYTES: u32 = 512;
const NO_SPACE: i32 = -28;
const INVALID: i32 = -22;

/// A name, its parameters and whose numbers they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    pub name: &'static str,
    pub label: Label,
}

/// When a die is free, and what cleaning it still has to spread over coming programs.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_field_names, reason = "every field is a time in ns")]
struct DieClock {
    busy_until_ns: u64,
    /// The last read of this die; reads that suspend a program queue behind each other.
    read_until_ns: u64,
    debt_ns: u64,
    share_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    read_bytes: u64,
    written_bytes: u64,
    trimmed_bytes: u64,
    page_reads: u64,
}

/// A simulated SSD. See `docs/reference/simulated-ssd.md` for what is modelled and what is not.
#[derive(Clone, Debug)]
pub struct Ssd {
    identity: Identity,
    params: SsdParams,
    geometry: Geometry,
    ftl: Ftl,
    dies: Vec<DieClock>,
    /// Release time of each buffer slot, a ring in order of admission.
    buffer: Vec<u64>,
    buffer_next: usize,
    front_free_ns: u64,
    admitted_ns: u64,
    /// When the last write of part of a unit is merged with the rest, and how far behind its
    /// acknowledgement that may be.
    merged_ns: u64,
    merge_lag_ns: u64,
    /// When the last page in the buffer is programmed.
    drained_ns: u64,
    counters: Counters,
    random: Xoshiro256PlusPlus,
    capacity_bytes: u64,
    unit_shift: u32,
    /// Link time per byte in 2^-24 ns.
    link_ns_q24: u64,
    /// Time of one whole unit on the flash channels.
    bus_unit_ns: u64,
    /// Extra program time per page of a block that was erased without moving a page.
    seq_extra_ns: u64,
    pool_blocks: u32,
    /// Jitter span in 2^-32 of the time it is applied to; 0 for none.
    jitter_q32: u64,
}

impl Ssd {
    /// A drive fresh out of the box.
    pub fn new(identity: Identity, params: SsdParams) -> Result<Self, ParamError> {
        let geometry = params.geometry()?;
        let unit_bytes = u64::from(params.mapping_bytes);
        let slots = (params.buffer_bytes / unit_bytes).max(1) as usize;
        let pool_units = f64::from(geometry.units) * params.idle_pool_percent / 100.0;
        let pool_blocks =
            pool_units / f64::from(geometry.pages_per_block) / f64::from(geometry.dies);
        let bus_unit_ns = unit_bytes as f64 * 1e3 / params.bus_mb_per_second;
        let seq_extra = params.program_ns as f64 * (1.0 / params.seq_ss_factor - 1.0);
        Ok(Self {
            ftl: Ftl::new(geometry, params.cleaning, params.frontier, params.seed),
            dies: vec![DieClock::default(); geometry.dies as usize],
            buffer: vec![0; slots],
            buffer_next: 0,
            front_free_ns: 0,
            admitted_ns: 0,
            merged_ns: 0,
            merge_lag_ns: u64::from(params.rmw_queue) * params.rmw_ns,
            drained_ns: 0,
            counters: Counters::default(),
            random: Xoshiro256PlusPlus::seed_from_u64(params.seed),
            capacity_bytes: params.simulated_capacity_bytes(),
            unit_shift: params.mapping_bytes.trailing_zeros(),
            link_ns_q24: ((1u64 << 24) as f64 * 1e3 / params.link_mb_per_second).round() as u64,
            bus_unit_ns: bus_unit_ns.round() as u64,
            seq_extra_ns: seq_extra.round() as u64,
            pool_blocks: pool_blocks.round() as u32,
            jitter_q32: (params.jitter_percent / 100.0 * 2f64.powi(33)) as u64,
            identity,
            params,
            geometry,
        })
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

    fn link_ns(&self, length_bytes: u64) -> u64 {
        (length_bytes * self.link_ns_q24) >> 24
    }

    /// `time_ns` with this drive's jitter: uniform, mean unchanged, never negative.
    #[inline]
    fn jittered(&mut self, time_ns: u64) -> u64 {
        if self.jitter_q32 == 0 {
            return time_ns;
        }
        let span = ((u128::from(time_ns) * u128::from(self.jitter_q32)) >> 32) as u64;
        let drawn = ((self.random.next_u64() >> 32) * span) >> 32;
        (time_ns + drawn).saturating_sub(span / 2)
    }

    fn read(&mut self, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> u64 {
        let length = u64::from(length_bytes);
        let ready = at_ns.max(self.front_free_ns) + self.params.read_command_ns;
        let first = (offset_bytes >> self.unit_shift) as u32;
        let last = ((offset_bytes + length - 1) >> self.unit_shift) as u32;
        let bus_ns = self.bus_unit_ns * u64::from(last - first + 1);
        self.front_free_ns = ready + self.link_ns(length).max(bus_ns);
        let mut data_ns = None;
        for unit in first..=last {
            if let Some(die) = self.ftl.die_of(unit) {
                let done = self.read_page(die, ready);
                data_ns = data_ns.max(Some(done));
            }
        }
        self.counters.read_bytes += length;
        let units_ns = self.params.unit_ns * u64::from(last - first);
        let moved = match data_ns {
            // Never written: the controller answers without the flash.
            None => self.front_free_ns,
            // The transfer follows the first page and cannot end before the last one.
            Some(data_ns) => {
                let page_ns = self
                    .link_ns(length.min(1 << self.unit_shift))
                    .max(self.bus_unit_ns);
                (data_ns + page_ns).max(self.front_free_ns + self.params.read_ns)
            }
        };
        moved + units_ns + self.params.ack_ns
    }

    /// Reads one page of `die` for the host; a busy die is suspended after `read_wait`.
    #[inline]
    fn read_page(&mut self, die: u32, ready_ns: u64) -> u64 {
        self.clean_while_idle(die, ready_ns);
        let page_ns = self.jittered(self.params.read_ns);
        let longest_ns = ready_ns + self.params.read_wait_ns;
        let clock = &mut self.dies[die as usize];
        let begin = clock.busy_until_ns.clamp(ready_ns, longest_ns);
        let begin = begin.max(clock.read_until_ns);
        let done = begin + page_ns;
        clock.read_until_ns = done;
        clock.busy_until_ns = if clock.busy_until_ns > begin {
            clock.busy_until_ns + page_ns
        } else {
            done
        };
        self.counters.page_reads += 1;
        done
    }

    fn write(&mut self, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> u64 {
        let length = u64::from(length_bytes);
        let start = at_ns.max(self.front_free_ns) + self.params.write_command_ns;
        self.front_free_ns = start + self.link_ns(length);
        let end_bytes = offset_bytes + length;
        let first = offset_bytes >> self.unit_shift;
        let last = (end_bytes - 1) >> self.unit_shift;
        for unit in first..=last {
            let whole = offset_bytes <= unit << self.unit_shift
                && end_bytes >= (unit + 1) << self.unit_shift;
            self.write_unit(unit as u32, whole);
        }
        self.counters.written_bytes += length;
        self.admitted_ns + self.params.unit_ns * (last - first) + self.params.ack_ns
    }

    /// Admits one unit to the buffer, in order, and programs it on the next die.
    #[inline]
    fn write_unit(&mut self, unit: u32, whole: bool) {
        let slot = self.buffer_next;
        self.buffer_next = if slot + 1 == self.buffer.len() {
            0
        } else {
            slot + 1
        };
        let mut admitted = self
            .front_free_ns
            .max(self.admitted_ns)
            .max(self.buffer[slot]);
        if !whole {
            if let Some(die) = self.ftl.die_of(unit) {
                self.read_page(die, admitted);
                self.merged_ns = self.merged_ns.max(admitted) + self.params.rmw_ns;
                self.drained_ns = self.drained_ns.max(self.merged_ns);
                admitted = admitted.max(self.merged_ns.saturating_sub(self.merge_lag_ns));
            }
        }
        self.admitted_ns = admitted;
        let die = self.ftl.pick_die();
        self.clean_while_idle(die, admitted);
        let cleaned = self.ftl.write(unit, die);
        if cleaned.erased_blocks > 0 {
            self.charge(die, cleaned, admitted);
        }
        let program_ns = self.jittered(self.params.program_ns);
        let clock = &mut self.dies[die as usize];
        let share_ns = clock.share_ns.min(clock.debt_ns);
        clock.debt_ns -= share_ns;
        clock.busy_until_ns = clock.busy_until_ns.max(admitted) + program_ns + share_ns;
        self.buffer[slot] = clock.busy_until_ns;
        self.drained_ns = self.drained_ns.max(clock.busy_until_ns);
    }

    /// Time of moving and erasing, without what the host sees of it.
    fn cleaning_ns(&mut self, cleaned: Cleaned) -> u64 {
        self.counters.page_reads += u64::from(cleaned.moved_pages);
        let move_ns = self.params.read_ns + self.params.program_ns;
        u64::from(cleaned.moved_pages) * move_ns
            + u64::from(cleaned.erased_blocks) * self.params.erase_ns
    }

    /// Makes `die` pay for cleaning: at once, or with each of the pages it made room for.
    fn charge(&mut self, die: u32, cleaned: Cleaned, at_ns: u64) {
        let cost_ns = self.cleaning_ns(cleaned);
        let room = u64::from(cleaned.room_pages.max(1));
        let loss_ns = if cleaned.moved_pages == 0 {
            self.seq_extra_ns * room
        } else {
            0
        };
        let clock = &mut self.dies[die as usize];
        match self.params.pacing {
            Pacing::Lump => {
                clock.busy_until_ns = clock.busy_until_ns.max(at_ns) + cost_ns;
                clock.debt_ns += loss_ns;
            }
            Pacing::Paced => clock.debt_ns += cost_ns + loss_ns,
        }
        clock.share_ns = clock.debt_ns.div_ceil(room);
    }

    /// Lets `die` clean ahead in the idle time before `until_ns`, if it keeps a pool.
    #[inline]
    fn clean_while_idle(&mut self, die: u32, until_ns: u64) {
        if self.pool_blocks > 0 {
            self.clean_ahead(die, until_ns);
        }
    }

    fn clean_ahead(&mut self, die: u32, until_ns: u64) {
        let mut free_ns = self.dies[die as usize].busy_until_ns;
        if free_ns.saturating_add(self.params.idle_wait_ns) >= until_ns {
            return;
        }
        free_ns += self.params.idle_wait_ns;
        while free_ns < until_ns {
            let Some(cleaned) = self.ftl.clean_ahead(die, self.pool_blocks) else {
                return;
            };
            free_ns += self.cleaning_ns(cleaned);
            self.dies[die as usize].busy_until_ns = free_ns;
        }
    }

    /// Forgets the units that lie wholly in the range.
    fn trim(&mut self, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> u64 {
        let end_bytes = offset_bytes + u64::from(length_bytes);
        let unit_bytes = 1u64 << self.unit_shift;
        for unit in offset_bytes.div_ceil(unit_bytes)..end_bytes >> self.unit_shift {
            self.ftl.trim(unit as u32);
        }
        self.counters.trimmed_bytes += u64::from(length_bytes);
        self.front_free_ns = at_ns.max(self.front_free_ns) + self.params.write_command_ns;
        self.front_free_ns + self.params.ack_ns
    }

    /// Bytes of the request that lie on the device; `Err` is the result of an I/O refused whole.
    fn clip(&self, op: Op, offset_bytes: u64, length_bytes: u32) -> Result<u32, i32> {
        let block = LOGICAL_BLOCK_BYTES;
        let aligned =
            offset_bytes.is_multiple_of(u64::from(block)) && length_bytes.is_multiple_of(block);
        if !aligned || length_bytes == 0 {
            return Err(INVALID);
        }
        let room = self.capacity_bytes.saturating_sub(offset_bytes);
        match op {
            Op::Read if room == 0 => Err(0),
            Op::Write | Op::Discard if room == 0 => Err(NO_SPACE),
            Op::Read | Op::Write | Op::Discard => Ok(u64::from(length_bytes).min(room) as u32),
            Op::Flush => Ok(length_bytes),
        }
    }
}

impl Device for Ssd {
    #[inline]
    fn serve(&mut self, op: Op, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> Outcome {
        if op == Op::Flush {
            let done_ns = at_ns.max(self.drained_ns) + self.params.ack_ns;
            return Outcome { done_ns, result: 0 };
        }
        let length_bytes = match self.clip(op, offset_bytes, length_bytes) {
            Ok(length_bytes) => length_bytes,
            Err(result) => {
                return Outcome {
                    done_ns: at_ns + self.params.ack_ns,
                    result,
                }
            }
        };
        let done_ns = match op {
            Op::Read => self.read(offset_bytes, length_bytes, at_ns),
            Op::Write => self.write(offset_bytes, length_bytes, at_ns),
            Op::Discard | Op::Flush => self.trim(offset_bytes, length_bytes, at_ns),
        };
        Outcome {
            done_ns,
            result: length_bytes.cast_signed(),
        }
    }

    fn purge(&mut self, at_ns: u64) -> u64 {
        self.ftl.purge();
        let done_ns = at_ns.max(self.drained_ns) + self.params.purge_ns;
        self.buffer.fill(0);
        self.dies.fill(DieClock {
            busy_until_ns: done_ns,
            ..DieClock::default()
        });
        (self.front_free_ns, self.admitted_ns, self.drained_ns) = (done_ns, done_ns, done_ns);
        self.merged_ns = done_ns;
        done_ns
    }

    fn idle(&mut self, _from_ns: u64, to_ns: u64) {
        for die in 0..self.geometry.dies {
            self.clean_while_idle(die, to_ns);
        }
    }

    fn health(&self) -> Health {
        let unit_bytes = 1u64 << self.unit_shift;
        Health {
            host_reads_bytes: self.counters.read_bytes,
            host_writes_bytes: self.counters.written_bytes,
            trims_bytes: self.counters.trimmed_bytes,
            nand_reads_bytes: self.counters.page_reads * unit_bytes,
            nand_writes_bytes: self.ftl.programs * unit_bytes,
            erases: self.ftl.erases,
        }
    }

    fn facts(&self) -> Facts {
        let name = self.identity.name.to_uppercase();
        let value = |parameter: &crate::params::Parameter| {
            (
                parameter.name.into(),
                parameter.value(&self.params),
                parameter.unit,
            )
        };
        Facts {
            model: format!("Simulated {name}"),
            serial: format!("SIM-{name}-{}", self.params.seed),
            firmware: format!("sim-{}", env!("CARGO_PKG_VERSION")),
            nominal_capacity_bytes: self.params.nominal_capacity_bytes,
            capacity_bytes: self.capacity_bytes,
            logical_block_bytes: LOGICAL_BLOCK_BYTES,
            physical_block_bytes: self.params.mapping_bytes.max(LOGICAL_BLOCK_BYTES),
            label: self.identity.label,
            parameters: PARAMETERS.iter().map(value).collect(),
        }
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn logical_block_bytes(&self) -> u32 {
        LOGICAL_BLOCK_BYTES
    }

    fn digest(&self) -> u64 {
        let mut state = 0xcbf2_9ce4_8422_2325_u64;
        let mut mix = |value: u64| {
            state = (state ^ value)
                .wrapping_mul(0x0000_0100_0000_01b3)
                .rotate_left(23);
        };
        self.ftl.visit(&mut mix);
        for die in &self.dies {
            let DieClock {
                busy_until_ns,
                read_until_ns,
                debt_ns,
                share_ns,
            } = *die;
            [busy_until_ns, read_until_ns, debt_ns, share_ns]
                .into_iter()
                .for_each(&mut mix);
        }
        self.buffer.iter().for_each(|&release_ns| mix(release_ns));
        let Counters {
            read_bytes,
            written_bytes,
            trimmed_bytes,
            page_reads,
        } = self.counters;
        [
            read_bytes,
            written_bytes,
            trimmed_bytes,
            page_reads,
            self.buffer_next as u64,
        ]
        .into_iter()
        .chain([self.front_free_ns, self.admitted_ns, self.drained_ns])
        .chain([self.random.clone().next_u64()])
        .for_each(mix);
        state
    }
}
