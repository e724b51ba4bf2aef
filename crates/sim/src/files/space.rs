//! Where files lie on the device: free stretches, and the extents of one file.

use std::collections::BTreeMap;

/// (from, to) in bytes.
pub(super) type Stretch = (u64, u64);

/// A file that grows asks for as much again as it has, up to this, so that files that grow side by
/// side lie in long pieces.
const MOST_AHEAD_BYTES: u64 = 8 << 20;

/// The free stretches of a device, by where they begin.
#[derive(Clone, Debug)]
pub(super) struct Space {
    free: BTreeMap<u64, u64>,
    free_bytes: u64,
}

impl Space {
    pub fn new(stretches: &[Stretch]) -> Self {
        let mut space = Self {
            free: BTreeMap::new(),
            free_bytes: 0,
        };
        for &stretch in stretches {
            space.give_back(stretch);
        }
        space
    }

    pub fn free_bytes(&self) -> u64 {
        self.free_bytes
    }

    /// Takes `bytes`, from `near_bytes` on if that is free; else the first stretch that has all,
    /// else the longest ones. `None` where there is not so much.
    pub fn take(&mut self, bytes: u64, near_bytes: Option<u64>) -> Option<Vec<Stretch>> {
        if bytes > self.free_bytes {
            return None;
        }
        let mut taken = Vec::new();
        let mut left_bytes = bytes;
        let near = near_bytes.filter(|near| self.free.contains_key(near));
        if let Some(from) = near {
            taken.push(self.cut(from, left_bytes));
            left_bytes -= taken[0].1 - taken[0].0;
        }
        while left_bytes > 0 {
            let whole = self
                .free
                .iter()
                .find(|(from, to)| **to - **from >= left_bytes);
            let longest = || self.free.iter().max_by_key(|(from, to)| **to - **from);
            let (&from, _) = whole.or_else(longest)?;
            let stretch = self.cut(from, left_bytes);
            left_bytes -= stretch.1 - stretch.0;
            taken.push(stretch);
        }
        Some(taken)
    }

    /// Takes at most `bytes` of the free stretch that begins at `from`.
    fn cut(&mut self, from: u64, bytes: u64) -> Stretch {
        let to = self.free.remove(&from).expect("it is free");
        let end = to.min(from + bytes);
        if end < to {
            self.free.insert(end, to);
        }
        self.free_bytes -= end - from;
        (from, end)
    }

    pub fn give_back(&mut self, (mut from, mut to): Stretch) {
        if from >= to {
            return;
        }
        self.free_bytes += to - from;
        if let Some((&before, &end)) = self.free.range(..from).next_back() {
            if end == from {
                self.free.remove(&before);
                from = before;
            }
        }
        if let Some(end) = self.free.remove(&to) {
            to = end;
        }
        self.free.insert(from, to);
    }
}

/// Where the bytes of one file lie, in whole pages.
#[derive(Clone, Debug, Default)]
pub(super) struct Extents {
    /// Place in the file to (end in the file, place on the device).
    pieces: BTreeMap<u64, (u64, u64)>,
    /// Taken for what the file will have next, behind its last piece.
    ahead: Option<Stretch>,
}

impl Extents {
    /// The pieces of a span of the file that have a place, as stretches of the device.
    pub fn places(&self, (from, to): Stretch) -> impl Iterator<Item = Stretch> + '_ {
        let first = self.pieces.range(..=from).next_back();
        let first = first.map_or(from, |(&at, _)| at);
        self.pieces
            .range(first..to)
            .filter_map(move |(&at, &(end, place))| {
                let (begin, end) = (at.max(from), end.min(to));
                (begin < end).then(|| (place + begin - at, place + end - at))
            })
    }

    /// The spans of a span of the file that have no place.
    pub fn holes(&self, (from, to): Stretch) -> Vec<Stretch> {
        let mut holes = Vec::new();
        let mut next = from;
        let first = self.pieces.range(..=from).next_back();
        let first = first.map_or(from, |(&at, _)| at);
        for (&at, &(end, _)) in self.pieces.range(first..to) {
            if at > next {
                holes.push((next, at));
            }
            next = next.max(end);
        }
        if next < to {
            holes.push((next, to));
        }
        holes
    }

    /// Where the file ends, in whole pages.
    pub fn end_bytes(&self) -> u64 {
        self.pieces.last_key_value().map_or(0, |(_, &(end, _))| end)
    }

    /// Gives places to all of a span that has none; returns the new ones, `None` for no space.
    pub fn fill(&mut self, span: Stretch, space: &mut Space) -> Option<Vec<Stretch>> {
        let mut new = Vec::new();
        for (from, to) in self.holes(span) {
            let mut at = from;
            while at < to {
                let stretch = self.next_stretch(at, to - at, space)?;
                self.add(at, stretch);
                at += stretch.1 - stretch.0;
                new.push(stretch);
            }
        }
        Some(new)
    }

    /// A stretch for what comes at `at` in the file, `bytes` at the most.
    fn next_stretch(&mut self, at: u64, bytes: u64, space: &mut Space) -> Option<Stretch> {
        let end_bytes = self.end_bytes();
        if at != end_bytes {
            let near = self.pieces.range(..at).next_back();
            let near = near.map(|(_, &(_, place))| place);
            let taken = space.take(bytes, near)?;
            for &rest in &taken[1..] {
                space.give_back(rest);
            }
            return Some(taken[0]);
        }
        if self.ahead.is_none() {
            let last = self.pieces.last_key_value();
            let near = last.map(|(&from, &(end, place))| place + end - from);
            let wanted = bytes.max(end_bytes.min(MOST_AHEAD_BYTES));
            let taken = space
                .take(wanted, near)
                .or_else(|| space.take(bytes, near))?;
            for &rest in &taken[1..] {
                space.give_back(rest);
            }
            self.ahead = Some(taken[0]);
        }
        let (from, to) = self.ahead.take()?;
        let end = to.min(from + bytes);
        self.ahead = (end < to).then_some((end, to));
        Some((from, end))
    }

    fn add(&mut self, at: u64, (from, to): Stretch) {
        let length = to - from;
        let before = self.pieces.range_mut(..at).next_back();
        if let Some((&begin, (end, place))) = before {
            if *end == at && *place + (at - begin) == from {
                *end += length;
                return;
            }
        }
        self.pieces.insert(at, (at + length, from));
    }

    /// Gives up what was taken ahead.
    pub fn trim(&mut self, space: &mut Space) {
        if let Some(ahead) = self.ahead.take() {
            space.give_back(ahead);
        }
    }

    /// Gives up all; returns where the file was.
    pub fn clear(&mut self, space: &mut Space) -> Vec<Stretch> {
        self.trim(space);
        let pieces = std::mem::take(&mut self.pieces).into_iter();
        let places: Vec<Stretch> = pieces
            .map(|(at, (end, place))| (place, place + end - at))
            .collect();
        for &place in &places {
            space.give_back(place);
        }
        places
    }
}

/// A file: its name's slot in the directory, and where it lies.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub slot: u64,
    pub length_bytes: u64,
    pub extents: Extents,
    /// The transaction that holds its last change.
    pub changed: u64,
    pub touched_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAGE: u64 = 4096;

    #[test]
    fn files_that_grow_side_by_side_lie_in_long_pieces() {
        let mut space = Space::new(&[(0, 1 << 30)]);
        let mut files = [Extents::default(), Extents::default()];
        for page in 0..8192 {
            for file in &mut files {
                let span = (page * PAGE, (page + 1) * PAGE);
                file.fill(span, &mut space).unwrap();
            }
        }
        for file in &files {
            assert!(file.pieces.len() < 24, "{} pieces", file.pieces.len());
        }
    }

    #[test]
    fn one_file_alone_is_one_piece_and_all_of_it_comes_back() {
        let mut space = Space::new(&[(0, 1 << 24)]);
        let mut file = Extents::default();
        for page in 0..1024 {
            file.fill((page * PAGE, (page + 1) * PAGE), &mut space)
                .unwrap();
        }
        assert_eq!(
            file.places((0, 1024 * PAGE)).collect::<Vec<_>>(),
            [(0, 1024 * PAGE)]
        );
        file.clear(&mut space);
        assert_eq!(space.free, BTreeMap::from([(0, 1 << 24)]));
    }

    #[test]
    fn no_space_is_said() {
        let mut space = Space::new(&[(0, 4 * PAGE)]);
        let mut file = Extents::default();
        assert!(file.fill((0, 4 * PAGE), &mut space).is_some());
        assert!(file.fill((4 * PAGE, 5 * PAGE), &mut space).is_none());
    }

    proptest! {
        #[test]
        fn no_place_belongs_to_two_and_none_is_lost(
            acts in prop::collection::vec((0_usize..4, 0_u64..64, 1_u64..9, 0_u8..5), 1..120)
        ) {
            let whole = 1024 * PAGE;
            let mut space = Space::new(&[(0, whole)]);
            let mut files: Vec<Extents> = vec![Extents::default(); 4];
            for (file, page, pages, act) in acts {
                match act {
                    0 => { files[file].clear(&mut space); }
                    1 => files[file].trim(&mut space),
                    _ => {
                        let span = (page * PAGE, (page + pages) * PAGE);
                        files[file].fill(span, &mut space).unwrap();
                        prop_assert!(files[file].holes(span).is_empty());
                        let placed: u64 = files[file].places(span).map(|(a, b)| b - a).sum();
                        prop_assert_eq!(placed, pages * PAGE);
                    }
                }
                let mut all: Vec<Stretch> = Vec::new();
                for file in &files {
                    all.extend(file.places((0, u64::MAX)));
                    all.extend(file.ahead);
                }
                all.extend(space.free.iter().map(|(&from, &to)| (from, to)));
                all.sort_unstable();
                prop_assert!(all.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{:?}", all);
                prop_assert_eq!(all.iter().map(|(a, b)| b - a).sum::<u64>(), whole);
            }
        }
    }
}
