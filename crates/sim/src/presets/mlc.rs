//! Client drives of the articles with multi-level cells: one recovers, one does not.

use super::preset::{base, Preset, US};
use crate::device::Label;
use crate::flash::params::{Cleaning, Frontier, IdleStep, Pacing, Placement, SsdParams};

pub(super) fn mlc_a() -> Preset {
    Preset {
        name: "mlc-a",
        about: "256 GB MLC client drive, SATA 6 Gb/s; recovers its sequential rate",
        label: Label::Calibrated {
            to: "the published IOPS matrix of one drive, 8 sizes by 7 mixes, random in 16 GiB: \
                 median difference 6 to 10 %, mean 10 to 13 % over thirteen seeds (sequential \
                 and fresh writes are not calibrated)",
        },
        params: SsdParams {
            cleaning: Cleaning::Sampled { choices: 7 },
            frontier: Frontier::Separate,
            pacing: Pacing::Paced,
            program_ns: 1_150 * US,
            // In the fitted page time. On its own it would make the first capacity after a purge,
            // which needs no erases, 1 % faster than later ones: a mean XSR never sees again.
            erase_ns: 0,
            read_command_ns: 19 * US,
            bus_mb_per_second: 282.0,
            turnaround_ns: 500 * US,
            read_wait_ns: 2_500 * US,
            rmw_ns: 890 * US,
            idle_pool_percent: 0.4,
            idle_wait_ns: 10_000 * US,
            idle_step: IdleStep::Page,
            ..base()
        },
    }
}

pub(super) fn mlc_b() -> Preset {
    Preset {
        name: "mlc-b",
        about: "256 GB MLC client drive, SATA 6 Gb/s; never recovers its sequential rate",
        label: Label::Plausible {
            why: "program time chosen so that 4 KiB random writes in 16 GiB of a full drive come \
                  near the 1,660 IOPS of one published window, which may be another drive's; its \
                  curves were never published as numbers",
        },
        params: SsdParams {
            op_percent: 5.0,
            cleaning: Cleaning::Sampled { choices: 2 },
            placement: Placement::Free,
            program_ns: 400 * US,
            read_ns: 60 * US,
            read_command_ns: 19 * US,
            bus_mb_per_second: 282.0,
            read_wait_ns: 5_000 * US,
            rmw_ns: 890 * US,
            ..base()
        },
    }
}
