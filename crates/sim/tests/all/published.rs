//! Published figures that presets are calibrated to, each with where it was published. Figures that
//! nothing was fitted to are in `examples/published_drives.py`.

use crate::common::{assert_within, closed_loop, device, fill_device, random_writes, Random};
use crate::lab::{
    bytes, capacity_bytes, fill, iops, mb_per_second, mean_ms, plan, random, run, run_within,
    seconds, sequential, session, Load, Session, KIB, MIB, SECOND,
};
use teijo_engine::request::Op;
use teijo_sim::device::Device;
use teijo_sim::flash::Ssd;
use teijo_sim::session::Unobserved;

#[test]
fn the_s3700_answers_in_sequence_as_soon_as_its_data_sheet_says() {
    let mut drive = session("s3700");
    let capacity = capacity_bytes(&drive);
    let written = run(&mut drive, sequential(0, 4 * KIB, 1), seconds(0.2));
    fill(&mut drive, capacity);
    let read = run(&mut drive, sequential(100, 4 * KIB, 1), seconds(0.2));
    assert_within("µs written", 1e3 * mean_ms(&written), 65.0, 1.0);
    assert_within("µs read", 1e3 * mean_ms(&read), 50.0, 1.0);
}

#[test]
fn the_s3700_reads_large_blocks_alone_as_fast_as_measured() {
    // A review: a P3700 reads more than 1 GB/s, which is 3.7 times as much.
    let mut drive = session("s3700");
    let capacity = capacity_bytes(&drive);
    fill(&mut drive, capacity);
    let read = run(&mut drive, sequential(100, 128 * KIB, 1), seconds(0.5));
    assert_within("MB/s", mb_per_second(&read), 1_000.0 / 3.7, 5.0);
}

#[test]
fn the_large_s3700_writes_at_random_as_fast_as_measured_and_as_late() {
    // Measured over 600 s on one host (51,955), and long after on another: p99.99 8.64 ms.
    let mut drive = device("s3700-800?scale=120");
    let units = drive.capacity_bytes() / 4096;
    let start_ns = fill_device(&mut drive, 0);
    let mut random = Random(1);
    let mut written = |drive: &mut _, at_ns, count| {
        closed_loop(drive, at_ns, 64, count, || {
            (Op::Write, random.below(units) * 4096, 4096)
        })
    };
    let first = written(&mut drive, start_ns, 51_955 * 600 / 120);
    assert_within("IOPS", first.iops(), 51_955.0, 3.0);
    let worn = written(&mut drive, first.ended_ns, 4 * units);
    let mut steady = written(&mut drive, worn.ended_ns, 3_000_000);
    let late_ms = steady.latency_ns_at(0.9999) as f64 / 1e6;
    assert_within("p99.99, ms", late_ms, 8.64, 20.0);
}

#[test]
fn the_530_writes_random_data_as_new_and_as_used_and_reads_alone_as_measured() {
    let mut drive = session("intel-530");
    let capacity = bytes(capacity_bytes(&drive));
    let written = mb_per_second(&run(&mut drive, sequential(0, 128 * KIB, 8), capacity));
    assert_within("MB/s written", written, 303.0, 3.0);
    run(&mut drive, sequential(0, 128 * KIB, 8), capacity);
    let used = mb_per_second(&run(&mut drive, sequential(0, 128 * KIB, 8), capacity));
    assert_within("MB/s written, used", used, 241.5, 3.0);
    let read = mb_per_second(&run(&mut drive, random(100, 4 * KIB, 1), seconds(0.5)));
    assert_within("MB/s read alone", read, 21.9, 3.0);
}

#[test]
fn the_pm863a_flushes_as_often_as_measured() {
    let mut drive = device("pm863a");
    let start_ns = fill_device(&mut drive, 0) + 1_000_000_000;
    let (mut at_ns, mut offset) = (start_ns, 0);
    for _ in 0..5000 {
        at_ns = drive.serve(Op::Write, offset, 4096, at_ns).done_ns;
        at_ns = drive.serve(Op::Flush, 0, 0, at_ns).done_ns;
        offset += 4096;
    }
    let rate = 5000.0 * 1e9 / (at_ns - start_ns) as f64;
    assert_within("flushed writes a second", rate, 17_983.0, 3.0);
}

#[test]
fn the_p3700_meets_its_data_sheet_alone_and_mixed() {
    let mut drive = session("p3700?scale=480");
    let capacity = bytes(capacity_bytes(&drive));
    let written = run(&mut drive, sequential(0, 4 * KIB, 1), seconds(0.2));
    assert_within("µs written in sequence", 1e3 * mean_ms(&written), 20.0, 3.0);
    let written = mb_per_second(&run(&mut drive, sequential(0, 128 * KIB, 32), capacity));
    assert_within("MB/s written", written, 2_000.0, 3.0);
    let read = run(&mut drive, sequential(100, 4 * KIB, 1), seconds(0.2));
    assert_within("µs read in sequence", 1e3 * mean_ms(&read), 20.0, 3.0);
    let read = run(&mut drive, sequential(100, 128 * KIB, 1), seconds(0.2));
    assert_within("MB/s read in sequence", mb_per_second(&read), 1_000.0, 3.0);
    let read = iops(&run(&mut drive, random(100, 4 * KIB, 128), seconds(0.5)));
    assert_within("reads a second", read, 450_000.0, 3.0);
    let alone = iops(&run(&mut drive, random(100, 4 * KIB, 1), seconds(0.5)));
    assert_within("reads a second, one in flight", alone, 8_900.0, 3.0);
    for _ in 0..4 {
        run(&mut drive, random(0, 4 * KIB, 128), capacity);
    }
    let mixed = iops(&run(&mut drive, random(70, 4 * KIB, 128), seconds(1.0)));
    assert_within("70/30 a second", mixed, 265_000.0, 5.0);
}

#[test]
fn the_su800_writes_90_gb_fast_and_50_mb_a_second_after_that() {
    let mut drive = device("su800");
    let part_bytes = drive.capacity_bytes() / 200;
    let (mut at_ns, mut offset, mut rates) = (0, 0, Vec::new());
    for _ in 0..100 {
        let lap = closed_loop(&mut drive, at_ns, 8, part_bytes / 131_072, || {
            offset += 131_072;
            (Op::Write, offset - 131_072, 131_072)
        });
        at_ns = lap.ended_ns;
        rates.push(lap.iops() * 131_072.0 / 1e6);
    }
    let fast = rates.iter().take_while(|rate| **rate > 400.0).count();
    // A part is 2.56 GB of the full-size drive.
    assert_within("GB at full speed", fast as f64 * 2.56, 90.0, 5.0);
    let after = rates[60..].iter().sum::<f64>() / 40.0;
    assert_within("MB/s after", after, 50.0, 5.0);
}

#[test]
fn the_card_reads_more_than_100_000_times_a_second() {
    let mut drive = session("iodrive");
    let set = capacity_bytes(&drive);
    fill(&mut drive, set);
    let read = iops(&run(&mut drive, random(100, 4 * KIB, 32), seconds(0.5)));
    println!("{read:.0} reads a second");
    assert!((100_000.0..115_000.0).contains(&read), "{read}");
}

/// MiB/s of 16 KiB written at random to the first `gib` of a pair of cards of 300 GiB, in the end.
fn duo_mib_per_second(text: &str, gib: u64) -> f64 {
    let mut drive = session(text);
    let used = capacity_bytes(&drive) * gib / 300;
    fill(&mut drive, used);
    let load = random(0, 16 * KIB, 16);
    run_within(&mut drive, load, used, bytes(8 * used));
    let lap = run_within(&mut drive, load, used, bytes(2 * used));
    mb_per_second(&lap) * 1e6 / f64::from(MIB)
}

#[test]
fn the_pair_of_cards_loses_with_what_is_used_of_it_as_measured() {
    // Of 16 KiB, as sysbench writes by default; two thirds are fitted, the others are predicted.
    let rate = |gib| duo_mib_per_second("iodrive-duo?scale=60", gib);
    assert_within("MiB/s over 200 GiB", rate(200), 354.37, 3.0);
    assert_within("MiB/s over 150 GiB", rate(150), 613.48, 3.0);
    assert_within("MiB/s over 100 GiB", rate(100), 933.60, 5.0);
}

#[test]
fn the_pair_of_cards_is_no_faster_when_its_spare_flash_is_kept_from_the_host() {
    // Published as well: formatted to 240 GB of the same flash there was "no difference".
    let whole = duo_mib_per_second("iodrive-duo?scale=60", 150);
    let text = "iodrive-duo?scale=60&nominal_capacity=240GB&op_percent=50.3";
    let mut drive = session(text);
    let used = capacity_bytes(&drive) * 150 / 300 * 322_122 / 240_000;
    let used = used / u64::from(16 * KIB) * u64::from(16 * KIB);
    fill(&mut drive, used);
    let load = random(0, 16 * KIB, 16);
    run_within(&mut drive, load, used, bytes(8 * used));
    let lap = run_within(&mut drive, load, used, bytes(2 * used));
    let reserved = mb_per_second(&lap) * 1e6 / f64::from(MIB);
    assert_within("MiB/s, reserved and not", reserved, whole, 2.0);
}

#[test]
fn without_what_moving_a_page_costs_the_pair_of_cards_loses_too_little() {
    // Desnoyers' closed form for greedy cleaning, were there no more flash than the 300 GiB: A is
    // 1.71 over 200 GiB and 1.06 over 100 GiB, so with the card's page times the ratio is 1.8 at
    // the most (with 12 % of spare flash: 1.46, 1.04 and 1.5). Published are 2.6.
    let rate = |gib| duo_mib_per_second("iodrive-duo?scale=60&move_us=0", gib);
    let ratio = rate(100) / rate(200);
    println!("{ratio:.2} times as fast over 100 GiB as over 200 GiB");
    assert!((1.3..1.8).contains(&ratio), "{ratio}");
}

/// I/Os in each of `seconds` seconds of the full-size drive, 64 threads that write 4 KiB at random.
fn writes_by_second(drive: &mut Session, seconds_count: u64, seed: u64) -> Vec<f64> {
    let second_s = 1.0 / drive.facts().scale();
    let load = Load {
        threads: 64,
        seed,
        ..random(0, 4 * KIB, 1)
    };
    let bound = seconds(seconds_count as f64 * second_s);
    let mut plan = plan(load, capacity_bytes(drive), bound);
    plan.interval_ns = (second_s * 1e9) as u64;
    let lap = drive.run(&plan, &mut Unobserved).expect("a lap");
    let whole = lap.streams[0].write.intervals.iter();
    let counts = whole.map(|one| one.ios as f64);
    counts.take(seconds_count as usize).collect()
}

#[test]
fn the_large_s3700_is_as_even_as_measured_and_as_its_data_sheet_says() {
    // Measured in the first 600 s: a standard deviation of 8.9 %. Data sheet, in steady state: 99.9
    // % of seconds have at least 90 % of the mean rate; to be within a quarter. Nothing was fitted
    // to either.
    let mut drive = session("s3700-800?scale=120");
    let capacity = capacity_bytes(&drive);
    fill(&mut drive, capacity);
    writes_by_second(&mut drive, 60, 1);
    let first = writes_by_second(&mut drive, 600, 2);
    let mean = first.iter().sum::<f64>() / 600.0;
    let squares = first.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
    let deviation = (squares / 599.0).sqrt() / mean;
    for seed in 3..7 {
        let load = Load {
            seed,
            ..random(0, 4 * KIB, 64)
        };
        run(&mut drive, load, bytes(capacity));
    }
    let mut steady = writes_by_second(&mut drive, 2_000, 8);
    let mean = steady.iter().sum::<f64>() / 2_000.0;
    steady.sort_by(f64::total_cmp);
    let slowest = steady[2] / mean;
    println!("deviation {deviation:.3}, 99.9 % of seconds at least {slowest:.3} of the mean");
    assert!(deviation < 0.089, "{deviation}");
    assert!(slowest > 0.75 * 0.9, "{slowest}");
}

/// AS SSD on the first GB of the full-size drive: what each of its tests writes, in 4 KiB.
struct AsSsd {
    drive: Ssd,
    units: u64,
    now_ns: u64,
}

impl AsSsd {
    /// MB/s of a GB in sequence.
    fn in_sequence(&mut self) -> f64 {
        let mut block = 0;
        let run = closed_loop(&mut self.drive, self.now_ns, 8, self.units / 32, || {
            block += 1;
            (Op::Write, (block - 1) * 131_072, 131_072)
        });
        self.now_ns = run.ended_ns;
        run.iops() * 131_072.0 / 1e6
    }

    /// Writes files of a GB in all, then 4 KiB at random to them, `depth` in flight.
    fn at_random(&mut self, depth: usize, random: &mut Random) {
        self.in_sequence();
        let units = self.units;
        let run = closed_loop(&mut self.drive, self.now_ns, depth, units, || {
            (Op::Write, random.below(units) * 4096, 4096)
        });
        self.now_ns = run.ended_ns;
    }

    fn trim(&mut self, units: u64) {
        for unit in 0..units {
            let outcome = self
                .drive
                .serve(Op::Discard, unit * 4096, 4096, self.now_ns);
            self.now_ns = outcome.done_ns;
        }
    }

    /// MB/s in sequence of a first run, and of a second one: the files of each test are deleted.
    fn twice(&mut self) -> [f64; 2] {
        let first = self.in_sequence();
        let mut random = Random(2);
        self.trim(self.units);
        for depth in [1, 64] {
            self.at_random(depth, &mut random);
            self.trim(self.units);
        }
        [first, self.in_sequence()]
    }
}

/// MB/s in sequence as new; after a fill and 20 minutes of 4 KiB written at random, 32 in flight,
/// twice; and after all of the worn drive is trimmed.
fn resilience(text: &str) -> [f64; 4] {
    let drive = device(text);
    let scale = drive.params().simulated_scale();
    let mut new = AsSsd {
        units: (1e9 / scale / 131_072.0) as u64 * 32,
        now_ns: 0,
        drive,
    };
    let as_new = new.in_sequence();
    let AsSsd {
        mut drive, units, ..
    } = new;
    let filled_ns = fill_device(&mut drive, new.now_ns);
    let worn_ns = filled_ns + (20.0 * 60.0 * 1e9 / scale) as u64;
    let (mut random, mut now_ns) = (Random(1), filled_ns);
    while now_ns < worn_ns {
        now_ns = random_writes(&mut drive, now_ns, 32, 10_000, 4096, &mut random).ended_ns;
    }
    let mut worn = AsSsd {
        drive,
        units,
        now_ns,
    };
    let mut trimmed = AsSsd {
        drive: worn.drive.clone(),
        ..worn
    };
    trimmed.trim(worn.drive.capacity_bytes() / 4096);
    trimmed.now_ns += SECOND;
    let [first, second] = worn.twice();
    [as_new, first, second, trimmed.in_sequence()]
}

#[test]
fn a_compressing_drive_that_was_worn_writes_as_slowly_as_measured_and_recovers_as_far() {
    // AnandTech of a Vertex 3 of 120 GB; new and trimmed are fitted, worn is predicted. The second
    // run is missed: 132 MB/s are published. It is held to what the page says of it.
    let [new, worn, again, trimmed] = resilience("vertex3?scale=8");
    println!("new {new:.1}, worn {worn:.1}, once more {again:.1}, trimmed {trimmed:.1} MB/s");
    assert_within("MB/s as new", new, 162.1, 3.0);
    assert_within("MB/s trimmed", trimmed, 101.5, 3.0);
    assert_within("MB/s worn", worn, 38.3, 25.0);
    assert_within("MB/s once more", again, 76.0, 10.0);
}
