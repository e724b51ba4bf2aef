//! A host that submits I/Os at given times and hears of every end, knowing nothing of the engine.

use teijo_engine::request::Op;
use teijo_sim::compose::{open, Node};
use teijo_sim::device::{Device, Ended};

/// One I/O; `done_ns` is `u64::MAX` until it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Act {
    pub op: Op,
    pub offset_bytes: u64,
    pub length_bytes: u32,
    pub at_ns: u64,
    pub done_ns: u64,
    pub result: i32,
}

#[derive(Clone, Debug)]
pub struct Host {
    pub device: Node,
    pub acts: Vec<Act>,
    pub now_ns: u64,
    unended: usize,
}

impl Host {
    pub fn new(text: &str) -> Self {
        Self {
            device: open(text).unwrap_or_else(|error| panic!("{text}: {error}")),
            acts: Vec::new(),
            now_ns: 0,
            unended: 0,
        }
    }

    /// Submits one I/O when everything before `at_ns` has happened; returns its number.
    pub fn submit(&mut self, op: Op, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> usize {
        self.pass(at_ns);
        let number = self.acts.len();
        let told = self
            .device
            .submit(number as u64, op, offset_bytes, length_bytes, at_ns);
        self.acts.push(Act {
            op,
            offset_bytes,
            length_bytes,
            at_ns,
            done_ns: told.map_or(u64::MAX, |outcome| outcome.done_ns),
            result: told.map_or(0, |outcome| outcome.result),
        });
        self.unended += usize::from(told.is_none());
        number
    }

    /// Lets everything before `until_ns` happen.
    fn pass(&mut self, until_ns: u64) {
        while self.device.next_ns() < until_ns {
            self.step();
        }
        self.now_ns = self.now_ns.max(until_ns);
    }

    /// Lets the device do one thing.
    pub fn step(&mut self) {
        let mut ended = Vec::new();
        let at_ns = self.device.next_ns();
        assert!(at_ns < u64::MAX && at_ns >= self.now_ns, "time goes on");
        self.now_ns = at_ns;
        self.device.step(&mut ended);
        for Ended { ticket, outcome } in ended {
            let act = &mut self.acts[ticket as usize];
            assert_eq!(act.done_ns, u64::MAX, "an I/O ends once");
            assert!(outcome.done_ns >= at_ns, "and not before it is told");
            (act.done_ns, act.result) = (outcome.done_ns, outcome.result);
            self.unended -= 1;
        }
    }

    /// Waits for every I/O.
    pub fn settle(&mut self) {
        while self.unended > 0 {
            self.step();
        }
        let last = self.acts.iter().map(|act| act.done_ns).max();
        self.pass(last.unwrap_or(0));
    }

    /// Waits for one.
    pub fn settle_until(&mut self, number: usize) {
        while self.acts[number].done_ns == u64::MAX {
            self.step();
        }
        self.pass(self.acts[number].done_ns);
    }

    /// Keeps `depth` I/Os in flight until `count` are done; returns when that is.
    pub fn closed_loop(
        &mut self,
        depth: usize,
        count: u64,
        mut next: impl FnMut() -> (Op, u64, u32),
    ) -> u64 {
        let mut flying: Vec<usize> = Vec::with_capacity(depth);
        for _ in 0..count {
            if flying.len() == depth {
                self.await_one(&mut flying);
            }
            let (op, offset_bytes, length_bytes) = next();
            flying.push(self.submit(op, offset_bytes, length_bytes, self.now_ns));
        }
        self.settle();
        self.now_ns
    }

    /// Goes on to the first end among `flying` and takes it out.
    fn await_one(&mut self, flying: &mut Vec<usize>) {
        loop {
            let ends = flying.iter().enumerate();
            let first = ends.min_by_key(|(_, &number)| self.acts[number].done_ns);
            let (place, &number) = first.expect("one is flying");
            let done_ns = self.acts[number].done_ns;
            if done_ns <= self.device.next_ns() {
                self.now_ns = self.now_ns.max(done_ns);
                flying.swap_remove(place);
                return;
            }
            self.step();
        }
    }

    /// What the device counts under `name`.
    pub fn count(&self, name: &str) -> u64 {
        let counts = self.device.counts();
        let found = counts.iter().find(|(one, _)| one == name);
        found.unwrap_or_else(|| panic!("{name} is not counted")).1
    }

    /// Bytes that the members of the array below a cache have read and written.
    pub fn members(&self) -> (u64, u64) {
        let Node::Cache(cache) = &self.device else {
            panic!("a cache")
        };
        let Node::Array(array) = cache.part() else {
            panic!("an array")
        };
        let healths = array.members().iter().map(Device::health);
        healths.fold((0, 0), |sum, one| {
            (sum.0 + one.host_reads_bytes, sum.1 + one.host_writes_bytes)
        })
    }
}
