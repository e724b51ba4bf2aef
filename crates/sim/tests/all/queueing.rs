//! Dies as queueing theory has them: exponential page times, one queue a die.

use crate::common::{assert_within, closed_loop, device, fill_device, Random};
use teijo_engine::request::Op;
use teijo_sim::device::Device;

#[test]
fn dies_of_exponential_page_times_are_as_busy_as_mean_value_analysis_says() {
    let mut drive = device(
        "slc-a?capacity=1GiB&page_times=exponential&read_command_us=0&ack_us=0\
         &link_mb_per_second=1000000&bus_mb_per_second=1000000",
    );
    let mut now_ns = fill_device(&mut drive, 0) + 1_000_000_000;
    let blocks = drive.capacity_bytes() / 4096;
    let dies = f64::from(drive.params().dies);
    let most = dies / (drive.params().read_ns as f64 / 1e9);
    for depth in [1, 2, 4, 8, 16, 32, 64, 128] {
        let mut random = Random(depth);
        let run = closed_loop(&mut drive, now_ns, depth as usize, 300_000, || {
            (Op::Read, random.below(blocks) * 4096, 4096)
        });
        now_ns = run.ended_ns + 1_000_000_000;
        let n = depth as f64;
        let truth = n / (n + dies - 1.0);
        assert_within(&format!("{depth} in flight"), run.iops() / most, truth, 1.0);
        assert_within("Little", run.iops() * run.mean_latency_ns() / 1e9, n, 0.5);
    }
}
