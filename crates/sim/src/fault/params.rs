//! What goes wrong with one faulty device, and its table of parameters.

use crate::parameters::{name_of, one_of, parameter, percent, positive, Parameter};
use crate::quantity::{bytes, bytes_text, decimal, whole};

/// Which I/Os media errors befall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Befalls {
    Reads,
    Writes,
    All,
}

const FLUSHES: [(&str, bool); 2] = [("honour", true), ("ignore", false)];

const BEFALLS: [(&str, Befalls); 3] = [
    ("read", Befalls::Reads),
    ("write", Befalls::Writes),
    ("all", Befalls::All),
];

/// Everything that goes wrong. Times are ns on the virtual clock, volumes bytes; `None` is never,
/// or without an end.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultParams {
    pub eio_percent: f64,
    pub eio_of: Befalls,
    pub eio_from_bytes: u64,
    pub eio_size_bytes: u64,
    pub eio_after_bytes: u64,
    pub eio_after_ios: u64,
    pub hang_at_ns: Option<u64>,
    pub hang_after_ios: Option<u64>,
    pub hang_ns: Option<u64>,
    pub cut_at_ns: Option<u64>,
    pub cut_after_bytes: Option<u64>,
    pub cut_ns: Option<u64>,
    pub volatile_bytes: u64,
    pub honours_flush: bool,
    pub timeout_ns: u64,
    pub enospc_after_bytes: Option<u64>,
    pub stale_percent: f64,
    pub drop_percent: f64,
    pub torn_percent: f64,
    pub flip_percent: f64,
    pub slow_factor: f64,
    pub slow_from_percent: f64,
    pub slow_percent: f64,
    /// Of the part, if it has none of its own; `None` for what it would have alone.
    pub scale: Option<f64>,
    pub seed: u64,
}

impl Default for FaultParams {
    fn default() -> Self {
        Self {
            eio_percent: 0.0,
            eio_of: Befalls::All,
            eio_from_bytes: 0,
            eio_size_bytes: 0,
            eio_after_bytes: 0,
            eio_after_ios: 0,
            hang_at_ns: None,
            hang_after_ios: None,
            hang_ns: None,
            cut_at_ns: None,
            cut_after_bytes: None,
            cut_ns: Some(1_000_000_000),
            volatile_bytes: 0,
            honours_flush: true,
            timeout_ns: 30_000_000_000,
            enospc_after_bytes: None,
            stale_percent: 0.0,
            drop_percent: 0.0,
            torn_percent: 0.0,
            flip_percent: 0.0,
            slow_factor: 1.0,
            slow_from_percent: 0.0,
            slow_percent: 100.0,
            scale: None,
            seed: 1,
        }
    }
}

impl FaultParams {
    /// Volumes of the full device as those of one that is `scale` times smaller, in whole blocks
    /// of 4 KiB: places rounded down, amounts up.
    pub(crate) fn scaled_down(&self, scale: f64) -> Self {
        const BLOCK: u64 = 4096;
        if scale <= 1.0 {
            return self.clone();
        }
        let down = |volume: u64| (volume as f64 / scale) as u64 / BLOCK * BLOCK;
        let up = |volume: u64| ((volume as f64 / scale).ceil() as u64).next_multiple_of(BLOCK);
        Self {
            eio_from_bytes: down(self.eio_from_bytes),
            eio_size_bytes: up(self.eio_size_bytes),
            eio_after_bytes: up(self.eio_after_bytes),
            cut_after_bytes: self.cut_after_bytes.map(up),
            volatile_bytes: up(self.volatile_bytes),
            enospc_after_bytes: self.enospc_after_bytes.map(up),
            ..self.clone()
        }
    }

    /// The parameter of those given that needs data to be seen, which only the outermost device
    /// of a tree has; `None` if none is given.
    pub(crate) fn of_data(&self) -> Option<&'static str> {
        let given = [
            ("stale_percent", self.stale_percent > 0.0),
            ("drop_percent", self.drop_percent > 0.0),
            ("torn_percent", self.torn_percent > 0.0),
            ("flip_percent", self.flip_percent > 0.0),
            ("volatile", self.volatile_bytes > 0),
        ];
        let found = given.iter().find(|(_, is_given)| *is_given);
        found.map(|(name, _)| *name)
    }
}

/// A number, written as `word` if there is none.
fn or<T>(
    word: &str,
    text: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    if text == word {
        return Ok(None);
    }
    let or_word = |why: String| format!("{why}, or {word}");
    parse(text).map(Some).map_err(or_word)
}

fn or_text<T>(word: &str, value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| word.to_owned(), text)
}

fn milliseconds(text: &str) -> Result<u64, String> {
    let value = decimal(text)? * 1e6;
    if value < 1e18 {
        Ok(value.round() as u64)
    } else {
        Err("must be below 10^12".into())
    }
}

fn ms_text(ns: u64) -> String {
    (ns as f64 / 1e6).to_string()
}

fn share(text: &str) -> Result<f64, String> {
    match percent(text)? {
        value if value <= 100.0 => Ok(value),
        _ => Err("must be at most 100".into()),
    }
}

fn factor(text: &str) -> Result<f64, String> {
    match positive(text)? {
        factor if factor >= 1.0 => Ok(factor),
        _ => Err("must be at least 1".into()),
    }
}

fn number(value: u64) -> String {
    value.to_string()
}

fn text(value: f64) -> String {
    value.to_string()
}

/// Every parameter of a faulty device, in the order they are documented.
#[rustfmt::skip]
pub const FAULT_PARAMETERS: &[Parameter<FaultParams>] = &[
    parameter!("eio_percent", "%",
        "of the I/Os that eio_of names fail with an I/O error, each drawn by itself",
        eio_percent, share, text),
    parameter!("eio_of", "read, write or all", "which I/Os fail with an I/O error",
        eio_of, |t| one_of(t, &BEFALLS), |value| name_of(value, &BEFALLS)),
    parameter!("eio_from", "bytes", "a bad stretch begins here; what touches it fails",
        eio_from_bytes, bytes, bytes_text),
    parameter!("eio_size", "bytes", "length of the bad stretch; 0 for none",
        eio_size_bytes, bytes, bytes_text),
    parameter!("eio_after", "bytes", "no I/O error before so much was read and written",
        eio_after_bytes, bytes, bytes_text),
    parameter!("eio_after_ios", "count", "no I/O error before so many I/Os",
        eio_after_ios, whole, number),
    parameter!("hang_at_ms", "ms or never", "from this moment the device answers nothing",
        hang_at_ns, |t| or("never", t, milliseconds), |value| or_text("never", value, ms_text)),
    parameter!("hang_after_ios", "count or never", "the same after so many I/Os",
        hang_after_ios, |t| or("never", t, whole), |value| or_text("never", value, number)),
    parameter!("hang_ms", "ms or forever", "for how long it answers nothing",
        hang_ns, |t| or("forever", t, milliseconds), |value| or_text("forever", value, ms_text)),
    parameter!("cut_at_ms", "ms or never", "at this moment power fails",
        cut_at_ns, |t| or("never", t, milliseconds), |value| or_text("never", value, ms_text)),
    parameter!("cut_after", "bytes or never", "the same once so much was written",
        cut_after_bytes, |t| or("never", t, bytes), |value| or_text("never", value, bytes_text)),
    parameter!("cut_ms", "ms or forever", "for how long the device is away then",
        cut_ns, |t| or("forever", t, milliseconds), |value| or_text("forever", value, ms_text)),
    parameter!("volatile", "bytes",
        "of what was written last and not flushed that a power cut takes, beside what it takes \
         of the part",
        volatile_bytes, bytes, bytes_text),
    parameter!("flush", "honour or ignore",
        "a flush makes durable what was acknowledged, or is acknowledged itself and does nothing",
        honours_flush, |t| one_of(t, &FLUSHES), |value| name_of(value, &FLUSHES)),
    parameter!("timeout_ms", "ms",
        "after which the host gives up an I/O that is not answered; if the silence has no end, \
         it gives up the device with it",
        timeout_ns, milliseconds, ms_text),
    parameter!("enospc_after", "bytes or never",
        "thin provisioning: so much of the address space can be written, in blocks of 4 KiB",
        enospc_after_bytes, |t| or("never", t, bytes),
        |value| or_text("never", value, bytes_text)),
    parameter!("stale_percent", "%", "of reads bring what was there before the last write",
        stale_percent, share, text),
    parameter!("drop_percent", "%", "of writes are acknowledged and never stored",
        drop_percent, share, text),
    parameter!("torn_percent", "%",
        "of writes of several sectors are acknowledged and stored up to some sector only",
        torn_percent, share, text),
    parameter!("flip_percent", "%", "of reads bring one bit that is not the one written",
        flip_percent, share, text),
    parameter!("slow_factor", "ratio", "an I/O in the slow stretch takes so many times as long",
        slow_factor, factor, text),
    parameter!("slow_from_percent", "% of the capacity", "where the slow stretch begins",
        slow_from_percent, share, text),
    parameter!("slow_percent", "% of the capacity", "length of the slow stretch",
        slow_percent, share, text),
    Parameter {
        name: "scale",
        unit: "ratio or auto",
        meaning: "of the part, if it has none of its own, and of every volume here; auto is \
                  what the part would have alone",
        set: |params, text| {
            params.scale = if text == "auto" { None } else { Some(positive(text)?) };
            Ok(())
        },
        get: |params| params.scale.map_or("auto".into(), |scale| scale.to_string()),
    },
    parameter!("seed", "whole number", "of whom it befalls, and of the part", seed, whole, number),
];
