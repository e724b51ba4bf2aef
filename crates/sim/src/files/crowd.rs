//! Several programs that call one operating system, stepped in the order of events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::call::{Call, Done};
use super::os::Os;
use crate::device::Device;

/// What a program calls next.
pub trait Program {
    /// `None`: it is over. `at_ns` is when the call begins, `last` how the one before ended.
    fn next(&mut self, at_ns: u64, last: Option<Done>) -> Option<Call>;

    /// One call has ended; `false` stops all programs after what they have under way.
    fn ended(&mut self, call: &Call, began_ns: u64, done: Done) -> bool;
}

/// The device answers nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silent {
    pub at_ns: u64,
}

/// Lets the programs run from `from_ns` on, each with a processor of its own; returns when the
/// last of them was over. At equal times the first of them goes first.
pub fn run<D: Device, P: Program>(
    os: &mut Os<D>,
    programs: &mut [P],
    from_ns: u64,
) -> Result<u64, Silent> {
    let mut ready: BinaryHeap<Reverse<(u64, usize)>> = (0..programs.len())
        .map(|index| Reverse((from_ns, index)))
        .collect();
    let mut under_way: Vec<Option<(Call, u64)>> = vec![None; programs.len()];
    let mut last: Vec<Option<Done>> = vec![None; programs.len()];
    let (mut waiting, mut now_ns, mut goes_on) = (0_usize, from_ns, true);
    let (mut done, mut ended) = (Vec::new(), Vec::new());
    while waiting > 0 || !ready.is_empty() {
        let ready_ns = ready.peek().map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns);
        let device_ns = os.next_ns();
        if device_ns.min(ready_ns) == u64::MAX {
            return Err(Silent { at_ns: now_ns });
        }
        if device_ns < ready_ns {
            os.step_files(&mut done, &mut ended);
            for one in done.drain(..) {
                let index = one.worker as usize;
                if let Some((call, began_ns)) = under_way[index].take() {
                    waiting -= 1;
                    goes_on &= programs[index].ended(&call, began_ns, one);
                    last[index] = Some(one);
                    ready.push(Reverse((one.done_ns, index)));
                }
            }
            continue;
        }
        let Some(Reverse((at_ns, index))) = ready.pop() else {
            continue;
        };
        now_ns = now_ns.max(at_ns);
        if !goes_on {
            continue;
        }
        let Some(call) = programs[index].next(at_ns, last[index]) else {
            continue;
        };
        if let Some(one) = os.begin(index as u32, &call, at_ns) {
            goes_on &= programs[index].ended(&call, at_ns, one);
            last[index] = Some(one);
            ready.push(Reverse((one.done_ns, index)));
        } else {
            waiting += 1;
            under_way[index] = Some((call, at_ns));
        }
    }
    Ok(now_ns)
}
