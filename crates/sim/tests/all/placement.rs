//! Which die a write goes to: in turn, or the one that is free first.

use crate::common::{assert_within, device, fill_device, random_writes, Random};
use teijo_sim::device::Device;

/// Steady IOPS of 4 KiB writes at random, 32 in flight.
fn steady_iops(text: &str) -> f64 {
    let mut drive = device(text);
    let units = drive.capacity_bytes() / 4096;
    let filled_ns = fill_device(&mut drive, 0);
    let mut random = Random(1);
    let warm = random_writes(&mut drive, filled_ns, 32, 4 * units, 4096, &mut random);
    random_writes(&mut drive, warm.ended_ns, 32, units, 4096, &mut random).iops()
}

#[test]
fn no_write_waits_for_a_die_that_cleans_while_another_is_free() {
    for (dies, buffer) in [(16, "4MiB"), (16, "512KiB"), (64, "512KiB")] {
        let drive = format!(
            "slc-a?placement=free&capacity=2GiB&pages_per_block=64&dies={dies}&buffer={buffer}"
        );
        let [lump, paced] =
            ["lump", "paced"].map(|pacing| steady_iops(&format!("{drive}&pacing={pacing}")));
        let what = format!("{dies} dies, {buffer}: lump over paced");
        assert_within(&what, lump, paced, 2.0);
    }
}

#[test]
fn dies_in_turn_hold_up_the_head_of_the_line_where_the_buffer_is_small() {
    let drive = "slc-a?capacity=2GiB&pages_per_block=64&dies=64&buffer=512KiB";
    let [turn, free] =
        ["turn", "free"].map(|placement| steady_iops(&format!("{drive}&placement={placement}")));
    println!("in turn {turn:.0} IOPS, free first {free:.0}");
    assert!(turn < 0.2 * free, "{turn} against {free}");
}
