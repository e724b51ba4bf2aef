//! Drives of the articles that are not on a SATA link.

use super::preset::{base, Preset, GB, US};
use crate::device::Label;
use crate::flash::params::{Pacing, SsdParams};

pub(super) fn iodrive() -> Preset {
    Preset {
        name: "iodrive",
        about: "160 GB card on PCI Express",
        label: Label::Calibrated {
            to: "a published server: 578 MB/s written and 825 read in sequence, one in flight \
                 (3 %), 8 threads of 4 KiB at random: 31,000 reads a second (5 %) and 594 MB/s of \
                 fresh writes (5 %; capacity, spare flash and steady state are not calibrated)",
        },
        params: SsdParams {
            nominal_capacity_bytes: 160 * GB,
            op_percent: 25.0,
            pacing: Pacing::Paced,
            dies: 24,
            program_ns: 167 * US,
            read_ns: 25 * US,
            erase_ns: 2_000 * US,
            read_command_ns: 29_500,
            write_command_ns: 2 * US,
            ack_ns: 10 * US,
            link_mb_per_second: 1_400.0,
            turnaround_ns: 20 * US,
            bus_mb_per_second: 1_400.0,
            read_wait_ns: 165 * US,
            rmw_ns: 25 * US,
            ..base()
        },
    }
}

pub(super) fn nvme_2tb() -> Preset {
    Preset {
        name: "nvme-2tb",
        about: "2 TB NVMe drive, four lanes",
        label: Label::Plausible {
            why: "3,000 MB/s and 450,000 random reads a second (3 %), as an article's table of \
                  kinds of devices has them (ten times too many there, surely a slip); no single \
                  drive was measured; page times, dies and spare flash are those of its kind",
        },
        params: SsdParams {
            nominal_capacity_bytes: 2_000 * GB,
            // At 1/30 its map alone would take 150 MB.
            scale: 120.0,
            op_percent: 20.0,
            pacing: Pacing::Paced,
            dies: 128,
            program_ns: 160 * US,
            read_ns: 60 * US,
            erase_ns: 4_000 * US,
            read_command_ns: 850,
            write_command_ns: 100,
            ack_ns: 15 * US,
            buffer_bytes: 16 << 20,
            link_mb_per_second: 3_000.0,
            bus_mb_per_second: 3_200.0,
            read_wait_ns: 170 * US,
            rmw_ns: 2 * US,
            rmw_queue: 256,
            ..base()
        },
    }
}
