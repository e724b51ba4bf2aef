//! Simulated I/Os per second of one core, by processor time: the translation layer alone, then
//! timed I/O through the engine's worker, of a drive and of devices put together, beside a loop
//! that only waits for memory, so that hosts can be told apart. Words name the rows that are wanted
//! (`cargo bench -p teijo-sim -- raid tier`); a full-size drive is written once over, and six times
//! with `-- full-size`.

use std::time::Instant;

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{clock_gettime, ClockId};
use teijo_engine::plan::{Access, Bound, Content, Plan, Range, StreamPlan};
use teijo_sim::compose::{open, Node};
use teijo_sim::device::Device;
use teijo_sim::flash::params::{reserve_blocks, Cleaning, Frontier, Geometry};
use teijo_sim::flash::Ftl;
use teijo_sim::presets;
use teijo_sim::session::{SimSession, Unobserved};

const RUNS: usize = 5;
/// I/Os of one row and round: of a drive of 1 GiB, six capacities.
const IOS: u64 = 6 << 18;
/// Entries of the table that the reference loop goes through, 256 MiB: more than caches hold.
const REFERENCE_ENTRIES: usize = 64 << 20;

/// One row of what composed devices cost.
struct Row {
    text: &'static str,
    read_percent: u8,
    /// Of the device, from its beginning; `None` for all of it.
    range_bytes: Option<u64>,
    /// What one core of a quiet host should do, M I/Os/s.
    goal: f64,
}

const SSD_CACHE: &str = "ssd-cache(slc-a?capacity=1GiB, slc-b?capacity=4GiB)";
const SSD_CACHE_BACK: &str = "ssd-cache(slc-a?capacity=1GiB, slc-b?capacity=4GiB)?mode=write-back";
/// All of it has a place in such a cache, and half of it may be dirty.
const FITTING_BYTES: u64 = 512 << 20;

/// A row of a whole device.
const fn row(text: &'static str, read_percent: u8, goal: f64) -> Row {
    Row {
        text,
        read_percent,
        range_bytes: None,
        goal,
    }
}

/// Random blocks of 4 KiB, 32 in flight.
const ROWS: &[Row] = &[
    row("slc-a?capacity=1GiB", 0, 20.0),
    row("slc-a?capacity=1GiB", 100, 20.0),
    row("slc-a?capacity=1GiB&pacing=paced", 0, 20.0),
    row("slc-a?capacity=1GiB&jitter_percent=0", 0, 20.0),
    row("raid0(4×slc-a?capacity=1GiB)", 0, 8.0),
    row("raid0(4×slc-a?capacity=1GiB)", 100, 8.0),
    row("raid10(4×slc-a?capacity=1GiB)", 0, 0.0),
    row("raid10(4×slc-a?capacity=1GiB)", 100, 0.0),
    row("raid5(4×slc-a?capacity=1GiB)", 0, 0.0),
    row("tier(slc-a?capacity=1GiB, slc-b?capacity=4GiB)", 0, 5.0),
    row("tier(slc-a?capacity=1GiB, slc-b?capacity=4GiB)", 70, 5.0),
    row(SSD_CACHE, 70, 5.0),
    row(SSD_CACHE_BACK, 0, 5.0),
    row(SSD_CACHE, 70, 5.0).within(FITTING_BYTES),
    row(SSD_CACHE_BACK, 0, 5.0).within(FITTING_BYTES),
    row("cache(slc-a?capacity=1GiB)", 0, 5.0),
    row("cache(slc-a?capacity=1GiB)", 70, 5.0),
    row("cache(slc-a?capacity=1GiB)?mode=write-through", 0, 5.0),
    row("host-cache(slc-a?capacity=1GiB)", 0, 5.0),
    row("host-cache(slc-a?capacity=1GiB)", 70, 5.0),
    row("faulty(slc-a?capacity=1GiB)", 0, 5.0),
];

impl Row {
    /// The same of so much of the device.
    const fn within(self, range_bytes: u64) -> Self {
        Self {
            range_bytes: Some(range_bytes),
            ..self
        }
    }

    fn name(&self) -> String {
        let Self {
            text, read_percent, ..
        } = self;
        let range = self
            .range_bytes
            .map_or(String::new(), |bytes| format!(" of {} MiB", bytes >> 20));
        format!("{text}, {read_percent} % reads{range}")
    }

    /// The plan of the row, with another share of reads.
    fn plan(&self, session: &SimSession<Node>, read_percent: u8) -> Plan {
        let all_bytes = session.device().capacity_bytes();
        let range_bytes = self.range_bytes.unwrap_or(all_bytes);
        random_blocks(range_bytes, read_percent, 4096 * IOS)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn best(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// Million random increments per second of a table that no cache holds: what a host's memory gives
/// a loop with nothing else to do, while others use it too.
fn reference(table: &mut [u32]) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let count = 8 << 20;
    let started_s = processor_s();
    for _ in 0..count {
        let place = ((random.next_u64() >> 32) * table.len() as u64) >> 32;
        table[place as usize] += 1;
    }
    f64::from(count) / (processor_s() - started_s) / 1e6
}

/// Million host writes per second, and write amplification, in steady state.
fn translation_layer(op_percent: f64) -> (f64, f64) {
    let (units, pages_per_block) = (1 << 18, 256);
    let usable = f64::from(units) * (1.0 + op_percent / 100.0) / f64::from(pages_per_block);
    let blocks_per_die = usable.round() as u32 + reserve_blocks(Frontier::Shared);
    let geometry = Geometry {
        units,
        dies: 1,
        blocks_per_die,
        pages_per_block,
    };
    let mut ftl = Ftl::new(geometry, Cleaning::Greedy, Frontier::Shared, 1);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut write = |ftl: &mut Ftl, count: u64| {
        for _ in 0..count {
            let unit = (((random.next_u64() >> 32) * u64::from(units)) >> 32) as u32;
            let die = ftl.pick_die();
            ftl.write(unit, die);
        }
    };
    let count = 8 * u64::from(units);
    write(&mut ftl, count);
    let before = ftl.programs();
    let rates = (0..RUNS).map(|_| {
        let started = Instant::now();
        write(&mut ftl, count);
        count as f64 / started.elapsed().as_secs_f64() / 1e6
    });
    let rate = median(rates.collect());
    (
        rate,
        (ftl.programs() - before) as f64 / (count * RUNS as u64) as f64,
    )
}

fn random_blocks(range_bytes: u64, read_percent: u8, total_bytes: u64) -> Plan {
    let range = Range {
        start_bytes: 0,
        segments: 1,
        segment_bytes: range_bytes,
        stride_bytes: range_bytes,
    };
    let stream = StreamPlan {
        threads: 1,
        queue_depth: 32,
        read_percent,
        block_size_bytes: 4096,
        access: Access::Random,
        range,
        content: Content::Random,
        rate: None,
        seed: 1,
        ..StreamPlan::default()
    };
    Plan {
        streams: vec![stream],
        bound: Bound::Bytes { total_bytes },
        interval_ns: 1_000_000_000,
        open_ended: false,
        continues: false,
    }
}

/// A device that was written at random as often as a row does, from fresh.
fn written(row: &Row) -> SimSession<Node> {
    let mut session = SimSession::new(open(row.text).expect("a preset"));
    let plan = row.plan(&session, 0);
    session.run(&plan, &mut Unobserved).expect("a lap");
    session
}

/// Million simulated I/Os per second of processor time.
fn rate(row: &Row, written: &mut SimSession<Node>) -> f64 {
    // A new drive's first writes count as well: nothing is cleaned then.
    let mut fresh = SimSession::new(open(row.text).expect("a preset"));
    let writes = row.read_percent == 0;
    let session = if writes { &mut fresh } else { written };
    let plan = row.plan(session, row.read_percent);
    let started_s = processor_s();
    let lap = session.run(&plan, &mut Unobserved).expect("a lap");
    let worked_s = processor_s() - started_s;
    let [stream] = &lap.streams[..] else {
        panic!("one stream");
    };
    (stream.read.ios + stream.write.ios) as f64 / worked_s / 1e6
}

/// Prints what each row costs beside the first one of them and beside the reference loop.
fn composed(rows: &[&Row]) {
    let mut sessions: Vec<_> = rows.iter().map(|row| written(row)).collect();
    let mut table = vec![1; REFERENCE_ENTRIES];
    let mut rates = vec![Vec::new(); rows.len()];
    let mut references = Vec::new();
    for _ in 0..RUNS {
        for ((row, session), rates) in rows.iter().zip(&mut sessions).zip(&mut rates) {
            references.push(reference(&mut table));
            rates.push(rate(row, session));
        }
    }
    let host = best(&references);
    let (least, usual) = (
        references.iter().copied().fold(host, f64::min),
        median(references),
    );
    println!(
        "reference loop, increments at random in 256 MiB: {host:.0} M/s at best, median \
         {usual:.0}, {least:.0} at worst"
    );
    let first = rates.first().map_or(1.0, |rates| best(rates));
    for (row, rates) in rows.iter().zip(&rates) {
        let (name, rate) = (row.name(), best(rates));
        let goal = match row.goal {
            0.0 => "no goal".to_string(),
            goal => format!("goal {goal:.0}"),
        };
        println!(
            "{name}: {rate:.1} M I/Os/s ({goal}), {:.2} of the first row, {:.3} of the reference",
            rate / first,
            rate / host
        );
    }
}

/// Prints the seconds of a full-size drive's saturation from fresh, once: of the clock and of the
/// processor, which differ where other work shares it.
fn full_size(capacities: u64) {
    let text = "s3700?scale=1";
    let mut session = SimSession::new(open(text).expect("a preset"));
    let capacity_bytes = session.device().capacity_bytes();
    let plan = random_blocks(capacity_bytes, 0, capacities * capacity_bytes);
    let (started, worked_s) = (Instant::now(), processor_s());
    session.run(&plan, &mut Unobserved).expect("a lap");
    let clock_s = started.elapsed().as_secs_f64();
    let worked_s = processor_s() - worked_s;
    println!(
        "random writes, 32 in flight, {text}, capacities: {capacities}, clock: {clock_s:.1} s, \
         processor: {worked_s:.1} s"
    );
}

/// Seconds that this process has had the processor.
fn processor_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// MB of maps and indexes per simulated GiB.
fn state_mb_per_gib(text: &str) -> f64 {
    let drive = presets::open(text).expect("a preset");
    let gib = drive.capacity_bytes() as f64 / f64::from(1 << 30);
    drive.ftl().state_bytes() as f64 / 1e6 / gib
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| *word != "--bench")
        .collect();
    if words == ["full-size"] {
        return full_size(6);
    }
    let is_wanted =
        |row: &&Row| words.is_empty() || words.iter().any(|word| row.name().contains(word));
    let rows: Vec<&Row> = ROWS.iter().filter(is_wanted).collect();
    if rows.is_empty() {
        println!("no row has one of these words; the rows are:");
        for row in ROWS {
            println!("  {}", row.name());
        }
        return;
    }
    composed(&rows);
    if !words.is_empty() {
        return;
    }
    for op_percent in [7.0, 12.5, 28.0] {
        let (rate, wa) = translation_layer(op_percent);
        println!("translation layer, 1 GiB, OP {op_percent} %: {rate:.1} M writes/s, WA {wa:.2}");
    }
    for text in ["slc-a", "s3700", "mlc-a", "mlc-a?compression=on"] {
        let mb = state_mb_per_gib(text);
        println!("state, {text}: {mb:.2} MB per simulated GiB");
    }
    full_size(1);
}
