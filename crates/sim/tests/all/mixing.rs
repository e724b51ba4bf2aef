//! Reads and writes together: what the other direction costs the front end and the link.

use crate::common::{assert_within, closed_loop, device};
use crate::lab::{bytes, capacity_bytes, fill, iops, random, run, session, Load, KIB};
use teijo_engine::request::Op;
use teijo_sim::device::Device;
use teijo_sim::presets::presets;

/// IOPS of 4 KiB at random, 32 in flight, of a worn drive: at 0, 35, 50, 65, 80, 95 and 100 %
/// reads.
fn mixed_iops(text: &str) -> [f64; 7] {
    let mut drive = session(text);
    let capacity = capacity_bytes(&drive);
    fill(&mut drive, capacity);
    run(&mut drive, random(0, 4 * KIB, 32), bytes(2 * capacity));
    [0, 35, 50, 65, 80, 95, 100].map(|read_percent| {
        let load = Load {
            seed: 2 + u64::from(read_percent),
            ..random(read_percent, 4 * KIB, 32)
        };
        iops(&run(&mut drive, load, bytes(capacity / 4)))
    })
}

#[test]
fn no_mix_is_faster_than_reads_and_writes_alone() {
    for preset in presets() {
        // Their published sizes at 80/20 leave no room for a turnaround.
        let published = preset.name.starts_with("s3700");
        let most = if published { 1.12 } else { 1.04 };
        let rates = mixed_iops(&format!(
            "{}?scale={}",
            preset.name,
            preset.params.scale * 8.0
        ));
        println!("{}: {rates:.0?}", preset.name);
        let alone = rates[0].max(rates[6]);
        assert!(
            rates[1..6].iter().all(|rate| *rate < most * alone),
            "{}: {rates:?}",
            preset.name
        );
    }
}

#[test]
fn a_command_that_turns_round_holds_the_front_end_for_as_long_as_it_says() {
    let done = |turnaround_us: u64| {
        let text = format!("slc-a?capacity=1GiB&jitter_percent=0&turnaround_us={turnaround_us}");
        let mut drive = device(&text);
        let ops = [Op::Read, Op::Read, Op::Write, Op::Write, Op::Read];
        let took = (0..).zip(ops).map(|(number, op)| {
            // Far apart, so that nothing else is waited for.
            let at_ns = number * 1_000_000_000;
            drive.serve(op, 0, 4096, at_ns).done_ns - at_ns
        });
        took.collect::<Vec<u64>>()
    };
    let (without, with) = (done(0), done(70));
    let more: Vec<u64> = with.iter().zip(&without).map(|(a, b)| a - b).collect();
    assert_eq!(more, [0, 0, 70_000, 0, 70_000]);
}

#[test]
fn a_link_of_both_directions_carries_twice_as_much_of_half_reads_and_half_writes() {
    for (duplex, times) in [("half", 1.0), ("full", 2.0)] {
        let mut drive = device(&format!(
            "slc-a?capacity=1GiB&jitter_percent=0&turnaround_us=0&program_us=1&read_us=1\
             &read_command_us=0.1&write_command_us=0.1&bus_mb_per_second=100000\
             &link_mb_per_second=500&link_duplex={duplex}"
        ));
        let mut number = 0;
        let run = closed_loop(&mut drive, 0, 32, 8192, || {
            number += 1;
            let op = if number % 2 == 0 { Op::Read } else { Op::Write };
            (op, number * 65_536, 65_536)
        });
        let mb_per_second = run.iops() * 65_536.0 / 1e6;
        assert_within(
            &format!("{duplex}: MB/s"),
            mb_per_second,
            times * 500.0,
            1.0,
        );
    }
}
