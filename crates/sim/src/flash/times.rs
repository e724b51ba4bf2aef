//! What everything takes: the service times as they are now. They follow from the parameters, from
//! how well the data compresses, and from whether the drive is held back because it is too hot.

use crate::flash::params::{SlowDie, SsdParams};

/// Service times, ns unless the name says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Times {
    /// A page of the main area, written by the host.
    pub(super) host_program: u64,
    /// A page of the main area, moved there.
    pub(super) program: u64,
    pub(super) region_program: u64,
    pub(super) fold: u64,
    pub(super) read: u64,
    /// A codeword, from its page to the controller.
    pub(super) transfer: u64,
    /// All codewords of a whole unit.
    pub(super) unit_transfer: u64,
    pub(super) erase: u64,
    /// A page that cleaning programs, besides reading and programming it.
    pub(super) moved: u64,
    pub(super) flush: u64,
    pub(super) read_command: u64,
    pub(super) write_command: u64,
    pub(super) turnaround: u64,
    pub(super) unit: u64,
    pub(super) read_unit: u64,
    pub(super) ack: u64,
    pub(super) write_ack: u64,
    pub(super) rmw: u64,
    /// How far behind its acknowledgement a merge may be.
    pub(super) merge_lag: u64,
    /// Link time per byte in 2^-24 ns.
    pub(super) link_q24: u64,
    /// One whole unit on the flash channels.
    pub(super) bus_unit: u64,
    /// Extra program time per page of a block that was erased without moving a page.
    pub(super) seq_extra: u64,
}

impl Times {
    /// `times`: how many times as long as at full speed; `left_q15`: what compression leaves of
    /// a unit that the host writes.
    pub(super) fn new(params: &SsdParams, times: f64, left_q15: u32) -> Self {
        let scaled = |ns: f64| (ns * times).round() as u64;
        let of = |ns: u64| scaled(ns as f64);
        let program = of(params.program_ns);
        let seq_extra = params.program_ns as f64 * (1.0 / params.seq_ss_factor - 1.0);
        let (transfer, codewords) = (
            of(params.transfer_ns),
            params.codewords(0, params.mapping_bytes),
        );
        let bus_unit = f64::from(params.mapping_bytes) * 1e3 / params.bus_mb_per_second;
        Self {
            host_program: (program * u64::from(left_q15)) >> 15,
            program,
            region_program: of(params.region.program_ns),
            fold: of(params.region.fold_ns),
            read: of(params.read_ns),
            transfer,
            unit_transfer: transfer * u64::from(codewords),
            erase: of(params.erase_ns),
            moved: of(params.move_ns),
            flush: of(params.flush_ns),
            read_command: of(params.read_command_ns),
            write_command: of(params.write_command_ns),
            turnaround: of(params.turnaround_ns),
            unit: of(params.unit_ns),
            read_unit: of(params.read_unit_ns),
            ack: of(params.ack_ns),
            write_ack: of(params.ack_ns + params.write_ack_ns),
            rmw: of(params.rmw_ns),
            merge_lag: u64::from(params.rmw_queue) * of(params.rmw_ns),
            link_q24: scaled((1u64 << 24) as f64 * 1e3 / params.link_mb_per_second),
            bus_unit: scaled(bus_unit),
            seq_extra: scaled(seq_extra),
        }
    }
}

/// A die that is slower than the others; `die` is none of them where there is no such fault.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slow {
    pub(super) die: u32,
    times_q16: u64,
}

impl Slow {
    /// `draw` is a random number, for a die that is drawn.
    pub(super) fn new(slow: Option<SlowDie>, dies: u32, draw: impl FnOnce() -> u64) -> Self {
        let Some(SlowDie { die, times }) = slow else {
            return Self {
                die: u32::MAX,
                times_q16: 1 << 16,
            };
        };
        Self {
            die: die.unwrap_or_else(|| (draw() % u64::from(dies)) as u32),
            times_q16: (times * 65_536.0).round() as u64,
        }
    }

    /// `time_ns` of `die`.
    #[inline]
    pub(super) fn of(self, die: u32, time_ns: u64) -> u64 {
        if die == self.die {
            return ((u128::from(time_ns) * u128::from(self.times_q16)) >> 16) as u64;
        }
        time_ns
    }
}
