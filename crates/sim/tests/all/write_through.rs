//! Writes that are on the medium before they are answered, on devices with a volatile cache.

use crate::common::device;
use teijo_engine::lap::Lap;
use teijo_engine::plan::{Access, Bound, Content, Plan, Range, StreamPlan};
use teijo_engine::request::Op;
use teijo_sim::compose::build;
use teijo_sim::device::Device;
use teijo_sim::session::{SimSession, Unobserved};

fn plan(write_through: bool, threads: u32, queue_depth: u32, capacity_bytes: u64) -> Plan {
    Plan {
        streams: vec![StreamPlan {
            threads,
            queue_depth,
            read_percent: 30,
            block_size_bytes: 4096,
            access: Access::Random,
            range: Range {
                start_bytes: 0,
                segments: 1,
                segment_bytes: capacity_bytes,
                stride_bytes: capacity_bytes,
            },
            content: Content::Random,
            write_through,
            seed: 5,
            ..StreamPlan::default()
        }],
        bound: Bound::Bytes {
            total_bytes: 4096 * 400,
        },
        interval_ns: 1_000_000,
        open_ended: false,
        continues: false,
    }
}

fn run<D: Device>(session: &mut SimSession<D>, plan: &Plan) -> Lap {
    let lap = session.run(plan, &mut Unobserved);
    let lap = lap.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(lap.failure, None);
    lap
}

#[test]
fn an_answered_write_survives_a_power_cut_and_one_into_a_cache_does_not() {
    for name in ["hdd-7200", "mlc-a", "cache(hdd-7200)"] {
        for write_through in [true, false] {
            let device = build(name, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
            let capacity_bytes = device.capacity_bytes();
            let mut session = SimSession::new(device);
            let lap = run(&mut session, &plan(write_through, 2, 4, capacity_bytes));
            assert_eq!(lap.streams[0].write.ios + lap.streams[0].read.ios, 400);
            assert_eq!(lap.streams[0].flush.ios, 0, "a flush is no I/O of its own");
            if write_through {
                assert!(session.device().volatile(u64::MAX).is_empty(), "{name}");
            }
        }
    }
}

#[test]
fn a_write_through_alone_takes_as_long_as_the_write_and_its_flush() {
    let (mut one, mut other) = (device("mlc-a?capacity=1GiB"), device("mlc-a?capacity=1GiB"));
    let plan = {
        let mut plan = plan(true, 1, 1, one.capacity_bytes());
        plan.streams[0].read_percent = 0;
        plan.bound = Bound::Bytes { total_bytes: 4096 };
        plan
    };
    let mut session = SimSession::new(one.clone());
    let lap = run(&mut session, &plan);
    let written = teijo_sim::device::serve_alone(&mut one, Op::Write, 0, 4096, 0);
    let flushed = teijo_sim::device::serve_alone(&mut one, Op::Flush, 0, 0, written.done_ns);
    assert_eq!(lap.elapsed_ns, flushed.done_ns);
    let _ = teijo_sim::device::serve_alone(&mut other, Op::Write, 0, 4096, 0);
    assert!(lap.elapsed_ns > written.done_ns);
}
