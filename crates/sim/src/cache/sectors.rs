//! A set of sectors, one bit each, in pages that are there only where something is in the set.
//! Ranges are in bytes and begin and end with a sector.

use crate::clip::LOGICAL_BLOCK_BYTES;
use crate::numbers::Numbers;
use crate::paged::Paged;

/// A range of bytes: from, to.
pub(crate) type Span = (u64, u64);

const SECTOR_BYTES: u64 = LOGICAL_BLOCK_BYTES as u64;
/// Sectors of a word, and words of a page: those of several pages share a word of bits.
const BITS: u64 = u64::BITS as u64;
const WORDS: usize = 16;

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
    /// Numbers of the words in which there is something.
    filled: Numbers,
    bytes: u64,
}

impl Sectors {
    pub fn new() -> Self {
        Self {
            words: Paged::new(0),
            filled: Numbers::new(),
            bytes: 0,
        }
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

    /// Puts a range in; returns how many of its bytes were not in the set.
    #[inline]
    pub fn add(&mut self, span: Span) -> u64 {
        let new = match Part::alone(span) {
            Some(part) => self.add_part(part),
            None => self.add_parts(span),
        };
        self.bytes += new * SECTOR_BYTES;
        new * SECTOR_BYTES
    }

    #[inline(never)]
    fn add_parts(&mut self, span: Span) -> u64 {
        parts(span).map(|part| self.add_part(part)).sum()
    }

    #[inline]
    fn add_part(&mut self, part: Part) -> u64 {
        let word = self.words.made_at(part.word);
        let was = std::mem::replace(word, *word | part.mask);
        if was == 0 {
            self.filled.insert(part.word);
        }
        part.length - held(was, part.mask, part.length)
    }

    /// Takes a range out; returns how many of its bytes were in the set.
    #[inline]
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

    #[inline]
    fn cut_part(&mut self, Part { word, mask, length }: Part) -> u64 {
        let Some(place) = self.words.at_mut(word) else {
            return 0;
        };
        let was = std::mem::replace(place, *place & !mask);
        if was != 0 && was & !mask == 0 {
            self.empty(word);
        }
        held(was, mask, length)
    }

    /// Nothing is left in `word`: perhaps nothing is in its page.
    #[inline]
    fn empty(&mut self, word: u64) {
        self.filled.remove(word);
        let first = word / WORDS as u64 * WORDS as u64;
        let around = self.filled.word((first / BITS) as usize) >> (first % BITS);
        if around & ((1 << WORDS) - 1) == 0 {
            self.words.release((word / WORDS as u64) as usize);
        }
    }

    /// Bytes of `span` in the set.
    #[inline]
    pub fn covered(&self, span: Span) -> u64 {
        if self.bytes == 0 {
            return 0;
        }
        let of = |part: Part| held(self.words.get(part.word), part.mask, part.length);
        let held = match Part::alone(span) {
            Some(part) => of(part),
            None => parts(span).map(of).sum(),
        };
        held * SECTOR_BYTES
    }

    /// Whether something of `span` is in the set.
    #[inline]
    pub fn meets(&self, span: Span) -> bool {
        if self.bytes == 0 {
            return false;
        }
        let meets = |part: Part| self.words.get(part.word) & part.mask != 0;
        match Part::alone(span) {
            Some(part) => meets(part),
            None => parts(span).any(meets),
        }
    }

    /// Whether all of `span` is in the set.
    pub fn holds(&self, span: Span) -> bool {
        parts(span).all(|part| self.words.get(part.word) & part.mask == part.mask)
    }

    /// Whether the sector before `span` or the one after it is in the set.
    #[inline]
    pub fn touches(&self, span: Span) -> bool {
        if let Some(Part { word, mask, .. }) = Part::alone(span) {
            let around = (mask << 1 | mask >> 1) & !mask;
            // Of a part at a border of its word one neighbour is missing there.
            if (mask >> (BITS - 1) | mask & 1) == 0 {
                return self.words.get(word) & around != 0;
            }
        }
        self.has(span.1) || span.0 > 0 && self.has(span.0 - 1)
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
        let at = from_bytes / SECTOR_BYTES;
        let (mut word, bit) = (at / BITS, at % BITS);
        let mut above = self.words.get(word) >> bit << bit;
        if above == 0 {
            word = self.filled.next(word + 1)?;
            above = self.words.get(word);
        }
        let first = u64::from(above.trailing_zeros());
        let length = u64::from((!(above >> first)).trailing_zeros());
        let begin = word * BITS + first;
        let end = begin + length.min(BITS - first);
        Some((begin * SECTOR_BYTES, end * SECTOR_BYTES))
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
