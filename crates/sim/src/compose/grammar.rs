//! The text of a device, read: what is in brackets are its parts, `4×` or `4x` before a part means
//! four of it, and what follows a question mark are parameters, `?key=value&key=value`.

use std::fmt;

use super::error::{ComposeError, Fault};
use crate::device::Label;

/// Nested arrays deeper than this are a mistake.
const DEEPEST: usize = 8;
/// More parts than this are one.
const MOST_PARTS: u32 = 1_024;

/// One `key=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub key: String,
    pub value: String,
    /// The character it begins at, from 1.
    pub at: usize,
}

/// A device as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub name: String,
    /// The character it begins at, from 1.
    pub at: usize,
    /// Each with its count; empty for a device without brackets.
    pub parts: Vec<(u32, Written)>,
    pub settings: Vec<Setting>,
    /// Of what it was spelt out from, if that has a label.
    pub label: Option<Label>,
    /// What it was spelt out from, if it has its own name.
    pub named: Option<Box<Written>>,
}

impl Written {
    /// What this part of a tree that gives its parts `scale` and `seed` is written as by itself:
    /// its own settings count where the tree lets them, and what has a name goes by it.
    pub fn alone(&self, scale: Option<f64>, seed: Option<u64>) -> String {
        let mut alone = self.named.as_deref().unwrap_or(self).clone();
        let is_leaf = self.parts.is_empty();
        if !is_leaf {
            let shared = |setting: &Setting| matches!(setting.key.as_str(), "scale" | "seed");
            alone.settings.retain(|setting| !shared(setting));
        }
        let has = |key: &str| self.settings.iter().any(|setting| setting.key == key);
        let sized = is_leaf && (has("capacity") || has("scale"));
        let given = [
            ("scale", scale.filter(|_| !sized).map(|s| s.to_string())),
            (
                "seed",
                seed.filter(|_| !is_leaf || !has("seed"))
                    .map(|s| s.to_string()),
            ),
        ];
        for (key, value) in given {
            if let Some(value) = value {
                let (key, at) = (key.into(), self.at);
                alone.settings.push(Setting { key, value, at });
            }
        }
        alone.to_string()
    }

    /// The scale that is written behind its brackets, if one is and can be read.
    pub fn own_scale(&self) -> Option<f64> {
        let own = self.settings.iter().find(|setting| setting.key == "scale");
        let own = own.filter(|_| !self.parts.is_empty());
        own.and_then(|setting| setting.value.parse().ok())
    }

    /// Devices without brackets in it.
    pub fn leaves(&self) -> u64 {
        if self.parts.is_empty() {
            return 1;
        }
        // Nested counts are more than numbers hold.
        let parts = self.parts.iter();
        parts
            .map(|(count, part)| u64::from(*count).saturating_mul(part.leaves()))
            .fold(0, u64::saturating_add)
    }
}

/// As `parse` reads it back; what has a name goes by it.
impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(named) = &self.named {
            return named.fmt(f);
        }
        f.write_str(&self.name)?;
        for (place, (count, part)) in self.parts.iter().enumerate() {
            f.write_str(if place == 0 { "(" } else { ", " })?;
            if *count > 1 {
                write!(f, "{count}×")?;
            }
            part.fmt(f)?;
        }
        if !self.parts.is_empty() {
            f.write_str(")")?;
        }
        for (place, Setting { key, value, .. }) in self.settings.iter().enumerate() {
            f.write_str(if place == 0 { "?" } else { "&" })?;
            write!(f, "{key}={value}")?;
        }
        Ok(())
    }
}

/// Reads the text of one device.
pub fn parse(text: &str) -> Result<Written, ComposeError> {
    let mut reader = Reader {
        characters: text.chars().collect(),
        at: 0,
    };
    let written = reader.device(0)?;
    if reader.at < reader.characters.len() {
        return Err(reader.fault("nothing may follow here; is a bracket missing before it?"));
    }
    if written.leaves() > u64::from(MOST_PARTS) {
        let leaves = written.leaves();
        let why = format!("{leaves} devices are more than {MOST_PARTS}");
        return Err(ComposeError {
            place: Some((written.at, written.name)),
            fault: Fault::Unreadable { why },
        });
    }
    Ok(written)
}

struct Reader {
    characters: Vec<char>,
    at: usize,
}

impl Reader {
    fn next(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while self.next().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    /// Passes `wanted` and the spaces around it, if it comes next.
    fn pass(&mut self, wanted: char) -> bool {
        self.skip_spaces();
        let is_next = self.next() == Some(wanted);
        if is_next {
            self.at += 1;
            self.skip_spaces();
        }
        is_next
    }

    /// The characters up to one of `stops`, without spaces around them.
    fn until(&mut self, stops: &str) -> String {
        let from = self.at;
        while self.next().is_some_and(|next| !stops.contains(next)) {
            self.at += 1;
        }
        let text: String = self.characters[from..self.at].iter().collect();
        text.trim().to_owned()
    }

    fn fault(&self, why: &str) -> ComposeError {
        let rest: String = self.characters[self.at..].iter().take(24).collect();
        ComposeError {
            place: Some((self.at + 1, rest.trim_end().to_owned())),
            fault: Fault::Unreadable { why: why.into() },
        }
    }

    fn device(&mut self, depth: usize) -> Result<Written, ComposeError> {
        self.skip_spaces();
        if depth > DEEPEST {
            return Err(self.fault("brackets are nested too deeply"));
        }
        let at = self.at + 1;
        let name = self.until("(),?&=");
        if name.is_empty() {
            return Err(self.fault("the name of a device is missing"));
        }
        let mut parts = Vec::new();
        if self.pass('(') {
            loop {
                parts.push(self.part(depth)?);
                if !self.pass(',') {
                    break;
                }
            }
            if !self.pass(')') {
                return Err(self.fault("a \",\" or a \")\" is missing"));
            }
        }
        let mut settings = Vec::new();
        if self.pass('?') {
            self.settings(&mut settings)?;
        }
        Ok(Written {
            name,
            at,
            parts,
            settings,
            label: None,
            named: None,
        })
    }

    fn part(&mut self, depth: usize) -> Result<(u32, Written), ComposeError> {
        self.skip_spaces();
        let from = self.at;
        let digits = self.digits();
        self.skip_spaces();
        if digits.is_empty() || !(self.pass('×') || self.pass('x')) {
            self.at = from;
            return Ok((1, self.device(depth + 1)?));
        }
        if let Ok(count @ 1..=MOST_PARTS) = digits.parse() {
            return Ok((count, self.device(depth + 1)?));
        }
        self.at = from;
        Err(self.fault(&format!("a count is 1 to {MOST_PARTS}")))
    }

    fn digits(&mut self) -> String {
        let from = self.at;
        while self.next().is_some_and(|next| next.is_ascii_digit()) {
            self.at += 1;
        }
        self.characters[from..self.at].iter().collect()
    }

    fn settings(&mut self, settings: &mut Vec<Setting>) -> Result<(), ComposeError> {
        loop {
            let at = self.at + 1;
            let key = self.until("=,()&?");
            if key.is_empty() {
                return Err(self.fault("the name of a parameter is missing: ?key=value"));
            }
            let value = if self.pass('=') {
                self.until(",()&?")
            } else {
                String::new()
            };
            if settings.iter().any(|setting| setting.key == key) {
                let why = format!("{key} is given twice");
                return Err(ComposeError {
                    place: Some((at, key)),
                    fault: Fault::Unreadable { why },
                });
            }
            settings.push(Setting { key, value, at });
            if !self.pass('&') {
                return Ok(());
            }
        }
    }
}
