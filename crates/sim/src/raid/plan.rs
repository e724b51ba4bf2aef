//! Which member I/Os a host I/O needs, pure: pieces of chunks to read, and pieces to write when
//! those have come. Failed members are read around and written around.

use super::layout::{Layout, Level};
use super::params::Update;

/// A range of one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    pub member: u32,
    pub offset_bytes: u64,
    pub length_bytes: u64,
}

/// Reads, and the writes that follow when all of them have come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    pub reads: Vec<Piece>,
    pub writes: Vec<Piece>,
}

impl Work {
    /// Member I/Os in it.
    pub fn ios(&self) -> usize {
        self.reads.len() + self.writes.len()
    }
}

/// More members have failed than the array survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

/// Bytes [from, to) of data chunk `index` of a stripe.
#[derive(Clone, Copy, Debug)]
struct Part {
    index: u32,
    from: u64,
    to: u64,
}

/// Plans for one array with the members that have failed.
#[derive(Clone, Copy, Debug)]
pub struct Planner<'a> {
    pub layout: &'a Layout,
    /// Per member.
    pub failed: &'a [bool],
    pub update: Update,
}

impl Planner<'_> {
    /// Reads of [offset, offset + length); `mirror` is the member a mirrored array reads.
    pub fn read(&self, offset: u64, length: u64, mirror: u32) -> Result<Vec<Piece>, Lost> {
        if self.layout.level == Level::Mirrored {
            return if self.failed[mirror as usize] {
                Err(Lost)
            } else {
                Ok(vec![piece(mirror, offset, length)])
            };
        }
        let mut pieces = Vec::new();
        for (stripe, parts) in self.stripes(offset, length) {
            for part in parts {
                let member = self.layout.data_member(stripe, part.index);
                if self.failed[member as usize] {
                    pieces.extend(self.survivors(stripe, part.from, part.to)?);
                } else {
                    pieces.push(self.on(member, stripe, part.from, part.to));
                }
            }
        }
        Ok(merged(pieces))
    }

    /// Reads that give back `unread`, which the members that are counted as failed have not read.
    pub fn give_back(&self, unread: &[Piece]) -> Result<Vec<Piece>, Lost> {
        let chunk = self.layout.chunk_bytes;
        let mut pieces = Vec::new();
        for missed in unread {
            if self.layout.level == Level::Mirrored {
                let other = (0..self.layout.members).find(|&member| self.alive(member));
                let member = other.ok_or(Lost)?;
                pieces.push(Piece { member, ..*missed });
                continue;
            }
            let end = missed.offset_bytes + missed.length_bytes;
            for stripe in missed.offset_bytes / chunk..=(end - 1) / chunk {
                let base = stripe * chunk;
                let (from, to) = (missed.offset_bytes.max(base), end.min(base + chunk));
                pieces.extend(self.survivors(stripe, from - base, to - base)?);
            }
        }
        Ok(merged(pieces))
    }

    /// Works that write [offset, offset + length): one for all whole stripes together, one for
    /// each stripe that is written in part.
    pub fn write(&self, offset: u64, length: u64) -> Result<Vec<Work>, Lost> {
        if self.layout.level == Level::Mirrored {
            let alive = (0..self.layout.members).filter(|&member| !self.failed[member as usize]);
            let writes: Vec<Piece> = alive.map(|member| piece(member, offset, length)).collect();
            return if writes.is_empty() {
                Err(Lost)
            } else {
                Ok(vec![Work {
                    reads: Vec::new(),
                    writes,
                }])
            };
        }
        let mut whole = Vec::new();
        let mut works = Vec::new();
        for (stripe, parts) in self.stripes(offset, length) {
            let bytes: u64 = parts.iter().map(|part| part.to - part.from).sum();
            if self.layout.parities() == 0 || bytes == self.layout.stripe_bytes() {
                self.survivable(stripe)?;
                whole.extend(self.written(stripe, &parts, 0, self.layout.chunk_bytes));
            } else {
                works.push(self.partial(stripe, &parts)?);
            }
        }
        if !whole.is_empty() {
            works.push(Work {
                reads: Vec::new(),
                writes: merged(whole),
            });
        }
        Ok(works)
    }

    /// The parts of each stripe that [offset, offset + length) touches.
    fn stripes(&self, offset: u64, length: u64) -> Vec<(u64, Vec<Part>)> {
        let (chunk, stripe_bytes) = (self.layout.chunk_bytes, self.layout.stripe_bytes());
        let end = offset + length;
        let first = offset / stripe_bytes;
        let last = (end - 1) / stripe_bytes;
        let parts = |stripe: u64| {
            let base = stripe * stripe_bytes;
            let from = offset.max(base) - base;
            let to = end.min(base + stripe_bytes) - base;
            (from / chunk..=(to - 1) / chunk)
                .map(|index| Part {
                    index: index as u32,
                    from: from.max(index * chunk) - index * chunk,
                    to: to.min((index + 1) * chunk) - index * chunk,
                })
                .collect()
        };
        (first..=last)
            .map(|stripe| (stripe, parts(stripe)))
            .collect()
    }

    fn on(&self, member: u32, stripe: u64, from: u64, to: u64) -> Piece {
        piece(member, stripe * self.layout.chunk_bytes + from, to - from)
    }

    fn alive(&self, member: u32) -> bool {
        !self.failed[member as usize]
    }

    fn living_parity(&self, stripe: u64) -> impl Iterator<Item = u32> + '_ {
        (0..self.layout.parities())
            .map(move |which| self.layout.parity_member(stripe, which))
            .filter(|&member| self.alive(member))
    }

    fn survivable(&self, stripe: u64) -> Result<(), Lost> {
        let data = (0..self.layout.data_chunks())
            .filter(|&index| self.alive(self.layout.data_member(stripe, index)))
            .count();
        if data + self.living_parity(stripe).count() < self.layout.data_chunks() as usize {
            return Err(Lost);
        }
        Ok(())
    }

    /// As many living chunks of `stripe` as give back every other one, data before parity.
    fn survivors(&self, stripe: u64, from: u64, to: u64) -> Result<Vec<Piece>, Lost> {
        self.survivable(stripe)?;
        let data = (0..self.layout.data_chunks())
            .map(|index| self.layout.data_member(stripe, index))
            .filter(|&member| self.alive(member));
        let enough = self.layout.data_chunks() as usize;
        let members = data.chain(self.living_parity(stripe)).take(enough);
        Ok(members
            .map(|member| self.on(member, stripe, from, to))
            .collect())
    }

    /// The living pieces that a write of `parts` changes: data, and parity over [from, to).
    fn written(&self, stripe: u64, parts: &[Part], from: u64, to: u64) -> Vec<Piece> {
        let data = parts
            .iter()
            .map(|part| (self.layout.data_member(stripe, part.index), part))
            .filter(|&(member, _)| self.alive(member))
            .map(|(member, part)| self.on(member, stripe, part.from, part.to));
        let parity = self
            .living_parity(stripe)
            .map(|member| self.on(member, stripe, from, to));
        data.chain(parity).collect()
    }

    /// A write of part of a stripe with parity.
    fn partial(&self, stripe: u64, parts: &[Part]) -> Result<Work, Lost> {
        self.survivable(stripe)?;
        let from = parts.iter().map(|part| part.from).min().unwrap_or(0);
        let to = parts.iter().map(|part| part.to).max().unwrap_or(0);
        let writes = merged(self.written(stripe, parts, from, to));
        let ready = |reads: Vec<Piece>| Work {
            reads: merged(reads),
            writes: writes.clone(),
        };
        if self.living_parity(stripe).next().is_none() {
            return Ok(ready(Vec::new()));
        }
        let modify = self.read_modify(stripe, parts, from, to).map(ready);
        let rebuild = self.read_rest(stripe, parts, from, to).map(ready);
        let chosen = match (modify, rebuild, self.update) {
            (Some(modify), Some(rebuild), Update::Least) => {
                if rebuild.ios() < modify.ios() {
                    rebuild
                } else {
                    modify
                }
            }
            (Some(modify), _, Update::Modify | Update::Least)
            | (Some(modify), None, Update::Rebuild) => modify,
            (_, Some(rebuild), Update::Rebuild | Update::Modify | Update::Least) => rebuild,
            // A chunk that failed is written in part: all that is left of the stripe is read.
            (None, None, Update::Rebuild | Update::Modify | Update::Least) => {
                ready(self.survivors(stripe, from, to)?)
            }
        };
        Ok(chosen)
    }

    /// Read-modify-write: what is overwritten, and the parity. `None` if some of it has failed.
    fn read_modify(&self, stripe: u64, parts: &[Part], from: u64, to: u64) -> Option<Vec<Piece>> {
        let member = |part: &Part| self.layout.data_member(stripe, part.index);
        parts
            .iter()
            .all(|part| self.alive(member(part)))
            .then(|| self.written(stripe, parts, from, to))
    }

    /// Reconstruct-write: whatever is not overwritten. `None` if some of it has failed.
    fn read_rest(&self, stripe: u64, parts: &[Part], from: u64, to: u64) -> Option<Vec<Piece>> {
        let mut reads = Vec::new();
        for index in 0..self.layout.data_chunks() {
            let member = self.layout.data_member(stripe, index);
            let covered = parts.iter().find(|part| part.index == index);
            let (upper, lower) = covered.map_or((to, to), |part| (part.from, part.to));
            for (begin, end) in [(from, upper), (lower, to)] {
                if begin < end {
                    reads.push(self.on(member, stripe, begin, end));
                }
            }
        }
        let living = reads.iter().all(|read| self.alive(read.member));
        living.then_some(reads)
    }
}

fn piece(member: u32, offset_bytes: u64, length_bytes: u64) -> Piece {
    Piece {
        member,
        offset_bytes,
        length_bytes,
    }
}

/// The same ranges in order of member and offset, those that touch or overlap as one.
fn merged(mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.sort_unstable();
    let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
    for next in pieces {
        match joined.last_mut() {
            Some(last)
                if last.member == next.member
                    && next.offset_bytes <= last.offset_bytes + last.length_bytes =>
            {
                let end = next.offset_bytes + next.length_bytes;
                last.length_bytes = last.length_bytes.max(end - last.offset_bytes);
            }
            _ => joined.push(next),
        }
    }
    joined
}
