//! One I/O in the words that all floors share: what is done, where, and what came back of it.

/// What an I/O does to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Read,
    Write,
    Flush,
    Discard,
}

impl Op {
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Discard => "discard",
        }
    }
}

/// A piece of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub offset_bytes: u64,
    pub length_bytes: u32,
}

/// One I/O on its way to the device. `tag` comes back unchanged in the completion; its low 16
/// bits are the slot, which is also the buffer the data lives in until the completion is reaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub op: Op,
    pub offset_bytes: u64,
    pub length_bytes: u32,
    pub tag: u64,
}

impl Request {
    pub fn slot(&self) -> u16 {
        (self.tag & 0xffff) as u16
    }
}

/// One I/O that came back: bytes moved (fewer than asked is a short I/O, 0 on a read is the end
/// of the device; 0 is success for a flush and a discard), or a negated errno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    pub tag: u64,
    pub result: i32,
}
