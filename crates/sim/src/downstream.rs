//! A device below another one. Each I/O in flight carries what the one above wants to know when it
//! ends; ends that the device reports early are kept until their time, so that the one above meets
//! one kind of event only.

use teijo_engine::request::Op;

use crate::device::{Device, Ended, Outcome, Ticket};
use crate::timeline::Timeline;

/// What happens below next: by the device itself, and of that and the ends.
#[derive(Clone, Copy, Debug)]
struct Due {
    device_ns: u64,
    first_ns: u64,
}

/// A device below, and what is in flight there. `T` says why an I/O was sent.
#[derive(Clone, Debug)]
pub(crate) struct Downstream<T, D> {
    device: D,
    /// When the device next does something by itself, and when that or an end is due first;
    /// `None` where the device has to be asked.
    known: Option<Due>,
    flights: Vec<Option<T>>,
    free: Vec<u32>,
    /// (flight, result) of ends that the device reported before their time.
    told: Timeline<(u32, i32)>,
    ended: Vec<Ended>,
}

impl<T, D: Device> Downstream<T, D> {
    pub fn new(device: D) -> Self {
        Self {
            device,
            known: None,
            flights: Vec::new(),
            free: Vec::new(),
            told: Timeline::with_capacity(0),
            ended: Vec::new(),
        }
    }

    pub fn device(&self) -> &D {
        &self.device
    }

    /// The device, to be purged or set; it is sent I/O by `send` alone.
    pub fn device_mut(&mut self) -> &mut D {
        self.known = None;
        &mut self.device
    }

    /// I/Os whose end the one above has not seen.
    pub fn in_flight(&self) -> usize {
        self.flights.len() - self.free.len()
    }

    /// What is in flight, in no order that means anything.
    pub fn flights(&self) -> impl Iterator<Item = &T> {
        self.flights.iter().flatten()
    }

    /// Sends one I/O at `at_ns`; `step` hands `why` back when it ends.
    #[inline]
    pub fn send(&mut self, why: T, op: Op, offset_bytes: u64, length_bytes: u32, at_ns: u64) {
        let flight = self.take_off(why);
        let ticket = Ticket::from(flight);
        let told = self
            .device
            .submit(ticket, op, offset_bytes, length_bytes, at_ns);
        if let Some(outcome) = told {
            self.tell(flight, outcome);
        }
        self.look(self.device.next_ns());
    }

    /// Notes when the device next does something by itself, and what is due first.
    #[inline]
    fn look(&mut self, device_ns: u64) {
        let first_ns = self.told.time_ns(0).min(device_ns);
        self.known = Some(Due {
            device_ns,
            first_ns,
        });
    }

    /// Submits one I/O as `submit` does. One whose end is known at once is over, and that is its
    /// outcome; `step` hands `why` of any other back when it ends.
    pub fn ask(
        &mut self,
        why: T,
        submit: impl FnOnce(&mut D, Ticket) -> Option<Outcome>,
    ) -> Option<Outcome> {
        let flight = self.take_off(why);
        let outcome = submit(&mut self.device, Ticket::from(flight));
        self.known = None;
        let outcome = outcome?;
        self.flights[flight as usize] = None;
        self.free.push(flight);
        Some(outcome)
    }

    #[inline]
    fn take_off(&mut self, why: T) -> u32 {
        if let Some(flight) = self.free.pop() {
            self.flights[flight as usize] = Some(why);
            return flight;
        }
        self.flights.push(Some(why));
        self.flights.len() as u32 - 1
    }

    #[inline]
    fn tell(&mut self, flight: u32, outcome: Outcome) {
        let Outcome { done_ns, result } = outcome;
        self.told.put(done_ns, (flight, result));
    }

    #[inline]
    fn device_ns(&self) -> u64 {
        self.known
            .map_or_else(|| self.device.next_ns(), |due| due.device_ns)
    }

    /// When an I/O next ends or the device next does something by itself; `u64::MAX` for never.
    #[inline]
    pub fn next_ns(&self) -> u64 {
        match self.known {
            Some(due) => due.first_ns,
            None => self.told.time_ns(0).min(self.device.next_ns()),
        }
    }

    /// Does what is due first and returns the I/O that ended by it, if one did. At equal times
    /// the ends come first: what the one above sends then is there when the device chooses.
    #[inline]
    pub fn step(&mut self) -> Option<(T, Outcome)> {
        let device_ns = self.device_ns();
        let Some((done_ns, (flight, result))) = self.told.take_until(device_ns) else {
            self.step_device();
            return None;
        };
        self.look(device_ns);
        self.free.push(flight);
        let why = self.flights[flight as usize].take();
        let why = why.expect("a flight ends once");
        Some((why, Outcome { done_ns, result }))
    }

    fn step_device(&mut self) {
        let mut ended = std::mem::take(&mut self.ended);
        self.device.step(&mut ended);
        for Ended { ticket, outcome } in ended.drain(..) {
            self.tell(ticket as u32, outcome);
        }
        self.ended = ended;
        self.look(self.device.next_ns());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::open;

    const KIB: u32 = 1 << 10;

    /// (why, when it ended) of `count` random reads sent at once.
    fn ends(text: &str, count: u64) -> Vec<(u64, u64)> {
        let mut below = Downstream::new(open(text).unwrap());
        for number in 0..count {
            let offset = number * 7_919 % 1_000 * (1 << 20);
            below.send(number, Op::Read, offset, 4 * KIB, 0);
        }
        let mut ends = Vec::new();
        while below.in_flight() > 0 {
            let at_ns = below.next_ns();
            if let Some((why, outcome)) = below.step() {
                assert_eq!(outcome.done_ns, at_ns, "an end is handed over at its time");
                ends.push((why, outcome.done_ns));
            }
        }
        ends
    }

    #[test]
    fn every_flight_ends_once_in_order_of_time_whether_told_early_or_late() {
        for text in ["s3700", "hdd-7200", "raid5(4×hdd-7200)"] {
            let ends = ends(text, 50);
            assert!(ends.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{text}");
            let mut whys: Vec<u64> = ends.iter().map(|end| end.0).collect();
            whys.sort_unstable();
            assert_eq!(whys, (0..50).collect::<Vec<_>>(), "{text}");
        }
    }

    #[test]
    fn ends_are_those_of_the_device_alone() {
        let mut alone = open("s3700").unwrap();
        let expected: Vec<u64> = (0..50u64)
            .map(|number| {
                let offset = number * 7_919 % 1_000 * (1 << 20);
                alone.serve(Op::Read, offset, 4 * KIB, 0).done_ns
            })
            .collect();
        let mut ends = ends("s3700", 50);
        ends.sort_unstable();
        let found: Vec<u64> = ends.into_iter().map(|end| end.1).collect();
        assert_eq!(found, expected);
    }
}
