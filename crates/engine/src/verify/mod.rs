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

/// So many places are remembered of each class.
pub const EXAMPLES_MAX: usize = 32;
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

/// What reading verified data showed, and how far that goes:
///
/// - A flipped bit, a misplaced sector and a torn block are found in every verified read, because
///   the sectors themselves show it.
/// - A lost write leaves an older generation of the right address behind. Where one stream alone
///   writes the plan's blocks, in an order (sequential or shuffled), the generation due at any
///   address is a formula of the cursor: a later read finds every lost write that it touches,
///   over any capacity and without a map. The same holds for a later step whose plan names what
///   was `written`.
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
