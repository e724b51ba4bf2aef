//! The I/Os whose end the host has not seen, by their numbers, which rise by one with each: a ring
//! from the oldest on.

use std::collections::VecDeque;

use teijo_engine::request::Op;

use crate::device::Ticket;

/// The number of an I/O, in order of arrival.
pub(super) type Io = u64;

/// An I/O whose end the host has not seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub ticket: Ticket,
    pub op: Op,
    pub offset_bytes: u64,
    pub length_bytes: u32,
    pub at_ns: u64,
    /// When it was passed on to the part; `None` while it is held back.
    pub sent_ns: Option<u64>,
    /// It fails with an I/O error, whatever the part says.
    pub fails: bool,
    /// Of a flush: what it makes durable.
    pub mark: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    /// From the oldest one in flight on; `None` for one that has ended.
    ring: VecDeque<Option<Request>>,
    /// The number of the first of them.
    first: Io,
    count: usize,
}

impl Requests {
    /// Those in flight.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Puts the next one in, whose number is `io`.
    #[inline]
    pub fn put(&mut self, io: Io, request: Request) {
        if self.ring.is_empty() {
            self.first = io;
        }
        debug_assert_eq!(
            io,
            self.first + self.ring.len() as u64,
            "numbers rise by one"
        );
        self.ring.push_back(Some(request));
        self.count += 1;
    }

    #[inline]
    pub fn get(&self, io: Io) -> Option<&Request> {
        let place = io.checked_sub(self.first)?;
        self.ring.get(place as usize)?.as_ref()
    }

    #[inline]
    pub fn get_mut(&mut self, io: Io) -> Option<&mut Request> {
        let place = io.checked_sub(self.first)?;
        self.ring.get_mut(place as usize)?.as_mut()
    }

    /// Takes one out that has ended.
    #[inline]
    pub fn take(&mut self, io: Io) -> Option<Request> {
        let place = io.checked_sub(self.first)?;
        let request = self.ring.get_mut(place as usize)?.take()?;
        self.count -= 1;
        while let Some(None) = self.ring.front() {
            self.ring.pop_front();
            self.first += 1;
        }
        Some(request)
    }

    /// The one that came first.
    pub fn oldest(&self) -> Option<(Io, &Request)> {
        let oldest = self.ring.front()?.as_ref();
        oldest.map(|request| (self.first, request))
    }

    /// All, by rising numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Io, &Request)> {
        let numbered = (self.first..).zip(&self.ring);
        numbered.filter_map(|(io, request)| request.as_ref().map(|request| (io, request)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use teijo_engine::request::Op;

    use super::*;

    fn request(ticket: u64) -> Request {
        Request {
            ticket,
            op: Op::Read,
            offset_bytes: 0,
            length_bytes: 512,
            at_ns: ticket,
            sent_ns: None,
            fails: false,
            mark: 0,
        }
    }

    proptest! {
        #[test]
        fn it_is_the_map_that_a_sorted_tree_is(
            acts in prop::collection::vec((0_u8..3, 0_u64..12), 0..200)
        ) {
            let (mut ring, mut tree, mut next) = (Requests::default(), BTreeMap::new(), 0);
            for (act, back) in acts {
                if act == 0 {
                    ring.put(next, request(next + 100));
                    tree.insert(next, next + 100);
                    next += 1;
                } else {
                    let io = next.saturating_sub(back);
                    let taken = ring.take(io).map(|request| request.ticket);
                    prop_assert_eq!(taken, tree.remove(&io));
                }
                prop_assert_eq!(ring.len(), tree.len());
                let all = ring.iter().map(|(io, request)| (io, request.ticket));
                prop_assert!(all.eq(tree.iter().map(|(&io, &ticket)| (io, ticket))));
                let oldest = ring.oldest().map(|(io, request)| (io, request.ticket));
                prop_assert_eq!(oldest, tree.first_key_value().map(|(&io, &ticket)| (io, ticket)));
                for io in 0..next + 2 {
                    let found = ring.get(io).map(|request| request.ticket);
                    prop_assert_eq!(found, tree.get(&io).copied());
                    let found = ring.get_mut(io).map(|request| request.ticket);
                    prop_assert_eq!(found, tree.get(&io).copied());
                }
            }
        }
    }
}
