//! What a drive does that nobody asked for, against the formula of each: strays, housekeeping,
//! readings, the map that is written, pages that are refreshed. Off is today's drive.

use crate::common::{assert_within, closed_loop, device, fill_device, random_writes, Random};
use teijo_engine::request::Op;
use teijo_sim::device::Device;

const DRIVE: &str = "slc-a?capacity=256MiB&jitter_percent=0&turnaround_us=0";
const SECOND: u64 = 1_000_000_000;

/// Latencies in ns of `count` 4 KiB reads at random of a full drive, one in flight, and how long
/// they took together.
fn reads(more: &str, count: u64) -> (Vec<u64>, u64) {
    let mut drive = device(&format!("{DRIVE}&{more}"));
    let units = drive.capacity_bytes() / 4096;
    let start_ns = fill_device(&mut drive, 0) + SECOND;
    let mut random = Random(1);
    let mut at_ns = start_ns;
    let took = (0..count).map(|_| {
        let done_ns = drive
            .serve(Op::Read, random.below(units) * 4096, 4096, at_ns)
            .done_ns;
        let ns = done_ns - at_ns;
        at_ns = done_ns;
        ns
    });
    let took = took.collect();
    (took, at_ns - start_ns)
}

fn share_above(took: &[u64], ns: u64) -> f64 {
    took.iter().filter(|each| **each > ns).count() as f64 / took.len() as f64
}

/// A share of so many draws is what its chance is, to four of its standard deviations.
fn assert_likely(what: &str, found: f64, chance: f64, draws: usize) {
    let deviation = (chance * (1.0 - chance) / draws as f64).sqrt();
    assert_within(what, found, chance, 400.0 * deviation / chance);
}

#[test]
fn strays_are_longer_by_a_time_that_is_distributed_exponentially() {
    let usual_ns = reads("", 1).0[0];
    let (took, _) = reads("stray_percent=2&stray_us=400", 2_000_000);
    for x_us in [0, 200, 800, 2000] {
        let found = share_above(&took, usual_ns + x_us * 1000);
        let wanted = 0.02 * (-(x_us as f64) / 400.0).exp();
        assert_likely(&format!("above {x_us} µs"), found, wanted, took.len());
    }
    let mean_ns = took.iter().sum::<u64>() as f64 / took.len() as f64;
    assert_within("mean, ns", mean_ns, usual_ns as f64 + 0.02 * 400e3, 1.0);
}

#[test]
fn housekeeping_holds_up_one_of_the_reads_in_each_period() {
    let usual_ns = reads("", 1).0[0];
    let (took, all_ns) = reads("housekeeping_every_us=20000&housekeeping_us=3000", 100_000);
    let longer = share_above(&took, usual_ns) * took.len() as f64;
    assert_within("held up, of each period", longer, all_ns as f64 / 20e6, 1.0);
    let longest_ns = *took.iter().max().expect("reads");
    assert!(longest_ns <= usual_ns + 3_000_000, "{longest_ns}");
    assert!(longest_ns > 3_000_000, "{longest_ns}");
    // A read under way when it begins goes on; the next one waits for what is left of it.
    let rate = took.len() as f64 * 1e9 / all_ns as f64;
    let of_rest = 1e9 / usual_ns as f64 * (20.0 - 3.0) / 20.0;
    assert_within("IOPS", rate, of_rest, 1.0);
}

#[test]
fn readings_of_a_page_are_as_many_as_a_geometric_distribution_has() {
    let usual_ns = reads("", 1).0[0];
    let (took, _) = reads("retry_percent=20", 200_000);
    for again in 0..5_u64 {
        let found = share_above(&took, usual_ns + again * 30_000);
        let wanted = 0.2_f64.powi(again as i32 + 1);
        assert_likely(&format!("{again} more"), found, wanted, took.len());
    }
}

#[test]
fn each_so_many_units_one_page_of_the_map_is_written() {
    let written = |more: &str| {
        let mut drive = device(&format!("{DRIVE}{more}"));
        let units = drive.capacity_bytes() / 4096;
        let full_ns = fill_device(&mut drive, 0);
        let lap = random_writes(&mut drive, full_ns, 32, 4 * units, 4096, &mut Random(1));
        (drive.health().nand_writes_bytes as f64, lap.iops())
    };
    let (without, with) = (written(""), written("&map_flush=10"));
    // Not exact: pages go to the die that is free first, which is another one.
    assert_within("bytes", with.0, without.0 * 1.1, 0.5);
    // Programming is most of what the dies do: 19 of 20 parts.
    assert!(
        with.1 < 0.93 * without.1 && with.1 > 0.88 * without.1,
        "{with:?} {without:?}"
    );
}

#[test]
fn a_die_rewrites_a_page_each_so_often_whether_the_host_comes_or_not() {
    let mut drive = device(&format!("{DRIVE}&refresh_us=5000"));
    let units = drive.capacity_bytes() / 4096;
    let start_ns = fill_device(&mut drive, 0);
    let before = drive.health();
    let mut random = Random(1);
    // A read a second, then many.
    let mut at_ns = start_ns;
    for gap_ns in std::iter::repeat_n(SECOND, 200).chain(std::iter::repeat_n(100_000, 200_000)) {
        at_ns += gap_ns;
        drive.serve(Op::Read, random.below(units) * 4096, 4096, at_ns);
    }
    let health = drive.health().since(&before);
    let seconds = (at_ns - start_ns) as f64 / 1e9;
    let pages = health.nand_writes_bytes as f64 / 4096.0;
    assert_within("pages", pages, seconds * 200.0 * 16.0, 1.0);
    // A read waits for what a page takes at most: 30 µs read and 285 programmed, suspended by then.
    let (took, _) = reads("refresh_us=5000&read_wait_us=1000000", 100_000);
    let usual_ns = reads("", 1).0[0];
    assert!(*took.iter().max().expect("reads") <= usual_ns + 315_000);
    let busy = share_above(&took, usual_ns);
    assert!(
        (0.05..0.08).contains(&busy),
        "{busy}: a die is at it for 315 of 5,000 µs"
    );
}

#[test]
fn what_is_due_in_more_than_a_life_never_comes() {
    let mut drive = device(&format!(
        "{DRIVE}&map_flush={}&refresh_us=900000000000&housekeeping_every_us=900000000000",
        u64::MAX
    ));
    let full_ns = fill_device(&mut drive, 0);
    let purged_ns = drive.purge(full_ns);
    fill_device(&mut drive, purged_ns);
    let health = drive.health();
    assert_eq!(health.nand_writes_bytes, health.host_writes_bytes);
}

#[test]
fn what_is_off_draws_nothing() {
    let state = |more: &str| {
        let mut drive = device(&format!("{DRIVE}{more}"));
        let units = drive.capacity_bytes() / 4096;
        let full_ns = fill_device(&mut drive, 0);
        let mut random = Random(2);
        closed_loop(&mut drive, full_ns, 8, 20_000, || {
            let op = if random.chance(0.3) {
                Op::Read
            } else {
                Op::Write
            };
            (op, random.below(units) * 4096, 4096)
        });
        drive.digest()
    };
    let off = "&stray_us=500&housekeeping_us=100&host_memory=1MiB&host_memory_us=5";
    assert_eq!(state(""), state(off));
    assert_ne!(state(""), state("&stray_percent=1&stray_us=500"));
}
