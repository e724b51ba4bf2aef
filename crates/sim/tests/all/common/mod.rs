//! What the truth tests share: closed forms of write amplification, derived apart from the
//! simulator, and a plain closed-loop driver that knows nothing of the engine.

pub mod laps;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use teijo_engine::request::Op;
use teijo_sim::device::Device;
use teijo_sim::flash::params::{reserve_blocks, Cleaning, Frontier, Geometry};
use teijo_sim::flash::{Ftl, Ssd};
use teijo_sim::presets;

/// Principal branch of Lambert's W for `x` in [-1/e, 0), by Newton's method.
pub fn lambert_w0(x: f64) -> f64 {
    let mut w = if x < -0.3 {
        -1.0 + (2.0 * (1.0 + std::f64::consts::E * x)).sqrt()
    } else {
        x
    };
    for _ in 0..100 {
        let step = (w * w.exp() - x) / (w.exp() * (w + 1.0));
        w -= step;
        if step.abs() < 1e-15 {
            break;
        }
    }
    w
}

/// FIFO cleaning of uniform writes (Xiang and Kurkoski 2011): a/(a + W0(-a e^-a)).
pub fn fifo_wa(alpha: f64) -> f64 {
    alpha / (alpha + lambert_w0(-alpha * (-alpha).exp()))
}

/// Greedy cleaning of uniform writes with `pages` per block (Desnoyers 2012).
pub fn greedy_wa(alpha: f64, pages: u32) -> f64 {
    let pages = f64::from(pages);
    let c = 1.0 + 1.0 / (2.0 * pages);
    let w = lambert_w0(-c * alpha * (-c * alpha).exp());
    let x0 = 0.5 - pages / alpha * w;
    pages / (pages - (x0 - 1.0))
}

/// FIFO cleaning when only `hot_share` of the user space is written: the log turns once in `tau`
/// host writes (per user page), in which it carries every cold page and each hot one once.
pub fn fifo_active_range_wa(alpha: f64, hot_share: f64) -> f64 {
    let log = |tau: f64| tau / (1.0 - (-tau / hot_share).exp()) + (1.0 - hot_share);
    let (mut low, mut high) = (1e-9, alpha);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if log(middle) < alpha {
            low = middle;
        } else {
            high = middle;
        }
    }
    alpha / low
}

/// A small, known generator (splitmix64), so that no test depends on the simulator's own.
pub struct Random(pub u64);

impl Random {
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(limit)) >> 64) as u64
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        (self.draw() as f64) < probability * 2f64.powi(64)
    }
}

/// A translation layer with `op_percent` effective spare on one or more dies.
pub fn ftl(
    units: u32,
    dies: u32,
    pages_per_block: u32,
    op_percent: f64,
    cleaning: Cleaning,
    frontier: Frontier,
) -> (Ftl, Geometry) {
    let blocks = f64::from(units) * (1.0 + op_percent / 100.0) / f64::from(pages_per_block * dies);
    let blocks_per_die = blocks.round() as u32 + reserve_blocks(frontier);
    let geometry = Geometry {
        units,
        dies,
        blocks_per_die,
        pages_per_block,
    };
    (Ftl::new(geometry, cleaning, frontier, 1), geometry)
}

/// Writes units given by `next`, `count` of them, and returns the write amplification.
pub fn write_amplification(ftl: &mut Ftl, count: u64, mut next: impl FnMut() -> u32) -> f64 {
    let before = ftl.programs();
    for _ in 0..count {
        let die = ftl.pick_die();
        ftl.write(next(), die);
    }
    (ftl.programs() - before) as f64 / count as f64
}

/// Writes every unit once in order.
pub fn fill(ftl: &mut Ftl, units: u32) -> f64 {
    let mut unit = 0..units;
    write_amplification(ftl, u64::from(units), || {
        unit.next().expect("one per write")
    })
}

/// Result of `closed_loop`.
#[derive(Debug, Default)]
pub struct Run {
    pub ios: u64,
    pub started_ns: u64,
    pub ended_ns: u64,
    pub latency_ns: Vec<u64>,
}

impl Run {
    pub fn iops(&self) -> f64 {
        self.ios as f64 * 1e9 / (self.ended_ns - self.started_ns) as f64
    }

    pub fn mean_latency_ns(&self) -> f64 {
        self.latency_ns.iter().sum::<u64>() as f64 / self.ios as f64
    }

    pub fn latency_ns_at(&mut self, quantile: f64) -> u64 {
        self.latency_ns.sort_unstable();
        self.latency_ns[((self.ios - 1) as f64 * quantile) as usize]
    }
}

/// Keeps `depth` I/Os in flight from `start_ns` until `count` are done.
pub fn closed_loop(
    device: &mut Ssd,
    start_ns: u64,
    depth: usize,
    count: u64,
    mut next: impl FnMut() -> (Op, u64, u32),
) -> Run {
    let mut run = Run {
        started_ns: start_ns,
        ..Run::default()
    };
    let mut flying = BinaryHeap::new();
    let mut now_ns = start_ns;
    for issued in 0..count {
        if flying.len() == depth {
            let Reverse(done_ns) = flying.pop().expect("the window is full");
            now_ns = done_ns;
        }
        let (op, offset_bytes, length_bytes) = next();
        let outcome = device.serve(op, offset_bytes, length_bytes, now_ns);
        assert_eq!(
            outcome.result,
            length_bytes.cast_signed(),
            "I/O {issued} failed"
        );
        run.latency_ns.push(outcome.done_ns - now_ns);
        flying.push(Reverse(outcome.done_ns));
    }
    run.ended_ns = flying
        .into_iter()
        .map(|Reverse(done_ns)| done_ns)
        .max()
        .unwrap_or(start_ns);
    run.ios = count;
    run
}

/// Random writes of `block_size_bytes` over the whole device.
pub fn random_writes(
    device: &mut Ssd,
    start_ns: u64,
    depth: usize,
    count: u64,
    block_size_bytes: u32,
    random: &mut Random,
) -> Run {
    let blocks = device.capacity_bytes() / u64::from(block_size_bytes);
    closed_loop(device, start_ns, depth, count, || {
        (
            Op::Write,
            random.below(blocks) * u64::from(block_size_bytes),
            block_size_bytes,
        )
    })
}

/// Writes the device once from end to end; returns the virtual time after it.
pub fn fill_device(device: &mut Ssd, start_ns: u64) -> u64 {
    let block_size_bytes = 128 << 10;
    let count = device.capacity_bytes() / block_size_bytes;
    let mut index = 0;
    let run = closed_loop(device, start_ns, 8, count, || {
        index += 1;
        (
            Op::Write,
            (index - 1) * block_size_bytes,
            block_size_bytes as u32,
        )
    });
    run.ended_ns
}

/// The device of `text`, or a panic with the message a person would see.
pub fn device(text: &str) -> Ssd {
    presets::open(text).unwrap_or_else(|error| panic!("{error}"))
}

/// Fails unless `value` is within `percent` of `truth`.
#[track_caller]
pub fn assert_within(what: &str, value: f64, truth: f64, percent: f64) {
    let off = (value / truth - 1.0) * 100.0;
    println!("{what}: {value:.5} against {truth:.5}, {off:+.3} % (limit {percent} %)");
    assert!(
        off.abs() <= percent,
        "{what}: {value} is {off:.3} % off {truth}"
    );
}
