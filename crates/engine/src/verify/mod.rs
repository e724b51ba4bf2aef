//! Whether what is read is what was written. Every 512 B sector of a verified write carries run,
//! address, generation and checksum; every verified read is held to them, inline or afterwards.

mod ledger;
mod stamp;
mod verifier;

use std::collections::BTreeMap;
use std::fmt;

pub use ledger::Ledger;
pub use stamp::{read_block, stamp_block, Seen, Stamp};
pub(crate) use verifier::Verifier;

use crate::check::CURSOR_BYTES_MAX;
use crate::content::SECTOR_BYTES;
use crate::plan::{Access, Bound, Content, Order, Plan, Range, StreamPlan};

/// So many places are remembered of each class.
pub const EXAMPLES_MAX: usize = 32;
/// The place of a sector in its block is 16 bits.
const BLOCK_BYTES_MAX: u32 = (SECTOR_BYTES as u32) << 16;

/// Of a first pass or write: those that follow are counted up from here.
const GENERATION_MAX: u64 = 1 << 62;

/// What is wrong with a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The stamp is the right one or nearly so, and the checksum is wrong.
    BitFlip,
    /// A sector of another address.
    Misplaced,
    /// An older generation than the last that was written.
    Stale,
    /// An older generation beside a newer one of a write that covered both.
    Torn,
    /// Of another run, or never stamped.
    Foreign,
    /// Zeros where something was written.
    Zero,
}

impl Fault {
    pub const ALL: [Self; 6] = [
        Self::BitFlip,
        Self::Misplaced,
        Self::Stale,
        Self::Torn,
        Self::Foreign,
        Self::Zero,
    ];
}

/// What the reads of a lap were found to hold.
///
/// What is found, and what is not:
///
/// - A flipped bit, a misplaced sector and a torn block are found in every verified read, because
///   the sectors themselves tell.
/// - A lost write leaves an older generation of the right address behind. Where one stream alone
///   writes the plan's blocks, in an order (sequential or shuffled), the generation due at any
///   address is a formula of the cursor: every lost write is found that a later read touches,
///   over any capacity and without a map. The same holds for a later step that is told what was
///   `written`.
/// - Where writes have no order (random, skewed, mixed with reads, several writing streams), the
///   generations of the last writes are remembered in a table of fixed size: a lost write is
///   found if the read comes before another write took the table's place, which is on average
///   after 262,144 writes of one grain (the largest length that divides all blocks and offsets).
/// - A sector that is not known to be written may hold anything: zeros and foreign data there are
///   counted as not judged.
/// - While a write of the same grain is in flight a read may see old or new, whole or in part;
///   only what is older than both is wrong. A write that failed leaves its grains unjudged until
///   the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Sectors judged.
    pub sectors: u64,
    /// Sectors that could not be judged: not known to be written, or being written.
    pub sectors_unjudged: u64,
    /// Faulty sectors.
    pub faults: BTreeMap<Fault, u64>,
    /// The first places of each class, in bytes.
    pub examples: BTreeMap<Fault, Vec<u64>>,
}

impl Findings {
    /// Sectors with a fault.
    pub fn sectors_faulty(&self) -> u64 {
        self.faults.values().sum()
    }

    pub(crate) fn note(&mut self, fault: Fault, offset_bytes: u64) {
        *self.faults.entry(fault).or_default() += 1;
        let examples = self.examples.entry(fault).or_default();
        if examples.len() < EXAMPLES_MAX {
            examples.push(offset_bytes);
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.sectors += other.sectors;
        self.sectors_unjudged += other.sectors_unjudged;
        for (fault, count) in other.faults {
            *self.faults.entry(fault).or_default() += count;
        }
        for (fault, examples) in other.examples {
            let mine = self.examples.entry(fault).or_default();
            mine.extend(examples);
            mine.truncate(EXAMPLES_MAX);
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::BitFlip => "with flipped bits",
            Self::Misplaced => "of another address",
            Self::Stale => "stale",
            Self::Torn => "torn",
            Self::Foreign => "foreign",
            Self::Zero => "of zeros",
        })
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (faulty, sectors) = (self.sectors_faulty(), self.sectors);
        write!(
            out,
            "{faulty} of {sectors} sectors read are not what was written"
        )?;
        let mut mark = ": ";
        for (fault, count) in &self.faults {
            let place = self.examples.get(fault).and_then(|all| all.first());
            write!(out, "{mark}{count} {fault}")?;
            if let Some(place) = place {
                write!(out, " (at byte {place})")?;
            }
            mark = ", ";
        }
        Ok(())
    }
}

/// Why a plan cannot be verified, if so.
pub(crate) fn check_plan(plan: &Plan) -> Option<&'static str> {
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
        let block_bytes = match past.order {
            Order::Sequential => u64::MAX,
            Order::Shuffled { block_bytes, .. } => u64::from(block_bytes),
        };
        let room = past.range.segment_bytes;
        past.range.segments == 0
            || room == 0
            || block_bytes == 0
            || block_bytes != u64::MAX && room < block_bytes
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
    plan.streams.iter().find_map(check_stream).or_else(|| {
        let is_whole = grain_bytes(plan).is_multiple_of(SECTOR_BYTES as u64);
        (!is_whole).then_some("only whole sectors of 512 B on their own grid are verified")
    })
}

fn check_stream(plan: &StreamPlan) -> Option<&'static str> {
    if plan.discard_percent > 0 {
        return Some("what is discarded cannot be verified");
    }
    if plan.block_bytes > BLOCK_BYTES_MAX {
        return Some("a block that is verified is 32 MiB at most");
    }
    match plan.content {
        Content::Random | Content::Refill | Content::Compressible { .. } => None,
        Content::Dedupable { .. } => Some("repeated sectors cannot carry stamps to verify"),
        Content::Zero => Some("zeros cannot carry stamps to verify"),
    }
}

/// The largest length that divides every block and offset of the plan.
fn grain_bytes(plan: &Plan) -> u64 {
    let mut grain = match plan.bound {
        Bound::Time { .. } => 0,
        Bound::Bytes { total_bytes } => total_bytes,
    };
    for stream in &plan.streams {
        grain = gcd(grain, range_grain_bytes(&stream.range));
        grain = match stream.access {
            Access::Sequential { cursor_bytes } => gcd(grain, cursor_bytes),
            _ => gcd(grain, u64::from(stream.grid_bytes())),
        };
        for bytes in stream.sizes_bytes() {
            grain = gcd(grain, u64::from(bytes));
        }
        for past in stream.verify.iter().flat_map(|verify| &verify.written) {
            grain = gcd(grain, range_grain_bytes(&past.range));
            grain = gcd(gcd(grain, past.from_bytes), past.to_bytes);
            if let Order::Shuffled { block_bytes, .. } = past.order {
                grain = gcd(grain, u64::from(block_bytes));
            }
        }
    }
    grain
}

fn range_grain_bytes(range: &Range) -> u64 {
    let stride_bytes = if range.segments > 1 {
        range.stride_bytes
    } else {
        0
    };
    gcd(gcd(range.start_bytes, range.segment_bytes), stride_bytes)
}

fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 {
        one
    } else {
        gcd(other, one % other)
    }
}
