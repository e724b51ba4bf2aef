//! Silence and power cuts of a faulty device: when they begin, what they end, when they are over.

use teijo_engine::request::Op;

use super::faulty::{Faulty, NO_DEVICE};
use super::lottery::Draw;
use super::requests::{Io, Request};
use crate::clip::LOGICAL_BLOCK_BYTES;
use crate::device::{Damage, Device, Ended};
use crate::stretches::union;

const IO_ERROR: i32 = -5;
const TIMED_OUT: i32 = -110;

impl<D: Device> Faulty<D> {
    fn begin_silence(&mut self, at_ns: u64, for_ns: Option<u64>) {
        let until_ns = for_ns.map_or(u64::MAX, |ns| at_ns.saturating_add(ns));
        self.silent_until_ns = Some(self.silent_until_ns.map_or(until_ns, |ns| ns.max(until_ns)));
    }

    /// A hang that is due by now begins.
    pub(super) fn hang_if_due(&mut self, at_ns: u64) {
        let is_time = self.hang_at_ns.is_some_and(|ns| ns <= at_ns);
        let is_turn = self.hang_after_ios.is_some_and(|ios| ios <= self.ios);
        if is_time {
            self.hang_at_ns = None;
        }
        if is_turn {
            self.hang_after_ios = None;
        }
        if is_time || is_turn {
            self.begin_silence(at_ns, self.params.hang_ns);
        }
    }

    /// Power fails: what was passed on fails, what is volatile is lost, what came in at this
    /// very moment waits until the device is back.
    fn cut(&mut self, at_ns: u64, ended: &mut Vec<Ended>) {
        self.cut_at_ns = None;
        self.injected.power_cuts += 1;
        let struck = |request: &Request| request.sent_ns.is_some() || request.at_ns < at_ns;
        let ios: Vec<Io> = self
            .requests
            .iter()
            .filter_map(|(io, request)| struck(request).then_some(io))
            .collect();
        for io in ios {
            let Some(&Request {
                ticket,
                op,
                length_bytes,
                ..
            }) = self.requests.get(io)
            else {
                continue;
            };
            if op == Op::Write && length_bytes > 0 {
                let sectors = u64::from(length_bytes / LOGICAL_BLOCK_BYTES);
                let kept = self.lottery.below(Draw::Kept, io, sectors + 1);
                let bytes = kept as u32 * LOGICAL_BLOCK_BYTES;
                self.damage.push(Damage::Kept { ticket, bytes });
            }
            self.injected.cut_in_flight += 1;
            self.end(io, IO_ERROR, at_ns, ended);
        }
        self.lose(at_ns);
        if self.params.cut_ns.is_some() {
            self.silent_until_ns = None;
            self.begin_silence(at_ns, self.params.cut_ns);
        } else {
            self.give_up(at_ns, ended);
        }
    }

    /// What is volatile here and in the part is lost.
    pub(super) fn lose(&mut self, at_ns: u64) {
        let mut lost = self.downstream.device().volatile(at_ns);
        self.injected.lost_below_bytes += self.downstream.device_mut().power_cut(at_ns);
        let own = self.window.lose();
        self.injected.lost_bytes += own.iter().map(|(_, length)| length).sum::<u64>();
        lost.extend(own);
        let lost = union(lost).into_iter();
        let damage = lost.map(|(offset_bytes, length_bytes)| Damage::Lost {
            offset_bytes,
            length_bytes,
        });
        self.damage.extend(damage);
    }

    /// The device is gone for good, and with it all that waits for it.
    fn give_up(&mut self, at_ns: u64, ended: &mut Vec<Ended>) {
        self.gone = true;
        self.silent_until_ns = None;
        let ios: Vec<Io> = self.requests.iter().map(|(io, _)| io).collect();
        for io in ios {
            self.end(io, NO_DEVICE, at_ns, ended);
        }
    }

    /// When the oldest I/O is given up, if the device says nothing until then.
    fn deadline_ns(&self) -> u64 {
        match self.requests.oldest() {
            Some((_, oldest)) if self.silent_until_ns.is_some() => {
                oldest.at_ns.saturating_add(self.params.timeout_ns)
            }
            Some(_) | None => u64::MAX,
        }
    }

    /// When what it does by itself is next due, leaving the part and its ends aside.
    pub(super) fn own_ns(&self) -> u64 {
        if self.gone {
            return u64::MAX;
        }
        let events = [self.silent_until_ns, self.hang_at_ns, self.cut_at_ns];
        let first_ns = events.into_iter().flatten().min().unwrap_or(u64::MAX);
        first_ns.min(self.deadline_ns())
    }

    /// Does what `own_ns` is the time of.
    pub(super) fn own_step(&mut self, at_ns: u64, ended: &mut Vec<Ended>) {
        if self.cut_at_ns.is_some_and(|ns| ns <= at_ns) {
            self.cut(at_ns, ended);
        } else if self.silent_until_ns.is_some_and(|ns| ns <= at_ns) {
            self.silent_until_ns = None;
            let held = self.requests.iter();
            let held: Vec<Io> = held
                .filter_map(|(io, request)| request.sent_ns.is_none().then_some(io))
                .collect();
            for io in held {
                self.send(io, at_ns);
            }
        } else if self.deadline_ns() <= at_ns {
            if self.silent_until_ns == Some(u64::MAX) {
                self.injected.timed_out += self.requests.len() as u64;
                self.give_up(at_ns, ended);
            } else if let Some((io, _)) = self.requests.oldest() {
                self.injected.timed_out += 1;
                self.end(io, TIMED_OUT, at_ns, ended);
            }
        } else {
            self.hang_if_due(at_ns);
        }
    }
}
