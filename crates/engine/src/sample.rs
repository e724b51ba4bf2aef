//! A sample of what a stream writes, made by the workers' own generator, without a device: what
//! can be said of its content holds for a simulated device as for a real one.

use crate::content::{lay_base, Stamper};
use crate::draws::Draws;
use crate::plan::{Access, StreamPlan};
use crate::seed::derive_seed;

/// Workers whose writes are in a sample, and I/Os of each that have buffers of their own.
const WORKERS_MOST: u32 = 2;
const SLOTS_MOST: u32 = 4;

struct Maker {
    number: u32,
    draws: Draws,
    stamper: Stamper,
    /// Of each slot, as long as a block.
    buffers: Vec<Vec<u8>>,
}

/// The first bytes of each of the first `writes` writes, of the first workers in turn, at most
/// `most_bytes` of each.
pub fn written_by(plan: &StreamPlan, writes: usize, most_bytes: usize) -> Vec<Vec<u8>> {
    let numbers = 0..plan.threads.min(WORKERS_MOST);
    let mut crew: Vec<Maker> = numbers
        .map(|number| Maker {
            number,
            draws: Draws::new(derive_seed(plan.seed, u64::from(number)), plan),
            stamper: Stamper::of_worker(plan.seed, number),
            buffers: Vec::new(),
        })
        .collect();
    let mut cursor_bytes = match plan.access {
        Access::Sequential { cursor_bytes } => cursor_bytes,
        _ => 0,
    };
    let slots = plan.queue_depth.clamp(1, SLOTS_MOST) as usize;
    let in_turn = 0..writes;
    let one = |place: usize| {
        let workers = crew.len();
        let maker = &mut crew[place % workers];
        let slot = place / workers % slots;
        if maker.buffers.len() <= slot {
            let mut buffer = vec![0; plan.block_size_bytes as usize];
            lay_base(&mut buffer, plan, maker.number, slot as u16);
            maker.buffers.push(buffer);
        }
        let length_bytes = maker.draws.length_bytes();
        let offset_bytes = if plan.access.is_ordered() {
            cursor_bytes += u64::from(length_bytes);
            plan.range.start_bytes + cursor_bytes - u64::from(length_bytes)
        } else {
            maker.draws.extent().offset_bytes
        };
        let buffer = &mut maker.buffers[slot][..length_bytes as usize];
        maker.stamper.write(buffer, offset_bytes, plan.content);
        buffer[..buffer.len().min(most_bytes)].to_vec()
    };
    in_turn.map(one).collect()
}
