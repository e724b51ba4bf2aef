//! Plans that have no meaning are refused by name, and those at the border are run. The fuzz
//! target `plan` found each of these: they hung, wrapped or panicked before they were refused.

use crate::rehearsal::{contiguous, plan, stream, trace, MIB};
use teijo_engine::crew::Crew;
use teijo_engine::error::EngineError;
use teijo_engine::plan::{
    Access, Bound, Depth, Order, Plan, Rate, Schedule, StreamPlan, Verify, Written,
};

const BLOCK: u32 = 4096;

fn of(stream: StreamPlan) -> Plan {
    let total_bytes = 8 * u64::from(BLOCK);
    plan(vec![stream], Bound::Bytes { total_bytes })
}

fn random() -> StreamPlan {
    stream(Access::Random, contiguous(0, MIB), BLOCK)
}

fn refusal(plan: &Plan) -> &'static str {
    match Crew::of(plan, Depth::Queued) {
        Err(EngineError::PlanRefused { reason }) => reason,
        Err(other) => panic!("{other}"),
        Ok(_) => "",
    }
}

fn paced(ios_per_second: f64) -> Plan {
    let schedule = Schedule::Fixed;
    let rate = Some(Rate {
        ios_per_second,
        schedule,
    });
    of(StreamPlan { rate, ..random() })
}

#[test]
fn a_rate_whose_gaps_are_no_number_of_nanoseconds_is_refused() {
    for rate in [1e-300, 9e-7, 0.0, -1.0, 1.1e9, f64::NAN, f64::INFINITY] {
        assert!(refusal(&paced(rate)).contains("10^-6 to 10^9"), "{rate}");
    }
    for rate in [1e-6, 1.0, 1e9] {
        assert_eq!(refusal(&paced(rate)), "", "{rate}");
    }
}

#[test]
fn an_interval_too_short_to_be_kept_is_refused() {
    let mut short = of(random());
    short.interval_ns = 999_999;
    assert!(refusal(&short).contains("1 ms"));
    short.interval_ns = 1_000_000;
    assert_eq!(refusal(&short), "");
}

fn shuffled(cursor_bytes: u64) -> StreamPlan {
    let access = Access::Shuffled {
        key: 5,
        cursor_bytes,
    };
    stream(access, contiguous(0, MIB), BLOCK)
}

#[test]
fn a_shuffled_stream_begins_at_a_whole_block() {
    for cursor_bytes in [1, 4095, u64::MAX, 1 << 63] {
        let refused = refusal(&of(shuffled(cursor_bytes)));
        assert!(refused.contains("whole block"), "{cursor_bytes}");
    }
    let begun = 1 << 62;
    let (lap, requests) = trace(&of(shuffled(begun)));
    assert_eq!(requests.len(), 8);
    assert_eq!(lap.streams[0].cursor_bytes, begun + 8 * u64::from(BLOCK));
}

fn verified(generation: u64, written: Vec<Written>) -> Plan {
    let verify = Some(Verify {
        run: 1,
        generation,
        written,
    });
    of(StreamPlan {
        verify,
        ..shuffled(0)
    })
}

#[test]
fn generations_and_cursors_of_earlier_steps_leave_room_to_count_on() {
    let past = |from_bytes, to_bytes, generation| Written {
        order: Order::Sequential,
        range: contiguous(0, MIB),
        from_bytes,
        to_bytes,
        generation,
    };
    assert_eq!(refusal(&verified(1 << 62, vec![past(0, 1 << 62, 1)])), "");
    for generation in [0, (1 << 62) + 1, u64::MAX] {
        assert!(refusal(&verified(generation, Vec::new())).contains("generation"));
        let earlier = vec![past(0, 1, generation)];
        assert!(refusal(&verified(1, earlier)).contains("generation"));
    }
    for (from_bytes, to_bytes) in [(2, 1), (0, (1 << 62) + 1)] {
        let earlier = vec![past(from_bytes, to_bytes, 1)];
        assert!(refusal(&verified(1, earlier)).contains("no range"));
    }
}
