//! Chunks on their way from tier to tier: read on one side or both, then written on the other.
//! Reads by the host find them where they were, writes wait.

use teijo_engine::request::Op;

use super::super::pair::Range;
use super::migration::Exchange;
use super::places::Place;

/// A host I/O, or its part, that waits for a move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub request: usize,
    pub op: Op,
    pub range: Range,
}

/// One exchange on its way.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub exchange: Exchange,
    /// Where the chunk that goes up was, and where the other one goes.
    pub slow: Place,
    /// Where it goes, and where the other one was.
    pub fast: Place,
    /// I/Os that have not ended.
    pub pending: u32,
    pub is_writing: bool,
    pub has_failed: bool,
    pub waiting: Vec<Waiting>,
}

/// The moves that are going on, a few at a time.
#[derive(Clone, Debug)]
pub(super) struct Moves(Vec<Option<Move>>);

impl Moves {
    /// Room for `most` at a time.
    pub fn new(most: usize) -> Self {
        Self(vec![None; most])
    }

    pub fn has_room(&self) -> bool {
        self.0.iter().any(Option::is_none)
    }

    /// The move that `chunk` is in, up or down.
    #[inline]
    pub fn of(&self, chunk: u32) -> Option<usize> {
        let has = |one: &Move| one.exchange.up == chunk || one.exchange.down == Some(chunk);
        self.0.iter().position(|one| one.as_ref().is_some_and(has))
    }

    /// Any that goes on.
    pub fn first(&self) -> Option<usize> {
        self.0.iter().position(Option::is_some)
    }

    pub fn put(&mut self, one: Move) -> usize {
        let room = self.0.iter().position(Option::is_none);
        let number = room.expect("a move begins where there is room");
        self.0[number] = Some(one);
        number
    }

    pub fn get(&mut self, number: usize) -> &mut Move {
        self.0[number].as_mut().expect("a move ends once")
    }

    pub fn take(&mut self, number: usize) -> Move {
        self.0[number].take().expect("a move ends once")
    }

    /// Every number of the state, for a digest.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let going = self.0.iter().flatten();
        going.flat_map(|one| {
            let down = one.exchange.down.map_or(u64::MAX, u64::from);
            let waiting = one.waiting.len() as u64;
            [u64::from(one.exchange.up), down, waiting]
        })
    }
}
