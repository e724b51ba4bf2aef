//! Any device, with faults: what comes in is passed on to the part within, and what comes back is
//! withheld, delayed, turned into an error or robbed of its data, as the parameters say.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use teijo_engine::request::Op;

use super::injected::Injected;
use super::lottery::{Draw, Lottery};
use super::params::{Befalls, FaultParams, FAULT_PARAMETERS};
use super::requests::{Io, Request, Requests};
use super::thin::Thin;
use super::window::Window;
use crate::clip::{LOGICAL_BLOCK_BYTES, NO_SPACE};
use crate::device::{serve_alone, Damage, Device, Ended, Facts, Health, Label, Outcome, Ticket};
use crate::digest::Digest;
use crate::downstream::Downstream;
use crate::members::{members_counts, members_facts};

const IO_ERROR: i32 = -5;
pub(super) const NO_DEVICE: i32 = -19;

/// A device that fails. See `docs/reference/simulated-faults.md`.
#[derive(Clone, Debug)]
pub struct Faulty<D> {
    /// As given, and with its volumes as those of the simulated device.
    pub(super) given: FaultParams,
    pub(super) params: FaultParams,
    pub(super) downstream: Downstream<Io, D>,
    pub(super) lottery: Lottery,
    pub(super) thin: Option<Thin>,
    pub(super) window: Window,
    pub(super) requests: Requests,
    /// Ends that are reported later than the part reported them: (time, I/O, result).
    pub(super) later: BinaryHeap<Reverse<(u64, Io, i32)>>,
    pub(super) now_ns: u64,
    /// When it next does something that does not come from the part.
    due_ns: u64,
    pub(super) ios: u64,
    pub(super) moved_bytes: u64,
    pub(super) written_bytes: u64,
    /// What is still to come; each comes once.
    pub(super) hang_at_ns: Option<u64>,
    pub(super) hang_after_ios: Option<u64>,
    pub(super) cut_at_ns: Option<u64>,
    pub(super) cut_after_bytes: Option<u64>,
    /// It answers nothing until then; `u64::MAX` for never again.
    pub(super) silent_until_ns: Option<u64>,
    /// The host has given it up, or it has no power any more.
    pub(super) gone: bool,
    pub(super) injected: Injected,
    pub(super) damage: Vec<Damage>,
}

impl<D: Device> Faulty<D> {
    /// `part` with faults; their volumes are those of the full-size device.
    pub fn new(params: &FaultParams, part: D) -> Self {
        let given = params.clone();
        let params = params.scaled_down(part.facts().scale());
        let thin = |limit_bytes| Thin::new(part.capacity_bytes(), limit_bytes);
        let mut faulty = Self {
            due_ns: u64::MAX,
            lottery: Lottery::new(params.seed),
            thin: params.enospc_after_bytes.map(thin),
            window: Window::new(params.volatile_bytes),
            requests: Requests::default(),
            later: BinaryHeap::new(),
            now_ns: 0,
            ios: 0,
            moved_bytes: 0,
            written_bytes: 0,
            hang_at_ns: params.hang_at_ns,
            hang_after_ios: params.hang_after_ios,
            cut_at_ns: params.cut_at_ns,
            cut_after_bytes: params.cut_after_bytes,
            silent_until_ns: None,
            gone: false,
            injected: Injected::default(),
            damage: Vec::new(),
            downstream: Downstream::new(part),
            given,
            params,
        };
        faulty.look_ahead();
        faulty
    }

    /// Looks when it next does something that does not come from the part.
    #[inline]
    fn look_ahead(&mut self) {
        let later_ns = self.later.peek().map_or(u64::MAX, |Reverse(later)| later.0);
        self.due_ns = later_ns.min(self.own_ns());
    }

    /// The device within.
    pub fn part(&self) -> &D {
        self.downstream.device()
    }

    /// Whether a media error befalls an I/O that comes in now.
    fn fails(&self, op: Op, offset_bytes: u64, length_bytes: u32) -> bool {
        let params = &self.params;
        if params.eio_percent <= 0.0 && params.eio_size_bytes == 0 {
            return false;
        }
        let is_meant = match params.eio_of {
            Befalls::Reads => op == Op::Read,
            Befalls::Writes => op == Op::Write,
            Befalls::All => matches!(op, Op::Read | Op::Write),
        };
        if !is_meant || self.moved_bytes < params.eio_after_bytes || self.ios < params.eio_after_ios
        {
            return false;
        }
        let end = offset_bytes + u64::from(length_bytes);
        let is_bad = offset_bytes < params.eio_from_bytes + params.eio_size_bytes
            && end > params.eio_from_bytes;
        is_bad && params.eio_size_bytes > 0
            || self
                .lottery
                .falls(Draw::Error, self.ios, params.eio_percent)
    }

    /// Whether thin provisioning has room for an I/O.
    fn has_room(&mut self, op: Op, offset_bytes: u64, length_bytes: u32) -> bool {
        let length = u64::from(length_bytes);
        let lies_within = offset_bytes + length <= self.downstream.device().capacity_bytes();
        match &mut self.thin {
            Some(thin) if op == Op::Write && lies_within => thin.take(offset_bytes, length),
            Some(thin) if op == Op::Discard && lies_within => {
                thin.give(offset_bytes, length);
                true
            }
            Some(_) | None => true,
        }
    }

    pub(super) fn send(&mut self, io: Io, at_ns: u64) {
        let Some(request) = self.requests.get_mut(io) else {
            return;
        };
        request.sent_ns = Some(at_ns);
        let Request {
            op,
            offset_bytes,
            length_bytes,
            ..
        } = *request;
        self.downstream
            .send(io, op, offset_bytes, length_bytes, at_ns);
    }

    /// The part has ended an I/O, which is reported now or later.
    fn answered(&mut self, io: Io, outcome: Outcome, ended: &mut Vec<Ended>) {
        // The host has had the end of this I/O already: nobody waits for it.
        let Some(request) = self.requests.get(io) else {
            return;
        };
        let Outcome { done_ns, result } = outcome;
        if self.params.slow_factor <= 1.0 {
            return self.tell(io, result, done_ns, ended);
        }
        let capacity_bytes = self.downstream.device().capacity_bytes() as f64;
        let from = self.params.slow_from_percent / 100.0 * capacity_bytes;
        let to = from + self.params.slow_percent / 100.0 * capacity_bytes;
        let place = request.offset_bytes as f64;
        let moves = matches!(request.op, Op::Read | Op::Write);
        if moves && (from..to).contains(&place) {
            self.injected.slowed += 1;
            let took_ns = done_ns - request.sent_ns.unwrap_or(done_ns);
            let more_ns = (self.params.slow_factor - 1.0) * took_ns as f64;
            self.later.push(Reverse((
                done_ns.saturating_add(more_ns as u64),
                io,
                result,
            )));
            return;
        }
        self.tell(io, result, done_ns, ended);
    }

    /// Tells an end, unless the device is silent.
    fn tell(&mut self, io: Io, result: i32, at_ns: u64, ended: &mut Vec<Ended>) {
        if let Some(until_ns) = self.silent_until_ns {
            self.later.push(Reverse((until_ns, io, result)));
            return;
        }
        let Some(request) = self.requests.get(io) else {
            return;
        };
        let result = if request.fails && result >= 0 {
            self.injected.errors += 1;
            IO_ERROR
        } else {
            self.harm(io, result);
            result
        };
        self.end(io, result, at_ns, ended);
    }

    pub(super) fn end(&mut self, io: Io, result: i32, done_ns: u64, ended: &mut Vec<Ended>) {
        if let Some(Request { ticket, .. }) = self.requests.take(io) {
            let outcome = Outcome { done_ns, result };
            ended.push(Ended { ticket, outcome });
        }
    }

    /// Does what is due at `at_ns` and does not come from the part.
    #[cold]
    fn act(&mut self, at_ns: u64, ended: &mut Vec<Ended>) {
        // What is reported late waits for the silence to be over, also if both are due now.
        let silence_is_over = self.silent_until_ns.is_some_and(|ns| ns <= at_ns);
        match self.later.peek() {
            Some(&Reverse((later_ns, io, result))) if later_ns <= at_ns && !silence_is_over => {
                self.later.pop();
                self.tell(io, result, at_ns, ended);
            }
            Some(_) | None => self.own_step(at_ns, ended),
        }
    }

    /// Lets what nobody waits for any more come to its end; returns when that is.
    fn settle(&mut self, at_ns: u64) -> u64 {
        self.now_ns = self.now_ns.max(at_ns);
        while self.downstream.in_flight() > 0 {
            self.now_ns = self.now_ns.max(self.downstream.next_ns());
            self.downstream.step();
        }
        self.later.clear();
        self.now_ns
    }
}

impl<D: Device> Device for Faulty<D> {
    fn serve(&mut self, op: Op, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> Outcome {
        serve_alone(self, op, offset_bytes, length_bytes, at_ns)
    }

    fn submit(
        &mut self,
        ticket: Ticket,
        op: Op,
        offset_bytes: u64,
        length_bytes: u32,
        at_ns: u64,
    ) -> Option<Outcome> {
        self.now_ns = self.now_ns.max(at_ns);
        let at_once = |result| {
            Some(Outcome {
                done_ns: at_ns,
                result,
            })
        };
        if self.gone {
            self.injected.refused += 1;
            return at_once(NO_DEVICE);
        }
        if !self.has_room(op, offset_bytes, length_bytes) {
            self.injected.no_space += 1;
            return at_once(NO_SPACE);
        }
        if op == Op::Flush && !self.params.honours_flush && self.silent_until_ns.is_none() {
            self.injected.ignored_flushes += 1;
            return at_once(0);
        }
        self.hang_if_due(at_ns);
        let request = Request {
            ticket,
            op,
            offset_bytes,
            length_bytes,
            at_ns,
            sent_ns: None,
            fails: self.fails(op, offset_bytes, length_bytes),
            mark: self.window.mark(),
        };
        let io = self.ios;
        self.ios += 1;
        self.moved_bytes += u64::from(length_bytes);
        self.requests.put(io, request);
        let cut_is_due = self.cut_at_ns.is_some_and(|ns| ns <= at_ns);
        if self.silent_until_ns.is_some() || cut_is_due {
            self.injected.held += 1;
        } else {
            self.send(io, at_ns);
        }
        self.look_ahead();
        None
    }

    #[inline]
    fn next_ns(&self) -> u64 {
        self.downstream.next_ns().min(self.due_ns).max(self.now_ns)
    }

    fn step(&mut self, ended: &mut Vec<Ended>) {
        self.damage.clear();
        let below_ns = self.downstream.next_ns();
        let at_ns = below_ns.min(self.due_ns).max(self.now_ns);
        self.now_ns = at_ns;
        if below_ns <= at_ns {
            if let Some((io, outcome)) = self.downstream.step() {
                self.answered(io, outcome, ended);
            }
        } else {
            self.act(at_ns, ended);
        }
        self.look_ahead();
    }

    fn is_far(&self) -> bool {
        self.part().is_far()
    }

    #[inline]
    fn foresee(&self, offset_bytes: u64, length_bytes: u32) {
        self.part().foresee(offset_bytes, length_bytes);
    }

    fn purge(&mut self, at_ns: u64) -> u64 {
        let mut at_ns = self.settle(at_ns);
        self.look_ahead();
        match self.silent_until_ns {
            Some(u64::MAX) => {
                self.gone = true;
                self.look_ahead();
                return at_ns.saturating_add(self.params.timeout_ns);
            }
            Some(until_ns) => at_ns = at_ns.max(until_ns),
            None if self.gone => return at_ns,
            None => {}
        }
        if let Some(thin) = &mut self.thin {
            thin.clear();
        }
        self.window.lose();
        let done_ns = self.downstream.device_mut().purge(at_ns);
        self.now_ns = self.now_ns.max(done_ns);
        done_ns
    }

    fn idle(&mut self, from_ns: u64, to_ns: u64) {
        self.damage.clear();
        let mut from_ns = self.settle(from_ns);
        let mut ended = Vec::new();
        loop {
            let own_ns = self.own_ns().max(from_ns);
            let until_ns = own_ns.min(to_ns);
            if until_ns > from_ns {
                self.downstream.device_mut().idle(from_ns, until_ns);
                from_ns = until_ns;
            }
            if own_ns > to_ns {
                break;
            }
            self.now_ns = own_ns;
            self.own_step(own_ns, &mut ended);
        }
        self.now_ns = self.now_ns.max(to_ns);
        self.look_ahead();
        assert!(ended.is_empty(), "nothing was in flight");
    }

    fn content(&mut self, left_q16: u32) {
        self.downstream.device_mut().content(left_q16);
    }

    fn power_cut(&mut self, at_ns: u64) -> u64 {
        let before = self.injected.lost_bytes + self.injected.lost_below_bytes;
        self.lose(at_ns);
        self.injected.lost_bytes + self.injected.lost_below_bytes - before
    }

    fn volatile(&self, at_ns: u64) -> Vec<(u64, u64)> {
        let mut volatile = self.part().volatile(at_ns);
        volatile.extend(self.window.stretches());
        volatile
    }

    fn damage(&self) -> &[Damage] {
        &self.damage
    }

    fn counts(&self) -> Vec<(Cow<'static, str>, u64)> {
        let own = self.injected.table().into_iter();
        let own = own.map(|(name, count)| (Cow::from(name), count));
        let part = members_counts(std::slice::from_ref(self.part()));
        own.chain(part).collect()
    }

    fn health(&self) -> Health {
        self.part().health()
    }

    fn facts(&self) -> Facts {
        let part = self.part().facts();
        let members = members_facts(std::slice::from_ref(self.part()));
        let own = FAULT_PARAMETERS.iter().map(|parameter| {
            let value = parameter.value(&self.given);
            (parameter.name.into(), value, parameter.unit)
        });
        Facts {
            model: format!("Simulated FAULTY({})", members.title),
            serial: format!("SIM-FAULTY-{}", part.serial.trim_start_matches("SIM-")),
            label: Label::Plausible {
                why: "fails on purpose, as its parameters say; the device within has a label of \
                      its own among them",
            },
            parameters: own.chain(members.parameters).collect(),
            ..part
        }
    }

    fn is_rotational(&self) -> bool {
        self.part().is_rotational()
    }

    fn capacity_bytes(&self) -> u64 {
        self.part().capacity_bytes()
    }

    fn logical_block_bytes(&self) -> u32 {
        LOGICAL_BLOCK_BYTES
    }

    fn digest(&self) -> u64 {
        let mut digest = Digest::new();
        digest.mix([self.part().digest(), self.now_ns, self.moved_bytes]);
        digest.mix([self.written_bytes, u64::from(self.gone)]);
        digest.mix([self.silent_until_ns.unwrap_or(0)]);
        digest.mix(self.thin.iter().map(Thin::left));
        digest.mix(
            self.window
                .clone()
                .lose()
                .into_iter()
                .flat_map(|(at, length)| [at, length]),
        );
        digest.mix(self.injected.table().map(|(_, count)| count));
        digest.value()
    }
}
