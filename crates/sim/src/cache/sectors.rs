//! A set of sectors, one bit each, in pages that are there only where something is in the set.
//! Ranges are in bytes and begin and end with a sector.

use super::places::Places;
use crate::clip::LOGICAL_BLOCK_BYTES;
use crate::paged::Paged;

/// A range of bytes: from, to.
pub(crate) type Span = (u64, u64);

const SECTOR_BYTES: u64 = LOGICAL_BLOCK_BYTES as u64;
/// Sectors of a word, and words of a page, which is a line of the processor's caches.
const BITS: u64 = u64::BITS as u64;
const WORDS: usize = 8;
/// What is written apart is rarely shorter than this.
const STRETCH_BYTES: u64 = 4096;

/// The bits from `first` to before `end` of a word, of which there is one at least.
#[inline]
fn bits(first: u64, end: u64) -> u64 {
    (u64::MAX >> (BITS - (end - first))) << first
}

/// How many of `mask`, which has `length` bits, are in `word`.
#[inline]
fn held(word: u64, mask: u64, length: u64) -> u64 {
    match word & mask {
        0 => 0,
        all if all == mask => length,
        part => u64::from(part.count_ones()),
    }
}

/// The word of the sector at `at_bytes`, and its bit there.
#[inline]
fn place_of(at_bytes: u64) -> (u64, u64) {
    let at = at_bytes / SECTOR_BYTES;
    (at / BITS, at % BITS)
}

/// Whether the sector at `at_bytes` is the first of a word.
#[inline]
pub(super) fn begins_word(at_bytes: u64) -> bool {
    at_bytes.is_multiple_of(SECTOR_BYTES * BITS)
}

/// Where the last word ends that lies wholly before `capacity_bytes`.
pub(super) fn last_word_end(capacity_bytes: u64) -> u64 {
    capacity_bytes / (SECTOR_BYTES * BITS) * (SECTOR_BYTES * BITS)
}

/// Sectors of one word.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Number of the word.
    word: u64,
    mask: u64,
    /// Sectors in `mask`.
    length: u64,
}

impl Part {
    /// The sectors from `at` on, `length` of them, which lie in one word.
    #[inline]
    fn new(at: u64, length: u64) -> Self {
        let (word, first) = (at / BITS, at % BITS);
        let mask = bits(first, first + length);
        Self { word, mask, length }
    }

    /// A range that lies in one word, as that of an I/O of 4 KiB on its multiples does.
    #[inline]
    fn alone((from, to): Span) -> Option<Self> {
        debug_assert!(from.is_multiple_of(SECTOR_BYTES) && to.is_multiple_of(SECTOR_BYTES));
        let at = from / SECTOR_BYTES;
        let length = to / SECTOR_BYTES - at;
        // One of no length would be as long as can be.
        (length.wrapping_sub(1) < BITS - at % BITS).then(|| Self::new(at, length))
    }
}

/// A range of sectors cut at the borders of words.
#[inline]
fn parts((from, to): Span) -> impl Iterator<Item = Part> {
    let (mut at, end) = (from / SECTOR_BYTES, to / SECTOR_BYTES);
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let length = (end - at).min(BITS - at % BITS);
        let part = Part::new(at, length);
        at += length;
        Some(part)
    })
}

/// A set of sectors.
#[derive(Clone, Debug)]
pub(crate) struct Sectors {
    words: Paged<u64, WORDS>,
    /// The words in which there is something.
    filled: Places,
    bytes: u64,
}

/// Words of a device, and how many of them are apart where `most_bytes` are in the set.
fn words_of(capacity_bytes: u64, most_bytes: u64) -> (u64, u64) {
    let words = capacity_bytes.div_ceil(SECTOR_BYTES * BITS);
    (words, most_bytes / STRETCH_BYTES)
}

impl Sectors {
    /// For sectors of a device, of which about `most_bytes` are in the set at a time.
    pub fn new(capacity_bytes: u64, most_bytes: u64) -> Self {
        let (words, most) = words_of(capacity_bytes, most_bytes);
        Self {
            words: Paged::new(0, words, most),
            filled: Places::new(words, most),
            bytes: 0,
        }
    }

    /// What such a one takes at the most.
    pub fn need_bytes(capacity_bytes: u64, most_bytes: u64) -> u64 {
        let (words, most) = words_of(capacity_bytes, most_bytes);
        let words_bytes = Paged::<u64, WORDS>::need_bytes(words, most);
        words_bytes.saturating_add(Places::need_bytes(words, most))
    }

    /// How much is in the set.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Asks for what is in the set where `span` begins, soon to be changed.
    #[inline]
    pub fn foresee(&self, span: Span) {
        self.words.foresee(span.0 / SECTOR_BYTES / BITS);
    }

    /// Puts a range in; returns how many of its bytes were not in the set, and whether all of a
    /// word may be in it now.
    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "each I/O comes through here, and is one part"
    )]
    pub fn add(&mut self, span: Span) -> (u64, bool) {
        let (new, is_full) = match Part::alone(span) {
            Some(part) => self.add_part(part),
            None => (self.add_parts(span), true),
        };
        self.bytes += new * SECTOR_BYTES;
        (new * SECTOR_BYTES, is_full)
    }

    #[inline(never)]
    fn add_parts(&mut self, span: Span) -> u64 {
        parts(span).map(|part| self.add_part(part).0).sum()
    }

    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "each I/O comes through here, and is one part"
    )]
    fn add_part(&mut self, part: Part) -> (u64, bool) {
        let word = self.words.made_at(part.word);
        let was = *word;
        *word = was | part.mask;
        if was == 0 {
            self.filled.insert(part.word);
        }
        let new = part.length - held(was, part.mask, part.length);
        (new, was | part.mask == u64::MAX)
    }

    /// Takes a range out; returns how many of its bytes were in the set.
    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "each I/O comes through here, and is one part"
    )]
    pub fn cut(&mut self, span: Span) -> u64 {
        if self.bytes == 0 {
            return 0;
        }
        let cut = match Part::alone(span) {
            Some(part) => self.cut_part(part),
            None => self.cut_parts(span),
        };
        self.bytes -= cut * SECTOR_BYTES;
        cut * SECTOR_BYTES
    }

    #[inline(never)]
    fn cut_parts(&mut self, span: Span) -> u64 {
        parts(span).map(|part| self.cut_part(part)).sum()
    }

    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "each I/O comes through here, and is one part"
    )]
    fn cut_part(&mut self, Part { word, mask, length }: Part) -> u64 {
        let Some(place) = self.words.at_mut(word) else {
            return 0;
        };
        let was = *place;
        *place = was & !mask;
        if was != 0 && was & !mask == 0 {
            self.filled.remove(word);
        }
        held(was, mask, length)
    }

    /// Bytes of `span` in the set.
    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "each I/O comes through here, and is one part"
    )]
    pub fn covered(&self, span: Span) -> u64 {
        if self.bytes == 0 {
            return 0;
        }
        let of = |part: Part| held(self.words.get(part.word), part.mask, part.length);
        let held = match Part::alone(span) {
            Some(part) => of(part),
            None => self.of_parts(span),
        };
        held * SECTOR_BYTES
    }

    /// Sectors of `span` in the set.
    #[inline(never)]
    fn of_parts(&self, span: Span) -> u64 {
        let of = |part: Part| held(self.words.get(part.word), part.mask, part.length);
        parts(span).map(of).sum()
    }

    /// Whether something of `span` is in the set.
    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "each I/O comes through here, and is one part"
    )]
    pub fn meets(&self, span: Span) -> bool {
        if self.bytes == 0 {
            return false;
        }
        let meets = |part: Part| self.words.get(part.word) & part.mask != 0;
        match Part::alone(span) {
            Some(part) => meets(part),
            None => self.of_parts(span) > 0,
        }
    }

    /// Whether all of `span` is in the set.
    pub fn holds(&self, span: Span) -> bool {
        parts(span).all(|part| self.words.get(part.word) & part.mask == part.mask)
    }

    /// Whether the sector at `at_bytes` is in the set.
    #[inline]
    pub fn has(&self, at_bytes: u64) -> bool {
        let at = at_bytes / SECTOR_BYTES;
        self.words.get(at / BITS) >> (at % BITS) & 1 == 1
    }

    /// The first sectors of the set from `from_bytes` on, as far as they go on in one word.
    #[inline]
    pub fn next_run(&self, from_bytes: u64) -> Option<Span> {
        let (word, bit) = place_of(from_bytes);
        self.first_run(word, self.words.get(word) >> bit << bit)
    }

    /// The same where none of them went on there from before; `None` too where that cannot be
    /// said of one word.
    #[inline]
    pub fn next_begun(&self, from_bytes: u64) -> Option<Span> {
        let (word, bit) = place_of(from_bytes);
        let all = self.words.get(word);
        if bit == 0 || all >> (bit - 1) & 1 == 1 {
            return None;
        }
        self.first_run(word, all >> bit << bit)
    }

    /// The first sectors of `above`, which is what is looked at of `word`, or of a later one.
    #[inline]
    fn first_run(&self, mut word: u64, mut above: u64) -> Option<Span> {
        if above == 0 {
            (word, above) = self.next_word(word + 1)?;
        }
        let first = u64::from(above.trailing_zeros());
        let length = u64::from((!(above >> first)).trailing_zeros());
        let begin = word * BITS + first;
        let end = begin + length.min(BITS - first);
        Some((begin * SECTOR_BYTES, end * SECTOR_BYTES))
    }

    /// The first word from `word` on in which there is something, and what.
    #[inline]
    fn next_word(&self, word: u64) -> Option<(u64, u64)> {
        let word = self.filled.next(word)?;
        Some((word, self.words.get(word)))
    }

    /// Where the first sector of the set from `from_bytes` on begins.
    #[inline]
    pub fn next(&self, from_bytes: u64) -> Option<u64> {
        self.next_run(from_bytes).map(|run| run.0)
    }

    /// Where the first sector from `from_bytes` on begins that is not in the set, at the latest
    /// `end_bytes`.
    #[inline]
    pub fn ends(&self, from_bytes: u64, end_bytes: u64) -> u64 {
        let mut at = from_bytes / SECTOR_BYTES;
        let end = end_bytes / SECTOR_BYTES;
        while at < end {
            // What comes after the word's last sector is taken for missing: looked at next.
            let missing = !(self.words.get(at / BITS) >> (at % BITS));
            let run = u64::from(missing.trailing_zeros());
            let rest = BITS - at % BITS;
            at += run.min(rest);
            if run < rest {
                break;
            }
        }
        at.min(end) * SECTOR_BYTES
    }

    /// What of `span` is in the set, in order, no two touching.
    pub fn within(&self, (from, to): Span) -> impl Iterator<Item = Span> + '_ {
        let mut at = from;
        std::iter::from_fn(move || {
            let begin = self.next(at).filter(|&begin| begin < to)?;
            at = self.ends(begin, to);
            Some((begin, at))
        })
    }

    /// Takes what is in the set out of `spans`, which are in order.
    pub fn subtract_from(&self, spans: &mut Vec<Span>) {
        if self.bytes == 0 || !spans.iter().any(|&span| self.meets(span)) {
            return;
        }
        let mut left = Vec::new();
        for &(mut from, to) in spans.iter() {
            for (begin, end) in self.within((from, to)) {
                if from < begin {
                    left.push((from, begin));
                }
                from = end;
            }
            if from < to {
                left.push((from, to));
            }
        }
        *spans = left;
    }

    /// All of it, in order, no two touching.
    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.within((0, u64::MAX / SECTOR_BYTES * SECTOR_BYTES))
    }
}
