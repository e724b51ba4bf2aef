//! Client drives of the articles with a compressing controller.

use super::preset::{base, Preset, GB, US};
use crate::device::Label;
use crate::flash::params::{CompressionParams, Placement, SsdParams};

const COMPRESSION: CompressionParams = CompressionParams {
    on: true,
    least_percent: 12.5,
};

pub(super) fn intel_330() -> Preset {
    Preset {
        name: "intel-330",
        about: "180 GB MLC client drive, SATA 6 Gb/s, compresses",
        label: Label::Calibrated {
            to: "a published server: 259 MB/s written and 301 read in sequence, one in flight \
                 (3 %), 8 threads of 4 KiB at random: 26,200 reads and 43,600 fresh writes a \
                 second (5 %), with data that does not compress (spare flash and steady state are \
                 not calibrated)",
        },
        params: SsdParams {
            nominal_capacity_bytes: 180 * GB,
            op_percent: 7.4,
            placement: Placement::Free,
            program_ns: 252 * US,
            read_command_ns: 30_500,
            write_command_ns: 14_700,
            ack_ns: 84 * US,
            link_mb_per_second: 500.0,
            turnaround_ns: 10 * US,
            bus_mb_per_second: 550.0,
            rmw_ns: 250 * US,
            compression: COMPRESSION,
            ..base()
        },
    }
}

pub(super) fn intel_530() -> Preset {
    Preset {
        name: "intel-530",
        about: "240 GB MLC client drive, SATA 6 Gb/s, compresses",
        label: Label::Calibrated {
            to:
                "one published drive: 303 MB/s of random data written in sequence as new and 241.5 \
                 when all of it has been written before, 21.9 MB/s of 4 KiB read alone (3 %); \
                 random rates and link of its data sheet (41,000 reads and up to 80,000 writes a \
                 second, 540 MB/s); spare flash is what is left of 256 GiB after its parity die, \
                 and what it does when it is full and worn is not calibrated",
        },
        params: SsdParams {
            nominal_capacity_bytes: 240 * GB,
            op_percent: 7.4,
            placement: Placement::Free,
            program_ns: 216 * US,
            read_ns: 123 * US,
            read_command_ns: 16_800,
            write_command_ns: 4_900,
            ack_ns: 40 * US,
            link_mb_per_second: 540.0,
            bus_mb_per_second: 550.0,
            rmw_ns: 250 * US,
            seq_ss_factor: 0.832,
            compression: COMPRESSION,
            ..base()
        },
    }
}

pub(super) fn sp900() -> Preset {
    Preset {
        name: "sp900",
        about: "64 GB MLC client drive, SATA 6 Gb/s, compresses; all its flash is capacity",
        label: Label::Plausible {
            why: "page times of a small drive of its kind (100 MB/s of data that does not \
                  compress), and 7 % of spare flash, for it has 64 GiB; its steady state, about \
                  10 MB/s of random writes, is the rate that a published cache on it fell to, \
                  which may have other causes",
        },
        params: SsdParams {
            nominal_capacity_bytes: 64 * GB,
            op_percent: 7.1,
            placement: Placement::Free,
            dies: 4,
            program_ns: 160 * US,
            read_ns: 60 * US,
            read_command_ns: 16_800,
            write_command_ns: 4_900,
            ack_ns: 40 * US,
            link_mb_per_second: 540.0,
            bus_mb_per_second: 250.0,
            rmw_ns: 160 * US,
            compression: COMPRESSION,
            ..base()
        },
    }
}

pub(super) fn vertex3() -> Preset {
    Preset {
        name: "vertex3",
        about: "120 GB MLC client drive, SATA 6 Gb/s, compresses",
        label: Label::Calibrated {
            to: "one published drive: 162.1 MB/s of random data written in sequence as new, and \
                 101.5 when it was worn and then trimmed (3 %); 128 GiB of flash as published, of \
                 which all that is more than its capacity is spare; pages and blocks are those of \
                 flash of its kind, reads those of intel-530, and random rates are not calibrated",
        },
        params: SsdParams {
            nominal_capacity_bytes: 120 * GB,
            op_percent: 14.5,
            placement: Placement::Free,
            pages_per_block: 512,
            program_ns: 418 * US,
            read_ns: 50 * US,
            // What is left of a single read of intel-530.
            transfer_ns: 73 * US,
            read_command_ns: 16_800,
            write_command_ns: 4_900,
            ack_ns: 40 * US,
            link_mb_per_second: 540.0,
            bus_mb_per_second: 550.0,
            rmw_ns: 250 * US,
            seq_ss_factor: 0.61,
            compression: COMPRESSION,
            ..base()
        },
    }
}
