//! The parameters of a simulated SSD, the only list of them; their reference page is checked
//! against it.

use crate::flash::params::{
    Cleaning, Duplex, Frontier, IdleStep, Pacing, PageTimes, ParamError, Placement, SlowDie,
    SsdParams, WhenFull,
};
use crate::parameters::{
    capacity_parameter, count, name_of, one_of, parameter, percent, positive, power_of_two,
    scale_parameter, text, us_text, Parameter,
};
use crate::quantity::{bytes, bytes_text, decimal, nanoseconds, whole};

const FRONTIER: [(&str, Frontier); 2] = [
    ("shared", Frontier::Shared),
    ("separate", Frontier::Separate),
];
const PAGE_TIMES: [(&str, PageTimes); 2] = [
    ("even", PageTimes::Even),
    ("exponential", PageTimes::Exponential),
];
const PACING: [(&str, Pacing); 2] = [("lump", Pacing::Lump), ("paced", Pacing::Paced)];
const PLACEMENT: [(&str, Placement); 2] = [("turn", Placement::Turn), ("free", Placement::Free)];
const DUPLEX: [(&str, Duplex); 2] = [("half", Duplex::Half), ("full", Duplex::Full)];
const IDLE_STEP: [(&str, IdleStep); 2] = [("block", IdleStep::Block), ("page", IdleStep::Page)];

fn cleaning(text: &str) -> Result<Cleaning, String> {
    match text.split_once(':') {
        None if text == "greedy" => Ok(Cleaning::Greedy),
        None if text == "fifo" => Ok(Cleaning::Fifo),
        None if text == "random" => Ok(Cleaning::Sampled { choices: 1 }),
        Some(("random", choices)) => Ok(Cleaning::Sampled {
            choices: count(choices)?,
        }),
        _ => Err("must be greedy, fifo, random or random:CHOICES".into()),
    }
}

fn cleaning_text(cleaning: Cleaning) -> String {
    match cleaning {
        Cleaning::Greedy => "greedy".into(),
        Cleaning::Fifo => "fifo".into(),
        Cleaning::Sampled { choices: 1 } => "random".into(),
        Cleaning::Sampled { choices } => format!("random:{choices}"),
    }
}
const WHEN_FULL: [(&str, WhenFull); 2] = [("fold", WhenFull::Fold), ("bypass", WhenFull::Bypass)];
const MOST_READ_AHEAD_BYTES: u64 = 64 << 20;
const SWITCH: [(&str, bool); 2] = [("off", false), ("on", true)];

fn queue(text: &str) -> Result<u32, String> {
    match u32::try_from(whole(text)?) {
        Ok(value @ 0..=65_535) => Ok(value),
        _ => Err("must be at most 65535".into()),
    }
}

fn of_mapping(text: &str) -> Result<Option<u32>, String> {
    match text {
        "mapping" => Ok(None),
        bytes => power_of_two(bytes, 512, 1 << 20).map(Some),
    }
}

fn of_mapping_text(bytes: Option<u32>) -> String {
    bytes.map_or_else(|| "mapping".into(), |bytes| bytes_text(u64::from(bytes)))
}

fn read_ahead(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        value if value <= MOST_READ_AHEAD_BYTES => Ok(value),
        _ => Err("must be at most 64MiB".into()),
    }
}

fn at_most_one(text: &str) -> Result<f64, String> {
    match positive(text)? {
        value if value <= 1.0 => Ok(value),
        _ => Err("must be at most 1".into()),
    }
}

/// A number from above 0 to 100 where `zero` is false, from 0 where it is true.
fn at_most_all(text: &str, zero: bool) -> Result<f64, String> {
    let value = if zero {
        decimal(text)?
    } else {
        positive(text)?
    };
    if value <= 100.0 {
        Ok(value)
    } else {
        Err("must be at most 100".into())
    }
}

fn share(text: &str) -> Result<f64, String> {
    at_most_all(text, true)
}

/// A chance below 1, so that what is tried again ends.
fn retries(text: &str) -> Result<f64, String> {
    match decimal(text)? {
        value if value <= 99.0 => Ok(value),
        _ => Err("must be at most 99".into()),
    }
}

fn throttle(text: &str) -> Result<f64, String> {
    at_most_all(text, false)
}

fn least_percent(text: &str) -> Result<f64, String> {
    match at_most_all(text, false)? {
        value if value >= 1.0 => Ok(value),
        _ => Err("must be at least 1".into()),
    }
}

fn slow_die(text: &str) -> Result<Option<SlowDie>, String> {
    if text == "none" {
        return Ok(None);
    }
    let why = || "must be none, DIE:TIMES or any:TIMES, as 3:10".to_owned();
    let (die, times) = text.split_once(':').ok_or_else(why)?;
    let die = match die {
        "any" => None,
        number => Some(number.parse::<u32>().map_err(|_| why())?),
    };
    match decimal(times) {
        Ok(times @ 1.0..=1e6) => Ok(Some(SlowDie { die, times })),
        _ => Err("TIMES must be 1 to 1000000".into()),
    }
}

fn slow_die_text(slow: Option<SlowDie>) -> String {
    match slow {
        None => "none".into(),
        Some(SlowDie { die: None, times }) => format!("any:{times}"),
        Some(SlowDie {
            die: Some(die),
            times,
        }) => format!("{die}:{times}"),
    }
}

/// Every parameter of a simulated SSD, in the order they are documented.
#[rustfmt::skip]
pub const PARAMETERS: &[Parameter<SsdParams>] = &[
    parameter!("nominal_capacity", "bytes",
        "capacity of the drive that is modelled",
        nominal_capacity_bytes, bytes, bytes_text),
    scale_parameter!("nominal capacity over simulated capacity; 1 is full size"),
    capacity_parameter!(),
    parameter!("op_percent", "%",
        "spare flash over the capacity, reserve blocks not counted (effective \
         over-provisioning)",
        op_percent, percent, text),
    parameter!("gc", "greedy, fifo, random or random:CHOICES",
        "which closed block is cleaned next: fewest valid pages, oldest, or fewest valid pages \
         of CHOICES drawn at random",
        cleaning, cleaning, cleaning_text),
    parameter!("frontier", "shared or separate",
        "whether cleaning moves pages into the host's open block or into one of its own",
        frontier, |t| one_of(t, &FRONTIER), |value| name_of(value, &FRONTIER)),
    parameter!("pacing", "lump or paced",
        "whether a die cleans a whole block at once or spreads the time over the host pages it \
         made room for",
        pacing, |t| one_of(t, &PACING), |value| name_of(value, &PACING)),
    parameter!("placement", "turn or free",
        "whether host pages go to the dies in turn, or to the die that is free first; one that \
         has to clean before it takes a page then does so beside, and another takes the page",
        placement, |t| one_of(t, &PLACEMENT), |value| name_of(value, &PLACEMENT)),
    parameter!("dies", "count",
        "flash dies working in parallel",
        dies, count, text),
    parameter!("pages_per_block", "mapping units",
        "units in an erase block; a power of two",
        pages_per_block, |t| power_of_two(t, 8, 32_768), text),
    parameter!("mapping", "bytes",
        "what one entry of the map stands for; a power of two",
        mapping_bytes, |t| power_of_two(t, 512, 65_536), |value| bytes_text(u64::from(value))),
    parameter!("page", "bytes, or mapping",
        "flash page, which is programmed whole: the units of a page are gathered first, and a \
         flush programs it as it is; a power of two, at least the mapping unit",
        page_bytes, of_mapping, of_mapping_text),
    parameter!("codeword", "bytes, or mapping",
        "what is brought from a flash page and decoded at once, whole also where less is read, and \
         for each mapping unit at least once; a power of two",
        codeword_bytes, of_mapping, of_mapping_text),
    parameter!("buffer", "bytes",
        "write buffer; a write is acknowledged when it is in",
        buffer_bytes, bytes, bytes_text),
    parameter!("program_us", "µs",
        "a die programs one page",
        program_ns, nanoseconds, us_text),
    parameter!("read_us", "µs",
        "a die reads one page",
        read_ns, nanoseconds, us_text),
    parameter!("transfer_us", "µs",
        "each codeword of a flash page comes to the controller and is decoded, after those of the \
         same page before it; the die is free meanwhile, and cleaning has no part in it",
        transfer_ns, nanoseconds, us_text),
    parameter!("erase_us", "µs",
        "a die erases one block",
        erase_ns, nanoseconds, us_text),
    parameter!("move_us", "µs",
        "a die needs this for each page that cleaning programs, besides reading and programming it",
        move_ns, nanoseconds, us_text),
    parameter!("read_command_us", "µs",
        "the front end is held by each read, besides its transfer",
        read_command_ns, nanoseconds, us_text),
    parameter!("write_command_us", "µs",
        "the front end is held by each write, besides its transfer",
        write_command_ns, nanoseconds, us_text),
    parameter!("unit_us", "µs",
        "latency of each unit of a request after its first",
        unit_ns, nanoseconds, us_text),
    parameter!("read_unit_us", "µs",
        "latency of each flash page that a read waits for after its first, besides",
        read_unit_ns, nanoseconds, us_text),
    parameter!("read_ahead", "bytes",
        "read from flash ahead of a read that goes on where one of the last ones ended; 0 is none",
        read_ahead_bytes, read_ahead, bytes_text),
    parameter!("ack_us", "µs",
        "latency of every request that holds nothing up",
        ack_ns, nanoseconds, us_text),
    parameter!("write_ack_us", "µs",
        "latency of every write that holds nothing up, besides",
        write_ack_ns, nanoseconds, us_text),
    parameter!("link_mb_per_second", "MB/s (10^6)",
        "host link, each direction",
        link_mb_per_second, positive, text),
    parameter!("link_duplex", "half or full",
        "whether data goes one direction at a time or both at once",
        link_duplex, |t| one_of(t, &DUPLEX), |value| name_of(value, &DUPLEX)),
    parameter!("turnaround_us", "µs",
        "the front end is held by each read that follows a write and each write that follows a \
         read, besides",
        turnaround_ns, nanoseconds, us_text),
    parameter!("bus_mb_per_second", "MB/s (10^6)",
        "all flash channels together, which carry whole units when reading",
        bus_mb_per_second, positive, text),
    parameter!("read_wait_us", "µs",
        "longest a read waits for a die that programs, cleans or erases before that is \
         suspended",
        read_wait_ns, nanoseconds, us_text),
    parameter!("rmw_us", "µs",
        "each write that covers part of a unit with data is merged with the rest for this long, \
         one after another",
        rmw_ns, nanoseconds, us_text),
    parameter!("rmw_queue", "writes",
        "acknowledged before they are merged, at most; 0: the write path waits for each merge",
        rmw_queue, queue, text),
    parameter!("seq_ss_factor", "ratio",
        "program rate into a block that was erased without moving a page, over the rate of new \
         flash; a fitted loss, not a mechanism",
        seq_ss_factor, at_most_one, text),
    parameter!("idle_pool_percent", "% of capacity",
        "free blocks that a die cleans ahead while it is idle",
        idle_pool_percent, percent, text),
    parameter!("idle_wait_us", "µs",
        "a die is idle for this long before it folds or cleans ahead",
        idle_wait_ns, nanoseconds, us_text),
    parameter!("idle_step", "block or page",
        "whether a die that cleans ahead ends the block when the host comes, or the page it \
         moves, and goes on later",
        idle_step, |t| one_of(t, &IDLE_STEP), |value| name_of(value, &IDLE_STEP)),
    parameter!("erase_suspend_us", "µs",
        "longest a read waits for an erase of a die that cleans ahead page by page, before that \
         is suspended",
        erase_suspend_ns, nanoseconds, us_text),
    parameter!("slc_region", "bytes",
        "region of the nominal drive that host writes fill first, at one bit a cell",
        region.nominal_bytes, bytes, bytes_text),
    parameter!("slc_dynamic_percent", "% of the free capacity",
        "what the region gains besides, as long as so much of the drive holds no data",
        region.of_free_percent, share, text),
    parameter!("slc_program_us", "µs",
        "a die programs one page of the region",
        region.program_ns, nanoseconds, us_text),
    parameter!("slc_fold_us", "µs",
        "a die needs this to fold a page into the main area, besides reading and programming it",
        region.fold_ns, nanoseconds, us_text),
    parameter!("slc_when_full", "fold or bypass",
        "whether a write to a full region folds a page first or goes to the main area; a die \
         that is idle for idle_wait folds as well",
        region.when_full, |t| one_of(t, &WHEN_FULL), |value| name_of(value, &WHEN_FULL)),
    parameter!("compression", "off or on",
        "whether the drive compresses what it writes to flash",
        compression.on, |t| one_of(t, &SWITCH), |value| name_of(value, &SWITCH)),
    parameter!("compression_least_percent", "% of a unit",
        "what a unit takes that compresses at least as well as that",
        compression.least_percent, least_percent, text),
    parameter!("throttle_percent", "% of the full speed",
        "speed of everything while the drive is too hot; 100 models no heat",
        heat.throttle_percent, throttle, text),
    parameter!("throttle_at_c", "°C",
        "the drive slows down when it is as hot as this",
        heat.throttle_at_c, decimal, text),
    parameter!("throttle_until_c", "°C",
        "and is at full speed again when it has cooled to this",
        heat.throttle_until_c, decimal, text),
    parameter!("ambient_c", "°C",
        "temperature around the drive, and its own at first",
        heat.ambient_c, decimal, text),
    parameter!("idle_w", "W",
        "power of the drive when it does nothing",
        heat.idle_w, decimal, text),
    parameter!("program_nj_per_byte", "nJ/B",
        "energy to program flash; the same number of W per GB/s",
        heat.program_nj_per_byte, decimal, text),
    parameter!("read_nj_per_byte", "nJ/B",
        "energy to read flash",
        heat.read_nj_per_byte, decimal, text),
    parameter!("heat_j_per_k", "J/K",
        "heat capacity of the nominal drive; divided by the scale, as volumes are",
        heat.capacity_j_per_k, positive, text),
    parameter!("thermal_k_per_w", "K/W",
        "thermal resistance between the drive and what is around it",
        heat.resistance_k_per_w, positive, text),
    parameter!("map_cache", "bytes",
        "of the map that the nominal drive has at hand in memory of its own, 4 B a mapping unit; \
         what is not there is read from flash first; 0 is the whole map",
        map.own_bytes, bytes, bytes_text),
    parameter!("host_memory", "bytes",
        "of the map that it has at hand in memory of the host, beside map_cache",
        map.host_bytes, bytes, bytes_text),
    parameter!("host_memory_us", "µs",
        "a look into the memory of the host takes this long",
        map.host_ns, nanoseconds, us_text),
    parameter!("map_flush", "mapping units",
        "programmed to each page of the map that a die programs besides; 0 is never",
        upkeep.map_flush_units, whole, text),
    parameter!("retry_percent", "%",
        "of readings of a page that cannot be corrected: the page is read once more, and may \
         fail again",
        upkeep.retry_percent, retries, text),
    parameter!("refresh_us", "µs",
        "between two pages that a die reads and programs again to keep them readable; 0 is never",
        upkeep.refresh_ns, nanoseconds, us_text),
    parameter!("stray_percent", "%",
        "of reads and writes that hold the front end longer than others",
        upkeep.stray_percent, share, text),
    parameter!("stray_us", "µs",
        "longer in the mean; how much longer is distributed exponentially",
        upkeep.stray_ns, nanoseconds, us_text),
    parameter!("housekeeping_every_us", "µs",
        "from one housekeeping of the controller to the next; 0 is never",
        upkeep.housekeeping_every_ns, nanoseconds, us_text),
    parameter!("housekeeping_us", "µs",
        "the front end takes no command for this long each time",
        upkeep.housekeeping_ns, nanoseconds, us_text),
    parameter!("power_loss_protection", "off or on",
        "whether what is in the write buffer outlives a power cut, so that a flush need not wait \
         until it is programmed",
        power_loss_protection, |t| one_of(t, &SWITCH), |value| name_of(value, &SWITCH)),
    parameter!("flush_us", "µs",
        "a flush takes this long, besides what it waits for",
        flush_ns, nanoseconds, us_text),
    parameter!("flush_alone", "off or on",
        "whether a flush waits until all before it is answered and lets nothing begin until it is \
         over, as on SATA, where it is no queued command; flushes that come while one waits are \
         done with it",
        flush_alone, |t| one_of(t, &SWITCH), |value| name_of(value, &SWITCH)),
    parameter!("slow_die", "none, DIE:TIMES or any:TIMES",
        "a fault: this die, or one drawn with the seed, takes so many times as long",
        slow_die, slow_die, slow_die_text),
    parameter!("purge_us", "µs",
        "a purge takes this long",
        purge_ns, nanoseconds, us_text),
    parameter!("page_times", "even or exponential",
        "how program and read times vary: within jitter_percent, or exponentially, as queueing \
         theory has them",
        page_times, |t| one_of(t, &PAGE_TIMES), |value| name_of(value, &PAGE_TIMES)),
    parameter!("jitter_percent", "%",
        "program and read times vary by up to this much either way, uniformly",
        jitter_percent, share, text),
    parameter!("seed", "whole number",
        "of the jitter, of random cleaning, of strays, of readings, and of a slow die that is \
         drawn",
        seed, whole, text),
];

impl SsdParams {
    /// Sets one parameter from text.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError> {
        let found = PARAMETERS.iter().find(|parameter| parameter.name == name);
        let parameter = found.ok_or_else(|| ParamError::UnknownParameter {
            name: name.into(),
            known: known(),
        })?;
        parameter
            .set(self, value.trim())
            .map_err(|why| ParamError::BadValue {
                name: parameter.name,
                value: value.into(),
                why,
            })
    }
}

/// Every parameter and its unit, for who takes another name.
fn known() -> String {
    let row = |one: &Parameter<SsdParams>| format!("{} ({})", one.name, one.unit);
    PARAMETERS.iter().map(row).collect::<Vec<_>>().join(", ")
}
