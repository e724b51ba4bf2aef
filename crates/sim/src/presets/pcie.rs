//! Drives of the articles that are not on a SATA link.

use super::preset::{base, Preset, GB, US};
use crate::device::Label;
use crate::flash::params::{Duplex, Pacing, SsdParams};

/// What one card of 160 GB of single-level cells is.
fn iodrive_params() -> SsdParams {
    SsdParams {
        nominal_capacity_bytes: 160 * GB,
        op_percent: 25.0,
        pacing: Pacing::Paced,
        dies: 24,
        program_ns: 167 * US,
        read_ns: 48 * US,
        erase_ns: 2_000 * US,
        read_command_ns: 6_500,
        write_command_ns: 2 * US,
        ack_ns: 10 * US,
        link_mb_per_second: 1_400.0,
        turnaround_ns: 20 * US,
        bus_mb_per_second: 1_400.0,
        read_wait_ns: 165 * US,
        rmw_ns: 25 * US,
        ..base()
    }
}

pub(super) fn iodrive() -> Preset {
    Preset {
        name: "iodrive",
        about: "160 GB card on PCI Express",
        label: Label::Calibrated {
            to: "a review's data sheet: more than 100,000 reads of 4 KiB a second; a published \
                 server: 578 MB/s written in sequence, one in flight (3 %), 594 MB/s of fresh \
                 writes of 4 KiB by 8 threads (5 %), and with the 23 µs that its path adds to a \
                 read (read_command_us=29.5, read_us=25) 825 MB/s read in sequence (3 %) and \
                 31,000 reads a second by 8 threads (5 %; capacity, spare flash and steady state \
                 are not calibrated)",
        },
        params: iodrive_params(),
    }
}

/// Two such cards that the host stripes, as one drive of 300 GiB.
pub(super) fn iodrive_duo() -> Preset {
    let card = iodrive_params();
    Preset {
        name: "iodrive-duo",
        about: "two cards of 160 GB on PCI Express, striped by their host",
        label: Label::Calibrated {
            to:
                "one published pair: 354 MiB/s of random writes that use 200 of 300 GiB (3 %; what \
                 moving a page costs is fitted to it, with 12 % of spare flash, which is not \
                 published and hardly matters); all else is twice the published card",
        },
        params: SsdParams {
            nominal_capacity_bytes: 300 << 30,
            op_percent: 12.0,
            dies: 2 * card.dies,
            // A moved page takes four times as long as a written one; why is not known.
            move_ns: 500 * US,
            read_command_ns: card.read_command_ns / 2,
            write_command_ns: card.write_command_ns / 2,
            turnaround_ns: card.turnaround_ns / 2,
            link_mb_per_second: 2.0 * card.link_mb_per_second,
            bus_mb_per_second: 2.0 * card.bus_mb_per_second,
            ..card
        },
    }
}

pub(super) fn p3700() -> Preset {
    Preset {
        name: "p3700",
        about: "2 TB HET-MLC enterprise drive, NVMe, four lanes",
        label: Label::Calibrated {
            to: "data sheet: 450,000 IOPS of 4 KiB random reads (3 %), 265,000 at 70/30 (5 %), \
                 2,000 MB/s written in sequence (3 %), 20 µs of 4 KiB in sequence, read and \
                 written (3 %); measured: 8,900 reads a second, one in flight (3 %), about 1,000 \
                 MB/s of 128 KiB in sequence, one in flight (3 %); flash pages, their channels, \
                 spare flash and dies are those of its kind",
        },
        params: SsdParams {
            nominal_capacity_bytes: 2_000 * GB,
            scale: 120.0,
            op_percent: 28.5,
            pacing: Pacing::Paced,
            dies: 128,
            // A page of its flash holds four units.
            page_bytes: Some(16 << 10),
            program_ns: 1_048 * US,
            // 2,160 bytes at the 333 MB/s of its maker's flash of 20 nm; what is left of a single
            // read is the page.
            read_ns: 79_400,
            transfer_ns: 6_500,
            codeword_bytes: Some(2048),
            erase_ns: 4_000 * US,
            read_command_ns: 2_170,
            write_command_ns: 100,
            // 20 µs of a read in sequence are too short for flash: what it asks for was read ahead.
            read_ahead_bytes: 256 << 10,
            unit_ns: 2_100,
            ack_ns: 16_300,
            write_ack_ns: 2_100,
            buffer_bytes: 16 << 20,
            link_mb_per_second: 2_800.0,
            link_duplex: Duplex::Full,
            turnaround_ns: 5_300,
            bus_mb_per_second: 3_200.0,
            read_wait_ns: 170 * US,
            rmw_ns: 2 * US,
            rmw_queue: 256,
            power_loss_protection: true,
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
