//! Enterprise drives of the articles with multi-level cells.

use super::{base, Preset, GB, US};
use crate::device::Label;
use crate::params::{Pacing, SsdParams};

pub(super) fn s3700() -> Preset {
    Preset {
        name: "s3700",
        about: "200 GB HET-MLC enterprise drive, SATA 6 Gb/s",
        label: Label::Calibrated {
            to: "data sheet of the 200 GB drive, 4 KiB random: 75,000 IOPS of reads, 32,000 of \
                 writes in steady state (over-provisioning and page times are fitted)",
        },
        params: SsdParams {
            nominal_capacity_bytes: 200 * GB,
            op_percent: 26.2,
            pacing: Pacing::Paced,
            dies: 32,
            pages_per_block: 512,
            program_ns: 359 * US,
            read_ns: 25 * US,
            read_command_ns: 5_890,
            write_command_ns: 3 * US,
            unit_ns: 15 * US,
            ack_ns: 23 * US,
            read_wait_ns: 100 * US,
            rmw_ns: 25 * US,
            ..base()
        },
    }
}
