//! Enterprise drives of the articles with multi-level cells: one family of four sizes, and its
//! cheaper sister.

use super::preset::{base, Preset, GB, US};
use crate::device::Label;
use crate::flash::params::{Pacing, SsdParams, UpkeepParams};

/// The 200 GB drive, whose controller the whole family has.
fn s3700_params() -> SsdParams {
    SsdParams {
        nominal_capacity_bytes: 200 * GB,
        op_percent: 28.2,
        pacing: Pacing::Paced,
        dies: 32,
        pages_per_block: 512,
        program_ns: 359 * US,
        // Page and channel of 25 nm flash, by a data sheet of its maker's partner: 50 µs, and 2,160
        // bytes at 200 MB/s.
        read_ns: 50 * US,
        transfer_ns: 10_800,
        codeword_bytes: Some(2048),
        read_command_ns: 5_140,
        write_command_ns: 2 * US,
        unit_ns: 5_800,
        read_unit_ns: 37_200,
        read_ahead_bytes: 256 << 10,
        ack_ns: 36_700,
        write_ack_ns: 18_100,
        link_mb_per_second: 500.0,
        read_wait_ns: 120 * US,
        rmw_ns: 77 * US,
        // Its capacitors let it acknowledge first and merge later.
        rmw_queue: 32,
        power_loss_protection: true,
        ..base()
    }
}

pub(super) fn s3700() -> Preset {
    Preset {
        name: "s3700",
        about: "200 GB HET-MLC enterprise drive, SATA 6 Gb/s",
        label: Label::Calibrated {
            to: "data sheet: 75,000 IOPS of 4 KiB random reads (2 %), 32,000 of writes in steady \
                 state (3 %), 500 and 365 MB/s sequential (3 %), 50 and 65 µs of 4 KiB in \
                 sequence (1 %); measured: about 270 MB/s of 128 KiB in sequence, one in flight \
                 (5 %); published block sizes at 80/20, \
                 1 to 10 in flight: 4 KiB 1.38 to 1.81 times the IOPS of 8 KiB; 1 and 2 KiB 1.06 \
                 to 1.14 times those of 4 KiB, fewer at 10 in flight; page and channel times are \
                 those of flash of its kind",
        },
        params: s3700_params(),
    }
}

pub(super) fn s3700_100() -> Preset {
    Preset {
        name: "s3700-100",
        about: "100 GB HET-MLC enterprise drive, SATA 6 Gb/s",
        label: Label::Calibrated {
            to: "data sheet: 75,000 IOPS of 4 KiB random reads (2 %), 19,000 of writes in steady \
                 state (3 %), 500 and 200 MB/s sequential (3 %)",
        },
        params: SsdParams {
            nominal_capacity_bytes: 100 * GB,
            op_percent: 31.6,
            dies: 16,
            program_ns: 328 * US,
            ..s3700_params()
        },
    }
}

/// The two large drives: the controller keeps 40 dies busy, whatever more there are.
fn s3700_large(nominal_capacity_bytes: u64) -> SsdParams {
    SsdParams {
        nominal_capacity_bytes,
        op_percent: 24.0,
        dies: 40,
        write_command_ns: 11_060,
        write_ack_ns: 9_000,
        upkeep: UpkeepParams {
            stray_percent: 0.002,
            stray_ns: 3_450 * US,
            ..UpkeepParams::default()
        },
        program_ns: 356 * US,
        ..s3700_params()
    }
}

const LARGE: Label = Label::Calibrated {
    to: "data sheet: 75,000 IOPS of 4 KiB random reads (2 %), 36,000 of writes in steady state \
         (3 %), 500 and 460 MB/s sequential (3 %); of one of 800 GB: 51,955 writes of 4 KiB a \
         second over its first 600 s (3 %), and in steady state 99.99 % within 8.64 ms (20 %), 64 \
         in flight; dies are those the controller keeps busy, not \
         those it has",
};

pub(super) fn s3700_400() -> Preset {
    Preset {
        name: "s3700-400",
        about: "400 GB HET-MLC enterprise drive, SATA 6 Gb/s",
        label: LARGE,
        params: s3700_large(400 * GB),
    }
}

pub(super) fn s3700_800() -> Preset {
    Preset {
        name: "s3700-800",
        about: "800 GB HET-MLC enterprise drive, SATA 6 Gb/s",
        label: LARGE,
        params: s3700_large(800 * GB),
    }
}

pub(super) fn s3500() -> Preset {
    Preset {
        name: "s3500",
        about: "240 GB MLC enterprise drive for reading, SATA 6 Gb/s",
        label: Label::Calibrated {
            to: "data sheet: 75,000 IOPS of 4 KiB random reads (2 %), 7,500 of writes in steady \
                 state (4 %), 500 and 260 MB/s sequential (3 %)",
        },
        params: SsdParams {
            nominal_capacity_bytes: 240 * GB,
            op_percent: 8.2,
            dies: 16,
            program_ns: 252 * US,
            ..s3700_params()
        },
    }
}
