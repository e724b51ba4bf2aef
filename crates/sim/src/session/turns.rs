//! Workers take turns in order of their events. Where all only replace what comes back, on a device
//! that does nothing by itself, what holds for all of them until the next interval is asked once.

use teijo_engine::crew::Crew;
use teijo_engine::worker::Leave;

use super::agenda::Agenda;
use super::watch::{Observer, SimWorker, Watch};
use super::{ready_ns, Shares, SimSession};
use crate::backend::Seam;
use crate::device::Device;

/// When the workers go on, in order: the earliest first, of equals the first of them.
struct Line {
    /// In order, and before `head` those that have moved on.
    events: Vec<(u64, usize)>,
    head: usize,
}

impl Line {
    /// Of several workers.
    fn of(due_ns: &[u64]) -> Self {
        let mut events = Vec::with_capacity(8 * due_ns.len());
        events.extend(due_ns.iter().copied().zip(0..));
        events.sort_unstable();
        Self { events, head: 0 }
    }

    fn as_slice(&self) -> &[(u64, usize)] {
        &self.events[self.head..]
    }

    /// The event of another worker that is next after the first.
    #[inline]
    fn rival(&self) -> (u64, usize) {
        self.events[self.head + 1]
    }

    /// The worker that is first now goes on at `next_ns`; whether another is first then.
    #[inline]
    fn put(&mut self, next_ns: u64) -> bool {
        let moved = (next_ns, self.events[self.head].1);
        if moved < self.rival() {
            self.events[self.head] = moved;
            return false;
        }
        self.head += 1;
        if self.events.len() == self.events.capacity() {
            self.events.drain(..self.head);
            self.head = 0;
        }
        // Its place is near the end: those after it move up one by one.
        let mut place = self.events.len();
        self.events.push(moved);
        while self.events[place - 1] > moved {
            self.events[place] = self.events[place - 1];
            place -= 1;
        }
        self.events[place] = moved;
        true
    }
}

impl<D: Device> SimSession<D> {
    /// Lets the worker at `index`, which has the device, run on for as long as nothing else comes
    /// before its own event. Returns the worker that gets the device next; `None` where the device
    /// is to be asked first.
    #[inline]
    pub(super) fn turn<B: Seam<Device = D>>(
        &self,
        index: usize,
        crew: &Crew,
        workers: &mut [SimWorker<B>],
        shares: &mut Shares,
        agenda: &mut Agenda,
        watch: &mut Watch<impl Observer>,
    ) -> Option<usize> {
        let (rival_ns, rival) = agenda.rival(index);
        let worker = &mut workers[index];
        let mut next_ns;
        loop {
            let turns = worker.turns_alone(Leave {
                until_ns: rival_ns.saturating_add(u64::from(index < rival)),
                silence_ns: self.io_timeout_ns,
                turns: watch.turns_left(),
            });
            if turns == 0 {
                if let Err(error) = worker.settle() {
                    worker.abandon(&error);
                }
                if shares.laps[index].is_none() {
                    shares.take_in(index, worker.take_lap());
                }
                worker.issue();
            }
            watch.look(crew, worker, turns.max(1));
            if shares.missing == 0 || worker.done() {
                agenda.retire(index);
                return None;
            }
            next_ns = ready_ns(worker);
            if (next_ns, index) > (rival_ns, rival) || self.is_apart(worker, next_ns) {
                break;
            }
        }
        agenda.put(index, next_ns);
        let is_next = rival_ns < u64::MAX
            && (rival_ns, rival) < (next_ns, index)
            && !self.is_apart(worker, rival_ns)
            && workers[rival].backend_mut().plain().left_q16 == self.told_q16;
        is_next.then_some(rival)
    }

    /// Whether the device does something before `next_ns`, or is silent for too long before it;
    /// `worker` has it.
    #[inline]
    fn is_apart<B: Seam<Device = D>>(&self, worker: &mut SimWorker<B>, next_ns: u64) -> bool {
        next_ns.saturating_sub(worker.now_ns()) > self.io_timeout_ns
            || worker.backend_mut().plain().device_ns() < next_ns
    }

    /// Whether there are several workers, all may take turns alone, and the device is told the same
    /// of the data of each.
    pub(super) fn may_join<B: Seam>(workers: &mut [SimWorker<B>]) -> bool {
        let is_simple = workers.iter().all(SimWorker::is_simple);
        let left = |worker: &mut SimWorker<B>| worker.backend_mut().plain().left_q16;
        let mut contents = workers.iter_mut().map(left);
        let first = contents.next();
        let others = contents.map(|left_q16| Some(left_q16) == first);
        is_simple && others.reduce(|all, same| all && same) == Some(true)
    }

    /// Lets the workers take turns until one has something else to do; false where none was taken.
    pub(super) fn turns_joined<B: Seam<Device = D>>(
        &mut self,
        crew: &Crew,
        workers: &mut [SimWorker<B>],
        agenda: &mut Agenda,
        watch: &mut Watch<impl Observer>,
    ) -> bool {
        let mut until_ns = u64::MAX;
        for worker in &*workers {
            match worker.alone_until_ns() {
                Some(ends_ns) => until_ns = until_ns.min(ends_ns),
                None => return false,
            }
        }
        if agenda.first_ns() >= until_ns {
            return false;
        }
        let mut line = Line::of(&agenda.due_ns[..workers.len()]);
        let (mut index, mut turns) = (line.as_slice()[0].1, 0);
        self.lend(workers[index].backend_mut().plain());
        while turns < watch.turns_left() {
            let (rival_ns, rival) = line.rival();
            let worker = &mut workers[index];
            let before_ns = rival_ns.saturating_add(u64::from(index < rival));
            if !worker.turn_alone(until_ns.min(before_ns), self.io_timeout_ns) {
                break;
            }
            turns += 1;
            let backend = worker.backend_mut().plain();
            if line.put(backend.next_end_ns()) {
                let device = backend.device.take();
                index = rival;
                workers[index].backend_mut().plain().device = device;
            }
        }
        self.device = workers[index].backend_mut().plain().device.take();
        for &(next_ns, moved) in line.as_slice() {
            workers[moved].end_alone();
            // One that had no turn is not asked again: it may not know yet that its lap has an end.
            if next_ns != agenda.due_ns[moved] {
                agenda.put(moved, ready_ns(&mut workers[moved]));
            }
        }
        watch.look(crew, &workers[index], turns);
        turns > 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a list that is sorted anew.
        #[test]
        fn the_first_in_line_goes_on_and_takes_its_new_place(
            due_ns in proptest::collection::vec(0_u64..9, 2..20),
            steps_ns in proptest::collection::vec(0_u64..9, 0..300),
        ) {
            let mut line = Line::of(&due_ns);
            let mut list: Vec<(u64, usize)> = due_ns.into_iter().zip(0..).collect();
            for step_ns in steps_ns {
                list.sort_unstable();
                prop_assert_eq!(line.as_slice(), &list[..]);
                prop_assert_eq!(line.rival(), list[1]);
                let first = list[0].1;
                list[0].0 += step_ns;
                let is_other = line.put(list[0].0);
                prop_assert_eq!(is_other, list.iter().min().unwrap().1 != first);
            }
        }
    }
}
