//! What a named drive is, and what all of them have in common.

use crate::device::Label;
use crate::flash::params::{
    Cleaning, CompressionParams, Duplex, Frontier, HeatParams, IdleStep, MapParams, Pacing,
    PageTimes, Placement, RegionParams, SsdParams, UpkeepParams,
};

/// A named drive.
#[derive(Clone, Debug)]
pub struct Preset {
    pub name: &'static str,
    pub about: &'static str,
    pub label: Label,
    pub params: SsdParams,
}

pub(super) const GB: u64 = 1_000_000_000;
pub(super) const US: u64 = 1_000;

/// What the presets have in common; where one differs, its file says so.
pub fn base() -> SsdParams {
    SsdParams {
        nominal_capacity_bytes: 256 * GB,
        scale: 30.0,
        capacity_bytes: None,
        op_percent: 7.37,
        cleaning: Cleaning::Greedy,
        frontier: Frontier::Shared,
        pacing: Pacing::Lump,
        placement: Placement::Turn,
        dies: 16,
        pages_per_block: 256,
        mapping_bytes: 4096,
        page_bytes: None,
        codeword_bytes: None,
        buffer_bytes: 4 << 20,
        program_ns: 490 * US,
        read_ns: 50 * US,
        transfer_ns: 0,
        erase_ns: 3_000 * US,
        move_ns: 0,
        read_command_ns: 20 * US,
        write_command_ns: 2 * US,
        unit_ns: 0,
        read_unit_ns: 0,
        read_ahead_bytes: 0,
        ack_ns: 10 * US,
        write_ack_ns: 0,
        link_mb_per_second: 550.0,
        link_duplex: Duplex::Half,
        turnaround_ns: 0,
        bus_mb_per_second: 1_000.0,
        read_wait_ns: 500 * US,
        rmw_ns: 50 * US,
        rmw_queue: 0,
        seq_ss_factor: 1.0,
        idle_pool_percent: 0.0,
        idle_wait_ns: 10_000 * US,
        idle_step: IdleStep::Block,
        erase_suspend_ns: 500 * US,
        region: RegionParams::default(),
        compression: CompressionParams::default(),
        heat: HeatParams::default(),
        map: MapParams::default(),
        upkeep: UpkeepParams::default(),
        power_loss_protection: false,
        flush_ns: 0,
        flush_alone: false,
        slow_die: None,
        purge_ns: 1_000_000 * US,
        page_times: PageTimes::Even,
        jitter_percent: 3.0,
        seed: 1,
    }
}
