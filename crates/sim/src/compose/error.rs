//! Why a text makes no device, and where in the text.

use std::fmt;

use crate::flash::params::ParamError;

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not written as devices are.
    Unreadable { why: String },
    /// There is no device of this name.
    Unknown { name: String, known: String },
    /// The device has no such parameter, or not this value.
    Refused { why: String },
    /// The same, of an SSD.
    Ssd(ParamError),
    /// It needs more memory than is free.
    NoRoom { need_bytes: u64, room_bytes: u64 },
}

/// A fault and its place: the character of the text, from 1, and what stands there. `None` where
/// the text names one device alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposeError {
    pub place: Option<(usize, String)>,
    pub fault: Fault,
}

impl fmt::Display for ComposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((at, found)) = &self.place {
            if found.is_empty() {
                write!(f, "at its end: ")?;
            } else {
                write!(f, "at character {at}, \"{found}\": ")?;
            }
        }
        match &self.fault {
            Fault::Unreadable { why } | Fault::Refused { why } => write!(f, "{why}"),
            Fault::Unknown { name, known } => {
                write!(
                    f,
                    "there is no simulated device \"{name}\"; there are: {known}"
                )
            }
            Fault::Ssd(error) => write!(f, "{error}"),
            Fault::NoRoom {
                need_bytes,
                room_bytes,
            } => {
                let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
                write!(
                    f,
                    "the simulated device needs up to {:.0} MiB of memory, and {:.0} MiB are free",
                    mib(*need_bytes).ceil(),
                    mib(*room_bytes).floor()
                )
            }
        }
    }
}

impl std::error::Error for ComposeError {}
