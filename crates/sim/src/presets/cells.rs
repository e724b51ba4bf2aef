//! Drives with three and four bits a cell: most write a region at one bit first.

use super::preset::{base, Preset, GB, US};
use crate::device::Label;
use crate::flash::params::{
    HeatParams, MapParams, Pacing, Placement, RegionParams, SsdParams, UpkeepParams, WhenFull,
};

pub(super) fn pm863a() -> Preset {
    Preset {
        name: "pm863a",
        about: "960 GB TLC enterprise drive, SATA 6 Gb/s, with capacitors",
        label: Label::Calibrated {
            to:
                "one published list of drives: 17,983 flushed 4 KiB writes a second, one job (3 %; \
                 page times and spare flash are those of its kind, other rates not calibrated)",
        },
        params: SsdParams {
            nominal_capacity_bytes: 960 * GB,
            op_percent: 13.0,
            pacing: Pacing::Paced,
            dies: 32,
            program_ns: 207 * US,
            read_ns: 60 * US,
            read_command_ns: 2_600,
            ack_ns: 18 * US,
            link_mb_per_second: 530.0,
            read_wait_ns: 200 * US,
            rmw_queue: 32,
            power_loss_protection: true,
            flush_ns: 9_900,
            flush_alone: true,
            ..base()
        },
    }
}

pub(super) fn su800() -> Preset {
    Preset {
        name: "su800",
        about: "512 GB TLC client drive, SATA 6 Gb/s, that writes at one bit a cell first",
        label: Label::Calibrated {
            to:
                "one published copy: 90 GB at full speed, then 50 MB/s (5 %; what the region gains \
                 and loses with what is stored, and reads, are not calibrated)",
        },
        params: SsdParams {
            nominal_capacity_bytes: 512 * GB,
            op_percent: 7.0,
            pacing: Pacing::Paced,
            placement: Placement::Free,
            program_ns: 1_124 * US,
            read_ns: 75 * US,
            link_mb_per_second: 530.0,
            region: RegionParams {
                nominal_bytes: 90 * GB,
                program_ns: 100 * US,
                when_full: WhenFull::Fold,
                ..RegionParams::default()
            },
            ..base()
        },
    }
}

pub(super) fn tlc_hmb() -> Preset {
    Preset {
        name: "tlc-hmb",
        about: "1 TB TLC client drive, NVMe, without memory of its own; throttles",
        label: Label::Plausible {
            why: "a drive of its kind: 64 MiB of the host's memory hold the map of 64 GiB, 24 GB \
                  are written at one bit a cell, and at 80 degrees it runs at half its speed; no \
                  single drive was measured",
        },
        params: SsdParams {
            nominal_capacity_bytes: 1_000 * GB,
            scale: 60.0,
            op_percent: 7.0,
            pacing: Pacing::Paced,
            placement: Placement::Free,
            dies: 32,
            program_ns: 700 * US,
            read_ns: 60 * US,
            read_command_ns: 1_500,
            write_command_ns: 500,
            ack_ns: 15 * US,
            link_mb_per_second: 3_200.0,
            bus_mb_per_second: 3_200.0,
            turnaround_ns: US,
            rmw_ns: 20 * US,
            region: RegionParams {
                nominal_bytes: 24 * GB,
                program_ns: 45 * US,
                when_full: WhenFull::Bypass,
                ..RegionParams::default()
            },
            map: MapParams {
                own_bytes: 1 << 20,
                host_bytes: 64 << 20,
                host_ns: 2 * US,
            },
            heat: HeatParams {
                throttle_percent: 50.0,
                throttle_at_c: 80.0,
                throttle_until_c: 75.0,
                ambient_c: 35.0,
                idle_w: 0.5,
                program_nj_per_byte: 2.5,
                read_nj_per_byte: 1.2,
                capacity_j_per_k: 15.0,
                resistance_k_per_w: 12.0,
            },
            upkeep: UpkeepParams {
                map_flush_units: 512,
                retry_percent: 0.1,
                ..UpkeepParams::default()
            },
            ..base()
        },
    }
}

pub(super) fn qlc() -> Preset {
    Preset {
        name: "qlc",
        about: "1 TB QLC client drive, NVMe, that writes at one bit a cell first",
        label: Label::Plausible {
            why: "a drive of its kind: 12 GB, and an eighth of what is free, are written at one \
                  bit a cell, and what is full is folded at about 100 MB/s; its pages are read \
                  again now and then and refreshed; no single drive was measured",
        },
        params: SsdParams {
            nominal_capacity_bytes: 1_000 * GB,
            scale: 60.0,
            op_percent: 7.0,
            pacing: Pacing::Paced,
            placement: Placement::Free,
            dies: 32,
            program_ns: 950 * US,
            read_ns: 90 * US,
            erase_ns: 8_000 * US,
            read_command_ns: 3 * US,
            write_command_ns: US,
            ack_ns: 15 * US,
            link_mb_per_second: 1_800.0,
            bus_mb_per_second: 1_800.0,
            turnaround_ns: 3 * US,
            rmw_ns: 20 * US,
            region: RegionParams {
                nominal_bytes: 12 * GB,
                of_free_percent: 12.5,
                program_ns: 70 * US,
                when_full: WhenFull::Fold,
                ..RegionParams::default()
            },
            upkeep: UpkeepParams {
                map_flush_units: 512,
                retry_percent: 1.0,
                refresh_ns: 100_000 * US,
                ..UpkeepParams::default()
            },
            ..base()
        },
    }
}
