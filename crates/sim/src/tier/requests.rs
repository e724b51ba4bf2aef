//! Host I/Os that wait for what was sent below for them.

use crate::device::{Ended, Outcome, Ticket};

#[derive(Clone, Copy, Debug)]
struct Request {
    ticket: Ticket,
    /// What has to end before it does.
    holds: u32,
    result: i32,
}

/// The host I/Os in flight. Each is held by its opener and by every I/O below, and ends
/// when the last lets go.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    places: Vec<Request>,
    free: Vec<usize>,
}

impl Requests {
    /// A request, held once; it ends with `result` unless something fails.
    pub fn open(&mut self, ticket: Ticket, result: i32) -> usize {
        let request = Request {
            ticket,
            holds: 1,
            result,
        };
        if let Some(place) = self.free.pop() {
            self.places[place] = request;
            return place;
        }
        self.places.push(request);
        self.places.len() - 1
    }

    pub fn hold(&mut self, request: usize) {
        self.places[request].holds += 1;
    }

    /// Lets go of `request` at the time and with the result of `outcome`; the end of the request
    /// if that was the last hold.
    pub fn release(&mut self, request: usize, outcome: Outcome) -> Option<Ended> {
        let place = &mut self.places[request];
        if outcome.result < 0 {
            place.result = outcome.result;
        }
        place.holds -= 1;
        if place.holds > 0 {
            return None;
        }
        let Request { ticket, result, .. } = *place;
        self.free.push(request);
        let done_ns = outcome.done_ns;
        Some(Ended {
            ticket,
            outcome: Outcome { done_ns, result },
        })
    }

    pub fn in_flight(&self) -> usize {
        self.places.len() - self.free.len()
    }
}
