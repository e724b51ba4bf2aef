//! Workers that only replace what comes back, on a device that does nothing by itself: they take
//! turns in order of their events as in `SimSession::turn`, but what holds for all of them until
//! the next interval is asked once.

use teijo_engine::crew::Crew;

use super::agenda::Agenda;
use super::watch::{Observer, SimWorker, Watch};
use super::{ready_ns, SimSession};
use crate::backend::Seam;
use crate::device::Device;

impl<D: Device> SimSession<D> {
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
        let (mut index, mut turns) = (agenda.begin(), 0);
        self.lend(workers[index].backend_mut().plain());
        while turns < watch.turns_left() {
            let (rival_ns, rival) = agenda.rival(index);
            let worker = &mut workers[index];
            let before_ns = rival_ns.saturating_add(u64::from(index < rival));
            if !worker.turn_alone(until_ns.min(before_ns), self.io_timeout_ns) {
                break;
            }
            turns += 1;
            let backend = worker.backend_mut().plain();
            let next_ns = backend.next_end_ns();
            if (next_ns, index) > (rival_ns, rival) {
                agenda.put(index, next_ns);
                let device = backend.device.take();
                workers[rival].backend_mut().plain().device = device;
                index = rival;
            }
        }
        self.device = workers[index].backend_mut().plain().device.take();
        for (index, worker) in workers.iter_mut().enumerate() {
            worker.end_alone();
            agenda.put(index, ready_ns(worker));
        }
        watch.look(crew, &workers[index], turns);
        turns > 0
    }
}
