//! The ring with no-operations: wraps, refusals, waits.

use super::*;

const NOP: u64 = 0;

/// A ring, unless this machine has none.
fn ring(depth: u32, wished: Techniques) -> Option<Ring> {
    match Ring::new(depth, wished) {
        Ok(ring) => Some(ring),
        Err(error) => {
            println!("skipped: the kernel refuses a ring: {error}");
            None
        }
    }
}

/// Tags of `count` no-operations that went through the ring.
fn round_trip(ring: &mut Ring, count: u64) -> Vec<u64> {
    for tag in 0..count {
        let entry = Entry {
            head: NOP,
            tag,
            ..Entry::default()
        };
        // SAFETY: a no-operation names no memory.
        unsafe { ring.push(entry) };
    }
    assert!(ring.enter(count as u32, WaitLimit::default()).unwrap());
    let mut tags: Vec<u64> = std::iter::from_fn(|| ring.reap())
        .map(|completion| completion.tag)
        .collect();
    tags.sort_unstable();
    tags
}

#[test]
fn every_entry_comes_back_once_however_often_the_ring_wraps() {
    let Some(mut ring) = ring(8, Techniques::ALL) else {
        return;
    };
    for turn in 0..100 {
        let count = turn % 8 + 1;
        assert_eq!(
            round_trip(&mut ring, count),
            (0..count).collect::<Vec<u64>>()
        );
    }
    assert_eq!(ring.enters(), 100);
}

/// An older kernel says EINVAL to a flag that it does not know.
#[test]
fn a_kernel_that_refuses_flags_loses_them_one_by_one_and_the_ring_still_works() {
    if ring(8, Techniques::ALL).is_none() {
        return;
    }
    for (number, (newest_known, _)) in FLAGS.iter().enumerate().skip(1) {
        let unknown: IoringSetupFlags = FLAGS[..number].iter().map(|&(_, flag)| flag).collect();
        let older = |entries, params: &mut io_uring_params| {
            if params.flags.intersects(unknown) {
                return Err(Errno::INVAL);
            }
            // SAFETY: the parameters name no memory of ours.
            unsafe { io_uring_setup(entries, params) }
        };
        let mut ring = Ring::set_up_by(8, Techniques::ALL, older).unwrap();
        assert!(ring.granted().has(*newest_known));
        let lost = FLAGS[..number]
            .iter()
            .filter(|(one, _)| !ring.granted().has(*one));
        assert_eq!(lost.count(), number);
        assert_eq!(round_trip(&mut ring, 8).len(), 8);
        assert_eq!(round_trip(&mut ring, 5).len(), 5);
    }
}

#[test]
fn a_kernel_that_refuses_every_flag_or_the_ring_itself_is_believed() {
    for errno in [Errno::INVAL, Errno::PERM, Errno::NOSYS, Errno::NOMEM] {
        let refused = Ring::set_up_by(8, Techniques::ALL, |_, _| Err(errno));
        assert_eq!(
            refused.unwrap_err().raw_os_error(),
            Some(errno.raw_os_error())
        );
    }
}

#[test]
fn a_ring_without_any_technique_works() {
    let Some(mut ring) = ring(8, Techniques::NONE) else {
        return;
    };
    assert_eq!(ring.granted(), Techniques::NONE);
    assert_eq!(round_trip(&mut ring, 8).len(), 8);
}

#[test]
fn a_wait_for_several_is_content_with_one_when_its_time_is_over() {
    let Some(mut ring) = ring(8, Techniques::ALL) else {
        return;
    };
    if !ring.granted().has(Technique::CoalescedWakes) {
        return println!("skipped: this kernel waits for several without a limit (< 6.12)");
    }
    // SAFETY: a no-operation names no memory.
    unsafe { ring.push(Entry::default()) };
    let limit = WaitLimit {
        timeout_ns: Some(10_000_000_000),
        several_us: 100,
    };
    assert!(ring.enter(8, limit).unwrap());
    assert_eq!(ring.ready(), 1);
}
