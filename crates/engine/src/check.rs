//! Whether a plan has a meaning: every way in which it has none, by name. A plan that passes is
//! run without a further question, within its range.

use crate::access::lay_zones;
use crate::content::SECTOR_BYTES;
use crate::error::EngineError;
use crate::plan::{Access, Bound, Content, Depth, Order, Plan, StreamPlan};

/// More I/Os in flight per worker than any ring takes.
const DEPTH_MAX: u32 = 32_768;
const WORKERS_MAX: u64 = 4_096;
/// Lengths beyond are cut short by the kernel.
const BLOCK_BYTES_MAX: u32 = 1 << 30;
/// The place of a sector in its block is 16 bits of its stamp.
const VERIFIED_BLOCK_BYTES_MAX: u32 = (SECTOR_BYTES as u32) << 16;
/// Of a first pass or write: those that follow are counted up from here.
const GENERATION_MAX: u64 = 1 << 62;
const SIZES_MAX: usize = 32;
const ZONES_MAX: usize = 256;
/// Of a stream that counts over all its passes.
const CURSOR_BYTES_MAX: u64 = 1 << 62;
/// Ranks are drawn as doubles.
const PLACES_MAX: u64 = 1 << 52;
/// Beyond, one block would have every access.
const THETA_MAX: f64 = 20.0;
/// One arrival every nanosecond, the grain of the clock, and one in twelve days: beyond, a gap
/// is no number of nanoseconds.
const RATE_MAX: f64 = 1e9;
const RATE_MIN: f64 = 1e-6;
/// Shorter intervals are too many to be kept, and too many for 32 bits within two months.
const INTERVAL_MIN_NS: u64 = 1_000_000;

fn check(condition: bool, reason: &'static str) -> Result<(), EngineError> {
    condition
        .then_some(())
        .ok_or(EngineError::PlanRefused { reason })
}

/// Refuses a plan that cannot be run.
pub(crate) fn check_plan(plan: &Plan, depth: Depth) -> Result<(), EngineError> {
    check(!plan.streams.is_empty(), "it has no stream")?;
    check(
        plan.interval_ns >= INTERVAL_MIN_NS,
        "an interval is 1 ms or longer",
    )?;
    for stream in &plan.streams {
        check_load(stream, depth)?;
        check_range(stream)?;
        check_blocks(stream)?;
        check_access(stream, plan)?;
        check_content(stream)?;
    }
    unverifiable(plan).map_or(Ok(()), |reason| Err(EngineError::PlanRefused { reason }))
}

fn check_load(plan: &StreamPlan, depth: Depth) -> Result<(), EngineError> {
    check(plan.threads > 0, "a stream needs a thread")?;
    check(
        (1..=DEPTH_MAX).contains(&plan.queue_depth),
        "a queue depth is 1 to 32768",
    )?;
    let alone = depth == Depth::OnePerWorker;
    let per_thread = if alone { plan.queue_depth } else { 1 };
    let workers = u64::from(plan.threads) * u64::from(per_thread);
    check(
        workers <= WORKERS_MAX,
        "more than 4096 workers (threads x I/Os each)",
    )?;
    check(plan.read_percent <= 100, "a read share is 0 to 100 %")?;
    check(plan.discard_percent <= 100, "a discard share is 0 to 100 %")?;
    // Arrivals are counted one by one: a schedule without time between them would never end.
    let rate_is_real = plan
        .rate
        .is_none_or(|rate| (RATE_MIN..=RATE_MAX).contains(&rate.ios_per_second));
    check(rate_is_real, "a rate is 10^-6 to 10^9 I/Os per second")
}

fn check_range(plan: &StreamPlan) -> Result<(), EngineError> {
    let range = plan.range;
    check(
        range.segments > 0 && range.segment_bytes > 0,
        "the range is empty",
    )?;
    check(
        range.segments == 1 || range.stride_bytes >= range.segment_bytes,
        "the segments overlap",
    )?;
    let end = (range.segments - 1)
        .checked_mul(range.stride_bytes)
        .and_then(|last| last.checked_add(range.segment_bytes))
        .and_then(|length| length.checked_add(range.start_bytes));
    check(
        end.is_some_and(|end| i64::try_from(end).is_ok()),
        "the range ends beyond 2^63",
    )
}

fn check_blocks(plan: &StreamPlan) -> Result<(), EngineError> {
    let is_size = |bytes: u32| (1..=BLOCK_BYTES_MAX).contains(&bytes);
    check(plan.sizes_bytes().all(is_size), "a block is 1 B to 1 GiB")?;
    check(
        plan.blocks.len() <= SIZES_MAX,
        "a mix has more than 32 block sizes",
    )?;
    check(
        plan.blocks.iter().all(|share| share.weight > 0),
        "a block size of a mix weighs nothing",
    )?;
    check(
        plan.sizes_bytes().max() == Some(plan.block_size_bytes),
        "the block size is not the largest of its mix",
    )?;
    check(
        plan.alignment_bytes <= BLOCK_BYTES_MAX,
        "an alignment is 1 B to 1 GiB",
    )
}

fn check_access(plan: &StreamPlan, whole: &Plan) -> Result<(), EngineError> {
    let range = plan.range;
    if matches!(plan.access, Access::Sequential { .. }) {
        return Ok(());
    }
    check(
        range.segment_bytes >= u64::from(plan.block_size_bytes),
        "the range (or a segment of it) is smaller than a block",
    )?;
    let places = |bytes: u32| {
        let steps = (range.segment_bytes - u64::from(bytes)) / u64::from(plan.grid_bytes());
        range.segments * (steps + 1)
    };
    let few = places(plan.block_size_bytes) <= PLACES_MAX;
    match &plan.access {
        Access::Random | Access::Sequential { .. } => Ok(()),
        Access::Shuffled { cursor_bytes, .. } => {
            check(few, "more than 2^52 blocks cannot be shuffled")?;
            check(
                cursor_bytes.is_multiple_of(u64::from(plan.block_size_bytes))
                    && *cursor_bytes <= CURSOR_BYTES_MAX,
                "a shuffled stream begins at a whole block, before 2^62",
            )?;
            check_shuffle(plan, whole)
        }
        Access::Zoned(zones) => {
            let real = |share: f64| share.is_finite() && share >= 0.0;
            check((1..=ZONES_MAX).contains(&zones.len()), "zones are 1 to 256")?;
            check(
                zones.iter().all(|zone| {
                    real(zone.access_share) && real(zone.range_share) && zone.range_share > 0.0
                }),
                "a zone's shares are 0 or more, and that of the range above 0",
            )?;
            let accesses: f64 = zones.iter().map(|zone| zone.access_share).sum();
            let ranges: f64 = zones.iter().map(|zone| zone.range_share).sum();
            check(
                accesses > 0.0 && accesses.is_finite() && ranges.is_finite(),
                "no zone is accessed",
            )?;
            check(
                plan.sizes_bytes()
                    .all(|bytes| lay_zones(zones, places(bytes)).is_some()),
                "a zone is smaller than a block",
            )
        }
        Access::Zipf { theta } => {
            check(
                *theta > 0.0 && *theta <= THETA_MAX,
                "a Zipf exponent is above 0 and at most 20",
            )?;
            check(few, "more than 2^52 places cannot be ranked")
        }
        Access::Pareto { h } => {
            check(
                *h > 0.0 && *h < 0.5,
                "a Pareto share is above 0 and below 0.5",
            )?;
            check(few, "more than 2^52 places cannot be ranked")
        }
    }
}

/// A shuffled pass is of whole blocks: no budget may cut one.
fn check_shuffle(plan: &StreamPlan, whole: &Plan) -> Result<(), EngineError> {
    check(
        plan.blocks.is_empty() && plan.grid_bytes() == plan.block_size_bytes,
        "only blocks of one size on their own grid can be shuffled",
    )?;
    let block_size_bytes = plan.block_size_bytes;
    let is_whole = match whole.bound {
        Bound::Time { .. } => true,
        Bound::Bytes { total_bytes } => {
            let mut sizes = whole.streams.iter().flat_map(StreamPlan::sizes_bytes);
            sizes.all(|bytes| bytes == block_size_bytes)
                && total_bytes.is_multiple_of(u64::from(block_size_bytes))
        }
    };
    check(
        is_whole,
        "beside a shuffled stream, bytes are a multiple of the one block size of all streams",
    )
}

fn check_content(plan: &StreamPlan) -> Result<(), EngineError> {
    let percent = match plan.content {
        Content::Random
        | Content::Refill
        | Content::Zero
        | Content::OneBlock
        | Content::Counting => 0,
        Content::Compressible { percent } | Content::Dedupable { percent } => percent,
    };
    check(percent <= 100, "a share of the content is 0 to 100 %")
}

/// Why a plan cannot be verified, if so.
fn unverifiable(plan: &Plan) -> Option<&'static str> {
    let verified = plan.streams.iter().filter_map(|one| one.verify.as_ref());
    let mut runs = verified.clone().map(|verify| verify.run);
    let first = runs.next()?;
    if runs.any(|run| run != first) || verified.clone().count() < plan.streams.len() {
        return Some("the streams of a plan verify all for one run, or not at all");
    }
    let is_generation = |one: u64| (1..=GENERATION_MAX).contains(&one);
    let past = verified.clone().flat_map(|verify| &verify.written);
    let mut generations = verified
        .clone()
        .map(|verify| verify.generation)
        .chain(past.map(|past| past.generation));
    if !generations.all(is_generation) {
        return Some("a generation is 1 to 2^62");
    }
    let mut odd = verified.flat_map(|verify| &verify.written).map(|past| {
        let block_size_bytes = match past.order {
            Order::Sequential => u64::MAX,
            Order::Shuffled {
                block_size_bytes, ..
            } => u64::from(block_size_bytes),
        };
        let room = past.range.segment_bytes;
        past.range.segments == 0
            || room == 0
            || block_size_bytes == 0
            || block_size_bytes != u64::MAX && room < block_size_bytes
            || past.range.segments > 1 && past.range.stride_bytes < room
            || past
                .range
                .segments
                .checked_mul(room)
                .is_none_or(|all| all > 1 << 62)
            || past.from_bytes > past.to_bytes
            || past.to_bytes > CURSOR_BYTES_MAX
    });
    if odd.any(|odd| odd) {
        return Some("what was written before has no range");
    }
    plan.streams
        .iter()
        .find_map(unverifiable_stream)
        .or_else(|| {
            let is_whole = plan.grain_bytes().is_multiple_of(SECTOR_BYTES as u64);
            (!is_whole).then_some("only whole sectors of 512 B on their own grid are verified")
        })
}

fn unverifiable_stream(plan: &StreamPlan) -> Option<&'static str> {
    if plan.discard_percent > 0 {
        return Some("what is discarded cannot be verified");
    }
    if plan.thread_stride_bytes.is_some() {
        return Some("threads with cursors of their own cannot be verified");
    }
    if plan.block_size_bytes > VERIFIED_BLOCK_BYTES_MAX {
        return Some("a block that is verified is 32 MiB at most");
    }
    match plan.content {
        Content::Random | Content::Refill | Content::Compressible { .. } => None,
        Content::Dedupable { .. } => Some("repeated sectors cannot carry stamps to verify"),
        Content::Zero => Some("zeros cannot carry stamps to verify"),
        Content::OneBlock | Content::Counting => {
            Some("what is the same in every write cannot carry stamps to verify")
        }
    }
}
