//! Where host I/O of a pair of tiers goes, and how chunks move between them.

use teijo_engine::request::Op;

use super::super::pair::{Piece, Range, Side};
use super::migration::Exchange;
use super::moves::{Move, Waiting};
use super::places::Place;
use super::{IoPurpose, Tier};
use crate::device::{Device, Ended, Outcome};

impl<D: Device> Tier<D> {
    /// `range` cut at the first border of a chunk: the chunk, the place in it, the bytes.
    pub(super) fn first_part(&self, range: Range) -> (u32, u64, u64) {
        let chunk_bytes = u64::from(self.params.chunk_bytes);
        let inside = range.offset_bytes % chunk_bytes;
        let length = range.length_bytes.min(chunk_bytes - inside);
        ((range.offset_bytes / chunk_bytes) as u32, inside, length)
    }

    /// Bytes `inside` a chunk's place on.
    pub(super) fn piece(&self, place: Place, inside: u64, length_bytes: u64) -> Piece {
        Piece {
            side: place.side,
            offset_bytes: u64::from(place.slot) * u64::from(self.params.chunk_bytes) + inside,
            length_bytes,
        }
    }

    /// Sends a host I/O, or what is left of it, where its chunks lie; neighbours as one.
    pub(super) fn route(&mut self, waiting: Waiting, at_ns: u64) {
        let Waiting {
            request,
            op,
            mut range,
        } = waiting;
        let mut joined: Option<Piece> = None;
        while range.length_bytes > 0 {
            let (chunk, inside, bytes) = self.first_part(range);
            let part = Range {
                length_bytes: bytes,
                ..range
            };
            range = range.after(bytes);
            let found = self.places.find(chunk);
            let moving = self.moves.of(chunk).filter(|_| op != Op::Read);
            if let Some(number) = moving {
                self.wait(
                    number,
                    Waiting {
                        range: part,
                        ..waiting
                    },
                );
                continue;
            }
            let place = if op == Op::Write && found.is_none() {
                let Some(place) = self.places.settle(chunk, self.params.placement) else {
                    // There are as many places as chunks, so a move holds the one that is missing.
                    let number = self.moves.first().expect("a move holds a place too many");
                    self.wait(
                        number,
                        Waiting {
                            range: part,
                            ..waiting
                        },
                    );
                    continue;
                };
                place
            } else {
                let Some(place) = found else { continue };
                place
            };
            match place.side {
                Side::Fast => self.counters.fast_parts += 1,
                Side::Slow => self.counters.slow_parts += 1,
            }
            let piece = self.piece(place, inside, bytes);
            match &mut joined {
                Some(last) if last.side == piece.side && last.ends() == piece.offset_bytes => {
                    last.length_bytes += bytes;
                }
                _ => self.send(request, op, joined.replace(piece), at_ns),
            }
        }
        self.send(request, op, joined, at_ns);
    }

    pub(super) fn send(&mut self, request: usize, op: Op, piece: Option<Piece>, at_ns: u64) {
        if let Some(piece) = piece {
            self.requests.hold(request);
            self.pair
                .send(IoPurpose::Host { request }, op, piece, at_ns);
        }
    }

    fn wait(&mut self, number: usize, waiting: Waiting) {
        self.counters.waited += 1;
        self.requests.hold(waiting.request);
        self.moves.get(number).waiting.push(waiting);
    }

    /// Notes that the chunks of `range` were used, and lets those move up that are due.
    pub(super) fn warm(&mut self, mut range: Range, at_ns: u64) {
        while range.length_bytes > 0 {
            let (chunk, _, bytes) = self.first_part(range);
            range = range.after(bytes);
            let Some(place) = self.places.find(chunk) else {
                continue;
            };
            let heat = self.heat.add(chunk);
            if self.params.promote_at == 0 {
                continue;
            }
            match place.side {
                Side::Fast => {
                    self.recency.touch(place.slot);
                    if self.moves.of(chunk).is_none() {
                        self.recency.list(place.slot);
                    }
                }
                Side::Slow if heat >= self.params.promote_at => self.promote(chunk, at_ns),
                Side::Slow => {}
            }
        }
        if self.migrate_ns == u64::MAX && self.migrate_every_ns < u64::MAX {
            self.migrate_ns = (at_ns / self.migrate_every_ns + 1) * self.migrate_every_ns;
        }
    }

    /// Moves `chunk` up, for the one up there that was used longest ago.
    fn promote(&mut self, chunk: u32, at_ns: u64) {
        if !self.moves.has_room() {
            return;
        }
        let is_full = self.places.fast_free() == 0;
        let oldest = self.recency.oldest().next().filter(|_| is_full);
        let down = oldest.and_then(|slot| self.places.tenant(slot));
        if is_full && down.is_none() {
            return;
        }
        self.begin_move(Exchange { up: chunk, down }, at_ns);
    }

    /// Begins an exchange, if both chunks are still where it found them.
    fn begin_move(&mut self, exchange: Exchange, at_ns: u64) {
        let Exchange { up, down } = exchange;
        let on = |chunk: u32, side: Side| {
            let place = self.places.find(chunk);
            place.filter(|place| place.side == side && self.moves.of(chunk).is_none())
        };
        let Some(slow) = on(up, Side::Slow) else {
            return;
        };
        let fast = match down {
            Some(down) => on(down, Side::Fast),
            None => self.places.take(Side::Fast),
        };
        let Some(fast) = fast else { return };
        self.recency.unlist(fast.slot);
        let number = self.moves.put(Move {
            exchange,
            slow,
            fast,
            pending: 0,
            is_writing: false,
            has_failed: false,
            waiting: Vec::new(),
        });
        self.carry(number, slow, Op::Read, at_ns);
        if down.is_some() {
            self.carry(number, fast, Op::Read, at_ns);
        }
    }

    fn carry(&mut self, number: usize, place: Place, op: Op, at_ns: u64) {
        let chunk_bytes = u64::from(self.params.chunk_bytes);
        let piece = self.piece(place, 0, chunk_bytes);
        self.moves.get(number).pending += 1;
        self.counters.moved_bytes += if op == Op::Write { chunk_bytes } else { 0 };
        self.pair.send(IoPurpose::Move { number }, op, piece, at_ns);
    }

    /// One I/O of a move has ended.
    pub(super) fn carried(&mut self, number: usize, outcome: Outcome, ended: &mut Vec<Ended>) {
        let at_ns = outcome.done_ns;
        let one = self.moves.get(number);
        one.pending -= 1;
        one.has_failed |= outcome.result < 0;
        if one.pending > 0 {
            return;
        }
        if !one.is_writing && !one.has_failed {
            one.is_writing = true;
            let (fast, slow, down) = (one.fast, one.slow, one.exchange.down);
            self.carry(number, fast, Op::Write, at_ns);
            if down.is_some() {
                self.carry(number, slow, Op::Write, at_ns);
            }
            return;
        }
        let one = self.moves.take(number);
        self.end_move(&one);
        for waiting in one.waiting {
            self.route(waiting, at_ns);
            let outcome = Outcome {
                done_ns: at_ns,
                result: 0,
            };
            ended.extend(self.requests.release(waiting.request, outcome));
        }
        self.begin_planned(at_ns);
    }

    /// The chunks of a move are in their new places, or in the old ones if it failed.
    fn end_move(&mut self, one: &Move) {
        let Exchange { up, down } = one.exchange;
        if one.has_failed {
            if down.is_none() {
                self.places.give_back(one.fast);
            }
        } else {
            self.places.put(up, one.fast);
            self.counters.promoted += 1;
            match down {
                Some(down) => {
                    self.places.put(down, one.slow);
                    self.counters.demoted += 1;
                    if self.params.promote_at > 0 {
                        // Or its next access alone would bring it back.
                        self.heat.forget(down);
                    }
                }
                None => self.places.give_back(one.slow),
            }
        }
        if self.params.promote_at > 0 && self.places.tenant(one.fast.slot).is_some() {
            self.recency.list(one.fast.slot);
        }
    }

    pub(super) fn migrate(&mut self) {
        self.counters.migrations += 1;
        self.migrate_ns = u64::MAX;
        let (fast, free) = (self.places.fast_count(), self.places.fast_free());
        self.planned = self.heat.exchanges(self.places.chunks(), fast, free).into();
        self.heat.fade();
    }

    pub(super) fn begin_planned(&mut self, at_ns: u64) {
        while self.moves.has_room() {
            let Some(exchange) = self.planned.pop_front() else {
                return;
            };
            self.begin_move(exchange, at_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::compose::{open, Node};
    use crate::device::Device;

    /// 64 chunks above, 192 below.
    const TEXT: &str = "tier(hdd-7200?capacity=4MiB&queue=1, hdd-7200?capacity=12MiB)?chunk=64KiB\
                        &migrate_every_s=0.5&migrate_in_flight=3";

    fn tiers(settings: &str) -> Tier<Node> {
        match open(&format!("{TEXT}{settings}")).expect("tiers") {
            Node::Tier(tier) => *tier,
            other => panic!("{other:?} is no pair of tiers"),
        }
    }

    /// Every chunk that was written has one place, no place has two, and what is free and what
    /// moves hold make up the rest.
    fn check(tier: &Tier<Node>, written: &BTreeSet<u32>) -> Result<(), TestCaseError> {
        let mut taken = BTreeSet::new();
        for (chunk, is_up) in tier.places.chunks() {
            let place = tier.places.find(chunk).expect("it has a place");
            prop_assert!(taken.insert((is_up, place.slot)), "two in one place");
            prop_assert_eq!(is_up, place.side == Side::Fast);
            if is_up {
                prop_assert_eq!(tier.places.tenant(place.slot), Some(chunk));
            }
        }
        let placed: BTreeSet<u32> = tier.places.chunks().map(|(chunk, _)| chunk).collect();
        prop_assert!(placed.is_subset(written), "nothing else has a place");
        let (fast_free, slow_free) = tier.places.free();
        let rises = tier.moves.numbers().count() / 3;
        let held = 256 - taken.len() - (fast_free + slow_free) as usize;
        prop_assert!(held <= rises, "{} places are lost", held);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn every_chunk_has_one_place_whatever_happens(
            ios in proptest::collection::vec((0_u8..4, 0_u64..4096, 1_u64..64, 0_u64..40), 1..150),
            promote_at in 0_u32..3,
            hot in 0_u64..3800,
            placement in "fast|slow",
        ) {
            let mut tier = tiers(&format!("&promote_at={promote_at}&placement={placement}"));
            let (mut now_ns, mut sent, mut written) = (0, 0_u64, BTreeSet::new());
            let mut ended = Vec::new();
            for (kind, place, blocks, wait_ms) in ios {
                // Half of the I/Os go to a narrow range, so that something gets hot.
                let place = if kind % 2 == 0 { hot + place % 200 } else { place };
                let (offset, length) = (place * 4096, blocks * 4096);
                let op = if kind < 2 { Op::Write } else { Op::Read };
                let length = length.min(tier.capacity_bytes() - offset);
                if op == Op::Write {
                    let last = (offset + length - 1) / 65_536;
                    written.extend((offset / 65_536) as u32..=last as u32);
                }
                sent += 1;
                let told = tier.submit(sent, op, offset, length as u32, now_ns);
                ended.extend(told.map(|outcome| Ended { ticket: sent, outcome }));
                now_ns += wait_ms * 1_000_000;
                while tier.next_ns() < now_ns {
                    tier.step(&mut ended);
                }
                check(&tier, &written)?;
            }
            while tier.requests.in_flight() > 0 || tier.pair.in_flight() > 0 {
                tier.step(&mut ended);
                check(&tier, &written)?;
            }
            let mut tickets: Vec<u64> = ended.iter().map(|end| end.ticket).collect();
            tickets.sort_unstable();
            prop_assert_eq!(tickets, (1..=sent).collect::<Vec<_>>(), "each ends once");
            let placed = tier.places.chunks().count();
            prop_assert_eq!(placed, written.len(), "all that was written has a place");
            let (fast_free, slow_free) = tier.places.free();
            prop_assert_eq!((fast_free + slow_free) as usize, 256 - placed);
        }
    }
}
