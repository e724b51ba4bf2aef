//! An array in virtual time: a host I/O becomes works, a work the reads of its members and then
//! the writes, and the host hears of it when the last has ended.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use teijo_engine::request::Op;

use super::in_flight::{MemberWork, Request, Slab, Target};
use super::layout::{Layout, Level};
use super::params::{ArrayParams, ARRAY_PARAMETERS};
use super::plan::{Piece, Planner, Work};
use crate::clip::{clip, LOGICAL_BLOCK_BYTES, UNSUPPORTED};
use crate::device::{serve_alone, Device, Ended, Facts, Health, Label, Outcome, Ticket};
use crate::digest::Digest;
use crate::members::{members_counts, members_facts};

const IO_ERROR: i32 = -5;

/// A simulated array. See `docs/reference/simulated-disks.md`.
#[derive(Clone, Debug)]
pub struct Array<D> {
    name: String,
    params: ArrayParams,
    label: Label,
    pub(super) layout: Layout,
    pub(super) members: Vec<D>,
    pub(super) failed: Vec<bool>,
    /// Whether any member has failed.
    pub(super) has_failed: bool,
    pub(super) requests: Slab<Request>,
    pub(super) member_work: Slab<MemberWork>,
    /// Reads that members failed and others gave back.
    pub(super) rebuilt_reads: u64,
    /// When an work goes on that waits for no member: (time, work).
    pub(super) later: BinaryHeap<Reverse<(u64, usize)>>,
    /// What is due first, and at which member; `None` for an work of `later`.
    pub(super) next: (u64, Option<usize>),
    /// Member I/Os in flight, of each member.
    pub(super) waiting: Vec<u32>,
    pub(super) mirror: u32,
    /// Where the last read of each mirror ended.
    pub(super) read_to_bytes: Vec<u64>,
    ended: Vec<Ended>,
    read_bytes: u64,
    written_bytes: u64,
    trimmed_bytes: u64,
}

impl<D: Device> Array<D> {
    /// An array of `members`; `Err` says why there is none. `params.failed` counts these members.
    pub fn new(
        name: &str,
        level: Level,
        params: ArrayParams,
        members: Vec<D>,
    ) -> Result<Self, String> {
        let count = members.len() as u32;
        let least_bytes = members.iter().map(Device::capacity_bytes).min();
        let chunk_bytes = u64::from(params.chunk_bytes);
        let layout = Layout::new(level, count, chunk_bytes, least_bytes.unwrap_or(0))?;
        let mut failed = vec![false; members.len()];
        for &member in &params.failed {
            let place = failed.get_mut(member as usize);
            *place.ok_or_else(|| {
                format!("there is no member {member}: they are 0 to {}", count - 1)
            })? = true;
        }
        Ok(Self {
            name: name.to_uppercase(),
            params,
            label: Label::Plausible {
                why: "put together of simulated parts, each with a label of its own among the \
                      parameters; the whole was held against arithmetic, not against an array",
            },
            layout,
            waiting: vec![0; members.len()],
            members,
            has_failed: failed.contains(&true),
            failed,
            requests: Slab::default(),
            member_work: Slab::default(),
            rebuilt_reads: 0,
            later: BinaryHeap::new(),
            next: (u64::MAX, None),
            mirror: 0,
            read_to_bytes: vec![u64::MAX; count as usize],
            ended: Vec::new(),
            read_bytes: 0,
            written_bytes: 0,
            trimmed_bytes: 0,
        })
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Says whose numbers the whole reproduces.
    pub(crate) fn relabel(&mut self, label: Label) {
        self.label = label;
    }

    pub fn members(&self) -> &[D] {
        &self.members
    }

    pub(super) fn refresh(&mut self) {
        let members = self.members.iter().map(Device::next_ns).zip(0..);
        let (member_ns, member) = members.min().unwrap_or((u64::MAX, 0));
        self.next = match self.later.peek() {
            Some(&Reverse((later_ns, _))) if later_ns <= member_ns => (later_ns, None),
            _ => (member_ns, Some(member)),
        };
    }

    /// What is planned with the members that `failed`.
    pub(super) fn planner<'a>(&'a self, failed: &'a [bool]) -> Planner<'a> {
        Planner {
            layout: &self.layout,
            failed,
            update: self.params.update,
        }
    }

    fn works(
        &self,
        op: Op,
        offset_bytes: u64,
        length_bytes: u64,
        mirror: u32,
    ) -> Result<Vec<Work>, i32> {
        let planner = self.planner(&self.failed);
        let works = match op {
            Op::Read => planner
                .read(offset_bytes, length_bytes, mirror)
                .map(|reads| {
                    vec![Work {
                        reads,
                        writes: Vec::new(),
                    }]
                }),
            Op::Discard if self.layout.parities() > 0 => return Err(UNSUPPORTED),
            Op::Write | Op::Discard => planner.write(offset_bytes, length_bytes),
            Op::Flush => Ok(vec![Work {
                reads: Vec::new(),
                writes: self.everywhere(),
            }]),
        };
        works.map_err(|_| IO_ERROR)
    }

    fn count(&mut self, op: Op, length_bytes: u64) {
        match op {
            Op::Read => self.read_bytes += length_bytes,
            Op::Write => self.written_bytes += length_bytes,
            Op::Discard => self.trimmed_bytes += length_bytes,
            Op::Flush => {}
        }
    }

    /// A piece of no length on every living member, for a flush.
    fn everywhere(&self) -> Vec<Piece> {
        let living = (0..self.layout.members).filter(|&member| !self.failed[member as usize]);
        let nothing = |member| Piece {
            member,
            offset_bytes: 0,
            length_bytes: 0,
        };
        living.map(nothing).collect()
    }

    /// One work of `request` has ended, or will at `done_ns`.
    pub(super) fn close(&mut self, request: usize, done_ns: u64, ended: &mut Vec<Ended>) {
        let place = &mut self.requests.places[request];
        place.works -= 1;
        place.done_ns = place.done_ns.max(done_ns);
        if place.works == 0 {
            let Request {
                ticket,
                done_ns,
                result,
                ..
            } = *place;
            self.requests.free.push(request);
            let outcome = Outcome { done_ns, result };
            ended.push(Ended { ticket, outcome });
        }
    }
}

impl<D: Device> Device for Array<D> {
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
        let refused = |result| {
            Some(Outcome {
                done_ns: at_ns,
                result,
            })
        };
        let length_bytes = match op {
            Op::Flush => 0,
            Op::Read | Op::Write | Op::Discard => {
                match clip(op, offset_bytes, length_bytes, self.capacity_bytes()) {
                    Ok(length_bytes) => length_bytes,
                    Err(result) => return refused(result),
                }
            }
        };
        let length = u64::from(length_bytes);
        let mirror = match self.layout.level {
            Level::Mirrored if op == Op::Read => self.pick_mirror(offset_bytes, length),
            Level::Mirrored | Level::Striped | Level::Parity { .. } => 0,
        };
        if let Some(target) = self.target(op, offset_bytes, length, mirror) {
            self.count(op, length);
            return self.send_direct(ticket, op, target, length_bytes.cast_signed(), at_ns);
        }
        let works = match self.works(op, offset_bytes, length, mirror) {
            Ok(works) => works,
            Err(result) => return refused(result),
        };
        self.count(op, length);
        let request = self.requests.put(Request {
            ticket,
            works: works.len() as u32,
            done_ns: at_ns,
            result: length_bytes.cast_signed(),
        });
        for work in works {
            if let Some(done_ns) = self.begin(request, op, work, at_ns) {
                let place = &mut self.requests.places[request];
                place.works -= 1;
                place.done_ns = place.done_ns.max(done_ns);
            }
        }
        self.refresh();
        let Request {
            works,
            done_ns,
            result,
            ..
        } = self.requests.places[request];
        (works == 0).then(|| {
            self.requests.free.push(request);
            Outcome { done_ns, result }
        })
    }

    fn next_ns(&self) -> u64 {
        self.next.0
    }

    fn step(&mut self, ended: &mut Vec<Ended>) {
        let (at_ns, member) = self.next;
        if let Some(member) = member {
            let mut of_member = std::mem::take(&mut self.ended);
            self.members[member].step(&mut of_member);
            for Ended { ticket, outcome } in of_member.drain(..) {
                self.waiting[member] -= 1;
                if let Some(work) = self.land(ticket, outcome) {
                    self.go_on(work, at_ns, ended);
                }
            }
            self.ended = of_member;
        } else if let Some(Reverse((_, work))) = self.later.pop() {
            self.go_on(work, at_ns, ended);
        }
        self.refresh();
    }

    fn is_far(&self) -> bool {
        self.members.iter().any(Device::is_far)
    }

    fn foresee(&self, offset_bytes: u64, length_bytes: u32) {
        let target = |length_bytes| self.target(Op::Write, offset_bytes, length_bytes, 0);
        // Of several chunks only the beginning.
        match target(length_bytes.into()).or_else(|| target(0)) {
            Some(Target::One(piece)) => {
                let member = &self.members[piece.member as usize];
                member.foresee(piece.offset_bytes, piece.length_bytes as u32);
            }
            Some(Target::All { offset_bytes, .. }) => {
                let members = self.members.iter();
                members.for_each(|one| one.foresee(offset_bytes, length_bytes));
            }
            None => {}
        }
    }

    fn purge(&mut self, at_ns: u64) -> u64 {
        let done = self.members.iter_mut().map(|member| member.purge(at_ns));
        let done_ns = done.max().unwrap_or(at_ns);
        self.refresh();
        done_ns
    }

    fn idle(&mut self, from_ns: u64, to_ns: u64) {
        for member in &mut self.members {
            member.idle(from_ns, to_ns);
        }
        self.refresh();
    }

    fn content(&mut self, left_q16: u32) {
        for member in &mut self.members {
            member.content(left_q16);
        }
    }

    fn power_cut(&mut self, at_ns: u64) -> u64 {
        let lost = self.members.iter_mut();
        lost.map(|member| member.power_cut(at_ns)).sum()
    }

    fn volatile(&self, at_ns: u64) -> Vec<(u64, u64)> {
        self.at_risk(at_ns)
    }

    fn counts(&self) -> Vec<(Cow<'static, str>, u64)> {
        let own = [("rebuilt_reads".into(), self.rebuilt_reads)];
        let members = members_counts(&self.members);
        own.into_iter().chain(members).collect()
    }

    fn health(&self) -> Health {
        let flash = self.members.iter().map(Device::health);
        let own = Health {
            host_reads_bytes: self.read_bytes,
            host_writes_bytes: self.written_bytes,
            trims_bytes: self.trimmed_bytes,
            ..Health::default()
        };
        flash.fold(own, |sum, one| Health {
            nand_reads_bytes: sum.nand_reads_bytes + one.nand_reads_bytes,
            nand_writes_bytes: sum.nand_writes_bytes + one.nand_writes_bytes,
            erases: sum.erases + one.erases,
            ..sum
        })
    }

    fn facts(&self) -> Facts {
        let members = members_facts(&self.members);
        let own = ARRAY_PARAMETERS.iter().map(|parameter| {
            let value = parameter.value(&self.params);
            (parameter.name.into(), value, parameter.unit)
        });
        let model = format!("{}({})", self.name, members.title);
        let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let serial: String = model.replace('×', "x").chars().map(word).collect();
        let member_bytes = self.layout.member_bytes as f64 * members.scale;
        let nominal = member_bytes * f64::from(self.layout.data_chunks());
        Facts {
            serial: format!("SIM-{}-{}", serial.trim_matches('-'), self.params.seed),
            model: format!("Simulated {model}"),
            firmware: format!("sim-{}", env!("CARGO_PKG_VERSION")),
            nominal_capacity_bytes: nominal as u64,
            capacity_bytes: self.capacity_bytes(),
            logical_block_bytes: LOGICAL_BLOCK_BYTES,
            physical_block_bytes: members.physical_block_bytes,
            label: self.label,
            parameters: own.chain(members.parameters).collect(),
        }
    }

    fn is_rotational(&self) -> bool {
        self.members.iter().any(Device::is_rotational)
    }

    fn capacity_bytes(&self) -> u64 {
        self.layout.capacity_bytes()
    }

    fn logical_block_bytes(&self) -> u32 {
        LOGICAL_BLOCK_BYTES
    }

    /// Over everything but the order in which free places are used again, which nothing sees.
    fn digest(&self) -> u64 {
        let mut digest = Digest::new();
        digest.mix(self.members.iter().map(Device::digest));
        let mut busy: Vec<u64> = self.later.iter().map(|Reverse((ns, _))| *ns).collect();
        busy.sort_unstable();
        digest.mix(busy);
        digest.mix(self.waiting.iter().map(|&count| u64::from(count)));
        digest.mix([u64::from(self.mirror), self.rebuilt_reads, self.read_bytes]);
        digest.mix(self.read_to_bytes.iter().copied());
        digest.mix([self.written_bytes, self.trimmed_bytes]);
        digest.value()
    }
}
