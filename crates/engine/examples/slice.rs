//! Runs one slice of load on a target and prints what it cost, as one JSON object:
//! `slice TARGET read|write QD MS [--block BYTES] [--backend NAME] [--size BYTES] [--buffered]
//! [--without TECHNIQUE]… [--content random|zero] [--rate IOPS] [--poisson IOPS] [--cpu-ms MS]`
//! With `--cpu-ms` it also ends once it has taken so much CPU time, looked at ten times a second.
//! The instrument behind `make bench`, and for ablations: every technique can be left out.

use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::ExitCode;

use teijo_engine::backend::BackendKind;
use teijo_engine::clock::{Clock, CpuClock};
use teijo_engine::lap::Lap;
use teijo_engine::plan::{Access, Bound, Content, Plan, Range, Rate, Schedule, StreamPlan};
use teijo_engine::session::Session;
use teijo_engine::technique::{Technique, Techniques};

struct Slice {
    target: String,
    reads: bool,
    queue_depth: u32,
    duration_ms: u64,
    block_size_bytes: u32,
    backend: BackendKind,
    size_bytes: u64,
    direct: bool,
    techniques: Techniques,
    content: Content,
    rate: Option<Rate>,
    cpu_ms_max: u64,
}

fn number<T: std::str::FromStr>(text: Option<String>) -> Result<T, String> {
    let text = text.ok_or("a number is missing")?;
    text.parse().map_err(|_| format!("not a number: {text}"))
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Slice, String> {
    let target = words.next().ok_or("a target is missing")?;
    let reads = match words.next().as_deref() {
        Some("read") => true,
        Some("write") => false,
        other => return Err(format!("read or write, not {other:?}")),
    };
    let mut slice = Slice {
        target,
        reads,
        queue_depth: number(words.next())?,
        duration_ms: number(words.next())?,
        block_size_bytes: 4096,
        backend: BackendKind::Uring,
        size_bytes: 1 << 30,
        direct: true,
        techniques: Techniques::ALL,
        content: Content::Random,
        rate: None,
        cpu_ms_max: u64::MAX,
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--block" => slice.block_size_bytes = number(words.next())?,
            "--cpu-ms" => slice.cpu_ms_max = number(words.next())?,
            "--size" => slice.size_bytes = number(words.next())?,
            "--buffered" => slice.direct = false,
            "--backend" => {
                slice.backend = match words.next().as_deref() {
                    Some("io_uring") => BackendKind::Uring,
                    Some("sync") => BackendKind::Sync,
                    Some("null") => BackendKind::Null,
                    Some("nop") => BackendKind::NopRing,
                    Some("nop-call") => BackendKind::NopCall,
                    other => return Err(format!("no backend {other:?}")),
                };
            }
            "--without" => {
                let name = words.next().unwrap_or_default();
                let technique = Technique::named(&name).ok_or(format!("no technique {name}"))?;
                slice.techniques = slice.techniques.without(technique);
            }
            "--rate" | "--poisson" => {
                slice.rate = Some(Rate {
                    ios_per_second: number(words.next())?,
                    schedule: if word == "--rate" {
                        Schedule::Fixed
                    } else {
                        Schedule::Poisson
                    },
                });
            }
            "--content" => {
                slice.content = match words.next().as_deref() {
                    Some("random") => Content::Random,
                    Some("zero") => Content::Zero,
                    other => return Err(format!("no content {other:?}")),
                };
            }
            other => return Err(format!("unknown: {other}")),
        }
    }
    Ok(slice)
}

impl Slice {
    fn plan(&self) -> Plan {
        let range = Range {
            start_bytes: 0,
            segments: 1,
            segment_bytes: self.size_bytes,
            stride_bytes: self.size_bytes,
        };
        let stream = StreamPlan {
            threads: 1,
            queue_depth: self.queue_depth,
            read_percent: if self.reads { 100 } else { 0 },
            block_size_bytes: self.block_size_bytes,
            access: Access::Random,
            range,
            content: self.content,
            rate: self.rate,
            seed: 1,
            ..StreamPlan::default()
        };
        let duration_ns = self.duration_ms * 1_000_000;
        Plan {
            streams: vec![stream],
            bound: Bound::Time { duration_ns },
            interval_ns: 1_000_000_000,
            open_ended: false,
            continues: false,
        }
    }

    fn run(&self) -> Result<(Lap, BackendKind), String> {
        let flags = if self.direct { libc::O_DIRECT } else { 0 };
        let file: OwnedFd = OpenOptions::new()
            .read(self.reads)
            .write(!self.reads)
            .custom_flags(flags)
            .open(&self.target)
            .map_err(|error| format!("{}: {error}", self.target))?
            .into();
        let mut session = Session::with_techniques(file, self.backend, self.techniques);
        let began_ns = CpuClock.now_ns();
        let lap = session
            .run_observed(&self.plan(), |_| {
                (CpuClock.now_ns() - began_ns) / 1_000_000 < self.cpu_ms_max
            })
            .map_err(|error| error.to_string());
        Ok((lap?, session.kind()))
    }
}

fn print(lap: &Lap, reads: bool) {
    let stream = &lap.streams[0];
    let side = if reads { &stream.read } else { &stream.write };
    let witness = &lap.witness;
    let ios = side.ios.max(1) as f64;
    let quantiles = [0.5, 0.99, 0.999].map(|one| side.latency.quantile_ns(one));
    let response = side.response.as_ref().map_or(String::new(), |response| {
        let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|one| response.quantile_ns(one));
        format!(
            "\"response_p50_ns\": {p50}, \"response_p99_ns\": {p99}, \
             \"response_p999_ns\": {p999}, \"backlog_max\": {}, ",
            stream.backlog_max
        )
    });
    let techniques: Vec<String> = witness
        .techniques
        .names()
        .map(|name| format!("{name:?}"))
        .collect();
    let errors: u64 = side.errors.values().sum();
    println!(
        "{{\"ios\": {}, \"errors\": {errors}, \"iops\": {:.0}, \"cpu_ns_per_io\": {:.1}, \
         \"wall_ns_per_io\": {:.1}, \"p50_ns\": {}, \"p99_ns\": {}, \"p999_ns\": {}, \
         \"max_ns\": {}, {response}\"in_flight_mean\": {:.2}, \"ios_per_call\": {:.2}, \
         \"min_complete\": {}, \"io_wq_workers\": {}, \"delay_ns\": {}, \"turn_gap_ns_max\": {}, \
         \"techniques\": [{}]}}",
        side.ios,
        ios * 1e9 / lap.elapsed_ns as f64,
        witness.cpu_ns as f64 / ios,
        lap.elapsed_ns as f64 / ios,
        quantiles[0],
        quantiles[1],
        quantiles[2],
        side.latency.max_ns(),
        witness.in_flight_mean,
        ios / witness.submit_calls.max(1) as f64,
        witness.min_complete,
        witness.io_wq_workers,
        witness.worker_delay_ns,
        witness.turn_gap_ns_max,
        techniques.join(", "),
    );
}

fn main() -> ExitCode {
    let slice = parse(std::env::args().skip(1));
    let done = slice.and_then(|slice| slice.run().map(|(lap, _)| print(&lap, slice.reads)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
