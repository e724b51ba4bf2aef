//! A call of a program: what it asks for, what it waits for, how it ended.

use crate::device::{Outcome, Ticket};

pub(super) const NO_ENTRY: i64 = -2;
pub(super) const EXISTS: i64 = -17;

/// How a program names a file: a number of its own choice.
pub type FileId = u32;

/// One call. Reads and writes end short where the file or the device does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Create {
        file: FileId,
    },
    Open {
        file: FileId,
    },
    Close {
        file: FileId,
    },
    Stat {
        file: FileId,
    },
    Unlink {
        file: FileId,
    },
    /// Gives the file this length; what it has not yet is a hole.
    Resize {
        file: FileId,
        length_bytes: u64,
    },
    Read {
        file: FileId,
        offset_bytes: u64,
        length_bytes: u32,
        how: How,
    },
    Write {
        file: FileId,
        offset_bytes: u64,
        length_bytes: u32,
        how: How,
    },
    Fsync {
        file: FileId,
    },
    /// Makes everything durable.
    Sync,
    /// The same, and then forgets every page.
    DropCaches,
    /// The program computes.
    Compute {
        ns: u64,
    },
}

/// How a file was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct How {
    pub direct: bool,
    pub synchronous: bool,
    pub mapped: bool,
}

/// A call that has ended: bytes moved, 0, or a negated errno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    pub worker: u32,
    pub done_ns: u64,
    pub result: i64,
}

/// Why an I/O was sent below.
#[derive(Clone, Copy, Debug)]
pub(super) enum Why {
    /// A host I/O on the device itself.
    Host(Ticket),
    Job(u32),
    Journal,
    Home,
}

/// What a call does once the I/Os it waits for have ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    Finish,
    /// What is dirty goes below, and then what this transaction holds.
    Drain(u64),
    Commit(u64),
    Forget,
}

/// A call under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub waits: u32,
    pub ready_ns: u64,
    /// Of the program's processor, behind all that it waits for.
    pub cpu_ns: u64,
    pub result: i64,
    pub then: Then,
    /// Pages are forgotten at the end.
    pub forgets: bool,
}

/// Notes how one I/O ended, or that a call has to wait for it.
pub(super) fn settle(told: Option<Outcome>, job: &mut Job) {
    let Some(outcome) = told else {
        job.waits += 1;
        return;
    };
    job.ready_ns = job.ready_ns.max(outcome.done_ns);
    if outcome.result < 0 && job.result >= 0 {
        job.result = i64::from(outcome.result);
    }
}
