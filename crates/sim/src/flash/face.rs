//! A simulated SSD as every other simulated device is seen: it serves, purges, idles, and says what
//! it is and has done.

use std::borrow::Cow;

use rand_xoshiro::rand_core::Rng;
use teijo_engine::request::Op;

use super::flushing::Flushing;
use super::ssd::{Counters, Ssd};
use super::table::PARAMETERS;
use crate::clip::{clip, LOGICAL_BLOCK_BYTES};
use crate::device::{Device, Facts, Health, Outcome};
use crate::parameters::{ratio_text, Parameter};

/// Name of the fact that says how much spare flash there is.
const EFFECTIVE: &str = "op_percent_effective";

impl Ssd {
    /// Forgets the units that lie wholly in the range.
    fn trim(&mut self, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> u64 {
        let end_bytes = offset_bytes + u64::from(length_bytes);
        let unit_bytes = 1u64 << self.unit_shift;
        if let Some(ahead) = &mut self.read_ahead {
            let last = (end_bytes - 1) >> self.unit_shift;
            ahead.forget((offset_bytes >> self.unit_shift) as u32, last as u32);
        }
        for unit in offset_bytes.div_ceil(unit_bytes)..end_bytes >> self.unit_shift {
            self.ftl.trim(unit as u32);
        }
        self.counters.trimmed_bytes += u64::from(length_bytes);
        self.front.free_ns = at_ns.max(self.front.free_ns) + self.times.write_command;
        self.front.free_ns + self.times.ack
    }

    /// Programs what is being gathered and waits for all that is in the buffer; where that outlives
    /// a power cut, only for its turn.
    fn flush(&mut self, at_ns: u64) -> u64 {
        if let Some(flushing) = self.flushing {
            return self.flush_alone(flushing, at_ns);
        }
        if self.params.power_loss_protection {
            self.front.free_ns = at_ns.max(self.front.free_ns) + self.times.flush;
            return self.front.free_ns + self.times.ack;
        }
        self.pad(at_ns.max(self.admitted_ns));
        at_ns.max(self.drained_ns) + self.times.flush + self.times.ack
    }

    /// The same when no other command is under way: one that comes before the last flush begins
    /// is done with it.
    #[cold]
    fn flush_alone(&mut self, flushing: Flushing, at_ns: u64) -> u64 {
        let Flushing {
            answered_ns,
            mut begun_ns,
            mut over_ns,
        } = flushing;
        if over_ns == 0 || at_ns > begun_ns {
            begun_ns = at_ns.max(answered_ns).max(self.front.free_ns);
            let mut saved_ns = begun_ns;
            if !self.params.power_loss_protection {
                self.pad(begun_ns.max(self.admitted_ns));
                saved_ns = begun_ns.max(self.drained_ns);
            }
            over_ns = saved_ns + self.times.flush;
            self.front.free_ns = over_ns;
        }
        self.flushing = Some(Flushing {
            answered_ns: answered_ns.max(over_ns + self.times.ack),
            begun_ns,
            over_ns,
        });
        over_ns + self.times.ack
    }

    /// Everything is at rest from `at_ns` on, and the buffer empty.
    fn settle(&mut self, at_ns: u64) {
        self.buffer.fill(0);
        self.dies.rest(at_ns);
        self.front.reset(at_ns);
        (self.admitted_ns, self.drained_ns) = (at_ns, at_ns);
        self.merged_ns = at_ns;
        if let Some(held) = &mut self.held {
            held.clear();
        }
        if let Some(upkeep) = &mut self.upkeep {
            upkeep.rest(at_ns, self.ftl.programs);
        }
        if let Some(ahead) = &mut self.read_ahead {
            ahead.clear();
        }
        if let Some(flushing) = &mut self.flushing {
            *flushing = Flushing::default();
        }
    }

    /// Of the slots of the buffer the one at `slot` is not programmed by `at_ns`.
    fn is_held(&self, slot: usize, at_ns: u64) -> bool {
        let slots = self.buffer.len();
        let age = (self.buffer_next + slots - 1 - slot) % slots;
        age < self.gathered || self.buffer[slot] > at_ns
    }
}

impl Device for Ssd {
    #[inline(never)]
    fn serve(&mut self, op: Op, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> Outcome {
        if let Some(outcome) = self.serve_unit(op, offset_bytes, length_bytes, at_ns) {
            return outcome;
        }
        if op == Op::Flush {
            let done_ns = self.flush(at_ns);
            return Outcome { done_ns, result: 0 };
        }
        let length_bytes = match clip(op, offset_bytes, length_bytes, self.capacity_bytes) {
            Ok(length_bytes) => length_bytes,
            Err(result) => {
                return Outcome {
                    done_ns: at_ns + self.times.ack,
                    result,
                }
            }
        };
        let done_ns = match op {
            Op::Read => self.read(offset_bytes, length_bytes, at_ns),
            Op::Write => self.write(offset_bytes, length_bytes, at_ns),
            Op::Discard | Op::Flush => self.trim(offset_bytes, length_bytes, at_ns),
        };
        if self.heat.is_some() {
            self.warm(at_ns);
        }
        if let Some(flushing) = &mut self.flushing {
            flushing.answer(done_ns);
        }
        Outcome {
            done_ns,
            result: length_bytes.cast_signed(),
        }
    }

    fn is_far(&self) -> bool {
        self.ftl.is_far
    }

    #[inline]
    fn foresee(&self, offset_bytes: u64, length_bytes: u32) {
        let end_bytes = offset_bytes + u64::from(length_bytes);
        let first = (offset_bytes >> self.unit_shift) as u32;
        let last = (end_bytes.saturating_sub(1) >> self.unit_shift) as u32;
        self.ftl.foresee(first, last.max(first));
    }

    fn purge(&mut self, at_ns: u64) -> u64 {
        self.pad(at_ns);
        self.ftl.purge();
        if let Some(cache) = &mut self.map_cache {
            cache.clear();
        }
        let done_ns = at_ns.max(self.drained_ns) + self.params.purge_ns;
        self.settle(done_ns);
        done_ns
    }

    fn idle(&mut self, from_ns: u64, to_ns: u64) {
        self.pad(from_ns.max(self.admitted_ns));
        for die in 0..self.geometry.dies {
            self.work_while_idle(die, to_ns);
        }
    }

    /// Flash is left as it would be if what was lost had been programmed.
    fn power_cut(&mut self, at_ns: u64) -> u64 {
        let lost = self.volatile(at_ns);
        self.pad(at_ns);
        self.settle(at_ns);
        lost.iter().map(|(_, length_bytes)| length_bytes).sum()
    }

    fn volatile(&self, at_ns: u64) -> Vec<(u64, u64)> {
        let held = self.held.as_ref();
        held.map_or_else(Vec::new, |held| {
            held.stretches(|slot| self.is_held(slot, at_ns))
        })
    }

    fn content(&mut self, left_q16: u32) {
        self.set_content(left_q16);
    }

    fn counts(&self) -> Vec<(Cow<'static, str>, u64)> {
        let mut counts = Vec::new();
        if self.has_region {
            let unit_bytes = 1u64 << self.unit_shift;
            let page_bytes = unit_bytes * u64::from(self.params.page_units());
            counts.push(("slc_bytes".into(), self.ftl.region_units() * unit_bytes));
            counts.push((
                "slc_folded_bytes".into(),
                self.counters.folded_pages * page_bytes,
            ));
        }
        if let Some(heat) = &self.heat {
            counts.push(("throttled_ns".into(), heat.throttled_ns()));
        }
        if let Some(cache) = &self.map_cache {
            counts.push(("map_misses".into(), cache.misses));
        }
        if let Some(upkeep) = &self.upkeep {
            counts.push(("read_retries".into(), upkeep.retries));
            counts.push(("refreshed_pages".into(), upkeep.refreshed_pages));
        }
        if self.counters.unwritten_bytes > 0 {
            counts.push(("unwritten_read_bytes".into(), self.counters.unwritten_bytes));
        }
        counts
    }

    fn health(&self) -> Health {
        let unit_bytes = 1u64 << self.unit_shift;
        let page_bytes = unit_bytes * u64::from(self.params.page_units());
        let refreshed = self
            .upkeep
            .as_ref()
            .map_or(0, |upkeep| upkeep.refreshed_pages);
        let of_map = self.upkeep.as_ref().map_or(0, |upkeep| upkeep.map_pages)
            + self
                .map_cache
                .as_ref()
                .map_or(0, |cache| cache.written_back);
        Health {
            host_reads_bytes: self.counters.read_bytes,
            host_writes_bytes: self.counters.written_bytes,
            trims_bytes: self.counters.trimmed_bytes,
            nand_reads_bytes: (self.counters.page_reads + refreshed) * page_bytes,
            nand_writes_bytes: self.ftl.programs * unit_bytes + (refreshed + of_map) * page_bytes,
            erases: self.ftl.erases,
        }
    }

    fn facts(&self) -> Facts {
        let name = self.identity.name.to_uppercase();
        let value = |parameter: &Parameter<_>| {
            (
                parameter.name.into(),
                parameter.value(&self.params),
                parameter.unit,
            )
        };
        // What whole blocks of each die make of `op_percent`.
        let spare_percent = 100.0 * (self.geometry.alpha(self.params.frontier) - 1.0);
        let spare = (EFFECTIVE.into(), ratio_text(spare_percent), "%");
        Facts {
            model: format!("Simulated {name}"),
            serial: format!("SIM-{name}-{}", self.params.seed),
            firmware: format!("sim-{}", env!("CARGO_PKG_VERSION")),
            nominal_capacity_bytes: self.params.modelled_capacity_bytes(),
            capacity_bytes: self.capacity_bytes,
            logical_block_bytes: LOGICAL_BLOCK_BYTES,
            physical_block_bytes: self.params.mapping_bytes.max(LOGICAL_BLOCK_BYTES),
            label: self.identity.label,
            parameters: PARAMETERS.iter().map(value).chain([spare]).collect(),
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
        self.dies.visit(&mut mix);
        self.buffer.iter().for_each(|&release_ns| mix(release_ns));
        if let Some(heat) = &self.heat {
            heat.visit(&mut mix);
        }
        if let Some(cache) = &self.map_cache {
            cache.visit(&mut mix);
        }
        if let Some(upkeep) = &self.upkeep {
            upkeep.visit(&mut mix);
        }
        if let Some(ahead) = &self.read_ahead {
            ahead.visit(&mut mix);
        }
        if let Some(flushing) = &self.flushing {
            flushing.visit(&mut mix);
        }
        self.front.visit(&mut mix);
        let Counters {
            read_bytes,
            written_bytes,
            trimmed_bytes,
            page_reads,
            folded_pages,
            unwritten_bytes,
        } = self.counters;
        [
            unwritten_bytes,
            read_bytes,
            written_bytes,
            trimmed_bytes,
            page_reads,
            folded_pages,
        ]
        .into_iter()
        .chain([self.buffer_next as u64])
        .chain([self.admitted_ns, self.drained_ns, self.merged_ns])
        .chain([self.random.clone().next_u64()])
        .for_each(mix);
        state
    }
}
