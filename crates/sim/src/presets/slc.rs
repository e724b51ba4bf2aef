//! Enterprise drives of the articles with single-level cells.

use super::preset::{base, Preset, GB, US};
use crate::device::Label;
use crate::flash::params::{Pacing, Placement, SsdParams};

pub(super) fn slc_a() -> Preset {
    Preset {
        name: "slc-a",
        about: "100 GB SLC enterprise drive, SATA",
        label: Label::Calibrated {
            to: "WSAT of one published drive, 4 KiB random writes: 56,000 IOPS fresh and about \
                 19,000 in steady state (the length of the plateau is not calibrated)",
        },
        params: SsdParams {
            nominal_capacity_bytes: 100 * GB,
            op_percent: 24.5,
            placement: Placement::Free,
            program_ns: 285 * US,
            read_ns: 30 * US,
            erase_ns: 1_000 * US,
            read_command_ns: 30 * US,
            write_command_ns: 1_330,
            ack_ns: 20 * US,
            link_mb_per_second: 534.0,
            turnaround_ns: 45 * US,
            read_wait_ns: 285 * US,
            rmw_ns: 30 * US,
            seq_ss_factor: 0.637,
            ..base()
        },
    }
}

pub(super) fn slc_b() -> Preset {
    Preset {
        name: "slc-b",
        about: "400 GB SLC enterprise drive, SATA",
        label: Label::Calibrated {
            to: "sequential 128 KiB writes of one published drive: 346 MB/s fresh and 248 in the \
                 window where they are steady (3 %; capacity, random writes and reads are not \
                 calibrated)",
        },
        params: SsdParams {
            nominal_capacity_bytes: 400 * GB,
            op_percent: 26.0,
            pacing: Pacing::Paced,
            dies: 24,
            program_ns: 283_800,
            read_ns: 30 * US,
            erase_ns: 1_000 * US,
            ack_ns: 20 * US,
            turnaround_ns: 30 * US,
            read_wait_ns: 285 * US,
            rmw_ns: 30 * US,
            seq_ss_factor: 0.723,
            ..base()
        },
    }
}
