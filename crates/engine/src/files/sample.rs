//! A sample of what is written to large files, made by the workers' own generator, without a call.

use std::sync::Arc;

use super::filler::Filler;
use super::plan::{LargePlan, STDIO_BYTES};
use super::turns::{Tickets, Turns};

/// Workers whose writes are in a sample.
const WORKERS_MOST: u32 = 2;

/// The first bytes of each of the first `writes` writes, of the first workers in turn, at most
/// `most_bytes` of each. Calls of less than a block of a file system are put together to one, where
/// they are in order: that is what the device gets.
pub fn written_by(plan: &LargePlan, writes: usize, most_bytes: usize) -> Vec<Vec<u8>> {
    let chunk_bytes = (plan.chunk_bytes as usize).min(most_bytes);
    let heap = Arc::default();
    let numbers = 0..plan.workers.min(WORKERS_MOST);
    let mut crew: Vec<(Turns, Filler)> = numbers
        .map(|number| {
            let turns = Turns::new(plan, number, Tickets::of(plan, number, &heap));
            (turns, Filler::of_worker(plan, number, chunk_bytes))
        })
        .collect();
    let least_bytes = if plan.operation.is_random() {
        1
    } else {
        STDIO_BYTES.min(most_bytes)
    };
    let one = |place: usize| {
        let workers = crew.len();
        let (turns, filler) = &mut crew[place % workers];
        let mut written = Vec::new();
        while written.len() < least_bytes {
            let Some(turn) = turns.next() else { break };
            let (mut done, end) = (0, (turn.length_bytes as usize).min(most_bytes));
            while done < end {
                let length = chunk_bytes.min(end - done);
                let at_bytes = turn.offset_bytes + done as u64;
                written.extend_from_slice(filler.next(length, at_bytes));
                done += length;
            }
        }
        written.truncate(most_bytes);
        written
    };
    (0..writes).map(one).filter(|one| !one.is_empty()).collect()
}
