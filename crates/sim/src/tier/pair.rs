//! The two devices below: what is sent there, what ends there, and what they say together.

use std::borrow::Cow;

use teijo_engine::request::Op;

use crate::clip::LOGICAL_BLOCK_BYTES;
use crate::device::{Device, Facts, Health, Label, Outcome};
use crate::digest::Digest;
use crate::downstream::Downstream;
use crate::members::{members_counts, members_facts};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Fast,
    Slow,
}

/// A fast device and a slow one; `T` says why an I/O was sent.
#[derive(Clone, Debug)]
pub(super) struct Pair<T, D> {
    fast: Downstream<T, D>,
    slow: Downstream<T, D>,
    label: Label,
    /// What each is written as by itself, the fast one first; empty where nobody said it.
    texts: Vec<String>,
}

/// A range of one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub side: Side,
    pub offset_bytes: u64,
    pub length_bytes: u64,
}

/// A range of what the host sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub offset_bytes: u64,
    pub length_bytes: u64,
}

impl Range {
    /// The same range of the slow device.
    pub fn on_slow(self) -> Piece {
        Piece {
            side: Side::Slow,
            offset_bytes: self.offset_bytes,
            length_bytes: self.length_bytes,
        }
    }

    /// What is left of it without its first `bytes`.
    pub fn after(self, bytes: u64) -> Self {
        Self {
            offset_bytes: self.offset_bytes + bytes,
            length_bytes: self.length_bytes - bytes,
        }
    }
}

impl Piece {
    /// For a flush.
    pub fn nothing(side: Side) -> Self {
        Self {
            side,
            offset_bytes: 0,
            length_bytes: 0,
        }
    }

    /// Where it ends.
    pub fn ends(&self) -> u64 {
        self.offset_bytes + self.length_bytes
    }
}

impl<T, D: Device> Pair<T, D> {
    /// Of exactly two devices, the fast one first.
    pub fn new(parts: Vec<D>) -> Result<Self, String> {
        let count = parts.len();
        let [fast, slow] = <[D; 2]>::try_from(parts)
            .map_err(|_| format!("it is made of a fast device and a slow one, and has {count}"))?;
        Ok(Self {
            fast: Downstream::new(fast),
            slow: Downstream::new(slow),
            label: Label::Plausible {
                why: "put together of simulated parts, each with a label of its own among the \
                      parameters; the whole was held against arithmetic, not against a product",
            },
            texts: Vec::new(),
        })
    }

    fn below_mut(&mut self, side: Side) -> &mut Downstream<T, D> {
        match side {
            Side::Fast => &mut self.fast,
            Side::Slow => &mut self.slow,
        }
    }

    pub fn relabel(&mut self, label: Label) {
        self.label = label;
    }

    pub fn written_as(&mut self, texts: Vec<String>) {
        self.texts = texts;
    }

    pub fn devices(&self) -> [&D; 2] {
        [self.fast.device(), self.slow.device()]
    }

    #[inline]
    pub fn send(&mut self, why: T, op: Op, piece: Piece, at_ns: u64) {
        let (offset, length) = (piece.offset_bytes, piece.length_bytes as u32);
        self.below_mut(piece.side)
            .send(why, op, offset, length, at_ns);
    }

    /// Whether one of the two is so large that it gains by `foresee`.
    pub fn is_far(&self) -> bool {
        self.devices().into_iter().any(Device::is_far)
    }

    /// Says where on one of the two an I/O will soon be.
    #[inline]
    pub fn foresee(&self, piece: Piece) {
        let [fast, slow] = self.devices();
        let device = match piece.side {
            Side::Fast => fast,
            Side::Slow => slow,
        };
        device.foresee(piece.offset_bytes, piece.length_bytes as u32);
    }

    #[inline]
    pub fn next_ns(&self) -> u64 {
        self.fast.next_ns().min(self.slow.next_ns())
    }

    /// Does what is due first below, on the fast one if on both.
    #[inline]
    pub fn step(&mut self) -> Option<(T, Outcome)> {
        if self.fast.next_ns() <= self.slow.next_ns() {
            self.fast.step()
        } else {
            self.slow.step()
        }
    }

    pub fn in_flight(&self) -> usize {
        self.fast.in_flight() + self.slow.in_flight()
    }

    /// Tells the devices that have nothing in flight that the host is idle.
    pub fn idle(&mut self, from_ns: u64, to_ns: u64) {
        for below in [&mut self.fast, &mut self.slow] {
            if below.in_flight() == 0 {
                below.device_mut().idle(from_ns, to_ns);
            }
        }
    }

    /// Purges both, with nothing in flight; returns when that is done.
    pub fn purge(&mut self, at_ns: u64) -> u64 {
        let fast_ns = self.fast.device_mut().purge(at_ns);
        fast_ns.max(self.slow.device_mut().purge(at_ns))
    }

    pub fn content(&mut self, left_q16: u32) {
        self.fast.device_mut().content(left_q16);
        self.slow.device_mut().content(left_q16);
    }

    pub fn power_cut(&mut self, at_ns: u64) -> u64 {
        let lost = self.fast.device_mut().power_cut(at_ns);
        lost + self.slow.device_mut().power_cut(at_ns)
    }

    /// `own` and the flash counters of both.
    pub fn health(&self, own: Health) -> Health {
        let flash = self.devices().into_iter().map(Device::health);
        flash.fold(own, |sum, one| Health {
            nand_reads_bytes: sum.nand_reads_bytes + one.nand_reads_bytes,
            nand_writes_bytes: sum.nand_writes_bytes + one.nand_writes_bytes,
            erases: sum.erases + one.erases,
            ..sum
        })
    }

    /// `own` and the counts of both.
    pub fn counts(&self, own: &[(&'static str, u64)]) -> Vec<(Cow<'static, str>, u64)> {
        let own = own.iter().map(|&(name, count)| (name.into(), count));
        own.chain(members_counts(self.devices())).collect()
    }

    /// The facts of `name(FAST, SLOW)` with the parameters `own`, and with what the two are.
    pub fn facts(
        &self,
        name: &str,
        seed: u64,
        capacity: Capacity,
        own: Vec<(Cow<'static, str>, String, &'static str)>,
    ) -> Facts {
        let members = members_facts(self.devices());
        let model = format!("{}({})", name.to_uppercase(), members.title);
        let of_pair = ["fast", "slow"].into_iter().zip(&self.texts);
        let of_pair = of_pair.map(|(name, text)| (name.into(), text.clone(), "device"));
        let holds = ("holds".into(), capacity.fast_bytes.to_string(), "bytes");
        let of_pair = of_pair.chain([holds]);
        let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let serial: String = model.replace('×', "x").chars().map(word).collect();
        Facts {
            serial: format!("SIM-{}-{seed}", serial.trim_matches('-')),
            model: format!("Simulated {model}"),
            firmware: format!("sim-{}", env!("CARGO_PKG_VERSION")),
            nominal_capacity_bytes: capacity.nominal_bytes,
            capacity_bytes: capacity.bytes,
            logical_block_bytes: LOGICAL_BLOCK_BYTES,
            physical_block_bytes: members.physical_block_bytes,
            label: self.label,
            parameters: own
                .into_iter()
                .chain(of_pair)
                .chain(members.parameters)
                .collect(),
        }
    }

    /// `number` is of why an I/O was sent.
    pub fn digest(&self, digest: &mut Digest, number: impl Fn(&T) -> u64) {
        digest.mix(self.devices().map(Device::digest));
        for below in [&self.fast, &self.slow] {
            let mut whys: Vec<u64> = below.flights().map(&number).collect();
            whys.sort_unstable();
            digest.mix([whys.len() as u64]);
            digest.mix(whys);
        }
    }
}

/// What the whole holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    pub nominal_bytes: u64,
    /// Of it, nominal, what the fast device holds.
    pub fast_bytes: u64,
    pub bytes: u64,
}
