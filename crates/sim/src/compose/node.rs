//! Any simulated device, alone or put together: one enum, told apart where an I/O comes in.

use std::borrow::Cow;

use teijo_engine::request::Op;

use crate::cache::Cache;
use crate::device::{Damage, Device, Ended, Facts, Health, Label, Outcome, Ticket};
use crate::disk::Disk;
use crate::fault::Faulty;
use crate::flash::Ssd;
use crate::raid::{Array, Level};
use crate::tier::{SsdCache, Tier};

/// A device. `Clone` branches the state of the whole tree.
#[derive(Clone, Debug)]
pub enum Node {
    Ssd(Box<Ssd>),
    Disk(Box<Disk>),
    Array(Box<Array>),
    Faulty(Box<Faulty>),
    Cache(Box<Cache>),
    SsdCache(Box<SsdCache>),
    Tier(Box<Tier>),
}

impl Node {
    /// Whether there is flash in it, and with it what flash counts.
    pub fn has_flash(&self) -> bool {
        match self {
            Self::Ssd(_) => true,
            Self::Disk(_) => false,
            Self::Array(array) => array.members().iter().any(Self::has_flash),
            Self::Faulty(faulty) => faulty.part().has_flash(),
            Self::Cache(cache) => cache.part().has_flash(),
            Self::SsdCache(cache) => cache.parts().into_iter().any(Self::has_flash),
            Self::Tier(tier) => tier.parts().into_iter().any(Self::has_flash),
        }
    }

    /// Says whose numbers the whole reproduces; what has a label of its own keeps that.
    pub(crate) fn relabel(&mut self, label: Label) {
        match self {
            Self::Ssd(_) | Self::Disk(_) | Self::Faulty(_) => {}
            Self::Array(array) => array.relabel(label),
            Self::Cache(cache) => cache.relabel(label),
            Self::SsdCache(cache) => cache.relabel(label),
            Self::Tier(tier) => tier.relabel(label),
        }
    }

    /// The least that is best written as one, on its multiples; 1 for no such thing.
    pub(crate) fn stripe_bytes(&self) -> u64 {
        match self {
            Self::Ssd(_) | Self::Disk(_) | Self::Tier(_) => 1,
            Self::SsdCache(cache) => cache.parts()[1].stripe_bytes(),
            Self::Cache(cache) => cache.part().stripe_bytes(),
            Self::Faulty(faulty) => faulty.part().stripe_bytes(),
            Self::Array(array) => {
                let layout = array.layout();
                let inner_bytes = array.members().first().map_or(1, Self::stripe_bytes);
                match layout.level {
                    Level::Mirrored => inner_bytes,
                    Level::Striped if layout.chunk_bytes.is_multiple_of(inner_bytes) => {
                        layout.chunk_bytes
                    }
                    Level::Striped | Level::Parity { .. } => layout.stripe_bytes(),
                }
            }
        }
    }
}

macro_rules! each {
    ($node:expr, $device:ident => $work:expr) => {
        match $node {
            Node::Ssd($device) => $work,
            Node::Disk($device) => $work,
            Node::Array($device) => $work,
            Node::Faulty($device) => $work,
            Node::Cache($device) => $work,
            Node::SsdCache($device) => $work,
            Node::Tier($device) => $work,
        }
    };
}

impl Device for Node {
    #[inline]
    fn serve(&mut self, op: Op, offset_bytes: u64, length_bytes: u32, at_ns: u64) -> Outcome {
        each!(self, device => device.serve(op, offset_bytes, length_bytes, at_ns))
    }

    #[inline]
    fn submit(
        &mut self,
        ticket: Ticket,
        op: Op,
        offset_bytes: u64,
        length_bytes: u32,
        at_ns: u64,
    ) -> Option<Outcome> {
        each!(self, device => device.submit(ticket, op, offset_bytes, length_bytes, at_ns))
    }

    #[inline]
    fn next_ns(&self) -> u64 {
        each!(self, device => device.next_ns())
    }

    fn step(&mut self, ended: &mut Vec<Ended>) {
        each!(self, device => device.step(ended));
    }

    fn purge(&mut self, at_ns: u64) -> u64 {
        each!(self, device => device.purge(at_ns))
    }

    fn idle(&mut self, from_ns: u64, to_ns: u64) {
        each!(self, device => device.idle(from_ns, to_ns));
    }

    fn content(&mut self, left_q16: u32) {
        each!(self, device => device.content(left_q16));
    }

    fn power_cut(&mut self, at_ns: u64) -> u64 {
        each!(self, device => device.power_cut(at_ns))
    }

    fn volatile(&self) -> Vec<(u64, u64)> {
        each!(self, device => device.volatile())
    }

    fn damage(&self) -> &[Damage] {
        each!(self, device => device.damage())
    }

    fn counts(&self) -> Vec<(Cow<'static, str>, u64)> {
        each!(self, device => device.counts())
    }

    fn health(&self) -> Health {
        each!(self, device => device.health())
    }

    fn facts(&self) -> Facts {
        each!(self, device => device.facts())
    }

    fn capacity_bytes(&self) -> u64 {
        each!(self, device => device.capacity_bytes())
    }

    fn logical_block_bytes(&self) -> u32 {
        each!(self, device => device.logical_block_bytes())
    }

    fn digest(&self) -> u64 {
        each!(self, device => device.digest())
    }
}

/// What the members of an array say together.
pub(crate) struct MembersFacts {
    /// As in `4×HDD-7200`.
    pub title: String,
    /// Nominal over simulated capacity.
    pub scale: f64,
    pub physical_block_bytes: u32,
    /// Of the first of each run of like members, with the run's place before each name.
    pub parameters: Vec<(Cow<'static, str>, String, &'static str)>,
}

/// The facts of `members`; neighbours that differ in their seed alone are said once.
pub(crate) fn members_facts<'a>(members: impl IntoIterator<Item = &'a Node>) -> MembersFacts {
    let facts: Vec<Facts> = members.into_iter().map(Device::facts).collect();
    let but_seed = |facts: &Facts| {
        let mut parameters = facts.parameters.clone();
        parameters.retain(|(name, _, _)| !name.ends_with("seed"));
        (facts.model.clone(), parameters)
    };
    let (mut titles, mut parameters, mut first) = (Vec::new(), Vec::new(), 0);
    for run in facts.chunk_by(|one, next| but_seed(one) == but_seed(next)) {
        let [one, ..] = run else { continue };
        let title = one.model.trim_start_matches("Simulated ");
        let last = first + run.len() - 1;
        let place = if run.len() == 1 {
            titles.push(title.to_owned());
            first.to_string()
        } else {
            titles.push(format!("{}×{title}", run.len()));
            format!("{first}-{last}")
        };
        let (kind, text) = match one.label {
            Label::Calibrated { to } => ("calibrated", to),
            Label::Plausible { why } => ("plausible", why),
        };
        parameters.push((
            format!("{place}.label").into(),
            format!("{kind}: {text}"),
            "",
        ));
        let placed = one
            .parameters
            .iter()
            .map(|(name, value, unit)| (format!("{place}.{name}").into(), value.clone(), *unit));
        parameters.extend(placed);
        first = last + 1;
    }
    MembersFacts {
        title: titles.join(", "),
        scale: facts.first().map_or(1.0, Facts::scale),
        physical_block_bytes: facts
            .iter()
            .map(|one| one.physical_block_bytes)
            .max()
            .unwrap_or(512),
        parameters,
    }
}

/// The counts of `members`, each name with the member's place before it.
pub(crate) fn members_counts<'a>(
    members: impl IntoIterator<Item = &'a Node>,
) -> Vec<(Cow<'static, str>, u64)> {
    let placed = |(place, member): (usize, &Node)| {
        let counts = member.counts().into_iter();
        counts.map(move |(name, count)| (format!("{place}.{name}").into(), count))
    };
    members.into_iter().enumerate().flat_map(placed).collect()
}
