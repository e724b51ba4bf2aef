//! Which processor a worker is kept on: one each, in the order in which they were named, and over
//! again where there are more workers. Kept before the worker makes its ring and first touches
//! its buffers, so that these lie on its own node.

use std::fmt;

use rustix::thread::{sched_setaffinity, CpuSet};

use crate::error::EngineError;

/// A processor and its NUMA node, as the kernel told the worker that runs there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub cpu: u32,
    pub node: u32,
}

/// The processors of a session's workers; none leaves the choice to the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins(Vec<u32>);

impl Pins {
    /// Processors in the order in which workers take them; no number reaches `CpuSet::MAX_CPU`.
    pub fn new(cpus: Vec<u32>) -> Self {
        Self(cpus)
    }

    /// How many workers it takes until the first processor has its second one; 0 for no pins.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The processor of a worker, counted from 0 over all streams of a plan.
    pub fn of(&self, worker: usize) -> Option<u32> {
        (!self.is_empty()).then(|| self.0[worker % self.len()])
    }

    /// All of them, for threads of the kernel that carry out what a ring cannot queue.
    pub(crate) fn mask(&self) -> Option<Mask> {
        (!self.is_empty()).then(|| mask_of(&self.0))
    }
}

/// A set of processors as the kernel takes it.
#[derive(Clone, Copy)]
pub struct Mask(CpuSet);

impl Mask {
    pub(crate) fn set(&self) -> &CpuSet {
        &self.0
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpus = (0..CpuSet::MAX_CPU).filter(|&cpu| self.0.is_set(cpu));
        out.debug_set().entries(cpus).finish()
    }
}

fn mask_of(cpus: &[u32]) -> Mask {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu as usize);
    }
    Mask(set)
}

/// Keeps the calling thread on one processor from now on, and says where that is.
pub(crate) fn stay_on(cpu: u32) -> Result<Place, EngineError> {
    let refused = |errno| EngineError::PinRefused { cpu, errno };
    let mask = mask_of(&[cpu]);
    sched_setaffinity(None, mask.set()).map_err(|errno| refused(errno.raw_os_error()))?;
    let (mut seen, mut node) = (0u32, 0u32);
    let unused = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: the kernel writes one word to each of the first two, and nothing to the third.
    let done = unsafe { libc::syscall(libc::SYS_getcpu, &raw mut seen, &raw mut node, unused) };
    if done == 0 && seen == cpu {
        Ok(Place { cpu, node })
    } else {
        Err(refused(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_take_the_processors_in_their_order_and_over_again() {
        let pins = Pins::new(vec![5, 0, 3]);
        let taken: Vec<Option<u32>> = (0..7).map(|worker| pins.of(worker)).collect();
        assert_eq!(taken, [5, 0, 3, 5, 0, 3, 5].map(Some));
        assert_eq!(format!("{:?}", pins.mask().unwrap()), "{0, 3, 5}");
        let none = Pins::default();
        assert_eq!(none.of(0), None);
        assert!(none.mask().is_none());
    }

    #[test]
    fn a_processor_that_is_not_there_is_refused_by_its_number() {
        let refused = std::thread::spawn(|| stay_on(1023)).join().unwrap();
        if std::thread::available_parallelism().unwrap().get() < 1024 {
            let errno = libc::EINVAL;
            assert_eq!(refused, Err(EngineError::PinRefused { cpu: 1023, errno }));
        }
    }
}
