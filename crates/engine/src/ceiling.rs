//! What this host can do at best, to see whether a figure is the host's limit or the device's: a
//! system call and a ring without work, the loop without a device, plain memory.

use std::hint::black_box;
use std::io;
use std::os::fd::OwnedFd;

use crate::arena::{Arena, Shape};
use crate::backend::ring::{Entry, Ring, WaitLimit};
use crate::backend::BackendKind;
use crate::clock::{Clock, HostClock};
use crate::error::EngineError;
use crate::plan::{Bound, Plan, Range, StreamPlan};
use crate::session::Session;
use crate::technique::Techniques;

const BLOCK_BYTES: u32 = 4096;
/// Larger than every cache, small enough for every host.
const COPIED_BYTES: u32 = 64 << 20;
const DEEP: u32 = 32;

/// Wall time or rate of one thread; no device takes part. 0 where it cannot be had.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ceilings {
    /// A no-operation through a ring, one at a time and 32 at a time.
    pub nop_ns: f64,
    pub nop_ns_deep: f64,
    /// An I/O of the whole loop over a backend that does nothing, at depth 1 and 32.
    pub loop_ns: f64,
    pub loop_ns_deep: f64,
    /// Memory copied.
    pub copy_bytes_per_second: f64,
}

/// Measures the ceilings, each for about `each_ns`.
pub fn measure(file: OwnedFd, each_ns: u64) -> Result<Ceilings, EngineError> {
    let clock = HostClock::best();
    let mut session = Session::with_backend(file, BackendKind::Null);
    let mut loop_ns = |depth| -> Result<f64, EngineError> {
        let lap = session.run(&plan(depth, each_ns))?;
        Ok(lap.elapsed_ns as f64 / lap.streams[0].read.ios.max(1) as f64)
    };
    let (loop_ns, loop_ns_deep) = (loop_ns(1)?, loop_ns(DEEP)?);
    let nop = |depth| nop_ns(depth, each_ns, clock).unwrap_or(0.0);
    Ok(Ceilings {
        nop_ns: nop(1),
        nop_ns_deep: nop(DEEP),
        loop_ns,
        loop_ns_deep,
        copy_bytes_per_second: copy(each_ns, clock)?,
    })
}

/// Reads of a device that does not exist.
fn plan(queue_depth: u32, duration_ns: u64) -> Plan {
    let range = Range {
        start_bytes: 0,
        segments: 1,
        segment_bytes: 1 << 40,
        stride_bytes: 1 << 40,
    };
    let stream = StreamPlan {
        queue_depth,
        block_size_bytes: BLOCK_BYTES,
        range,
        ..StreamPlan::default()
    };
    Plan {
        streams: vec![stream],
        bound: Bound::Time { duration_ns },
        interval_ns: 1_000_000_000,
        open_ended: false,
        continues: false,
    }
}

/// Wall time of a no-operation, `depth` of them at a time.
fn nop_ns(depth: u32, for_ns: u64, clock: HostClock) -> io::Result<f64> {
    let mut ring = Ring::new(depth, Techniques::ALL)?;
    let started_ns = clock.now_ns();
    let mut ios = 0u64;
    loop {
        for _ in 0..depth {
            // SAFETY: an entry of zeros is a no-operation and names no memory.
            unsafe { ring.push(Entry::default()) };
        }
        while !ring.enter(0, WaitLimit::default())? {}
        while ring.reap().is_some() {
            ios += 1;
        }
        let elapsed_ns = clock.now_ns() - started_ns;
        if elapsed_ns >= for_ns && ios > 0 {
            return Ok(elapsed_ns as f64 / ios as f64);
        }
    }
}

fn copy(each_ns: u64, clock: HostClock) -> Result<f64, EngineError> {
    let shape = Shape {
        depth: 1,
        block_size_bytes: COPIED_BYTES,
        reads: true,
        writes: false,
        write_through: false,
        min_complete_max: 1,
    };
    let (mut from, mut to) = (Arena::new(shape, true)?, Arena::new(shape, true)?);
    from.read_bytes(0).fill(1);
    to.read_bytes(0).fill(2);
    let started_ns = clock.now_ns();
    let mut copied_bytes = 0;
    loop {
        black_box(to.read_bytes(0)).copy_from_slice(black_box(from.read_bytes(0)));
        copied_bytes += u64::from(COPIED_BYTES);
        let elapsed_ns = clock.now_ns() - started_ns;
        if elapsed_ns >= each_ns {
            return Ok(copied_bytes as f64 * 1e9 / elapsed_ns.max(1) as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no counter and no ring")]
    fn every_ceiling_is_found() {
        let file = File::open("/dev/null").unwrap();
        let ceilings = measure(file.into(), 1_000_000).unwrap();
        println!("{ceilings:?}");
        assert!(ceilings.loop_ns > 0.0 && ceilings.loop_ns_deep > 0.0);
        assert!(ceilings.copy_bytes_per_second > 0.0);
        // A kernel that refuses a ring has no such ceiling.
        assert_eq!(ceilings.nop_ns > 0.0, ceilings.nop_ns_deep > 0.0);
    }
}
